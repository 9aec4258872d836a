"""Several machines by git: sync, and the merge driver that git calls."""

from __future__ import annotations

import os
import shlex
from pathlib import Path
from typing import Annotated, Optional

import typer

from agent_memfas.cli import out
from agent_memfas.cli.brief import agent_of
from agent_memfas.cli.calling import program
from agent_memfas.cli.session import Agent, Config, DryRun, Json, Root, Session, open_up
from agent_memfas.errors import UsageError
from agent_memfas.tasks import merging, sync_setup, syncing

PANEL = "Connect"


def register(app: typer.Typer) -> None:
    """Put these commands into the table."""
    app.command("sync", rich_help_panel=PANEL)(sync)
    app.command("merge-driver", rich_help_panel=PANEL, hidden=True)(merge_driver)


def sync(
    setup: Annotated[
        bool, typer.Option("--setup", help="Tell git how to merge memory files; nothing else.")
    ] = False,
    init: Annotated[
        bool, typer.Option("--init", help="With --setup: make a repository where there is none.")
    ] = False,
    message: Annotated[
        Optional[str],  # noqa: UP045 - typer reads this at run time on Python 3.10
        typer.Option("--message", "-m", metavar="TEXT", help="Of the commit."),
    ] = None,
    agent: Agent = None,
    root: Root = None,
    config: Config = None,
    dry_run: DryRun = False,
    force: Annotated[
        bool,
        typer.Option("--force", help="Go on after a safety stop (a push is never forced)."),
    ] = False,
    json: Json = False,
) -> None:
    """Share the memory by git: commit it, take over what others have, push; never forced."""
    if init and not setup:
        raise UsageError("--init goes with --setup", "memfas sync --setup --init")
    session = open_up(root, config)
    if setup:
        _set_up(session, init=init, dry_run=dry_run, json=json)
        return
    run = session.run("sync")
    plan = syncing.Plan(driver(), _who(agent), (message or "").strip(), dry_run, force)
    report = syncing.run(session.folder, plan, run)
    if json:
        out.data({**vars(report), "notices": run.notices})
        return
    _say(report)
    for notice in run.notices:
        out.tell(notice)


def driver() -> str:
    """What git is to call for a merge: the program that is running now, by its full path."""
    return f"{shlex.join(program()).replace('%', '%%')} merge-driver %O %A %B %P"


def _who(agent: str | None) -> str:
    name = agent_of(agent)
    return f"{os.uname().nodename} by {name}" if name else os.uname().nodename


def _set_up(session: Session, *, init: bool, dry_run: bool, json: bool) -> None:
    run = session.run("sync")
    done = sync_setup.run(session.folder, driver(), run, init=init, dry_run=dry_run)
    if json:
        added = [{"path": path, "line": line} for path, line in done.added]
        out.data({"added": added, "driver": done.driver, "made": done.made,
                  "notices": run.notices, "dry_run": dry_run})  # fmt: skip
        return
    would = "would be " if dry_run else ""
    if done.made:
        out.say(f"a git repository {would}made here")
    for path, line in done.added:
        out.say(f"{path}: {line} {would}added")
    if done.driver:
        out.say(f"git {'would be' if dry_run else 'is'} told to merge memory files by memfas")
    if not (done.added or done.driver or done.made):
        out.say("all is set up already")
    for notice in run.notices:
        out.tell(notice)


def _say(report: syncing.Report) -> None:
    would = "would be " if report.dry_run else ""
    for path in report.committed:
        out.say(f"  {path}")
    out.say(f"{out.count(len(report.committed), 'file')} {would}committed")
    if not report.remote:
        out.say(f"no remote: nothing {would}pushed (git remote add origin URL)")
        return
    if report.dry_run:
        out.say(
            f"{report.remote}: {report.ahead} ahead, {report.behind} behind, as of the last fetch"
        )
        return
    for path in report.received:
        out.say(f"  ← {path}")
    out.say(f"{out.count(len(report.received), 'file')} taken over from {report.remote}, "
            f"{'pushed' if report.pushed else 'nothing to push'}")  # fmt: skip


def merge_driver(
    base: Annotated[Path, typer.Argument(metavar="BASE", help="The common ancestor (%O).")],
    ours: Annotated[Path, typer.Argument(metavar="OURS", help="Gets the result (%A).")],
    theirs: Annotated[Path, typer.Argument(metavar="THEIRS", help="The other version (%B).")],
    path: Annotated[
        str, typer.Argument(metavar="[PATH]", help="The file they are versions of (%P).")
    ] = "",
    json: Json = False,
) -> None:
    """Merge two versions of a memory file as sets of entries: what git calls (sync --setup)."""
    changed = merging.run(base, ours, theirs, path)
    if json:
        out.data({"path": path, "changed": changed})
