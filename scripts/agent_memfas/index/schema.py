"""The tables of the index file.

meta       what it was made by and of; whatever differs makes it outdated
folders    the listing of each folder as it was when its files were last read
files      one row a file: kind, hash of its bytes, what is amiss
passages   the pieces of the files, with their lines and dates
words      FTS5 over the terms of text/words; contentless: the passages hold the text
triggers   keywords by their words
vectors    of texts, by the hash of the text; meta says of which model

A row that is shown has a seal, by which it is known that it is what was written.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable

from agent_memfas.index.database import APPLICATION, IDENTITY, Database, named

WORDS = """
create virtual table if not exists words using fts5(
  terms, content='', tokenize="ascii tokenchars '._-+#&''/\\@:'");
create virtual table if not exists vocabulary using fts5vocab(words, row);
"""
TABLES = f"""
create table meta(key text primary key, value) without rowid;
create table folders(
  path blob primary key, names blob, numbers blob, entered integer, latest integer);
create table files(id integer primary key, path blob unique, kind text, hash blob, note text);
create index noted on files(note) where note <> '';
create table passages(
  id integer primary key, file integer, place integer, start integer, end integer, heading text,
  day text, priority text, dated text, expires text, superseded text, speaker text, opens integer,
  asks integer, text text, hash blob, section integer, seal integer);
create index passages_of on passages(file, place, section);
create index passages_in on passages(section);
create index passages_by_hash on passages(hash);
create table triggers(
  key text, size integer, keyword text, hint text, links text, file integer, line integer,
  seal integer);
create index triggers_by_key on triggers(key);
create index triggers_of on triggers(file);
create table vectors(hash blob primary key, vector blob);
{WORDS}"""


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


def set_meta(connection: sqlite3.Connection, pairs: Iterable[tuple[str, object]]) -> None:
    """Write meta rows."""
    connection.executemany("insert or replace into meta values(?, ?)", pairs)
