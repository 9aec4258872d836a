"""Context management under the reference's import path; parts are loaded when first asked for."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from agent_memfas.context.cold_storage import ColdStorage, DroppedChunk
    from agent_memfas.context.config import ContextConfig
    from agent_memfas.context.logger import ContextLogger
    from agent_memfas.context.manager import ContextManager
    from agent_memfas.context.results import CompactionResult, ContextStatus
    from agent_memfas.context.scoring import (
        MemfasIntegration,
        RelevanceScorer,
        create_memfas_scorer,
    )
    from agent_memfas.context.summarizers import (
        ExtractiveSummarizer,
        MiniMaxSummarizer,
        ModelSummarizer,
        NoOpSummarizer,
        Summarizer,
        create_minimax_summarizer,
        create_summarizer,
    )

__all__ = [
    "ColdStorage",
    "CompactionResult",
    "ContextConfig",
    "ContextLogger",
    "ContextManager",
    "ContextStatus",
    "DroppedChunk",
    "ExtractiveSummarizer",
    "MemfasIntegration",
    "MiniMaxSummarizer",
    "ModelSummarizer",
    "NoOpSummarizer",
    "RelevanceScorer",
    "Summarizer",
    "create_memfas_scorer",
    "create_minimax_summarizer",
    "create_summarizer",
]

_HOMES = {
    "ColdStorage": "cold_storage", "DroppedChunk": "cold_storage", "ContextConfig": "config",
    "ContextLogger": "logger", "ContextManager": "manager", "CompactionResult": "results",
    "ContextStatus": "results", "MemfasIntegration": "scoring", "RelevanceScorer": "scoring",
    "create_memfas_scorer": "scoring",
}  # fmt: skip


def __getattr__(name: str) -> object:
    """A public name, from the module where it is at home."""
    if name in __all__:
        from importlib import import_module

        return getattr(import_module(f"{__name__}.{_HOMES.get(name, 'summarizers')}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
