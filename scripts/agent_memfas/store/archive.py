"""The archive: where entries stand before they leave a memory file.

A pass appends one block to `archive/expired-YYYY-MM.md`, between two comments that carry its id:
so a run that was killed half-way is recognised, and finished, not repeated. Each entry keeps its
bytes; a comment before it tells where it stood.
"""

from __future__ import annotations

import hashlib
import os
import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from urllib.parse import unquote_to_bytes

from agent_memfas.errors import FileFault
from agent_memfas.store.durable import sync_folder, write_all
from agent_memfas.store.files import read, read_all
from agent_memfas.text.documents import BOM, Document, split

FOLDER = "archive"
ATTEMPTS = 10
_FROM = re.compile(rb"<!-- from (?P<path>.+?):(?P<line>[0-9]+)(?: \| (?P<heading>.*?))? -->\r?\n?")
_BEGIN = re.compile(rb"<!-- janitor (?P<id>[0-9A-Za-z-]+) -->\r?\n?")
_ARCHIVED = re.compile(rb"## Archived ([0-9]{4}-[0-9]{2}-[0-9]{2}) by memory-janitor", re.ASCII)


@dataclass(frozen=True)
class Moved:
    """An entry on its way: where it stood (path, 1-based line, heading path) and its raw lines."""

    path: str
    line: int
    heading: str
    lines: tuple[bytes, ...]


@dataclass(frozen=True)
class Archived:
    """An archived entry as found: its pass, its lines there (0-based, end exclusive), and Moved."""

    pass_id: str
    start: int
    end: int
    origin: Moved


def file_name(today: date) -> str:
    """The archive file of a run's month, relative to the memory folder."""
    return f"{FOLDER}/expired-{today:%Y-%m}.md"


def block_id(pass_id: str, path: str) -> str:
    """The id of the block that a pass archives from one file; each file of a pass has its own."""
    if path == "MEMORY.md":
        return pass_id
    return f"{pass_id}-{hashlib.sha256(path.encode('utf-8', 'replace')).hexdigest()[:6]}"


def taken_out(
    document: Document, name: str, spans: Iterable[tuple[int, int]]
) -> tuple[tuple[bytes, ...], tuple[Moved, ...]]:
    """(the lines that stay in a file, what leaves it, as it is archived). spans: lines, 0-based,
    end exclusive, in order. A byte order mark belongs to the file and stays.
    """
    moved, gone = list[Moved](), set[int]()
    for start, end in spans:
        gone.update(range(start, end))
        first, *rest = document.lines[start:end]
        lines = (first.removeprefix(BOM) if start == 0 else first, *rest)
        moved.append(Moved(name, start + 1, " > ".join(document.heading_path(start)), lines))
    kept = tuple(line for n, line in enumerate(document.lines) if n not in gone)
    if 0 in gone and document.data.startswith(BOM):
        kept = (BOM + kept[0], *kept[1:]) if kept else (BOM,)
    return kept, tuple(moved)


def block(pass_id: str, today: date, moved: list[Moved]) -> bytes:
    """The bytes of one pass' block. The raw lines in it are those of the entries, unchanged."""
    out = [f"\n<!-- janitor {pass_id} -->\n## Archived {today} by memory-janitor\n".encode()]
    for entry in moved:
        heading = f" | {_in_comment(entry.heading)}" if entry.heading else ""
        out.append(f"<!-- from {_path_text(entry.path)}:{entry.line}{heading} -->\n".encode())
        out += entry.lines
        if entry.lines and not entry.lines[-1].endswith(b"\n"):
            out.append(b"\n")
    out.append(f"<!-- /janitor {pass_id} -->\n".encode())
    return b"".join(out)


def _in_comment(text: str) -> str:
    """Text that cannot end the comment it stands in."""
    return text.replace("--", "- -").replace("\n", " ").encode("utf-8", "replace").decode()


def _path_text(path: str) -> str:
    """A path of any bytes that a comment can hold and `_path` reads again: as it is, but for `%`,
    control characters, what is not UTF-8 and a second dash, which are percent-encoded."""
    plain = "".join(
        c if c.isprintable() and c != "%" else "".join(f"%{b:02X}" for b in os.fsencode(c))
        for c in path
    )
    return plain.replace("--", "-%2D")


def _path(text: bytes) -> str:
    return os.fsdecode(unquote_to_bytes(text))


class ArchiveFault(FileFault):
    """The archive cannot be written; it is as it was, and so is the memory file."""


def append_block(path: Path, data: bytes) -> None:
    """Append a pass' block unless it is there, durably; make the file and its folder if need be.

    A torn beginning of the same block at the end of the file is ours: it is cut back first. A file
    that was replaced meanwhile by somebody's save gets the block too.
    """
    for _ in range(ATTEMPTS):
        if _append_once(path, data):
            return
    raise ArchiveFault(f"{path}: it is being saved again and again; nothing was moved")


def stands(path: Path, data: bytes) -> bool:
    """Whether a block is in the archive file that has the name now."""
    try:
        return data.strip() in read(path).data
    except FileFault:
        return False


def _append_once(path: Path, data: bytes) -> bool:
    """Whether the file that got the block still had the name when it was on the disk."""
    try:
        os.makedirs(path.parent, 0o700, exist_ok=True)
        flags = os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
        descriptor = os.open(path, flags, 0o600)
    except OSError as error:
        raise _fault(path, error) from error
    try:
        here = os.fstat(descriptor)
        current = read_all(descriptor)
        size = None if data.strip() in current else len(current) - _torn_tail(current, data)
        if size is not None:
            _append_at(descriptor, size, current, data)
        try:
            os.fsync(descriptor)
            sync_folder(path.parent)
            sync_folder(path.parent.parent)
        except OSError:
            if size is not None:
                _cut_back(descriptor, size, data)
            raise
    except OSError as error:
        raise _fault(path, error) from error
    finally:
        os.close(descriptor)
    try:
        there = os.stat(path, follow_symlinks=False)
    except FileNotFoundError:
        return False
    except OSError:
        return True
    return (there.st_dev, there.st_ino) == (here.st_dev, here.st_ino)


def _fault(path: Path, error: OSError) -> ArchiveFault:
    why = os.strerror(error.errno or 0)
    return ArchiveFault(f"{path}: {why}; nothing was moved", "make room or mend it, then run again")


def _append_at(descriptor: int, size: int, current: bytes, data: bytes) -> None:
    if size < len(current):
        os.ftruncate(descriptor, size)
    try:
        write_all(descriptor, data if current[size - 1 : size] in (b"", b"\n") else b"\n" + data)
    except OSError:
        os.ftruncate(descriptor, size)
        raise


def _cut_back(descriptor: int, size: int, data: bytes) -> None:
    """Take the block back, unless somebody has appended behind it meanwhile."""
    if read_all(descriptor)[size:].lstrip(b"\n") == data.lstrip(b"\n"):
        os.ftruncate(descriptor, size)


def _torn_tail(current: bytes, data: bytes) -> int:
    """How many bytes at the end of the file are the beginning of this very block (0: none)."""
    head = data.index(b"\n", 1) + 1
    at = current.rfind(data[:head])
    if at >= 0:
        return len(current) - at if data.startswith(current[at:]) else 0
    return next((k for k in range(head - 1, 5, -1) if current.endswith(data[:k])), 0)


def retract(path: Path, data: bytes) -> None:
    """Take back a block that append_block has just put at the end of the file, if it still is."""
    descriptor = os.open(path, os.O_RDWR | os.O_NOFOLLOW | os.O_CLOEXEC)
    try:
        current = read_all(descriptor)
        if current.endswith(data):
            os.ftruncate(descriptor, len(current) - len(data))
            os.fsync(descriptor)
    finally:
        os.close(descriptor)


def find(data: bytes) -> list[Archived]:
    """Every archived entry of an archive file that carries its origin, in order."""
    out: list[Archived] = []
    lines, pass_id = split(data), ""
    origin: tuple[str, int, str] | None = None
    start = 0
    for n, line in enumerate((*lines, b"<!-- /janitor  -->\n")):
        mark = line.startswith((b"<!-- from ", b"<!-- /janitor ", b"<!-- janitor "))
        if mark and origin is not None and n > start:
            moved = Moved(*origin, tuple(lines[start:n]))
            out.append(Archived(pass_id, start, n, moved))
        if not mark:
            continue
        origin = None
        if begun := _BEGIN.fullmatch(line):
            pass_id = begun["id"].decode()
        elif came := _FROM.fullmatch(line):
            heading = (came["heading"] or b"").decode("utf-8", "replace")
            origin = (_path(came["path"]), int(came["line"]), heading)
            start = n + 1
    return out


def without_block(data: bytes, block: str, standing: Counter[bytes]) -> bytes | None:
    """An archive without one block. None where it is not there whole, or holds an entry line
    that is not among those standing in the memory file.
    """
    begin, end = f"<!-- janitor {block} -->\n".encode(), f"<!-- /janitor {block} -->\n".encode()
    first = data.find(begin)
    last = data.find(end, first)
    if first < 0 or last < 0:
        return None
    body = split(data[first + len(begin) : last])
    entry_lines = (n.strip() for n in body if not n.startswith((b"<!-- from ", b"## Archived ")))
    bare = Counter(line.removeprefix(BOM).strip() for line in standing.elements())
    if Counter(entry_lines) - bare:
        return None
    blank = data[:first].endswith(b"\n\n") or first == 1
    return data[: first - blank] + data[last + len(end) :]


def last_pass_day(folder: Path) -> str | None:
    """The newest day on which a pass archived something, by the archive's own headings."""
    days: list[bytes] = []
    try:
        names = sorted(n for n in os.listdir(folder) if n.startswith("expired-"))
    except OSError:
        return None
    for name in names[-2:]:
        try:
            days += _ARCHIVED.findall(read(folder / name).data)
        except FileFault:
            continue
    return max(days).decode() if days else None


def all_lines(root: Path) -> set[bytes]:
    """Every line that stands in any archive file of a memory folder."""
    out: set[bytes] = set()
    for path in sorted((root / FOLDER).glob("*.md")):
        try:
            out.update(split(read(path).data))
        except FileFault:
            continue
    return out
