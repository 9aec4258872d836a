"""Files of our own with the name of something that may hold anything: a session's id, say."""

from __future__ import annotations

import os
from contextlib import suppress
from hashlib import blake2b
from pathlib import Path

from agent_memfas.store import durable

DAY = 86_400  # seconds


def file_name(anything: str) -> str:
    """A file name for any text: 24 hexadecimal digits, the same for the same text."""
    return blake2b(anything.encode("utf-8", "surrogatepass"), digest_size=12).hexdigest()


def forget_old(home: Path, before: float) -> None:
    """Remove the files of a folder of our own that were not written since, as far as that goes, and
    what processes that are no more have left there. before: seconds since 1970.
    """
    durable.sweep(home)
    with suppress(OSError):
        for path in list(home.iterdir()):
            with suppress(OSError):
                if os.stat(path).st_mtime < before:
                    path.unlink()
