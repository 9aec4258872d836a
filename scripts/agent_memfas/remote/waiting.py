"""Waiting for a server: never longer than was agreed, and again where waiting may help."""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterable
from email.utils import parsedate_to_datetime
from math import isfinite
from queue import Empty, SimpleQueue
from threading import Thread
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Mapping

T = TypeVar("T")
TRIES = 4
FIRST_PAUSE = 0.5  # seconds before the second try, twice as many before each further one
LONGEST_PAUSE = 10.0
PASSING = {408, 425, 429, 500, 502, 503, 504, 529}  # statuses that may be others in a moment
MOST = 64 * 1024 * 1024  # bytes of one answer: three times 64 vectors of 8192 numbers
HEAD = 64 * 1024  # bytes of the page of an error


class Refused(Exception):
    """A server answered with a status that is none of success. said: what its page tells, a line.
    pause: seconds that it asks to wait, None where it does not. final: no use in another try.
    """

    def __init__(
        self, status: int, said: str = "", pause: float | None = None, *, final: bool = False
    ) -> None:
        super().__init__(f"{status} {said}".strip())
        self.status, self.said, self.pause = status, said, pause
        self.final = final or status not in PASSING


class Unreachable(Exception):
    """No answer. why: in a few words. again: whether another try may bring one."""

    def __init__(self, why: str, *, again: bool) -> None:
        super().__init__(why)
        self.why, self.again = why, again


class Deadline:
    """A moment from which on nothing is waited for."""

    def __init__(self, seconds: float) -> None:
        self._end = time.monotonic() + seconds

    @property
    def left(self) -> float:
        """Seconds until then, 0 afterwards."""
        return max(0.0, self._end - time.monotonic())


def within(seconds: float, act: Callable[[], T]) -> T:
    """What `act` gives back or raises; TimeoutError where that takes longer than so many seconds.

    A time limit of a socket starts anew with each byte, and looking up a name has none at all, so
    the call is made in a thread that is left alone when its time is over.
    """
    answers: SimpleQueue[tuple[T | None, BaseException | None]] = SimpleQueue()

    def run() -> None:
        try:
            answers.put((act(), None))
        except BaseException as error:  # noqa: BLE001 - raised where it is waited for
            answers.put((None, error))

    Thread(target=run, daemon=True).start()
    try:
        found, error = answers.get(timeout=seconds)
    except Empty:
        raise TimeoutError from None
    if error is not None:
        raise error
    return found  # type: ignore[return-value]


def gather(parts: Iterable[bytes], most: int | None = None) -> bytes:
    """The parts of an answer as one. Unreachable where they are more than so many bytes, MOST."""
    found = bytearray()
    for part in parts:
        found += part
        if len(found) > (MOST if most is None else most):
            raise Unreachable("its answer is far too long", again=False)
    return bytes(found)


def head_of(parts: Iterable[bytes]) -> bytes:
    """The beginning of a page that may be endless, up to HEAD bytes and a part."""
    found = bytearray()
    for part in parts:
        found += part
        if len(found) >= HEAD:
            break
    return bytes(found)


def insist(
    ask: Callable[[float], T], deadline: Deadline, seconds: float, longest: float | None = None
) -> T:
    """What `ask` gives back, tried up to TRIES times where it raises Refused or Unreachable for a
    reason that may pass, and the last of those errors where it does not.

    ask: called with the seconds that it may take, `seconds` or what the deadline leaves. A pause
    that the server asks for is made if it is short enough (`longest` seconds, LONGEST_PAUSE), and
    not shortened otherwise.
    """
    for attempt in range(TRIES):
        try:
            return ask(min(seconds, deadline.left))
        except (Refused, Unreachable) as error:
            pause = _pause(error, attempt, LONGEST_PAUSE if longest is None else longest)
            if pause is None or attempt == TRIES - 1 or pause >= deadline.left:
                raise
            time.sleep(pause)
    raise AssertionError("unreachable")


def _pause(error: Refused | Unreachable, attempt: int, longest: float) -> float | None:
    """Seconds to the next try, None where there is no use in one."""
    usual = FIRST_PAUSE * 2.0**attempt * random.uniform(0.5, 1.0)
    if isinstance(error, Unreachable):
        return usual if error.again else None
    if error.final:
        return None
    if error.pause is None:
        return usual
    return max(error.pause, 0.0) if error.pause <= longest else None


def pause_of(headers: Mapping[str, str]) -> float | None:
    """Seconds that an answer asks to wait: `retry-after-ms`, or `Retry-After` as a number or as a
    date, which is compared with the server's own. None for none, or for one that makes no sense.
    """
    headers = {name.lower(): value for name, value in headers.items()}
    for name, unit in (("retry-after-ms", 1000.0), ("retry-after", 1.0)):
        try:
            pause = float(headers.get(name) or "") / unit
        except ValueError:
            continue
        if isfinite(pause):
            return pause
    try:
        until = parsedate_to_datetime(headers.get("retry-after") or "")
        return (until - parsedate_to_datetime(headers.get("date") or "")).total_seconds()
    except (TypeError, ValueError):
        return None
