"""Letting git replace files of a memory folder, without losing what is appended just then.

git puts a new file in the place of an old one: what a shell writes to the old one at that moment
(`>>` had opened it) is in no file any more. So the old ones are kept open, and what was added to
them is added to the new ones.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from agent_memfas.store.files import is_at
from agent_memfas.store.layout import Folder
from agent_memfas.store.locks import STEP
from agent_memfas.store.passes import Pass
from agent_memfas.store.tail import add_lines

_OPEN = os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC | os.O_NOFOLLOW


@contextmanager
def tails_kept(folder: Folder, names: Sequence[str], run: Pass) -> Iterator[None]:
    """Inside, the files of these names may be replaced; the caller holds the folder's lock.

    What was added to one that was replaced is appended to the one that has the name then.
    """
    held: list[tuple[Path, int, int]] = []
    try:
        for name in names:
            with suppress(OSError):  # missing, a link, a folder: nothing that is appended to
                descriptor = os.open(folder.root / name, _OPEN)
                held.append((folder.root / name, descriptor, os.fstat(descriptor).st_size))
        yield
        if any(not is_at(path, descriptor) for path, descriptor, _ in held):
            time.sleep(STEP)  # whoever has opened an old one a moment ago is writing now
        for path, descriptor, size in held:
            _take_along(folder, path, descriptor, size, run)
    finally:
        for _, descriptor, _ in held:
            os.close(descriptor)


def _take_along(folder: Folder, path: Path, descriptor: int, size: int, run: Pass) -> None:
    late = os.fstat(descriptor).st_size - size
    if late <= 0 or is_at(path, descriptor):
        return
    data = os.pread(descriptor, late, size)
    add_lines(path, data if data.endswith(b"\n") else data + b"\n", b"")
    run.notices.append(f"{folder.relative(path)}: what was appended meanwhile is kept")


def place_merged(path: Path, data: bytes) -> None:
    """Write the result of a merge into the file that git has made for it. OSError."""
    descriptor = os.open(path, os.O_WRONLY | os.O_TRUNC | os.O_CLOEXEC)
    with os.fdopen(descriptor, "wb") as file:
        file.write(data)
