"""Bringing SESSION-STATE.md up to date from a conversation that is being compacted."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence

from agent_memfas.store import templates
from agent_memfas.store.files import read
from agent_memfas.store.layout import Folder
from agent_memfas.store.passes import Draft, Pass, edit, hold
from agent_memfas.text.documents import Document
from agent_memfas.text.session_state import with_state

FILE = "SESSION-STATE.md"


def update(folder: Folder, state: Mapping[str, Sequence[str]], run: Pass) -> bool:
    """Put the lines of each section into the work buffer, which is made where it is missing, in
    place of those of an earlier compaction. Returns whether it was changed.

    FileFault, Conflict, TryAgain: the file is as it was.
    """
    path = folder.place(FILE)

    def plan(document: Document) -> Draft[None]:
        return Draft(with_state(document.data, state), None)

    with hold(folder, run):
        if not os.path.lexists(path):
            templates.make_file(path, templates.text(FILE))
        before = read(path).data
        edit(folder, FILE, plan, run)
        return read(path).data != before
