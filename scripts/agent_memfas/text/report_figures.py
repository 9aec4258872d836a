"""The figures of the telemetry report: turns and questions to models, added up by span of time."""

from __future__ import annotations

from array import array
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import tzinfo

from agent_memfas.text.calendar_spans import Spans, spans_of, written
from agent_memfas.text.telemetry import Call, Turn
from agent_memfas.text.telemetry_summary import Spent, percentile, spent

LEVELS = ("minimal", "lean", "balanced", "rich", "full")
OTHER = "other"
ROWS = 10  # topics, and sources


@dataclass(frozen=True)
class Span:
    """What was done in a span of time. given, saved: tokens. median, slow: of the latencies, in
    milliseconds, 95 % are under `slow`; None without turns. levels: turns at each of LEVELS and
    OTHER.
    """

    label: str
    turns: int
    given: int
    saved: int
    median: float | None
    slow: float | None
    levels: tuple[int, ...]


@dataclass(frozen=True)
class Row:
    """A name, how often it came up, and how often in each span."""

    name: str
    count: int
    over: tuple[int, ...]
    note: str = ""


@dataclass(frozen=True)
class Figures:
    """All that the report says. period: `1 Mar 2026 to 2 Mar 2026`, or "". bare: turns without a
    baseline. topics, sources: the most frequent; of `different` ones each.
    """

    unit: str
    period: str
    spans: tuple[Span, ...]
    turns: int
    sessions: int
    shifts: int
    bare: int
    baseline: int
    given: int
    saved: int
    median: float
    slow: float
    topics: tuple[Row, ...]
    sources: tuple[Row, ...]
    different: tuple[int, int]
    models: tuple[Row, ...]
    spent: tuple[Spent, ...]


def figures(turns: Sequence[Turn], calls: Sequence[Call], zone: tzinfo | None) -> Figures:
    """Add up. zone: whose days count, None for UTC's."""
    days = [one.at.astimezone(zone).date() for one in turns]
    asked = [one.at.astimezone(zone).date() for one in calls]
    spans = spans_of([*days, *asked])
    places = [spans.place(day) for day in days]
    latencies = array("d", (one.latency for one in turns))
    both = sorted({*days, *asked})
    topics, topic_count = _rows(
        spans, ((p, (t.topic,)) for p, t in zip(places, turns, strict=True))
    )
    sources, source_count = _rows(
        spans, ((p, t.sources) for p, t in zip(places, turns, strict=True))
    )
    return Figures(
        unit=spans.unit,
        period=" to ".join(dict.fromkeys(written(day) for day in (both[0], both[-1])))
        if both else "",
        spans=_by_span(spans, places, turns),
        turns=len(turns),
        sessions=len({one.session for one in turns}),
        shifts=sum(one.shifted for one in turns),
        bare=sum(not one.baseline for one in turns),
        baseline=sum(one.baseline for one in turns),
        given=sum(one.curated for one in turns),
        saved=sum(one.saved for one in turns),
        median=percentile(latencies, 50),
        slow=percentile(latencies, 95),
        topics=topics,
        sources=sources,
        different=(topic_count, source_count),
        models=_models(spans, [spans.place(day) for day in asked], calls),
        spent=tuple(spent(calls)),
    )  # fmt: skip


def _by_span(spans: Spans, places: Sequence[int], turns: Sequence[Turn]) -> tuple[Span, ...]:
    inside: defaultdict[int, list[Turn]] = defaultdict(list)
    for place, turn in zip(places, turns, strict=True):
        inside[place].append(turn)
    return tuple(_span(label, inside.get(n, [])) for n, label in enumerate(spans.labels))


def _span(label: str, turns: Sequence[Turn]) -> Span:
    latencies = [turn.latency for turn in turns]
    at = Counter(turn.level if turn.level in LEVELS else OTHER for turn in turns)
    return Span(
        label,
        len(turns),
        sum(turn.curated for turn in turns),
        sum(turn.saved for turn in turns),
        percentile(latencies, 50) if turns else None,
        percentile(latencies, 95) if turns else None,
        tuple(at[level] for level in (*LEVELS, OTHER)),
    )


def _rows(spans: Spans, named: Iterable[tuple[int, Iterable[str]]]) -> tuple[tuple[Row, ...], int]:
    """The most frequent names with their counts by span, and how many names there are."""
    over: defaultdict[str, Counter[int]] = defaultdict(Counter)
    for place, names in named:
        for name in names:
            if name:
                over[name][place] += 1
    ranked = sorted(over, key=lambda name: (-over[name].total(), name))
    rows = (Row(n, over[n].total(), _spread(spans, over[n].__getitem__)) for n in ranked[:ROWS])
    return tuple(rows), len(over)


def _models(spans: Spans, places: Sequence[int], calls: Sequence[Call]) -> tuple[Row, ...]:
    """A row of tokens for each command that has asked a model."""
    tokens: defaultdict[str, Counter[int]] = defaultdict(Counter)
    for place, call in zip(places, calls, strict=True):
        tokens[call.command][place] += call.prompt + call.completion
    return tuple(
        Row(one.command, one.prompt + one.completion,
            _spread(spans, tokens[one.command].__getitem__), _note(one))
        for one in spent(calls)
    )  # fmt: skip


def _note(one: Spent) -> str:
    failed = f", {one.failed} failed" if one.failed else ""
    cost = "" if one.cost is None else f", cost {one.cost:.4f}"
    plural = "" if one.calls == 1 else "s"
    return f"{one.calls:,} question{plural}{failed}{cost}"


def _spread(spans: Spans, count: Callable[[int], int]) -> tuple[int, ...]:
    return tuple(count(n) for n in range(len(spans.labels)))
