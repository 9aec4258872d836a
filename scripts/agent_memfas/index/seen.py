"""What files were when they were last read for an overview: so most of them need not be read again.

A file counts as the same while its inode, size and times are, as in a sweep of the index; one that
was so young when it was read that a change within the same tick of the clock would not show is not
believed, and read again.
"""

from __future__ import annotations

import hashlib
import json
import os

from agent_memfas.errors import FileFault
from agent_memfas.store.durable import write_whole
from agent_memfas.store.files import EDIT_CAP, read
from agent_memfas.store.layout import Folder
from agent_memfas.store.listing import signature_of
from agent_memfas.store.locks import state_folder
from agent_memfas.text.record import Record

FILE = "abstracts.seen"
VERSION = 1  # one more whenever a file that is the same is to be read again
TICK = 20_000_000  # ns: a clock tick of the kernel, twice
CACHE_CAP = 16 * EDIT_CAP  # bytes: a hundred thousand files


class Found(Record):
    """What reading a file has found, but for its text. digest: of name and bytes; note: said in
    its line; problem: why its text is not known, or ""; is_text: whether a summary belongs to it.
    """

    digest: str
    note: str = ""
    problem: str = ""
    is_text: bool = False


class Seen:
    """The record, as an earlier run has left it. What is damaged or outdated is forgotten.

    as_of: the wall clock before the folder was listed, ns; with 0 nothing new is believed.
    """

    def __init__(self, folder: Folder, as_of: int) -> None:
        self._folder = folder
        self._before = as_of - TICK
        self._kept = _load(folder)
        self._used: dict[str, list[object]] = {}

    def find(self, path: str, info: os.stat_result) -> Found | None:
        """What a file held when it last was as it is now, or None."""
        row = self._kept.get(path)
        if row is None or tuple(row[:4]) != signature_of(info):
            return None
        self._used[path] = row
        digest, note, problem, is_text = row[4:]
        return Found(str(digest), str(note), str(problem), bool(is_text))

    def note(self, path: str, info: os.stat_result, found: Found) -> None:
        """Remember what a file held that was so before it was opened."""
        if max(info.st_mtime_ns, info.st_ctime_ns) < self._before:
            self._used[path] = [
                *signature_of(info), found.digest, found.note, found.problem, found.is_text
            ]  # fmt: skip

    def save(self, *, whole: bool) -> None:
        """Write what was used; with whole only that, for the other files are gone.

        Where it cannot be written the next run takes longer, and nothing else is different.
        """
        kept = self._used if whole else {**self._kept, **self._used}
        if kept == self._kept:
            return
        body = json.dumps(kept, separators=(",", ":"))
        try:
            path = state_folder(self._folder) / FILE
            write_whole(path, f"{_seal(body)}\n{body}\n".encode())
        except FileFault:
            return


def _seal(body: str) -> str:
    return hashlib.sha256(f"{VERSION}\n{body}".encode()).hexdigest()


def _load(folder: Folder) -> dict[str, list[object]]:
    """What the last run wrote, to the byte, or nothing."""
    try:
        text = read(folder.state / FILE, CACHE_CAP).data.decode("utf-8", "replace")
    except FileFault:
        return {}
    seal, _, body = text.partition("\n")
    body = body.removesuffix("\n")
    if seal != _seal(body):
        return {}
    kept: dict[str, list[object]] = json.loads(body)
    return kept
