"""Commands that look back: undo, restore, history."""

from __future__ import annotations

import sys
from typing import Annotated, Optional

import typer

from agent_memfas.cli import out
from agent_memfas.cli.session import Config, DryRun, Json, Root, open_up, place_and_line
from agent_memfas.errors import UsageError
from agent_memfas.tasks import restore as restoring
from agent_memfas.tasks import undo as undoing
from agent_memfas.tasks import versions

PANEL = "Tend"
WAIT = 10.0


def register(app: typer.Typer) -> None:
    """Put these commands into the table."""
    app.command("undo", rich_help_panel=PANEL)(undo)
    app.command("restore", rich_help_panel=PANEL)(restore)
    app.command("history", rich_help_panel=PANEL)(history)


def undo(
    pass_id: Annotated[
        str, typer.Argument(metavar="[PASS]", help="Which pass (else the last one).")
    ] = "",
    root: Root = None,
    config: Config = None,
    dry_run: DryRun = False,
    json: Json = False,
) -> None:
    """Take a pass back: the last one, or the named one (memfas history lists them)."""
    session = open_up(root, config)
    run = session.run("undo")
    done = undoing.run(session.folder, pass_id, run, dry_run=dry_run)
    if json:
        changes = [{"path": p, "lines_back": b, "lines_gone": g} for p, b, g in done.changes]
        out.data({
            "pass": done.pass_id, "command": done.command, "time": done.time,
            "changes": changes, "notices": run.notices, "dry_run": dry_run,
        })  # fmt: skip
        return
    would = "[DRY RUN] would undo" if dry_run else "✓ Undid"
    out.say(f"{would}: {done.command} of {done.time} (pass {done.pass_id})")
    for path, back, gone in done.changes:
        out.say(f"  {path}: {out.count(back, 'line')} back, {out.count(gone, 'line')} gone")
    for notice in run.notices:
        out.tell(notice)


def restore(
    place: Annotated[str, typer.Argument(metavar="PATH:LINE", help="An entry in an archive file.")],
    root: Root = None,
    config: Config = None,
    dry_run: DryRun = False,
    json: Json = False,
) -> None:
    """Bring an archived entry back to where it was, whole."""
    path, line = place_and_line(place)
    session = open_up(root, config, near=path)
    run = session.run("restore")
    done = restoring.run(session.folder, path, line, run, dry_run=dry_run)
    if json:
        out.data(done)
        return
    would = "[DRY RUN] would restore to" if dry_run else "✓ Restored to"
    out.say(f"{would} {done.path}:{done.start_line}: {done.text}")
    if done.by == "end":
        out.tell("its old place is gone: it stands at the end of the file")
    out.tell(
        "the janitor moves it again unless it gets a new term: "
        f"memfas renew {done.path}:{done.start_line}"
    )
    for notice in run.notices:
        out.tell(notice)


def history(
    file: Annotated[str, typer.Argument(metavar="[FILE]", help="Which file (else all).")] = "",
    show: Annotated[
        Optional[str],  # noqa: UP045 - typer reads this at run time on Python 3.10
        typer.Option(
            "--show", metavar="PASS", help="Print the file's bytes as this pass left them."
        ),
    ] = None,
    before: Annotated[
        bool, typer.Option("--before", help="With --show: as the pass found them.")
    ] = False,
    root: Root = None,
    config: Config = None,
    json: Json = False,
) -> None:
    """The kept versions of a file, and lines that vanished without an archive record."""
    session = open_up(root, config, near=file)
    if show is not None:
        if not file:
            raise UsageError("--show needs a FILE", "memfas history MEMORY.md --show PASS")
        sys.stdout.flush()
        sys.stdout.buffer.write(versions.show(session.folder, file, show, before=before))
        return
    steps = versions.run(session.folder, file)
    if json:
        out.data({"versions": [
            {"pass": s.pass_id, "time": s.time, "command": s.command, "path": s.path,
             "added": s.added, "removed": s.removed, "vanished": s.vanished} for s in steps
        ]})  # fmt: skip
        return
    for step in steps:
        size = f"+{step.added} -{step.removed}"
        out.say(f"{step.time}  {step.pass_id}  {step.path}  {size}  {step.command}")
        for line in step.vanished:
            out.say(f"    vanished, not in the archive: {line[:120]}")
