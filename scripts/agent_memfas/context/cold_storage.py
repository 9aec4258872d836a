"""`ColdStorage`: chunks that left a context, as dated markdown, found again and put away for good.

The methods are the reference's; what it wrote (JSON lines, a file a chunk) is read, too.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from agent_memfas.errors import UsageError
from agent_memfas.store.cold import ColdFolder, new_id
from agent_memfas.tasks import cold
from agent_memfas.text.cold import ARCHIVED, LOW_RELEVANCE, ColdBlock
from agent_memfas.text.counting import estimate_cl100k
from agent_memfas.text.reshape import to_stored

DAYS = 30
LIMIT = 5


@dataclass
class DroppedChunk:
    """A chunk that left a context. timestamp, recoverable_until: ISO; "" for now, and for 30 days
    from now on.
    """

    chunk_id: str
    session_id: str
    content: str
    relevance_score: float
    prompt_at_drop: str
    timestamp: str = ""
    tokens: int = 0
    recoverable_until: str = ""

    def __post_init__(self) -> None:
        now = _now()
        self.timestamp = self.timestamp or now.isoformat()
        self.recoverable_until = self.recoverable_until or (now + timedelta(days=DAYS)).isoformat()

    def to_dict(self) -> dict[str, Any]:
        """The fields of the reference's JSON."""
        return asdict(self)

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> DroppedChunk:
        """A chunk of such fields; others are passed over. UsageError where some are missing."""
        known = {name: data[name] for name in cls.__dataclass_fields__ if name in data}
        try:
            return cls(**known)
        except TypeError as error:
            raise UsageError(f"not a dropped chunk: {error}") from error


class ColdStorage:
    """The cold storage in a folder, which is made with the first chunk.

    clock: the time, aware, in the user's time zone.
    """

    def __init__(
        self, storage_path: str | Path = "./cold-storage/",
        clock: Callable[[], datetime] | None = None,
    ) -> None:  # fmt: skip
        self.storage_path = Path(storage_path).expanduser().absolute()
        self.folder = ColdFolder(self.storage_path)
        self._clock = clock or _now
        self._session = ""
        self._found: cold.Found | None = None

    def store(self, blocks: Sequence[ColdBlock]) -> Path:
        """Write blocks of one session, all or none, synced. FileFault, TryAgain."""
        return self.folder.add(blocks, blocks[0].session_id, self._clock().date())

    def store_dropped(
        self,
        chunk_id: str,
        content: str,
        relevance_score: float,
        prompt_at_drop: str,
        session_id: str | None = None,
        tokens: int = 0,
        recoverable_days: int = DAYS,
    ) -> str:
        """Write a chunk. session_id: None for one session of this object. Returns the file's path.
        FileFault, TryAgain.
        """
        now = self._clock()
        if not session_id:
            self._session = self._session or f"session_{int(now.timestamp())}"
        until = (now + timedelta(days=recoverable_days)).isoformat()
        block = ColdBlock(
            chunk_id, session_id or self._session, "", content, "", relevance_score,
            prompt_at_drop, now.isoformat(), until, tokens or estimate_cl100k(content),
            LOW_RELEVANCE,
        )  # fmt: skip
        return str(self.store([block]))

    def search_recover(self, query: str, limit: int = LIMIT) -> list[str]:
        """The texts of the chunks that a query finds, best first, expired ones left out."""
        return [block.text for block, _ in self.search(query, limit)]

    def search(self, query: str, limit: int = LIMIT) -> list[tuple[ColdBlock, float]]:
        """The same as blocks, each with its score, 0 to 1."""
        live = self.folder.live(self._clock())
        if self._found is None or self._found.blocks != live:
            self._found = cold.Found(live)
        return self._found.ranked(query, limit)

    def get(self, chunk_id: str) -> ColdBlock | None:
        """The chunk with that id, or None."""
        return self.folder.find(chunk_id)

    def archive_session(
        self, session_id: str, messages: Sequence[object], context: Sequence[object],
        recoverable_days: int = DAYS,
    ) -> int:  # fmt: skip
        """Write all that a session still holds, of whatever length; what is said twice once.
        Returns how many chunks were written. FileFault, TryAgain.
        """
        now = self._clock()
        until = (now + timedelta(days=recoverable_days)).isoformat()
        stored = dict.fromkeys(to_stored(one) for one in [*context, *messages])
        texts = {text for role, text, _ in stored if role}
        blocks = [
            ColdBlock(
                new_id(n, now), session_id, role, text, raw, 0.0, ARCHIVED, now.isoformat(), until,
                estimate_cl100k(text), ARCHIVED,
            )
            for n, (role, text, raw) in enumerate(stored)
            if (text.strip() or raw) and (role or text not in texts)
        ]  # fmt: skip
        if blocks:
            self.store(blocks)
        return len(blocks)

    def count(self) -> int:
        """How many chunks there are."""
        return self.folder.count()

    def cleanup_expired(self) -> int:
        """Remove the chunks whose time is over, but for pinned ones. Returns how many."""
        return cold.remove_expired(self.folder, self._clock())

    def get_stats(self) -> dict[str, Any]:
        """{total_chunks, age_distribution {day, week, older}, storage_path}."""
        ages = cold.ages(self.folder.blocks(), self._clock())
        return {
            "total_chunks": sum(ages.values()), "age_distribution": ages,
            "storage_path": str(self.storage_path),
        }  # fmt: skip


def _now() -> datetime:
    return datetime.now().astimezone()
