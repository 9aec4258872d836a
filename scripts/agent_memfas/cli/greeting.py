"""Serving an MCP client, without what takes its time to load: it waits for the first answer."""

from __future__ import annotations

import importlib.util
import os
import signal
import sys

from agent_memfas.cli import out
from agent_memfas.cli.brief import agent_of
from agent_memfas.errors import ConfigError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

TOKEN = "MEMFAS_MCP_TOKEN"


def serve(root: str | None, config: str | None, agent: str | None, port: int | None = None) -> None:
    """Serve until the client or a signal ends it. port: of HTTP, None for standard input. Does not
    return: a call that is still at work is not waited for. UsageError, ConfigError.
    """
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # asyncio's own waits for whoever reads the input
    named, front = agent_of(agent), None
    if importlib.util.find_spec("mcp") is None:
        raise ConfigError("the MCP SDK is not there", "pip install 'agent-memfas[mcp]'")
    if port is None:
        from agent_memfas import __version__
        from agent_memfas.server import INSTRUCTIONS, NAME, TITLE
        from agent_memfas.server.front import Front

        front = Front()
        front.greet(NAME, __version__, TITLE, INSTRUCTIONS)
    try:
        from agent_memfas.server import protocol
    except ImportError as error:
        raise ConfigError(
            f"the MCP SDK cannot be used: {error}", "pip install 'agent-memfas[mcp]'"
        ) from error
    from agent_memfas.server.desk import Desk

    desk = Desk(_place(root, config), named)
    if port is not None:
        _serve_http(desk, port)
    else:
        protocol.serve_stdio(desk, front)
    sys.stderr.flush()
    os._exit(0)


def _place(root: str | None, config: str | None) -> Any:
    """What the memory is opened from, None for the folder that the current one lies in."""
    from pathlib import Path

    named = config or root or os.environ.get("MEMFAS_ROOT")
    return Path(named) if named else None


def _serve_http(desk: object, port: int) -> None:
    import secrets

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
