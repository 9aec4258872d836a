"""Commands of two words, such as `telemetry show`: options may stand behind either of them."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, NamedTuple

import typer

from agent_memfas.cli import out
from agent_memfas.cli.session import Config, Json, Root, Session, open_up
from agent_memfas.errors import UsageError


class Given(NamedTuple):
    """What was given behind the first word."""

    root: Path | None = None
    config: Path | None = None
    json: bool = False


before = [Given()]
AsJson = Annotated[
    bool,
    typer.Option(
        "--json", help="Print one JSON object.", callback=lambda given: given or before[0].json
    ),
]


def family(name: str, told: str, words: str) -> typer.Typer:
    """The commands under a first word. told: what they are for. words: the second words."""
    app = typer.Typer(help=told, rich_markup_mode=None)

    def start(
        context: typer.Context, root: Root = None, config: Config = None, json: Json = False
    ) -> None:
        before[:] = [Given(root, config, json)]
        if context.invoked_subcommand is not None:
            return
        if json:
            raise UsageError(f"{name} needs a word more", words)
        out.block(context.get_help())
        raise typer.Exit(1)

    app.callback(invoke_without_command=True, help=told)(start)
    return app


def opened(root: Path | None, config: Path | None) -> Session:
    """The surroundings of a command, by what was given behind either word."""
    return open_up(root or before[0].root, config or before[0].config)
