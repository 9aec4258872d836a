"""Settings files of hosts: changed whole or not at all, and put back byte for byte.

What a file was before, and what it is after, stands in a folder of our own for each file; as long
as nobody has changed it since, an uninstall gives it back exactly.
"""

from __future__ import annotations

import base64
import hashlib
import json
import os
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from agent_memfas.errors import FileFault
from agent_memfas.store.durable import write_whole
from agent_memfas.store.files import fault, read
from agent_memfas.store.named import file_name
from agent_memfas.text.record import Record

LARGEST = 64 * 1024 * 1024  # bytes
BOM = "\ufeff"


class Done(Record):
    """What became of a file. exact: whether it is byte for byte what it was before an install."""

    file: str
    changed: bool
    exact: bool = True


def change(file: str, state: Path, edit: Callable[[str], str], *, dry_run: bool = False) -> Done:
    """Change a file by a function of its text, and remember how it was. What is remembered of an
    earlier change counts as how it was, where nobody has changed the file since. A link is kept,
    the file that it leads to is changed. FileFault; whatever the function raises.
    """
    path, now = Path(os.path.realpath(file)), _bytes(file)
    note = _remembered(state, file)
    original = note.before if note.after and note.after == _digest(now) else now
    text = (original or b"").decode("utf-8")
    mark = BOM if text.startswith(BOM) else ""
    new = f"{mark}{edit(text.removeprefix(BOM))}".encode()
    if new == now or dry_run:
        return Done(file, new != now)
    made = _make_folders(path.parent) or list(note.folders)
    _remember(state, file, original, new, made)
    write_whole(path, new, os.stat(path).st_mode & 0o777 if path.exists() else 0o600)
    return Done(file, True)


def restore(file: str, state: Path, edit: Callable[[str], str], *, dry_run: bool = False) -> Done:
    """Put a file back as it was. Where somebody has changed it since, only what a function takes
    out goes. A file that was not there goes, with the folders that were made for it. FileFault.
    """
    now = _bytes(file)
    note = _remembered(state, file)
    if now is None:
        _forget(state, file)
        return Done(file, False)
    exact = bool(note.after) and note.after == _digest(now)
    text = now.decode("utf-8")
    mark = BOM if text.startswith(BOM) else ""
    new = note.before if exact else f"{mark}{edit(text.removeprefix(BOM))}".encode()
    changed = new != now
    if dry_run:
        return Done(file, changed, exact)
    path = Path(os.path.realpath(file))
    if new is None:
        path.unlink()
        for folder in note.folders:
            with suppress(OSError):
                os.rmdir(folder)
    elif changed:
        write_whole(path, new, os.stat(path).st_mode & 0o777)
    _forget(state, file)
    return Done(file, changed, exact)


def _bytes(file: str) -> bytes | None:
    """A file's bytes, None where there is none."""
    if not os.path.lexists(file):
        return None
    data = read(Path(os.path.realpath(file)), LARGEST).data
    try:
        data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise FileFault(f"{file}: not UTF-8; nothing was changed") from error
    return data


def _digest(data: bytes | None) -> str:
    return hashlib.sha256(data).hexdigest() if data is not None else ""


def _place(state: Path, file: str) -> Path:
    return state / f"{file_name(os.path.abspath(file))}.json"


class _Note(Record):
    """before: how a file was, None for not there. after: the digest of what it was changed to, ""
    where nothing is remembered. folders: that were made for it, the innermost first.
    """

    before: bytes | None = None
    after: str = ""
    folders: tuple[str, ...] = ()


def _remembered(state: Path, file: str) -> _Note:
    try:
        found = json.loads(_place(state, file).read_bytes())
        before, after, folders = found["before"], found["after"], found["folders"]
        data = None if before is None else base64.b64decode(before)
        return _Note(data, str(after), tuple(map(str, folders)))
    except (OSError, ValueError, TypeError, LookupError):
        return _Note()


def _remember(state: Path, file: str, before: bytes | None, new: bytes, made: list[str]) -> None:
    try:
        os.makedirs(state, 0o700, exist_ok=True)
    except OSError as error:
        raise fault(state, error) from error
    told = {
        "file": os.path.abspath(file), "after": _digest(new), "folders": made,
        "before": None if before is None else base64.b64encode(before).decode(),
    }  # fmt: skip
    write_whole(_place(state, file), json.dumps(told).encode())


def _forget(state: Path, file: str) -> None:
    with suppress(OSError):
        _place(state, file).unlink(missing_ok=True)


def _make_folders(folder: Path) -> list[str]:
    """The folders that were made, the innermost first."""
    made = list[str]()
    for one in reversed([folder, *folder.parents]):
        try:
            os.mkdir(one, 0o755)
            made.insert(0, str(one))
        except FileExistsError:
            continue
        except OSError as error:
            raise fault(one, error) from error
    return made
