"""Commands on insights that there are: verify, promote."""

from __future__ import annotations

from typing import Annotated, Optional

import typer

from agent_memfas.cli import out
from agent_memfas.cli.session import (
    Config,
    DryRun,
    Json,
    Root,
    Today,
    from_here,
    open_up,
    place_and_line,
)
from agent_memfas.errors import UsageError
from agent_memfas.tasks import promote as promoting
from agent_memfas.tasks import verify as verifying

PANEL = "Tend"


def register(app: typer.Typer) -> None:
    """Put these commands into the table."""
    app.command("verify", rich_help_panel=PANEL)(verify)
    app.command("promote", rich_help_panel=PANEL)(promote)


def verify(
    root: Root = None,
    config: Config = None,
    today: Today = None,
    dry_run: DryRun = False,
    json: Json = False,
) -> None:
    """Check that the words of each insight still stand where it says; label those that do not."""
    session = open_up(root, config, today)
    run = session.run("verify")
    report = verifying.run(session.folder, run, dry_run=dry_run)
    states = (verifying.STANDS, verifying.MOVED, verifying.STALE, verifying.GONE)
    if json:
        out.data({
            "insights": [vars(each) for each in report.checked],
            "counts": {state: report.count(state) for state in states},
            "changed": report.changed, "dry_run": dry_run,
            "errors": [{"error": f.message, "remedy": f.remedy} for f in report.faults],
        })  # fmt: skip
    else:
        _print_checked(report, dry_run=dry_run)
    for notice in run.notices:
        out.tell(notice)
    for fault in report.faults:
        out.error(fault, as_data=False)
    if report.faults or report.count(verifying.STALE):
        raise typer.Exit(1)


def _print_checked(report: verifying.Report, *, dry_run: bool) -> None:
    told = {
        verifying.MOVED: "its words stand elsewhere now:",
        verifying.STALE: "stale, its words are not there any more:",
        verifying.GONE: "cannot be checked, its log is not there any more:",
    }
    for each in report.checked:
        if each.state in told:
            now = f" → {each.now}" if each.now else ""
            out.say(f"{each.path}:{each.line}: {told[each.state]} {each.cite}{now}")
            out.say(f"    {each.text}")
    if dry_run:
        out.say("[DRY RUN] No changes made.")
    counts = ", ".join(
        f"{report.count(state)} {state}" for state in ("stands", "moved", "stale", "gone")
    )
    out.say(f"{out.count(len(report.checked), 'insight')}: {counts}")


def promote(
    place: Annotated[
        Optional[str],  # noqa: UP045 - typer reads this at run time on Python 3.10
        typer.Argument(metavar="[PATH:LINE]", help="The insight to add; none: show proposals."),
    ] = None,
    priority: Annotated[
        str, typer.Option("--priority", "-p", metavar="P", help="P0, P1 or P2.")
    ] = "P1",
    text: Annotated[
        str, typer.Option("--text", metavar="TEXT", help="What the entry shall say instead.")
    ] = "",
    limit: Annotated[
        int, typer.Option("--limit", "-n", metavar="N", min=1, help="How many proposals.")
    ] = 10,
    root: Root = None,
    config: Config = None,
    today: Today = None,
    dry_run: DryRun = False,
    json: Json = False,
) -> None:
    """Show the insights that are worth an entry of MEMORY.md, or add the one that is named."""
    if priority not in promoting.PRIORITIES:
        raise UsageError(f"{priority!r} is no priority", "there are P0, P1 and P2")
    session = open_up(root, config, today)
    if place is None:
        found = promoting.propose(session.folder, session.today, limit)
        if json:
            out.data({"proposals": [vars(proposal) for proposal in found]})
        for proposal in found if not json else ():
            out.say(f"{proposal.path}:{proposal.line}  [{proposal.importance}] {proposal.text}")
        if not found:
            if not json:
                out.say("No insight is weighty and new enough.")
            raise typer.Exit(1)
        if not json:
            out.say(f"Add one: memfas promote {found[0].path}:{found[0].line}")
        return
    path, line = place_and_line(place)
    run = session.run("promote")
    name = from_here(session, path)
    added = promoting.add(session.folder, name, line, priority, run, text=text, dry_run=dry_run,
                          rights=session.rights(None))  # fmt: skip
    if json:
        out.data({**vars(added), "notices": run.notices, "dry_run": dry_run})
    else:
        head = "[DRY RUN] " if dry_run else f"✓ {added.path}:{added.line}: "
        out.say(f"{head}{added.text}")
    for notice in run.notices if not json else ():
        out.tell(notice)
