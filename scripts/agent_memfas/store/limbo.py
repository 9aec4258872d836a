"""Files that were swapped out while somebody had them open: kept, and drained of late lines.

The old inode stays in `.memfas/limbo/`, with a note of how many of its bytes are accounted for.
Whoever still has it open may append to it; `drain` carries such lines over at this and every later
run, until nobody has it open any more or nothing has come for a week.
"""

from __future__ import annotations

import errno
import hashlib
import json
import os
from pathlib import Path

from agent_memfas.errors import FileFault, TryAgain
from agent_memfas.store import archive, locks
from agent_memfas.store.durable import sync_folder, write_whole
from agent_memfas.store.files import read, read_all
from agent_memfas.store.layout import Folder
from agent_memfas.store.redo import Redo
from agent_memfas.store.tail import add_lines
from agent_memfas.text.documents import split

LIMBO_DAYS = 7


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
        except (OSError, ValueError, KeyError, FileFault, TryAgain) as error:
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
        add_lines(path, late)
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
