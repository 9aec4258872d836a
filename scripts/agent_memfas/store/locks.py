"""Locks between memfas' own processes, and the write lease against everybody else's.

Locks are flock on files that are never replaced; they end with the process. A write lease (Linux)
is granted only while no other process has the file open, and makes every open() wait until it is
released: so a rewrite under a lease meets no reader and no writer, whoever they are.
"""

from __future__ import annotations

import errno
import fcntl
import os
import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from agent_memfas.errors import FileFault, TryAgain
from agent_memfas.store.layout import Folder

STEP = 0.05
LEASE_SECONDS = 20.0
_F_SETSIG = 10


def state_folder(folder: Folder, *parts: str) -> Path:
    """`.memfas` (or a folder inside it), made with mode 0700 where it is missing."""
    path = folder.state
    for part in ("", *parts):
        path = path / part
        try:
            os.mkdir(path, 0o700)
        except FileExistsError:
            if path.is_symlink() or not path.is_dir():
                raise FileFault(f"{path}: not a folder", "move it away") from None
        except OSError as error:
            raise FileFault(f"{path}: {os.strerror(error.errno or 0)}; nothing changed") from error
    return path


@contextmanager
def exclusive(folder: Folder, name: str = "lock", wait: float = 0.0) -> Iterator[None]:
    """Hold the named lock of a folder. TryAgain when another process has it for `wait` seconds."""
    with hold_file(state_folder(folder) / name, wait):
        yield


@contextmanager
def hold_file(
    path: Path, wait: float = 0.0, busy: str = "another memfas run is changing this memory folder"
) -> Iterator[int]:
    """Hold a lock file of our own, which is made where it is missing. TryAgain, FileFault.

    busy: what to say where another process has it for `wait` seconds. Gives the open file.
    """
    flags = os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW
    try:
        descriptor = os.open(path, flags, 0o600)
    except OSError as error:
        raise FileFault(f"{path}: {os.strerror(error.errno or 0)}; nothing changed") from error
    try:
        try:
            held = _flock(descriptor, wait)
        except OSError as error:  # a file system without locks, say
            raise FileFault(f"{path}: {os.strerror(error.errno or 0)}; nothing changed") from error
        if not held:
            raise TryAgain(busy, "run it again in a moment")
        yield descriptor
    finally:
        with suppress(OSError):  # it holds nothing that could get lost
            os.close(descriptor)


def is_held(path: Path) -> bool:
    """Whether any process holds that lock file now."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW)
    except OSError:
        return False
    try:
        return not _flock(descriptor, 0.0)
    finally:
        os.close(descriptor)


def _flock(descriptor: int, wait: float) -> bool:
    deadline = time.monotonic() + wait
    while True:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            if error.errno not in (errno.EAGAIN, errno.EACCES):
                raise
        else:
            return True
        if time.monotonic() >= deadline:
            return False
        time.sleep(STEP / 5)


class LeaseUnavailable(Exception):
    """No write lease is to be had of this system, file system or owner: use another way."""


def take_lease(descriptor: int) -> bool:
    """Ask for a write lease on an open file. False: somebody has it open.

    A process that opens the file meanwhile makes the kernel send a signal, SIGIO by default, which
    kills; SIGURG is ignored by default and needs no handler, so it also works off the main thread.
    """
    if not hasattr(fcntl, "F_SETLEASE"):
        raise LeaseUnavailable
    try:
        fcntl.fcntl(descriptor, _F_SETSIG, signal.SIGURG)
        fcntl.fcntl(descriptor, fcntl.F_SETLEASE, fcntl.F_WRLCK)
    except OSError as error:
        if error.errno == errno.EAGAIN:
            return False
        raise LeaseUnavailable from error
    return True


def lease_seconds() -> float:
    """How long a lease may be relied on: 20 s, or half of what the kernel gives, if that is less.

    F_GETLEASE cannot tell: it says "unlocked" as soon as anybody waits. Only time can.
    """
    try:
        given = float(Path("/proc/sys/fs/lease-break-time").read_text("ascii"))
    except (OSError, ValueError):
        return LEASE_SECONDS
    return min(LEASE_SECONDS, given / 2)


def since_boot() -> float:
    """Seconds on a clock that also runs while the machine sleeps."""
    return time.clock_gettime(getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC))
