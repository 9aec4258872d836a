"""Reading files: regular ones only, never through a link, never more than the cap."""

from __future__ import annotations

import errno
import os
import re
import stat
from dataclasses import dataclass
from pathlib import Path

from agent_memfas.errors import FileFault
from agent_memfas.store.layout import Folder
from agent_memfas.store.listing import COPY, TEXT_SUFFIXES, Signature, Skipped, join
from agent_memfas.store.sweep import LINKS, sweep

READ_CAP = 5 * 1024 * 1024
EDIT_CAP = 16 * 1024 * 1024
LOOK = 64 * 1024  # bytes that tell whether a file is text
LEFTOVER = re.compile(
    r"\..*|.*~|#.*#|4913|.*\.(?:swp|swo|swx|tmp|bak)|sed[A-Za-z0-9]{6}", re.IGNORECASE
)
_OPEN = os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC | getattr(os, "O_NOFOLLOW", 0)


@dataclass(frozen=True)
class Image:
    """A file as it was read: its bytes and what fstat said of it."""

    data: bytes
    info: os.stat_result
    cut: bool = False


@dataclass(frozen=True)
class Listing:
    """What a walk found. files: relative path -> signature; skipped: what was passed over."""

    files: dict[str, Signature]
    skipped: list[Skipped]
    conflict_copies: list[str]


def read(path: Path, cap: int = EDIT_CAP, *, cut: bool = False) -> Image:
    """A regular file's bytes. FileFault where it cannot be read, is no file or is too large.

    With cut, a larger file gives its first `cap` bytes (up to a line end) and says so.
    """
    try:
        descriptor = os.open(path, _OPEN)
    except OSError as error:
        raise fault(path, error) from error
    try:
        info = os.fstat(descriptor)
        if not stat.S_ISREG(info.st_mode):
            raise FileFault(f"{path}: not a regular file")
        if info.st_size > cap and not cut:
            raise FileFault(
                f"{path}: {info.st_size >> 20} MB is over the limit of {cap >> 20} MB",
                "split the file",
            )
        data = read_all(descriptor, cap)
    except OSError as error:
        raise fault(path, error) from error
    finally:
        os.close(descriptor)
    if info.st_size <= cap:
        return Image(data, info)
    keep = data.rfind(b"\n") + 1
    return Image(data[:keep] if keep else data, info, cut=True)


def is_memory_name(name: str) -> bool:
    """Whether a file of that name (relative to the root) is one that a sweep may read."""
    hidden = any(part.startswith(".") for part in name.split("/"))
    return not hidden and name.lower().endswith(TEXT_SUFFIXES)


def read_all(descriptor: int, cap: int = EDIT_CAP) -> bytes:
    """Everything from the start of an open file, up to the cap, whatever the offset."""
    pieces, at = [], 0
    while at < cap and (piece := os.pread(descriptor, min(cap - at, 1 << 20), at)):
        pieces.append(piece)
        at += len(piece)
    return b"".join(pieces)


def is_text(path: Path) -> bool:
    """Whether a file is one to read: by its suffix, else by what it begins with. FileFault."""
    suffix = path.suffix.lower()
    if suffix in TEXT_SUFFIXES or not suffix[1:].isalnum():
        return suffix in TEXT_SUFFIXES
    data = read(path, LOOK, cut=True).data
    try:
        data.decode("utf-8")
    except UnicodeDecodeError as error:
        return error.reason == "unexpected end of data" and b"\0" not in data
    return b"\0" not in data


def is_at(path: Path, descriptor: int) -> bool:
    """Whether an open file is (still) the one that has the name."""
    try:
        there = os.stat(path, follow_symlinks=False)
    except OSError:
        return False
    here = os.fstat(descriptor)
    return (there.st_dev, there.st_ino) == (here.st_dev, here.st_ino)


def fault(path: Path, error: OSError) -> FileFault:
    """An OSError about a file as one line: the path, and the system's words for it."""
    if error.errno == errno.ELOOP:
        return FileFault(f"{path}: a symbolic link is not followed")
    return FileFault(f"{path}: {os.strerror(error.errno or 0)}")


def walk(folder: Folder, suffixes: tuple[str, ...] = TEXT_SUFFIXES) -> Listing:
    """All text files of a folder, by path, as a sweep sees them. Nothing is opened."""
    swept = sweep(str(folder.root), {}, suffixes=suffixes)
    files = {
        join(place, name) if place != LINKS else name: signature
        for place, listed in swept.changed.items()
        for name, signature in listed.signatures().items()
    }
    copies = [skipped.path for skipped in swept.skipped if skipped.reason == COPY]
    return Listing(dict(sorted(files.items())), list(swept.skipped), copies)
