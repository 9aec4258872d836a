"""Cold storage: what a query finds in it, how old it is, what of it is over."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta

from agent_memfas.errors import NothingFound, TryAgain
from agent_memfas.index.chunks import Chunks, Said
from agent_memfas.store.cold import LARGEST, ColdFolder, exchange
from agent_memfas.store.files import read
from agent_memfas.store.locks import hold_file
from agent_memfas.text.cold import ColdBlock, is_expired, parse, with_pin, without

WAIT = 5.0  # seconds for another process that writes the file


class Found:
    """Blocks, ready to be asked several times."""

    def __init__(self, blocks: Sequence[ColdBlock]) -> None:
        self.blocks = list(blocks)
        self._chunks: Chunks | None = None

    def ranked(self, query: str, limit: int) -> list[tuple[ColdBlock, float]]:
        """The best blocks for a query, best first, with their scores, 0 to 1; the same text once.

        As `Chunks.ranked`: the ranking of recall, blocks of a file standing beside each other, and
        Jaccard's measure beside it. Words are all words of a block, whatever script they are in.
        """
        if self._chunks is None:
            self._chunks = Chunks(
                [Said(b.text, b.role, (b.said or b.at)[:10], b.path) for b in self.blocks]
            )
        found, seen = list[tuple[ColdBlock, float]](), set[str]()
        for number, score in self._chunks.ranked(query):
            block = self.blocks[number]
            if len(found) >= limit:
                break
            if block.text not in seen:
                seen.add(block.text)
                found.append((block, score))
        return found


def ages(blocks: Sequence[ColdBlock], now: datetime) -> Mapping[str, int]:
    """How many blocks are less than a day old, less than a week, older or of unknown age."""
    found = {"day": 0, "week": 0, "older": 0}
    for block in blocks:
        try:
            at = datetime.fromisoformat(block.at.replace("Z", "+00:00"))
        except ValueError:
            found["older"] += 1
            continue
        age = now - (at if at.tzinfo else at.replace(tzinfo=now.tzinfo))
        found[
            "day" if age < timedelta(days=1) else "week" if age < timedelta(days=7) else "older"
        ] += 1
    return found


def expired(data: bytes, now: datetime) -> list[ColdBlock]:
    """The blocks of a file whose time is over, pinned ones left out."""
    blocks, _ = parse(data)
    return [b for b in blocks if not b.pinned and is_expired(b.until, now)]


def remove_expired(folder: ColdFolder, now: datetime) -> int:
    """Remove what is over from a cold storage that lies in no memory folder (there the janitor does
    it, so that it can be undone). Returns how many blocks. FileFault, TryAgain.
    """
    gone = 0
    for path in sorted(folder.path.glob("*.md")) if folder.path.is_dir() else []:
        if path.is_symlink():
            continue
        with hold_file(path, WAIT, f"another process writes to {path}"):
            image = read(path, LARGEST)
            over = expired(image.data, now)
            if not over:
                continue
            left = without(image.data, over)
            exchange(path, left, image.info.st_mode & 0o777)
            gone += len(over)
    return gone + folder.remove_reference_expired(now)


def pin(folder: ColdFolder, chunk_id: str, *, pinned: bool) -> ColdBlock:
    """Keep a block for good, or no longer; it is given back as it was. NothingFound, FileFault,
    TryAgain.
    """
    block = folder.find(chunk_id)
    if block is None:
        raise NothingFound(f"no chunk {chunk_id} in {folder.path}", "memfas cold list shows all")
    if not block.path.endswith(".md"):
        raise NothingFound(f"{chunk_id} stands in a file of agent-memfas, which is never changed",
                           "its files are kept anyway")  # fmt: skip
    path = folder.path / block.path
    with hold_file(path, WAIT, f"another process writes to {path}"):
        image = read(path, LARGEST)
        lines = image.data.split(b"\n")
        here, _ = parse(image.data)
        place = next((one for one in here if one.chunk_id == chunk_id), None)
        if place is None:
            raise TryAgain(f"{path}: it was just changed", "run it again")
        head = next(n for n in range(place.start_line - 1, place.end_line)
                    if lines[n].startswith(b"<!-- cold: "))  # fmt: skip
        lines[head] = with_pin(lines[head], pinned=pinned)
        exchange(path, b"\n".join(lines), image.info.st_mode & 0o777)
    return block
