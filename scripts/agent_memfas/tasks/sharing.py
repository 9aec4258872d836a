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
from agent_memfas.text.documents import Document, parse
from agent_memfas.text.entries import read_tag
from agent_memfas.text.rights import Rights, signed, unsigned
from agent_memfas.text.said import statements

LARGEST = 256 * 1024  # bytes of a file in an inbox
HEADER = "# Shared memory\n\n"
_P0 = re.compile(r"[\s>*+.)0-9-]*\[\s*[pP]0")


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
            data = read(folder.place(name), LARGEST).data
            if not data.strip():
                continue  # left by `forget-agent`, or only just begun
            entries, why = _entries(parse(data), agent, name, rights)
            if why:
                report.left.append((name, why))
                continue
            new = [entry for entry in entries if _key(entry[0]) not in known]
            report.folded.extend(_taken_over(folder, agent, name, new, run, dry_run=dry_run))
            if not dry_run and read(folder.place(name), LARGEST).data == data:
                inbox.remove(folder, name)
        except MemfasError as error:
            report.left.append((name, error.message))


def _taken_over(
    folder: Folder, agent: str, name: str, new: list[list[str]], run: Pass, *, dry_run: bool
) -> list[Folded]:
    """Append the entries of a file, all of them or none."""
    lines = [line for entry in new for line in entry]
    last = 0
    if lines and not dry_run:
        block = "".join(f"{line}\n" for line in lines)
        last = append_block(folder, SHARED, block, run, HEADER)
    found, at = list[Folded](), last - len(lines) + 1
    for entry in new:
        found.append(Folded(name, agent, entry[0], at if last else 0))
        at += len(entry)
    return found


def _entries(
    document: Document, agent: str, name: str, rights: Rights
) -> tuple[list[list[str]], str]:
    """The entries of a file as they are taken over, signed by whose inbox it is, and why not."""
    own = rights.of(agent)
    if not own.may_write(SHARED):
        return [], f"{agent} may not write to {SHARED}"
    if not document.decodable:
        return [], "not UTF-8"
    found, covered = list[list[str]](), set[int]()
    for one in statements(document):
        if not one.is_entry:
            return [], f"line {one.start + 1} is no entry"
        first, *rest = document.text_lines[one.start : one.end]
        if not first.startswith("-"):
            return [], f"line {one.start + 1} is indented: it would belong to the entry above it"
        if not own.is_writer and any(map(_says_p0, (first, *rest))):
            return [], f"P0 by {agent}, whom agents.writers does not name"
        bare = first.removesuffix(f" <!-- source: by {agent} -->")
        found.append([signed(bare, agent, inbox.source(name)), *map(unsigned, rest)])
        covered.update(range(one.start, one.end))
    for n, line in enumerate(document.text_lines):
        if n not in covered and line.strip():
            return [], f"line {n + 1} is no entry"
    return found, "" if found else "it holds no entry"


def _says_p0(line: str) -> bool:
    """Whether any program might read P0 in it: nested, quoted, behind another kind of line end."""
    return any(_P0.match(part) for part in line.splitlines())


def _known(folder: Folder) -> set[str]:
    """What was ever taken over, as far as it still stands anywhere, by `_key`."""
    try:
        there = parse(read(folder.place(SHARED)).data).lines
    except FileFault:
        there = ()
    lines = (*there, *archive.all_lines(folder.root))
    told = (line.decode("utf-8", "replace").rstrip() for line in lines if b"source: inbox/" in line)
    return {_key(line) for line in told}


def _key(line: str) -> str:
    """What an entry says and where it comes from, whatever became of its date and labels."""
    read_ = read_tag(line)
    return read_[1].strip() if read_ else line.strip()
