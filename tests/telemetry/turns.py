"""Turns as a curator logs them, and a folder that has some."""

from __future__ import annotations

from typing import Any

from agent_memfas.v3 import TurnMetrics
from inputs.memory import Memory, Result, call

AT = "2026-03-01T12:00:00+00:00"


def turn(number: int = 1, **changed: Any) -> TurnMetrics:
    """A turn that was given 200 of 1,000 tokens; `changed` are fields that differ."""
    fields: dict[str, Any] = {
        "timestamp": AT, "session_id": "main", "turn_number": number,
        "query": "What is the status of acme?", "query_tokens": 7, "detected_topic": "acme",
        "topic_shifted": False, "baseline_context_tokens": 1000, "curated_context_tokens": 200,
        "memories_scored": 50, "memories_included": 4, "memories_dropped": 1,
        "memories_filtered": 45, "triggers_matched": 2, "tokens_saved": 800,
        "compression_ratio": 0.2, "latency_ms": 8.0, "curation_level": 3,
        "curation_level_name": "balanced", "min_score_threshold": 0.4,
        "top_memories": [{"id": "m1", "score": 0.8, "source": "MEMORY.md", "snippet": "Acme: Q2"}],
        "score_weights": {"semantic": 0.6, "recency": 0.2, "access": 0.1, "topic": 0.1},
    }  # fmt: skip
    return TurnMetrics(**{**fields, **changed})


def telemetry(memory: Memory, command: str, *arguments: str) -> Result:
    """`memfas telemetry COMMAND --root HERE ARGUMENTS...`."""
    return call("telemetry", command, "--root", str(memory.root), *arguments)
