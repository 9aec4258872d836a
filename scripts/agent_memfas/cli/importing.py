"""`memfas import`: what was said to other programs, into the daily logs."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Optional

import typer

from agent_memfas.cli import out
from agent_memfas.cli.session import Agent, Config, DryRun, Json, Root, day, open_up
from agent_memfas.tasks import imports

PANEL = "Connect"
SHOWN = 10  # logs that are named


def register(app: typer.Typer) -> None:
    """Put this command into the table."""
    app.command("import", rich_help_panel=PANEL)(import_)


def import_(
    kind: Annotated[
        str, typer.Argument(metavar="KIND", help="claude-code, chatgpt, openclaw or mem0.")
    ],
    paths: Annotated[
        list[Path],
        typer.Argument(metavar="FILE...", help="Its export, a session file, or a folder of them."),
    ],
    since: Annotated[
        Optional[str],  # noqa: UP045 - typer reads this at run time on Python 3.10
        typer.Option("--since", metavar="DAY", help="Only from this day (YYYY-MM-DD) on."),
    ] = None,
    dry_run: DryRun = False,
    agent: Agent = None,
    root: Root = None,
    config: Config = None,
    json: Json = False,
) -> None:
    """Append what was said elsewhere to the logs of its days; what is there already is left out."""
    session = open_up(root, config)
    run = session.run("import")
    wanted = imports.Wanted(kind, tuple(paths), session.settings.timezone, day("--since", since))
    progress = out.progress("importing") if not (dry_run or json) else None
    report = imports.run(
        session.folder, wanted, run, session.rights(agent), dry_run=dry_run, tell=progress
    )
    if json:
        out.data({
            **{name: value for name, value in vars(report).items() if name not in ("logs", "left")},
            "added": report.added, "logs": [vars(one) for one in report.logs],
            "left": [{"path": path, "why": why} for path, why in report.left],
            "pass": "" if dry_run or not report.added else run.id, "notices": run.notices,
        })  # fmt: skip
        return
    _say(report)
    for notice in run.notices:
        out.tell(notice)


def _say(report: imports.Report) -> None:
    verb = "would be added" if report.dry_run else "added"
    for one in report.logs[:SHOWN]:
        out.say(f"  {one.path}: {out.count(one.messages, 'message')}")
    if len(report.logs) > SHOWN:
        out.say(f"  and {out.count(len(report.logs) - SHOWN, 'log')} more")
    told = [f"{out.count(report.added, 'message')} {verb} to {out.count(len(report.logs), 'log')}"]
    told += [f"{report.already} were there already"] if report.already else []
    out.say("; ".join(told))
    if report.secrets:
        out.tell(f"{out.count(report.secrets, 'secret')} masked")
    if report.undated:
        out.tell(f"{out.count(report.undated, 'message')} without a time left out")
    for path, why in report.left:
        out.tell(f"{path} left out: {why}")
    if report.added and not report.dry_run:
        out.say("memfas undo takes it back")
