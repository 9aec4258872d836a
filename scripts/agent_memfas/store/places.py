"""Where things are in a memory folder, by their names alone."""

from __future__ import annotations

import os
from stat import S_ISREG

from agent_memfas.text.days import parse_day

STATE = ".memfas"
OWN = ("memfas.yaml", "memfas.json", "MEMORY.md", STATE)  # only a memory folder has one of these
MARKS = (*OWN[:3], "memory")
IGNORE = ".memfasignore"
TRIGGERS = "TRIGGERS.md"
CONFIGURATIONS = ("memfas.yaml", "memfas.json")
KINDS = ("memory", "insights", "lessons", "shared", "long-term", "archive", "cold", "other")
PUT_AWAY = frozenset({"archive", "cold"})
COLD, LOGS = "cold-storage", "logs/context"
# Folders of what agents write all day and nobody asks for by words: in no index. Cold storage has a
# ranking of its own.
UNINDEXED = (f"{COLD}/", f"{LOGS}/")
_OPEN = os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC | getattr(os, "O_NOFOLLOW", 0)
_ROOT_KINDS = {
    "memory": "memory",
    "insights": "insights",
    "lessons": "lessons",
    "shared": "shared",
    "archive": "archive",
    COLD: "cold",
}


def has_any(folder: str, marks: tuple[str, ...] = MARKS) -> bool:
    """Whether a folder looks like a memory folder: it has a file or folder of such a name."""
    return any(os.path.lexists(os.path.join(folder, mark)) for mark in marks)


def nearest(start: str, marks: tuple[str, ...] = MARKS) -> str | None:
    """The nearest folder from an absolute path upwards that looks like a memory folder."""
    while True:
        if has_any(start, marks):
            return start
        above = os.path.dirname(start)
        if above == start:
            return None
        start = above


def small(path: str, cap: int) -> bytes | None:
    """The first `cap` bytes of a small file, at one go; None where it cannot be read.

    No link is followed, and no pipe is waited for.
    """
    try:
        descriptor = os.open(path, _OPEN)
    except OSError:
        return None
    try:
        return os.read(descriptor, cap)
    except OSError:
        return None
    finally:
        os.close(descriptor)


def tail(path: str, most: int) -> bytes:
    """The last bytes of a file, from the first line end in them on; b"" where it cannot be read.
    No pipe is waited for.
    """
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except (OSError, ValueError):
        return b""
    try:
        info = os.fstat(descriptor)
        if not S_ISREG(info.st_mode):
            return b""
        start = max(0, info.st_size - most)
        data = os.pread(descriptor, most, start)
    except OSError:
        return b""
    finally:
        os.close(descriptor)
    return data.partition(b"\n")[2] if start else data


def stamp(path: str) -> str:
    """Another text whenever a file was changed; `none` where there is none."""
    try:
        info = os.stat(path)
    except OSError:
        return "none"
    return f"{info.st_ino}:{info.st_size}:{info.st_mtime_ns}:{info.st_ctime_ns}"


def lost_triggers(file: str) -> str:
    """What is wrong where a triggers_file is named and not there, "" for nothing."""
    if not file or os.path.isfile(file):
        return ""
    return f"triggers_file {file}: there is no such file; its triggers are left out"


def kind_of(relative: str) -> str:
    """What a file is by its place: one of KINDS. relative: to the root, with `/`."""
    first, _, rest = relative.partition("/")
    if rest:
        return _ROOT_KINDS.get(first, "other")
    return "long-term" if first.lower() == "memory.md" else "other"


def log_day(relative: str) -> str | None:
    """The day of a daily log, `YYYY-MM-DD` as its name says it, or None for any other file."""
    first, _, name = relative.partition("/")
    if first != "memory" or len(name) != 13 or not name.endswith(".md"):
        return None
    return name[:10] if parse_day(name[:10]) else None
