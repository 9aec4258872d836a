"""A file's bytes -> the rows that the index holds of it; the same bytes give the same rows."""

from __future__ import annotations

import os
from collections.abc import Iterator
from hashlib import blake2b
from pathlib import Path

from agent_memfas.errors import FileFault, UsageError
from agent_memfas.index.rows import NEVER, Row
from agent_memfas.index.scope import Scope
from agent_memfas.store.files import READ_CAP, read, walk
from agent_memfas.store.layout import Folder
from agent_memfas.store.listing import TEXT_SUFFIXES, Signature, signature_of
from agent_memfas.store.places import PUT_AWAY, STATE, TRIGGERS, kind_of, log_day
from agent_memfas.text.documents import Document, parse
from agent_memfas.text.entries import Tag
from agent_memfas.text.firing import Trigger
from agent_memfas.text.passages import Passage, passages, plain, records
from agent_memfas.text.record import Record
from agent_memfas.text.speakers import asks
from agent_memfas.text.triggers import commented, listed
from agent_memfas.text.words import terms

LONG = 40
NOT_UTF8, CUT = "not UTF-8", "only the first"  # notes on files that are read all the same


class Content(Record):
    """A file as it was read. signature: of the file that was open. note: what is amiss, or ""."""

    data: bytes
    hash: bytes
    signature: Signature
    note: str


class Extract(Record):
    """What the index holds of a file."""

    kind: str
    rows: tuple[Row, ...]
    triggers: tuple[Trigger, ...]


def load(root: str, path: str) -> Content:
    """Read a file. FileFault with the bare reason where that is not possible, UsageError where a
    link leads out of the folder.
    """
    real = os.path.realpath(os.path.join(root, path))
    if not real.startswith(f"{root}/") or real.startswith(f"{root}/{STATE}/"):
        raise UsageError("it leads out of the memory folder")
    try:
        image = read(Path(real), READ_CAP, cut=True)
    except FileFault as error:
        raise FileFault(error.message.rpartition(": ")[2]) from error.__cause__
    notes = []
    if image.cut:
        notes.append(f"{CUT} {READ_CAP >> 20} MB are read")
    try:
        image.data.decode("utf-8")
    except UnicodeDecodeError:
        notes.append(f"{NOT_UTF8}: read with replacement characters")
    digest = blake2b(image.data, digest_size=16).digest()
    return Content(image.data, digest, signature_of(image.info), "; ".join(notes))


def is_partly_read(reason: str) -> bool:
    """Whether a file with that note is indexed all the same."""
    return reason.startswith((NOT_UTF8, CUT))


def documents(folder: Folder, scope: Scope) -> Iterator[tuple[str, Document]]:
    """The files that are memory and in force, parsed, by path; what cannot be read is left out."""
    for path in walk(folder).files:
        if path == TRIGGERS or kind_of(path) in PUT_AWAY or not scope.wants(path):
            continue
        try:
            yield path, parse(read(folder.place(path), READ_CAP, cut=True).data)
        except (FileFault, UsageError):
            continue


def extract(path: str, data: bytes) -> Extract:
    """The rows of a file. Linear in its size; never fails."""
    document = parse(data)
    if path == TRIGGERS:
        return Extract("triggers", (), tuple(listed(document, path)))
    suffix = os.path.splitext(path)[1].lower()
    cut = records if suffix == ".jsonl" else passages if suffix in TEXT_SUFFIXES else plain
    day = log_day(path) or ""
    rows = tuple(row for p in cut(document) if _is_searched(row := _row(p, day)))
    triggers = () if cut is plain else tuple(commented(document, path))
    return Extract(kind_of(path), rows, triggers)


def _is_searched(row: Row) -> bool:
    """Whether there is anything to find it by; a long text is taken to have that."""
    return len(row.text) >= LONG or bool(terms(row.indexed))


def _row(passage: Passage, day: str) -> Row:
    tag = passage.tag
    return Row(
        passage.start + 1, passage.end, " > ".join(passage.heading), passage.day or day,
        tag.priority if tag else "", tag.date.isoformat() if tag and tag.date else "",
        _expiry(tag), tag.superseded.isoformat() if tag and tag.superseded else "",
        passage.speaker, int(passage.opens), asks(passage.text), passage.text,
    )  # fmt: skip


def _expiry(tag: Tag | None) -> str:
    if tag is None or tag.priority == "P0" or tag.date is None or not tag.sound:
        return NEVER
    own = tag.own_last_day()
    return "" if own is None else own.isoformat()
