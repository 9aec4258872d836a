"""What of a context is in cold storage already, and for how long."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from pathlib import Path

from agent_memfas.context.cold_storage import ColdStorage
from agent_memfas.text.cold import SHORTENED, ColdBlock, is_expired
from agent_memfas.text.messages import SUMMARY, Message
from agent_memfas.text.reshape import to_stored

Stored = tuple[str, str, str]  # role, text, JSON
EARLIER = timedelta(days=1)  # that a chunk may end before one that is stored now


class Holding:
    """Remembers which messages of a context are in cold storage, so that none is stored twice:
    those that came back, could not leave, or are of a session that ended. What it remembers is
    looked up again before a message leaves on its account.
    """

    def __init__(self, storage: ColdStorage, days: int) -> None:
        self._storage, self._days = storage, days
        self._ids: dict[Stored, list[str]] = {}
        self._sources: dict[str, ColdBlock] = {}
        self._until: dict[str, tuple[str, tuple[str, int]]] = {}  # and where they were written

    def note(self, stored: Stored, chunk_id: str) -> None:
        """A message is in cold storage, and in the context."""
        ids = self._ids.setdefault(stored, [])
        if chunk_id not in ids:
            ids.append(chunk_id)

    def note_blocks(self, blocks: Iterable[ColdBlock], path: Path) -> None:
        """Blocks were stored in a file. The texts of summaries are kept, so that it need not be
        read for them.
        """
        mark = self._storage.folder.mark(path)
        for block in blocks:
            self.note((block.role, block.text, block.raw), block.chunk_id)
            self._until[block.chunk_id] = (block.until, mark)
            if block.reason == SHORTENED:
                self._sources[block.chunk_id] = block

    def forget_others(self, raws: Sequence[object], read: Sequence[Message]) -> None:
        """Only these messages are in the context now."""
        if self._ids:
            here = {to_stored(raw) for raw in raws}
            self._ids = {key: ids for key, ids in self._ids.items() if key in here}
        wanted = {one.source for one in read if one.kind == SUMMARY}
        self._sources = {key: one for key, one in self._sources.items() if key in wanted}
        wanted.update(key for ids in self._ids.values() for key in ids)
        self._until = {key: one for key, one in self._until.items() if key in wanted}

    def known(self, raws: Sequence[object]) -> dict[int, str]:
        """The chunks of the messages that are in cold storage, by position. Of messages that are
        equal each has its own.
        """
        if not self._ids:
            return {}
        found, used = dict[int, str](), Counter[Stored]()
        for n, raw in enumerate(raws):
            ids = self._ids.get(key := to_stored(raw), ())
            if used[key] < len(ids):
                found[n] = ids[used[key]]
                used[key] += 1
        return found

    def source(self, chunk_id: str) -> ColdBlock | None:
        """A chunk by its id. Cold storage is read for those of other processes only."""
        if not chunk_id:
            return None
        if chunk_id not in self._sources and (block := self._storage.get(chunk_id)) is not None:
            self._sources[chunk_id] = block
        return self._sources.get(chunk_id)

    def lasting(self, chunk_id: str, now: datetime) -> bool:
        """Whether a chunk is in cold storage, and stays there about as long as one that is stored
        now. now: aware.
        """
        soon = now + timedelta(days=self._days) - EARLIER
        until, mark = self._until.get(chunk_id, ("", ("", 0)))
        if until and self._storage.folder.is_as_left(mark):
            return not is_expired(until, soon)
        block = self._storage.get(chunk_id)
        return block is not None and (block.pinned or not is_expired(block.until, soon))
