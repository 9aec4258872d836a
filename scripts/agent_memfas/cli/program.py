"""The command table, and the one place where errors become sentences."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, Optional

import typer

from agent_memfas import __version__
from agent_memfas.cli import (
    adding,
    agents,
    benching,
    checking,
    cold,
    compacting,
    configuring,
    curating,
    demo,
    deriving,
    dreaming,
    finding,
    health,
    hosting,
    importing,
    indexing,
    insights,
    out,
    reflecting,
    remembering,
    renewing,
    serving,
    session,
    skills,
    syncing,
    telemetry,
    tending,
    undoing,
    watching,
    windowing,
)
from agent_memfas.cli.groups import Grouped
from agent_memfas.errors import MemfasError, UsageError

FIVE = """memfas: memory for AI agents, in plain markdown files

  memfas init             lay out a memory folder here (nothing is overwritten)
  memfas log "…"          note what happened in today's log
  memfas add "…"          keep something in MEMORY.md (-p P0, P1 or P2)
  memfas recall "…"       find what was noted, with file and line
  memfas janitor          move expired entries to the archive (cron, 4 AM)

memfas --help shows all commands; memfas demo shows them at work."""

app = typer.Typer(
    name="memfas",
    help="Memory for AI agents, fast and slow, in plain markdown files.",
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    no_args_is_help=False,
    cls=Grouped,
)


@app.callback(invoke_without_command=True)
def start(
    context: typer.Context,
    config: Annotated[
        Optional[Path],  # noqa: UP045 - typer reads this at run time on Python 3.10
        typer.Option("--config", "-c", metavar="FILE", help="The configuration file."),
    ] = None,
    version: Annotated[bool, typer.Option("--version", help="Show the version.")] = False,
) -> None:
    """Memory for AI agents, fast and slow, in plain markdown files."""
    session.config_before[:] = [config] if config else []
    if version:
        out.say(f"memfas {__version__}")
        raise typer.Exit
    if context.invoked_subcommand is None:
        out.block(FIVE)
        raise typer.Exit(1)


for module in (
    adding,
    remembering,
    demo,
    finding,
    curating,
    compacting,
    windowing,
    cold,
    benching,
    tending,
    agents,
    renewing,
    checking,
    configuring,
    undoing,
    deriving,
    reflecting,
    insights,
    dreaming,
    indexing,
    syncing,
    watching,
    health,
    telemetry,
    serving,
    hosting,
    importing,
    skills,
):
    module.register(app)


def run(arguments: list[str]) -> int:
    """Run the command line on these arguments. Errors become a sentence and a status."""
    as_data = (
        "--json" in arguments[: arguments.index("--")]
        if "--" in arguments
        else ("--json" in arguments)
    )
    try:
        status = app(arguments, prog_name="memfas", standalone_mode=False)
    except MemfasError as error:
        out.error(error, as_data=as_data)
        return error.status
    except typer.Exit as exit_:
        return exit_.exit_code
    except typer.Abort:
        print(file=sys.stderr)
        return 1
    except typer.TyperException as error:
        command = next((a for a in arguments if not a.startswith("-")), "")
        hint = f"see: memfas {command} --help" if command in _names() else "see: memfas --help"
        out.error(UsageError(error.format_message(), hint), as_data=as_data)
        return UsageError.status
    return status if isinstance(status, int) else 0


def _names() -> set[str]:
    groups = {str(group.name) for group in app.registered_groups}
    return groups | {
        str(c.name or (c.callback and c.callback.__name__)) for c in app.registered_commands
    }
