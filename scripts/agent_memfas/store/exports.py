"""Files that other programs have written, to import from: only read, wherever they are."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from zipfile import BadZipFile, ZipFile, is_zipfile

from agent_memfas.errors import FileFault, UsageError
from agent_memfas.store.files import fault, read

LARGEST = 1 << 30  # bytes of one file
# Of Claude Code: conversations of subagents, results of tools, memory of its own.
_PASSED = frozenset({"subagents", "tool-results", "memory", "node_modules"})


def files_of(path: Path, names: tuple[str, ...]) -> list[Path]:
    """The files that are meant: itself, or those below a folder whose names fit one of these
    globs, by path. Dot folders are passed over. UsageError where nothing is.
    """
    real = Path(os.path.realpath(path.expanduser()))
    if not real.is_dir():
        if not real.exists():
            raise UsageError(f"{path}: there is no such file")
        return [real]
    found = list[Path]()
    for place, folders, files in os.walk(real):
        folders[:] = sorted(n for n in folders if n not in _PASSED and not n.startswith("."))
        here = (Path(place, name) for name in sorted(files))
        found += [one for one in here if any(one.match(name) for name in names)]
    if not found:
        raise UsageError(f"{path}: no {' or '.join(names)} is in this folder")
    return found


def texts(path: Path, member: str) -> Iterator[tuple[str, str]]:
    """(name, text) of a file, or of what a zip archive holds under such a name (a glob). FileFault.

    What is not UTF-8 becomes U+FFFD.
    """
    if not is_zipfile(path):
        yield str(path), read(path, LARGEST).data.decode("utf-8", "replace")
        return
    try:
        with ZipFile(path) as archive:
            inside = sorted(n for n in archive.namelist() if Path(n).match(member))
            if not inside:
                raise UsageError(f"{path}: no {member} is in this archive")
            for name in inside:
                yield f"{path}:{name}", _unpacked(archive, name, path).decode("utf-8", "replace")
    except BadZipFile as error:
        raise FileFault(f"{path}: a broken archive: {error}") from error
    except OSError as error:
        raise fault(path, error) from error


def _unpacked(archive: ZipFile, name: str, path: Path) -> bytes:
    """A member, whatever size it claims to have. FileFault over the limit, or with a password."""
    try:
        with archive.open(name) as member:
            data = member.read(LARGEST + 1)
    except (RuntimeError, NotImplementedError) as error:
        raise FileFault(f"{path}: {error}") from error
    if len(data) > LARGEST:
        raise FileFault(f"{path}: {name} is over the limit of {LARGEST >> 20} MB")
    return data
