"""Watch: keep the index in step with the files for as long as the process runs.

Events say when to look, never what is there; a look (a sweep of the folders) finds that. Whatever
is lost, a look a minute finds all that a sweep can see, and a reconcile every ten minutes compares
each file by its bytes. So after any reconcile that began after the last change, the index is what
one would be that is built anew.
"""

from __future__ import annotations

import os
import stat
import time
from contextlib import suppress
from datetime import datetime

from agent_memfas.errors import ConfigError, FileFault, MemfasError
from agent_memfas.index.places import Place
from agent_memfas.index.upkeep import Step, Upkeep, hashes
from agent_memfas.store.chores import Chore
from agent_memfas.store.events import Hints, Mailbox, Stopped
from agent_memfas.store.heartbeat import Heartbeat, Post
from agent_memfas.store.observing import UNFIT, NoEvents, observe, reason_of
from agent_memfas.text.record import Record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import tzinfo

    from agent_memfas.store.observing import Watch

LARGE = 5000  # files: from here on only the folders of an event are looked at
SHARE = 20  # by polling, one part in so many of the time goes into looking


class Pace(Record):
    """Seconds. quiet: after the last event; ceiling: after the first; then it is looked.

    poll: between looks without events. look: between looks although there are events. deep:
    between reconciles. check: between checks that all is well. gone: quiet before anything is made
    anew in a folder that somebody may just be taking apart.
    """

    quiet: float = 0.3
    ceiling: float = 2.0
    poll: float = 2.0
    look: float = 60.0
    deep: float = 600.0
    check: float = 5.0
    gone: float = 1.0


class Charge(Record):
    """What a watcher is given. root: real path. upkeep: gives the index as it is configured now.

    now: the wall clock, ns. zone: the user's. tell: hears each thing worth a line, once, with the
    heartbeat. poll: do without events. follow: what is to be done some time after files have
    changed, beside the index; see `store.chores.Chore`.
    """

    root: str
    upkeep: Callable[[], Upkeep]
    post: Post
    now: Callable[[], int]
    zone: tzinfo | None
    tell: Callable[[str, Heartbeat], None]
    poll: bool = False
    pace: Pace = Pace()
    observe: Callable[[str, Mailbox], Watch] = observe
    monotonic: Callable[[], float] = time.monotonic
    follow: Callable[[], bool] | None = None


class Once(Record):
    """One reconcile. files: in the index; read: files read; changed: those that were not as the
    index had them, new ones and lost ones too."""

    files: int
    read: int
    changed: int


def once(upkeep: Upkeep, root: str, places: tuple[Place, ...], as_of: int) -> Once:
    """Compare every file by its bytes with the index and make the index equal. TryAgain, FileFault.

    as_of: the wall clock, ns.
    """
    before = hashes(root, places)
    step = upkeep.bring(as_of, deep=True)
    after = hashes(root, places)
    changed = sum(before.get(path) != after.get(path) for path in before.keys() | after.keys())
    upkeep.merge()
    return Once(step.files, step.read, changed)


class Watcher:
    """The loop, and what it knows. All times of it are of the monotonic clock."""

    def __init__(self, charge: Charge, mailbox: Mailbox) -> None:
        self._charge, self._mailbox = charge, mailbox
        self._pace = charge.pace
        self._watch: Watch | None = None
        self._no_events = NoEvents("as asked for", lasting=True) if charge.poll else None
        self._identity: tuple[int, int] | None = None  # of the root, while it is there
        self._device: int | None = None
        self._check_at = self._look_at = self._deep_at = charge.monotonic()
        self._rest_until = self._deep_rest = self._check_at
        self._look_took = 0.0
        self._fails = self._shorts = 0
        self._started = False
        self._chore = Chore(charge.follow or (lambda: True), charge.monotonic)
        self._beat = Heartbeat(os.getpid(), self._iso())

    def run(self) -> None:
        """Watch until the mailbox says stop. TryAgain where another process watches, FileFault."""
        self._charge.post.take()
        try:
            while not self._mailbox.stopped:
                self._mailbox.wait(self.step())
        except Stopped:
            return
        finally:
            if self._watch is not None:
                self._watch.close()
            self._charge.post.leave()

    def step(self) -> float:
        """Do what is due. Returns the seconds until something else will be."""
        if self._charge.monotonic() >= self._check_at:
            self._check()
        if self._charge.monotonic() >= self._due():
            self._look()
        self._chore.attend()
        next_at = min(self._check_at, self._due(), self._chore.due())
        return max(0.0, next_at - self._charge.monotonic())

    def _due(self) -> float:
        """When to look."""
        due = min(self._look_at, self._deep_at)
        first, last = self._mailbox.first, self._mailbox.last
        if first is not None and last is not None:
            if os.path.isdir(self._charge.post.home):
                hinted = min(last + self._pace.quiet, first + self._pace.ceiling)
            else:
                hinted = last + self._pace.gone
            due = min(due, hinted)
        return max(due, self._rest_until)

    def _look(self) -> None:
        """Bring the index in step; what fails is tried again, later each time."""
        began = self._charge.monotonic()
        hints = self._mailbox.take()
        if hints != Hints():
            self._note(last_event=self._iso())
        if hints.lost and self._deep_at > max(began, self._deep_rest):
            self._charge.tell(f"{hints.lost}: every file is compared", self._beat)
            self._deep_at = max(began, self._deep_rest)
        try:
            self._attend()
        except FileFault as fault:
            self._mailbox.put_back(hints)
            self._fail(fault)
            self._say()
            return
        deep = began >= self._deep_at
        only = None if deep or began >= self._look_at else self._only(hints)
        try:
            upkeep = self._charge.upkeep()
            step = upkeep.bring(self._charge.now(), deep=deep, only=only)
            if deep:
                upkeep.merge()
        except (MemfasError, OSError) as error:
            self._mailbox.put_back(hints)
            self._fail(error)
        else:
            if deep or step.read or hints != Hints() or step.files != self._beat.files:
                self._chore.need()
            self._succeed(step, began, deep=deep, whole=only is None)
        self._say()

    def _only(self, hints: Hints) -> frozenset[str] | None:
        """The folders that are enough to look at; None for all of them."""
        folders = hints.folders()
        if hints.everywhere or self._beat.files <= LARGE:
            return None
        there = all(os.path.isdir(os.path.join(self._charge.root, f)) for f in folders)
        return folders if there else None

    def _succeed(self, step: Step, began: float, *, deep: bool, whole: bool) -> None:
        """Note it, and when to look next: looking must not take up much of the time."""
        now = self._charge.monotonic()
        took = now - began
        self._fails = 0
        self._note(files=step.files, last_sync=self._iso())
        if deep:
            self._note(last_reconcile=self._iso())
            self._deep_at = now + max(self._pace.deep, 50 * took)
            self._deep_rest = now + 10 * took
            if self._no_events and not self._no_events.lasting:
                self._begin()
        elif whole and not step.read:  # what a look costs by itself; reading what is new must be
            self._look_took = took
        if whole:
            self._rest_until = now + min(10.0, 3 * self._look_took)
            apart = max(self._pace.look, 200 * self._look_took)
            if self._watch is None:
                apart = max(self._pace.poll, SHARE * self._look_took)
            self._look_at = now + apart
            self._cover(step.folders)
        self._solve(step)

    def _solve(self, step: Step) -> None:
        """Say that it has begun, or that a problem is over."""
        if not self._started:
            self._started = True
            how = (
                "by file events" if self._watch else f"by looking again and again ({self._reason})"
            )
            files, folders = step.files, len(step.folders)
            text = f"watching {self._charge.root}: {files} files in {folders} folders, {how}"
            self._charge.tell(text, self._beat)
        elif self._beat.problem:
            self._charge.tell("in step again", self._beat)
        self._note(problem="")

    def _fail(self, error: MemfasError | OSError) -> None:
        """Note what is wrong, tell it if it is news, and let some time pass."""
        if isinstance(error, MemfasError):
            text = error.message
        else:
            text = f"{error.filename or 'the system'}: {os.strerror(error.errno or 0)}"
        news = text != self._beat.problem
        self._note(problem=text)
        if news:
            self._charge.tell(text, self._beat)
        self._fails += 1
        self._rest_until = self._charge.monotonic() + min(60.0, 0.5 * 2.0 ** min(self._fails, 8))

    def _check(self) -> None:
        """Between looks: see that all is well, also where nothing happens."""
        now = self._charge.monotonic()
        self._check_at = now + self._pace.check
        was_there = self._identity is not None
        try:
            self._attend()
            if not self._charge.upkeep().is_in_place():
                self._look_at = now
        except (FileFault, ConfigError) as fault:
            if was_there:
                self._fail(fault)
        self._say()

    def _attend(self) -> None:
        """Mend root, events and lock where they are not what they were.

        FileFault where there is no root, TryAgain where another process has become the watcher.
        """
        identity = self._identify()
        if identity != self._identity or not (self._watch is None or self._watch.is_alive()):
            self._identity, self._device = identity, identity[0]
            self._begin()
            self._deep_at = self._rest_until = self._charge.monotonic()
        if self._mailbox.last is None and not self._charge.post.is_taken():
            with suppress(FileFault):
                self._charge.post.take()

    def _identify(self) -> tuple[int, int]:
        """Which folder the root is now. FileFault where it is none, or seems not to be mounted."""
        before, self._identity = self._identity, None
        try:
            info = os.stat(self._charge.root)
            if not stat.S_ISDIR(info.st_mode):
                raise NotADirectoryError(20, os.strerror(20))
            other = self._device not in (None, info.st_dev)
            if other and not os.listdir(self._charge.root):
                raise FileFault(f"{self._charge.root} is empty: is its file system mounted?")
        except OSError as error:
            why = os.strerror(error.errno or 0)
            raise FileFault(f"{self._charge.root}: {why}; nothing is forgotten") from error
        self._identity = before
        return info.st_dev, info.st_ino

    def _begin(self) -> None:
        """Ask for events, as if for the first time."""
        if self._watch is not None:
            self._watch.close()
            self._watch = None
        if self._charge.poll:
            return
        try:
            self._watch = self._charge.observe(self._charge.root, self._mailbox)
            self._no_events = None
        except NoEvents as why:
            self._no_events = why

    def _cover(self, folders: tuple[str, ...]) -> None:
        """Have all folders watched; where that cannot be, do without events."""
        if self._watch is None:
            return
        why = ""
        try:
            if self._watch.cover(folders) or self._shorts:
                self._look_at = self._charge.monotonic() + self._pace.quiet
                # A folder that is removed just now looks like one that could not be watched.
                self._shorts = self._shorts + 1 if self._watch.is_short() else 0
                why = "not every folder can be watched" if self._shorts > 1 else ""
        except OSError as error:
            why = reason_of(error)
        except UNFIT as error:
            why = f"watchdog: {error}"
        if why:
            self._watch.close()
            self._watch, self._no_events, self._shorts = None, NoEvents(why), 0
            self._look_at = self._charge.monotonic()
            if self._started:
                self._charge.tell(f"{why}: looking again and again instead", self._beat)

    @property
    def _reason(self) -> str:
        return str(self._no_events) if self._no_events else ""

    def _iso(self) -> str:
        seconds = self._charge.now() / 1e9
        return datetime.fromtimestamp(seconds, self._charge.zone).isoformat(timespec="seconds")

    def _note(self, **fields: str | int) -> None:
        self._beat = Heartbeat(**{**vars(self._beat), **fields})

    def _say(self) -> None:
        """The heartbeat, as far as it can be written: where it cannot, the rest goes on."""
        how = "events" if self._watch else "polling"
        self._note(how=how, reason=self._reason, behind=self._mailbox.behind())
        if self._charge.post.is_taken():
            with suppress(FileFault):
                self._charge.post.say(self._beat)
