"""Tiers: what of a memory folder is read first, and whether that is enough for an answer.

L0 is what is read at every start, and the overviews of folders; L1 what was distilled: insights and
lessons; L2 everything. Measured on LoCoMo as daily logs (`python -m tests.benchmarks.tiers`).
"""

from __future__ import annotations

from agent_memfas.index.rows import Found
from agent_memfas.text.firing import read_link
from agent_memfas.text.spoken import spoken_in

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from typing import Protocol

    class Shown(Protocol):
        """What is looked at of a hit."""

        @property
        def kind(self) -> str:
            """Of its file."""

        @property
        def score(self) -> float:
            """0 to 1."""

        @property
        def text(self) -> str:
            """Its lines."""

        @property
        def cites(self) -> tuple[str, ...]:
            """The lines that it rests on, `path#L3-L4` each."""


TIERS, AUTO = ("l0", "l1", "l2"), "auto"
ABSTRACT, INSIGHTS = "abstract", "insights"
SHARED = ("shared/MEMORY.md", "shared/SOUL-BASE.md")
STRONG = 0.5  # the score from which a hit counts: one in four such is evidence
NEAR = 0.5  # of the best score: with so much a hit is part of an answer that is enough


class Again:
    """What an iterator gives, as often as it is asked for, drawn once and only as far as asked."""

    def __init__(self, source: Iterator[Found]) -> None:
        self._source, self._drawn = source, list[Found]()

    def __iter__(self) -> Iterator[Found]:
        at = 0
        while True:
            if at == len(self._drawn):
                more = next(self._source, None)
                if more is None:
                    return
                self._drawn.append(more)
            yield self._drawn[at]
            at += 1


def tier_of(path: str, kind: str) -> int:
    """0, 1 or 2 for a file. path: relative to the root. kind: of places.KINDS, or ABSTRACT."""
    if kind in (ABSTRACT, "long-term") or path in SHARED:
        return 0
    return 1 if kind in (INSIGHTS, "lessons") or path.startswith("shared/lessons/") else 2


def merged(overviews: Sequence[Found], ranked: Iterable[Found]) -> Iterator[Found]:
    """Lines of overviews, best first, among passages that are ranked, each by its score."""
    at = 0
    for found in ranked:
        while at < len(overviews) and overviews[at].score >= found.score:
            yield overviews[at]
            at += 1
        yield found
    yield from overviews[at:]


def enough(hits: Sequence[Shown], deepest: Found | None) -> int:
    """How many of the hits of L0 (overviews aside) and L1, best first, answer by themselves; 0
    where they are weak.

    deepest: the best passage of L2. The hits are strong where the best scores STRONG and one of
    them cites that passage, or says the same; or where an entry or a lesson, which no log repeats,
    stands above it. Then those suffice that score NEAR so well, down to the one that cites it.
    """
    if not hits or hits[0].score < STRONG:
        return 0
    if deepest is None:
        least = 1
    elif at := next((n for n, hit in enumerate(hits, 1) if says(hit, deepest)), 0):
        least = at
    elif hits[0].kind != INSIGHTS and hits[0].score >= deepest.score:
        least = 1
    else:
        return 0
    return max(least, sum(hit.score >= NEAR * hits[0].score for hit in hits))


def says(hit: Shown, found: Found) -> bool:
    """Whether a hit rests on the lines of a passage, or has the same words."""
    row = found.row
    for cite in hit.cites:
        place = read_link(cite)
        if place and place[0] == found.path and place[1] <= row.end and row.start <= place[2]:
            return True
    return spoken_in(hit.text).words == spoken_in(row.text).words
