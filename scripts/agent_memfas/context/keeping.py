"""A context, and what is done to it: how full it is, compaction, what comes back."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from datetime import datetime, timedelta
from functools import partial
from hashlib import blake2b
from pathlib import Path
from threading import RLock
from typing import Any

from agent_memfas.context import restoring
from agent_memfas.context.cold_storage import ColdStorage
from agent_memfas.context.config import ContextConfig
from agent_memfas.context.logger import ContextLogger
from agent_memfas.context.results import CompactionResult, ContextStatus
from agent_memfas.context.scoring import RelevanceScorer, scores_by
from agent_memfas.context.summarizers import Summarizer
from agent_memfas.context.window import Window, key_of
from agent_memfas.errors import MemfasError
from agent_memfas.store import sessions, turns
from agent_memfas.store.cold import new_id
from agent_memfas.store.layout import Folder
from agent_memfas.tasks.compaction import Compaction, Wish, compact, standings
from agent_memfas.text.cold import SESSION_END, SHORTENED, ColdBlock
from agent_memfas.text.compacting import PINNED
from agent_memfas.text.counting import Counter
from agent_memfas.text.messages import NOTICE, SUMMARY, read_message, to_stored
from agent_memfas.text.stale import stale

Messages = Sequence[Any]
MAX_TOKENS = 100_000


class Keeping:
    """What `ContextManager` is made of. Its methods are called one at a time."""

    config: ContextConfig
    scorer: RelevanceScorer
    summarizer: Summarizer | None
    cold_storage: ColdStorage
    logger: ContextLogger
    session_id: str
    notes: list[str]
    get_context: Callable[[], Messages] | None
    set_context: Callable[[list[Any]], object] | None
    get_token_count: Callable[[], int] | None
    before_compact: Callable[[list[Any]], object] | None
    after_compact: Callable[[CompactionResult], object] | None

    def _begin(
        self, clock: Callable[[], datetime], count: Counter, folder: Folder | None, place: str,
        *, named: bool, replay: bool,
    ) -> None:  # fmt: skip
        """Nothing is known of the context yet. folder: the memory folder around it. place: of cold
        storage, as it is told. named: the session is known by its id elsewhere, too. replay: as in
        `ContextManager`.
        """
        self._replay = replay
        self.last: Compaction | None = None  # the account of the last compaction
        self._clock, self._count, self._memory_folder = clock, count, folder
        self._place, self._named = place, named
        self._window = Window(count)
        self._own: Messages = []
        self._prompt = ""
        self._max_tokens = MAX_TOKENS
        self._pins: list[Any] = []
        self._restored: dict[tuple[str, str], tuple[str, float]] = {}
        self._sources: dict[str, str] = {}  # of the summaries in the window
        self._lock = RLock()

    def _context(self) -> Messages:
        return self._own if self.get_context is None else self.get_context()

    def _look(self) -> int:
        """Look at the context; its tokens, by the caller's count where there is one."""
        self._window.look(list(self._context()), self._clock().timestamp())
        return int(self.get_token_count()) if self.get_token_count else self._window.tokens

    def _give(self, messages: list[Any]) -> None:
        """Put other messages in the context's place."""
        if self.set_context is not None:
            self.set_context(messages)
        elif isinstance(there := self._context(), list):
            there[:] = messages

    def _share(self, tokens: int) -> float:
        return tokens / self._max_tokens if self._max_tokens > 0 else 0.0

    def _is_over(self, tokens: int) -> bool:
        return self._max_tokens > 0 and self._share(tokens) >= self.config.compaction_trigger_pct

    def _scale(self, tokens: int) -> float:
        """What a token of ours is in the caller's count."""
        ours = self._window.tokens
        return tokens / ours if self.get_token_count and ours > 0 and tokens > 0 else 1.0

    def _pinned(self) -> set[int]:
        """Positions of what the caller pinned."""
        if not self._pins:
            return set()
        raws = [seen.raw for seen in self._window.seen]
        return {n for n, raw in enumerate(raws) if any(p is raw or p == raw for p in self._pins)}

    def _status(self) -> ContextStatus:
        tokens = self._look_again()
        notes, self.notes = self.notes, []
        read = [seen.message for seen in self._window.seen]
        fixed = standings(read, self._prompt, self._pinned()) if read else []
        return ContextStatus(
            tokens, self._max_tokens, self._share(tokens), len(read), self.cold_storage.count(),
            self._is_over(tokens), self.logger.last_compaction_time(), fixed.count(PINNED), notes,
        )  # fmt: skip

    def _look_again(self) -> int:
        return int(self.get_token_count()) if self.get_token_count else self._window.tokens

    # Compaction

    def _compact(self, tokens: int) -> CompactionResult:
        """Compact a context of so many tokens; what goes wrong is told in the result."""
        raw = [seen.raw for seen in self._window.seen]
        notes = list[str]()
        result = CompactionResult(tokens, tokens, 0, 0, 0, len(raw), done=False, notes=notes)
        found = self._made(raw, tokens, notes)
        if found is None:
            return self._told(result)
        if found.over:
            share = self.config.max_context_pct
            notes.append(f"what is pinned or too recent is over max_context_pct ({share:.0%})")
        if found.dropped or found.shortened:
            if not self._carry_out(found, result):
                return self._told(result)
            after = self._look()
            result.tokens_after, result.token_savings = after, tokens - after
            result.chunks_kept = len(found.left) - found.left.count(None) - len(found.shortened)
        result.chunks_dropped = len(found.dropped)
        result.chunks_summarized = len(found.shortened)
        result.done = True
        self.logger.log_compaction(result)
        if self.after_compact is not None and (found.dropped or found.shortened):
            self._call("after_compact", lambda: self.after_compact and self.after_compact(result),
                       notes)  # fmt: skip
        return self._told(result)

    def _told(self, result: CompactionResult) -> CompactionResult:
        """The same, with what scorer and summarizer have to say; the next status says it, too."""
        for one in (self.scorer, self.summarizer):
            if one is not None:
                result.notes += getattr(one, "notes", [])
                with suppress(AttributeError):
                    one.notes.clear()
        self.notes += result.notes
        return result

    def _made(self, raw: list[Any], tokens: int, notes: list[str]) -> Compaction | None:
        """What a compaction would make of the context; None where before_compact refuses."""
        hook = self.before_compact
        if hook is not None and not self._call("before_compact", lambda: hook(list(raw)), notes):
            return None
        self.last = compact(raw, self._wish(tokens))
        return self.last

    def _call(self, name: str, hook: Callable[[], object], notes: list[str]) -> bool:
        try:
            hook()
        except Exception as error:  # noqa: BLE001 - whatever it is, the agent goes on
            notes.append(f"{name} failed: {type(error).__name__}: {error}")
            return False
        return True

    def _carry_out(self, found: Compaction, result: CompactionResult) -> bool:
        """Store, then give the agent its smaller context."""
        new = found.blocks
        if self._replay:
            new = tuple(one for one in new if self.cold_storage.get(one.chunk_id) is None)
        if new:
            try:
                path = self.cold_storage.store(new)
            except MemfasError as error:
                result.notes.append(f"{error.message}; so nothing left the context")
                return False
            result.path, result.stored = str(path), [block.chunk_id for block in new]
        elif found.dropped and not self.config.cold_storage_enabled:
            left = len(found.dropped)
            result.notes.append(f"{left} chunks are kept nowhere: cold_storage_enabled is false")
        if not self._call("set_context", lambda: self._give(found.messages), result.notes):
            return False
        for block in new:
            if block.reason != SHORTENED:
                self._log_drop(block, Path(result.path))
        self._keep_sources(found)
        self._empty_sessions(result.notes)
        return True

    def _log_drop(self, block: ColdBlock, path: Path) -> None:
        self.logger.log_drop(
            block.chunk_id, block.session_id, block.score, block.reason, str(path), block.tokens
        )

    def _empty_sessions(self, notes: list[str]) -> None:
        """Let curation and recall give this session its memories again: they may have left."""
        if self._memory_folder is None or not self._named:
            return
        try:
            turns.empty(self._memory_folder, self.session_id)
            sessions.forget(self._memory_folder, self.session_id)
        except MemfasError as error:
            notes.append(error.message)

    def _wish(self, tokens: int) -> Wish:
        config, now = self.config, self._clock()
        summarizer = self.summarizer
        fresh = {key: at for key, (_, at) in self._restored.items()}
        known = {
            n: self._restored[key][0] for n, seen in enumerate(self._window.seen)
            if self._restored and (key := key_of(seen.raw)) in self._restored
        }  # fmt: skip
        return Wish(
            prompt=self._prompt, max_tokens=max(1, self._max_tokens),
            trigger=config.compaction_trigger_pct, most=config.max_context_pct,
            cutoff=config.relevance_cutoff, keep=config.relevance_keep_threshold,
            floor=config.min_chunks_to_keep, target=config.summary_target_tokens,
            scores=partial(scores_by, self.scorer),
            summaries=summarizer.summarize_batch if summarizer else None, count=self._count,
            hours=self._window.hours(self._last_said() if self._replay else now, fresh), now=now,
            until=(now + timedelta(days=config.recoverable_days)).isoformat(),
            session=self.session_id, new_id=self._new_id, place=self._place,
            scale=self._scale(tokens), pinned=self._pinned(), sources=self._source, known=known,
            storing=config.cold_storage_enabled, notice=config.drop_notice,
        )  # fmt: skip

    def _new_id(self, n: int) -> str:
        """An id for a message: of a replay the same each time."""
        if not self._replay:
            return new_id(n, self._clock())
        stored = "\0".join(to_stored(self._window.seen[n].raw))
        digest = blake2b(f"{self.session_id}\0{stored}".encode("utf-8", "surrogatepass"),
                         digest_size=6)  # fmt: skip
        return f"chunk_{n}_{digest.hexdigest()}"

    def _last_said(self) -> datetime:
        """When the last message was said, now where none says so."""
        times = [one.message.at for one in self._window.seen if one.message.at is not None]
        return max(times, default=self._clock())

    def _source(self, chunk_id: str) -> str | None:
        """The text that a summary was made of. Cold storage is read for those of other processes
        only, for it is long.
        """
        if chunk_id not in self._sources and (block := self.cold_storage.get(chunk_id)):
            self._sources[chunk_id] = block.text
        return self._sources.get(chunk_id)

    def _keep_sources(self, found: Compaction) -> None:
        """Remember the sources of the summaries that are in the window now, and no others."""
        self._sources.update((b.chunk_id, b.text) for b in found.blocks if b.reason == SHORTENED)
        here = {read_message(one).source for one in found.messages}
        self._sources = {key: text for key, text in self._sources.items() if key in here}

    # What stands elsewhere, what comes back, what is left

    def _curate(self, tokens: int) -> int:
        """Take out what the context holds twice; its tokens afterwards."""
        seen = self._window.seen
        read = [one.message for one in seen]
        latest = max((n for n, one in enumerate(read) if one.is_turn), default=0)
        found = stale([one.raw for one in seen], read, latest)
        if not found:
            return tokens
        messages = [found.get(n, one.raw) for n, one in enumerate(seen)]
        if not self._call("set_context", lambda: self._give(messages), self.notes):
            return tokens
        after = self._look()
        self.logger.log_curation(
            self._prompt, len(seen) - len(found), len(seen), tokens - after, len(found)
        )
        return after

    def _restore(self, blocks: list[ColdBlock]) -> None:
        self._look()
        every = self.cold_storage.folder.live(self._clock())
        whole = restoring.with_partners(blocks, every)
        context = [seen.raw for seen in self._window.seen]
        messages, added = restoring.restored(context, whole)
        if not added or not self._call("set_context", lambda: self._give(messages), self.notes):
            return
        now = self._clock().timestamp()
        for block in whole:
            self._restored[key_of(restoring.message_of(block))] = (block.chunk_id, now)
        self._look()

    def _remaining(self, messages: list[Any]) -> list[ColdBlock]:
        """The messages of a context as chunks, without those that are in cold storage already."""
        now = self._clock()
        until = (now + timedelta(days=self.config.recoverable_days)).isoformat()
        found = list[ColdBlock]()
        for n, raw in enumerate(messages):
            message = read_message(raw)
            known = message.source and self.cold_storage.get(message.source) is not None
            stored = known or (self._restored and key_of(raw) in self._restored)
            role, text, raw_json = to_stored(raw)
            if message.kind == NOTICE or (message.kind == SUMMARY and known) or stored:
                continue
            if text.strip() or raw_json:
                found.append(ColdBlock(
                    new_id(n, now), self.session_id, role, text, raw_json, 0.0, self._prompt,
                    now.isoformat(), until, self._count(text), SESSION_END,
                ))  # fmt: skip
        return found
