"""Where a memory folder is and what its files are."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from agent_memfas.errors import ConfigError, UsageError
from agent_memfas.text.entries import parse_day

MARKS = ("memfas.yaml", "MEMORY.md", "memory")
STATE = ".memfas"
KINDS = ("memory", "insights", "lessons", "shared", "long-term", "archive", "cold", "other")
_ROOT_KINDS = {
    "memory": "memory",
    "insights": "insights",
    "lessons": "lessons",
    "shared": "shared",
    "archive": "archive",
    "cold-storage": "cold",
}


@dataclass(frozen=True)
class Folder:
    """A memory folder. root: its real, absolute path."""

    root: Path

    @property
    def state(self) -> Path:
        """Derived and run-time state; deleting it loses undo and caches, never memory."""
        return self.root / STATE

    def relative(self, path: Path) -> str:
        """A path inside the folder as it is shown and stored: relative, with `/`."""
        return path.relative_to(self.root).as_posix()

    def place(self, name: str) -> Path:
        """A path given by a person or an agent -> the real path it names, inside the folder.

        name: relative to the root, or absolute. Links are followed to where they lead; UsageError
        where that is outside the folder, or in its state folder.
        """
        if "\0" in name or not name.strip():
            raise UsageError(f"not a path: {name!r}")
        real = Path(os.path.realpath(self.root / os.path.expanduser(name)))
        if not real.is_relative_to(self.root) or real == self.root:
            raise UsageError(
                f"{name} is outside the memory folder {self.root}",
                "name a file inside it, or another folder with --root",
            )
        if real.relative_to(self.root).parts[0] == STATE:
            raise UsageError(f"{name} is in memfas' own state folder")
        return real


def open_folder(path: Path) -> Folder:
    """An existing folder as a memory folder. ConfigError where there is none."""
    real = Path(os.path.realpath(path))
    if not os.path.isdir(real):
        what = "is not a folder" if os.path.lexists(real) else "does not exist"
        raise ConfigError(f"memory folder {path} {what}", "make one: memfas init --root DIR")
    return Folder(real)


def find_folder(start: Path) -> Folder:
    """The nearest folder from start upwards that looks like a memory folder."""
    for candidate in (start, *start.parents):
        if any(os.path.lexists(candidate / mark) for mark in MARKS):
            return open_folder(candidate)
    raise ConfigError(
        f"no memory folder at {start} or above it",
        "make one here: memfas init (or name one: --root DIR, or MEMFAS_ROOT)",
    )


def kind_of(relative: str) -> str:
    """What a file is by its place: one of KINDS. relative: as Folder.relative gives it."""
    first, _, rest = relative.partition("/")
    if rest:
        return _ROOT_KINDS.get(first, "other")
    return "long-term" if first.lower() == "memory.md" else "other"


def log_day(relative: str) -> str | None:
    """The day of a daily log, `YYYY-MM-DD` as its name says it, or None for any other file."""
    first, _, name = relative.partition("/")
    if first != "memory" or len(name) != 13 or not name.endswith(".md"):
        return None
    return name[:10] if parse_day(name[:10]) else None
