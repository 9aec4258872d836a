"""`memfas mcp`: the memory as a server for any MCP client."""

from __future__ import annotations

from typing import Annotated

import typer

from agent_memfas.cli.greeting import serve
from agent_memfas.cli.session import Agent, Config, Root

PANEL = "Connect"
PORT = 8765


def register(app: typer.Typer) -> None:
    """Put this command into the table."""
    app.command("mcp", rich_help_panel=PANEL)(mcp)


def mcp(
    http: Annotated[
        bool, typer.Option("--http", help="Over HTTP on 127.0.0.1 instead of standard input.")
    ] = False,
    port: Annotated[
        int, typer.Option("--port", metavar="N", min=0, max=65535, help="Of HTTP; 0: a free one.")
    ] = PORT,
    agent: Agent = None,
    root: Root = None,
    config: Config = None,
) -> None:
    """Serve the memory to an MCP client (stdio; over HTTP with a token, see MEMFAS_MCP_TOKEN)."""
    serve(
        str(root) if root else None, str(config) if config else None, agent, port if http else None
    )
