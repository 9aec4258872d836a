"""OpenClaw: its sessions (JSON lines that hang together by parentId) and the daily notes of a
workspace, without what its dreaming wrote into them.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from datetime import date

from agent_memfas.text.documents import Document
from agent_memfas.text.imports import SPOKEN, Said, digest, source, text_of
from agent_memfas.text.marks import without_comments
from agent_memfas.text.moments import moment
from agent_memfas.text.recalled import without_recalled

KIND = "openclaw"
_SILENT = re.compile(r"NO_REPLY|HEARTBEAT_OK", re.IGNORECASE)
_HEARTBEAT = "Read HEARTBEAT.md"
_AUTOMATIC = re.compile(r"(?:^|:)(?:cron|hook):")

Row = Mapping[str, object]


def messages(rows: Iterable[object]) -> Iterator[Said]:
    """The messages of the branch of a session that is in use. rows: its lines as JSON values."""
    session, entries = "session", list[Row]()
    for row in rows:
        if not isinstance(row, Mapping):
            continue
        if row.get("type") == "session":
            session = str(row.get("id") or session)
        elif isinstance(row.get("id"), str):
            entries.append(row)
    for entry in _branch(entries):
        if said := _said(entry, session):
            yield said


def automatic(sessions: object) -> frozenset[str]:
    """Ids of the sessions that nobody spoke in: of cron and hooks. sessions: sessions.json."""
    if not isinstance(sessions, Mapping):
        return frozenset()
    return frozenset(
        str(entry.get("sessionId")) for key, entry in sessions.items()
        if isinstance(entry, Mapping) and _AUTOMATIC.search(str(key))
    )  # fmt: skip


def _branch(entries: list[Row]) -> list[Row]:
    """From the root to the last entry, by parentId; all where they do not hang together."""
    known = {str(entry["id"]): entry for entry in entries}
    way, seen = list[Row](), set[str]()
    key: object = entries[-1]["id"] if entries else None
    while isinstance(key, str) and key in known and key not in seen:
        seen.add(key)
        way.append(known[key])
        key = known[key].get("parentId")
    return way[::-1] if key is None else entries


def _said(entry: Row, session: str) -> Said | None:
    message = entry.get("message")
    if entry.get("type") != "message" or not isinstance(message, Mapping):
        return None
    role = str(message.get("role"))
    text = without_recalled(text_of(message.get("content"))).strip()
    if role not in SPOKEN or not text or _SILENT.fullmatch(text) or text.startswith(_HEARTBEAT):
        return None
    at = moment(entry.get("timestamp")) or moment(message.get("timestamp"))
    return Said(role, text, source(KIND, session, str(entry["id"])), at)


def notes(document: Document, day: date, place: str) -> Iterator[Said]:
    """The bullets and paragraphs of a daily note, each with its line. place: the note's path with
    the workspace's name before it.
    """
    managed, counts = document.managed, Counter[str]()
    for block in document.blocks:
        item = block.kind == "item" and block.depth == 1
        other = block.depth == 0 and block.kind in ("paragraph", "fence", "code", "quote")
        if not (item or other) or block.start in managed:
            continue
        lines = [document.text_lines[n] for n in range(block.start, block.end) if n not in managed]
        text = without_recalled(without_comments("\n".join(lines))).strip()
        text = re.sub(r"\A(?:[-*+]|[0-9]{1,9}[.)])\s+", "", text) if item else text
        if text:
            counts[text] += 1
            name = f"L{block.start + 1}@{digest(text, str(counts[text]))}"
            yield Said("", text, source(KIND, place, name), None, day)
