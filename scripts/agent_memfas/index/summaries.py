"""Files as an overview lists them: hashed each time, summarized once for the same bytes."""

from __future__ import annotations

import hashlib
import json
import os
import stat
from dataclasses import asdict, dataclass
from typing import Any

from agent_memfas.errors import FileFault
from agent_memfas.store.durable import write_whole
from agent_memfas.store.files import READ_CAP, read
from agent_memfas.store.layout import Folder
from agent_memfas.store.listing import TEXT_SUFFIXES
from agent_memfas.store.locks import state_folder
from agent_memfas.text.overview import Item
from agent_memfas.text.summary import Summary, summarize

FILE = "abstracts.json"
VERSION = 1  # one more whenever `summarize` finds something else in the same bytes
_SUFFIXES = (*TEXT_SUFFIXES, ".json")


@dataclass(frozen=True)
class Examined:
    """One file as it was read.

    digest: another one whenever its name or bytes are. problem: why its text is not known, or "".
    """

    item: Item
    digest: str
    problem: str = ""


class Summaries:
    """The summaries that an earlier run has kept. What is damaged or outdated is forgotten."""

    def __init__(self, folder: Folder) -> None:
        self._folder = folder
        self._kept = _load(folder)
        self._used: dict[str, Summary] = {}

    def find(self, key: str) -> Summary | None:
        """The summary kept under a key, or None."""
        return self._kept.get(key)

    def keep(self, key: str, summary: Summary) -> None:
        """Keep a summary that this run has used."""
        self._used[key] = summary

    def save(self, *, whole: bool) -> None:
        """Write what was used, with whole only that: the rest belongs to files that are gone.

        Where it cannot be written the next run takes longer, and nothing else is different.
        """
        kept = self._used if whole else {**self._kept, **self._used}
        if kept == self._kept:
            return
        body = json.dumps({key: asdict(kept[key]) for key in sorted(kept)})
        try:
            path = state_folder(self._folder) / FILE
            write_whole(path, f"{_seal(body)}\n{body}\n".encode())
        except FileFault:
            return


def examine(
    folder: Folder, path: str, info: os.stat_result, known: Summaries | None
) -> Examined | None:
    """Read one file; None where it has gone meanwhile. No summary is made where known is None.

    path: relative to the root; info: its own, not that of what it links to.
    """
    name = os.path.basename(path)
    if stat.S_ISLNK(info.st_mode):
        return Examined(Item(name, note="a link, not followed"), "link")
    if not stat.S_ISREG(info.st_mode):
        return Examined(Item(name, note="not a regular file"), "special", "not a regular file")
    try:
        image = read(folder.root / path, READ_CAP, cut=True)
    except FileFault as fault:
        if isinstance(fault.__cause__, FileNotFoundError):
            return None
        reason = fault.message.removeprefix(f"{folder.root / path}: ")
        return Examined(Item(name, note=reason), f"fault {reason}", reason)
    size, salt, data = image.info.st_size, "", image.data
    if image.cut:
        salt = f"{size} {image.info.st_mtime_ns}"
        data = _whole_characters(data)
    digest = hashlib.sha256(os.fsencode(f"{name}\0{salt}\0") + image.data).hexdigest()[:32]
    if not name.lower().endswith(TEXT_SUFFIXES if image.cut else _SUFFIXES):
        return Examined(Item(name, note=_size(size)), digest)
    if known is None:
        return Examined(Item(name), digest)
    summary = known.find(digest) or summarize(name, data)
    if summary is None:
        return Examined(Item(name, note="not UTF-8"), digest, "not UTF-8")
    known.keep(digest, summary)
    note = f"the first {_size(READ_CAP)} of {_size(size)}" if image.cut else ""
    return Examined(Item(name, summary, note), digest)


def _whole_characters(data: bytes) -> bytes:
    """Bytes cut anywhere -> without the beginning of a character at their end."""
    for length in range(1, 4):
        if data[-length:][:1] >= b"\xc0":
            return data[:-length]
    return data


def _size(size: int) -> str:
    for unit in ("bytes", "KB", "MB"):
        if size < 1024:
            return f"{size} {unit}"
        size = (size + 512) >> 10
    return f"{size} GB"


def _seal(body: str) -> str:
    return hashlib.sha256(f"{VERSION}\n{body}".encode()).hexdigest()


def _load(folder: Folder) -> dict[str, Summary]:
    """What the last run wrote, to the byte, or nothing."""
    try:
        text = read(folder.state / FILE).data.decode("utf-8", "replace")
    except FileFault:
        return {}
    seal, _, body = text.partition("\n")
    if seal != _seal(body.removesuffix("\n")):
        return {}
    return {key: _summary(fields) for key, fields in json.loads(body).items()}


def _summary(fields: dict[str, Any]) -> Summary:
    """Lists of JSON -> the tuples that they were."""
    return Summary(**{name: _frozen(value) for name, value in fields.items()})


def _frozen(value: Any) -> Any:
    return tuple(_frozen(v) for v in value) if isinstance(value, list) else value
