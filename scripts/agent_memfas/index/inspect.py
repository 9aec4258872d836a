"""The state of an index as it lies there: nothing is written, read into it or made."""

from __future__ import annotations

import os
import sqlite3

from agent_memfas.index.database import Database, Foreign, NoIndex, open_database
from agent_memfas.index.diff import diff
from agent_memfas.index.places import Place
from agent_memfas.index.scope import scope_of
from agent_memfas.store.listing import Known, Skipped
from agent_memfas.store.sweep import sweep
from agent_memfas.text.record import Record


class State(Record):
    """path, size (bytes): of the index file, or of where it would be. problem: why there is none
    that can be used, or "". files, passages, triggers: how many it holds. behind: files that have
    changed since it was written; gone: those that are no more. written: when the last change was
    read, ns since 1970, 0 for never. seen: text files in the folder.
    """

    path: str
    size: int
    problem: str
    files: int
    passages: int
    triggers: int
    behind: tuple[str, ...]
    gone: tuple[str, ...]
    written: int
    seen: int
    skipped: tuple[Skipped, ...]


def state_of(root: str, places: tuple[Place, ...], sources: tuple[str, ...]) -> State:
    """Look at the first index there is, and at how far it is behind the files."""
    problem, database = "there is no index yet", None
    path = places[0].path if places else ""
    for place in places:
        try:
            database = open_database(place.path, root, ours=place.ours)
        except Foreign:
            continue
        except (NoIndex, sqlite3.Error) as error:
            path, problem = place.path, str(error)
        else:
            path, problem = place.path, ""
        break
    try:
        return _state(root, path, problem, database, sources)
    except sqlite3.Error as error:
        return _state(root, path, str(error), None, sources)
    finally:
        if database is not None:
            database.close()


def _state(
    root: str, path: str, problem: str, database: Database | None, sources: tuple[str, ...]
) -> State:
    scope = scope_of(root, sources)
    known: dict[str, Known] = database.known() if database else {}
    same_scope = database is None or database.meta.get("scope") == scope.fingerprint
    swept = sweep(root, known if same_scope else {}, scope.enters, suffixes=scope.suffixes)
    plan = diff(swept, known if same_scope else {})
    triggers, notes = 0, list[tuple[str, str]]()
    if database:
        triggers = database.connection.execute("select count(*) from triggers").fetchone()[0]
        notes = database.notes()
    skipped = {**{s.path: s.reason for s in swept.skipped}, **dict(notes)}
    return State(
        path, os.path.getsize(path) if os.path.isfile(path) else 0, problem,
        database.count("files") if database else 0,
        database.count("passages") if database else 0, triggers,
        tuple(p for p in plan.examine if scope.wants(p)), tuple(plan.gone),
        int(database.meta.get("as_of", "0")) if database else 0, swept.seen,
        tuple(Skipped(p, skipped[p]) for p in sorted(skipped)),
    )  # fmt: skip
