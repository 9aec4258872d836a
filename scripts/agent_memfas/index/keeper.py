"""The index as those who ask see it: in step with the files, and there whatever happens to it.

Where a fresh index answers, nothing is loaded that only writing needs: `writer` and `corpus` come
in when a file has changed or the index cannot be used. (This is the one module below the edge that
puts off imports of the package.)
"""

from __future__ import annotations

import sqlite3
import time
from _thread import allocate_lock

from agent_memfas.errors import FileFault, TryAgain
from agent_memfas.index import search
from agent_memfas.index.database import Database, Foreign, NoIndex, is_damage, open_database
from agent_memfas.index.priors import PLAIN, Leaning
from agent_memfas.index.rows import Found, Freshness
from agent_memfas.index.scope import Extra, Job, scope_of
from agent_memfas.store.listing import Known, Skipped
from agent_memfas.store.sweep import Swept, sweep
from agent_memfas.text.firing import Trigger

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator
    from typing import Protocol, TypeVar

    from agent_memfas.index.corpus import Corpus
    from agent_memfas.index.places import Place
    from agent_memfas.index.writer import Written

    T = TypeVar("T")

    class Source(Protocol):
        """What can be asked: the index, or the files themselves."""

        freshness: Freshness

        def ranked(self, question: str, leaning: Leaning = PLAIN) -> Iterator[Found]:
            """Passages that share a term with the question, or stand beside one, best first."""

        def triggers(self, question: str) -> list[Trigger]:
            """The triggers in the question, in its order."""

        def paths(self, patterns: tuple[str, ...]) -> list[str]:
            """The files that are meant by files, folders and globs, by path."""

        def all_triggers(self) -> list[Trigger]:
            """Every trigger, by keyword."""

        def numbered(self, number: int) -> list[Found]:
            """The passages with that number (see rows.number_of)."""


BUDGET = 0.2  # seconds that a question may spend on the sweep and on reading what has changed
_ROUNDS = 3  # times to look where other processes are always faster


class IndexSource:
    """An open index that answers. settled: no file changed while it was brought in step."""

    def __init__(self, database: Database, freshness: Freshness, *, settled: bool = True) -> None:
        self.database = database
        self.freshness = freshness
        self.settled = settled

    def ranked(self, question: str, leaning: Leaning = PLAIN) -> Iterator[Found]:
        """Passages that share a term with the question, or stand beside one, best first."""
        return search.ranked(self.database, question, leaning)

    def triggers(self, question: str) -> list[Trigger]:
        """The triggers in the question, in its order."""
        return search.triggers(self.database, question)

    def paths(self, patterns: tuple[str, ...]) -> list[str]:
        """The files that are meant by files, folders and globs, by path."""
        return search.paths(self.database, patterns) if patterns else []

    def all_triggers(self) -> list[Trigger]:
        """Every trigger, by keyword."""
        return search.all_triggers(self.database)

    def numbered(self, number: int) -> list[Found]:
        """The passages with that number (see rows.number_of)."""
        return search.numbered(self.database, number)

    def __enter__(self) -> IndexSource:
        """Until the end nothing that others write is seen: all of an answer is of one moment."""
        self._begun = not self.database.connection.in_transaction
        if self._begun:
            self.database.connection.execute("begin")
            self.database.reload()
        return self

    def __exit__(self, *_: object) -> None:
        if self._begun and self.database.connection.in_transaction:
            self.database.connection.execute("rollback")


class Keeper:
    """Keeps the index of one memory folder and answers from it.

    root: the folder's real path. places: where the index may be, best first. sources: as in
    memfas.yaml. use_index: False to search the files themselves. wait: seconds to wait for another
    process that is writing. tell: is told how many of how many files have been read. extra: the
    triggers of the settings file; None to leave those in the index as they are.
    """

    def __init__(
        self,
        root: str,
        places: tuple[Place, ...],
        sources: tuple[str, ...] = (),
        *,
        use_index: bool = True,
        wait: float = 0.0,
        tell: Callable[[int, int], None] | None = None,
        extra: Extra | None = None,
    ) -> None:
        self.root = root
        self._places = places
        self._sources = sources
        self._use_index = use_index
        self._wait = wait
        self._tell = tell
        self._extra = extra
        self._database: Database | None = None
        self._copy: Database | None = None
        self._notes: list[str] = []
        self._suspect: frozenset[str] = frozenset()
        self._corpus: Corpus | None = None
        self._turn = allocate_lock()  # one thread at a time: a connection has one transaction

    def answer(self, asked: Callable[[Source], T], as_of: int, budget: float | None = BUDGET) -> T:
        """What `asked` makes of a source that is in step with the files, as far as can be.

        as_of: the wall clock now, ns. budget: seconds for the sweep and for reading what changed.
        The index failing on the way is no failure: the files are asked then.
        """
        with self._turn:
            return self._answer(asked, as_of, budget)

    def _answer(self, asked: Callable[[Source], T], as_of: int, budget: float | None) -> T:
        self._notes = []
        for again in (True, False) if self._use_index else ():
            try:
                with self._source(as_of, budget) as source:
                    return asked(source)
            except sqlite3.Error as error:
                self._give_up(error, again=again)
                if not (again and is_damage(error)):
                    break
            except (NoIndex, TryAgain, FileFault, OSError) as why:  # OSError: it goes just now
                self._note(f"the index cannot be used: {getattr(why, 'message', why)}")
                break
        return asked(self._files(as_of))

    def source(
        self,
        as_of: int,
        budget: float | None = None,
        *,
        deep: bool = False,
        only: Collection[str] | None = None,
    ) -> IndexSource:
        """The index, brought in step.

        deep: by the bytes of every file, whatever it looks like. only: look at these folders
        (relative to the root) and at nothing inside or beside them; the source is not fresh then.
        TryAgain where another process is writing, FileFault where it cannot be had at all.
        """
        with self._turn:
            return self._brought(as_of, budget, only, deep=deep)

    def _brought(
        self, as_of: int, budget: float | None, only: Collection[str] | None, *, deep: bool
    ) -> IndexSource:
        self._notes = []
        for again in (True, False):
            try:
                return self._source(as_of, budget, deep=deep, only=only)
            except (NoIndex, OSError) as why:
                raise FileFault(str(why), "see: memfas doctor") from why
            except sqlite3.Error as error:
                self._give_up(error, again=again)
                if not again or not is_damage(error):
                    raise _fault(error) from error
        raise AssertionError("the second round returns or raises")

    def _source(
        self,
        as_of: int,
        budget: float | None,
        *,
        deep: bool = False,
        only: Collection[str] | None = None,
    ) -> IndexSource:
        """The same, with sqlite3.Error and NoIndex as they come."""
        deadline = None if budget is None else time.monotonic() + budget
        found: IndexSource | None = None
        for _ in range(_ROUNDS):
            found = self._look(as_of, deadline, only, deep=deep) or found
            late = deadline is not None and time.monotonic() > deadline
            if found and (found.settled or late):
                return found
        if found:
            return found
        raise TryAgain("other processes keep writing the index", "run it again in a moment")

    def anew(self, as_of: int) -> IndexSource:
        """The index built anew in a file of its own, whatever the old one is like.

        TryAgain where another process is writing, FileFault where it cannot be had at all.
        """
        try:
            return self._anew(as_of)
        except sqlite3.Error as error:
            raise _fault(error) from error

    def _anew(self, as_of: int) -> IndexSource:
        from agent_memfas.index.writer import build

        scope = scope_of(self.root, self._sources)
        self.close()
        job = Job(self.root, scope, as_of, wait=self._wait, tell=self._tell, extra=self._extra)
        return self._take(build(self._places, job), as_of)

    def take(self, extra: Extra) -> None:
        """From now on, these are the triggers of the settings file."""
        self._extra = extra

    def suspect(self, paths: set[str]) -> None:
        """The rows of these files are not what stands in them: the next look makes them anew."""
        self._suspect |= paths

    def close(self) -> None:
        """Let go of the index file, and of a copy in memory."""
        for database in (self._database, self._copy):
            if database is not None:
                database.close()
        self._database = self._copy = None

    def _look(
        self, as_of: int, deadline: float | None, only: Collection[str] | None, *, deep: bool
    ) -> IndexSource | None:
        """Sweep, compare, and read what has changed; None where another process wrote meanwhile."""
        scope = scope_of(self.root, self._sources)
        try:
            database = self._open()
        except NoIndex as why:
            if "yet" not in str(why):
                self._note(f"{why}: it is built anew")
            return self._anew(as_of)
        known = database.known()
        believed = known if database.meta.get("scope") == scope.fingerprint else {}
        swept = sweep(self.root, believed, scope.enters, deadline, only, scope.suffixes)
        if reason := swept.failed.get(""):
            raise FileFault(f"{self.root}: {reason}")
        if not swept.seen and database.is_elsewhere(self.root):
            raise FileFault(f"{self.root} is empty and on another device than before: not mounted?")
        token = database.meta.get("extra", "")
        stale = deep or self._suspect or (self._extra and self._extra.token != token)
        if believed is known and not stale and not _differs(swept, known):
            return IndexSource(database, self._freshness(database, swept, as_of))
        if believed is not known:
            known = {f: Known(k.names, bytes(len(k.numbers))) for f, k in known.items()}
        from agent_memfas.index.writer import update

        job = Job(
            self.root, scope, as_of, deadline, deep, self._suspect, self._wait, self._tell,
            self._extra,
        )  # fmt: skip
        written = update(database, swept, known, job)
        return self._take(written, as_of) if written else None

    def _take(self, written: Written, as_of: int) -> IndexSource:
        """What was written, as a source; a copy in memory serves this one time."""
        if written.note:
            self._note(written.note)
            if self._copy is not None:
                self._copy.close()
            self._copy = written.database
        else:
            self._database = written.database
        self._suspect = frozenset()
        synced = written.synced
        freshness = self._freshness(
            written.database, written.swept, as_of, synced.read, synced.behind
        )
        return IndexSource(written.database, freshness, settled=not synced.moved)

    def _open(self) -> Database:
        """The index file that is there now. NoIndex where there is none that can be used."""
        if self._database is not None and self._database.is_in_place():
            self._database.reload()
            return self._database
        self.close()
        for place in self._places:
            try:
                self._database = open_database(place.path, self.root, ours=place.ours)
            except Foreign as error:
                self._note(f"{error}: it is left alone")
            else:
                return self._database
        raise NoIndex("there is no place for an index")

    def _freshness(
        self, database: Database, swept: Swept, as_of: int, read: int = 0, behind: int = 0
    ) -> Freshness:
        notes = list(self._notes)
        if not swept.complete:
            notes.append(f"the sweep was cut off after {swept.seen} files, for it took too long")
        if behind:
            notes.append(f"{behind} changed files are not read yet: `memfas index` reads them")
        skipped = {**{s.path: s.reason for s in swept.skipped}, **dict(database.notes())}
        fresh, files = swept.complete and not behind, database.count("files")
        return Freshness(
            fresh, as_of if fresh else int(database.meta.get("as_of", "0")),
            max(swept.seen, files), files, read, behind,
            tuple(Skipped(path, skipped[path]) for path in sorted(skipped)), tuple(notes),
        )  # fmt: skip

    def _files(self, as_of: int) -> Source:
        """The files themselves, read into memory."""
        from agent_memfas.index.corpus import Corpus

        if self._corpus is None:
            self._corpus = Corpus(self.root)
        self._corpus.refresh(
            as_of, scope_of(self.root, self._sources), tuple(self._notes),
            self._extra,
        )  # fmt: skip
        return self._corpus

    def _give_up(self, error: sqlite3.Error, *, again: bool) -> None:
        """Note what happened; a damaged index goes, for it can be made anew."""
        self._note(f"the index cannot be used: {error}")
        database, self._database = self._database, None
        if database is None:
            return
        database.close()
        if again and is_damage(error):
            from agent_memfas.index.writer import throw_away

            ours = any(p.ours for p in self._places if p.path == database.path)
            throw_away(database.path, ours=ours, root=self.root)

    def _note(self, text: str) -> None:
        if text not in self._notes:
            self._notes.append(text)


def _fault(error: sqlite3.Error) -> FileFault:
    return FileFault(f"the index cannot be used: {error}", "see: memfas doctor")


def _differs(swept: Swept, known: dict[str, Known]) -> bool:
    """Whether a sweep found anything that is not known."""
    if swept.changed or not swept.ignored <= known.keys():
        return True
    if not swept.complete or len(swept.same) + len(swept.ignored) == len(known):
        return False
    return any(
        not any(folder == f or folder.startswith(f"{f}/") for f in swept.failed)
        for folder in known.keys() - swept.same - swept.ignored
    )
