"""What a session has been given already, so that it is not given the same again."""

from __future__ import annotations

from agent_memfas.errors import FileFault
from agent_memfas.store import durable
from agent_memfas.store.files import read
from agent_memfas.store.layout import Folder
from agent_memfas.store.locks import state_folder
from agent_memfas.store.named import DAY, file_name, forget_old

FOLDER = "sessions"
DAYS = 7  # a session that was not heard of for so long is over
MOST = 10_000  # blocks that are remembered of a session; the oldest are forgotten


def load(folder: Folder, session: str) -> list[int]:
    """The numbers of the blocks that a session was given, oldest first; [] where none is known."""
    try:
        data = read(folder.state / FOLDER / file_name(session)).data
    except FileFault:
        return []
    return [int(line, 16) for line in data.decode("ascii", "replace").split() if _is_number(line)]


def save(folder: Folder, session: str, given: list[int], now: float) -> None:
    """Remember them. now: seconds since 1970; sessions older than DAYS are forgotten. FileFault."""
    home = state_folder(folder, FOLDER)
    body = "\n".join(f"{number:x}" for number in given[-MOST:]) + "\n"
    durable.write_whole(home / file_name(session), body.encode())
    forget_old(home, now - DAYS * DAY)


def forget(folder: Folder, session: str) -> None:
    """Forget what a session was given, as after a compaction of its window. FileFault."""
    path = folder.state / FOLDER / file_name(session)
    try:
        path.unlink(missing_ok=True)
    except OSError as error:
        raise FileFault(f"{path}: {error.strerror}") from error


def _is_number(text: str) -> bool:
    return len(text) <= 16 and all(c in "0123456789abcdef" for c in text)
