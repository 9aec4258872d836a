"""Commands for the index: index, reindex, clear, stats, status."""

from __future__ import annotations

import os
import sys
import time
from datetime import datetime
from pathlib import Path
from typing import Annotated, Optional

import typer

from agent_memfas.cli import out
from agent_memfas.cli.brief import keeper_for, places_for
from agent_memfas.cli.session import Config, Json, Root, Session, from_here, open_up
from agent_memfas.errors import FileFault, UsageError
from agent_memfas.index.inspect import State, state_of
from agent_memfas.index.keeper import Keeper
from agent_memfas.index.scope import scope_of
from agent_memfas.index.writer import throw_away
from agent_memfas.store.listing import TEXT_SUFFIXES

PANEL = "Index"
PATIENCE = 10.0  # seconds for another process that is writing the index
BACKENDS = ("fts5",)
PARTLY = ("not UTF-8", "only the first")  # what is said of a file that is indexed all the same
Yes = Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")]


def register(app: typer.Typer) -> None:
    """Put these commands into the table."""
    app.command("index", rich_help_panel=PANEL)(index)
    app.command("reindex", rich_help_panel=PANEL)(reindex)
    app.command("clear", rich_help_panel=PANEL)(clear)
    app.command("stats", rich_help_panel=PANEL)(stats)


def keeper(session: Session) -> Keeper:
    """The index of this folder, with some patience for another process that is writing."""
    return keeper_for(session.root, session.brief, wait=PATIENCE, tell=out.progress("indexing"))


def index(
    paths: Annotated[
        Optional[list[str]],  # noqa: UP045 - typer reads this at run time on Python 3.10
        typer.Argument(metavar="[PATHS...]", help="Files or folders (else whatever has changed)."),
    ] = None,
    watch: Annotated[
        bool, typer.Option("--watch", help="Go on until stopped, as `memfas watch` does.")
    ] = False,
    once: Annotated[
        bool, typer.Option("--once", help="Compare every file by its bytes, once (for cron).")
    ] = False,
    root: Root = None,
    config: Config = None,
    json: Json = False,
) -> None:
    """Read what has changed into the index; files named are read again in any case."""
    if paths and (watch or once):
        raise UsageError("--watch and --once look at the whole folder", "leave out the paths")
    if watch or once:
        from agent_memfas.cli.watching import run_watch

        run_watch(root, config, once=once, poll=False, json=json)
        return
    session = open_up(root, config, near=paths[0] if paths else "")
    wanted, failed = _wanted(session, paths or [])
    kept = keeper(session)
    kept.suspect(set(wanted))
    state = kept.source(time.time_ns()).freshness
    reasons = {skipped.path: skipped.reason for skipped in state.skipped}
    unread = {path for path, reason in reasons.items() if not reason.startswith(PARTLY)}
    failed += [(path, reasons[path]) for path in wanted if path in unread]
    done = [path for path in wanted if path not in unread]
    if json:
        out.data({"indexed": done, "failed": [{"path": p, "reason": r} for p, r in failed],
                  "files": state.indexed, "files_read": state.read,
                  "files_skipped": [vars(s) for s in state.skipped]})  # fmt: skip
    else:
        _print_indexed(done, failed, named=bool(paths))
        read = out.count(state.read, "file")
        out.say(f"{out.count(state.indexed, 'file')} in the index, {read} read now")
        for skipped in state.skipped:
            if paths and (skipped.path in unread or skipped.path not in done):
                continue
            out.tell(f"{skipped.path}: {skipped.reason}")
    if failed:
        raise typer.Exit(1)


def _wanted(session: Session, names: list[str]) -> tuple[list[str], list[tuple[str, str]]]:
    """The files that were named, folders taken apart; and what cannot be indexed, with why."""
    folder = session.folder
    scope = scope_of(session.root, session.brief.sources)
    wanted, failed = dict[str, None](), list[tuple[str, str]]()
    for name in names:
        try:
            place = Path(os.path.realpath(folder.root / from_here(session, name)))
            path = "" if place == folder.root else folder.relative(folder.place(str(place)))
        except UsageError as error:
            failed.append((name, error.message))
            continue
        if not place.exists():
            failed.append((name, "not found"))
        elif place.is_dir():
            from agent_memfas.store.files import walk

            inside = [p for p in walk(folder).files if not path or p.startswith(f"{path}/")]
            wanted.update(dict.fromkeys(p for p in inside if scope.wants(p)))
        elif not path.lower().endswith(TEXT_SUFFIXES):
            failed.append((name, f"not a text file: {', '.join(TEXT_SUFFIXES)}"))
        elif not scope.wants(path):
            failed.append((name, "left out by .memfasignore or by `sources` in memfas.yaml"))
        else:
            wanted[path] = None
    return list(wanted), failed


def _print_indexed(done: list[str], failed: list[tuple[str, str]], *, named: bool) -> None:
    for path in done if named else ():
        out.say(f"✓ Indexed: {path}")
    for path, reason in failed:
        out.say(f"✗ Not found: {path}" if reason == "not found" else f"✗ Failed: {path} ({reason})")


def reindex(
    backend: Annotated[
        str, typer.Option("--backend", "-b", metavar="NAME", help="fts5 (SQLite's full text).")
    ] = "fts5",
    yes: Annotated[  # noqa: ARG001 - scripts written for agent-memfas give it
        bool, typer.Option("--yes", "-y", help="Nothing is asked here: the files are the truth.")
    ] = False,
    root: Root = None,
    config: Config = None,
    json: Json = False,
) -> None:
    """Build the index anew from the files; the old one answers until the new one is there."""
    if backend not in BACKENDS:
        raise UsageError(f"--backend {backend}: no such backend", f"one of {', '.join(BACKENDS)}")
    session = open_up(root, config)
    before = look(session)
    if not json:
        out.say(f"Current: {backend} with {before.passages} memories")
        out.say(f"Target: {backend}")
        out.say("Re-indexing...")
    kept = keeper(session)
    database = kept.anew(time.time_ns()).database
    files, memories = database.count("files"), database.count("passages")
    if json:
        out.data({"backend": backend, "files": files, "memories": memories,
                  "memories_before": before.passages, "db_path": database.path})  # fmt: skip
    else:
        out.say(f"✓ Migrated to {backend}: {memories} memories")


def clear(yes: Yes = False, root: Root = None, config: Config = None, json: Json = False) -> None:
    """Delete the index; the files stay, and the next question indexes them again."""
    session = open_up(root, config)
    state = look(session)
    if not yes:
        if sys.stdin is None or not sys.stdin.isatty():
            raise UsageError("clear asks before it deletes, and nobody can answer", "add -y")
        question = f"This deletes the index ({state.passages} memories); the files stay. Continue?"
        if not typer.confirm(question, default=False):
            raise typer.Exit(1)
    for place in places_for(session.root, session.brief):
        if place.ours or not state.problem:
            throw_away(place.path, ours=place.ours, root=session.root, wait=PATIENCE)
    if json:
        out.data({"cleared": state.passages, "db_path": state.path})
    else:
        out.say("✓ Cleared all memories from the index; the files are as they were.")


def stats(root: Root = None, config: Config = None, json: Json = False) -> None:
    """How much there is: database, backend, memories, triggers."""
    session = open_up(root, config)
    kept = keeper(session)
    problem = ""
    try:
        kept.source(time.time_ns())
    except FileFault as error:
        problem = error.message
    state = look(session)
    if json:
        out.data({
            "db_path": state.path, "backend": BACKENDS[0], "memories": state.passages,
            "triggers": state.triggers, "files": state.files, "bytes": state.size,
        })  # fmt: skip
        return
    out.say(f"Database: {state.path}")
    out.say(f"Backend:  {BACKENDS[0]}")
    out.say(f"Memories: {state.passages} in {out.count(state.files, 'file')}")
    out.say(f"Triggers: {state.triggers}")
    out.say(f"Size:     {state.size / 1e6:.1f} MB")
    if problem:
        out.tell(problem)


def look(session: Session) -> State:
    """The index as it lies there."""
    brief = session.brief
    return state_of(session.root, places_for(session.root, brief), brief.sources)


def when(ns: int, session: Session) -> str | None:
    """A time of the index as ISO in the user's zone; None for never."""
    if not ns:
        return None
    return datetime.fromtimestamp(ns / 1e9, session.now.tzinfo).isoformat(timespec="seconds")
