"""What Memory needs of a folder: its files, its triggers, its numbers."""

from __future__ import annotations

import os
import time
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from agent_memfas.errors import FileFault, UsageError
from agent_memfas.index.corpus import Corpus
from agent_memfas.index.feeding import everything
from agent_memfas.index.keeper import IndexSource
from agent_memfas.index.places import Place
from agent_memfas.index.records import digest
from agent_memfas.index.rows import Found, number_of
from agent_memfas.index.scope import EVERYTHING, Scope, scope_of
from agent_memfas.index.writer import throw_away as throw_index_away
from agent_memfas.memory.opening import Opening
from agent_memfas.search.base import SearchBackend, SearchResult
from agent_memfas.store.files import is_text, read
from agent_memfas.store.places import TRIGGERS
from agent_memfas.tasks.recall import Answer
from agent_memfas.text import context
from agent_memfas.text.documents import parse
from agent_memfas.text.firing import Trigger, fired, key_of
from agent_memfas.text.triggers import listed

if TYPE_CHECKING:
    from agent_memfas.index.keeper import Keeper, Source
    from agent_memfas.memory import Memory

TYPES = ("markdown", "json", "text")


class FolderBackend(SearchBackend):
    """The folder's own index, seen as a backend: it can be asked, but it is fed by files alone."""

    def __init__(self, memory: Memory) -> None:
        self._memory = memory

    def index(self, doc_id: str, text: str, metadata: dict[str, Any]) -> None:  # noqa: ARG002
        """UsageError: write a file instead."""
        raise UsageError("the index holds what the files hold", "write a file in the memory folder")

    def search(self, query: str, limit: int = 5) -> list[SearchResult]:
        """As `Memory.search`."""
        return [
            SearchResult(
                r.text, r.score, r.source, r.heading, r.date,
                {"doc_id": str(r.id), "start_line": r.start_line, "end_line": r.end_line},
            )
            for r in self._memory.search(query, limit)
        ]  # fmt: skip

    def delete(self, doc_id: str) -> None:  # noqa: ARG002
        """UsageError: change the file instead."""
        raise UsageError("the index holds what the files hold", "take it out of its file")

    def clear(self) -> None:
        """As `Memory.clear`."""
        self._memory.clear()

    def count(self) -> int:
        """How many passages there are."""
        return int(self._memory.stats()["memories"])


def as_text(answer: Answer) -> str:
    """An answer as text for a prompt; "" where there is nothing in it."""
    return context.composed(context.blocks_of(answer))


def all_triggers(source: Source) -> list[Trigger]:
    """Every trigger, by keyword."""
    return source.all_triggers()


def listed_triggers(source: Source) -> list[dict[str, str]]:
    """Every trigger as {"keyword", "hint", "memory_ids"}, by keyword; what says the same in two
    files is one.
    """
    found = sorted(source.all_triggers(), key=lambda t: t.keyword.lower())
    numbers: dict[str, int] = {}
    if any(trigger.links for trigger in found):
        numbers = {place_of(p): number_of(digest(p.row.text)) for p in everything(source)}
    shown = {
        (t.keyword.lower(), t.hint, ",".join(_shown(link, numbers) for link in t.links)): t.keyword
        for t in reversed(found)
    }
    return [
        {"keyword": keyword, "hint": hint, "memory_ids": ids}
        for (_, hint, ids), keyword in reversed(shown.items())
    ]


def _shown(link: str, numbers: dict[str, int]) -> str:
    """The number of a linked memory; where it has none, the place."""
    return str(numbers[link]) if link in numbers else link.removeprefix("id:")


def place_of(found: Found) -> str:
    """Where a passage stands, as a trigger links it."""
    first, last = found.row.start, found.row.end
    return f"{found.path}#L{first}" + (f"-L{last}" if last > first else "")


def counts(source: Source) -> tuple[int, int, str]:
    """(passages, triggers, path of the index file or "")."""
    triggers = len(source.all_triggers())
    if isinstance(source, Corpus):
        return len(source.passages()), triggers, ""
    assert isinstance(source, IndexSource)
    return source.database.count("passages"), triggers, source.database.path


def throw_away(places: tuple[Place, ...], root: str) -> None:
    """Remove the index wherever it may be; a file of somebody else stays."""
    for place in places:
        throw_index_away(place.path, ours=place.ours, root=root, wait=10.0)


def scope(opening: Opening, added: tuple[str, ...]) -> Scope:
    """Which files count. added: sources that are in no settings file."""
    named = opening.sources or (EVERYTHING,)
    return scope_of(opening.root, (*named, *added) if added else opening.sources)


def name_of(opening: Opening, path: str | Path) -> str:
    """A file that was named, relative to the folder. FileNotFoundError, IsADirectoryError,
    UsageError."""
    given = os.path.expanduser(os.fspath(path))
    place = Path(os.path.abspath(given))
    if not place.exists():
        place = opening.folder.root / given
    if place.is_dir():
        raise IsADirectoryError(f"{path} is a folder")
    if not place.is_file():
        raise FileNotFoundError(f"{path}: not found")
    real = opening.folder.place(str(place))
    if not is_text(real):
        raise UsageError(f"{path}: not a text file", "UTF-8, with a suffix")
    return opening.folder.relative(real)


def hints(opening: Opening, text: str) -> list[str]:
    """The hints of the keywords of TRIGGERS.md and of the settings that stand in a text."""
    known = list(opening.triggers())
    with suppress(FileFault):
        known += listed(parse(read(opening.folder.root / TRIGGERS).data), TRIGGERS)
    by_key = dict[str, list[Trigger]]()
    for trigger in known:
        by_key.setdefault(key_of(trigger.keyword), []).append(trigger)
    lengths = sorted({key.count(" ") + 1 for key in by_key})
    found = fired(text, lengths, lambda keys: {k: by_key[k] for k in keys if k in by_key})
    return list(dict.fromkeys(trigger.hint for trigger in found))


def skipped(keeper: Keeper) -> dict[str, str]:
    """The files that are passed over, each with the reason."""
    state = keeper.source(time.time_ns()).freshness
    return {one.path: one.reason for one in state.skipped}
