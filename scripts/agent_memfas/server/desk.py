"""What the tools work on: a memory folder, opened as often as calls come at the same time."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING

from agent_memfas.store.passes import Pass

if TYPE_CHECKING:
    from agent_memfas.memory import Memory
    from agent_memfas.v3 import ContextCurator


class Desk:
    """A memory folder for several threads. root: a folder or settings file, None for the one that
    the current folder lies in. agent: who asks and writes, as in `Memory`. Nothing is opened, and
    nothing heavy loaded, before the first call. ConfigError, UsageError then.
    """

    def __init__(self, root: Path | None, agent: str | None = None) -> None:
        self._root, self._agent = root, agent
        self._free: list[Memory] = []
        self._curators: list[ContextCurator] = []
        self._lock = Lock()

    @contextmanager
    def memory(self) -> Iterator[Memory]:
        """A memory that nobody else uses at the moment."""
        with self._lock:
            memory = self._free.pop() if self._free else None
        if memory is None:
            from agent_memfas.memory import Memory

            memory = Memory(self._root, agent=self._agent)
        try:
            yield memory
        finally:
            with self._lock:
                self._free.append(memory)

    @contextmanager
    def curator(self) -> Iterator[ContextCurator]:
        """A curator that nobody else uses at the moment."""
        with self._lock:
            curator = self._curators.pop() if self._curators else None
        if curator is None:
            from agent_memfas.v3 import ContextCurator

            curator = ContextCurator(self._root, agent=self._agent)
        try:
            yield curator
        finally:
            with self._lock:
                self._curators.append(curator)

    def close(self) -> None:
        """Let go of what is not in use."""
        with self._lock:
            for memory in self._free:
                memory.close()
            for curator in self._curators:
                curator.close()
            self._free.clear()
            self._curators.clear()


def pass_of(memory: Memory, command: str) -> Pass:
    """A pass of a tool that changes files."""
    return Pass(f"mcp {command}", memory.now, wall=time.time())
