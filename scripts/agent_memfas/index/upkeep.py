"""Keeping an index in step for a long time: what a watcher does to it, look after look."""

from __future__ import annotations

import os
import sqlite3
from contextlib import closing, suppress

from agent_memfas.errors import FileFault, MemfasError, TryAgain, UsageError
from agent_memfas.index.database import Database, NoIndex, open_database
from agent_memfas.index.extract import load
from agent_memfas.index.keeper import Keeper
from agent_memfas.index.places import Place
from agent_memfas.index.rebuild import hold_index
from agent_memfas.index.records import NOT_READ
from agent_memfas.index.semantic import Semantic
from agent_memfas.store.sweep import LINKS
from agent_memfas.text.record import Record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Collection

MERGE = 200  # pages that one merge may write: some 20 ms


class Step(Record):
    """The index after a look. files: in it. read: files read for it. folders: those that were
    entered, "" for the root. notes: what went another way than usual."""

    files: int
    read: int
    folders: tuple[str, ...]
    notes: tuple[str, ...]


class Upkeep:
    """An index under the care of one process.

    keeper: with whatever patience that process has. check: is called between files, and may raise
    to end the work. tell: hears why there are no vectors, where a model ranks, once.
    """

    def __init__(
        self,
        keeper: Keeper,
        check: Callable[[], None] | None = None,
        tell: Callable[[str], None] | None = None,
    ) -> None:
        self.keeper = keeper
        self._check = check
        self._say = tell
        self._why = ""
        self._has_vectors = False
        self._database: Database | None = None

    def bring(self, as_of: int, *, deep: bool = False, only: Collection[str] | None = None) -> Step:
        """Bring the index in step, as `Keeper.source` does. as_of: the wall clock now, ns.

        deep: then compare every file with it by its bytes, however long that takes: without the
        lock, for whoever asks meanwhile must be able to write. TryAgain where another process is
        writing, FileFault where the index cannot be written.
        """
        try:
            step = self._bring(as_of, only)
            if step.read or not self._has_vectors:
                self._make_vectors(as_of)
            if not deep or step.read >= step.files:
                return step
            if wrong := self._compare():
                self.keeper.suspect(wrong)
                step = self._bring(as_of, None)
        except sqlite3.Error as error:
            raise FileFault(f"the index cannot be used: {error}", "see: memfas doctor") from error
        return Step(step.files, step.files, step.folders, step.notes)

    def _bring(self, as_of: int, only: Collection[str] | None) -> Step:
        source = self.keeper.source(as_of, only=only)
        database, state = source.database, source.freshness
        if _is_in_memory(database):  # good for one answer, but no step forward
            why = "; ".join(state.notes)
            raise TryAgain(why or "the index cannot be written", "see: memfas doctor")
        self._database = database
        notes = state.notes if only is None else ()
        return Step(state.indexed, state.read, _folders(database), notes)

    def _make_vectors(self, as_of: int) -> None:
        """Those that are missing, where a model ranks: a question then need not wait for it."""
        if not isinstance(self.keeper, Semantic):
            return
        try:
            self.keeper.feed(as_of)
            self._has_vectors, why = True, ""
        except MemfasError as error:
            self._has_vectors, why = False, f"no vectors: {error.message}"
        if why and why != self._why and self._say:
            self._say(why)
        self._why = why

    def _compare(self) -> set[str]:
        """The files whose bytes are not those that the index was made of."""
        if self._database is None:
            return set()
        wrong = set[str]()
        for path, digest in _hashes(self._database).items():
            if self._check:
                self._check()
            try:
                now = load(self.keeper.root, path).hash
            except (FileFault, UsageError):
                now = NOT_READ
            if now != digest:
                wrong.add(path)
        return wrong

    def is_in_place(self) -> bool:
        """Whether the index file that was written last is still the one that has the name."""
        return self._database is None or self._database.is_in_place()

    def merge(self) -> None:
        """Let FTS5 join some of the pieces that many small changes have left.

        Nothing is written where there are none; failing is left to the next time.
        """
        database = self._database
        if database is None or not self.is_in_place():
            return
        with suppress(sqlite3.Error, TryAgain, FileFault), hold_index(database.path):
            database.connection.execute(
                "insert into words(words, rank) values('merge', ?)", (MERGE,)
            )

    def close(self) -> None:
        """Let go of the index file."""
        self._database = None
        self.keeper.close()


def hashes(root: str, places: tuple[Place, ...]) -> dict[str, bytes]:
    """Path -> hash of the bytes, of each file that is in the index; {} where there is none."""
    for place in places:
        try:
            with closing(open_database(place.path, root, ours=place.ours)) as database:
                return _hashes(database)
        except (NoIndex, sqlite3.Error):
            continue
    return {}


def _hashes(database: Database) -> dict[str, bytes]:
    rows = database.connection.execute("select path, hash from files").fetchall()
    return {os.fsdecode(path): digest for path, digest in rows}


def _folders(database: Database) -> tuple[str, ...]:
    rows = database.connection.execute("select path from folders where entered")
    return tuple(folder for (path,) in rows if (folder := os.fsdecode(path)) != LINKS)


def _is_in_memory(database: Database) -> bool:
    return not database.connection.execute("pragma database_list").fetchone()[2]
