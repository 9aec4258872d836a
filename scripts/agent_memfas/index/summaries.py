"""Files as an overview lists them: read where they have changed, summarized once."""

from __future__ import annotations

import hashlib
import json
import os
import stat
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from agent_memfas.errors import FileFault
from agent_memfas.index.seen import CACHE_CAP, Found, Seen
from agent_memfas.store.durable import write_whole
from agent_memfas.store.files import READ_CAP, Image, read
from agent_memfas.store.layout import Folder
from agent_memfas.store.listing import TEXT_SUFFIXES, signature_of
from agent_memfas.store.locks import state_folder
from agent_memfas.text.overview import Item
from agent_memfas.text.summary import Summary, summarize

FILE = "abstracts.json"
VERSION = 2  # one more whenever `summarize` finds something else in the same bytes
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
    """The summaries that an earlier run has kept. What is damaged or outdated is forgotten.

    as_of: the wall clock now, ns; without it every file is read the next time, too. check: called
    before each file that is read, and may raise to end the work. anew: read every file now.
    """

    def __init__(
        self,
        folder: Folder,
        as_of: int = 0,
        check: Callable[[], None] | None = None,
        *,
        anew: bool = False,
    ) -> None:
        self._folder = folder
        self._used: dict[str, Summary] = {}
        self._seen = Seen(folder, as_of)
        self._check = check
        self._anew = anew

    @cached_property
    def _kept(self) -> dict[str, Summary]:
        return _load(self._folder)

    def examine(self, path: str, info: os.stat_result, *, summed: bool = True) -> Examined | None:
        """One file, read unless it is known; None where it has gone meanwhile.

        path: relative to the root; info: its own, not that of what it links to. summed: without it
        no summary is made.
        """
        name = os.path.basename(path)
        if stat.S_ISLNK(info.st_mode):
            return Examined(Item(name, note="a link, not followed"), "link")
        if not stat.S_ISREG(info.st_mode):
            return Examined(Item(name, note="not a regular file"), "special", "not a regular file")
        found = None if self._anew else self._seen.find(path, info)
        if found and not (summed and found.is_text):
            return Examined(Item(name, note=found.note), found.digest, found.problem)
        if found and (summary := self._kept.get(found.digest)):
            self._used[found.digest] = summary
            return Examined(Item(name, summary, found.note), found.digest)
        return self._read(path, info, summed=summed)

    def _read(self, path: str, info: os.stat_result, *, summed: bool) -> Examined | None:
        if self._check:
            self._check()
        name, place = os.path.basename(path), self._folder.root / path
        try:
            image = read(place, READ_CAP, cut=True)
        except FileFault as fault:
            if isinstance(fault.__cause__, FileNotFoundError):
                return None
            reason = fault.message.removeprefix(f"{place}: ")
            return Examined(Item(name, note=reason), f"fault {reason}", reason)
        found, data = _identify(name, image)
        summary = None
        if found.is_text and summed:
            summary = self._kept.get(found.digest) or summarize(name, data)
            if summary is None:
                found = Found(found.digest, "not UTF-8", "not UTF-8")
            else:
                self._used[found.digest] = summary
        if signature_of(image.info) == signature_of(info):
            self._seen.note(path, info, found)
        return Examined(Item(name, summary, found.note), found.digest, found.problem)

    def save(self, *, whole: bool, summed: bool = True) -> None:
        """Write what was used, with whole only that: the rest belongs to files that are gone.

        summed: whether summaries were made. Where it cannot be written the next run takes longer,
        and nothing else is different.
        """
        self._seen.save(whole=whole)
        if not summed:
            return
        kept = self._used if whole else {**self._kept, **self._used}
        if kept == self._kept:
            return
        body = json.dumps({key: vars(kept[key]) for key in sorted(kept)})
        try:
            path = state_folder(self._folder) / FILE
            write_whole(path, f"{_seal(body)}\n{body}\n".encode())
        except FileFault:
            return


def _identify(name: str, image: Image) -> tuple[Found, bytes]:
    """What a file is by its name and bytes, and those of them that are whole characters."""
    size, salt, data = image.info.st_size, "", image.data
    if image.cut:
        salt = f"{size} {image.info.st_mtime_ns}"
        data = _whole_characters(data)
    digest = hashlib.sha256(os.fsencode(f"{name}\0{salt}\0") + image.data).hexdigest()[:32]
    if not name.lower().endswith(TEXT_SUFFIXES if image.cut else _SUFFIXES):
        return Found(digest, _size(size)), data
    note = f"the first {_size(READ_CAP)} of {_size(size)}" if image.cut else ""
    return Found(digest, note, is_text=True), data


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
        text = read(folder.state / FILE, CACHE_CAP).data.decode("utf-8", "replace")
    except FileFault:
        return {}
    seal, _, body = text.partition("\n")
    if seal != _seal(body.removesuffix("\n")):
        return {}
    return {key: _summary(fields) for key, fields in json.loads(body).items()}


def _summary(fields: dict[str, Any]) -> Summary:
    """Lists of JSON -> the tuples that they were."""
    for name in ("counts", "sections"):
        fields[name] = tuple(fields[name])
    for name in ("terms", "topics"):
        fields[name] = tuple(map(tuple, fields[name]))
    return Summary(**fields)
