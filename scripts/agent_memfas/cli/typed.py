"""A table of options as a command that typer can read."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Annotated, Any, Optional

import typer

from agent_memfas.cli.options import FLAG, LIST, NUMBER, TEXT, Table
from agent_memfas.cli.session import config_before


def as_command(table: Table, run: Callable[[dict[str, Any]], int]) -> Callable[..., None]:
    """The same table as a function that typer can read."""
    kinds: dict[str, Any] = {
        FLAG: bool,
        TEXT: Optional[str],  # noqa: UP045 - typer reads these at run time on Python 3.10
        NUMBER: Optional[int],  # noqa: UP045
        LIST: Optional[list[str]],  # noqa: UP045
    }  # fmt: skip
    types: dict[str, Any] = {
        table.words: Annotated[list[str], typer.Argument(metavar=table.metavar, help=table.help)]
    }
    for option in table.options:
        given = typer.Option(*option.flags, help=option.help, metavar=option.metavar or None)
        types[option.name] = Annotated[kinds[option.kind], given]

    def command(**values: Any) -> None:
        if values.get("config") is None and config_before:
            values["config"] = str(config_before[-1])
        if status := run(values):
            raise typer.Exit(status)

    positional = inspect.Parameter.POSITIONAL_OR_KEYWORD
    command.__signature__ = inspect.Signature([  # type: ignore[attr-defined]
        inspect.Parameter(
            name, positional, annotation=kind,
            default=inspect.Parameter.empty if name == table.words
            else False if kind.__origin__ is bool else None,
        )
        for name, kind in types.items()
    ])  # fmt: skip
    command.__annotations__ = types
    command.__doc__ = run.__doc__
    return command
