"""Promote: insights that are worth an entry of MEMORY.md are proposed, and the chosen one added."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date

from agent_memfas.errors import FileFault, NothingFound
from agent_memfas.store.append import append
from agent_memfas.store.files import READ_CAP, read, walk
from agent_memfas.store.layout import Folder
from agent_memfas.store.passes import Pass
from agent_memfas.text.citations import words_of
from agent_memfas.text.days import parse_day
from agent_memfas.text.documents import Document, parse
from agent_memfas.text.entries import entries, entry_text
from agent_memfas.text.importance import importance
from agent_memfas.text.insights import Insight, Standing, standing
from agent_memfas.text.rights import PERSON, Rights

LEAST = 7  # of importance
DAYS = 90  # the term of a P1: what is older would not be kept either
SECTIONS = ("Decisions Made", "Lessons Learned", "Patterns", "Session Intent")
ALIKE = 0.8  # of the words of an insight that an entry has: it says the same
PRIORITIES = ("P0", "P1", "P2")
MEMORIES = ("MEMORY.md", "shared/MEMORY.md")


@dataclass(frozen=True)
class Proposal:
    """An insight that might be kept. path, line: where it stands, 1-based. text: what the entry
    would say; source: the lines that it comes from.
    """

    path: str
    line: int
    day: str
    importance: int
    text: str
    source: str


@dataclass(frozen=True)
class Promoted:
    """The entry that was added (or would be)."""

    path: str
    line: int
    text: str


def propose(folder: Folder, today: date, limit: int = 10) -> list[Proposal]:
    """The weightiest insights of the last 90 days that MEMORY.md does not say already."""
    known, sources = _known(folder)
    found = list[Proposal]()
    for path, document in _insights(folder):
        for one in standing(document.text_lines):
            weight = _weight(one.insight)
            day = parse_day(one.day)
            young = day is not None and 0 <= (today - day).days <= DAYS
            if not young or one.stale or weight < LEAST or one.insight.section not in SECTIONS:
                continue
            proposal = _proposal(path, one, weight)
            if proposal.source not in sources and not _is_said(proposal.text, known):
                found.append(proposal)
    found.sort(key=lambda p: (-p.importance, p.day, p.path, p.line))
    return _different(found)[:limit]


def add(
    folder: Folder, path: str, line: int, priority: str, run: Pass, *, text: str = "",
    dry_run: bool = False, rights: Rights = PERSON,
) -> Promoted:  # fmt: skip
    """Append the insight that stands on a line (1-based) to MEMORY.md, dated today. text: to be
    written instead of what it says. NothingFound where no insight stands there, UsageError where
    that agent may not.
    """
    rights.check("MEMORY.md", priority)
    document = parse(read(folder.place(path), READ_CAP, cut=True).data)
    one = next((s for s in standing(document.text_lines) if s.line == line - 1), None)
    if one is None or one.line in document.opaque:
        raise NothingFound(f"{path}:{line} is no insight", "see: memfas promote")
    proposal = _proposal(path, one, 0)
    said = entry_text(text) or proposal.text
    stamp = "" if priority == "P0" else f"[{run.now.date().isoformat()}]"
    entry = f"- [{priority}]{stamp} {said} <!-- source: {proposal.source} by memfas promote -->"
    if dry_run:
        return Promoted("MEMORY.md", 0, entry)
    number = append(folder, "MEMORY.md", entry, run, header="# MEMORY\n\n")
    return Promoted("MEMORY.md", number, entry)


def _proposal(path: str, one: Standing, weight: int) -> Proposal:
    said = one.insight.text.removeprefix("[ ] ")
    if said.endswith(":") or not said:
        said = f"{said} {one.insight.quote}".strip()
    cite = str(one.insight.cites[0])
    return Proposal(path, one.line + 1, one.day, weight, entry_text(said), cite)


def _weight(insight: Insight) -> int:
    return insight.importance or importance(insight.shown)


def _insights(folder: Folder) -> list[tuple[str, Document]]:
    found = []
    for path in walk(folder).files:
        if path.startswith("insights/") and path.endswith(".md"):
            try:
                found.append((path, parse(read(folder.place(path), READ_CAP, cut=True).data)))
            except FileFault:
                continue
    return found


def _known(folder: Folder) -> tuple[list[set[str]], set[str]]:
    """The words of each entry that there is, and the sources that they name."""
    said, sources = list[set[str]](), set[str]()
    for name in MEMORIES:
        try:
            document = parse(read(folder.place(name), READ_CAP, cut=True).data)
        except FileFault:
            continue
        for entry in entries(document):
            said.append(set(words_of(entry.text)))
            sources.add((entry.source or "").partition(" by ")[0])
    return said, sources


def _is_said(text: str, known: list[set[str]]) -> bool:
    words = set(words_of(text))
    return any(len(words & other) >= ALIKE * len(words) for other in known)


def _different(found: list[Proposal]) -> list[Proposal]:
    """Without those that say what a weightier one says."""
    kept, said = list[Proposal](), list[set[str]]()
    for proposal in found:
        if not _is_said(proposal.text, said):
            kept.append(proposal)
            said.append(set(words_of(proposal.text)))
    return kept
