"""The inboxes of the shared folder: shared/inbox/AGENT/UTC-PID-RANDOM.md, a file an entry.

Each writer makes files of its own, whole or not at all (as Maildir does), so that nobody waits for
anybody; the janitor takes them over into shared/MEMORY.md.
"""

from __future__ import annotations

import os
from datetime import timezone

from agent_memfas.errors import FileFault
from agent_memfas.store.durable import write_whole
from agent_memfas.store.files import fault
from agent_memfas.store.layout import Folder
from agent_memfas.store.passes import Pass
from agent_memfas.text.rights import is_name

SHARED = "shared/MEMORY.md"
INBOX = "shared/inbox"


def new_name(agent: str, run: Pass) -> str:
    """A name that no other file has, relative to the root; by name is by time."""
    now = run.now.astimezone(timezone.utc)
    moment = f"{now:%Y%m%dT%H%M%S}{now.microsecond // 1000:03}Z"
    unique = f"{moment}-{os.getpid()}-{os.urandom(4).hex()}"
    return f"{INBOX}/{agent}/{unique}.md"


def source(name: str) -> str:
    """What an entry that was taken over from a file has as its source: the file's own name."""
    return f"inbox/{name.rpartition('/')[2].removesuffix('.md')}"


def put(folder: Folder, name: str, line: str) -> None:
    """Write an entry as a file of its own. FileFault."""
    path = folder.root / name
    try:
        os.makedirs(path.parent, 0o700, exist_ok=True)
    except OSError as error:
        raise fault(path.parent, error) from error
    folder.place(name)  # never through a link out of the folder
    write_whole(path, f"{line}\n".encode("utf-8", "replace"))


def waiting(folder: Folder) -> list[tuple[str, str]]:
    """(agent, name relative to the root) of the files that wait, oldest first; what has another
    form is passed over.
    """
    found = list[tuple[str, str]]()
    for agent in _names(folder, INBOX):
        if is_name(agent):
            found += [
                (agent, f"{INBOX}/{agent}/{name}")
                for name in _names(folder, f"{INBOX}/{agent}")
                if name.endswith(".md") and not name.startswith(".")
            ]
    return sorted(found, key=lambda one: one[1].rpartition("/")[2])


def remove(folder: Folder, name: str) -> None:
    """Take a file away that was taken over. FileFault."""
    path = folder.place(name)
    try:
        path.unlink(missing_ok=True)
    except OSError as error:
        raise FileFault(f"{path}: {error.strerror}") from error


def _names(folder: Folder, place: str) -> list[str]:
    try:
        with os.scandir(folder.root / place) as entries:
            return sorted(e.name for e in entries if not e.is_symlink())
    except OSError:
        return []
