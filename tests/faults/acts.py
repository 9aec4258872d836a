"""What another writer may do to a file, in steps: so that a pass can be met in the middle of one.

An act is a generator: each `yield` ends a step. `Other` does the steps in a thread, for a step may
have to wait until the janitor lets go of its lease.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

from .writers import append_once, save_by_rename, save_in_place, save_like_vim

Act = Iterator[None]


def line_of(name: str) -> bytes:
    """What the act of this name adds to the file."""
    return f"- [P0] written just then by {name}\n".encode()


def append(path: str, line: bytes) -> Act:
    """open, append, close."""
    append_once(path, line.decode())
    yield


def append_slowly(path: str, line: bytes) -> Act:
    """open; the line is written only when the pass is over."""
    with open(path, "ab", buffering=0) as handle:
        yield
        handle.write(line)
    yield


def append_by_handle(path: str, line: bytes) -> Act:
    """Append by a handle that has been open since before the pass."""
    handle = os.open(path, os.O_WRONLY | os.O_APPEND)
    yield
    os.write(handle, line)
    os.close(handle)
    yield


def saver(save: Callable[[str, bytes], None], *, stale: bool) -> Callable[[str, bytes], Act]:
    """Read the whole file (stale: before the pass began), add a line, save."""

    def act(path: str, line: bytes) -> Act:
        data = Path(path).read_bytes() if stale else b""
        if stale:
            yield
        data = data or Path(path).read_bytes()
        save(path, data + line)
        yield

    return act


def half_by_rename(path: str, line: bytes) -> Act:
    """As vim: rename away; the new file comes only when the pass is over."""
    data = Path(path).read_bytes()
    os.rename(path, path + "~")
    yield
    Path(path).write_bytes(data + line)
    os.unlink(path + "~")
    yield


def half_in_place(path: str, line: bytes) -> Act:
    """Truncate; the text comes only when the pass is over."""
    data = Path(path).read_bytes()
    with open(path, "wb", buffering=0) as handle:
        yield
        handle.write(data + line)
    yield


def read_now_save_later(path: str, line: bytes) -> Act:
    """Read the whole file; save it with a line more when the pass is over."""
    data = Path(path).read_bytes()
    yield
    save_in_place(path, data + line)
    yield


BEFORE = {"append by handle", "stale rename", "stale vim-like", "stale in-place"}
ACTS: dict[str, Callable[[str, bytes], Act]] = {
    "append": append,
    "slow append": append_slowly,
    "append by handle": append_by_handle,
    "rename": saver(save_by_rename, stale=False),
    "vim-like": saver(save_like_vim, stale=False),
    "in-place": saver(save_in_place, stale=False),
    "stale rename": saver(save_by_rename, stale=True),
    "stale vim-like": saver(save_like_vim, stale=True),
    "stale in-place": saver(save_in_place, stale=True),
    "half rename": half_by_rename,
    "slow save": read_now_save_later,
    "half in-place": half_in_place,
}


class Other:
    """Another writer: an act, of which each step may be made to wait by a lease."""

    def __init__(self, name: str, path: Path) -> None:
        self.act = ACTS[name](str(path), line_of(name))
        self.thread: threading.Thread | None = None
        self.failures: list[OSError] = []
        if name in BEFORE:
            next(self.act)

    def step(self) -> None:
        """Begin the next step; it has a hundredth of a second before the pass goes on."""
        self.thread = threading.Thread(target=self.run)
        self.thread.start()
        self.thread.join(0.01)

    def run(self) -> None:
        """In the thread."""
        try:
            next(self.act, None)
        except OSError as error:
            self.failures.append(error)

    def finish(self) -> None:
        """The rest of the act, after the pass."""
        if self.thread is not None:
            self.thread.join(5)
        for _ in self.act:
            pass
