"""What git calls for each memory file that was changed on both sides."""

from __future__ import annotations

import os
from pathlib import Path

from agent_memfas.errors import FileFault
from agent_memfas.store.files import fault, read
from agent_memfas.store.replacing import place_merged
from agent_memfas.text.merging import merge

CAP = 64 * 1024 * 1024
MARKDOWN = (".md", ".markdown")


def run(base: Path, ours: Path, theirs: Path, name: str) -> bool:
    """Put the merge of three versions in the place of ours. name: of the file they are versions of.
    Returns whether ours was changed. FileFault: nothing was.
    """
    markdown = name.lower().endswith(MARKDOWN) or not os.path.splitext(name)[1]
    before, mine, other = (_bytes(path) for path in (base, ours, theirs))
    merged = merge(before, mine, other, markdown=markdown)
    if merged == mine:
        return False
    try:
        place_merged(ours, merged)
    except OSError as error:
        raise fault(ours, error) from error
    return True


def _bytes(path: Path) -> bytes:
    """A version, empty where git gives /dev/null for one that is not there."""
    if str(path) == os.devnull:
        return b""
    try:
        return read(path, CAP).data
    except FileFault as error:
        raise FileFault(error.message, "git keeps both versions: see git status") from error
