"""The redo record: what a rewrite was about to do, so that a crash at any point can be mended.

It stands in `.memfas/redo`, complete and synced, before the first byte of a memory file changes.
`classify` compares a file with it and tells in which of the possible states the crash left it.
"""

from __future__ import annotations

import base64
import json
import os
from dataclasses import dataclass
from typing import Literal

from agent_memfas.errors import FileFault
from agent_memfas.store.durable import sync_folder, write_whole
from agent_memfas.store.layout import Folder
from agent_memfas.store.locks import state_folder

PAGE = 512
State = Literal["pending", "done", "foreign"]


class Changed(Exception):
    """The file is no longer what the change was made from: read it again and start anew."""


@dataclass(frozen=True)
class Redo:
    """path: the file, relative. old, new: its bytes before and after. late: bytes appended to it
    after it was read, kept behind both. archive: the file that gets block, or "". temp: the name
    of the file that holds the new bytes when the rewrite goes by exchange, relative, or "".
    """

    pass_id: str
    path: str
    old: bytes
    new: bytes
    late: bytes = b""
    archive: str = ""
    block: bytes = b""
    temp: str = ""

    @property
    def before(self) -> bytes:
        """What the file holds when nothing has been done to it."""
        return self.old + self.late

    @property
    def after(self) -> bytes:
        """What it holds when all has been done."""
        return self.new + self.late

    @property
    def padded(self) -> tuple[bytes, bytes]:
        """Before and after, the shorter one filled with line ends: the two ends of the one write
        that replaces one by the other without changing the file's length.
        """
        width = max(len(self.before), len(self.after))
        return self.before.ljust(width, b"\n"), self.after.ljust(width, b"\n")


def classify(redo: Redo, current: bytes) -> tuple[State, bytes]:
    """In which state the file is, and the bytes that others appended behind it.

    pending: untouched, lengthened, or torn (each 512-byte sector old or new): write it again.
    done: nothing to do. foreign: somebody saved something else since: theirs stays.
    """
    first, last = redo.padded
    if current == redo.before:
        return "pending", b""
    if len(current) >= len(first) and _between(current, first, last):
        return "pending", current[len(first) :]
    if current.startswith(redo.after):
        return "done", current[len(redo.after) :]
    if (
        len(current) < len(first)
        and current == first[: len(current)]
        and len(current) >= len(redo.before)
    ):
        return "pending", b""
    if current.startswith(redo.before):
        return "pending", current[len(redo.before) :]
    return "foreign", b""


def _between(current: bytes, first: bytes, last: bytes) -> bool:
    """Whether every sector of current, up to their length, is that of first or that of last."""
    for at in range(0, len(first), PAGE):
        end = min(at + PAGE, len(first))
        if current[at:end] not in (first[at:end], last[at:end]):
            return False
    return True


def save(folder: Folder, redo: Redo) -> None:
    """Write the record: complete under its name or not there at all, and synced."""
    target = state_folder(folder) / "redo"
    fields = {
        "pass_id": redo.pass_id,
        "path": redo.path,
        "archive": redo.archive,
        "temp": redo.temp,
        "old": base64.b64encode(redo.old).decode(),
        "new": base64.b64encode(redo.new).decode(),
        "late": base64.b64encode(redo.late).decode(),
        "block": base64.b64encode(redo.block).decode(),
    }
    write_whole(target, json.dumps(fields).encode("ascii"))


def load(folder: Folder) -> Redo | None:
    """The record that a run left behind, or None. An unreadable one was never complete."""
    try:
        raw = (folder.state / "redo").read_bytes()
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise FileFault(f"{folder.state / 'redo'}: {os.strerror(error.errno or 0)}") from error
    try:
        fields = json.loads(raw)
        blobs = {k: base64.b64decode(fields[k]) for k in ("old", "new", "late", "block")}
        return Redo(
            str(fields["pass_id"]), str(fields["path"]), archive=str(fields["archive"]),
            temp=str(fields["temp"]), **blobs,
        )  # fmt: skip
    except (ValueError, KeyError, TypeError):
        return None


def drop(folder: Folder) -> None:
    """The rewrite is finished or given up: forget it, durably."""
    (folder.state / "redo").unlink(missing_ok=True)
    sync_folder(folder.state)
