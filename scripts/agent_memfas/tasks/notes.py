"""Adding memory: a line to today's log, an entry to MEMORY.md; both by cooperating append."""

from __future__ import annotations

from dataclasses import dataclass

from agent_memfas.errors import FileFault, UsageError
from agent_memfas.store.append import append
from agent_memfas.store.files import read
from agent_memfas.store.layout import Folder
from agent_memfas.store.passes import Pass
from agent_memfas.text.documents import parse
from agent_memfas.text.entries import entries, entry_text

PRIORITIES = ("P0", "P1", "P2")


@dataclass(frozen=True)
class Added:
    """The line that was written. warning: why it is not read as an entry, or ""."""

    path: str
    line: int
    text: str
    warning: str = ""


def log(folder: Folder, text: str, run: Pass) -> Added:
    """Append `- HH:MM text` to the log of the run's day."""
    day = run.now.date().isoformat()
    line = f"- {run.now:%H:%M} {_content(text)}"
    name = f"memory/{day}.md"
    return Added(name, append(folder, name, line, run, header=f"# {day}\n\n"), line)


def add(folder: Folder, text: str, priority: str, run: Pass) -> Added:
    """Append an entry of today to MEMORY.md."""
    if priority not in PRIORITIES:
        raise UsageError(f"{priority!r} is no priority", "there are P0, P1 and P2")
    stamp = "" if priority == "P0" else f"[{run.now.date().isoformat()}]"
    line = f"- [{priority}]{stamp} {_content(text)}"
    number = append(folder, "MEMORY.md", line, run, header="# MEMORY\n\n")
    return Added("MEMORY.md", number, line, _unread(folder, number))


def _content(text: str) -> str:
    plain = entry_text(text)
    if not plain:
        raise UsageError("the text is empty")
    return plain


def _unread(folder: Folder, number: int) -> str:
    """Why the line just written is no entry: something above it was opened and never closed."""
    try:
        document = parse(read(folder.place("MEMORY.md")).data)
    except FileFault:
        return ""
    if any(entry.start == number - 1 for entry in entries(document)):
        return ""
    around = [r for r in document.regions if r.start < number - 1 < r.end]
    if not around:
        return ""
    return f"it stands inside the {around[0].kind} opened at line {around[0].start + 1}"
