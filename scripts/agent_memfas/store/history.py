"""What files held before: the last 30 versions of each, and what each pass changed.

`.memfas/history/objects/` holds contents by their hash, `.memfas/history/log.jsonl` one line a
version: the only help against an editor or a model that overwrites. Losing it loses undo, never
memory.
"""

from __future__ import annotations

import hashlib
import json
import os
from dataclasses import asdict, dataclass
from pathlib import Path

from agent_memfas.errors import FileFault
from agent_memfas.store.durable import write_whole
from agent_memfas.store.layout import Folder
from agent_memfas.store.locks import exclusive, state_folder
from agent_memfas.store.tail import add_lines

KEPT = 30
ROOM = 64 * 1024  # bytes of the log from which on what is over the limit is dropped from it
LARGEST = 5 * 1024 * 1024


@dataclass(frozen=True)
class Version:
    """One line of the log. before, after: content hashes ("" unknown); equal: only looked at.

    time: ISO with offset. archive: the archive file that took the pass' block. line: text that
    was appended (then there are no hashes).
    """

    pass_id: str
    time: str
    command: str
    path: str
    before: str = ""
    after: str = ""
    archive: str = ""
    line: str = ""


def record(folder: Folder, version: Version, *contents: bytes) -> None:
    """Add a version to the log and its contents to the store; drop what is over the limit."""
    with exclusive(folder, "history.lock", wait=5.0):
        for data in contents:
            keep(folder, data)
        if (not version.line and _is_full(folder, version.path)) or not _add(folder, version):
            _rewrite_log(folder, [*versions(folder), version])


def _is_full(folder: Folder, path: str) -> bool:
    """Whether a file has as many versions as are kept, so that the next one drops the oldest."""
    return len({v.pass_id for v in versions(folder, path) if not v.line}) >= KEPT


def _add(folder: Folder, version: Version) -> bool:
    """Add a line to the log as it is; False where it is time to look for what can be dropped.

    A pass may change a thousand files: the log is not written anew for each of them, but each time
    that it has doubled.
    """
    path, line = state_folder(folder, "history") / "log.jsonl", _line(version)
    size = path.stat().st_size if path.exists() else 0
    if (size // ROOM).bit_length() != ((size + len(line)) // ROOM).bit_length():
        return False
    add_lines(path, line, b"")
    return True


def _line(version: Version) -> bytes:
    return json.dumps(asdict(version)).encode() + b"\n"


def keep(folder: Folder, data: bytes) -> None:
    """Put a content into the store, unless it is there or over the size limit."""
    objects = state_folder(folder, "history", "objects")
    path = objects / digest(data)
    if len(data) <= LARGEST and not path.exists():
        write_whole(path, data)


def digest(data: bytes) -> str:
    """The name of a content: its SHA-256, hexadecimal."""
    return hashlib.sha256(data).hexdigest()


def versions(folder: Folder, path: str = "") -> list[Version]:
    """The log, oldest first; of one file, or of all. Lines that make no sense are passed over."""
    try:
        raw = (folder.state / "history" / "log.jsonl").read_bytes()
    except OSError:
        return []
    out, named = [], json.dumps(path).encode() if path else b""
    for line in raw.split(b"\n"):
        if named not in line:  # a log of years is read for each of a thousand files
            continue
        try:
            version = Version(**json.loads(line))
        except (ValueError, TypeError):
            continue
        if not path or version.path == path:
            out.append(version)
    return out


def content(folder: Folder, name: str) -> bytes | None:
    """A content by its hash, or None: too old, too large, or never kept."""
    try:
        data = (folder.state / "history" / "objects" / name).read_bytes() if name else None
    except OSError:
        return None
    return data if data is not None and digest(data) == name else None


def _rewrite_log(folder: Folder, log: list[Version]) -> None:
    """The newest KEPT versions of each file (and what as many passes have appended to it), and what
    they name. A pass is kept whole, for it is undone whole.
    """
    passes = dict[tuple[str, bool], set[str]]()
    kept: list[Version] = []
    for version in reversed(log):
        kind = version.path, bool(version.line)
        known = passes.setdefault(kind, set())
        if version.pass_id in known or len(known) < KEPT:
            known.add(version.pass_id)
            kept.append(version)
    kept.reverse()
    path = state_folder(folder, "history") / "log.jsonl"
    write_whole(path, b"".join(map(_line, kept)))
    if len(kept) < len(log):
        _forget(
            state_folder(folder, "history", "objects"),
            {name for v in kept for name in (v.before, v.after)},
        )


def _forget(objects: Path, named: set[str]) -> None:
    for name in os.listdir(objects):
        if name not in named:
            (objects / name).unlink(missing_ok=True)


def observe(folder: Folder, path: str, data: bytes, pass_id: str, time: str) -> Version | None:
    """Keep a content as seen, unless it is the newest one known. Returns the one before it."""
    known = versions(folder, path)
    last = next((v for v in reversed(known) if v.after), None)
    name = digest(data)
    if last is None or last.after != name:
        try:
            record(folder, Version(pass_id, time, "seen", path, name, name), data)
        except FileFault:
            return last
    return last
