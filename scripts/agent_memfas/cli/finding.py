"""Commands that find: recall, search."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agent_memfas.cli import asking
from agent_memfas.cli.typed import as_command

if TYPE_CHECKING:
    import typer

PANEL = "Recall"


def register(app: typer.Typer) -> None:
    """Put these commands into the table."""
    app.command("recall", rich_help_panel=PANEL)(as_command(asking.TABLE, asking.recall))
    app.command("search", rich_help_panel=PANEL)(as_command(asking.SEARCH, asking.search))
