"""`agent_memfas.v3` has the names, arguments, fields and levels of the reference."""

from __future__ import annotations

import inspect
from dataclasses import fields
from typing import Any

import pytest

from agent_memfas import v3
from agent_memfas.errors import MemfasError
from agent_memfas.v3 import (
    DEFAULT_LEVEL,
    LEVEL_NAMES,
    LEVEL_PRESETS,
    ContextCurator,
    ContextResponse,
    CuratedContext,
    LevelPreset,
    MemoryChunk,
    ScoredMemory,
    SessionMetrics,
    TurnMetrics,
    describe_levels,
    get_preset,
    resolve_level,
)

NAMES = """ContextCurator ContextResponse LevelPreset LEVEL_PRESETS LEVEL_NAMES DEFAULT_LEVEL
resolve_level get_preset describe_levels TopicDetector Topic RelevanceScorer ScoredMemory TokenBudget
CuratedContext SessionState TelemetryLogger TurnMetrics SessionMetrics""".split()
RESPONSE = """context tokens_used budget memories_included memories_dropped memories_filtered
triggers_matched topic topic_shifted baseline_tokens tokens_saved compression_ratio latency_ms
curation_level curation_level_name top_memories""".split()
CHUNK = "id text source embedding section date token_count access_count last_accessed metadata"
TURN = """timestamp session_id turn_number query query_tokens detected_topic topic_shifted
baseline_context_tokens curated_context_tokens memories_scored memories_included memories_dropped
memories_filtered triggers_matched tokens_saved compression_ratio latency_ms curation_level
curation_level_name min_score_threshold top_memories score_weights"""
SESSION = """session_id start_time end_time total_turns total_baseline_tokens total_curated_tokens
total_tokens_saved avg_compression_ratio topics_detected topic_shifts unique_memories_used
most_accessed_memories avg_latency_ms p95_latency_ms max_latency_ms"""
METHODS = {
    "get_context": "query session_id baseline_tokens include_triggers recent_history level",
    "end_session": "session_id", "get_session_stats": "session_id",
    "get_telemetry_summary": "", "format_telemetry_summary": "", "set_budget": "budget",
    "get_level": "", "set_level": "level", "get_level_info": "",
    "set_scorer_weights": "semantic recency access topic", "invalidate_cache": "", "close": "",
}  # fmt: skip
TABLE = [
    (1, "minimal", 300, 0.75, 3, 0.10, "Only near-exact matches. Fast, cheap, risky."),
    (2, "lean", 800, 0.55, 6, 0.15, "High-confidence matches only."),
    (3, "balanced", 1500, 0.40, 10, 0.20, "Default. Good coverage, reasonable cost."),
    (4, "rich", 3000, 0.25, 18, 0.25, "Include 'probably relevant' stuff."),
    (5, "full", 5000, 0.10, 30, 0.30, "Kitchen sink. Safe but expensive."),
]


def positional(function: Any) -> list[str]:
    """The arguments that may be given by their place."""
    kinds = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.POSITIONAL_ONLY)
    return [p.name for p in inspect.signature(function).parameters.values() if p.kind in kinds]


def test_every_name_of_the_reference_is_there() -> None:
    """`from agent_memfas.v3 import ...` works for each name that agent-memfas exports."""
    assert set(NAMES) <= set(v3.__all__)
    assert [name for name in NAMES if not hasattr(v3, name)] == []


def test_the_curator_takes_the_arguments_of_the_reference() -> None:
    """By place and by name, with the same defaults."""
    assert positional(ContextCurator) == [
        "config_path", "level", "token_budget", "telemetry_path", "embedder",
    ]  # fmt: skip
    for name, arguments in METHODS.items():
        assert positional(getattr(ContextCurator, name))[1:] == arguments.split(), name
    defaults = inspect.signature(ContextCurator.get_context).parameters
    assert {name: defaults[name].default for name in positional(ContextCurator.get_context)[2:]} == {
        "session_id": "default", "baseline_tokens": 0, "include_triggers": True,
        "recent_history": None, "level": None,
    }  # fmt: skip


def test_the_fields_come_in_the_order_of_the_reference() -> None:
    """So positional construction and `dataclasses.astuple` mean the same; what is ours stands
    behind."""
    assert [f.name for f in fields(ContextResponse)][: len(RESPONSE)] == RESPONSE
    assert [f.name for f in fields(MemoryChunk)] == CHUNK.split()
    assert [f.name for f in fields(ScoredMemory)] == ["memory", "score", "breakdown"]
    assert [f.name for f in fields(CuratedContext)][:5] == [
        "memories", "total_tokens", "budget", "utilization", "dropped",
    ]  # fmt: skip
    assert [f.name for f in fields(TurnMetrics)] == TURN.split()
    assert [f.name for f in fields(SessionMetrics)] == SESSION.split()
    assert {f.name for f in fields(LevelPreset)} == {
        "level", "name", "token_budget", "min_score", "max_results", "recency_weight",
        "description",
    }  # fmt: skip


def test_a_response_has_the_defaults_of_the_reference() -> None:
    """The first five are needed, the rest means nothing happened; curated_tokens is tokens_used."""
    made = ContextResponse("text", 7, 1500, 1, 2)
    rest = [getattr(made, name) for name in RESPONSE[5:]]
    assert rest == [0, 0, "", False, 0, 0, 1.0, 0.0, 3, "balanced", []]
    assert made.curated_tokens == 7


def test_the_levels_are_those_of_the_reference() -> None:
    """Number, name, budget, threshold, number of memories, weight of recency, description."""
    found = [
        (p.level, p.name, p.token_budget, p.min_score, p.max_results, p.recency_weight,
         p.description)
        for p in LEVEL_PRESETS.values()
    ]  # fmt: skip
    assert found == TABLE
    assert list(LEVEL_PRESETS) == [1, 2, 3, 4, 5]
    assert {row[1]: row[0] for row in TABLE} == LEVEL_NAMES
    assert DEFAULT_LEVEL == 3
    shown = describe_levels()
    assert all(f"{row[0]} {row[1]}" in shown and str(row[2]) in shown for row in TABLE)


@pytest.mark.parametrize(
    ("level", "number"),
    [(1, 1), (5, 5), (0, 1), (-3, 1), (99, 5), ("lean", 2), (" Rich ", 4), ("FULL", 5), ("3", 3),
     ("99", 5), ("-1", 1), ("auto", 3), (None, 3)],
)  # fmt: skip
def test_levels_are_numbers_and_names(level: int | str | None, number: int) -> None:
    """A number is held to 1 to 5; names may be written in any case; auto and none are balanced."""
    assert resolve_level(level) == number
    assert get_preset(level) is LEVEL_PRESETS[number]


@pytest.mark.parametrize("level", ["maximum", "", "three", "1.5", "²", "9" * 5000, 2.5, True, [1]])
def test_an_unknown_level_is_an_error(level: Any) -> None:
    """`level="maximum"` is not silently another level: it is an error that names the levels."""
    for ask in (resolve_level, get_preset):
        with pytest.raises(MemfasError, match="no level") as caught:
            ask(level)
        assert "minimal" in (caught.value.remedy or "")
