"""`memfas mcp --http`: on loopback, for those who have the token, and for no page in a browser."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterator

import httpx2 as httpx
import pytest
from mcp import ClientSession

from inputs.memory import PROGRAM, Memory
from server.clients import environment, played, text_of


@pytest.fixture
def address(memory: Memory) -> Iterator[str]:
    """A server over HTTP with the token `secret`."""
    command = [*PROGRAM, "mcp", "--http", "--port", "0", "--root", str(memory.root)]
    variables = {**environment(), "MEMFAS_MCP_TOKEN": "secret"}
    server = subprocess.Popen(command, stderr=subprocess.PIPE, text=True, env=variables)
    assert server.stderr is not None
    try:
        found = re.search(r"http://127\.0\.0\.1:\d+/mcp", server.stderr.readline())
        assert found is not None
        yield found[0]
    finally:
        server.terminate()
        server.communicate(timeout=20)


def test_over_http_with_the_token(address: str) -> None:
    """The SDK's client over streamable HTTP: the same tools."""
    from mcp.client.streamable_http import streamable_http_client

    async def act() -> None:
        async with (
            httpx.AsyncClient(headers={"Authorization": "Bearer secret"}) as http,
            streamable_http_client(address, http_client=http) as streams,
            ClientSession(streams[0], streams[1]) as session,
        ):
            await session.initialize()
            found = await session.call_tool("memory_recall", {"query": "heron"})
            assert "heron" in text_of(found)

    played(act)


@pytest.mark.parametrize(("headers", "status"), [
    ({}, 401), ({"Authorization": "Bearer wrong"}, 401), ({"Authorization": "secret"}, 401),
    ({"Authorization": "Bearer secret", "Host": "evil.example"}, 421),
    ({"Authorization": "Bearer secret", "Origin": "https://evil.example"}, 403),
    ({"Authorization": "Bearer secret"}, 200),
])  # fmt: skip
def test_nobody_else_gets_in(address: str, headers: dict[str, str], status: int) -> None:
    """Without the token, through a name that was rebound, from another site's page: refused before
    anything is looked at."""
    body = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
        "protocolVersion": "2025-06-18", "capabilities": {},
        "clientInfo": {"name": "t", "version": "0"}}}  # fmt: skip
    usual = {"Accept": "application/json, text/event-stream"}
    answer = httpx.post(address, json=body, headers={**usual, **headers})
    assert answer.status_code == status
    assert ("memfas" in answer.text) == (status == 200)


def test_the_token_of_a_start_is_told_once_and_is_hard_to_guess(memory: Memory) -> None:
    """On standard error, for the person who started it; another one each time."""
    found = set()
    for _ in range(2):
        command = [*PROGRAM, "mcp", "--http", "--port", "0", "--root", str(memory.root)]
        server = subprocess.Popen(command, stderr=subprocess.PIPE, stdout=subprocess.PIPE,
                                  text=True, env=environment())  # fmt: skip
        assert server.stderr is not None
        server.stderr.readline()
        token = re.search(r"only: (\S+)", server.stderr.readline())
        assert token is not None
        found.add(token[1])
        server.terminate()
        assert server.communicate(timeout=20)[0] == ""
    assert len(found) == 2
    assert all(len(one) >= 32 for one in found)
