"""Entries that say the same, and entries that give one subject two values.

The subject is what stands before the first colon or equals sign of an entry, if it can be the name
of something: `Deadline: Friday` and `deadline = Monday` contradict each other. Nothing here
decides which of them holds; a person does.
"""

from __future__ import annotations

import re
from collections import defaultdict
from dataclasses import dataclass
from datetime import date

from agent_memfas.text.documents import Document
from agent_memfas.text.entries import Entry, Terms, entries
from agent_memfas.text.marks import without_comments
from agent_memfas.text.words import words

LONGEST_KEY = 80
MOST_WORDS = 5
# What stands before a colon without being the subject of it.
_GENERIC = frozenset(
    """
    note notes todo todos task tasks fixme decision decisions decided lesson lessons project
    projects idea ideas warning caution fix fixed see seealso remember reminder important info
    tip tips hint hints example examples eg ie fyi nb ps update updates result results
    conclusion summary question questions answer answers problem problems issue issues bug
    bugs cause reason reasons why because how what when who where done doing next nextstep
    nextsteps then now today yesterday tomorrow rule rules fact facts insight insights pattern
    patterns context background goal goals plan plans event log link links url source sources
    quote said learned learnt observation preference preferences monday tuesday wednesday
    thursday friday saturday sunday temp misc other else also however never always
    注意 备注 说明 提示 待办 任务 决定 决策 教训 经验 项目 想法 警告 记住 提醒 修复
    参见 参考 例如 示例 总结 问题 原因 结论 更新 结果 今天 昨天 明天 规则 事实 洞察
    背景 目标 计划 重要 偏好 来源 链接 注 另外
    """.split()
)
_NUMBERED = frozenset("step part phase day week option item point rule example case tip q".split())
_SEPARATOR = re.compile("[:：=＝]")
_SCHEMES = ("mailto", "tel", "urn", "data", "file", "sms", "javascript", "doi")
_ENDED = re.compile(r"[.!?;]\s|[。！？；]|~~|://")
# What words leave out although it changes the sense: -5 is not 5, and 5 % is not 5 €.
_SIGN = re.compile(r"(?<!\w)[-−](?=[.\d])|[<>≤≥≠±%‰$€£¥₹]|!=")
# Where a statement comes from is no part of it.
_HINT = re.compile(r"(?<!-)->[ \t]{1,8}[^\s#]{1,999}\.(?:md|markdown|txt|jsonl)(?:[#:]\S*)?")
_BOX = re.compile(r"\[[ xX]\]")


@dataclass(frozen=True)
class Claim:
    """A live entry as a statement. path, line (0-based): where. day: its date, if it has one.

    text: its first line. words, signs: what it says, for comparison. key, value: the words of its
    subject and of what is said of that, empty where it names none. section: the headings below the
    second level that it stands under: in a section of its own, `Status` is that section's status.
    """

    path: str
    line: int
    day: date | None
    text: str
    words: tuple[str, ...]
    signs: tuple[str, ...]
    key: tuple[str, ...]
    value: tuple[str, ...]
    section: tuple[str, ...]


def claims(path: str, document: Document, today: date, terms: Terms) -> list[Claim]:
    """The entries of a document that are neither expired nor superseded, as claims."""
    sections = _Sections(document)
    return [
        _claim(path, document, entry, sections.at(entry.start))
        for entry in entries(document)
        if entry.tag.superseded is None and not entry.tag.expired(today, terms)
    ]


def duplicates(found: list[Claim]) -> list[tuple[Claim, Claim]]:
    """Pairs (copy, original) of claims with the same words; the original comes first in found."""
    seen: dict[tuple[tuple[str, ...], ...], Claim] = {}
    out = []
    for claim in found:
        if not claim.words:
            continue
        same = (claim.words, claim.signs, claim.section if claim.key else ())
        original = seen.setdefault(same, claim)
        if original is not claim:
            out.append((claim, original))
    return out


def contradictions(found: list[Claim]) -> list[tuple[Claim, Claim]]:
    """Pairs (older, newest) of claims that give one subject different values.

    The newest is the one with the latest date, of several the last; one without a date is older
    than any with one. At most one pair for each older claim.
    """
    subjects: dict[tuple[tuple[str, ...], ...], list[Claim]] = defaultdict(list)
    for claim in found:
        if claim.key and claim.value:
            subjects[claim.key, claim.section].append(claim)
    out = []
    for group in subjects.values():
        newest = max(enumerate(group), key=lambda pair: (pair[1].day or date.min, pair[0]))[1]
        said = (newest.value, newest.signs)
        out += [(claim, newest) for claim in group if (claim.value, claim.signs) != said]
    return out


def split_key(text: str) -> tuple[str, str] | None:
    """The first line of an entry as (subject, value), or None where no subject leads it.

    A URL, a clock time, a Windows drive, code and a whole sentence before the sign are no subject,
    nor is a word that only says what kind of note it is (`Note:`, `Idea:`).
    """
    if _BOX.match(text):
        return None
    for match in _SEPARATOR.finditer(text, 0, LONGEST_KEY):
        before, after = text[: match.start()], text[match.end() :]
        if _leads_elsewhere(match[0], before, after):
            return None
        if not _separates(match[0], before, after):
            continue
        return (before.strip(), after.strip()) if _is_subject(before) else None
    return None


def _leads_elsewhere(sign: str, before: str, after: str) -> bool:
    """A URL or a drive: the whole is a place, and what follows is not about it."""
    if sign != ":":
        return False
    last = before.split()[-1:] or [""]
    scheme = last[0].strip("(<`*_\"'").lower()
    drive = len(scheme) == 1 and scheme.isalpha() and after[:1] in ("\\", "/")
    return after.startswith("//") or drive or (scheme in _SCHEMES and after[:1].strip() != "")


def _separates(sign: str, before: str, after: str) -> bool:
    if before.count("`") % 2 and not before.startswith("`"):
        return False
    if sign in "=＝":
        return after[:1] not in ("=", ">", "~") and before[-1:] not in tuple("=!<>+-*/%&|^~?")
    between_digits = before[-1:].isdigit() and after[:1].isdigit()
    return not between_digits and after[:1] != ":" and before[-1:] != ":"


def _is_subject(text: str) -> bool:
    named = words(text)
    size = sum(0.5 if len(word) == 1 and word >= "\u0e00" else 1 for word in named)
    if not named or size > MOST_WORDS or _ENDED.search(text) or not _balanced(text):
        return False
    if "".join(named) in _GENERIC or not any(c.isalpha() for c in "".join(named)):
        return False
    return not (len(named) == 2 and named[0] in _NUMBERED and len(named[1]) <= 2)


def _balanced(text: str) -> bool:
    pairs = zip("([{“「（《", ")]}”」）》", strict=True)
    return text.count('"') % 2 == 0 and all(text.count(a) == text.count(b) for a, b in pairs)


def _claim(path: str, document: Document, entry: Entry, section: tuple[str, ...]) -> Claim:
    more = " ".join(document.text_lines[entry.start + 1 : entry.end])
    below = without_comments(more)
    text = _HINT.sub(" ", entry.text)
    whole = f"{text} {_HINT.sub(' ', below)}"
    split = split_key(text)
    key = words(split[0]) if split else []
    value = words(split[1] or below) if split else []
    return Claim(
        path,
        entry.start,
        entry.tag.date,
        entry.text,
        tuple(words(whole)),
        tuple(_SIGN.findall(split[1] if split else whole)),
        tuple(key),
        tuple(value),
        section,
    )


class _Sections:
    """The headings of level 3 and deeper above a line; lines are asked for in rising order."""

    def __init__(self, document: Document) -> None:
        self._left = list(reversed(document.headings))
        self._above: list[tuple[int, str]] = []

    def at(self, line: int) -> tuple[str, ...]:
        while self._left and self._left[-1].start <= line:
            heading = self._left.pop()
            while self._above and self._above[-1][0] >= heading.level:
                self._above.pop()
            self._above.append((heading.level, heading.text))
        return tuple(text for level, text in self._above if level > 2)
