"""The files that are overviews of folders: `.abstract`, memfas' or not, and OpenViking's two."""

from __future__ import annotations

import os

from agent_memfas.store.listing import SKIPPED_FOLDERS, join

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

ABSTRACT = ".abstract"
OPENVIKING = (".abstract.md", ".overview.md")
_NAMES = frozenset((ABSTRACT, *OPENVIKING))


def abstract_files(root: str, enters: Callable[[str], bool] | None = None) -> list[str]:
    """Every overview at and below a root (a real path), by relative paths in order.

    enters: whether a folder counts, as in a sweep (`Scope.enters`). Links and dot folders are
    passed over, and so is a folder that cannot be listed. No file is opened or looked at.
    """
    found, pending = list[str](), [""]
    while pending:
        folder = pending.pop()
        try:
            with os.scandir(os.path.join(root, folder) if folder else root) as entries:
                for entry in entries:
                    name = entry.name
                    if name[:1] == ".":
                        if name in _NAMES and entry.is_file(follow_symlinks=False):
                            found.append(join(folder, name))
                    elif name not in SKIPPED_FOLDERS and entry.is_dir(follow_symlinks=False):
                        below = join(folder, name)
                        if enters is None or enters(below):
                            pending.append(below)
        except OSError:
            continue
    return sorted(found)
