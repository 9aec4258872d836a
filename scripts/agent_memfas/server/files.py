"""The files of a memory folder as resources: those of the start by name, all others by path."""

from __future__ import annotations

import os
from datetime import timedelta
from urllib.parse import quote, unquote

from agent_memfas.errors import NothingFound
from agent_memfas.memory import Memory
from agent_memfas.store.files import read
from agent_memfas.store.listing import TEXT_SUFFIXES
from agent_memfas.text.record import Record

SCHEME = "memfas:///"
LARGEST = 4 * 1024 * 1024  # bytes of a file that is given
MADE = ("archive/", "insights/", "cold-storage/")  # folders of what is made of other files
ABOUT = {
    "SESSION-STATE.md": "What is being done: task, state, what is to be confirmed.",
    "MEMORY.md": "Long-term memory: entries of priority P0, P1 and P2.",
    "TRIGGERS.md": "Keywords, each with a hint.",
    ".abstract": "What is in the folder, at a glance.",
    "shared/MEMORY.md": "What all agents know.",
    "shared/SOUL-BASE.md": "What holds for all agents.",
}


class File(Record):
    """A file that is worth a look. size: bytes."""

    path: str
    about: str
    size: int

    @property
    def uri(self) -> str:
        """Its address."""
        return f"{SCHEME}{quote(self.path)}"


def listed(memory: Memory) -> list[File]:
    """The files that are read at the start of a session, as far as they are there and may be read:
    and the logs of today and yesterday.
    """
    today = memory.now.date()
    logs = {
        f"memory/{today - timedelta(days=n)}.md": f"The log of {('today', 'yesterday')[n]}."
        for n in (0, 1)
    }
    found = []
    for path, about in {**ABOUT, **logs}.items():
        place = memory.folder.root / path
        if _may_read(memory, path) and place.is_file():
            found.append(File(path, about, os.stat(place).st_size))
    return found


def _may_read(memory: Memory, path: str) -> bool:
    """Whether it may be seen; what is made of other files only where none is another agent's."""
    made = path.rpartition("/")[2] == ".abstract" or path.startswith(MADE)
    return memory.rights.may_read(path) and not (made and memory.rights.hidden)


def text_of(memory: Memory, uri: str) -> str:
    """The text of a file of the memory. NothingFound for an address of none, or of what may not be
    read; UsageError for one outside of the folder; FileFault.
    """
    path = unquote(uri.removeprefix(SCHEME))
    if not uri.startswith(SCHEME) or not path:
        raise NothingFound(f"{uri} is no file of this memory", f"as in {SCHEME}MEMORY.md")
    place = memory.folder.place(path)
    name = memory.folder.relative(place)
    hidden = any(part.startswith(".") for part in name.split("/")) and place.name != ".abstract"
    known = name.endswith(TEXT_SUFFIXES) or place.name == ".abstract"
    if hidden or not known or not _may_read(memory, name) or not place.is_file():
        raise NothingFound(f"{path} is no file of this memory")
    return read(place, LARGEST).data.decode("utf-8", "replace")
