"""The MCP server over HTTP on loopback: a token, and checks of Host and Origin."""

from __future__ import annotations

import secrets
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

import uvicorn
from mcp.server.transport_security import TransportSecuritySettings

from agent_memfas.server.desk import Desk
from agent_memfas.server.protocol import server_of

HOST = "127.0.0.1"
PATH = "/mcp"
Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]


def guarded(app: App, token: str) -> App:
    """The app for those who bring the token: `Authorization: Bearer TOKEN`."""
    wanted = f"Bearer {token}".encode()

    async def guard(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            given = [value for name, value in scope["headers"] if name == b"authorization"]
            if len(given) != 1 or not secrets.compare_digest(given[0], wanted):
                headers = [(b"www-authenticate", b"Bearer"), (b"content-length", b"0")]
                await send({"type": "http.response.start", "status": 401, "headers": headers})
                await send({"type": "http.response.body", "body": b""})
                return
        await app(scope, receive, send)

    return guard


def serve_http(desk: Desk, port: int, token: str, ready: Callable[[int], None]) -> None:
    """Answer on 127.0.0.1 until a signal ends it. port: 0 for a free one; ready: is told which."""
    hosts = [HOST, f"{HOST}:*", "localhost", "localhost:*"]
    security = TransportSecuritySettings(
        allowed_hosts=hosts, allowed_origins=[f"http://{host}" for host in hosts]
    )
    app = server_of(desk).streamable_http_app(
        streamable_http_path=PATH, host=HOST, transport_security=security
    )
    config = uvicorn.Config(
        guarded(app, token), host=HOST, port=port, log_level="warning", access_log=False
    )

    class Told(uvicorn.Server):
        async def startup(self, sockets: Any = None) -> None:
            await super().startup(sockets)
            if self.started:
                ready(self.servers[0].sockets[0].getsockname()[1])

    Told(config).run()
