"""Vectors outlive the index that they stand in: making them anew may take hours, or cost money."""

from __future__ import annotations

import os
import sqlite3

from agent_memfas.index.database import connect
from agent_memfas.index.schema import set_meta


def carry(old: str, connection: sqlite3.Connection) -> None:
    """Take over the vectors of an index that is built anew, as far as they can be read."""
    if not os.path.isfile(old):  # a pipe of that name would wait for somebody to write
        return
    try:
        before = connect(old, "ro")
    except sqlite3.Error:
        return
    try:
        kept = before.execute(
            "select key, value from meta where key in ('model', 'dimension')"
        ).fetchall()
        rows = before.execute("select hash, vector from vectors").fetchall()
    except sqlite3.Error:
        return
    finally:
        before.close()
    if len(kept) == 2:
        connection.executemany("insert or replace into vectors values(?, ?)", rows)
        set_meta(connection, kept)
