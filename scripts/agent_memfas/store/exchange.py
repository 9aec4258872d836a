"""The way without a lease: put a new file in the old one's place and never let the old one go.

A process that still has the old file open may write to it after the swap; what it writes is
carried over (limbo.py).
"""

from __future__ import annotations

import ctypes
import dataclasses
import errno
import os
import shutil
import stat
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path

from agent_memfas.errors import FileFault
from agent_memfas.store import archive, redo
from agent_memfas.store.durable import sync_folder, write_all
from agent_memfas.store.files import fault, is_at, read_all
from agent_memfas.store.layout import Folder
from agent_memfas.store.limbo import drain, to_limbo
from agent_memfas.store.redo import Changed, Redo
from agent_memfas.store.tail import add_lines

_AT_FDCWD = -100
_RENAME_EXCHANGE = 2


def replace(folder: Folder, path: Path, fit: Callable[[bytes], Redo | None]) -> Redo:
    """Swap in a new file with the changed text; the caller holds the folder's locks.

    Changed where the file is another by now. FileFault on a hard-linked file, whose other names
    would keep the old text.
    """
    with ExitStack() as opened:
        try:
            old = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
        except FileNotFoundError as error:
            raise Changed from error
        except OSError as error:
            raise fault(path, error) from error
        opened.callback(os.close, old)
        info = os.fstat(old)
        if info.st_nlink > 1:
            raise FileFault(
                f"{path}: has {info.st_nlink} names and is held open by another process",
                "close the program that has it open, then run the command again",
            )
        current = read_all(old)
        record = fit(current)
        if record is None:
            raise Changed
        temporary = path.with_name(f".{path.name[:200]}.{record.pass_id}.memfas.tmp")
        record = dataclasses.replace(record, temp=folder.relative(temporary))
        redo.save(folder, record)
        try:
            new = _write_beside(path, temporary, record.after, info)
            opened.callback(os.close, new)
            put_away(folder, record)
            current += _swap_files(folder, path, temporary, record, (old, new), current)
        except (Changed, FileFault):
            temporary.unlink(missing_ok=True)
            raise
    sync_folder(path.parent)
    to_limbo(folder, path, temporary, current)
    put_away(folder, record)
    redo.drop(folder)
    drain(folder)
    return record


def _swap_files(
    folder: Folder,
    path: Path,
    temporary: Path,
    record: Redo,
    files: tuple[int, int],
    current: bytes,
) -> bytes:
    """Swap, and carry over at once what came to the old file meanwhile. Returns those bytes.

    files: the old and the new one, open, so that nothing need be opened in between.
    """
    old, new = files
    if not _swap(path, temporary, old, current):
        if record.block:
            archive.retract(folder.root / record.archive, record.block)
        if temporary.exists():
            to_limbo(folder, path, temporary, record.after)
            drain(folder)
        raise Changed
    late = read_all(old)[len(current) :]
    if not late.endswith(b"\n"):
        return b""
    write_all(new, late)
    os.fsync(new)
    if not is_at(path, new):
        add_lines(path, late)
    return late


def _write_beside(path: Path, temporary: Path, data: bytes, info: os.stat_result) -> int:
    """The new text as a file beside the old one, with its mode, owner and attributes, synced.

    Returns it open, for appending.
    """
    flags = os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    descriptor = -1
    try:
        temporary.unlink(missing_ok=True)
        descriptor = os.open(temporary, flags, 0o600)
        write_all(descriptor, data)
        if os.geteuid() == 0 or info.st_uid == os.geteuid():
            os.fchown(descriptor, info.st_uid, info.st_gid)
        shutil.copystat(path, temporary, follow_symlinks=False)
        os.utime(descriptor)
        os.fchmod(descriptor, stat.S_IMODE(info.st_mode))
        os.fsync(descriptor)
    except OSError as error:
        if descriptor >= 0:
            os.close(descriptor)
        temporary.unlink(missing_ok=True)
        raise fault(path, error) from error
    return descriptor


def _swap(path: Path, temporary: Path, descriptor: int, current: bytes) -> bool:
    """Exchange the two names and look at what came out; put it back if it is not what was read.

    Where the system has no exchange: a hard link keeps the old inode, then a plain rename. False:
    the name has what others saved; a temporary that still exists had the name for a moment.
    """
    ours = _identity(temporary)
    try:
        if not _exchange(temporary, path):
            kept = temporary.with_name(temporary.name + ".old")
            os.link(path, kept)
            if not _is_read(kept, descriptor, current):
                kept.unlink()
                temporary.unlink()
                return False
            os.rename(temporary, path)
            os.rename(kept, temporary)
            return True
    except FileNotFoundError:
        temporary.unlink(missing_ok=True)
        return False
    if _is_read(temporary, descriptor, current):
        return True
    _put_back(path, temporary, ours)
    return False


def _put_back(path: Path, temporary: Path, ours: tuple[int, int]) -> None:
    """Give the name back to what somebody saved just before the exchange.

    Another save may come in between: then theirs comes out where ours was expected, and goes back
    in, until what comes out is what was put in last. temporary then holds our file, or a save that
    a later save has replaced.
    """
    while True:
        entering = _identity(temporary)
        _exchange(temporary, path)
        if _identity(temporary) == ours:
            return
        ours = entering


def _identity(name: Path) -> tuple[int, int]:
    info = os.stat(name, follow_symlinks=False)
    return info.st_dev, info.st_ino


def _is_read(name: Path, descriptor: int, current: bytes) -> bool:
    return is_at(name, descriptor) and read_all(descriptor).startswith(current)


def _exchange(one: Path, other: Path) -> bool:
    """Swap two names in one step (Linux renameat2). False where the system cannot."""
    library = ctypes.CDLL(None, use_errno=True)
    call = getattr(library, "renameat2", None)
    if call is None:
        return False
    names = os.fsencode(one), os.fsencode(other)
    if call(_AT_FDCWD, names[0], _AT_FDCWD, names[1], _RENAME_EXCHANGE) == 0:
        return True
    number = ctypes.get_errno()
    if number == errno.ENOENT:
        raise FileNotFoundError(number, os.strerror(number), str(other))
    if number in (errno.ENOSYS, errno.EINVAL, errno.ENOTSUP, errno.EPERM):
        return False
    raise OSError(number, os.strerror(number), str(other))


def put_away(folder: Folder, record: Redo) -> None:
    """See to it that the record's block stands in the archive, if it has one."""
    path = folder.root / record.archive
    if record.block and not archive.stands(path, record.block):
        archive.append_block(path, record.block)
