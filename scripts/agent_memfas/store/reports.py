"""Reports of nights: a markdown file a day in our own folder, for people to look at afterwards."""

from __future__ import annotations

from contextlib import suppress
from datetime import datetime
from pathlib import Path

from agent_memfas.errors import FileFault
from agent_memfas.store.durable import discard, sweep, write_whole
from agent_memfas.store.files import read
from agent_memfas.store.layout import Folder
from agent_memfas.store.locks import state_folder

FOLDER, KEPT = "dreams", 60  # days of which reports are kept


def of_day(folder: Folder, now: datetime) -> str:
    """What the day's earlier runs have reported, "" for nothing."""
    with suppress(FileFault):
        return read(_path(folder, now)).data.decode("utf-8", "replace")
    return ""


def write(folder: Folder, now: datetime, text: str, before: str) -> str:
    """Write the report of a run, as often as there is more of it, behind those of the day's other
    runs. before: these, as `of_day` gave them when it began. Returns its path, relative to the
    root. FileFault.
    """
    home, path = state_folder(folder, FOLDER), _path(folder, now)
    write_whole(path, f"{before.rstrip()}\n\n{text}\n".lstrip().encode("utf-8", "replace"))
    sweep(home)
    for old in sorted(home.glob("*.md"))[:-KEPT]:
        discard(old)
    return folder.relative(path)


def _path(folder: Folder, now: datetime) -> Path:
    return folder.state / FOLDER / f"{now.date().isoformat()}.md"
