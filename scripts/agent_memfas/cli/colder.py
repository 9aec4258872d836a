"""Cold storage for the commands that ask: where it is, and its chunks among the hits of recall."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path

from agent_memfas import config
from agent_memfas.index.rows import seal
from agent_memfas.store.cold import ColdFolder
from agent_memfas.tasks.cold import Found
from agent_memfas.tasks.recall import Answer, Filters, Hit
from agent_memfas.text.cold import ColdBlock
from agent_memfas.text.record import Record
from agent_memfas.text.rights import within


class Placed(Record):
    """A cold storage. folder: its files; base: the memory folder, that paths are relative to."""

    folder: ColdFolder
    base: Path

    def shown(self, block: ColdBlock) -> str:
        """The path of a block's file, relative to the memory folder where it lies in it."""
        path = self.folder.path / block.path
        return path.relative_to(self.base).as_posix() if path.is_relative_to(self.base) else (
            str(path)
        )  # fmt: skip


def placed(root: Path, settings: config.Settings) -> Placed:
    """The cold storage of a memory folder."""
    return Placed(ColdFolder(config.context_path(settings, root, "cold_storage_path")), root)


def with_cold(answer: Answer, filters: Filters, root: str, file: str, now: datetime) -> Answer:
    """An answer with what cold storage holds for its question, by score among the other hits."""
    base = Path(root)
    # What is wrong with the settings was told already.
    settings = config.load_or_defaults(Path(file) if file else config.beside(base))
    cold = placed(base, settings)
    found = Found(cold.folder.live(now)).ranked(answer.query, filters.limit)
    hits = [
        hit for block, score in found
        if (hit := _hit(cold, block, score)).score >= filters.min_score
        and _passes(hit, filters) and not filters.given & set(hit.seals)
    ]  # fmt: skip
    together = sorted([*answer.hits, *hits], key=lambda hit: -hit.score)[: filters.limit]
    return Answer(**{**vars(answer), "hits": tuple(together)})


def _hit(cold: Placed, block: ColdBlock, score: float) -> Hit:
    path = cold.shown(block)
    heading = " > ".join(part for part in (block.session_id, block.chunk_id, block.role) if part)
    return Hit(
        path, block.start_line, block.end_line, heading, block.at[:10] or None, None, "cold", score,
        block.text, ("cold",), (), (seal(path, block.text),),
    )  # fmt: skip


def _passes(hit: Hit, filters: Filters) -> bool:
    day = hit.date or ""
    if within(hit.path, filters.hidden):
        return False
    if not filters.since and not filters.until:
        return True
    return bool(day) and filters.since <= day <= (filters.until or "9999-12-31")
