"""Telemetry added up: the summary of agent-memfas, and what models have cost."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from agent_memfas.text.telemetry import Call, Turn

NOTHING = "📊 No telemetry data found."
_NO_DATA = {
    "status": "no_data",
    "message": "No telemetry data found for the specified filters",
}


class Spent(NamedTuple):
    """What a command has asked models. failed: questions without a usable answer. cost: of those
    whose price is known; None where none is.
    """

    command: str
    calls: int
    failed: int
    prompt: int
    completion: int
    cost: float | None


def percentile(values: Sequence[float], percent: float) -> float:
    """The value below which so many percent lie, by linear interpolation between the two nearest
    ranks (type 7 of Hyndman and Fan, as numpy and agent-memfas have it); 0 for no values.
    """
    if not values:
        return 0.0
    ordered = sorted(values)
    place = (len(ordered) - 1) * percent / 100
    low = int(place)
    high = min(low + 1, len(ordered) - 1)
    return ordered[low] + (place - low) * (ordered[high] - ordered[low])


def mean_ratio(turns: Iterable[Turn]) -> float:
    """The mean of curated / baseline over the turns that have a baseline; 1.0 where none has: then
    nothing is known to have been saved.
    """
    ratios = [turn.ratio for turn in turns if turn.ratio is not None]
    return sum(ratios) / len(ratios) if ratios else 1.0


def summarise(turns: Sequence[Turn]) -> dict[str, Any]:
    """The summary with exactly the keys that agent-memfas has, as JSON can hold it.

    Compression counts only turns with a baseline; without any it is 1.0 all over.
    """
    if not turns:
        return dict(_NO_DATA)
    latencies = [turn.latency for turn in turns]
    ratios = [turn.ratio for turn in turns if turn.ratio is not None] or [1.0]
    shifts = sum(turn.shifted for turn in turns)
    included = sum(turn.included for turn in turns)
    return {
        "status": "ok",
        "period": {
            "start": turns[0].stamp,
            "end": turns[-1].stamp,
            "total_turns": len(turns),
        },
        "compression": {
            "total_baseline_tokens": sum(turn.baseline for turn in turns),
            "total_curated_tokens": sum(turn.curated for turn in turns),
            "total_tokens_saved": sum(turn.saved for turn in turns),
            "avg_compression_ratio": mean_ratio(turns),
            "best_compression": min(ratios),
            "worst_compression": max(ratios),
        },
        "memory_usage": {
            "total_memories_scored": sum(turn.scored for turn in turns),
            "total_memories_included": included,
            "total_memories_dropped": sum(turn.dropped for turn in turns),
            "avg_memories_per_turn": included / len(turns),
            "avg_triggers_per_turn": sum(turn.triggers for turn in turns) / len(turns),
        },
        "topics": {
            "unique_topics": list(dict.fromkeys(turn.topic for turn in turns if turn.topic)),
            "topic_shifts": shifts,
            "shift_rate": shifts / len(turns),
        },
        "performance": {
            "avg_latency_ms": sum(latencies) / len(turns),
            "p50_latency_ms": percentile(latencies, 50),
            "p95_latency_ms": percentile(latencies, 95),
            "max_latency_ms": max(latencies),
        },
    }


def block(summary: Mapping[str, Any]) -> str:
    """A summary as agent-memfas prints it. Savings are those of turns with a baseline."""
    if summary["status"] != "ok":
        return NOTHING
    c, m, t, p = (summary[k] for k in ("compression", "memory_usage", "topics", "performance"))
    period = summary["period"]
    share = c["total_tokens_saved"] / max(c["total_baseline_tokens"], 1) * 100
    known = c["total_baseline_tokens"] > 0
    saved = f"{c['total_tokens_saved']:,} ({share:.1f}% reduction)" if known else "unknown"
    ratio = f"{c['avg_compression_ratio']:.2f}x" if known else "unknown (no baseline was given)"
    return f"""📊 Memfas Performance Summary
{"═" * 40}

Period: {period["start"][:10]} to {period["end"][:10]}
Turns:  {period["total_turns"]}

Compression:
  Baseline tokens:  {c["total_baseline_tokens"]:,}
  Curated tokens:   {c["total_curated_tokens"]:,}
  Tokens saved:     {saved}
  Avg compression:  {ratio}

Memory Usage:
  Memories scored:  {m["total_memories_scored"]:,}
  Included:         {m["total_memories_included"]:,} ({m["avg_memories_per_turn"]:.1f}/turn)
  Dropped:          {m["total_memories_dropped"]:,}
  Triggers:         {m["avg_triggers_per_turn"]:.1f}/turn

Topics:
  Unique:           {len(t["unique_topics"])}
  Shifts:           {t["topic_shifts"]} ({t["shift_rate"] * 100:.1f}%)

Latency:
  Average:          {p["avg_latency_ms"]:.1f}ms
  P95:              {p["p95_latency_ms"]:.1f}ms
  Max:              {p["max_latency_ms"]:.1f}ms
"""


def spent(calls: Iterable[Call]) -> list[Spent]:
    """What each command has asked models, those with the most tokens first."""
    by_command: dict[str, Spent] = {}
    for call in calls:
        was = by_command.get(call.command, Spent(call.command, 0, 0, 0, 0, None))
        cost = was.cost if call.cost is None else (was.cost or 0.0) + call.cost
        by_command[call.command] = Spent(
            call.command, was.calls + 1, was.failed + (call.outcome != "ok"),
            was.prompt + call.prompt, was.completion + call.completion, cost,
        )  # fmt: skip
    return sorted(by_command.values(), key=lambda one: (-one.prompt - one.completion, one.command))


def most_used(memories: Iterable[Mapping[str, Any]], most: int) -> tuple[int, list[dict[str, Any]]]:
    """How many different memories there are, and the most frequent: [{id, source, count}]."""
    counts: Counter[str] = Counter()
    sources: dict[str, Any] = {}
    for one in memories:
        if key := str(one.get("id", "")):
            counts[key] += 1
            sources.setdefault(key, one.get("source", ""))
    named = [{"id": k, "source": sources[k], "count": n} for k, n in counts.most_common(most)]
    return len(counts), named
