"""Adding lines at the end of a file that others append to, save and replace as they like."""

from __future__ import annotations

import errno
import os
import stat
import time
from pathlib import Path

from agent_memfas.errors import FileFault, TryAgain
from agent_memfas.store.durable import sync_folder
from agent_memfas.store.files import fault, read_all

ATTEMPTS = 10
PAUSE = 0.05


def add_lines(path: Path, data: bytes, header: bytes | None = None) -> int:
    """Append whole lines in one write, and make sure that they stand in the file that has the name
    afterwards: a save that replaces it just then does not take them along. Returns the number of
    the last line, 1-based.

    header: makes the file (mode 0600), beginning with it, where it is missing or, as a full disk
    leaves it, empty; None: it must be there. TryAgain where it is being replaced all the time;
    FileFault where it cannot be written.
    """
    written = False
    for _ in range(ATTEMPTS):
        try:
            number, here = _write(path, data, header, skip_if_there=written)
            written = True
            there = os.stat(path, follow_symlinks=False)
        except FileNotFoundError:
            time.sleep(PAUSE)
            continue
        except OSError as error:
            raise fault(path, error) from error
        if (there.st_dev, there.st_ino) == here:
            return number
    raise TryAgain(f"{path}: it is being replaced again and again", "run it again")


def _write(
    path: Path, data: bytes, header: bytes | None, *, skip_if_there: bool
) -> tuple[int, tuple[int, int]]:
    flags = os.O_RDWR | os.O_APPEND | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
    made = header is not None
    try:
        descriptor = os.open(path, flags | (os.O_CREAT | os.O_EXCL if made else 0), 0o600)
    except FileExistsError:
        descriptor, made = os.open(path, flags), False
    try:
        info = os.fstat(descriptor)
        if not stat.S_ISREG(info.st_mode):
            raise FileFault(f"{path}: not a regular file")
        before = read_all(descriptor)
        if not (skip_if_there and data in before):
            start = b"" if before else header or b""
            joint = start if before[-1:] in (b"\n", b"") else b"\n"
            _write_once(descriptor, joint + data)
            os.fsync(descriptor)
            if made:
                sync_folder(path.parent)
            before += joint + data
        return before.count(b"\n"), (info.st_dev, info.st_ino)
    finally:
        os.close(descriptor)


def _write_once(descriptor: int, data: bytes) -> None:
    """One write of everything; what a full disk took of it is cut off again if it is the end."""
    taken = os.write(descriptor, data)
    if taken == len(data):
        return
    end = os.lseek(descriptor, 0, os.SEEK_CUR)
    if os.fstat(descriptor).st_size == end:
        os.ftruncate(descriptor, end - taken)
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
