"""What of a folder is in a shared collection, as far as this machine knows; beside the index file.

It may be deleted at any moment: the collection is asked for its ids then. Each batch is noted when
the collection has it, so that a push that was killed goes on where it was.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator
from hashlib import blake2b
from pathlib import Path

from agent_memfas.store import durable

TABLES = """
create table if not exists files(path blob primary key, mark text) without rowid;
create table if not exists ids(path blob, id text, primary key(path, id)) without rowid;
create table if not exists meta(key text primary key, value text) without rowid;
"""
MARKS = (
    "select f.path, count(*) || ':' || sum(p.seal) from passages p"
    " join files f on f.id = p.file group by p.file"
)


def marks_of(index: sqlite3.Connection) -> dict[bytes, str]:
    """For each file that has passages a text that changes with them."""
    return dict(index.execute(MARKS).fetchall())


def state_of(marks: dict[bytes, str]) -> str:
    """One text for the marks of all files: two machines with the same files have the same."""
    digest = blake2b(digest_size=16)
    for path in sorted(marks):
        digest.update(repr((path, marks[path])).encode())
    return digest.hexdigest()


class Pushed:
    """A file of what was pushed. path: "" for one in memory. whose: the collection and namespace
    that it is about; what it says of others goes.
    """

    def __init__(self, path: str, whose: str) -> None:
        self._connection = self._opened(path)
        if self.get("whose") != whose:
            self.forget()
            self.keep("whose", whose)

    def _opened(self, path: str) -> sqlite3.Connection:
        for again in (True, False):
            try:
                connection = sqlite3.connect(
                    path or ":memory:", isolation_level=None, check_same_thread=False
                )
                connection.execute("pragma synchronous = off")
                connection.executescript(TABLES)
            except sqlite3.Error:
                if not again:
                    break
                durable.discard(Path(path))
            else:
                return connection
        return _in_memory()

    def get(self, key: str) -> str:
        """A value that was kept, "" for none."""
        row = self._connection.execute("select value from meta where key = ?", (key,)).fetchone()
        return str(row[0]) if row else ""

    def keep(self, key: str, value: str) -> None:
        """Keep a value."""
        self._connection.execute("insert or replace into meta values(?, ?)", (key, value))

    def marks(self) -> dict[bytes, str]:
        """The files that are there as a whole, with their marks."""
        return dict(self._connection.execute("select path, mark from files").fetchall())

    def ids(self, path: bytes) -> set[str]:
        """The ids that are there of a file."""
        rows = self._connection.execute("select id from ids where path = ?", (path,))
        return {found for (found,) in rows}

    def paths(self) -> set[bytes]:
        """The files that anything is there of."""
        rows = self._connection.execute(
            "select distinct path from ids union select path from files"
        )
        return {path for (path,) in rows}

    def note(
        self, put: Iterable[tuple[bytes, str]], gone: Iterable[tuple[bytes, str]],
        whole: Iterable[tuple[bytes, str]],
    ) -> None:  # fmt: skip
        """A batch is done: ids that are there now, ids that are not, and files with their marks
        ("" for one that is gone).
        """
        connection = self._connection
        connection.execute("begin")
        connection.executemany("insert or ignore into ids values(?, ?)", put)
        connection.executemany("delete from ids where path = ? and id = ?", gone)
        for path, mark in whole:
            connection.execute("delete from files where path = ?", (path,))
            if mark:
                connection.execute("insert into files values(?, ?)", (path, mark))
        connection.execute("commit")

    def forget(self) -> None:
        """Nothing is known to be there."""
        self._connection.executescript("delete from files; delete from ids; delete from meta;")

    def learn(self, there: Iterator[tuple[bytes, str]]) -> None:
        """These ids are there and no others; of which files they are all of it is not known."""
        self._connection.execute("begin")
        self._connection.execute("delete from files")
        self._connection.execute("delete from ids")
        self._connection.executemany("insert or ignore into ids values(?, ?)", there)
        self._connection.execute("commit")

    def close(self) -> None:
        """Let go of the file."""
        self._connection.close()


def _in_memory() -> sqlite3.Connection:
    """Where there is no file."""
    connection = sqlite3.connect(":memory:", isolation_level=None, check_same_thread=False)
    connection.executescript(TABLES)
    return connection
