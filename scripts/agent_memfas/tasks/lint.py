"""lint: what is wrong in memory files, line by line; with fix, near misses become entries.

Everything is reported, nothing is decided: only lines of which it is beyond doubt what they were
meant to be are corrected, by the same protocol as every other change.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from datetime import date
from pathlib import Path

from agent_memfas.errors import FileFault, MemfasError
from agent_memfas.store.files import read, walk
from agent_memfas.store.layout import Folder, kind_of
from agent_memfas.store.openclaw import PAGES, is_workspace
from agent_memfas.store.passes import Draft, Pass, edit, hold
from agent_memfas.text import problems
from agent_memfas.text.contradictions import Claim, claims
from agent_memfas.text.documents import Document, parse
from agent_memfas.text.entries import Terms
from agent_memfas.text.links import Link, links
from agent_memfas.text.nearmiss import NearMiss
from agent_memfas.text.problems import Problem
from agent_memfas.text.secrets import mask

# 100,000 entries and more; a file beyond it is named as too large.
LARGEST = 16 * 1024 * 1024
# What left the memory is not mended any more: only its encoding, conflicts and secrets count.
PUT_AWAY = ("archive", "cold")
TOGETHER = ("MEMORY.md", "shared/MEMORY.md")


@dataclass(frozen=True)
class Report:
    """problems: what is (with fix: what is left) to be done, by place. fixed: the lines that were
    corrected, or with dry_run would be. files: how many were looked at.
    """

    problems: tuple[Problem, ...]
    fixed: tuple[Problem, ...]
    files: int
    dry_run: bool = False


def run(
    folder: Folder,
    names: list[str],
    terms: Terms,
    run: Pass,
    *,
    fix: bool = False,
    dry_run: bool = False,
) -> Report:
    """Look at the named files and folders (default: all), and with fix correct near misses.

    The run's day is the date of `run.now`. UsageError where a name leads out of the folder,
    TryAgain where fix meets another pass; a file that cannot be read is a problem of the report.
    """
    today = run.now.date()
    files, outside = _chosen(folder, names)
    drafts: dict[str, bytes] = {}
    found = _look(folder, files, terms, today, drafts)
    fixed: list[Problem] = []
    if fix and (wanted := _correctable(found)):
        if dry_run:
            fixed = _rehearse(folder, wanted, today, drafts)
        else:
            with hold(folder, run):
                for path in wanted:
                    fixed += _correct(folder, path, run, outside)
        found = _look(folder, files, terms, today, drafts)
    left = sorted({*outside, *found}, key=lambda p: (p.path, p.line, p.rule, p.message))
    return Report(tuple(left), tuple(fixed), len(files), dry_run)


def _chosen(folder: Folder, names: list[str]) -> tuple[list[str], list[Problem]]:
    """The files to look at, by path, and what is wrong with the rest of what was named."""
    listing = walk(folder)
    wanted = {_named(folder, name) for name in names}

    def named(path: str) -> bool:
        return not wanted or "" in wanted or not wanted.isdisjoint(_and_above(path))

    files = {path for path in listing.files if named(path)}
    copies = set(listing.conflict_copies)
    out = [
        Problem(path, 1, "conflict-copy", "a copy made by a sync tool or a file manager: "
                "take over what only it holds, then remove it")
        for path in copies if named(path)
    ]  # fmt: skip
    out += [
        Problem(skipped.path, 1, "unreadable", skipped.reason)
        for skipped in listing.skipped
        if named(skipped.path) and skipped.path not in copies
        and not skipped.reason.startswith("another name of ")
    ]  # fmt: skip
    known = {*files, *copies, *(skipped.path for skipped in listing.skipped)}
    files.update(w for w in wanted if w not in known and not (folder.root / w).is_dir())
    return sorted(files), out


def _named(folder: Folder, name: str) -> str:
    """A name given by a person as a relative path; "" is the whole folder."""
    whole = os.path.realpath(folder.root / name) == str(folder.root) if "\0" not in name else False
    return "" if whole and name else folder.relative(folder.place(name))


def _and_above(path: str) -> set[str]:
    """A path and all the folders that it is in."""
    parts = path.split("/")
    return {"/".join(parts[:n]) for n in range(1, len(parts) + 1)}


def _look(
    folder: Folder, files: list[str], terms: Terms, today: date, drafts: dict[str, bytes]
) -> list[Problem]:
    """All problems of these files. drafts: contents to take in place of those on disk."""
    found: list[Problem] = []
    together: list[Claim] = []
    targets = _Targets(folder)
    pages = PAGES if is_workspace(str(folder.root)) else frozenset()
    for path in files:
        try:
            data = drafts[path] if path in drafts else read(folder.place(path), LARGEST).data
        except MemfasError as error:
            reason = error.message.removeprefix(f"{folder.root / path}: ")
            found.append(Problem(path, 1, "unreadable", reason))
            continue
        document = parse(data)
        found += problems.in_bytes(path, document)
        if not document.decodable or kind_of(path) in PUT_AWAY or path.lower().endswith(".jsonl"):
            continue
        told = problems.in_entries(path, document, today)
        found += [replace(p, fixed=None) for p in told] if path in pages else told
        found += targets.dead(path, document)
        said = claims(path, document, today, terms)
        if path in TOGETHER:
            together += said
        else:
            found += problems.between(said)
    return found + problems.between(together)


def _correctable(found: list[Problem]) -> list[str]:
    """The files with a line that can be corrected, except those that must be left alone."""
    closed = {p.path for p in found if p.rule == "conflict-marker"}
    return sorted({p.path for p in found if p.fixed is not None} - closed)


def _rehearse(
    folder: Folder, wanted: list[str], today: date, drafts: dict[str, bytes]
) -> list[Problem]:
    """What _correct would do; the outcomes go into drafts."""
    fixed: list[Problem] = []
    for path in wanted:
        try:
            document = parse(read(folder.place(path), LARGEST).data)
        except FileFault:
            continue
        drafts[path], done = problems.mended(document, today)
        fixed += _corrections(path, done)
    return fixed


def _correct(folder: Folder, path: str, run: Pass, faults: list[Problem]) -> list[Problem]:
    """Correct one file; what keeps it from that is a problem of the report."""
    today = run.now.date()

    def plan(document: Document) -> Draft[list[NearMiss]] | None:
        new, done = problems.mended(document, today)
        return Draft(new, done) if done else None

    try:
        draft = edit(folder, path, plan, run)
    except MemfasError as error:
        faults.append(Problem(path, 1, "not-fixed", error.message))
        return []
    return _corrections(path, draft.detail) if draft else []


def _corrections(path: str, done: list[NearMiss]) -> list[Problem]:
    return [
        Problem(path, m.line + 1, "near-miss", mask(m.problem), mask(m.fixed or "")) for m in done
    ]


class _Targets:
    """Whether what links point to is there. Each place is looked up once."""

    def __init__(self, folder: Folder) -> None:
        self._root = folder.root
        self._places: dict[tuple[str, str], Path | None] = {}
        self._lengths: dict[Path, int | None] = {}

    def dead(self, path: str, document: Document) -> list[Problem]:
        """The links of a document that lead to nothing inside the memory folder."""
        found = ((link, self._fault(path, link)) for link in links(document))
        return [
            Problem(path, link.line + 1, "dead-link",
                    f"{problems.quoted(mask(link.target))} {fault}")
            for link, fault in found if fault
        ]  # fmt: skip

    def _fault(self, path: str, link: Link) -> str:
        """A relative target counts from its own file's folder, or from the root of the memory."""
        for start in dict.fromkeys((os.path.dirname(path), "")):
            place = self._place(start, link.path)
            if place is None:
                continue
            length = self._length(place) if link.last else None
            if length is None or link.last <= length:
                return ""
            return f"names line {link.last}, but the file has {length}"
        return "does not exist in the memory folder"

    def _place(self, start: str, name: str) -> Path | None:
        """What a name leads to, or None where nothing is, or where it is outside the folder."""
        if (start, name) not in self._places:
            try:
                real = Path(os.path.realpath(self._root / start / name))
                there = real.is_relative_to(self._root) and real.exists()
            except (OSError, ValueError):
                there = False
            self._places[start, name] = real if there else None
        return self._places[start, name]

    def _length(self, place: Path) -> int | None:
        """How many lines a file has; None for a folder, and for what cannot be read."""
        if place not in self._lengths:
            try:
                data = read(place, LARGEST).data
                self._lengths[place] = data.count(b"\n") + (data[-1:] not in (b"", b"\n"))
            except FileFault:
                self._lengths[place] = None
        return self._lengths[place]
