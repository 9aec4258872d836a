"""Where the index of a memory folder may be."""

from __future__ import annotations

import os

from agent_memfas.store.places import STATE
from agent_memfas.text.record import Record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

FILE = "index.db"


class Place(Record):
    """A path for an index. ours: whatever is there may be replaced, for the folder is memfas'."""

    path: str
    ours: bool


def places_of(root: str, db_path: str, cache: str) -> tuple[Place, ...]:
    """The places for an index, best first; those that cannot be written come last.

    root: the folder's real path. db_path: as configured, absolute, or "". cache: the user's cache
    folder, or "": for folders that cannot be written.
    """
    found = [Place(db_path, False)] if db_path else []
    if not os.path.islink(f"{root}/{STATE}"):  # nothing is written through a link
        found.append(Place(f"{root}/{STATE}/{FILE}", True))
    if found and all(_is_writable(os.path.dirname(place.path)) for place in found):
        return tuple(found)
    if cache:
        from hashlib import blake2b

        name = os.path.basename(root) + "-" + blake2b(os.fsencode(root), digest_size=6).hexdigest()
        found.append(Place(f"{cache}/memfas/{name}/{FILE}", True))
    return tuple(sorted(found, key=lambda place: not _is_writable(os.path.dirname(place.path))))


def cache_home(environment: Mapping[str, str]) -> str:
    """Where a user's caches are: $XDG_CACHE_HOME, else ~/.cache; "" where there is no home."""
    given, home = environment.get("XDG_CACHE_HOME", ""), environment.get("HOME", "")
    if os.path.isabs(given):
        return given
    return os.path.join(home, ".cache") if os.path.isabs(home) else ""


def _is_writable(folder: str) -> bool:
    """Whether files can be made in a folder, which may have to be made itself."""
    while not os.path.lexists(folder):
        folder = os.path.dirname(folder)
    return os.access(folder, os.W_OK | os.X_OK)
