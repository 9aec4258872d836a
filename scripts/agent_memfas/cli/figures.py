"""What `memfas bench` shows: a table, the questions that went wrong, what is to be known beside."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Any

from agent_memfas.cli import out
from agent_memfas.tasks.bench import Judged, Place, Question, by_category, figures
from agent_memfas.text.context import span

CUT = 160  # characters of a hit that is shown
TOLD = 10  # places that are not there, told one by one
LEGEND = (
    "Percent. E@N: expected places within N tokens; ALL@N: questions with all of theirs;"
    " MRR: 1 / rank of the first."
)


@dataclass(frozen=True)
class Measured:
    """How one backend did. ms: of each question. nothing: questions without a hit. notes: what
    was said beside the answers, and beside how many.
    """

    name: str
    rows: tuple[Judged, ...]
    ms: tuple[float, ...]
    nothing: int
    notes: tuple[tuple[str, int], ...] = ()

    @property
    def figures(self) -> dict[str, dict[str, float]]:
        """The figures of all, under "", and of each category."""
        parts = {"": self.rows, **{f"{name or '(none)'} ({len(rows)})": rows
                                   for name, rows in by_category(self.rows).items()}}  # fmt: skip
        return {name: figures(rows) for name, rows in parts.items()}


def table(found: Sequence[Measured]) -> Iterator[str]:
    """The figures, a line for each category. Of several backends, measured with the same questions,
    each has a group of columns, for want of room without ALL@N.
    """
    for one in found:
        yield (f"{one.name}: {one.nothing} answered with nothing, "
               f"{median(one.ms):.2f} ms a question (median)")  # fmt: skip
    parts = [one.figures for one in found]
    names = [name for name in parts[0][""] if len(found) == 1 or not name.startswith("ALL")]
    labels = {key: f"  {key}" if key else f"all ({len(found[0].rows)})" for key in parts[0]}
    wide = max(map(len, labels.values())) + 2
    size = 9 if len(found) == 1 else 8
    yield ""
    if len(found) > 1:
        groups = (f"   {one.name}".ljust(size * len(names)) for one in found)
        yield f"{' ' * wide}{''.join(groups)}".rstrip()
    yield " " * wide + "".join(name.rjust(size) for name in names) * len(found)
    for key, label in labels.items():
        cells = (f"{part[key][name]:{size}.1f}" for part in parts for name in names)
        yield label.ljust(wide) + "".join(cells)
    yield ""
    yield LEGEND


def missed(one: Measured, file: str, most: int) -> Iterator[str]:
    """The first questions that went wrong, with what came first instead."""
    for row in _wrong(one, most):
        asked, first = row.question, row.first
        yield ""
        yield f"missed by {one.name}: {file}:{asked.line}: {' '.join(asked.text.split())}"
        where = f"at rank {row.rank}" if row.rank else "not among the hits"
        yield f"  expected  {', '.join(map(str, asked.expected))} ({where})"
        if first is None:
            yield "  first     nothing"
            continue
        lines = span(first.start_line, first.end_line)
        yield f"  first     [{first.path}:{lines}] {_short(first.text)}"


def _wrong(one: Measured, most: int) -> list[Judged]:
    return [row for row in one.rows if row.is_missed][:most]


def _short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= CUT else f"{line[:CUT]}..."


def as_data(one: Measured, misses: int) -> dict[str, Any]:
    """The same for a program; misses: how many questions that went wrong are listed at most."""
    parts = by_category(one.rows)
    return {
        "backend": one.name,
        "answered_with_nothing": one.nothing,
        "ms_median": round(median(one.ms), 2),
        "figures": figures(one.rows),
        "by_category": {
            name: {"questions": len(rows), **figures(rows)} for name, rows in parts.items()
        },
        "missed": sum(row.is_missed for row in one.rows),
        "misses": [_miss(row) for row in _wrong(one, misses)],
        "notes": [{"note": note, "answers": count} for note, count in one.notes],
    }


def _miss(row: Judged) -> dict[str, Any]:
    first = row.first
    return {
        "line": row.question.line,
        "question": row.question.text,
        "expected": list(map(str, row.question.expected)),
        "rank": row.rank or None,
        "first": first and {"path": first.path, "start_line": first.start_line,
                            "end_line": first.end_line, "text": first.text},
    }  # fmt: skip


def tell_of(
    file: str, lost: Sequence[tuple[Question, Place, str]], found: Sequence[Measured]
) -> None:
    """What is to be known beside the figures: places that are not there, notes of the answers."""
    for question, place, why in lost[:TOLD]:
        out.tell(f"{file}:{question.line}: {place}: {why}; counted as missed")
    if more := len(lost) - TOLD if len(lost) > TOLD else 0:
        out.tell(f"{file}: {more} more expected places cannot be found; --json lists them")
    for one in found:
        for note, count in one.notes:
            out.tell(f"{one.name}: {note} ({count} of {out.count(len(one.rows), 'answer')})")
