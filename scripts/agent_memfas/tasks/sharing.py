"""Folding in: what agents put into their inboxes is taken over into shared/MEMORY.md."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from agent_memfas.errors import FileFault, MemfasError
from agent_memfas.store import archive, inbox
from agent_memfas.store.append import append_block
from agent_memfas.store.files import read
from agent_memfas.store.inbox import SHARED
from agent_memfas.store.layout import Folder
from agent_memfas.store.passes import Pass, hold
from agent_memfas.text.documents import parse
from agent_memfas.text.rights import Rights, signed
from agent_memfas.text.said import statements

LARGEST = 256 * 1024  # bytes of a file in an inbox
HEADER = "# Shared memory\n\n"
_P0 = re.compile(r"\s*[-*+]\s*\[\s*[pP]0")  # nested ones, too: they keep what they stand in


@dataclass(frozen=True)
class Folded:
    """An entry that was (or would be) taken over: from which file, whose, where it stands now."""

    path: str
    agent: str
    text: str
    line: int = 0


@dataclass(frozen=True)
class Report:
    """folded: what was taken over. left: (file, why) of what stays in its inbox for a person."""

    folded: list[Folded] = field(default_factory=list)
    left: list[tuple[str, str]] = field(default_factory=list)


def run(folder: Folder, rights: Rights, run: Pass, *, dry_run: bool = False) -> Report:
    """Take over all that waits, oldest first. A file that was taken over goes; one that was and is
    still there, for an earlier run was killed, is not taken over again. rights: of all agents.

    A file of which any line is no entry, or that its agent may not write, stays, and nothing of it
    is taken over. TryAgain where others are busy.
    """
    report = Report()
    if not inbox.waiting(folder):
        return report
    if dry_run:
        _each(folder, rights, run, report, dry_run=True)
        return report
    with hold(folder, run):
        _each(folder, rights, run, report, dry_run=False)
    return report


def _each(folder: Folder, rights: Rights, run: Pass, report: Report, *, dry_run: bool) -> None:
    known = _known(folder)
    for agent, name in inbox.waiting(folder):
        try:
            lines, why = _lines(folder, agent, name, rights)
            if why:
                report.left.append((name, why))
                continue
            done = f"source: {inbox.source(name)} by".encode() in known
            for entry in () if done else lines:
                line = 0
                if not dry_run:
                    block = "".join(f"{one}\n" for one in entry)
                    line = append_block(folder, SHARED, block, run, HEADER) - len(entry) + 1
                report.folded.append(Folded(name, agent, entry[0], line))
            if not dry_run:
                inbox.remove(folder, name)
        except MemfasError as error:
            report.left.append((name, error.message))


def _lines(folder: Folder, agent: str, name: str, rights: Rights) -> tuple[list[list[str]], str]:
    """The entries of a file as they are taken over, signed by whose inbox it is, and why not."""
    own = rights.of(agent)
    if not own.may_write(SHARED):
        return [], f"{agent} may not write to {SHARED}"
    document = parse(read(folder.place(name), LARGEST).data)
    if not document.decodable:
        return [], "not UTF-8"
    found, covered = list[list[str]](), set[int]()
    for one in statements(document):
        if not one.is_entry:
            return [], f"line {one.start + 1} is no entry"
        first, *rest = document.text_lines[one.start : one.end]
        if not own.is_writer and any(_P0.match(line) for line in (first, *rest)):
            return [], f"P0 by {agent}, whom agents.writers does not name"
        bare = first.removesuffix(f" <!-- source: by {agent} -->")
        found.append(
            [signed(bare, agent, inbox.source(name)), *(signed(line, "") for line in rest)]
        )
        covered.update(range(one.start, one.end))
    for n, line in enumerate(document.text_lines):
        if n not in covered and line.strip():
            return [], f"line {n + 1} is no entry"
    return found, "" if found else "it holds no entry"


def _known(folder: Folder) -> bytes:
    """All that was ever taken over, as far as it still stands anywhere."""
    try:
        there = read(folder.place(SHARED)).data
    except FileFault:
        there = b""
    return b"\n".join([there, *archive.all_lines(folder.root)])
