"""The command that reflects: compound, with the reference's queue and both ways to ask a model."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated, Optional

import typer

from agent_memfas.cli import out
from agent_memfas.cli.compounder import Compounder
from agent_memfas.cli.session import Config, DryRun, Json, Root, Today, day, open_up
from agent_memfas.errors import UsageError

PANEL = "Tend"


def register(app: typer.Typer) -> None:
    """Put these commands into the table."""
    app.command("compound", rich_help_panel=PANEL)(compound)


def compound(
    days: Annotated[
        Optional[list[str]],  # noqa: UP045 - typer reads this at run time on Python 3.10
        typer.Option("--date", metavar="DAY", help="Only this day's logs; may be given again."),
    ] = None,
    process: Annotated[
        bool, typer.Option("--process", help="All logs that lack insights (the default).")
    ] = False,
    if_due: Annotated[
        bool, typer.Option("--if-due", help="Only if enough of importance has come together.")
    ] = False,
    limit: Annotated[
        Optional[int],  # noqa: UP045
        typer.Option("--limit", metavar="N", min=1, help="At most so many logs, the oldest first."),
    ] = None,
    no_model: Annotated[
        bool, typer.Option("--no-model", help="By extraction, although a model is configured.")
    ] = False,
    show: Annotated[
        bool, typer.Option("--list", help="What waits to be compounded; change nothing.")
    ] = False,
    mark_pending: Annotated[
        bool,
        typer.Option("--mark-pending", help="Queue yesterday (if it lacks insights), or --date."),
    ] = False,
    batch_mark: Annotated[
        Optional[int],  # noqa: UP045
        typer.Option("--batch-mark", metavar="N", min=1, help="The same for the last N days."),
    ] = None,
    print_prompt: Annotated[
        Optional[str],  # noqa: UP045
        typer.Option("--print-prompt", "--extract", metavar="DAY",
                     help="Print what a model would be asked, for an agent to answer."),
    ] = None,
    accept: Annotated[
        Optional[Path],  # noqa: UP045
        typer.Option("--accept", metavar="FILE", help="Take an agent's answer; - is stdin."),
    ] = None,
    done: Annotated[
        Optional[str],  # noqa: UP045
        typer.Option("--done", metavar="DAY", help="Mark a day's logs that have their insights."),
    ] = None,
    show_payload: Annotated[
        bool, typer.Option("--show-payload", help="Print what would be sent; send nothing.")
    ] = False,
    root: Root = None,
    config: Config = None,
    today: Today = None,
    dry_run: DryRun = False,
    json: Json = False,
) -> None:  # fmt: skip
    """Turn daily logs into insights, each with the lines of the log that it rests on."""
    chosen = [show, mark_pending or batch_mark is not None, print_prompt is not None,
              accept is not None, done is not None, show_payload, process or if_due]  # fmt: skip
    if sum(chosen) > 1:
        raise UsageError("these options do different things", "give one of them at a time")
    session = open_up(_root(root), config, today)
    work = Compounder(session, json, [found for d in days or () if (found := day("--date", d))])
    if show:
        work.show()
    elif mark_pending or batch_mark is not None:
        work.mark_pending(batch_mark, dry_run=dry_run)
    elif print_prompt is not None:
        work.print_prompt(day("--print-prompt", print_prompt))
    elif accept is not None:
        work.accept(accept, dry_run=dry_run)
    elif done is not None:
        work.done(day("--done", done), dry_run=dry_run)
    elif show_payload:
        work.show_payload()
    else:
        work.process(if_due=if_due, limit=limit, no_model=no_model, dry_run=dry_run)


def _root(root: Path | None) -> Path | None:
    """The memory folder that the reference's MEMORY_DIR means, where nothing else names one."""
    named = os.environ.get("MEMORY_DIR", "")
    if not named or root is not None or os.environ.get("MEMFAS_ROOT"):
        return root
    path = Path(named).expanduser().absolute()
    if path.name != "memory":
        out.tell(f"MEMORY_DIR={named} is not used: logs are in the folder memory/")
        return None
    return path.parent
