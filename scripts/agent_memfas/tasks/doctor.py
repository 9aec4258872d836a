"""Doctor: whether the memory folder and what memfas keeps of it are sound, and how to mend it."""

from __future__ import annotations

import os
import stat
from pathlib import Path

from agent_memfas.errors import FileFault, MemfasError
from agent_memfas.index.audit import compare_with_files, unsound, without_fts5
from agent_memfas.index.database import NoIndex
from agent_memfas.index.inspect import State, state_of
from agent_memfas.index.places import Place
from agent_memfas.index.scope import scope_of
from agent_memfas.store import durable
from agent_memfas.store.places import STATE, lost_triggers
from agent_memfas.text.record import Record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from agent_memfas.index.keeper import Keeper
    from agent_memfas.index.shared import Shared

SHOWN = 20


class Check(Record):
    """One thing that was looked at. found: what is wrong, a line each, [] for nothing. remedy: the
    command or the act that mends it. mends: whether `--fix` does. fixed: whether it did.
    """

    name: str
    found: tuple[str, ...] = ()
    remedy: str = ""
    mends: bool = False
    fixed: bool = False


class Visit(Record):
    """What is to be looked at. deep: build an index beside and compare, row for row.
    triggers_file: absolute, or ""."""

    root: str
    places: tuple[Place, ...]
    sources: tuple[str, ...]
    as_of: int
    deep: bool = False
    tell: Callable[[int, int], None] | None = None
    triggers_file: str = ""


def examine(visit: Visit) -> list[Check]:
    """Look at everything; nothing is changed."""
    state = state_of(visit.root, visit.places, visit.sources)
    return [
        _sqlite(), _folder(visit.root), _settings(visit), _leftovers(visit), _index(state),
        _sound(visit, state), _step(state), _files(state),
        *([_deep(visit, state)] if visit.deep else []),
    ]  # fmt: skip


def mend(visit: Visit, checks: list[Check], keeper: Keeper) -> list[Check]:
    """Build the index anew and remove what dead runs left, where a check asks for it."""
    wanted = [check for check in checks if check.found and check.mends]
    if not wanted:
        return checks
    for place in visit.places:
        if place.ours and os.path.isdir(os.path.dirname(place.path)):
            durable.sweep(Path(place.path).parent)
    try:
        if any(check.name in ("index", "soundness", "row for row") for check in wanted):
            keeper.anew(visit.as_of)
        else:
            keeper.source(visit.as_of)
    except MemfasError as error:
        problem = Check("repair", (error.message,), error.remedy)
        return [*checks, problem]
    after = {check.name: check for check in examine(visit)}
    return [
        Check(c.name, c.found, c.remedy, c.mends, not after[c.name].found) if c in wanted else c
        for c in checks
    ]


def _sqlite() -> Check:
    problem = without_fts5()
    return Check("sqlite", (problem,) if problem else (), "a Python whose sqlite3 has FTS5")


def _folder(root: str) -> Check:
    found = []
    for path in (root, os.path.join(root, STATE)):
        if not os.path.isdir(path):
            continue
        info = os.stat(path)
        if info.st_mode & stat.S_IWOTH and not info.st_mode & stat.S_ISVTX:
            found.append(f"{path} can be written by everybody")
        if info.st_uid not in (os.geteuid(), 0) and os.geteuid() != 0:
            found.append(f"{path} belongs to another user ({info.st_uid})")
        if not os.access(path, os.W_OK):
            found.append(f"{path} cannot be written by this user")
    return Check("folder", tuple(found), f"chmod -R go-w {root}; or run memfas as its owner")


def _settings(visit: Visit) -> Check:
    lost = lost_triggers(visit.triggers_file)
    return Check("settings", (lost,) if lost else (), "make the file, or mend memfas.yaml")


def _leftovers(visit: Visit) -> Check:
    folders = {os.path.dirname(place.path) for place in visit.places if place.ours}
    found = [
        os.path.join(folder, name)
        for folder in sorted(folders) if os.path.isdir(folder)
        for name in sorted(os.listdir(folder))
        if name.endswith(".tmp") and durable.is_left_over(name)
    ]  # fmt: skip
    return Check("leftovers", tuple(found), "memfas doctor --fix", mends=True)


def _index(state: State) -> Check:
    problem = (f"{state.path}: {state.problem}",) if state.problem else ()
    return Check("index", problem, "memfas doctor --fix (or ask anything)", mends=True)


def _sound(visit: Visit, state: State) -> Check:
    """What is wrong inside the index file."""
    found = [] if state.problem else unsound(state.path, visit.root)
    return Check("soundness", _few(found), "memfas doctor --fix", mends=True)


def _step(state: State) -> Check:
    if state.problem:
        return Check("in step")
    found = [f"{path}: changed since it was read" for path in state.behind]
    found += [f"{path}: it is gone" for path in state.gone]
    return Check("in step", _few(found), "memfas index (or ask anything)", mends=True)


def _files(state: State) -> Check:
    found = [f"{skipped.path}: {skipped.reason}" for skipped in state.skipped]
    return Check("files", tuple(found), "mend, move or list them in .memfasignore")


def _deep(visit: Visit, state: State) -> Check:
    """The index against one that is built of the files now."""
    if state.problem:
        return Check("row for row", (state.problem,), "memfas doctor --fix", mends=True)
    scope = scope_of(visit.root, visit.sources)
    try:
        found = compare_with_files(state.path, visit.root, scope, visit.as_of, visit.tell)
    except FileFault as fault:
        found = [fault.message]
    return Check("row for row", _few(found), "memfas doctor --fix", mends=True)


def shared(keeper: Shared) -> Check:
    """The shared index against the index of this machine, passage by passage."""
    name, remedy = "shared index", "memfas index (with search.push), or memfas reindex"
    try:
        found, _ = keeper.differences()
    except (MemfasError, NoIndex) as error:
        return Check(name, (getattr(error, "message", str(error)),), remedy)
    lines = [f"{path}: a passage is not there" for path in found.missing]
    lines += [f"{path}: a passage is there that is not in the file" for path in found.beside]
    return Check(name, _few(list(dict.fromkeys(lines))), remedy)


def _few(found: list[str]) -> tuple[str, ...]:
    more = len(found) - SHOWN
    return (*found[:SHOWN], *([f"and {more} more"] if more > 0 else ()))
