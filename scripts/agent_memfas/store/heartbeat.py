"""Who watches a memory folder: one process, by a lock, and beside it what that process says of
itself. The lock ends with the process; what it said may be left lying, and then counts for nothing.
"""

from __future__ import annotations

import json
import os
from contextlib import ExitStack, suppress
from pathlib import Path

from agent_memfas.errors import TryAgain
from agent_memfas.store import durable
from agent_memfas.store.files import is_at
from agent_memfas.store.layout import Folder
from agent_memfas.store.locks import hold_file, is_held, state_folder
from agent_memfas.store.places import STATE, small
from agent_memfas.text.record import Record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

LOCK, FILE = "watch.lock", "watch.json"
_PATIENCE = 0.3  # seconds: whoever asks whether a watcher is there holds its lock for a moment
_CAP = 1 << 16


class Heartbeat(Record):
    """What a watcher says of itself. Times are ISO in the user's zone, "" for never.

    since: when it began. last_event: when it last heard of a change; last_sync: when the index
    was last in step with what it had heard; last_reconcile: when every file was last compared by
    its bytes. files: in the index; behind: changed files it has heard of and not read yet. how:
    `events` or `polling`, and then the reason. problem: what keeps it from working, or "".
    """

    pid: int
    since: str = ""
    last_event: str = ""
    last_sync: str = ""
    last_reconcile: str = ""
    files: int = 0
    behind: int = 0
    how: str = "events"
    reason: str = ""
    problem: str = ""


def read(homes: Iterable[Path]) -> Heartbeat | None:
    """What the watcher that is alive now says; None where there is none.

    homes: the folders where it may have its lock: those of the places for the index that are ours.
    """
    for home in homes:
        if is_held(home / LOCK):
            return _parse(home / FILE)
    return None


def describe(beat: Heartbeat | None) -> str:
    """The same for a person, as one line."""
    if beat is None:
        return "nobody is watching"
    behind = f"{beat.behind} file{'' if beat.behind == 1 else 's'}"
    said = [
        f"watching since {beat.since or '?'} (pid {beat.pid or '?'})",
        f"last event {beat.last_event or 'never'}",
        f"last reconcile {beat.last_reconcile or 'never'}",
        f"behind by {behind}",
    ]
    if beat.how != "events":
        said.append(f"{beat.how}: {beat.reason}")
    return ", ".join(said) + (f"; {beat.problem}" if beat.problem else "")


def _parse(path: Path) -> Heartbeat:
    """A heartbeat file; fields that it does not have are as for a watcher that has just begun."""
    try:
        found: Any = json.loads(small(str(path), _CAP) or b"{}")
    except ValueError:
        found = {}
    kinds: dict[str, type] = {"pid": int, "files": int, "behind": int}
    fields = {
        name: found[name] for name in Heartbeat._fields
        if isinstance(found, dict) and isinstance(found.get(name), kinds.get(name, str))
    }  # fmt: skip
    return Heartbeat(**{"pid": 0, **fields})


class Post:
    """The place of the one watcher of a folder. home: where its lock and its heartbeat are."""

    def __init__(self, home: Path) -> None:
        self.home = home
        self._held = ExitStack()
        self._descriptor: int | None = None
        self._said: Heartbeat | None = None

    def take(self) -> None:
        """Become the one. TryAgain where another process is; FileFault.

        The folder is made where it is missing, but never the memory folder around it.
        """
        if self.home.name == STATE:
            state_folder(Folder(self.home.parent))
        else:
            durable.make_private(self.home)
        while not self.is_taken():
            self.leave()
            try:
                self._descriptor = self._held.enter_context(hold_file(self.home / LOCK, _PATIENCE))
            except TryAgain:
                other = describe(read([self.home]))
                raise TryAgain(f"another process is {other}", "stop that one first") from None
            with suppress(OSError):  # of one that was killed
                (self.home / FILE).unlink()

    def is_taken(self) -> bool:
        """Whether the lock that is held is still the one that everybody looks at."""
        return self._descriptor is not None and is_at(self.home / LOCK, self._descriptor)

    def say(self, beat: Heartbeat) -> None:
        """Write the heartbeat; where there is nothing new, only its time. FileFault."""
        path = self.home / FILE
        if beat == self._said:
            with suppress(OSError):
                os.utime(path)
                return
        self._said = None
        durable.write_whole(path, json.dumps(vars(beat)).encode() + b"\n")
        self._said = beat

    def leave(self) -> None:
        """Take the heartbeat away, then the lock, as far as they are (still) ours."""
        self._said = None
        if self.is_taken():
            for name in (FILE, LOCK):
                with suppress(OSError):
                    (self.home / name).unlink()
        self._descriptor = None
        self._held.close()
        self._held = ExitStack()
