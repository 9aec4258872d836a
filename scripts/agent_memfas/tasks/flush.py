"""Flush check: whether what the work buffer holds has been written where it will last.

SESSION-STATE.md is thrown away when its task is done, and a context window ends at any time. What
was done since the last line of a log, and what nobody has confirmed for days, is named.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from agent_memfas.errors import FileFault
from agent_memfas.store.files import READ_CAP, read, walk
from agent_memfas.store.layout import Folder
from agent_memfas.text.documents import Document, parse
from agent_memfas.text.lines import plain
from agent_memfas.text.logs import day_of

STATE_FILE = "SESSION-STATE.md"
SLACK = 300  # seconds by which the state may be newer than the log: both are written in turn
OLD_DAYS = 2


@dataclass(frozen=True)
class Flush:
    """state, log: when each was written last, ISO, or None where there is none. unflushed: the
    state holds something and is newer than the newest log. unconfirmed: what stands under `To
    confirm` for more than OLD_DAYS days.
    """

    state: str | None
    log: str | None
    unflushed: bool
    unconfirmed: tuple[str, ...]


def check(folder: Folder, now: datetime) -> Flush:
    """Look at the work buffer and at the newest log; nothing is changed."""
    written = [signature[2] / 1e9 for path, signature in walk(folder).files.items() if day_of(path)]
    log = max(written, default=None)
    try:
        image = read(folder.place(STATE_FILE), READ_CAP, cut=True)
    except FileFault:
        return Flush(None, _iso(log, now), False, ())
    changed, document = image.info.st_mtime, parse(image.data)
    said = _said(document)
    newer = bool(said) and changed > (log or 0.0) + SLACK
    old = now.timestamp() - changed > OLD_DAYS * 86_400
    open_ = tuple(text for heading, text in said if heading.casefold() == "to confirm")
    return Flush(_iso(changed, now), _iso(log, now), newer, open_ if old else ())


def _said(document: Document) -> list[tuple[str, str]]:
    """(heading, line) of all that is no heading, comment or blank."""
    found = list[tuple[str, str]]()
    for n, line in enumerate(document.text_lines):
        path = document.heading_path(n)
        is_heading = any(heading.start == n for heading in document.headings)
        if line.strip() and n not in document.opaque and not is_heading and (text := plain(line)):
            found.append((path[-1] if path else "", text.removeprefix("- ")))
    return found


def _iso(seconds: float | None, now: datetime) -> str | None:
    if seconds is None:
        return None
    return datetime.fromtimestamp(seconds, now.tzinfo).isoformat(timespec="seconds")
