"""What a markdown file says: its headings that tell something, else its first words."""

from __future__ import annotations

import re

from agent_memfas.text.documents import Document
from agent_memfas.text.entries import read_tag
from agent_memfas.text.lines import plain
from agent_memfas.text.words import words

MOST_HEADINGS = 60
MOST_BULLETS = 30
ENOUGH = 400  # characters: more than a line has room for
_BULLET = re.compile(
    r"[ \t]*(?:[-*+]|[0-9]{1,9}[.)])[ \t]+(?:\[[ xX]\][ \t]+)?(?:[0-9]{1,2}:[0-9]{2}[ \t]+)?"
)
_TAG_AT_END = re.compile(r"[ \t]*\[P[0-2]\]$")
_TIME = re.compile(r"^[0-9]{1,2}:[0-9]{2}(?::[0-9]{2})?(?:[ \t]*[-–—,|:]+)?[ \t]*")
_SENTENCE = re.compile(r".{20}.*?(?:[。！？]|[.!?](?=\s|$))")
# Headings of nothing else say when, or that it is a log: never what is inside.
_FORMAL = frozenset(
    """
    session log daily notes note entry entries morning afternoon evening night noon standup
    work misc general journal diary other others sonstiges vormittag nachmittag abend notizen
    上 午 下 晚 早 夜 日 志 记 录 其 他 杂 项
    """.split()
)
_CALENDAR = _FORMAL | frozenset(
    """
    monday tuesday wednesday thursday friday saturday sunday mon tue tues wed thu thur thurs fri sat
    sun january february march april may june july august september october november december jan
    feb mar apr jun jul aug sep sept oct nov dec 年 月 日 星 期 周 一 二 三 四 五 六 七 八 九 十
    """.split()
)


def read_titles(stem: str, document: Document) -> tuple[list[str], list[str]]:
    """The headings that say more than the file's name and a date; those with something below."""
    seen = [h for h in document.headings if h.start not in document.opaque][:MOST_HEADINGS]
    comments = {n for r in document.regions if r.kind in ("comment", "front matter", "html")
                for n in range(r.start, r.end)}  # fmt: skip
    content = [
        b.start for b in document.blocks
        if b.depth == 0 and b.kind not in ("heading", "rule", "html") and b.start not in comments
    ]  # fmt: skip
    titles, sections = [], []
    for n, heading in enumerate(seen):
        text = plain(_TIME.sub("", _TAG_AT_END.sub("", heading.text)))
        if not text or is_formal(text, stem):
            continue
        end = next((h.start for h in seen[n + 1 :] if h.level <= heading.level), None)
        titles.append(text)
        if any(heading.start < at and (end is None or at < end) for at in content):
            sections.append(text)
    return titles, sections


def is_formal(text: str, stem: str) -> bool:
    """Whether a heading only repeats the file's name or a date."""
    rest = set(words(text)) - set(words(stem)) - _CALENDAR
    return all(word.isdigit() for word in rest)


def describe(document: Document, titles: list[str], sections: list[str]) -> str:
    """The first title with the sections below it, else with the first sentence or bullets."""
    below = [s for s in sections if titles and s != titles[0]]
    if below:
        return f"{titles[0]}: {', '.join(dict.fromkeys(below))}"
    more = _first_sentence(document) or "; ".join(_first_bullets(document))
    return ": ".join(filter(None, [*titles[:1], more]))


def _first_sentence(document: Document) -> str:
    for block in document.blocks:
        if block.kind == "paragraph" and block.depth == 0 and block.start not in document.opaque:
            text = plain(" ".join(document.text_lines[block.start : block.end][:20]))
            if text and not _is_label(text):
                match = _SENTENCE.match(text)
                return match[0] if match else text
    return ""


def _is_label(text: str) -> bool:
    """`Files:` says nothing by itself."""
    return text.endswith((":", "：")) and len(text) < 30


def _first_bullets(document: Document) -> list[str]:
    found: list[str] = []
    for block in document.blocks:
        if block.kind != "item" or block.depth != 1 or block.start in document.opaque:
            continue
        line = document.text_lines[block.start]
        tagged = read_tag(line)
        text = plain(tagged[1] if tagged else _BULLET.sub("", line, count=1))
        found += [text] if text else []
        if len(found) == MOST_BULLETS or sum(map(len, found)) > ENOUGH:
            break
    return found
