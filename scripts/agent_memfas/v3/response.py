"""What a turn gets from the curator."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any


@dataclass
class ContextResponse:
    """The context for a turn, and its account.

    context: the text to put before the model, "" for none. tokens_used: of that text, tags, sources
    and triggers included; never more than budget. memories_included, memories_dropped: those in it,
    and those that were good enough and did not fit (or were given before); memories_filtered: under
    the level's min_score. baseline_tokens: what the caller would have sent otherwise; tokens_saved:
    that less tokens_used, never below 0. compression_ratio: the share of the baseline that is
    saved (0.84: 84 %), 0.0 without a baseline. top_memories: the five best, {id, score, source}.
    curation_why: why the level was chosen, where it was `auto`.
    """

    context: str
    tokens_used: int
    budget: int
    memories_included: int
    memories_dropped: int
    memories_filtered: int = 0
    triggers_matched: int = 0
    topic: str = ""
    topic_shifted: bool = False
    baseline_tokens: int = 0
    tokens_saved: int = 0
    compression_ratio: float = 1.0
    latency_ms: float = 0.0
    curation_level: int = 3
    curation_level_name: str = "balanced"
    top_memories: list[dict[str, Any]] = field(default_factory=list)
    curation_why: str = ""

    @property
    def curated_tokens(self) -> int:
        """The tokens of the context, as agent-memfas' README names them."""
        return self.tokens_used
