"""Reading files: regular ones only, never through a link, never more than the cap."""

from __future__ import annotations

import errno
import os
import re
import stat
from dataclasses import dataclass, field
from pathlib import Path

from agent_memfas.errors import FileFault, UsageError
from agent_memfas.store.layout import Folder

TEXT_SUFFIXES = (".md", ".markdown", ".txt", ".jsonl")
READ_CAP = 5 * 1024 * 1024
EDIT_CAP = 16 * 1024 * 1024
SKIPPED_FOLDERS = frozenset({"node_modules", "venv", "__pycache__", "site-packages"})
LEFTOVER = re.compile(
    r"\..*|.*~|#.*#|4913|.*\.(?:swp|swo|swx|tmp|bak)|sed[A-Za-z0-9]{6}", re.IGNORECASE
)
_CONFLICT_COPY = re.compile(
    r".*(?:\.sync-conflict-|conflicted copy|conflict copy).*|.* \((?:copy|\d+)\)\.\w+",
    re.IGNORECASE,
)
_OPEN = os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC | getattr(os, "O_NOFOLLOW", 0)


@dataclass(frozen=True)
class Image:
    """A file as it was read: its bytes and what fstat said of it."""

    data: bytes
    info: os.stat_result
    cut: bool = False


@dataclass(frozen=True)
class Skipped:
    """A file that was passed over, and why."""

    path: str
    reason: str


@dataclass
class Listing:
    """What a walk found. files: relative path -> stat; skipped: what was passed over."""

    files: dict[str, os.stat_result] = field(default_factory=dict)
    skipped: list[Skipped] = field(default_factory=list)
    conflict_copies: list[str] = field(default_factory=list)
    links: list[str] = field(default_factory=list)


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


def read_all(descriptor: int, cap: int = EDIT_CAP) -> bytes:
    """Everything from the start of an open file, up to the cap, whatever the offset."""
    pieces, at = [], 0
    while at < cap and (piece := os.pread(descriptor, min(cap - at, 1 << 20), at)):
        pieces.append(piece)
        at += len(piece)
    return b"".join(pieces)


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


def walk(folder: Folder, start: str = "") -> Listing:
    """All text files of a folder, by path. Nothing is opened, no link to a folder is followed.

    Left out without a word: dot files and folders, editors' leftovers, dependencies. Left out with
    a reason: conflict copies, what is not a regular file, what cannot be listed, a second name of
    the same file, links to folders and links that lead out of the memory folder.
    """
    listing = Listing()
    identities: dict[tuple[int, int], str] = {}
    pending = [start]
    while pending:
        relative = pending.pop()
        try:
            with os.scandir(os.path.join(folder.root, relative)) as found:
                entries = sorted(found, key=lambda entry: entry.name)
        except OSError as error:
            listing.skipped.append(Skipped(relative or ".", os.strerror(error.errno or 0)))
            continue
        folders: list[str] = []
        for entry in entries:
            path = f"{relative}/{entry.name}" if relative else entry.name
            _sort_out(entry, path, listing, identities, folders)
        pending.extend(reversed(folders))
    for path in listing.links:
        _follow(folder, path, listing, identities)
    return listing


def _sort_out(
    entry: os.DirEntry[str],
    path: str,
    listing: Listing,
    identities: dict[tuple[int, int], str],
    folders: list[str],
) -> None:
    name = entry.name
    try:
        info = entry.stat(follow_symlinks=False)
    except OSError as error:
        listing.skipped.append(Skipped(path, os.strerror(error.errno or 0)))
        return
    if stat.S_ISDIR(info.st_mode):
        if not name.startswith(".") and name not in SKIPPED_FOLDERS:
            folders.append(path)
        return
    if not name.lower().endswith(TEXT_SUFFIXES) or LEFTOVER.fullmatch(name):
        return
    if _CONFLICT_COPY.fullmatch(name):
        listing.conflict_copies.append(path)
        listing.skipped.append(Skipped(path, "a copy made by a sync tool or a file manager"))
    elif stat.S_ISLNK(info.st_mode):
        listing.links.append(path)
    elif not stat.S_ISREG(info.st_mode):
        listing.skipped.append(Skipped(path, "not a regular file"))
    elif (twin := identities.setdefault((info.st_dev, info.st_ino), path)) != path:
        listing.skipped.append(Skipped(path, f"another name of {twin}"))
    else:
        listing.files[path] = info


def _follow(
    folder: Folder, path: str, listing: Listing, identities: dict[tuple[int, int], str]
) -> None:
    """A linked file counts where it leads to a regular file inside the folder, not listed yet."""
    try:
        info = os.stat(folder.place(path))
    except UsageError:
        listing.skipped.append(Skipped(path, "a symbolic link out of the memory folder"))
        return
    except OSError as error:
        listing.skipped.append(Skipped(path, os.strerror(error.errno or 0)))
        return
    if not stat.S_ISREG(info.st_mode):
        listing.skipped.append(Skipped(path, "a symbolic link to no regular file"))
    elif (twin := identities.setdefault((info.st_dev, info.st_ino), path)) != path:
        listing.skipped.append(Skipped(path, f"another name of {twin}"))
    else:
        listing.files[path] = info
