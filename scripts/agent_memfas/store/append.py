"""The cooperating append: one write, never refused, never torn, never lost."""

from __future__ import annotations

import time
from contextlib import ExitStack, suppress
from pathlib import Path

from agent_memfas.errors import FileFault, TryAgain
from agent_memfas.store import history
from agent_memfas.store.files import fault
from agent_memfas.store.layout import Folder
from agent_memfas.store.locks import STEP, exclusive
from agent_memfas.store.passes import Pass
from agent_memfas.store.tail import add_lines
from agent_memfas.text.entries import one_line

LOCK_WAIT = 5.0


def append(folder: Folder, name: str, line: str, run: Pass, header: str = "") -> int:
    """Append one line of text to a file of the folder. Returns its 1-based line number.

    The file is made (mode 0600, beginning with header) where it is missing. Line ends inside the
    text become spaces, so that no text can forge an entry of its own. The lock is a courtesy: if
    it cannot be had in five seconds, the append goes on without it.
    """
    return _add(folder, name, f"{one_line(line)}\n", run, header)


def append_block(folder: Folder, name: str, block: str, run: Pass, header: str = "") -> int:
    """The same with whole lines that the caller has made sure of: all of them, or none.

    block: ends with a line end. Returns the 1-based number of its last line.
    """
    return _add(folder, name, block, run, header)


def _add(folder: Folder, name: str, text: str, run: Pass, header: str) -> int:
    path = folder.place(name)
    data = text.encode("utf-8", "replace")
    with ExitStack() as stack:
        with suppress(TryAgain, FileFault):
            stack.enter_context(exclusive(folder, "append.lock", LOCK_WAIT))
        _tell_missing(folder, path, run)
        number = _append(folder, path, data, header.encode())
    stamp = run.now.isoformat(timespec="seconds")
    version = history.Version(run.id, stamp, run.command, name, line=data.decode())
    try:
        history.record(folder, version)
    except (TryAgain, FileFault):
        run.notices.append(f"{name} is written, but `memfas undo` does not know of it")
    return number


def _tell_missing(folder: Folder, path: Path, run: Pass) -> None:
    """A folder that held files once and is gone is made anew, but not without a word."""
    parent = folder.relative(path.parent) if path.parent != folder.root else ""
    if parent and not path.parent.exists():
        known = {v.path for v in history.versions(folder) if v.path.startswith(f"{parent}/")}
        if known:
            run.notices.append(f"{parent}/ was missing, with {len(known)} files known: made anew")


def _append(folder: Folder, path: Path, data: bytes, header: bytes) -> int:
    """Append and make sure that the line stands in the file that has the name afterwards.

    A file that memfas has seen before and that is missing is being saved by an editor right now:
    it gets half a second to come back, for what is made in its place would be written over.
    """
    known = history.versions(folder, folder.relative(path)) if not path.exists() else []
    deadline = time.monotonic() + (0.5 if known else 0.0)
    while not path.exists() and time.monotonic() < deadline:
        time.sleep(STEP)
    try:
        for parent in reversed(path.relative_to(folder.root).parents[:-1]):
            (folder.root / parent).mkdir(mode=0o700, exist_ok=True)
    except OSError as error:
        raise fault(path, error) from error
    return add_lines(path, data, header)
