"""A daily log as a reflection sees it: which lines are new to it, and the passages in them."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import date

from agent_memfas.text.citations import Citation
from agent_memfas.text.days import parse_day
from agent_memfas.text.documents import Document
from agent_memfas.text.entries import entries
from agent_memfas.text.importance import LEAST, importance
from agent_memfas.text.insights import Head, hash_of, is_marker
from agent_memfas.text.passages import Passage, passages
from agent_memfas.text.section_names import section_named
from agent_memfas.text.statements import is_label
from agent_memfas.text.tokens import estimate

TALKING = 0.4  # of the passages of a log are somebody's words: it is a conversation
_ITEM = re.compile(r"\s*(?:[-*+]|[0-9]{1,9}[.)])\s")
SHORTEST = 100  # characters of what is new in a log, as the reference has it: 25 tokens, which are
# as many characters of a script without spaces


@dataclass(frozen=True)
class Unit:
    """A passage of a log. start, end: its lines, 1-based, inclusive. importance: 1 to 10. label:
    the section of insights that its heading, or a line such as `Next steps:` above it, asks for.
    code: it is code, or what a program has printed. speaker: "" where nobody talks in the log.
    """

    start: int
    end: int
    text: str
    importance: int
    speaker: str = ""
    opens: bool = True
    label: str | None = None
    code: bool = False


@dataclass(frozen=True)
class Waiting:
    """Lines of a log without insights. where: from the first to the last of them. characters,
    tokens, importance: of these lines, the importance of all passages together. queued: somebody
    has asked for it. document: the log as it was read.
    """

    day: date
    where: Citation
    characters: int
    tokens: int
    importance: int
    queued: bool
    document: Document

    @property
    def lines(self) -> tuple[str, ...]:
        """The lines, as they were read."""
        return self.document.text_lines[self.where.start - 1 : self.where.end]

    @property
    def is_short(self) -> bool:
        """Whether it is too little to be worth a reflection."""
        return self.tokens < SHORTEST // 4 and not self.queued


def day_of(path: str) -> date | None:
    """The day of a log by its path: memory/2026-02-24.md, memory/2026-02-24-morning.md; else None.

    A path with blanks or brackets in it cannot be cited, so it is none.
    """
    folder, _, name = path.rpartition("/")
    if folder != "memory" or not name.endswith(".md") or any(c in " ()\t" for c in name):
        return None
    rest = name[10:-3]
    return parse_day(name[:10]) if not rest or rest[0] in "-_." else None


def rest_of(path: str, lines: Sequence[str], heads: Iterable[Head]) -> Citation | None:
    """The lines from the first to the last that no reflection has seen as they are now.

    None where all are seen. Blank lines and marks do not count.
    """
    seen = set[int]()
    for head in heads:
        start, end = head.piece.start, head.piece.end
        here = head.piece.path == path and end <= len(lines)
        if here and hash_of(lines[start - 1 : end]) == head.hash:
            seen.update(range(start, end + 1))
    left = [
        n for n, line in enumerate(lines, start=1)
        if n not in seen and line.strip() and not is_marker(line)
    ]  # fmt: skip
    return Citation(path, left[0], left[-1]) if left else None


def units(document: Document, first: int, last: int) -> list[Unit]:
    """The passages that begin on lines first..last (1-based, inclusive), in order."""
    stated = {entry.start: entry.importance for entry in entries(document)}
    code = code_lines(document)
    all_ = passages(document)
    talk = _is_talk(all_)
    return [
        Unit(
            passage.start + 1, passage.end, passage.text,
            LEAST if passage.start in code
            else importance(passage.text, passage.tag, stated.get(passage.start)),
            passage.speaker if talk else "", passage.opens, label, passage.start in code,
        )
        for passage, label in _labelled(all_)
        if first <= passage.start + 1 <= last and not is_marker(passage.text)
    ]  # fmt: skip


def code_lines(document: Document) -> set[int]:
    """The lines that are code, or what a program has printed; 0-based."""
    regions = (r for r in document.regions if r.kind in ("fence", "code"))
    return {n for region in regions for n in range(region.start, region.end)}


def _is_talk(found: Sequence[Passage]) -> bool:
    """Whether people talk to each other in a log: who does says more than one thing, mostly."""
    speakers = Counter(p.speaker for p in found if p.opens and p.speaker)
    talking = sum(count for count in speakers.values() if count > 1)
    return talking >= TALKING * sum(p.opens for p in found)


def _labelled(found: Sequence[Passage]) -> Iterator[tuple[Passage, str | None]]:
    """Passages, each with the section that stands above it."""
    above: str | None = None
    heading, listed = tuple[str, ...](), False
    for passage in found:
        if passage.heading != heading:
            above, heading, listed = None, passage.heading, False
        is_item = _ITEM.match(passage.text) is not None
        if not is_item and passage.opens:
            alone = "\n" not in passage.text and is_label(passage.text)
            above = section_named(passage.text) if alone else None
        named = (section_named(text) for text in reversed(heading[-2:]))
        by_heading = next((section for section in named if section), None)
        # What stands below a list is about something else: the list was what the heading names.
        yield passage, above or (None if listed and not is_item else by_heading)
        listed = listed or is_item


def waiting_of(day: date, where: Citation, document: Document, *, queued: bool) -> Waiting:
    """The lines of a log as they wait to be reflected on."""
    lines = [n for n in document.text_lines[where.start - 1 : where.end] if not is_marker(n)]
    text = "\n".join(lines)
    weight = sum(unit.importance for unit in units(document, where.start, where.end))
    return Waiting(day, where, len(text.strip()), estimate(text), weight, queued, document)
