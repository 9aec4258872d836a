"""What asking models has cost: `.memfas/telemetry.jsonl`, a line of JSON for each question.

No text of the memory stands there, and losing it loses nothing else.
"""

from __future__ import annotations

import json
import os
import stat
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from agent_memfas.errors import MemfasError
from agent_memfas.store.durable import write_all
from agent_memfas.store.layout import Folder
from agent_memfas.store.locks import exclusive, state_folder

FILE = "telemetry.jsonl"
LARGEST = 4 * 1024 * 1024  # bytes from which on a file is put away under a number
_FLAGS = os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


def append(folder: Folder, fields: Mapping[str, Any]) -> None:
    """Add one line, in one write. Where that is not possible nothing is added, and nothing is said:
    no command fails for it.

    A full file becomes `telemetry.1.jsonl`, the next one `telemetry.2.jsonl`: none is removed.
    """
    line = json.dumps(fields, ensure_ascii=False).encode("utf-8", "replace") + b"\n"
    with suppress(MemfasError, OSError):
        path = state_folder(folder) / FILE
        descriptor = os.open(path, _FLAGS, 0o600)
        try:
            info = os.fstat(descriptor)
            if not stat.S_ISREG(info.st_mode):
                return
            torn = info.st_size and os.pread(descriptor, 1, info.st_size - 1) != b"\n"
            write_all(descriptor, b"\n" + line if torn else line)
        finally:
            os.close(descriptor)
        if info.st_size >= LARGEST:
            _put_away(folder)


def _put_away(folder: Folder) -> None:
    """Give a full file the next number. Whoever has it open just now adds to it there."""
    with exclusive(folder, "telemetry.lock"):
        path = state_folder(folder) / FILE
        if path.stat().st_size < LARGEST:
            return
        number = 1
        while os.path.lexists(path.with_name(f"telemetry.{number}.jsonl")):
            number += 1
        os.rename(path, path.with_name(f"telemetry.{number}.jsonl"))
