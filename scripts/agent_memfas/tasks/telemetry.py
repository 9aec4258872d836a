"""Reading telemetry: all parts of a file in order, filtered, with what could not be read."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from agent_memfas.store import telemetry
from agent_memfas.text.telemetry import Call, Turn, Unreadable, fields_of, read_line
from agent_memfas.text.telemetry_summary import Spent, spent, summarise


@dataclass(frozen=True)
class Filter:
    """Which lines count. since: aware, None for all; session: "" for all, else only turns; last:
    so many of the last turns, 0 for all.
    """

    since: datetime | None = None
    session: str = ""
    last: int = 0

    def takes(self, one: Turn | Call) -> bool:
        """Whether a line counts, but for `last`."""
        if self.since is not None and one.at < self.since:
            return False
        return not self.session or (isinstance(one, Turn) and one.session == self.session)


@dataclass(frozen=True)
class Found:
    """What a telemetry file holds, oldest first. unreadable: how many lines are no telemetry;
    first: where the first of them stands, `NAME:LINE: why`, or "".
    """

    turns: tuple[Turn, ...]
    calls: tuple[Call, ...]
    unreadable: int = 0
    first: str = ""

    def summary(self) -> dict[str, Any]:
        """The summary of agent-memfas; see `summarise`."""
        return summarise(self.turns)

    def spent(self) -> list[Spent]:
        """What each command has asked models."""
        return spent(self.calls)


@dataclass(frozen=True)
class Recent:
    """The fields of the last turns, oldest first; the rest as in `Found`."""

    turns: tuple[dict[str, Any], ...]
    unreadable: int = 0
    first: str = ""


def read(path: Path, wanted: Filter | None = None) -> Found:
    """Turns and questions to models in a telemetry file. FileFault where it cannot be read; one
    that is not there is empty. With `last` or `session` the questions are left out: they belong to
    no turn.
    """
    wanted = wanted or Filter()
    turns: deque[Turn] = deque(maxlen=wanted.last or None)
    calls: list[Call] = []

    def keep(one: Turn | Call, _: bytes) -> None:
        if isinstance(one, Turn):
            turns.append(one)
        elif not wanted.last:
            calls.append(one)

    faults = _each(path, wanted, keep)
    return Found(tuple(turns), tuple(calls), len(faults), faults[0] if faults else "")


def recent(path: Path, wanted: Filter) -> Recent:
    """The last turns as they stand in the file. FileFault."""
    kept: deque[bytes] = deque(maxlen=wanted.last or None)

    def keep(one: Turn | Call, line: bytes) -> None:
        if isinstance(one, Turn):
            kept.append(line)

    faults = _each(path, wanted, keep)
    turns = tuple(fields_of(line) for line in kept)
    return Recent(turns, len(faults), faults[0] if faults else "")


def _each(path: Path, wanted: Filter, keep: Callable[[Turn | Call, bytes], None]) -> list[str]:
    """Give each line that counts to `keep`. Returns the places of those that are no telemetry."""
    faults = []
    for name, number, line in telemetry.lines(path):
        if line.isspace():
            continue
        try:
            one = read_line(line)
        except Unreadable as error:
            faults.append(f"{name}:{number}: {error}")
            continue
        if isinstance(one, (Turn, Call)) and wanted.takes(one):
            keep(one, line)
    return faults
