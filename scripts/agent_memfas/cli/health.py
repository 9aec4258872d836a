"""Commands that look at the state of things: status, doctor."""

from __future__ import annotations

import time
from contextlib import closing
from pathlib import Path
from typing import Annotated

import typer

from agent_memfas.cli import out
from agent_memfas.cli.brief import keeper_for, places_for
from agent_memfas.cli.indexing import look, when
from agent_memfas.cli.session import Config, Json, Root, Session, open_up
from agent_memfas.config.keys import MILVUS
from agent_memfas.errors import MemfasError
from agent_memfas.store import heartbeat
from agent_memfas.tasks import abstracts
from agent_memfas.tasks import doctor as examining

PANEL = "Index"
MOST = 8  # folders that are named in a line


def register(app: typer.Typer) -> None:
    """Put these commands into the table."""
    app.command("status", rich_help_panel=PANEL)(status)
    app.command("doctor", rich_help_panel=PANEL)(doctor)


def status(root: Root = None, config: Config = None, json: Json = False) -> None:
    """Whether the index is in step, and whether a watcher keeps it so; nothing is changed."""
    session = open_up(root, config, forgiving=True)
    state = look(session)
    behind = len(state.behind) + len(state.gone)
    beat = heartbeat.read(
        [Path(p.path).parent for p in places_for(session.root, session.brief) if p.ours]
    )
    unfit = None
    if abstracts.are_kept(session.folder):
        unfit = abstracts.stale(session.folder, time.time_ns())
    if json:
        out.data({
            "root": session.folder.root, "db_path": state.path, "problem": state.problem or None,
            "fresh": not (behind or state.problem), "as_of": when(state.written, session),
            "files_seen": state.seen, "files_indexed": state.files, "memories": state.passages,
            "files_behind": behind, "files_skipped": [vars(s) for s in state.skipped],
            "watcher": vars(beat) if beat else None,
            "abstracts": {"kept": unfit is not None, "stale": unfit or []},
        })  # fmt: skip
        return
    out.say(f"Folder:  {session.folder.root}")
    if state.problem:
        out.say(f"Index:   {state.problem} (the next question makes one)")
    else:
        since = when(state.written, session)
        step = f"behind by {out.count(behind, 'file')}" if behind else "in step"
        held = f"{out.count(state.files, 'file')}, {state.passages} memories"
        out.say(f"Index:   {step}; {held}; last change read {since or 'never'}")
    out.say(f"Watcher: {heartbeat.describe(beat)}")
    out.say(f"Abstracts: {_describe(unfit)}")
    for skipped in state.skipped:
        out.tell(f"{skipped.path}: {skipped.reason}")


def _describe(unfit: list[str] | None) -> str:
    """The abstracts in a line. unfit: folders whose own is stale or missing; None: no abstracts."""
    if unfit is None:
        return "none (memfas abstract writes them)"
    if not unfit:
        return "in step"
    more = f" and {len(unfit) - MOST} more" if len(unfit) > MOST else ""
    named = ", ".join(unfit[:MOST])
    return f"stale or missing in {named}{more} (memfas abstract)"


def doctor(
    deep: Annotated[
        bool, typer.Option("--deep", help="Build an index beside and compare it, row for row.")
    ] = False,
    fix: Annotated[
        bool, typer.Option("--fix", help="Mend what can be mended: only derived files change.")
    ] = False,
    root: Root = None,
    config: Config = None,
    json: Json = False,
) -> None:
    """Look for what is wrong with the folder and the index, and say what mends it."""
    session = open_up(root, config, forgiving=True)
    visit = _visit(session, deep=deep)
    checks = examining.examine(visit)
    if fix:
        tell = out.progress("indexing")
        with closing(keeper_for(session.root, session.brief, wait=10.0, tell=tell)) as keeper:
            checks = examining.mend(visit, checks, keeper)
    if deep and session.settings.backend == MILVUS:
        checks.append(_shared(session))
    wrong = [check for check in checks if check.found and not check.fixed]
    if json:
        out.data({"sound": not wrong, "checks": [vars(check) for check in checks]})
    else:
        for check in checks:
            _print(check)
    if wrong:
        raise typer.Exit(1)


def _visit(session: Session, *, deep: bool) -> examining.Visit:
    brief = session.brief
    return examining.Visit(
        session.root, places_for(session.root, brief), brief.sources, time.time_ns(), deep,
        out.progress("comparing"), brief.triggers_file,
    )  # fmt: skip


def _shared(session: Session) -> examining.Check:
    """The collection that the settings name."""
    from agent_memfas.index.shared import Shared
    from agent_memfas.memory.backing import chosen

    try:
        make = chosen(None, None, session.settings, fetch=False).maker()
        with closing(keeper_for(session.root, session.brief, make=make)) as keeper:
            assert isinstance(keeper, Shared)
            return examining.shared(keeper)
    except MemfasError as error:
        return examining.Check("shared index", (error.message,), error.remedy)


def _print(check: examining.Check) -> None:
    if not check.found:
        out.say(f"✓ {check.name}")
        return
    out.say(f"✓ {check.name}: mended" if check.fixed else f"✗ {check.name}:")
    for line in check.found:
        out.say(f"    {line}")
    if check.remedy and not check.fixed:
        out.say(f"    → {check.remedy}")
