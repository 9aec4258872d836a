"""Where a memory folder is and what its files are."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from agent_memfas.errors import ConfigError, UsageError
from agent_memfas.store.places import KINDS, MARKS, STATE, kind_of, log_day, nearest

__all__ = ["KINDS", "MARKS", "STATE", "kind_of", "log_day"]


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
    if found := nearest(str(start)):
        return open_folder(Path(found))
    raise ConfigError(
        f"no memory folder at {start} or above it",
        "make one here: memfas init (or name one: --root DIR, or MEMFAS_ROOT)",
    )
