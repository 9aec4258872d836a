"""Watching a memory folder for changes, by watchdog, in the best way that there is here."""

from __future__ import annotations

import os
import sys

from agent_memfas.store.events import Ear, Mailbox, is_rule, is_watched_file, is_watched_folder
from agent_memfas.store.inotify import LIMITS, FolderWatch
from agent_memfas.store.mounts import silent_kind

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection
    from typing import Any, Protocol

    class Watch(Protocol):
        """What gives hints of changes below a root."""

        def cover(self, folders: Collection[str]) -> bool:
            """Watch these folders. Returns whether there were new ones: what happened in them
            before has to be looked for. OSError at a limit."""

        def is_alive(self) -> bool:
            """Whether events still come."""

        def is_short(self) -> bool:
            """Whether the system watches fewer folders than it was asked to."""

        def close(self) -> None:
            """End it."""


# No new thread; or a later watchdog that is called another way, for its insides are used.
UNFIT = (RuntimeError, AttributeError, TypeError)
KINDS = frozenset({"created", "modified", "moved", "deleted", "closed", "attrib"})


class NoEvents(Exception):
    """There are no events to be had; str() says why. lasting: and there never will be."""

    def __init__(self, reason: str, *, lasting: bool = False) -> None:
        super().__init__(reason)
        self.lasting = lasting


def observe(root: str, mailbox: Mailbox) -> Watch:
    """Make ready to watch a root (a real path); `cover` names the folders. NoEvents."""
    if kind := silent_kind(root):
        raise NoEvents(f"{kind} does not tell of changes made elsewhere", lasting=True)
    try:
        on_linux = sys.platform.startswith("linux")
        return FolderWatch(root, mailbox) if on_linux else TreeWatch(root, mailbox)
    except ImportError as error:
        # Before version 7 its reader on Linux dies of fast deletes and moves, and nobody can tell:
        # the thread beside it, which is the one to be seen, lives on.
        raise NoEvents("file events need watchdog 7 or later", lasting=True) from error
    except OSError as error:
        raise NoEvents(reason_of(error)) from error
    except UNFIT as error:
        raise NoEvents(f"watchdog: {error}") from error


def reason_of(error: OSError) -> str:
    """Why the system gives no events."""
    return LIMITS.get(error.errno or 0, os.strerror(error.errno or 0))


class TreeWatch:
    """One watch on the whole tree, by watchdog's Observer: on macOS, where that is how it is done.

    Ignored folders are watched too, though nothing that happens there is a hint.
    """

    def __init__(self, root: str, mailbox: Mailbox) -> None:
        from watchdog.observers import Observer

        self._root = root
        self._mailbox = mailbox
        self._is_new = True
        self._ear = Ear(mailbox)
        self._observer = Observer()
        handler: Any = self
        self._observer.schedule(handler, root, recursive=True)
        try:
            self._observer.start()
        except (OSError, RuntimeError):
            self._ear.leave()
            raise

    def dispatch(self, event: Any) -> None:
        """Turn an event into hints; watchdog calls this."""
        if event.event_type not in KINDS:
            return
        for path in {os.fsdecode(event.src_path), os.fsdecode(event.dest_path or "")} - {""}:
            place = os.path.relpath(path, self._root)
            if event.is_directory and event.event_type == "modified":
                self._note("" if place == "." else place, "")
            else:
                self._note(*os.path.split(place), is_folder=event.is_directory)

    def _note(self, folder: str, name: str, *, is_folder: bool = False) -> None:
        """A hint at a name in a folder; at the folder itself where the name is ""."""
        if folder and not all(is_watched_folder(part) for part in folder.split("/")):
            return
        if is_folder or is_rule(folder, name):
            if name == "." or is_rule(folder, name) or is_watched_folder(name):
                self._mailbox.everywhere()
        elif not name or is_watched_file(name, self._mailbox.suffixes):
            self._mailbox.file(folder, name)

    def cover(self, folders: Collection[str]) -> bool:  # noqa: ARG002 - as FolderWatch has it
        """All of them are, since the beginning: what happened before that has to be looked for."""
        new, self._is_new = self._is_new, False
        return new

    def is_alive(self) -> bool:
        """Whether all threads of watchdog run: one may be dead and the others silent."""
        emitters = list(self._observer.emitters)
        return bool(self._observer.is_alive() and emitters and all(e.is_alive() for e in emitters))

    def is_short(self) -> bool:
        """There is one watch, or none."""
        return False

    def close(self) -> None:
        """End it."""
        self._ear.leave()
        self._observer.stop()
        self._observer.join(5.0)
