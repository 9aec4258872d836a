"""The cooperating append: one line, one write, never refused, never torn, never lost."""

from __future__ import annotations

import errno
import os
import stat
import time
from contextlib import ExitStack, suppress
from pathlib import Path

from agent_memfas.errors import FileFault, TryAgain
from agent_memfas.store import history
from agent_memfas.store.durable import sync_folder
from agent_memfas.store.files import fault, read_all
from agent_memfas.store.layout import Folder
from agent_memfas.store.locks import STEP, exclusive
from agent_memfas.store.passes import Pass
from agent_memfas.text.entries import one_line

LOCK_WAIT = 5.0
ATTEMPTS = 10


def append(folder: Folder, name: str, line: str, run: Pass, header: str = "") -> int:
    """Append one line of text to a file of the folder. Returns its 1-based line number.

    The file is made (mode 0600, beginning with header) where it is missing. Line ends inside the
    text become spaces, so that no text can forge an entry of its own. The lock is a courtesy: if
    it cannot be had in five seconds, the append goes on without it.
    """
    path = folder.place(name)
    data = one_line(line).encode("utf-8", "replace") + b"\n"
    with ExitStack() as stack:
        with suppress(TryAgain, FileFault):
            stack.enter_context(exclusive(folder, "append.lock", LOCK_WAIT))
        _tell_missing(folder, path, run)
        number = _append(folder, path, data, header.encode())
    stamp = run.now.isoformat(timespec="seconds")
    version = history.Version(run.id, stamp, run.command, name, line=data.decode())
    try:
        history.record(folder, version)
    except (TryAgain, FileFault):
        run.notices.append("the line is written, but `memfas undo` does not know of it")
    return number


def _tell_missing(folder: Folder, path: Path, run: Pass) -> None:
    """A folder that held files once and is gone is made anew, but not without a word."""
    parent = folder.relative(path.parent) if path.parent != folder.root else ""
    if parent and not path.parent.exists():
        known = {v.path for v in history.versions(folder) if v.path.startswith(f"{parent}/")}
        if known:
            run.notices.append(f"{parent}/ was missing, with {len(known)} files known: made anew")


def _append(folder: Folder, path: Path, data: bytes, header: bytes) -> int:
    """Append and make sure that the line stands in the file that has the name afterwards.

    A file that memfas has seen before and that is missing is being saved by an editor right now:
    it gets half a second to come back, for what is made in its place would be written over.
    """
    known = history.versions(folder, folder.relative(path)) if not path.exists() else []
    deadline = time.monotonic() + (0.5 if known else 0.0)
    while not path.exists() and time.monotonic() < deadline:
        time.sleep(STEP)
    written = False
    for _ in range(ATTEMPTS):
        try:
            for parent in reversed(path.relative_to(folder.root).parents[:-1]):
                (folder.root / parent).mkdir(mode=0o700, exist_ok=True)
            number, here = _write(path, data, header, skip_if_there=written)
            written = True
            there = os.stat(path, follow_symlinks=False)
        except FileNotFoundError:
            time.sleep(STEP)
            continue
        except OSError as error:
            raise fault(path, error) from error
        if (there.st_dev, there.st_ino) == here:
            return number
    raise TryAgain(f"{path}: it is being replaced again and again", "run it again")


def _write(
    path: Path, data: bytes, header: bytes, *, skip_if_there: bool
) -> tuple[int, tuple[int, int]]:
    flags = os.O_RDWR | os.O_APPEND | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
    try:
        descriptor, made = os.open(path, flags | os.O_CREAT | os.O_EXCL, 0o600), True
    except FileExistsError:
        descriptor, made = os.open(path, flags), False
    try:
        info = os.fstat(descriptor)
        if not stat.S_ISREG(info.st_mode):
            raise FileFault(f"{path}: not a regular file")
        before = read_all(descriptor)
        if not (skip_if_there and data in before):
            joint = header if made else b"" if before[-1:] in (b"\n", b"") else b"\n"
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
