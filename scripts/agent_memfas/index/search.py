"""Questions to the index: BM25 in SQL, over the terms that tell the most."""

from __future__ import annotations

import os
from itertools import groupby
from math import log

from agent_memfas.index.database import APART, Damaged
from agent_memfas.index.rows import COLUMNS, Found, Row, seal
from agent_memfas.index.scope import Scope
from agent_memfas.text.firing import Trigger, fired
from agent_memfas.text.words import query_terms

TYPE_CHECKING = False
if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterator, Mapping, Sequence
    from typing import Any

    from agent_memfas.index.database import Database

K1, B = 1.2, 0.75  # FTS5's own, which its bm25() does not let one change
SUPERSEDED_SHARE = 0.5
POSTINGS = 4_000  # rows that a question scores before its commonest terms only rank the rest
POOL = 4_000  # passages that those terms rank
_CHUNK = 100
PASSAGES = (
    f"select p.seal, p.place, f.path, f.kind, {COLUMNS}, p.hash"
    " from passages p join files f on f.id = p.file"
)


def idf(documents: int, holding: int) -> float:
    """ln((N + 1) / (n + 0.5)): never negative, and of use in a store of three notes, where the
    idf of Robertson and Spärck Jones, ln((N - n + 0.5) / (n + 0.5)), is about 0.
    """
    return log((documents + 1) / (holding + 0.5))


def ranked(database: Database, question: str) -> Iterator[Found]:
    """Every passage that shares a term with the question, best first, as far as it is asked for.

    Those with all its words come before the others; a superseded one counts half, and as one of
    the others, so that its successor stands above it.
    """
    scored = scores(database.connection, database.count("passages"), question)
    late: list[Found] = []
    for (whole, score), group in groupby(scored, key=lambda row: (row[0], round(row[1], 9))):
        while not whole and late and late[0].score >= score:
            yield late.pop(0)
        passages = [passage for _, _, passage in group]
        for found in _load(database.connection, passages, score, whole):
            if found.row.superseded:
                share = found.score * SUPERSEDED_SHARE
                late.append(Found(found.path, found.kind, found.row, share))
                late.sort(key=lambda found: -found.score)
            else:
                yield found
    yield from late


def scores(
    connection: sqlite3.Connection, documents: int, question: str
) -> Iterator[tuple[bool, float, int]]:
    """(whether it has all the terms, score, row) of each of so many documents in the table `words`
    that shares a term with the question, best first.

    Robertson and Zaragoza, "The Probabilistic Relevance Framework: BM25 and Beyond" (2009); the
    score, 0 to 1, is the sum as a share of what a text would get that holds every term very often;
    terms that stand in no document do not count.
    """
    asked = query_terms(question)
    if not asked or not documents:
        return
    holding = _holding_of(connection, asked)
    present = sorted(((n, term) for term, n in holding.items()), key=lambda pair: pair[0])
    if not present:
        return
    most = (K1 + 1) * sum(idf(documents, n) for n, _ in present)
    for whole, score, row in _summed(connection, documents, present, len(asked)):
        yield whole, min(score / most, 1.0), row


def _holding_of(connection: sqlite3.Connection, asked: list[str]) -> dict[str, int]:
    """How many passages hold each term; terms that none holds are left out."""
    found: dict[str, int] = {}
    for term in asked:
        row = connection.execute("select doc from vocabulary where term = ?", (term,)).fetchone()
        if row:
            found[term] = row[0]
    return found


def _summed(
    connection: sqlite3.Connection, documents: int, present: Sequence[tuple[int, str]], all_: int
) -> Iterator[tuple[bool, float, int]]:
    """(whether it has all the terms, BM25 sum, passage), best first.

    FTS5 scores each posting at about 1.2 us. The rarest terms decide who is in; where the
    commonest would cost more than POSTINGS allows they only rank the best of those.
    """
    rare, total = 0, 0
    for holding, _ in present:
        if rare and total + holding > POSTINGS:
            break
        rare, total = rare + 1, total + holding
    parts, values = [], list[object]()
    for holding, term in present[:rare]:
        parts.append("select rowid as passage, rank * ? as score, rank as raw from words(?)")
        values += [-idf(documents, holding) / _fts5_idf(documents, holding), quoted(term)]
    common = present[rare:]
    rows = connection.execute(
        "select passage, sum(score) as sum, count(*) as terms, sum(raw)"
        f" from ({' union all '.join(parts)}) group by passage"
        " order by terms >= ? desc, sum desc",
        (*values, all_ - len(common)),
    )
    if not common:
        for passage, score, terms, _ in rows:
            yield terms >= all_, score, passage
        return
    pool = {passage: [score, terms, raw] for passage, score, terms, raw in rows.fetchmany(POOL)}
    some = " OR ".join(quoted(term) for _, term in present[:rare])
    for holding, term in common:
        weight = -idf(documents, holding) / _fts5_idf(documents, holding)
        for passage, raw in connection.execute(
            "select rowid, rank from words(?)", (f"{quoted(term)} AND ({some})",)
        ):
            if (row := pool.get(passage)) is not None:
                # rank sums over all the phrases, the rare ones too: what is more is the term's own.
                row[0] += weight * (raw - row[2])
                row[1] += 1
    yield from sorted(
        ((terms >= all_, score, passage) for passage, (score, terms, _) in pool.items()),
        reverse=True,
    )
    for passage, score, terms, _ in rows:  # whoever asks for so many, as a narrow filter does
        yield terms >= all_, score, passage


def _fts5_idf(documents: int, holding: int) -> float:
    """The idf that FTS5's bm25() multiplies with, to be divided out (sqlite.org/fts5.html)."""
    return max(log((documents - holding + 0.5) / (holding + 0.5)), 1e-6)


def quoted(term: str) -> str:
    """A term as an FTS5 string, whatever it holds."""
    return '"' + term.replace('"', '""') + '"'


def _load(
    connection: sqlite3.Connection, passages: list[int], score: float, whole: bool = False
) -> Iterator[Found]:
    """Passages of one score, by path and line."""
    found = []
    for at in range(0, len(passages), _CHUNK):
        some = passages[at : at + _CHUNK]
        marks = ", ".join("?" * len(some))
        found += connection.execute(f"{PASSAGES} where p.id in ({marks})", some).fetchall()
    if len(found) < len(passages) and connection.in_transaction:
        raise Damaged("passages are missing")
    yield from sound(found, score, whole)


def sound(rows: Sequence[tuple[Any, ...]], score: float, whole: bool = False) -> Iterator[Found]:
    """Rows of PASSAGES as passages with that score, by path and line. Damaged, before any of them
    is given away, where one is not what was written.
    """
    if any(kept != seal(*sealed) for kept, *sealed in rows):
        raise Damaged("a passage is not what was written")
    for _, _, path, kind, *fields, _ in sorted(rows, key=lambda row: (row[2], row[1])):
        yield Found(os.fsdecode(path), kind, Row(*fields), score, whole)


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
