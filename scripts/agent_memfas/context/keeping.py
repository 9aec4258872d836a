"""A context, and what is done to it: how full it is, compaction, what comes back."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from hashlib import blake2b
from pathlib import Path
from threading import RLock
from typing import Any

from agent_memfas.context import restoring
from agent_memfas.context.cold_storage import ColdStorage
from agent_memfas.context.config import ContextConfig
from agent_memfas.context.holding import Holding
from agent_memfas.context.logger import ContextLogger
from agent_memfas.context.looking import Looking
from agent_memfas.context.results import CompactionResult, ContextStatus
from agent_memfas.context.scoring import RelevanceScorer, scores_by
from agent_memfas.context.summarizers import ExtractiveSummarizer, Summarizer
from agent_memfas.context.window import Key, key_of
from agent_memfas.errors import MemfasError, told
from agent_memfas.index.chunks import Said
from agent_memfas.store import sessions, turns
from agent_memfas.store.cold import new_id
from agent_memfas.store.layout import Folder
from agent_memfas.tasks.compaction import Compaction, Wish, compact, standings
from agent_memfas.text.cold import SESSION_END, SHORTENED, ColdBlock
from agent_memfas.text.compacting import PINNED
from agent_memfas.text.counting import Counter
from agent_memfas.text.messages import NOTICE, SUMMARY, read_message
from agent_memfas.text.reshape import to_stored
from agent_memfas.text.stale import stale

MAX_TOKENS = 100_000


class Keeping(Looking):
    """What `ContextManager` is made of. Its methods are called one at a time."""

    config: ContextConfig
    scorer: RelevanceScorer
    summarizer: Summarizer | None
    cold_storage: ColdStorage
    logger: ContextLogger
    session_id: str
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
        self._begin_looking(clock, count)
        self._replay = replay
        self.last: Compaction | None = None  # the account of the last compaction
        self._memory_folder = folder
        self._place, self._named = place, named
        self._prompt = ""
        self._max_tokens = MAX_TOKENS
        self._pins: list[Any] = []
        self._restored: dict[Key, float] = {}  # when they came back
        self._holding = Holding(self.cold_storage, self.config.recoverable_days)
        self._lock = RLock()

    def _share(self, tokens: int) -> float:
        return tokens / self._max_tokens if self._max_tokens > 0 else 0.0

    def _is_over(self, tokens: int) -> bool:
        return self._max_tokens > 0 and self._share(tokens) >= self.config.compaction_trigger_pct

    def _pinned(self) -> set[int]:
        """Positions of what the caller pinned."""
        if not self._pins:
            return set()
        raws = [seen.raw for seen in self._window.seen]
        return {n for n, raw in enumerate(raws) if any(p is raw or p == raw for p in self._pins)}

    def _status(self) -> ContextStatus:
        tokens = self._measured()
        read = [seen.message for seen in self._window.seen]
        fixed = standings(read, self._prompt, self._pinned()) if read else []
        notes, self.notes = self.notes, []
        return ContextStatus(
            tokens, self._max_tokens, self._share(tokens), len(read), self.cold_storage.count(),
            self._is_over(tokens), self.logger.last_compaction_time(), fixed.count(PINNED), notes,
        )  # fmt: skip

    # Compaction

    def _compact(self, tokens: int) -> CompactionResult:
        """Compact a context of so many tokens; what goes wrong is told in the result."""
        notes = list[str]()
        hook = self.before_compact
        ready = hook is None or self._call(
            "before_compact", lambda: hook([seen.raw for seen in self._window.seen]), notes
        )
        tokens = tokens if hook is None else self._look()  # it may have put something in
        raw = [seen.raw for seen in self._window.seen]
        result = CompactionResult(tokens, tokens, 0, 0, 0, len(raw), done=False, notes=notes)
        if self._blind or not ready:
            return self._told(result)
        found = self.last = compact(raw, self._wish(tokens))
        if found.over:
            share = self.config.max_context_pct
            notes.append(f"what is pinned or too recent is over max_context_pct ({share:.0%})")
        if found.dropped or found.shortened:
            if not self._carry_out(raw, found, result):
                return self._told(result)
            after = self._measured()
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
            said = getattr(one, "notes", None)
            if isinstance(said, list):
                result.notes += said
                said.clear()
        for note in result.notes:
            self._tell(note)
        return result

    def _carry_out(self, raw: list[Any], found: Compaction, result: CompactionResult) -> bool:
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
            self._holding.note_blocks(new, path)
        elif found.dropped and not self.config.cold_storage_enabled:
            left = len(found.dropped)
            result.notes.append(f"{left} chunks are kept nowhere: cold_storage_enabled is false")
        if not self._exchange(raw, found.messages, result.notes):
            return False
        for block in new:
            if block.reason != SHORTENED:
                self._log_drop(block, Path(result.path))
        seen = self._window.seen
        self._holding.forget_others([one.raw for one in seen], [one.message for one in seen])
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
        return Wish(
            prompt=self._prompt, max_tokens=max(1, self._max_tokens),
            trigger=config.compaction_trigger_pct, most=config.max_context_pct,
            cutoff=config.relevance_cutoff, keep=config.relevance_keep_threshold,
            floor=config.min_chunks_to_keep, target=config.summary_target_tokens,
            scores=self._scores, summaries=self._summaries if self.summarizer else None,
            count=self._count,
            hours=self._window.hours(self._last_said() if self._replay else now, self._restored),
            now=now, until=(now + timedelta(days=config.recoverable_days)).isoformat(),
            session=self.session_id, new_id=self._new_id, place=self._place,
            scale=self._scale(tokens), total=tokens if self.get_token_count else 0,
            pinned=self._pinned(), sources=self._holding.source,
            lasting=lambda block: self._replay or self._holding.lasting(block.chunk_id, now),
            known=self._holding.known([seen.raw for seen in self._window.seen]),
            storing=config.cold_storage_enabled, notice=config.drop_notice,
        )  # fmt: skip

    def _scores(
        self, said: Sequence[Said], prompt: str, hours: Sequence[float], important: Sequence[bool]
    ) -> Sequence[float]:
        """The scores of the scorer in force, of the usual one where that fails."""
        try:
            return scores_by(self.scorer, said, prompt, hours, important)
        except Exception as error:  # noqa: BLE001 - a scorer of the host's may raise anything
            self._tell(f"the scorer failed: {told(error)}; chunks are scored as usual")
            return RelevanceScorer(self.config).score_said(said, prompt, hours, important)

    def _summaries(self, texts: Sequence[str], prompt: str) -> Sequence[str]:
        """The summaries of the summarizer in force, by extraction where that fails."""
        assert self.summarizer is not None
        try:
            found = list(self.summarizer.summarize_batch(texts, prompt))
            if len(found) != len(texts) or not all(isinstance(one, str) for one in found):
                raise ValueError(f"{len(found)} summaries of {len(texts)} chunks")
        except Exception as error:  # noqa: BLE001 - a summarizer of the host's may raise anything
            self._tell(f"the summarizer failed: {told(error)}; by extraction")
            usual = ExtractiveSummarizer(self.config.summary_target_tokens, self._count)
            return usual.summarize_batch(texts, prompt)
        return found

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

    # What stands elsewhere, what comes back, what is left

    def _curate(self, tokens: int) -> int:
        """Take out what the context holds twice; its tokens afterwards."""
        seen = self._window.seen
        read = [one.message for one in seen]
        latest = max((n for n, one in enumerate(read) if one.is_turn), default=0)
        found = stale([one.raw for one in seen], read, latest)
        if not found:
            return tokens
        before = [one.raw for one in seen]
        messages = [found.get(n, raw) for n, raw in enumerate(before)]
        if not self._exchange(before, messages, self.notes):
            return tokens
        after = self._measured()
        self.logger.log_curation(
            self._prompt, len(before) - len(found), len(before), tokens - after, len(found)
        )
        return after

    def _restore(self, blocks: list[ColdBlock]) -> None:
        self._look()
        if self._blind:
            return
        whole = restoring.with_partners(blocks, self.cold_storage.folder.live(self._clock()))
        context = [seen.raw for seen in self._window.seen]
        messages, added = restoring.restored(context, whole)
        if not added or not self._exchange(context, messages, self.notes):
            return
        now = self._clock().timestamp()
        for message, block in added:
            self._restored[key_of(message)] = now
            self._holding.note(to_stored(message), block.chunk_id)

    def _remaining(self, messages: list[Any]) -> list[ColdBlock]:
        """The messages of a context as chunks, without those that are in cold storage already."""
        now = self._clock()
        until = (now + timedelta(days=self.config.recoverable_days)).isoformat()
        known, found = self._holding.known(messages), list[ColdBlock]()
        for n, raw in enumerate(messages):
            message = read_message(raw)
            stored = message.source if message.kind == SUMMARY else known.get(n)
            if message.kind == NOTICE or (stored and self._holding.lasting(stored, now)):
                continue
            role, text, raw_json = to_stored(raw)
            if text.strip() or raw_json:
                found.append(ColdBlock(
                    new_id(n, now), self.session_id, role, text, raw_json, 0.0, self._prompt,
                    now.isoformat(), until, self._count(text), SESSION_END,
                ))  # fmt: skip
        return found
