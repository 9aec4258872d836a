"""Curation under the reference's import path; each part is loaded when it is first asked for."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from agent_memfas.v3.budget import CuratedContext, TokenBudget
    from agent_memfas.v3.curator import ContextCurator
    from agent_memfas.v3.levels import (
        DEFAULT_LEVEL,
        LEVEL_NAMES,
        LEVEL_PRESETS,
        LevelPreset,
        describe_levels,
        get_preset,
        resolve_level,
    )
    from agent_memfas.v3.response import ContextResponse
    from agent_memfas.v3.scoring import MemoryChunk, RelevanceScorer, ScoredMemory
    from agent_memfas.v3.session import SessionState
    from agent_memfas.v3.telemetry import SessionMetrics, TelemetryLogger, TurnMetrics
    from agent_memfas.v3.topic import Topic, TopicDetector

__all__ = [
    "DEFAULT_LEVEL",
    "LEVEL_NAMES",
    "LEVEL_PRESETS",
    "ContextCurator",
    "ContextResponse",
    "CuratedContext",
    "LevelPreset",
    "MemoryChunk",
    "RelevanceScorer",
    "ScoredMemory",
    "SessionMetrics",
    "SessionState",
    "TelemetryLogger",
    "TokenBudget",
    "Topic",
    "TopicDetector",
    "TurnMetrics",
    "describe_levels",
    "get_preset",
    "resolve_level",
]

_HOMES = {
    "ContextCurator": "curator", "ContextResponse": "response", "CuratedContext": "budget",
    "MemoryChunk": "scoring", "RelevanceScorer": "scoring", "ScoredMemory": "scoring",
    "SessionMetrics": "telemetry", "SessionState": "session", "TelemetryLogger": "telemetry",
    "TokenBudget": "budget", "Topic": "topic", "TopicDetector": "topic", "TurnMetrics": "telemetry",
}  # fmt: skip


def __getattr__(name: str) -> object:
    """A public name, from the module where it is at home."""
    if name in __all__:
        from importlib import import_module

        return getattr(import_module(f"{__name__}.{_HOMES.get(name, 'levels')}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
