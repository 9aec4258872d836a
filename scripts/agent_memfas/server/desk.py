"""What the tools work on: a memory folder, opened as often as calls come at the same time."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Generic, TypeVar

from agent_memfas.store.passes import Pass

if TYPE_CHECKING:
    from agent_memfas.memory import Memory
    from agent_memfas.v3 import ContextCurator


T = TypeVar("T")


class _Pool(Generic[T]):
    """Things of which each is used by one call at a time; one more is made where none is free."""

    def __init__(self, make: Callable[[], T]) -> None:
        self._make = make
        self._free: list[T] = []
        self._lock = Lock()

    @contextmanager
    def one(self) -> Iterator[T]:
        """One that nobody else uses at the moment."""
        with self._lock:
            found = self._free.pop() if self._free else None
        found = found or self._make()
        try:
            yield found
        finally:
            with self._lock:
                self._free.append(found)


class Desk:
    """A memory folder for several threads. root: a folder or settings file, None for the one that
    the current folder lies in. agent: who asks and writes, as in `Memory`. Nothing is opened, and
    nothing heavy loaded, before the first call. ConfigError, UsageError then.
    """

    def __init__(self, root: Path | None, agent: str | None = None) -> None:
        self._root, self._agent = root, agent
        self.memory = _Pool(self._memory).one
        self.curator = _Pool(self._curator).one

    def _memory(self) -> Memory:
        from agent_memfas.memory import Memory

        return Memory(self._root, agent=self._agent)

    def _curator(self) -> ContextCurator:
        from agent_memfas.v3 import ContextCurator

        return ContextCurator(self._root, agent=self._agent)


def pass_of(memory: Memory, command: str) -> Pass:
    """A pass of a tool that changes files."""
    return Pass(f"mcp {command}", memory.now, wall=time.time())
