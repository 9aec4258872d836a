"""A passage without what only surrounds it: tags, marks, comments, a leading time, who says it."""

from __future__ import annotations

from agent_memfas.text.days import MONTHS, parse_day
from agent_memfas.text.marks import without_comments
from agent_memfas.text.record import Record
from agent_memfas.text.stopwords import is_stop_word
from agent_memfas.text.words import words

LEAST = 3  # words that a speaker says; with fewer, what stands before the colon is the subject
LONGEST_NAME = 40
WEEKDAYS = "monday tuesday wednesday thursday friday saturday sunday".split()
_TERMS = ("ttl:", "until:", "superseded:")
_MARKS = " \t*_`"
_BEHIND_TIME = " \t*_])-–—,:|"
_ROLES = frozenset("user assistant human ai agent system bot 用户 助手 我".split())
# What may stand before a colon and turns, doubts or dates what follows: none of it is a speaker.
_LABELS = frozenset(
    """
    avoid wrong false myth old was before after except unless maybe perhaps idea draft plan stop
    against untrue without hypothesis never not no none todo wip tbd tba rumor rumour joke guess
    past former future next last only until since from instead risk bug test example
    alternative else otherwise dont cannot forbid reject cancel decline undo revert done open
    """.split()
) | {*MONTHS, *WEEKDAYS}
_LABEL_ENDINGS = (
    "ed", "ing", "ion", "ions", "ive", "ly", "able", "ible", "ment", "ness", "ous", "ful", "less",
    "ity", "ance", "ence", "day", "al",
)  # fmt: skip
FAMILIES = frozenset(
    "小老阿王李张刘陈杨黄赵吴徐孙朱胡郭林罗郑梁谢宋唐许韩冯邓曹彭蒋蔡魏沈姚卢姜崔谭汪廖"
)


class Spoken(Record):
    """text: what is said. words: its words, in order. speaker: who says it, in words, or "".
    time: the leading clock time as it is written, or "".
    """

    text: str
    words: tuple[str, ...]
    speaker: str
    time: str


def spoken_in(text: str) -> Spoken:
    """What a passage says, and who says it when. Linear; never fails."""
    lines = (without_comments(text) if "<!--" in text else text).split("\n")
    whole = "\n".join(map(bare, lines)).strip()
    time, timeless = _split_time(whole)
    name, rest = _split_speaker(timeless)
    if name:
        said = tuple(words(rest))
        if size(said) >= LEAST:
            return Spoken(rest, said, " ".join(words(name)), time)
    return Spoken(timeless, tuple(words(timeless)), "", time)


def size(found: tuple[str, ...]) -> float:
    """How many words these are worth: a character of an unspaced script counts half."""
    return sum(0.5 if is_unspaced(word) else 1 for word in found)


def is_unspaced(word: str) -> bool:
    """Whether a word is one character of a script without spaces."""
    return len(word) == 1 and word >= "\u0e00"


def bare(line: str) -> str:
    """One line without quote marks, bullet, the marks of a heading, and tags."""
    rest = line.lstrip(" \t>")
    if rest[:2] in ("- ", "* ", "+ "):
        rest = rest[2:].lstrip()
    elif rest[:1] == "#" and rest.lstrip("#")[:1] in (" ", ""):
        rest = rest.lstrip("#").lstrip()
    while rest[:1] == "[" and (end := rest.find("]")) > 0 and _is_tag(rest[1:end]):
        rest = rest[end + 1 :].lstrip()
    return rest


def _is_tag(text: str) -> bool:
    if text in ("P0", "P1", "P2") or text.startswith(_TERMS):
        return True
    return parse_day(text) is not None


def _split_time(text: str) -> tuple[str, str]:
    """(the clock time that leads a text, the rest); "" where none does or nothing follows it."""
    lead = text.lstrip("*_[(")
    hour, colon, _ = lead[:3].partition(":")
    rest = lead[len(hour) + 1 :]
    if not (colon and _is_below(hour, 24) and len(rest[:2]) == 2 and _is_below(rest[:2], 60)):
        return "", text
    end = 5 if rest[2:3] == ":" and len(rest[3:5]) == 2 and _is_below(rest[3:5], 60) else 2
    if rest[end : end + 3].lower() in (" am", " pm"):
        end += 3
    said = rest[end:].lstrip(_BEHIND_TIME)
    if not said or said[0].isdigit() or rest[end] not in _BEHIND_TIME:
        return "", text
    return f"{hour}:{rest[:end]}".lower(), said


def _is_below(text: str, limit: int) -> bool:
    return text.isascii() and text.isdigit() and int(text) < limit


def _split_speaker(text: str) -> tuple[str, str]:
    """(who speaks, what is said); "" where a text does not begin with a speaker."""
    head = text[:LONGEST_NAME]
    places = [at for sign in (":", "：") if (at := head.find(sign)) > 0]
    if not places:
        return "", text
    at = min(places)
    name, rest = head[:at].strip(_MARKS), text[at + 1 :]
    if text[at] == ":" and rest[:1] not in tuple(_MARKS):
        return "", text
    return (name, rest.lstrip(_MARKS)) if _is_speaker(name) else ("", text)


def _is_speaker(name: str) -> bool:
    """Whether it reads as who speaks: a role, or a name that is no label such as `Rejected`."""
    if name.casefold() in _ROLES:
        return True
    if name[:1] in FAMILIES:
        return 2 <= len(name) <= 3 and all("\u4e00" <= sign <= "\u9fff" for sign in name)
    parts = name.split()
    return 1 <= len(parts) <= 2 and all(map(_is_name, parts))


def _is_name(part: str) -> bool:
    folded = part.casefold()
    if not (part[0].isupper() and part[1:].islower() and part.isalpha()) or is_unspaced(part[0]):
        return False
    return not (folded in _LABELS or folded.endswith(_LABEL_ENDINGS) or is_stop_word(part))
