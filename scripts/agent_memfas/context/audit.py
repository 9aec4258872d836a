"""Playing a transcript again: what each compaction took out of the context, and whether a later
turn would have needed it.

A turn needs a chunk that is not in the context any more if, of all that was said before, it ranks
above everything that the context still holds.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

from agent_memfas.context.cold_storage import ColdStorage
from agent_memfas.context.config import ContextConfig
from agent_memfas.context.logger import FILES, ContextLogger
from agent_memfas.context.manager import LIMIT, ContextManager
from agent_memfas.index.chunks import Chunks, Said
from agent_memfas.tasks.compaction import Compaction
from agent_memfas.text.cold import ColdBlock
from agent_memfas.text.messages import read_message

GONE = -1
LEAST = 0.3  # score below which a chunk is about something else


@dataclass(frozen=True)
class Round:
    """A compaction: at which message (1-based), tokens before and after, how many were dropped and
    shortened, and that were left.
    """

    message: int
    tokens_before: int
    tokens_after: int
    dropped: int
    shortened: int
    kept: int


@dataclass(frozen=True)
class Need:
    """A turn (1-based) that needed a message which was dropped or shortened: its score for the
    turn, the best score of what was still there, its rank for `recover`, 0 for none of the first
    five, and whether its summary was there.
    """

    turn: int
    message: int
    score: float
    best_kept: float
    rank: int
    summary: bool
    words: str = ""


@dataclass
class Audit:
    """All of it. dropped: different messages that left the context whole."""

    messages: int = 0
    turns: int = 0
    rounds: list[Round] = field(default_factory=list)
    dropped: int = 0
    needs: list[Need] = field(default_factory=list)

    @property
    def needed(self) -> int:
        """Different messages that a later turn needed and whose summary was not there."""
        return len({one.message for one in self.needs if not one.summary})

    @property
    def lost(self) -> list[Need]:
        """Those that `recover` does not bring back among the first five."""
        return [one for one in self.needs if not one.summary and not one.rank]

    def as_data(self) -> dict[str, Any]:
        """Figures, shares of the dropped messages."""
        whole = [one for one in self.needs if not one.summary]
        recovered = {one.message for one in whole} - {one.message for one in self.lost}
        return {
            "messages": self.messages, "turns": self.turns,
            "compactions": [vars(one) for one in self.rounds], "dropped": self.dropped,
            "needed": self.needed, "needed_share": _share(self.needed, self.dropped),
            "recovered": len(recovered), "lost": len({one.message for one in self.lost}),
            "lost_share": _share(len({one.message for one in self.lost}), self.dropped),
            "kept_as_summary": len({one.message for one in self.needs if one.summary}),
        }  # fmt: skip


def audit(messages: Sequence[Any], config: ContextConfig, max_tokens: int, now: datetime) -> Audit:
    """Play a transcript, turn by turn. Nothing is written."""
    return _Playing(messages, config, max_tokens, now).run()


class InMemory(ColdStorage):
    """Cold storage that is gone afterwards."""

    def __init__(self, now: datetime) -> None:
        super().__init__("/nonexistent", lambda: now)
        self._blocks: dict[str, ColdBlock] = {}

    def store(self, blocks: Sequence[ColdBlock]) -> Path:
        """Remember them."""
        self._blocks.update((block.chunk_id, block) for block in blocks)
        return self.storage_path

    def get(self, chunk_id: str) -> ColdBlock | None:
        """The chunk with that id, or None."""
        return self._blocks.get(chunk_id)

    def count(self) -> int:
        """How many chunks there are."""
        return len(self._blocks)


class _Playing:
    def __init__(
        self, messages: Sequence[Any], config: ContextConfig, max_tokens: int, now: datetime
    ) -> None:
        self._raw = messages
        self._read = [read_message(one) for one in messages]
        self._max_tokens = max_tokens
        self._all = Chunks([
            Said(m.text, m.role, m.at.date().isoformat() if m.at else "", "transcript")
            for m in self._read
        ])  # fmt: skip
        self._context, self._origins = list[Any](), list[int]()
        self._short = set[int]()  # messages whose summary is in the context
        self._gone = set[int]()
        self._seen: Compaction | None = None
        self._manager = ContextManager(
            config=config, get_context=lambda: self._context, set_context=self._set,
            clock=lambda: now, replay=True, summarizer="extractive",
        )  # fmt: skip
        self._manager.cold_storage = InMemory(now)
        self._manager.logger = ContextLogger(off=frozenset(FILES))
        self._found = Audit(len(messages))

    def run(self) -> Audit:
        """Each message in turn; before each answer the manager looks at the context."""
        for n, raw in enumerate(self._raw):
            self._context.append(raw)
            self._origins.append(n)
            if self._read[n].is_turn:
                self._turn(n)
            elif self._read[n].results:
                self._look(n)
        self._found.dropped = len(self._gone)
        return self._found

    def _turn(self, n: int) -> None:
        self._found.turns += 1
        self._manager.set_current_prompt(self._read[n].text)
        if self._gone or self._short:
            self._needs(n)
        self._look(n)

    def _look(self, n: int) -> None:
        status = self._manager.before_response(self._max_tokens)
        last = self._manager.last
        if last is not None and last is self._seen and self._new:
            self._new = False
            self._found.rounds.append(Round(
                n + 1, last.tokens[0], status.current_tokens, len(last.dropped),
                len(last.shortened), len(self._context),
            ))  # fmt: skip

    _new = False

    def _set(self, messages: list[Any]) -> None:
        """The manager's context, with where each message comes from."""
        last = self._manager.last
        if last is not None and last is not self._seen:
            self._seen, self._new = last, True
            before = self._origins
            self._origins = [GONE if k is None else before[k] for k in last.left]
            self._short |= {before[k] for k in last.shortened}
            self._gone |= {before[k] for k in last.dropped if before[k] != GONE}
            self._short &= set(self._origins)
        self._context = messages

    def _needs(self, n: int) -> None:
        """What this turn would have needed."""
        whole = set(self._origins) - self._short
        scores = [(m, s) for m, s in self._all.ranked(self._read[n].text) if m < n and s >= LEAST]
        best = max((s for m, s in scores if m in whole), default=0.0)
        stored = [m for m, _ in scores if m in self._gone or m in self._short][:LIMIT]
        for message, score in scores:
            if score <= best or message in whole or message not in self._gone | self._short:
                continue
            rank = stored.index(message) + 1 if message in stored else 0
            self._found.needs.append(Need(
                n + 1, message + 1, round(score, 4), round(best, 4), rank,
                message in self._short, " ".join(self._read[message].text.split())[:60],
            ))  # fmt: skip


def _share(part: int, whole: int) -> float:
    return round(part / whole, 4) if whole else 0.0
