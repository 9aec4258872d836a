"""Reports of nights: a markdown file a day in our own folder, for people to look at afterwards."""

from __future__ import annotations

from contextlib import suppress
from datetime import datetime

from agent_memfas.errors import FileFault
from agent_memfas.store.durable import discard, sweep, write_whole
from agent_memfas.store.files import read
from agent_memfas.store.layout import Folder
from agent_memfas.store.locks import state_folder

FOLDER, KEPT = "dreams", 60  # days of which reports are kept


def write(folder: Folder, now: datetime, text: str) -> str:
    """Write the report of a run that began then: behind those of the day's other runs, in place of
    an earlier state of its own. Returns its path, relative to the root. FileFault.
    """
    home = state_folder(folder, FOLDER)
    path = home / f"{now.date().isoformat()}.md"
    head = text.partition("\n")[0]
    before = ""
    with suppress(FileFault):
        before = read(path).data.decode("utf-8", "replace").partition(f"{head}\n")[0]
    write_whole(path, f"{before.rstrip()}\n\n{text}\n".lstrip().encode("utf-8", "replace"))
    sweep(home)
    for old in sorted(home.glob("*.md"))[:-KEPT]:
        discard(old)
    return folder.relative(path)
