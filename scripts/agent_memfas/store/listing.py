"""Listing the text files of a memory folder, as fast as Python can: no file is opened.

Left out without a word: dot files and folders, dependencies, whatever is no text, what OpenClaw
dreams. Left out with a reason: conflict copies, what is not a regular file, what cannot be listed,
a second name of the same file, links that lead out of the memory folder. A link to a folder is
never followed.
"""

from __future__ import annotations

import os
from array import array
from stat import S_IFREG, S_ISDIR

from agent_memfas.store.openclaw import is_diary, names_in
from agent_memfas.text.record import Record

TEXT_SUFFIXES = (".md", ".markdown", ".txt", ".jsonl")
SKIPPED_FOLDERS = frozenset({"node_modules", "venv", "__pycache__", "site-packages"})
COPY = "a copy made by a sync tool or a file manager"
_COPIES = (".sync-conflict-", "conflicted copy", "conflict copy")
_OPEN_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
LARGEST = (1 << 63) - 1
_REGULAR = S_IFREG >> 12

Signature = tuple[int, int, int, int]  # inode, size, mtime_ns, ctime_ns


class Skipped(Record):
    """A file that was passed over, and why."""

    path: str
    reason: str


class Listed(Record):
    """The text files of one folder. names[n] has the four numbers from numbers[4 * n].

    folders: names of the folders in it that count. odd: links, and names that share an inode.
    """

    names: list[str]
    numbers: list[int]
    folders: list[str]
    odd: list[tuple[str, os.stat_result]]
    skipped: list[Skipped]

    def signatures(self) -> dict[str, Signature]:
        """Each name with its signature."""
        four = iter(self.numbers)
        return dict(zip(self.names, zip(four, four, four, four, strict=True), strict=True))


class Known(Record):
    """A folder as it was when its files were last read: the bytes of its listing.

    A file whose four numbers are 0 has to be read again whatever it looks like. entered: False
    for a folder that is ignored. latest: the youngest ctime in it or below.
    """

    names: bytes
    numbers: bytes
    entered: bool = True
    latest: int = 0

    def signatures(self) -> dict[str, Signature]:
        """Each name with its signature."""
        four = iter(memoryview(self.numbers).cast("q"))
        names = os.fsdecode(self.names).split("\0") if self.names else []
        return dict(zip(names, zip(four, four, four, four, strict=True), strict=True))


def signature_of(info: os.stat_result) -> Signature:
    """The four numbers of a file."""
    return (info.st_ino & LARGEST, info.st_size, info.st_mtime_ns, info.st_ctime_ns)


def packed(names: list[str], numbers: list[int]) -> tuple[bytes, bytes]:
    """A listing as bytes, which is how it is remembered and compared.

    An inode number beyond 63 bits is cut to them, here and in the list.
    """
    try:
        four = array("q", numbers)
    except OverflowError:  # an inode number beyond 63 bits
        numbers[:] = [number & LARGEST for number in numbers]
        four = array("q", numbers)
    return os.fsencode("\0".join(names)), four.tobytes()


def join(folder: str, name: str) -> str:
    """A relative path; the root is ""."""
    return f"{folder}/{name}" if folder else name


def list_folder(root: str, folder: str, suffixes: tuple[str, ...] = TEXT_SUFFIXES) -> Listed:
    """One folder as it is now. OSError where it cannot be listed (or is a link).

    suffixes: lower case, of the files that count; `.md` always does.
    """
    found = Listed([], [], [], [], [])
    names, numbers = found.names, found.numbers
    descriptor = os.open(os.path.join(root, folder) if folder else root, _OPEN_FOLDER)
    try:
        with os.scandir(descriptor) as entries:
            for entry in entries:  # the rest of a sweep costs as much as this loop
                name = entry.name
                if name[0] == "." or (
                    name[-3:] != ".md" and not _counts(name, entry, found, suffixes)
                ):
                    continue
                try:
                    info = entry.stat(follow_symlinks=False)
                except OSError as error:
                    reason = os.strerror(error.errno or 0)
                    found.skipped.append(Skipped(join(folder, name), reason))
                    continue
                if info.st_mode >> 12 == _REGULAR and info.st_nlink == 1:
                    names.append(name)
                    numbers += (info.st_ino, info.st_size, info.st_mtime_ns, info.st_ctime_ns)
                elif S_ISDIR(info.st_mode):
                    found.folders.append(name)
                else:
                    found.odd.append((name, info))
    finally:
        os.close(descriptor)
    return _without_copies(_without_dreams(found, root, folder), folder)


def _without_dreams(found: Listed, root: str, folder: str) -> Listed:
    """The same without what OpenClaw keeps for itself."""
    dreams = names_in(folder)
    if not dreams or dreams.isdisjoint((*found.names, *found.folders, *(n for n, _ in found.odd))):
        return found
    if not is_diary(root, folder):
        return found
    kept = {name: four for name, four in found.signatures().items() if name not in dreams}
    numbers = [number for four in kept.values() for number in four]
    folders = [name for name in found.folders if name not in dreams]
    odd = [one for one in found.odd if one[0] not in dreams]
    return Listed(list(kept), numbers, folders, odd, found.skipped)


def _counts(name: str, entry: os.DirEntry[str], found: Listed, suffixes: tuple[str, ...]) -> bool:
    """Whether a name is that of a file that counts; a folder's goes where it belongs."""
    if name.lower().endswith(suffixes):
        return True
    if name not in SKIPPED_FOLDERS and entry.is_dir(follow_symlinks=False):
        found.folders.append(name)
    return False


def _without_copies(found: Listed, folder: str) -> Listed:
    """The same without conflict copies, which are told of."""
    together = "\0".join(found.names)
    if ")" not in together and "onflict" not in together.lower():
        return found
    kept = {name: four for name, four in found.signatures().items() if not _is_copy(name)}
    told = [Skipped(join(folder, name), COPY) for name in found.names if name not in kept]
    numbers = [number for four in kept.values() for number in four]
    return Listed(list(kept), numbers, found.folders, found.odd, [*found.skipped, *told])


def _is_copy(name: str) -> bool:
    """Whether a name is one that sync tools and file managers give to a second version."""
    lower = name.lower()
    if any(mark in lower for mark in _COPIES):
        return True
    stem, _, suffix = lower.rpartition(".")
    if not stem.endswith(")") or not suffix.isalnum():
        return False
    inner = stem[stem.rfind(" (") + 2 : -1] if " (" in stem else ""
    return inner == "copy" or inner.isdecimal()
