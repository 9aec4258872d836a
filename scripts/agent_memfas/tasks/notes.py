"""Adding memory: a line to today's log, an entry to MEMORY.md by cooperating append; an entry
for all agents into an inbox."""

from __future__ import annotations

import re
from dataclasses import dataclass

from agent_memfas.errors import FileFault, UsageError
from agent_memfas.store import inbox
from agent_memfas.store.append import append
from agent_memfas.store.files import read
from agent_memfas.store.layout import Folder
from agent_memfas.store.passes import Pass
from agent_memfas.text.documents import parse
from agent_memfas.text.entries import entries, entry_text
from agent_memfas.text.rights import PERSON, Rights, signed

PRIORITIES = ("P0", "P1", "P2")
_CLOSED = re.compile(rb"<!--.*?-->", re.DOTALL)
_OPENING = re.compile(rb"\A(?:\xef\xbb\xbf)?---|^[ \t>]*(?:```|~~~|<)|<!--", re.MULTILINE)
ME = "person"  # the name of an inbox of who has none


@dataclass(frozen=True)
class Added:
    """The line that was written. warning: why it is not read as an entry, or ""."""

    path: str
    line: int
    text: str
    warning: str = ""


def log(folder: Folder, text: str, run: Pass, rights: Rights = PERSON) -> Added:
    """Append `- HH:MM text` to the log of the run's day, signed where an agent writes. UsageError
    where that agent may not.
    """
    day = run.now.date().isoformat()
    line = f"- {run.now:%H:%M} {signed(_content(text), rights.agent)}"
    name = f"memory/{day}.md"
    rights.check(name)
    return Added(name, append(folder, name, line, run, header=f"# {day}\n\n"), line)


def add(folder: Folder, text: str, priority: str, run: Pass, rights: Rights = PERSON) -> Added:
    """Append an entry of today to MEMORY.md; the same."""
    rights.check("MEMORY.md", priority)
    line = entry(text, priority, run, rights.agent)
    number = append(folder, "MEMORY.md", line, run, header="# MEMORY\n\n")
    return Added("MEMORY.md", number, line, _unread(folder, number))


def share(folder: Folder, text: str, priority: str, run: Pass, rights: Rights) -> Added:
    """Put an entry of today into the agent's inbox of the shared folder, a file of its own; the
    janitor takes it over into shared/MEMORY.md. No two processes ever write one file.
    """
    rights.check(inbox.SHARED, priority)
    name = inbox.new_name(rights.agent or ME, run)
    line = entry(text, priority, run, rights.agent or ME)
    inbox.put(folder, name, line)
    return Added(name, 1, line)


def entry(text: str, priority: str, run: Pass, agent: str = "") -> str:
    """The line of an entry of today. UsageError for an empty text, and another priority."""
    if priority not in PRIORITIES:
        raise UsageError(f"{priority!r} is no priority", "there are P0, P1 and P2")
    stamp = "" if priority == "P0" else f"[{run.now.date().isoformat()}]"
    return f"- [{priority}]{stamp} {signed(_content(text), agent)}"


def _content(text: str) -> str:
    plain = entry_text(text)
    if not plain:
        raise UsageError("the text is empty")
    return plain


def _unread(folder: Folder, number: int) -> str:
    """Why the line just written is no entry: something above it was opened and never closed."""
    try:
        data = read(folder.place("MEMORY.md")).data
    except FileFault:
        return ""
    if not _OPENING.search(_CLOSED.sub(b"", data)):
        return ""  # a long file is not parsed to learn that it opens nothing
    document = parse(data)
    if any(entry.start == number - 1 for entry in entries(document)):
        return ""
    around = [r for r in document.regions if r.start < number - 1 < r.end]
    if not around:
        return ""
    return f"it stands inside the {around[0].kind} opened at line {around[0].start + 1}"
