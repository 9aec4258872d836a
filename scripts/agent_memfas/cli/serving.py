"""`memfas mcp`: the memory as a server for any MCP client."""

from __future__ import annotations

import os
import secrets
import sys
from pathlib import Path
from typing import Annotated

import typer

from agent_memfas.cli import out
from agent_memfas.cli.brief import agent_of
from agent_memfas.cli.session import Agent, Config, Root
from agent_memfas.errors import ConfigError

PANEL = "Connect"
TOKEN = "MEMFAS_MCP_TOKEN"
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
    from agent_memfas.server.desk import Desk

    desk = Desk(_place(root, config), agent_of(agent))
    try:
        from agent_memfas.server import protocol
    except ImportError as error:
        raise ConfigError(
            f"the MCP SDK is not there ({error.name})", "pip install 'agent-memfas[mcp]'"
        ) from error
    try:
        if http:
            _serve_http(desk, port)
        else:
            protocol.serve_stdio(desk)
    except KeyboardInterrupt:
        pass
    sys.stderr.flush()
    os._exit(0)  # a call that is still at work is not waited for


def _place(root: Path | None, config: Path | None) -> Path | None:
    """What the memory is opened from, None for the folder that the current one lies in."""
    if config is not None:
        return config
    named = os.environ.get("MEMFAS_ROOT")
    return root if root is not None else Path(named) if named else None


def _serve_http(desk: object, port: int) -> None:
    from agent_memfas.server.desk import Desk
    from agent_memfas.server.http import HOST, PATH, serve_http

    assert isinstance(desk, Desk)
    given = os.environ.get(TOKEN, "").strip()
    token = given or secrets.token_urlsafe(24)

    def ready(port: int) -> None:
        out.tell(f"listening on http://{HOST}:{port}{PATH}")
        if not given:
            out.tell(f"token, of this start only: {token} (set {TOKEN} for one of your own)")

    serve_http(desk, port, token, ready)
