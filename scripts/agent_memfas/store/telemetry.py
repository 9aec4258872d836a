"""What curation and models did, as lines of JSON: `.memfas/telemetry.jsonl`, or any file named.

Derived: losing it loses no memory. A full file gets a number and stays: none is ever overwritten.
"""

from __future__ import annotations

import json
import os
import re
import stat
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, BinaryIO

from agent_memfas.errors import FileFault, MemfasError
from agent_memfas.store.durable import write_all, write_whole
from agent_memfas.store.files import fault, is_at, read
from agent_memfas.store.layout import Folder
from agent_memfas.store.locks import hold_file, state_folder
from agent_memfas.store.places import STATE

FILE, KEY = "telemetry.jsonl", "telemetry.key"
LARGEST = 50 * 1024 * 1024  # bytes from which on a file is put away under a number
_ADD = os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_READ = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


def home(folder: Folder) -> Path:
    """The telemetry file of a memory folder, there or not."""
    return folder.state / FILE


def append(folder: Folder, fields: Mapping[str, Any]) -> None:
    """Add one line to the folder's own file, as `add` does."""
    add(home(folder), fields)


def add(path: Path, fields: Mapping[str, Any], largest: int | None = None) -> None:
    """Add one line, in one write. Where that is not possible nothing is added, and nothing is said:
    no command fails for it.

    A file of `largest` bytes (None: LARGEST) becomes `NAME.1.jsonl`, the next one `NAME.2.jsonl`.
    """
    with suppress(MemfasError, OSError, ValueError):
        line = json.dumps(fields, ensure_ascii=False, allow_nan=False, default=_plain)
        data = line.encode("utf-8", "replace") + b"\n"
        if path.parent.name == STATE:
            state_folder(Folder(path.parent.parent))
        else:
            os.makedirs(path.parent, exist_ok=True)
        descriptor = os.open(path, _ADD, 0o600)
        try:
            info = os.fstat(descriptor)
            if not stat.S_ISREG(info.st_mode):
                return
            torn = info.st_size and os.pread(descriptor, 1, info.st_size - 1) != b"\n"
            write_all(descriptor, b"\n" + data if torn else data)
        finally:
            os.close(descriptor)
        full = LARGEST if largest is None else largest
        if info.st_size + len(data) >= full:
            _put_away(path, full)


def _plain(value: Any) -> Any:
    """A number of numpy's as one of JSON's, anything else as text."""
    return float(value) if hasattr(value, "__float__") else str(value)


def _put_away(path: Path, full: int) -> None:
    """Give a full file the next number. Whoever has it open just now adds to it there.

    Whoever waited for the lock on a file that has got its number meanwhile leaves it alone; so only
    one process at a time looks for a free number, and the name it takes is free.
    """
    with hold_file(path) as descriptor:
        if is_at(path, descriptor) and os.fstat(descriptor).st_size >= full:
            taken = [number for number, _ in _numbered(path)]
            name = f"{path.stem}.{max(taken, default=0) + 1}{path.suffix}"
            os.rename(path, path.with_name(name))


def _numbered(path: Path) -> list[tuple[int, Path]]:
    """The files that were put away, oldest first. `NAME.old.jsonl`, as agent-memfas calls the one
    that it keeps, is older than all of ours.
    """
    ends = re.escape(path.suffix)
    shape = re.compile(rf"{re.escape(path.stem)}\.(old|[1-9][0-9]{{0,8}}){ends}")
    try:
        names = os.listdir(path.parent)
    except OSError:
        return []
    found = [(m[1], path.with_name(name)) for name in names if (m := shape.fullmatch(name))]
    return sorted((0 if number == "old" else int(number), file) for number, file in found)


def parts(path: Path) -> list[Path]:
    """The files that telemetry stands in, oldest first; [] where there is none."""
    return [file for file in [*(p for _, p in _numbered(path)), path] if os.path.lexists(file)]


def lines(path: Path) -> Iterator[tuple[str, int, bytes]]:
    """Every line of every part, oldest first: (name of the part, number of the line, line).

    FileFault where a part cannot be read. The current file is opened before the others are looked
    for: if it gets a number just now, it is read under that one, and once.
    """
    opened: list[tuple[str, BinaryIO]] = []
    try:
        current = _open(path)
        seen = {_identity(current)} if current else set()
        for _, part in _numbered(path):
            file = _open(part)
            if file and _identity(file) in seen:
                file.close()
            elif file:
                opened.append((part.name, file))
        if current:
            opened.append((path.name, current))
        for name, file in opened:
            for number, line in enumerate(file, 1):
                yield name, number, line
    except OSError as error:
        raise fault(path, error) from error
    finally:
        for _, file in opened:
            file.close()


def _open(path: Path) -> BinaryIO | None:
    try:
        descriptor = os.open(path, _READ)
    except FileNotFoundError:
        return None
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise FileFault(f"{path}: not a regular file", "name another file")
    return os.fdopen(descriptor, "rb")


def _identity(file: BinaryIO) -> tuple[int, int]:
    info = os.fstat(file.fileno())
    return info.st_dev, info.st_ino


def clear(path: Path) -> int:
    """Delete all parts. Returns how many there were. FileFault where one cannot be deleted."""
    found = parts(path)
    for part in found:
        try:
            part.unlink(missing_ok=True)
        except OSError as error:
            raise fault(part, error) from error
    return len(found)


def secret_of(folder: Folder) -> bytes:
    """The folder's own key for hashes in its telemetry, 32 bytes, made once. FileFault.

    It is derived data too: with another one, new hashes merely do not match the old.
    """
    path = state_folder(folder) / KEY
    with suppress(FileFault):
        known = read(path, 4096).data
        if len(known) == 32:
            return known
    with hold_file(path.with_suffix(".lock"), 10.0):
        with suppress(FileFault):
            known = read(path, 4096).data
            if len(known) == 32:
                return known
        made = os.urandom(32)
        write_whole(path, made)
        return made
