"""What hooks have done already: a host may call the same one twice at the same time."""

from __future__ import annotations

import os
from contextlib import suppress

from agent_memfas.errors import FileFault
from agent_memfas.store.layout import Folder
from agent_memfas.store.locks import state_folder
from agent_memfas.store.named import DAY, file_name, forget_old

FOLDER = "hooks"


def is_first(folder: Folder, key: str, now: float, again: float) -> bool:
    """Whether nobody has done what this key stands for in the last so many seconds; from now on
    somebody has. True where that cannot be noted. now: seconds since 1970.
    """
    try:
        home = state_folder(folder, FOLDER)
    except FileFault:
        return True
    path = home / file_name(key)
    for _ in range(2):
        try:
            os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600))
        except FileExistsError:
            with suppress(OSError):
                if abs(now - os.stat(path).st_mtime) <= again:
                    return False
            with suppress(OSError):
                path.unlink()
            continue
        except OSError:
            return True
        return True
    return False


def forget(folder: Folder, now: float) -> None:
    """Forget what was done days ago."""
    home = folder.state / FOLDER
    if home.is_dir():
        forget_old(home, now - 7 * DAY)
