"""What Memory gives back."""

from __future__ import annotations

from dataclasses import dataclass

from agent_memfas.index.records import digest
from agent_memfas.index.rows import number_of
from agent_memfas.tasks.recall import Hit

SHOWN = 200  # characters of a text in `str(result)`


@dataclass(frozen=True)
class MemoryResult:
    """One hit. source: path relative to the folder; lines 1-based, inclusive; score: 0 to 1.

    heading: the headings above, joined by " > ". id: the number of this text, the same wherever and
    whenever it is found; `memory_ids` of a trigger are such numbers. also: where else the same is
    said, each `path:12` or `path:12-15`.
    """

    source: str
    text: str
    score: float
    trigger: str | None = None
    hint: str | None = None
    date: str | None = None
    start_line: int | None = None
    end_line: int | None = None
    heading: str | None = None
    id: int | None = None
    also: tuple[str, ...] = ()

    def __str__(self) -> str:
        head = f"[{self.trigger}] {self.hint}" if self.trigger else f"[{self.source}]"
        more = "..." if len(self.text) > SHOWN else ""
        return f"{head}\n  > {self.text[:SHOWN]}{more}"


def result_of(hit: Hit) -> MemoryResult:
    """A hit of recall as the reference names its parts."""
    return MemoryResult(
        hit.path, hit.text, hit.score, date=hit.date, start_line=hit.start_line,
        end_line=hit.end_line, heading=hit.heading, id=number_of(digest(hit.text)),
        also=hit.also,
    )  # fmt: skip
