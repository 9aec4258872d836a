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


def summarise(turns: Sequence[Turn]) -> dict[str, Any]:
    """The summary with exactly the keys that agent-memfas has, as JSON can hold it.

    Compression counts only turns with a baseline; without any it is 1.0 all over.
    """
    if not turns:
        return dict(_NO_DATA)
    included = sum(turn.included for turn in turns)
    shifts = sum(turn.shifted for turn in turns)
    return {
        "status": "ok",
        "period": {
            "start": turns[0].stamp,
            "end": turns[-1].stamp,
            "total_turns": len(turns),
        },
        "compression": _compression(turns),
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
        "performance": _performance([turn.latency for turn in turns]),
    }


def _compression(turns: Sequence[Turn]) -> dict[str, Any]:
    ratios = [turn.ratio for turn in turns if turn.ratio is not None] or [1.0]
    return {
        "total_baseline_tokens": sum(turn.baseline for turn in turns),
        "total_curated_tokens": sum(turn.curated for turn in turns),
        "total_tokens_saved": sum(turn.saved for turn in turns),
        "avg_compression_ratio": sum(ratios) / len(ratios),
        "best_compression": min(ratios),
        "worst_compression": max(ratios),
    }


def _performance(latencies: Sequence[float]) -> dict[str, Any]:
    return {
        "avg_latency_ms": sum(latencies) / len(latencies),
        "p50_latency_ms": percentile(latencies, 50),
        "p95_latency_ms": percentile(latencies, 95),
        "max_latency_ms": max(latencies),
    }


_BLOCK = """📊 Memfas Performance Summary
════════════════════════════════════════

Period: {start:.10} to {end:.10}
Turns:  {total_turns}

Compression:
  Baseline tokens:  {total_baseline_tokens:,}
  Curated tokens:   {total_curated_tokens:,}
  Tokens saved:     {saved}
  Avg compression:  {ratio}

Memory Usage:
  Memories scored:  {total_memories_scored:,}
  Included:         {total_memories_included:,} ({avg_memories_per_turn:.1f}/turn)
  Dropped:          {total_memories_dropped:,}
  Triggers:         {avg_triggers_per_turn:.1f}/turn

Topics:
  Unique:           {topics}
  Shifts:           {topic_shifts} ({shift_rate:.1%})

Latency:
  Average:          {avg_latency_ms:.1f}ms
  P95:              {p95_latency_ms:.1f}ms
  Max:              {max_latency_ms:.1f}ms
"""


def block(summary: Mapping[str, Any]) -> str:
    """A summary as agent-memfas prints it; savings and ratio are unknown without a baseline."""
    if summary["status"] != "ok":
        return NOTHING
    parts = ("period", "compression", "memory_usage", "topics", "performance")
    values = {name: value for part in parts for name, value in summary[part].items()}
    saved, ratio = "unknown", "unknown (no baseline was given)"
    if baseline := values["total_baseline_tokens"]:
        share = values["total_tokens_saved"] / baseline
        saved = f"{values['total_tokens_saved']:,} ({share:.1%} reduction)"
        ratio = f"{values['avg_compression_ratio']:.2f}x"
    topics = len(values["unique_topics"])
    return _BLOCK.format_map({**values, "saved": saved, "ratio": ratio, "topics": topics})


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
