"""Questions to the index: its passages ranked, its triggers, its files."""

from __future__ import annotations

import os
from itertools import groupby

from agent_memfas.index import ranking, weights
from agent_memfas.index.database import APART, Damaged
from agent_memfas.index.postings import asked_terms, postings, summed, whole
from agent_memfas.index.priors import PLAIN, Leaning
from agent_memfas.index.rows import COLUMNS, Found, Row, seal
from agent_memfas.index.scope import Scope
from agent_memfas.text.asked import is_lookup
from agent_memfas.text.firing import Trigger, fired
from agent_memfas.text.words import terms

TYPE_CHECKING = False
if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
    from typing import Any, TypeVar

    from agent_memfas.index.database import Database

    T = TypeVar("T")

_FEW, _CHUNK, _MANY = 16, 100, 500  # values in one statement
PASSAGES = (
    f"select p.seal, p.place, f.path, f.kind, {COLUMNS}, p.hash"
    " from passages p join files f on f.id = p.file"
)


def ranked(
    database: Database, question: str, leaning: Leaning = PLAIN,
    cosines: ranking.Cosines | None = None, parts: list[ranking.Part] | None = None,
) -> Iterator[Found]:  # fmt: skip
    """Every passage that shares a term with the question, or stands beside the best of those, best
    first, as far as it is asked for: first the pool of `ranking.rank`, then by words alone.

    parts: of another backend than the index file.
    """
    if cosines is not None and cosines.alone:
        parts = []
    elif parts is None:
        parts = postings(database.connection, database.count("passages"), question)
    if not parts and cosines is None:
        return
    order = ranking.rank(question, parts, Rows(database.connection), leaning, cosines)
    sought = asked_terms(question) if cosines is None and is_lookup(question) else {}
    yield from _shown(database.connection, order, sought)
    given = {r.passage for r in order.pool}
    yield from _rest(database.connection, summed(parts), given, order.score_of)


def scores(
    connection: sqlite3.Connection, documents: int, question: str
) -> Iterator[tuple[float, int]]:
    """(score, row) of each of so many documents in the table `words` that shares a term with the
    question: those with all its terms first, then best first. The score is the BM25 sum as a share
    of the ideal, 0 to 1.
    """
    parts = postings(connection, documents, question)
    own, full = summed(parts), whole(parts, question)
    for row in sorted(own, key=lambda row: (row not in full, -own[row], row)):
        yield min(own[row], 1.0), row


class Rows:
    """The passages of an index, as `ranking.Ground` wants them."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    def around(self, passages: Collection[int], reach: int) -> dict[int, tuple[int, int, int]]:
        """Where these passages stand, and those within reach of them in their files."""
        rows = _each(
            self._connection,
            "select q.id, q.file, q.place, q.section from passages p join passages q on"
            f" q.file = p.file and q.place between p.place - {reach} and p.place + {reach}"
            " where p.id in (%s)", passages,
        )  # fmt: skip
        found = {passage: (file, order, section) for passage, file, order, section in rows}
        return self._whole(found, passages)

    def spots(self, passages: Collection[int], *, texts: bool) -> dict[int, ranking.Spot]:
        """What is known of these; their texts are "" where they are not asked for."""
        rows = _each(
            self._connection,
            "select p.id, f.path, p.place, speaker, opens, asks, day, superseded,"
            f" {'text' if texts else repr('')}"
            " from passages p join files f on f.id = p.file where p.id in (%s)", passages,
        )  # fmt: skip
        if any(type(row[1]) is not bytes for row in rows):
            raise Damaged("the path of a file is not what was written")
        found = {n: ranking.Spot(os.fsdecode(path), *known) for n, path, *known in rows}
        return self._whole(found, passages)

    def within(self, sections: Collection[int]) -> dict[int, int]:
        """Every passage of these sections, with its section."""
        query = "select id, section from passages where section in (%s)"
        return dict(_each(self._connection, query, sections))

    def _whole(self, found: dict[int, T], passages: Collection[int]) -> dict[int, T]:
        if not found.keys() >= set(passages):
            raise Damaged("passages are missing")
        return found


def _shown(
    connection: sqlite3.Connection, order: ranking.Order, sought: Collection[str]
) -> Iterator[Found]:
    """The passages of a ranking, in its order; few at first, for mostly few are wanted.

    sought: terms of which each must have one: only what is looked up can be checked against the
    text, what stands beside it has none.
    """
    at, size = 0, _FEW
    while some := order.pool[at : at + size]:
        rows = {number: row for number, *row in _rows(connection, [r.passage for r in some])}
        for r in some:
            if r.passage in rows:
                (found,) = sound([rows[r.passage]], 0.0)
                if sought and not set(sought) & set(terms(found.row.indexed)):
                    raise Damaged("a passage has not the words that it is listed under")
                yield Found(found.path, found.kind, found.row, order.score(r), order.parts(r))
        at, size = at + size, _CHUNK


def _rest(
    connection: sqlite3.Connection, own: dict[int, float], given: set[int],
    share: Callable[[float], float],
) -> Iterator[Found]:  # fmt: skip
    """What words alone find beside those that were given; a superseded one counts half."""
    order = sorted(own.keys() - given, key=lambda n: (-round(own[n], 9), n))
    late: list[Found] = []
    for words, group in groupby(order, key=lambda n: round(own[n], 9)):
        score = share(words)
        while late and late[0].score >= score:
            yield late.pop(0)
        for found in _load(connection, list(group), score):
            if found.row.superseded:
                less = share(words * weights.SUPERSEDED)
                late.append(Found(found.path, found.kind, found.row, less))
                late.sort(key=lambda found: -found.score)
            else:
                yield found
    yield from late


def _load(connection: sqlite3.Connection, passages: list[int], score: float) -> Iterator[Found]:
    """Passages of one score, by path and line."""
    yield from sound([row for _, *row in _rows(connection, passages)], score)


def _rows(connection: sqlite3.Connection, passages: list[int]) -> list[Any]:
    """The id of each passage and its row of PASSAGES, in any order."""
    query = PASSAGES.replace("select ", "select p.id, ", 1) + " where p.id in (%s)"
    found = _each(connection, query, passages)
    if len(found) < len(passages) and connection.in_transaction:
        raise Damaged("passages are missing")
    return found


def _each(connection: sqlite3.Connection, query: str, values: Collection[int]) -> list[Any]:
    """The rows of a query for each of the values, however many there are."""
    listed: list[int] = list(values)
    found: list[Any] = []
    for at in range(0, len(listed), _MANY):
        some = listed[at : at + _MANY]
        found += connection.execute(query % ", ".join("?" * len(some)), some).fetchall()
    return found


def sound(rows: Sequence[Sequence[Any]], score: float) -> Iterator[Found]:
    """Rows of PASSAGES as passages with that score, by path and line. Damaged, before any of them
    is given away, where one is not what was written.
    """
    if any(kept != seal(*sealed) for kept, *sealed in rows):
        raise Damaged("a passage is not what was written")
    for _, _, path, kind, *fields, _ in sorted(rows, key=lambda row: (row[2], row[1])):
        yield Found(os.fsdecode(path), kind, Row(*fields), score)


def all_triggers(database: Database) -> list[Trigger]:
    """Every trigger, by keyword, then in the order in which they would fire."""
    rows = database.connection.execute(
        "select keyword, hint, path, line, links from triggers t join files f on f.id = t.file"
        " order by key, path <> cast('TRIGGERS.md' as blob), kind = 'config', path, t.rowid"
    )
    return [
        Trigger(keyword, hint, os.fsdecode(path).removeprefix(APART), line, tuple(links.split()))
        for keyword, hint, path, line, links in rows
    ]


def paths(database: Database, patterns: tuple[str, ...]) -> list[str]:
    """The files that are meant by files, folders and globs, by path."""
    scope = Scope(patterns)
    rows = database.connection.execute("select path from files where kind <> 'config'")
    return sorted(path for (raw,) in rows if scope.means(path := os.fsdecode(raw)))


def numbered(database: Database, number: int) -> list[Found]:
    """The passages with a number (`number_of` their text's hash), by path and line."""
    head = number.to_bytes(6, "big")
    rows = database.connection.execute(
        "select id from passages where hash >= ? and hash < ?", (head, head + b"\xff" * 11)
    )
    found = [passage for (passage,) in rows]
    return list(_load(database.connection, found, 1.0))


def triggers(database: Database, question: str) -> list[Trigger]:
    """The triggers in a question, in its order."""
    lengths = [int(size) for size in database.meta.get("sizes", "").split()]

    def find(keys: list[str]) -> Mapping[str, list[Trigger]]:
        found: dict[str, list[Trigger]] = {}
        for at in range(0, len(keys), _CHUNK):
            some = keys[at : at + _CHUNK]
            marks = ", ".join("?" * len(some))
            for kept, path, key, keyword, hint, links, line in database.connection.execute(
                "select t.seal, path, key, keyword, hint, links, line from triggers t join files f"
                f" on f.id = t.file where key in ({marks})"
                " order by path <> cast('TRIGGERS.md' as blob), kind = 'config', path, t.rowid",
                some,
            ):
                if kept != seal(path, key, keyword, hint, links, line):
                    raise Damaged("a trigger is not what was written")
                trigger = Trigger(
                    keyword, hint, os.fsdecode(path).removeprefix(APART), line, tuple(links.split())
                )
                found.setdefault(key, []).append(trigger)
        return found

    return fired(question, lengths, find)
