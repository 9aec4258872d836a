"""What a context manager answers: the fields of the reference first, ours after them."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass
class ContextStatus:
    """How full a context is. pct_used: a share, 0.5 is half. needs_compaction: whether it is over
    compaction_trigger_pct now. last_compaction: ISO, or None. notes: what was not as usual since
    the last status. pinned: chunks that are never touched.
    """

    current_tokens: int
    max_tokens: int
    pct_used: float
    chunks_count: int
    cold_storage_count: int
    needs_compaction: bool
    last_compaction: str | None = None
    pinned: int = 0
    notes: list[str] = field(default_factory=list)


@dataclass
class CompactionResult:
    """What a compaction did. chunks_summarized: those that became shorter. token_savings: before
    minus after. stored: ids of the chunks that went to cold storage, and `path`, where they are,
    "" for nowhere. done: False where it changed nothing, for the reason in notes.
    """

    tokens_before: int
    tokens_after: int
    chunks_dropped: int
    chunks_summarized: int
    token_savings: int
    chunks_kept: int = 0
    stored: list[str] = field(default_factory=list)
    path: str = ""
    done: bool = True
    notes: list[str] = field(default_factory=list)
