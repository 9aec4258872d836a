"""What an index holds, as rows that can be compared; and what is wrong with one."""

from __future__ import annotations

import os
import sqlite3
from contextlib import closing
from itertools import zip_longest
from pathlib import Path

from agent_memfas.index.database import CONFIG, IDENTITY, Database, NoIndex, open_database
from agent_memfas.index.rebuild import fill
from agent_memfas.index.records import digest
from agent_memfas.index.schema import create
from agent_memfas.index.scope import Scope
from agent_memfas.store import durable
from agent_memfas.text.record import Record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any

COUNTED = ("files", "passages", "scope", *IDENTITY)


class Contents(Record):
    """All that an index holds, without the numbers that depend on the order of writing.

    files: path -> (kind, hash, note). passages: path -> their columns, in order. triggers: path ->
    their columns. postings: (path, n-th passage) -> its terms, in order. counts: of the meta rows.
    """

    files: dict[str, tuple[Any, ...]]
    passages: dict[str, list[tuple[Any, ...]]]
    triggers: dict[str, list[tuple[Any, ...]]]
    postings: dict[tuple[str, int], list[str]]
    counts: dict[str, str]


def contents(database: Database) -> Contents:
    """Read it all. sqlite3.Error where it is damaged."""
    connection = database.connection
    paths = {n: os.fsdecode(path) for n, path in connection.execute("select id, path from files")}
    files = {
        os.fsdecode(path): tuple(row)
        for path, *row in connection.execute(
            "select path, kind, hash, note from files where kind <> ?", (CONFIG,)
        )
    }
    passages: dict[str, list[tuple[Any, ...]]] = {}
    place: dict[int, tuple[str, int]] = {}
    for n, file, *row in connection.execute(
        "select id, file, start, end, heading, day, priority, dated, expires, superseded, text,"
        " hash from passages order by file, place"
    ):
        path = paths.get(file, f"a file that is not there ({file})")
        rows = passages.setdefault(path, [])
        place[n] = (path, len(rows))
        rows.append(tuple(row))
    triggers: dict[str, list[tuple[Any, ...]]] = {}
    for file, *row in connection.execute(
        "select file, key, size, keyword, hint, links, line from triggers"
        " where file not in (select id from files where kind = ?) order by rowid",
        (CONFIG,),
    ):
        triggers.setdefault(paths.get(file, "?"), []).append(tuple(row))
    counts = {key: str(database.meta.get(key, "")) for key in COUNTED}
    return Contents(files, passages, triggers, _postings(connection, place), counts)


def _postings(
    connection: sqlite3.Connection, place: dict[int, tuple[str, int]]
) -> dict[tuple[str, int], list[str]]:
    """The terms that FTS5 holds of each passage, in order."""
    connection.execute("drop table if exists temp.instances")
    connection.execute(
        "create virtual table temp.instances using fts5vocab('main', 'words', 'instance')"
    )
    found: dict[int, list[tuple[int, str]]] = {}
    for term, passage, offset in connection.execute("select term, doc, offset from instances"):
        found.setdefault(passage, []).append((offset, term))
    connection.execute("drop table temp.instances")
    nowhere = ("a passage that is not there", 0)
    return {
        place.get(passage, (nowhere[0], passage)): [term for _, term in sorted(terms)]
        for passage, terms in found.items()
    }


def differences(one: Contents, other: Contents) -> Iterator[str]:
    """What is in one and not the same in the other, a line each; nothing where they are equal."""
    for name in vars(one):
        left, right = getattr(one, name), getattr(other, name)
        for key in sorted(left.keys() | right.keys(), key=str):
            if (a := left.get(key)) == (b := right.get(key)):
                continue
            at = ""
            if isinstance(a, list) and isinstance(b, list):
                pairs = zip_longest(a, b)
                n, (a, b) = next((n, p) for n, p in enumerate(pairs) if p[0] != p[1])
                at = f"[{n}]"
            yield f"{name} of {key}{at}: {_cut(a)} and not {_cut(b)}"


def _cut(value: object) -> str:
    return repr(value)[:120]


def compare_with_files(
    path: str,
    root: str,
    scope: Scope,
    as_of: int,
    tell: Callable[[int, int], None] | None = None,
) -> list[str]:
    """Build an index of the files beside this one and tell what is not the same, row for row."""
    temporary = durable.empty_beside(Path(path))
    try:
        with closing(open_database(path, root, ours=True)) as database:
            held = contents(database)
        with closing(create(str(temporary), root)) as fresh:
            fill(fresh, root, scope, as_of, tell)
            return list(differences(held, contents(fresh)))
    except (sqlite3.Error, NoIndex) as error:
        return [str(error)]
    finally:
        durable.discard(temporary)


def unsound(path: str, root: str) -> list[str]:
    """What SQLite, FTS5 and the hashes of the rows say is wrong with an index; [] for nothing."""
    try:
        with closing(open_database(path, root, ours=True)) as database:
            return _unsound(database)
    except (sqlite3.Error, NoIndex) as error:
        return [str(error)]


def without_fts5() -> str:
    """Why this Python's SQLite cannot hold an index, or ""."""
    try:
        with closing(sqlite3.connect(":memory:")) as connection:
            connection.execute("create virtual table t using fts5(x)")
    except sqlite3.Error as error:
        return f"SQLite {sqlite3.sqlite_version} has no FTS5 ({error}): the files are searched"
    return ""


def _unsound(database: Database) -> list[str]:
    found = []
    for (line,) in database.connection.execute("pragma integrity_check(20)"):
        if line != "ok":
            found.append(f"SQLite: {line}")
    try:
        database.connection.execute("insert into words(words) values('integrity-check')")
    except sqlite3.OperationalError as error:
        if "readonly" not in str(error):
            found.append(f"FTS5: {error}")
    except sqlite3.DatabaseError as error:
        found.append(f"FTS5: {error}")
    rows = database.connection.execute("select id, text, hash from passages")
    found += [f"passage {n}: its text is not what was written"
              for n, text, kept in rows if digest(text) != kept]  # fmt: skip
    counted = database.connection.execute("select count(*) from passages").fetchone()[0]
    if counted != database.count("passages"):
        found.append(f"{counted} passages where {database.count('passages')} were counted")
    return found
