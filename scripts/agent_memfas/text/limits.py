"""The sizes at which agents' hosts cut a memory file, and what to move before they do."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date

from agent_memfas.text.documents import Document
from agent_memfas.text.entries import Entry, Terms
from agent_memfas.text.tokens import estimate

NEAR = 0.9


@dataclass(frozen=True)
class Limit:
    """name: whose limit. unit: lines, bytes or characters. most: what still fits."""

    name: str
    unit: str
    most: int


LIMITS = (
    Limit("memfas", "lines", 150),
    Limit("Claude Code", "lines", 200),
    Limit("Claude Code", "bytes", 25 * 1024),
    Limit("OpenClaw", "characters", 12_000),
)


@dataclass(frozen=True)
class Reading:
    """One limit against one file. tokens: what the file costs; over, near: how it stands."""

    limit: Limit
    size: int
    tokens: int

    @property
    def over(self) -> bool:
        """Whether the limit is passed."""
        return self.size > self.limit.most

    @property
    def near(self) -> bool:
        """Whether nine tenths of it are reached."""
        return self.size >= NEAR * self.limit.most


def readings(lines: tuple[bytes, ...]) -> list[Reading]:
    """A file's size against every limit. All lines count, blank ones too."""
    data = b"".join(lines)
    text = data.decode("utf-8", "replace")
    sizes = {"lines": len(lines), "bytes": len(data), "characters": len(text)}
    tokens = estimate(text)
    return [Reading(limit, sizes[limit.unit], tokens) for limit in LIMITS]


def advice(
    document: Document, kept: list[Entry], untagged: tuple[int, ...], today: date, terms: Terms
) -> str:
    """What to move first: bullets that never leave if they are the most, or what leaves soonest,
    else what is largest. One sentence. untagged: lines of bullets without tags, 1-based."""
    if len(untagged) > len(kept):
        return (
            f"{len(untagged)} bullets without a tag never leave (from line {untagged[0]}): "
            "tag them [P1][YYYY-MM-DD], or move them to the daily log"
        )
    dated = [(last, e) for e in kept if (last := e.tag.last_day(terms)) is not None]
    if dated:
        soon = sorted(dated, key=lambda pair: (pair[0], pair[1].start))[:3]
        named = ", ".join(
            f"line {e.start + 1} ({e.tag.priority}, leaves in {(last - today).days} d)"
            for last, e in soon
        )
        return f"move to the daily log or to insights first: {named}"
    sections = _sections(document)
    if not sections:
        return "move what is not needed at every start to the daily log or to insights"
    size, name, start = max(sections)
    return f'move the section "{name}" (line {start + 1}, {size} lines) to a file of its own'


def _sections(document: Document) -> list[tuple[int, str, int]]:
    sections = [h for h in document.headings if h.level > 1]
    ends = [h.start for h in sections[1:]] + [len(document.lines)]
    return [
        (end - section.start, section.text, section.start)
        for section, end in zip(sections, ends)  # noqa: B905 - no section: no end
    ]
