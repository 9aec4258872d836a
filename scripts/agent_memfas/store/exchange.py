"""The way without a lease: put a new file in the old one's place and never let the old one go.

The swapped-out inode stays in `.memfas/limbo/`, with a note of how many of its bytes are
accounted for. A process that still has it open may append to it; `drain` carries such lines over
at this and every later run, until nobody has it open any more or nothing has come for a week.
"""

from __future__ import annotations

import ctypes
import dataclasses
import errno
import hashlib
import json
import os
import shutil
import stat
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path

from agent_memfas.errors import FileFault
from agent_memfas.store import archive, locks, redo
from agent_memfas.store.durable import sync_folder, write_all, write_whole
from agent_memfas.store.files import fault, read, read_all
from agent_memfas.store.layout import Folder
from agent_memfas.store.redo import Changed, Redo
from agent_memfas.text.documents import split

LIMBO_DAYS = 7
ATTEMPTS = 10
_AT_FDCWD = -100
_RENAME_EXCHANGE = 2


def replace(folder: Folder, path: Path, fit: Callable[[bytes], Redo | None]) -> bytes:
    """Swap in a new file with the changed text; the caller holds the folder's locks.

    Changed where the file is another by now. FileFault on a hard-linked file, whose other names
    would keep the old text.
    """
    with ExitStack() as opened:
        old = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
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
    return record.after


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
    here = os.fstat(new)
    if _identity(path) != (here.st_dev, here.st_ino):
        _append(path, late)
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
    here = os.fstat(descriptor)
    same = _identity(name) == (here.st_dev, here.st_ino)
    return same and read_all(descriptor).startswith(current)


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


def settle_temporary(folder: Folder, record: Redo, state: str) -> None:
    """After a crash: the temporary file is our new text, whole or half (away with it), or what had
    the name before, which may hold late lines. state: of the file, as redo.classify tells it."""
    if not record.temp:
        return
    temporary = folder.root / record.temp
    try:
        data = read(temporary).data
    except FileFault:
        return
    if state == "pending" or record.after.startswith(data):
        temporary.unlink()
    else:
        to_limbo(folder, folder.place(record.path), temporary, record.before, pending=len(data))


def to_limbo(
    folder: Folder, path: Path, old: Path, accounted: bytes, pending: int | None = None
) -> None:
    """Keep a swapped-out file, with a note of what in it is accounted for. pending: its size, if
    what lies behind that may have been carried over already."""
    limbo = locks.state_folder(folder, "limbo")
    kept = limbo / old.name.lstrip(".")
    note = {
        "path": folder.relative(path),
        "kept": folder.relative(kept),
        "accounted": len(accounted),
        "sha256": hashlib.sha256(accounted).hexdigest(),
        "pending": pending,
    }
    note_path = kept.with_suffix(".json")
    write_whole(note_path, json.dumps(note).encode())
    try:
        os.rename(old, kept)
    except OSError as error:
        if error.errno != errno.EXDEV:
            raise
        write_whole(note_path, json.dumps({**note, "kept": folder.relative(old)}).encode())
    sync_folder(limbo)


def drain(folder: Folder, wall: float | None = None) -> list[str]:
    """Carry over what was written to swapped-out files. Returns a sentence for each such file.

    wall: the time, in seconds since 1970; without it, files that are still open stay in limbo.
    """
    limbo = folder.state / "limbo"
    if not limbo.is_dir():
        return []
    said = []
    for note_path in sorted(limbo.glob("*.json")):
        try:
            note = json.loads(note_path.read_bytes())
            kept = folder.root / str(note["kept"])
            if not kept.exists():
                note_path.unlink()
                continue
            count = _carry_over(folder, kept, note_path, note, wall)
        except (OSError, ValueError, KeyError, FileFault) as error:
            said.append(f"{note_path}: cannot be carried over: {error}")
            continue
        if count:
            said.append(f"carried {count} late lines over to {note['path']}")
    return said


def _carry_over(
    folder: Folder, kept: Path, note_path: Path, note: dict[str, object], wall: float | None
) -> int:
    """Append what is new in one swapped-out file to its successor; remove it if it is quiet.

    The lease comes before the reading: with it, nobody has the file open, so that nothing can come
    between the last look and the end of it.
    """
    descriptor = os.open(kept, os.O_RDWR | os.O_NOFOLLOW | os.O_CLOEXEC)
    try:
        alone = _is_alone(descriptor)
        count = _take_over(folder, read_all(descriptor), note_path, note, alone=alone)
        quiet = wall - os.fstat(descriptor).st_ctime if wall is not None else 0.0
        if alone or quiet > LIMBO_DAYS * 86400:
            kept.unlink()
            note_path.unlink()
    finally:
        os.close(descriptor)
    return count


def _take_over(
    folder: Folder, data: bytes, note_path: Path, note: dict[str, object], *, alone: bool
) -> int:
    path = folder.place(str(note["path"]))
    accounted = int(str(note["accounted"]))
    whole = hashlib.sha256(data[:accounted]).hexdigest() == note["sha256"]
    end = len(data) if alone else data.rfind(b"\n") + 1
    if whole:
        late = data[accounted:end]
        there = note.get("pending") == len(data) and late in read(path).data
    else:
        late, there = _unknown_lines(folder, path, data[:end]), False
    if not late:
        return 0
    if not there:
        write_whole(note_path, json.dumps({**note, "pending": len(data)}).encode())
        _append(path, late)
    settled = {"accounted": end, "sha256": hashlib.sha256(data[:end]).hexdigest()}
    write_whole(note_path, json.dumps({**note, **settled, "pending": None}).encode())
    return len(split(late))


def _unknown_lines(folder: Folder, path: Path, data: bytes) -> bytes:
    """Whole lines of a rewritten old file that stand nowhere else."""
    known = archive.all_lines(folder.root) | set(split(read(path).data))
    return b"".join(line for line in split(data) if line.strip() and line not in known)


def _is_alone(descriptor: int) -> bool:
    try:
        return locks.take_lease(descriptor)
    except locks.LeaseUnavailable:
        return False


def put_away(folder: Folder, record: Redo) -> None:
    """See to it that the record's block stands in the archive, if it has one."""
    path = folder.root / record.archive
    if record.block and not archive.stands(path, record.block):
        archive.append_block(path, record.block)


def _append(path: Path, data: bytes) -> None:
    """Lines behind a file's last one, in one write; they start on a line of their own.

    A save that replaces the file just then does not take them along: the new one gets them too.
    """
    for attempt in range(ATTEMPTS):
        descriptor = os.open(path, os.O_RDWR | os.O_APPEND | os.O_NOFOLLOW | os.O_CLOEXEC)
        try:
            before = read_all(descriptor)
            if not (attempt and data in before):
                write_all(descriptor, data if before[-1:] in (b"\n", b"") else b"\n" + data)
                os.fsync(descriptor)
            here = os.fstat(descriptor)
        finally:
            os.close(descriptor)
        if _identity(path) == (here.st_dev, here.st_ino):
            return
    raise FileFault(f"{path}: it is being replaced again and again", "run it again")
