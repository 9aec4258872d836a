"""Documents in a SQLite file of their own, found by words: what a keyword backend keeps."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

from agent_memfas.errors import FileFault
from agent_memfas.index.database import APPLICATION
from agent_memfas.index.rows import indexed
from agent_memfas.index.schema import WORDS
from agent_memfas.index.search import scores
from agent_memfas.text.days import parse_day
from agent_memfas.text.words import joined_terms

PATIENCE = 5.0  # seconds to wait for another process that writes
_DOCUMENTS = """
create table if not exists documents(
  id integer primary key, doc_id text unique, text text, metadata text, terms text);
"""
Hit = tuple[str, str, dict[str, Any], float]


def connect(path: str) -> sqlite3.Connection:
    """A SQLite file for documents. FileFault where it cannot be had or is memfas' own index."""
    try:
        connection = sqlite3.connect(
            path, timeout=PATIENCE, isolation_level=None, check_same_thread=False
        )
        (application,) = connection.execute("pragma application_id").fetchone()
    except sqlite3.Error as error:
        raise FileFault(f"{path}: {error}", "name a file of its own") from error
    if application == APPLICATION:
        connection.close()
        raise FileFault(f"{path} is the index of a memory folder", "name a file of its own")
    return connection


@contextmanager
def transaction(connection: sqlite3.Connection, path: str) -> Iterator[None]:
    """All or nothing. FileFault where SQLite fails."""
    try:
        connection.execute("begin immediate")
        try:
            yield
        except BaseException:
            connection.execute("rollback")
            raise
        connection.execute("commit")
    except sqlite3.Error as error:
        raise FileFault(f"{path}: {error}") from error


def as_json(metadata: dict[str, Any]) -> str:
    """Metadata as it is kept; what JSON does not know becomes text."""
    return json.dumps(metadata, ensure_ascii=False, default=str)


class Documents:
    """Documents by id, and BM25 over their words. path: of a file, or ":memory:"."""

    def __init__(self, path: str) -> None:
        self._path = path
        self._connection = connect(path)
        try:
            self._connection.executescript(_DOCUMENTS + WORDS)
            self._connection.execute("select terms from documents limit 1")
        except sqlite3.Error as error:
            self._connection.close()
            raise FileFault(f"{path}: {error}", "name a file of its own") from error

    def put(self, documents: Iterable[tuple[str, str, dict[str, Any]]]) -> None:
        """Put documents in, or in place of those with their ids: (id, text, metadata)."""
        with transaction(self._connection, self._path):
            for doc_id, text, metadata in documents:
                self._remove(doc_id)
                terms = joined_terms(_searched(text, metadata))
                row = self._connection.execute(
                    "insert into documents(doc_id, text, metadata, terms) values(?, ?, ?, ?)",
                    (doc_id, text, as_json(metadata), terms),
                ).lastrowid
                self._connection.execute("insert into words(rowid, terms) values(?, ?)",
                                         (row, terms))  # fmt: skip

    def remove(self, doc_ids: Iterable[str]) -> None:
        """Take documents out; ids that are not there are passed over."""
        with transaction(self._connection, self._path):
            for doc_id in doc_ids:
                self._remove(doc_id)

    def clear(self) -> None:
        """Take all out."""
        with transaction(self._connection, self._path):
            self._connection.execute("delete from documents")
            self._connection.execute("insert into words(words) values('delete-all')")

    def count(self) -> int:
        """How many there are."""
        found: int = self._connection.execute("select count(*) from documents").fetchone()[0]
        return found

    def ranked(self, question: str, limit: int) -> list[Hit]:
        """(id, text, metadata, score) of the best, best first.

        score, 0 to 1: as of `search.ranked`.
        """
        hits: list[Hit] = []
        for score, row in scores(self._connection, self.count(), question):
            doc_id, text, metadata = self._connection.execute(
                "select doc_id, text, metadata from documents where id = ?", (row,)
            ).fetchone()
            hits.append((doc_id, text, json.loads(metadata), score))
            if len(hits) >= limit:
                break
        return hits

    def close(self) -> None:
        """Let go of the file."""
        self._connection.close()

    def _remove(self, doc_id: str) -> None:
        row = self._connection.execute(
            "select id, terms from documents where doc_id = ?", (doc_id,)
        ).fetchone()
        if row is not None:
            # The words table does not keep what it holds: it has to be told.
            self._connection.execute(
                "insert into words(words, rowid, terms) values('delete', ?, ?)", row
            )
            self._connection.execute("delete from documents where id = ?", (row[0],))


def _searched(text: str, metadata: dict[str, Any]) -> str:
    """What is searched of a document: its text, its section, and its day in words."""
    day = str(metadata.get("date") or "")[:10]
    return indexed(text, str(metadata.get("section") or ""), day if parse_day(day) else "")
