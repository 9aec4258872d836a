"""`ContextManager`: put around an agent's loop, it keeps the context window from filling up."""

from __future__ import annotations

import os
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import Any

from agent_memfas.context import surroundings
from agent_memfas.context.cold_storage import ColdStorage
from agent_memfas.context.config import ContextConfig
from agent_memfas.context.keeping import MAX_TOKENS, Keeping
from agent_memfas.context.logger import COMPACTION, CURATION, DROPS, HEALTH, RECOVERY, ContextLogger
from agent_memfas.context.looking import Messages
from agent_memfas.context.results import CompactionResult, ContextStatus
from agent_memfas.context.scoring import MemfasIntegration, RelevanceScorer
from agent_memfas.context.summarizers import Summarizer
from agent_memfas.embedders.base import Embedder
from agent_memfas.remote.counting import counter
from agent_memfas.text.counting import Counter
from agent_memfas.text.messages import read_message

LIMIT = 5
ARCHIVED_MESSAGES = 20  # that `get_messages` is asked for at the end of a session (the reference's)


class ContextManager(Keeping):
    """Watches a context and compacts it before it is full. What leaves the context is in cold
    storage first, and what cannot be stored does not leave it.

    memory_path, config_path, memfas_memory_path: relative paths of the configuration are relative
    to its file, else to the first of these that is given (memory_path last). memfas_memory_path: a
    memory folder whose embedder and triggers help to score. get_context, set_context: the list of
    messages, and what puts another in its place; without them the list of `on_message` is changed
    itself. get_token_count: tokens of the whole context, None for a count of ours. get_messages:
    the last n messages, which `session_end` keeps, too.

    session_id: None for a new one. config: instead of a file. summarizer: a name, a function or a
    Summarizer, before summary_model. embedder: compares chunks by meaning. count: tokens of a text.
    before_compact: called with the messages before anything leaves; if it raises, nothing does.
    after_compact: called with the result. clock: the time, aware. replay: the context is a
    transcript that may be compacted again: ids depend on what is said, messages are as old as they
    were when the last was said, and what is in cold storage is not stored once more.

    May be used by several threads. ConfigError where the configuration makes no sense.
    """

    def __init__(
        self,
        memory_path: str | Path = "./memfas.json",
        config_path: str | Path | None = None,
        log_path: str | Path | None = None,
        cold_storage_path: str | Path | None = None,
        memfas_memory_path: str | Path | None = None,
        memfas_backend: str = "fts5",
        get_context: Callable[[], Messages | None] | None = None,
        set_context: Callable[[list[Any]], object] | None = None,
        get_token_count: Callable[[], int] | None = None,
        get_messages: Callable[[int], Messages] | None = None,
        *,
        session_id: str | None = None,
        config: ContextConfig | None = None,
        summarizer: str | Summarizer | Callable[..., str] | None = None,
        embedder: Embedder | None = None,
        count: Counter | None = None,
        before_compact: Callable[[list[Any]], object] | None = None,
        after_compact: Callable[[CompactionResult], object] | None = None,
        clock: Callable[[], datetime] | None = None,
        replay: bool = False,
    ) -> None:
        self.memory_path = Path(memory_path)
        self.config = config or ContextConfig.load(config_path)
        root = surroundings.root_of(self.config, config_path, memfas_memory_path, memory_path)
        settings = surroundings.settings_of(root, self.config)
        now = clock or surroundings.clock_of(settings.timezone)
        self.notes = []
        self.get_context, self.set_context = get_context, set_context
        self.get_token_count, self.get_messages = get_token_count, get_messages
        self.before_compact, self.after_compact = before_compact, after_compact
        self.log_path = surroundings.inside(root, log_path or self.config.log_path)
        self.cold_storage_path = surroundings.inside(
            root, cold_storage_path or self.config.cold_storage_path
        )
        client = None
        if memfas_memory_path is not None or embedder is not None:
            client = MemfasIntegration(memfas_memory_path or root, memfas_backend, embedder)
        self.scorer = RelevanceScorer(self.config, client)
        self.cold_storage = ColdStorage(self.cold_storage_path, now)
        self.logger = ContextLogger(self.log_path, off=_off(self.config), clock=now)
        self.summarizer = surroundings.summarizer_of(summarizer, self.config, settings, self.notes)
        self.session_id = session_id or _new_session(now())
        self._begin(
            now, count or counter(), surroundings.memory_folder(root),
            f"{os.path.relpath(self.cold_storage_path, root)}/", named=session_id is not None,
            replay=replay,
        )  # fmt: skip

    # The loop of an agent

    def on_message(self, message: object, context: Messages | None = None) -> None:
        """A message came. context: the list that it stands in, or is about to."""
        with self._lock:
            if context is not None:
                self._own = context
            tokens = self._look()
            self.logger.log_message(message, len(self._window.seen), tokens)

    def set_current_prompt(self, prompt: object) -> None:
        """What chunks are compared with; without it, the latest turn of the user."""
        with self._lock:
            self._prompt = read_message(prompt).text

    def before_response(self, max_tokens: int = MAX_TOKENS) -> ContextStatus:
        """Look at the context, and compact it where it is over compaction_trigger_pct.

        max_tokens: of the window. The status is that after the compaction. Never raises for what a
        hook, a callback of a compaction or a full disk does: notes say so, and the context stays.
        """
        with self._lock:
            self._max_tokens = max_tokens
            tokens = self._look()
            seen = not self._blind
            if seen and self._share(tokens) >= self.config.curation_trigger_pct > 0:
                tokens = self._curate(tokens)
            if seen and self.config.auto_compact and self._is_over(tokens):
                self._compact(tokens)
            status = self._status()
            self.logger.log_health(status)
            return status

    def after_response(self) -> None:
        """The agent has answered."""
        with self._lock:
            self.logger.log_activity("response_complete")

    def session_end(self) -> int:
        """Keep in cold storage what the context still holds, and begin another session. Returns
        how many chunks that were. FileFault, TryAgain where that is not possible.
        """
        with self._lock:
            self._look()
            more = list(self.get_messages(ARCHIVED_MESSAGES)) if self.get_messages else []
            kept = [seen.raw for seen in self._window.seen]
            self.logger.log_session_end(len(kept), len(more))
            blocks = self._remaining([*kept, *(one for one in more if one not in kept)])
            if blocks and self.config.cold_storage_enabled:
                path = self.cold_storage.store(blocks)
                self._holding.note_blocks(blocks, path)
                for block in blocks:
                    self._log_drop(block, path)
            self.session_id, self._named = _new_session(self._clock()), False
            self._restored.clear()
            return len(blocks) if self.config.cold_storage_enabled else 0

    # At any time

    def compact(self) -> CompactionResult:
        """Compact the context now, whether it is full or not."""
        with self._lock:
            return self._compact(self._look())

    def status(self) -> ContextStatus:
        """How full the context is now; nothing is changed."""
        with self._lock:
            self._look()
            return self._status()

    def recover(self, query: str, limit: int = LIMIT, restore: bool = False) -> list[str]:
        """What cold storage holds for a query, best first, as text. restore: also put it back into
        the context, before the latest turn, calls with their results, summaries' sources in their
        place.
        """
        with self._lock:
            if not query.strip() or limit <= 0:
                return []
            blocks = [block for block, _ in self.cold_storage.search(query, limit)]
            self.logger.log_recovery(query, len(blocks))
            if restore and blocks:
                self._restore(blocks)
            return [block.text for block in blocks]

    def pin(self, message: object) -> None:
        """Never touch this message, or any that is equal to it."""
        with self._lock:
            if not any(one is message for one in self._pins):
                self._pins.append(message)

    def unpin(self, message: object) -> None:
        """Let go of a pin."""
        with self._lock:
            self._pins = [one for one in self._pins if one is not message and one != message]

    def health_check(self) -> dict[str, Any]:
        """{tokens, cold_storage_count, config {compaction_trigger_pct, relevance_cutoff}}."""
        with self._lock:
            return {
                "tokens": self._look(),
                "cold_storage_count": self.cold_storage.count(),
                "config": {
                    "compaction_trigger_pct": self.config.compaction_trigger_pct,
                    "relevance_cutoff": self.config.relevance_cutoff,
                },
            }

    def close(self) -> None:
        """Let go of the memory and of a model."""
        with self._lock:
            for one in (self.scorer.memfas_client, self.summarizer):
                if one is not None and hasattr(one, "close"):
                    one.close()

    def __enter__(self) -> ContextManager:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _new_session(now: datetime) -> str:
    return f"session_{int(now.timestamp())}_{os.urandom(2).hex()}"


def _off(config: ContextConfig) -> frozenset[str]:
    """The logs that are not written."""
    wanted = {
        COMPACTION: config.log_compaction, CURATION: config.log_curation, DROPS: config.log_drops,
        HEALTH: config.log_health, RECOVERY: config.log_recovery,
    }  # fmt: skip
    return frozenset(name for name, on in wanted.items() if not on)
