"""The daily logs of a memory folder."""

from __future__ import annotations

from datetime import date

from agent_memfas.store.files import walk
from agent_memfas.store.layout import Folder
from agent_memfas.text.logs import day_of


def logs(folder: Folder) -> list[tuple[date, str]]:
    """All daily logs, by day."""
    paths = ((day_of(path), path) for path in walk(folder).files)
    return sorted((day, path) for day, path in paths if day)
