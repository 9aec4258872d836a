"""Whatever changes an index file: reading what has changed, building anew, throwing away.

One process at a time writes, by a lock beside the file. Whoever does not get the lock, or cannot
write at all, brings a copy of the index up to date in memory, for this one time.
"""

from __future__ import annotations

import os
import sqlite3
import time
from contextlib import suppress
from pathlib import Path

from agent_memfas.errors import FileFault, MemfasError, TryAgain
from agent_memfas.index.database import Database, Foreign, NoIndex, is_damage, open_database
from agent_memfas.index.places import Place
from agent_memfas.index.rebuild import COMPANIONS, hold_index, rebuild
from agent_memfas.index.scope import Job
from agent_memfas.index.sync import Sync, Synced
from agent_memfas.store import durable
from agent_memfas.store.listing import Known
from agent_memfas.store.sweep import Swept
from agent_memfas.text.record import Record

COPY_CAP = 256 << 20  # bytes of an index that is brought up to date in memory for one question


class Written(Record):
    """The database that holds the result, and what was done. note: if it is only in memory."""

    database: Database
    swept: Swept
    synced: Synced
    note: str = ""


def build(places: tuple[Place, ...], job: Job) -> Written:
    """A new index at the first place that takes one.

    TryAgain, FileFault or sqlite3.Error where none does.
    """
    problem: Exception = FileFault("there is no place for an index")
    for place in places:
        if not _may_replace(place, job.root):
            continue
        try:
            database, swept, synced = rebuild(
                place.path,
                job.root,
                job.scope,
                job.as_of,
                job.tell,
                ours=place.ours,
                wait=job.wait,
                extra=job.extra,
            )
        except (FileFault, sqlite3.OperationalError) as error:
            problem = error
            continue
        return Written(database, swept, synced)
    raise problem


def _may_replace(place: Place, root: str) -> bool:
    """Whether a file is an index of ours, or not there at all, or in a folder of memfas' own."""
    if place.ours or not os.path.lexists(place.path):
        return True
    if os.path.isfile(place.path) and os.path.getsize(place.path) == 0:
        return True
    try:
        open_database(place.path, root, ours=False).close()
    except Foreign:
        return False
    except (NoIndex, sqlite3.Error):
        return True
    return True


def update(database: Database, swept: Swept, known: dict[str, Known], job: Job) -> Written | None:
    """Read what a sweep found into the index; None where another process was faster.

    sqlite3.Error where the file is damaged, and whatever is wrong where not even a copy in memory
    can be brought up to date.
    """
    begun = time.monotonic()
    try:
        with hold_index(database.path, _patience(job)):
            if not database.is_in_place() or database.has_moved():
                return None
            durable.sweep(Path(database.path).parent, of=os.path.basename(database.path))
            database.connection.execute("pragma cache_spill = off")
            database.connection.execute("pragma synchronous = normal")
            return Written(database, swept, _run(database, swept, known, job))
    except (TryAgain, FileFault, sqlite3.OperationalError) as why:
        if isinstance(why, sqlite3.Error) and is_damage(why):
            raise
        if job.deep or os.path.getsize(database.path) > COPY_CAP:
            raise
        if job.deadline is not None:  # what was waited for others is not missing for reading
            later = job.deadline + time.monotonic() - begun
            job = Job(**{**vars(job), "deadline": later})
        copy = _copy(database)
        words = why.message if isinstance(why, MemfasError) else str(why)
        note = f"{words}: brought up to date in memory, for this once"
        return Written(copy, swept, _run(copy, swept, known, job), note)


def _patience(job: Job) -> float:
    """Seconds to wait for the lock: half of what a question has left, else as long as told."""
    if job.deadline is None:
        return job.wait
    return max(job.wait, (job.deadline - time.monotonic()) / 2)


def _run(database: Database, swept: Swept, known: dict[str, Known], job: Job) -> Synced:
    return Sync(database, job.root, job.scope, job.as_of, job.extra).run(
        swept, known, deadline=job.deadline, deep=job.deep, suspect=job.suspect, tell=job.tell
    )


def _copy(database: Database) -> Database:
    """The whole index in memory, to be changed for one answer."""
    memory = sqlite3.connect(":memory:", isolation_level=None, check_same_thread=False)
    try:
        database.connection.backup(memory, progress=_go_on)
        return Database(database.path, memory)
    except sqlite3.Error:
        memory.close()
        raise


def _go_on(status: int, _: int, __: int) -> None:
    """Give up copying where the database is locked: `backup` would wait for ever."""
    if status in (5, 6):  # SQLITE_BUSY, SQLITE_LOCKED
        raise sqlite3.OperationalError("database is locked")


def throw_away(path: str, *, ours: bool, root: str, wait: float = 0.0) -> None:
    """Remove an index, damaged or not, unless another process is just making it anew.

    ours: whether whatever is there may go; else only an index of memfas does.
    """
    if not os.path.lexists(path) or not _may_replace(Place(path, ours), root):
        return
    with suppress(TryAgain, FileFault), hold_index(path, wait):
        durable.discard(Path(path), COMPANIONS)
