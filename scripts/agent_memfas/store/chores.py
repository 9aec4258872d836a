"""Work that follows changes: some time after them, and never much of the time."""

from __future__ import annotations

from math import inf

from agent_memfas.text.record import Record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable


class Rhythm(Record):
    """Seconds. quiet: after the last change; ceiling: after the first. share: one part in so many
    of the time goes into the work."""

    quiet: float = 3.0
    ceiling: float = 30.0
    share: int = 20


RHYTHM = Rhythm()


class Chore:
    """Something to be done when something has changed, and when to do it.

    work: returns whether it is done; where it is not, it is tried again later. monotonic: a clock.
    """

    def __init__(
        self, work: Callable[[], bool], monotonic: Callable[[], float], rhythm: Rhythm = RHYTHM
    ) -> None:
        self._work, self._monotonic, self._rhythm = work, monotonic, rhythm
        self._first: float | None = None
        self._last = 0.0
        self._rest_until = -inf

    def need(self) -> None:
        """Something has changed."""
        self._last = self._monotonic()
        if self._first is None:
            self._first = self._last

    def due(self) -> float:
        """When to do it, on the clock; infinity where there is nothing to do."""
        if self._first is None:
            return inf
        waited = min(self._last + self._rhythm.quiet, self._first + self._rhythm.ceiling)
        return max(waited, self._rest_until)

    def attend(self) -> None:
        """Do it if it is due."""
        began = self._monotonic()
        if began < self.due():
            return
        self._first = None
        done = self._work()
        now = self._monotonic()
        self._rest_until = now + self._rhythm.share * (now - began)
        if not done:
            self.need()
