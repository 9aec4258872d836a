"""Writing so that it is there after a power cut: whole files of our own, and folders' names."""

from __future__ import annotations

import glob
import os
from contextlib import suppress
from pathlib import Path

from agent_memfas.errors import FileFault
from agent_memfas.store.places import STATE

_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC


def write_whole(path: Path, data: bytes, mode: int = 0o600, *, sync: bool = True) -> None:
    """A file of our own: under a temporary name first, synced, then renamed, with that mode.

    sync: False for what may be lost or torn by a power cut, and is written often.
    """
    temporary = _beside(path)
    try:
        descriptor = os.open(temporary, _NEW, 0o600)
        try:
            if mode != 0o600:
                os.fchmod(descriptor, mode)
            write_all(descriptor, data)
            if sync:
                os.fsync(descriptor)
        finally:
            os.close(descriptor)
        os.replace(temporary, path)
        if sync:
            sync_folder(path.parent)
    except OSError as error:
        with suppress(OSError):
            temporary.unlink()
        raise FileFault(f"{path}: {os.strerror(error.errno or 0)}; nothing changed") from error


def _beside(path: Path) -> Path:
    """A name of this process for what will take the place of a file; `is_left_over` knows it."""
    return path.with_name(f"{path.name}.{os.getpid()}-{os.urandom(4).hex()}.tmp")


def make_private(path: Path) -> None:
    """A folder for files of our own, mode 0700 where it is missing. FileFault if that fails.

    The state folder of a memory folder is made, but never the memory folder around it.
    """
    try:
        if path.name == STATE and not path.is_dir():
            os.mkdir(path, 0o700)
        else:
            os.makedirs(path, 0o700, exist_ok=True)
    except FileExistsError:
        return  # another process was faster
    except OSError as error:
        raise FileFault(f"{path}: {os.strerror(error.errno or 0)}") from error


def empty_beside(path: Path) -> Path:
    """A new, empty, private file beside one of our own, to be filled and then put in its place.

    FileFault where that is not possible.
    """
    temporary = _beside(path)
    try:
        os.close(os.open(temporary, _NEW, 0o600))
    except OSError as error:
        raise FileFault(f"{path}: {os.strerror(error.errno or 0)}") from error
    return temporary


def put_in_place(temporary: Path, path: Path, companions: tuple[str, ...] = ()) -> None:
    """Sync a file made by `empty_beside` and give it the name of the one it replaces.

    companions: endings of files that belong to the old one and would be taken for the new one's
    (a journal): they go, and the old file before them, for it cannot be trusted without them.
    """
    try:
        descriptor = os.open(temporary, os.O_RDONLY | os.O_CLOEXEC)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
        left = [p for end in companions if os.path.lexists(p := path.with_name(path.name + end))]
        for old in [path, *left] if left else []:
            old.unlink(missing_ok=True)
        os.replace(temporary, path)
        sync_folder(path.parent)
    except OSError as error:
        discard(temporary)
        raise FileFault(f"{path}: {os.strerror(error.errno or 0)}") from error


def discard(path: Path, companions: tuple[str, ...] = ()) -> None:
    """Remove a file of our own with what belongs to it, as far as that is possible."""
    for one in (path, *(path.with_name(path.name + end) for end in companions)):
        with suppress(OSError):
            one.unlink()


def sweep(*folders: Path, of: str = "") -> None:
    """Remove temporary files that processes which are no more left in folders of our own.

    of: only those of the file with this name, as in a folder that is not our own.
    """
    for folder in folders:
        with suppress(OSError):  # whatever stays is for the next time
            for temporary in list(folder.glob(f"{glob.escape(of)}.*.tmp" if of else "*.tmp")):
                if is_left_over(temporary.name):
                    temporary.unlink(missing_ok=True)


def is_left_over(name: str) -> bool:
    """Whether a temporary file's name is that of a process which is no more."""
    pid, _, salt = name.removesuffix(".tmp").rpartition(".")[2].partition("-")
    ours = len(salt) == 8 and set(salt) <= set("0123456789abcdef") and pid.isdecimal()
    return ours and not _is_alive(int(pid))


def _is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except OSError:
        pass
    return True


def write_all(descriptor: int, data: bytes) -> None:
    """All bytes at the descriptor's place; the kernel may take them in several bites."""
    view = memoryview(data)
    while view:
        view = view[os.write(descriptor, view) :]


def sync_folder(path: Path) -> None:
    """Make the names in a folder durable."""
    descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
