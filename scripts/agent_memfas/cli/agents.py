"""Commands about several agents in one memory: blame, forget-agent; what the janitor folds in."""

from __future__ import annotations

from typing import Annotated

import typer

from agent_memfas.cli import out
from agent_memfas.cli.session import (
    Config,
    DryRun,
    Json,
    Root,
    Session,
    from_here,
    open_up,
    place_and_line,
)
from agent_memfas.errors import NothingFound
from agent_memfas.store.inbox import SHARED
from agent_memfas.tasks import blame as blaming
from agent_memfas.tasks import forgetting, sharing
from agent_memfas.text.marks import without_comments

PANEL = "Tend"


def register(app: typer.Typer) -> None:
    """Put these commands into the table."""
    app.command("blame", rich_help_panel=PANEL)(blame)
    app.command("forget-agent", rich_help_panel=PANEL)(forget_agent)


def fold_in(session: Session, *, dry_run: bool) -> sharing.Report:
    """Take over what waits in the inboxes of shared/."""
    run = session.run("fold", patient=not dry_run)
    return sharing.run(session.folder, session.settings.rights, run, dry_run=dry_run)


def say_folded(report: sharing.Report, *, dry_run: bool) -> None:
    """What was taken over, and what stays for a person to look at."""
    for one in report.folded:
        verb = "would go to" if dry_run else "→"
        place = SHARED if dry_run else f"{SHARED}:{one.line}"
        text = without_comments(one.text).strip()
        out.say(f"  📥 {one.agent}: {out.shown(text)} {verb} {place}")
    for path, why in report.left:
        out.tell(f"⚠️ {path} stays in its inbox: {why}")


def blame(
    place: Annotated[
        str, typer.Argument(metavar="PATH[:LINE]", help="A file, or the entry at a line of it.")
    ],
    root: Root = None,
    config: Config = None,
    json: Json = False,
) -> None:
    """Who wrote each entry of a file: an agent by its signature, or what appended it."""
    path, line = place, 0
    if place.rpartition(":")[2].isdigit() and ":" in place:
        path, line = place_and_line(place)
    session = open_up(root, config, near=path, forgiving=True)
    found = blaming.run(session.folder, from_here(session, path), line)
    if json:
        out.data({"path": path, "statements": [vars(one) for one in found]})
        return
    for one in found:
        by = one.author or (f"({one.command} {one.time[:16]})" if one.command else "(by hand)")
        out.say(f"{path}:{one.start_line}  {by}  {out.shown(one.text)}")
    if not found:
        raise NothingFound(f"{path}: it holds no entry and no item")


def forget_agent(
    name: Annotated[str, typer.Argument(metavar="NAME", help="The agent's name.")],
    dry_run: DryRun = False,
    root: Root = None,
    config: Config = None,
    json: Json = False,
) -> None:
    """Move all that an agent has signed to the archive; memfas undo brings it back."""
    session = open_up(root, config)
    run = session.run("forget-agent", patient=not dry_run)
    report = forgetting.run(session.folder, name, run, dry_run=dry_run)
    if json:
        out.data({"agent": name, "gone": [vars(one) for one in report.gone],
                  "left": [{"path": p, "why": why} for p, why in report.left],
                  "notices": run.notices, "dry_run": dry_run})  # fmt: skip
    else:
        for one in report.gone:
            out.say(f"{one.path}:{one.start_line}  {out.shown(one.text)}")
        verb = "would leave" if dry_run else "left"
        out.say(f"{out.count(len(report.gone), 'statement')} by {name} {verb}")
        for path, why in report.left:
            out.tell(f"{path}: left alone: {why}")
        for notice in run.notices:
            out.tell(notice)
    if not report.gone or report.left:
        raise typer.Exit(1)
