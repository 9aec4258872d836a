"""Clients of `memfas mcp`: a process, and the SDK's own client."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager
from datetime import date
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client

from commandline import REPO
from inputs.memory import PROGRAM, Memory

TODAY = date.today().isoformat()


@pytest.fixture
def memory(tmp_path: Path) -> Memory:
    """A folder with an entry, a trigger, a log, and something that only chief may see."""
    folder = Memory(tmp_path / "agent")
    folder.write("MEMORY.md", f"# Memory\n\n- [P1][{TODAY}] The staging host is heron\n"
                              "- [P0] The production host is egret\n")  # fmt: skip
    folder.write("TRIGGERS.md", "- deploy -> from main only\n")
    folder.write(f"memory/{TODAY}.md", f"# {TODAY}\n\n- 09:00 heron was restarted\n")
    folder.write("secret/plan.md", "- The heron moves to Oslo\n")
    folder.write("memfas.yaml", "agents: {private: {chief: [secret/]}}\nindex: {budget: 0}\n")
    return folder


def environment() -> dict[str, str]:
    kept = {k: v for k, v in os.environ.items() if not k.startswith("MEMFAS")}
    return {**kept, "PYTHONPATH": str(REPO / "scripts")}


@asynccontextmanager
async def client(memory: Memory, *arguments: str) -> AsyncIterator[ClientSession]:
    """A session with a server of its own."""
    command = [*PROGRAM[1:], "mcp", "--root", str(memory.root), *arguments]
    server = StdioServerParameters(command=PROGRAM[0], args=command, env=environment())
    with open(os.devnull, "w") as nowhere:
        async with (
            stdio_client(server, errlog=nowhere) as (reading, writing),
            ClientSession(reading, writing) as session,
        ):
            await session.initialize()
            yield session


def played(act: Callable[..., Coroutine[Any, Any, None]], *given: Any) -> None:
    async def within() -> None:
        with anyio.fail_after(60):
            await act(*given)

    anyio.run(within)


def text_of(result: Any) -> str:
    return str(result.content[0].text)
