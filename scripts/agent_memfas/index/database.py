"""The index file: one SQLite database that may be deleted at any moment.

    meta       what it was made by and of; whatever differs makes it outdated
    folders    the listing of each folder as it was when its files were last read
    files      one row a file: kind, hash of its bytes, what is amiss
    passages   the pieces of the files, with their lines and dates
    words      FTS5 over the terms of text/words; contentless: the passages hold the text
    triggers   keywords by their words

A rollback journal rather than a write-ahead log: the file can be read where the folder cannot be
written, and two files never have to be replaced together. Writers hold a lock of their own.
"""

from __future__ import annotations

import os
import sqlite3
from unicodedata import unidata_version

from agent_memfas.store.listing import Known

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

APPLICATION = 0x6D666173  # "mfas", in the header of every file that is ours
# One more of these whenever: the tables change; the same bytes give other rows; the same text
# gives other terms.
SCHEMA, PARSER, TOKENIZER = 1, 1, 1
IDENTITY = {
    "schema": str(SCHEMA),
    "parser": str(PARSER),
    "tokenizer": f"{TOKENIZER}/{unidata_version}",
    "model": "",
    "dimension": "0",
}
PATIENCE = 0.25  # seconds that a reader waits while another process commits
TABLES = """
create table meta(key text primary key, value) without rowid;
create table folders(
  path blob primary key, names blob, numbers blob, entered integer, latest integer);
create table files(id integer primary key, path blob unique, kind text, hash blob, note text);
create index noted on files(note) where note <> '';
create table passages(
  id integer primary key, file integer, start integer, end integer, heading text, day text,
  priority text, dated text, expires text, superseded text, text text, hash blob);
create index passages_of on passages(file);
create table triggers(
  key text, size integer, keyword text, hint text, file integer, line integer);
create index triggers_by_key on triggers(key);
create index triggers_of on triggers(file);
create virtual table words using fts5(
  terms, content='', tokenize="ascii tokenchars '._-+#&''/\\@:'");
create virtual table vocabulary using fts5vocab(words, row);
"""


class NoIndex(Exception):
    """There is no index of ours at this place that can be used; str() says why."""


class Foreign(NoIndex):
    """The file at this place is not ours: it must be left alone."""


class Outdated(NoIndex):
    """It is ours, but was made by another version, for another folder, or is damaged."""


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

    def reload(self) -> None:
        """Read the meta rows again: another process may have written."""
        self.meta = dict(self.connection.execute("select key, value from meta"))

    def known(self) -> dict[str, Known]:
        """The folders as they were when their files were last read."""
        rows = self.connection.execute("select path, names, numbers, entered, latest from folders")
        return {
            os.fsdecode(path): Known(names, numbers, bool(entered), latest)
            for path, names, numbers, entered, latest in rows
        }

    def notes(self) -> list[tuple[str, str]]:
        """(path, what is amiss) of the files that have a note."""
        rows = self.connection.execute("select path, note from files where note <> ''")
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
    if not os.path.lexists(path) or (ours and os.path.getsize(path) == 0):
        raise NoIndex("there is no index yet")
    if not os.path.isfile(path):
        raise Foreign(f"{path} is not a regular file")
    connection = _connect(path)
    try:
        (application,) = connection.execute("pragma application_id").fetchone()
        if application != APPLICATION:
            raise (Outdated if ours else Foreign)(f"{path} is not an index of memfas")
        database = Database(path, connection)
        _check(database, root)
    except sqlite3.OperationalError as error:
        connection.close()
        if "no such table" in str(error):
            raise Outdated(f"the index has no tables: {error}") from error
        raise
    except sqlite3.DatabaseError as error:
        connection.close()
        raise (Outdated if ours else Foreign)(f"{path} is no SQLite database: {error}") from error
    except NoIndex:
        connection.close()
        raise
    return database


def _check(database: Database, root: str) -> None:
    for key, value in IDENTITY.items():
        if database.meta.get(key) != value:
            raise Outdated(f"the index was made by another version ({key})")
    made_for = database.meta.get("root")
    if made_for not in (named(root), None) and not database.path.startswith(f"{root}/"):
        raise Outdated(f"the index was made for {made_for}")


def _connect(path: str) -> sqlite3.Connection:
    quoted = path.replace("%", "%25").replace("?", "%3f").replace("#", "%23")
    mode = "rw" if os.access(path, os.W_OK) else "ro"
    return sqlite3.connect(
        f"file:{quoted}?mode={mode}", timeout=PATIENCE, isolation_level=None, uri=True,
        check_same_thread=False,
    )  # fmt: skip


def is_damage(error: sqlite3.Error) -> bool:
    """Whether an error says that the file is not sound, not that it cannot be used just now."""
    if not isinstance(error, sqlite3.OperationalError):
        return True
    marks = ("no such table", "no such column", "vtable constructor", "malformed", "not a database")
    return any(mark in str(error) for mark in marks)


def create(path: str, root: str) -> Database:
    """Tables in an empty file that has no other reader. sqlite3.Error where that fails."""
    connection = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
    try:
        for pragma in ("journal_mode = off", "synchronous = off", "cache_size = -32000",
                       f"application_id = {APPLICATION}"):  # fmt: skip
            connection.execute(f"pragma {pragma}")
        connection.executescript(TABLES)
        set_meta(
            connection,
            {**IDENTITY, "root": named(root), "files": "0", "passages": "0", "sizes": ""}.items(),
        )
    except sqlite3.Error:
        connection.close()
        raise
    return Database(path, connection)


def named(root: str) -> str:
    """A path as a meta row can hold it, whatever bytes it has."""
    return os.fsencode(root).decode("utf-8", "backslashreplace")


def set_meta(connection: sqlite3.Connection, pairs: Iterable[tuple[str, object]]) -> None:
    """Write meta rows."""
    connection.executemany("insert or replace into meta values(?, ?)", pairs)


def _identity(path: str) -> tuple[int, int] | None:
    try:
        info = os.stat(path)
    except OSError:
        return None
    return info.st_dev, info.st_ino
