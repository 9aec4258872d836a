"""The folders of a memory folder, each with all of its own files, from the bottom up."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable
from dataclasses import dataclass, field

from agent_memfas.store.files import LEFTOVER
from agent_memfas.store.layout import Folder
from agent_memfas.store.listing import SKIPPED_FOLDERS, Skipped
from agent_memfas.store.openclaw import is_diary, names_in

ARCHIVES = frozenset({"archive", "cold-storage"})


@dataclass(frozen=True)
class Place:
    """One folder as it was listed. path: relative to the root, "" for the root itself.

    files: whatever is no folder, links and pipes too, by name. folders: names. hidden: names of
    dot files and editors' leftovers. problems: what could not be looked at. listed: False where
    the folder itself could not.
    """

    path: str
    files: dict[str, os.stat_result] = field(default_factory=dict)
    folders: list[str] = field(default_factory=list)
    hidden: list[str] = field(default_factory=list)
    problems: list[Skipped] = field(default_factory=list)
    listed: bool = True

    @property
    def is_archive(self) -> bool:
        """Whether it is an archive, or lies in one."""
        return not ARCHIVES.isdisjoint(self.path.split("/"))

    def inside(self, name: str) -> str:
        """The relative path of something in it."""
        return f"{self.path}/{name}" if self.path else name


def list_bottom_up(
    folder: Folder, starts: list[str], ignores: Callable[[str], bool] | None = None
) -> list[Place]:
    """The folders at and below the starts, each once, and after all folders inside it.

    ignores: says of a file, or a folder with `/` behind it, whether it is left out. Links are not
    followed; dot folders, dependencies and what OpenClaw dreams are left out, too.
    """
    places: dict[str, Place] = {}
    for start in starts:
        pending = [start]
        while pending:
            path = pending.pop()
            # A folder met a second time is put behind the one that it lies in.
            place = places.pop(path, None) or list_place(folder, path, ignores)
            places[path] = place
            pending.extend(map(place.inside, place.folders))
    return list(reversed(places.values()))


def list_place(folder: Folder, path: str, ignores: Callable[[str], bool] | None = None) -> Place:
    """One folder, its names in order. ignores: as for `list_bottom_up`."""
    place = Place(path)
    try:
        with os.scandir(folder.root / path) as found:
            entries = sorted(found, key=lambda entry: entry.name)
    except OSError as error:
        reason = os.strerror(error.errno or 0)
        return Place(path, problems=[Skipped(path or ".", reason)], listed=False)
    dreams = names_in(path)
    dreams = dreams if dreams and is_diary(str(folder.root), path) else frozenset()
    for entry in entries:
        if entry.name in dreams:
            continue
        if entry.name.startswith(".") or LEFTOVER.fullmatch(entry.name):
            place.hidden.append(entry.name)
            continue
        try:
            info = entry.stat(follow_symlinks=False)
        except OSError as error:
            reason = os.strerror(error.errno or 0)
            place.problems.append(Skipped(place.inside(entry.name), reason))
            continue
        is_folder = stat.S_ISDIR(info.st_mode)
        if ignores and ignores(place.inside(entry.name) + ("/" if is_folder else "")):
            continue
        if not is_folder:
            place.files[entry.name] = info
        elif entry.name not in SKIPPED_FOLDERS:
            place.folders.append(entry.name)
    return place
