"""The index file: one SQLite database that may be deleted at any moment.

A rollback journal rather than a write-ahead log: the file can be read where the folder cannot be
written, and two files never have to be replaced together. Writers hold a lock of their own.
"""

from __future__ import annotations

import os
import sqlite3

from agent_memfas.store.listing import Known

APPLICATION = 0x6D666173  # "mfas", in the header of every file that is ours
# One more of these whenever: the tables change; the same bytes give other rows; the same text
# gives other terms.
SCHEMA, PARSER, TOKENIZER = 4, 7, 2
IDENTITY = {
    "schema": str(SCHEMA),
    "parser": str(PARSER),
    "tokenizer": str(TOKENIZER),
}
NEEDED = frozenset(
    ("meta", "folders", "files", "passages", "triggers", "vectors", "words", "vocabulary")
)  # fmt: skip
CONFIG = "config"  # the kind of a file that gives triggers and is no memory: memfas.yaml
APART = "\0"  # before its path, for the same file may be memory, too
PATIENCE = 0.25  # seconds that a reader waits while another process commits


class NoIndex(Exception):
    """There is no index of ours at this place that can be used; str() says why."""


class Foreign(NoIndex):
    """The file at this place is not ours: it must be left alone."""


class Outdated(NoIndex):
    """It is ours, but was made by another version, for another folder, or is damaged."""


class Damaged(sqlite3.DatabaseError):
    """The rows are not what was written, which SQLite does not notice."""


class Database:
    """An open index file. Any method may raise sqlite3.Error, DatabaseError where it is damaged."""

    def __init__(self, path: str, connection: sqlite3.Connection) -> None:
        self.path = path
        self.connection = connection
        self.meta: dict[str, str] = {}
        self.reload()
        self._identity = _identity(path)

    def is_in_place(self) -> bool:
        """Whether the file that is open still has the name."""
        return self._identity == _identity(self.path)

    def has_moved(self) -> bool:
        """Whether another process has written since the meta rows were read."""
        return dict(self.connection.execute("select key, value from meta")) != self.meta

    def token(self) -> object:
        """Another one for another state of the index."""
        return self.path, tuple(sorted(self.meta.items()))

    def is_elsewhere(self, root: str) -> bool:
        """Whether there are rows, of a folder that was on another device than the root is now."""
        return self.count("files") > 0 and self.meta.get("device") != device_of(root)

    def reload(self) -> None:
        """Read the meta rows again: another process may have written."""
        self.meta = dict(self.connection.execute("select key, value from meta"))
        try:
            for key in ("files", "passages", "as_of", "sizes"):
                _ = [int(number) for number in self.meta.get(key, "").split()]
            named = all(isinstance(value, str) for value in self.meta.values())
        except (AttributeError, ValueError):
            named = False
        if not named:
            raise Damaged("a meta row is not what was written")

    def known(self) -> dict[str, Known]:
        """The folders as they were when their files were last read."""
        rows = self.connection.execute("select path, names, numbers, entered, latest from folders")
        found = {}
        for path, names, numbers, entered, latest in rows:
            kinds = (type(path), type(names), type(numbers), type(latest))
            if kinds != (bytes, bytes, bytes, int) or len(numbers) != 32 * (
                names.count(b"\0") + bool(names)
            ):
                raise Damaged("the listing of a folder is not what was written")
            found[os.fsdecode(path)] = Known(names, numbers, bool(entered), latest)
        return found

    def notes(self) -> list[tuple[str, str]]:
        """(path, what is amiss) of the files that have a note."""
        rows = self.connection.execute("select path, note from files where note <> ''").fetchall()
        if any(type(path) is not bytes or type(note) is not str for path, note in rows):
            raise Damaged("the note of a file is not what was written")
        return sorted((os.fsdecode(path), note) for path, note in rows)

    def count(self, table: str) -> int:
        """How many files or passages there are."""
        return int(self.meta.get(table, "0"))

    def close(self) -> None:
        """Let go of the file."""
        self.connection.close()


def open_database(path: str, root: str, *, ours: bool) -> Database:
    """Open the index at a path.

    ours: whether whatever is there may be replaced, as in memfas' own folders. NoIndex where there
    is none, Foreign where the file is somebody else's, Outdated where it has to be built anew.
    """
    if not os.path.lexists(path):
        raise NoIndex("there is no index yet")
    if not os.path.isfile(path):
        raise Foreign(f"{path} is not a regular file")
    if ours and os.path.getsize(path) == 0:
        raise NoIndex("there is no index yet")
    if not ours:
        _recognize(path)
    if any(os.path.lexists(path + end) for end in ("-wal", "-shm")):
        raise Outdated("a write-ahead log that is not ours lies beside the index")
    connection = connect(path, "rw" if os.access(path, os.W_OK) else "ro")
    try:
        return _checked(path, root, connection)
    except (sqlite3.Error, UnicodeDecodeError) as error:  # the latter: SQLite quotes what it found
        connection.close()
        if not is_damage(error):
            raise
        raise Outdated(f"the index is damaged: {error}") from error
    except NoIndex:
        connection.close()
        raise


def _checked(path: str, root: str, connection: sqlite3.Connection) -> Database:
    """The database, if it is one that was made for this folder by this version. Outdated."""
    if not _is_marked(connection):
        raise Outdated("the index is damaged: not an index of memfas")
    tables = {name for (name,) in connection.execute("select name from sqlite_master")}
    if not tables >= NEEDED:
        raise Outdated(f"the index has no table {min(NEEDED - tables)}")
    database = Database(path, connection)
    for key, value in IDENTITY.items():
        if database.meta.get(key) != value:
            raise Outdated(f"the index was made by another version ({key})")
    made_for = database.meta.get("root")
    if made_for not in (named(root), None) and not path.startswith(f"{root}/"):
        raise Outdated(f"the index was made for {made_for}")
    return database


def _recognize(path: str) -> None:
    """Foreign where a file is not an index of ours, which is found out without touching it or what
    lies beside it: opened in the usual way, SQLite would play back a journal that it finds there.
    """
    try:
        connection = connect(path, "ro&immutable=1")
        try:
            marked = _is_marked(connection)
        finally:
            connection.close()
    except (sqlite3.Error, UnicodeDecodeError) as error:
        if isinstance(error, sqlite3.OperationalError) or not _has_header(path):
            raise Foreign(f"{path}: {error}") from error
        marked = True  # ours, and so damaged that SQLite cannot even read the number
    if not marked:
        raise Foreign(f"{path}: not an index of memfas")


def _has_header(path: str) -> bool:
    with open(path, "rb") as file:
        head = file.read(72)
    return head[:16] == b"SQLite format 3\0" and head[68:] == APPLICATION.to_bytes(4, "big")


def _is_marked(connection: sqlite3.Connection) -> bool:
    (application,) = connection.execute("pragma application_id").fetchone()
    return bool(application == APPLICATION)


def connect(path: str, mode: str) -> sqlite3.Connection:
    """A SQLite file that is there, opened `ro` or `rw`. sqlite3.Error."""
    quoted = path.replace("%", "%25").replace("?", "%3f").replace("#", "%23")
    return sqlite3.connect(
        f"file:{quoted}?mode={mode}", timeout=PATIENCE, isolation_level=None, uri=True,
        check_same_thread=False,
    )  # fmt: skip


def is_damage(error: Exception) -> bool:
    """Whether an error says that the file is not sound, not that it cannot be used just now."""
    if not isinstance(error, sqlite3.OperationalError):
        return True
    marks = (
        "no such table", "no such column", "no such fts5 table", "no such module",
        "vtable constructor", "malformed", "not a database", "decode to UTF-8",
        "unsupported file format", " columns but ",
    )  # fmt: skip
    return any(mark in str(error) for mark in marks)


def named(root: str) -> str:
    """A path as a meta row can hold it, whatever bytes it has."""
    return os.fsencode(root).decode("utf-8", "backslashreplace")


def device_of(root: str) -> str:
    """The number of the device that a folder is on."""
    return str(os.stat(root).st_dev)


def _identity(path: str) -> tuple[int, int] | None:
    try:
        info = os.stat(path)
    except OSError:
        return None
    return info.st_dev, info.st_ino
