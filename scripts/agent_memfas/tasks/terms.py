"""The term of single entries: what leaves soon, renewing one, replacing one by its successor."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date

from agent_memfas.errors import NothingFound, UsageError
from agent_memfas.store.layout import Folder
from agent_memfas.store.passes import Draft, Pass, edit, editable, hold, read_patiently
from agent_memfas.text.documents import Document
from agent_memfas.text.entries import Entry, Terms, entries, entry_text
from agent_memfas.text.rights import PERSON, Rights, signed

_TERM = re.compile(r" ?\[(?:ttl|until):[^\]]*\]")
_HEAD = re.compile(
    rb"( {0,3}- \[P[12]\])\[([0-9-]{10})\]((?: ?\[(?:ttl|until|superseded):[^\]]*\])*)"
)


@dataclass(frozen=True)
class Expiring:
    """An entry and its last day. days_left: 0 on that day, negative when it is over."""

    path: str
    line: int
    priority: str
    date: str
    expires: str
    days_left: int
    text: str


@dataclass(frozen=True)
class Edited:
    """An entry that was changed: its place and its first line, before and after."""

    path: str
    line: int
    before: str
    after: str


def expiring(
    folder: Folder, names: list[str], within: int, today: date, terms: Terms
) -> list[Expiring]:
    """The entries whose last day comes within so many days, the soonest first."""
    out: list[Expiring] = []
    for name in names:
        document = editable(name, read_patiently(folder.place(name)))
        for entry in entries(document):
            last = entry.tag.last_day(terms)
            if last is None or (last - today).days > within:
                continue
            if entry.protected_by(today, terms) is not None or entry.tag.date is None:
                continue
            tag = entry.tag
            out.append(Expiring(
                name, entry.start + 1, tag.priority, entry.tag.date.isoformat(), last.isoformat(),
                (last - today).days, entry.text,
            ))  # fmt: skip
    return sorted(out, key=lambda e: (e.expires, e.path, e.line))


def renew(
    folder: Folder, name: str, line: int, days: int | None, run: Pass, *, dry_run: bool = False,
    rights: Rights = PERSON,
) -> Edited:  # fmt: skip
    """Give an entry today's date, so that its term starts anew; with days, that term of its own.
    UsageError where that agent may not.
    """

    def change(document: Document, entry: Entry) -> list[bytes]:
        raw = document.lines[entry.start]
        bare = _head(raw, name, line)
        marks = _TERM.sub("", bare[3].decode()) + (f"[ttl:{days}d]" if days is not None else "")
        head = bare[1] + f"[{run.now.date()}]{marks}".encode()
        first = raw[: bare.start()] + head + raw[bare.end() :]
        return [first, *document.lines[entry.start + 1 : entry.end]]

    return _change(folder, name, line, change, run, dry_run, rights)


def supersede(
    folder: Folder, name: str, line: int, text: str, run: Pass, *, dry_run: bool = False,
    rights: Rights = PERSON,
) -> Edited:  # fmt: skip
    """Label an entry as superseded today and put its successor, of the same priority, below it,
    signed where an agent writes. UsageError where that agent may not.
    """
    if not text.strip():
        raise UsageError("the new text is empty")
    today, said = run.now.date(), signed(entry_text(text), rights.agent)

    def change(document: Document, entry: Entry) -> list[bytes]:
        if entry.tag.superseded is not None:
            raise UsageError(f"{name}:{line}: superseded already, on {entry.tag.superseded}")
        raw = document.lines[entry.start]
        at = raw.index(b"]", raw.index(b"- [P")) + 1
        if entry.tag.date is not None:
            at = raw.index(b"]", at) + 1
        labelled = raw[:at] + f"[superseded:{today}]".encode() + raw[at:]
        block = [labelled, *document.lines[entry.start + 1 : entry.end]]
        ending = b"\r\n" if raw.endswith(b"\r\n") else b"\n"
        if not block[-1].endswith(b"\n"):
            block[-1] += ending
        priority = entry.tag.priority
        stamp = "" if priority == "P0" else f"[{today}]"
        indent = " " * (len(raw) - len(raw.lstrip(b" "))) if not raw.startswith(b"\xef") else ""
        successor = f"{indent}- [{priority}]{stamp} {said}".encode("utf-8", "replace")
        return [*block, successor + ending]

    return _change(folder, name, line, change, run, dry_run, rights)


def _head(raw: bytes, name: str, line: int) -> re.Match[bytes]:
    match = _HEAD.search(raw)
    if match is not None:
        return match
    if b"- [P0]" in raw:
        raise UsageError(f"{name}:{line}: a P0 entry never expires: there is nothing to renew")
    raise UsageError(f"{name}:{line}: the entry has no date", "correct it: memfas lint --fix")


def _change(
    folder: Folder,
    name: str,
    line: int,
    change: Callable[[Document, Entry], list[bytes]],
    run: Pass,
    dry_run: bool,
    rights: Rights,
) -> Edited:
    """Replace the lines of the entry at a line; done only while that entry is as it was seen."""
    with hold(folder, run):
        document = editable(name, read_patiently(folder.place(name)))
        entry = _entry_at(document, name, line)
        rights.check(folder.relative(folder.place(name)), entry.tag.priority)
        raw = document.lines[entry.start : entry.end]
        new = change(document, entry)

        def plan(now: Document) -> Draft[None]:
            if now.lines[entry.start : entry.end] != raw:
                raise NothingFound(f"{name}:{line}: the entry was changed meanwhile", "look again")
            lines = (*now.lines[: entry.start], *new, *now.lines[entry.end :])
            return Draft(b"".join(lines), None)

        if not dry_run:
            edit(folder, name, plan, run)
    before, after = (x[0].decode("utf-8", "replace").strip() for x in (raw, new))
    return Edited(name, entry.start + 1, before, after)


def _entry_at(document: Document, name: str, line: int) -> Entry:
    for entry in entries(document):
        if entry.start <= line - 1 < entry.end:
            return entry
    raise NothingFound(f"{name}:{line}: no entry stands there", "see the lines: memfas expiring")
