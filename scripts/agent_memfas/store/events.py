"""What may have changed, as far as anybody has said: hints, gathered until somebody looks.

A hint is never believed. It says where to look and that it is time to; what is so is found by
looking. So hints may be lost, doubled or out of order, and nothing depends on what they say.
"""

from __future__ import annotations

import logging
import queue
import threading
import time

from agent_memfas.store.listing import SKIPPED_FOLDERS, TEXT_SUFFIXES
from agent_memfas.store.places import CONFIGURATIONS, IGNORE
from agent_memfas.text.record import Record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

MOST = 20_000  # names that are kept apart; beyond that only "look everywhere" is


class Stopped(Exception):
    """Whoever was working has been told to end."""


class Hints(Record):
    """What was hinted at. files: (folder relative to the root, name) of those that changed.

    everywhere: all folders have to be looked at. lost: why hints themselves are missing, or "".
    """

    files: frozenset[tuple[str, str]] = frozenset()
    everywhere: bool = False
    lost: str = ""

    def folders(self) -> frozenset[str]:
        """The folders of the files."""
        return frozenset(folder for folder, _ in self.files)


class Mailbox:
    """Gathers hints from any thread, and wakes the one that waits for them.

    first, last: when the oldest and the newest of the hints in it came, on the monotonic clock;
    None while there are none. suffixes: of the files whose changes are hints.
    """

    def __init__(self, monotonic: Callable[[], float] = time.monotonic) -> None:
        self.first: float | None = None
        self.last: float | None = None
        self.stopped = False
        self.suffixes: tuple[str, ...] = TEXT_SUFFIXES
        self._monotonic = monotonic
        self._lock = threading.Lock()
        self._bell: queue.SimpleQueue[None] = queue.SimpleQueue()
        self._files: set[tuple[str, str]] = set()
        self._everywhere = False
        self._lost = ""

    def file(self, folder: str, name: str) -> None:
        """A text file has changed, has come or is gone."""
        with self._lock:
            if len(self._files) < MOST:
                self._files.add((folder, name))
            else:
                self._everywhere = True
            self._ring()

    def everywhere(self, lost: str = "") -> None:
        """Anything may have changed. lost: why hints that there should have been are missing."""
        with self._lock:
            self._everywhere = True
            self._lost = self._lost or lost
            self._ring()

    def _ring(self) -> None:
        """Note the time; wake whoever waits, once for all hints until they are taken."""
        self.last = self._monotonic()
        if self.first is None:
            self.first = self.last
            self._bell.put(None)

    def behind(self) -> int:
        """How many files are hinted at."""
        return len(self._files)

    def put_back(self, hints: Hints) -> None:
        """What was taken and could not be followed."""
        if hints == Hints():
            return
        with self._lock:
            self._files |= hints.files
            self._everywhere |= hints.everywhere
            self._lost = self._lost or hints.lost
            self._ring()

    def take(self) -> Hints:
        """All hints, which are gone from here then."""
        with self._lock:
            taken = Hints(frozenset(self._files), self._everywhere, self._lost)
            self._files.clear()
            self._everywhere, self._lost = False, ""
            self.first = self.last = None
        return taken

    def stop(self) -> None:
        """End the wait and the work, for good. Takes no lock: a signal handler may call it."""
        self.stopped = True
        self._bell.put(None)

    def wait(self, seconds: float) -> None:
        """Until a first hint comes, or the end, or so many seconds have passed."""
        try:
            self._bell.get(timeout=max(0.0, seconds))
        except queue.Empty:
            return

    def check(self) -> None:
        """Stopped, if the end has come: for long work to call now and then."""
        if self.stopped:
            raise Stopped


class Ear(logging.Handler):
    """Listens to what watchdog complains of: that events were lost it says nowhere else."""

    def __init__(self, mailbox: Mailbox) -> None:
        super().__init__(logging.WARNING)
        self._mailbox = mailbox
        logging.getLogger("watchdog.observers").addHandler(self)

    def emit(self, record: logging.LogRecord) -> None:
        """Whatever it is, the events are not to be relied on."""
        self._mailbox.everywhere(lost=record.getMessage())

    def leave(self) -> None:
        """Listen no more."""
        logging.getLogger("watchdog.observers").removeHandler(self)


def is_watched_file(name: str, suffixes: tuple[str, ...] = TEXT_SUFFIXES) -> bool:
    """Whether a file of that name is one that a sweep looks at: no dot file, no editor's leftover
    (`.M.swp`, `M.md~`, `#M.md#`, `4913`, `sedXXXXXX` have no ending of a text file)."""
    return not name.startswith(".") and name.lower().endswith(suffixes)


def is_watched_folder(name: str) -> bool:
    """Whether a folder of that name is one that a sweep enters, `.memfasignore` aside."""
    return not name.startswith(".") and name not in SKIPPED_FOLDERS


def is_rule(folder: str, name: str) -> bool:
    """Whether a file says which files count."""
    return not folder and (name == IGNORE or name in CONFIGURATIONS)
