"""Abstracts: the `.abstract` of a folder and of every folder below it, kept up with their files."""

from __future__ import annotations

import hashlib
import json
import os
import stat
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path

from agent_memfas.errors import FileFault
from agent_memfas.index.summaries import Examined, Summaries, examine
from agent_memfas.store.durable import write_whole
from agent_memfas.store.files import READ_CAP, read
from agent_memfas.store.layout import Folder
from agent_memfas.store.listing import Skipped
from agent_memfas.store.tree import Place, list_bottom_up
from agent_memfas.text.overview import Totals, add_up, read_mark, write_page

NAME = ".abstract"
OPENVIKING = (".abstract.md", ".overview.md")
FORMAT = 1  # one more whenever the same files give another page


@dataclass(frozen=True)
class Report:
    """What a run did, by paths relative to the root.

    written, unchanged: abstracts. foreign: somebody else's, never touched. problems: what could
    not be read or written, and why; the rest was done.
    """

    written: list[str] = field(default_factory=list)
    unchanged: list[str] = field(default_factory=list)
    foreign: list[str] = field(default_factory=list)
    problems: list[Skipped] = field(default_factory=list)
    dry_run: bool = False


def run(
    folder: Folder, names: list[str], now: datetime, *, force: bool = False, dry_run: bool = False
) -> Report:
    """Write the abstracts of the named folders (none: of the root) and of all folders below.

    names: relative to the root, or absolute; UsageError where one is outside the folder. now:
    the time that stands in the abstracts. force: write also where nothing has changed.
    """
    report = Report(dry_run=dry_run)
    starts = [s for name in names or ["."] if (s := _start(folder, name, report)) is not None]
    known = Summaries(folder)
    sources: dict[str, str] = {}
    totals: dict[str, Totals] = {}
    for place in list_bottom_up(folder, starts):
        files = _files(folder, place, known)
        sources[place.path] = _fingerprint(folder, place, files, sources)
        totals[place.path] = _total(place, files, totals)
        report.problems.extend(place.problems)
        report.problems.extend(
            Skipped(place.inside(f.item.name), f.problem) for f in files if f.problem
        )
        report.foreign.extend(place.inside(n) for n in place.hidden if n in OPENVIKING)
        if place.listed:
            page = write_page(
                _own_name(folder, place), f"{now:%Y-%m-%d %H:%M}",
                sources[place.path], [f.item for f in files], place.folders, totals[place.path],
                bare=place.is_archive,
            )  # fmt: skip
            _put(folder, place, page, sources[place.path], report, force=force)
    if not dry_run:
        known.save(whole="" in starts)
    for found in (report.written, report.unchanged, report.foreign):
        found.sort()
    report.problems.sort(key=lambda problem: problem.path)
    return report


def stale(folder: Folder) -> list[str]:
    """The folders (relative, "." for the root) whose abstract is missing or no longer fits.

    A folder with a foreign `.abstract` is not among them, nor one that cannot be read.
    """
    sources: dict[str, str] = {}
    found = []
    for place in list_bottom_up(folder, [""]):
        files = _files(folder, place, None)
        sources[place.path] = _fingerprint(folder, place, files, sources)
        try:
            mark, _ = _standing(folder.root / place.path / NAME)
        except FileFault:
            continue
        if place.listed and mark is not None and mark != sources[place.path]:
            found.append(place.path or ".")
    return sorted(found)


def _start(folder: Folder, name: str, report: Report) -> str | None:
    path = folder.root / os.path.expanduser(name)
    if name.strip() and "\0" not in name and Path(os.path.realpath(path)) == folder.root:
        return ""
    real = folder.place(name)
    if real.is_dir():
        return folder.relative(real)
    report.problems.append(Skipped(name, "not a folder" if real.exists() else "does not exist"))
    return None


def _files(folder: Folder, place: Place, known: Summaries | None) -> list[Examined]:
    """A folder's files, read; without summaries where known is None."""
    found = (examine(folder, place.inside(name), i, known) for name, i in place.files.items())
    return [file for file in found if file is not None]


def _own_name(folder: Folder, place: Place) -> str:
    return (folder.root / place.path).name


def _fingerprint(
    folder: Folder, place: Place, files: list[Examined], sources: dict[str, str]
) -> str:
    """16 hex digits over all that the abstract is made of: names, bytes, and the folders below."""
    own = _own_name(folder, place)
    below = [(name, sources[place.inside(name)]) for name in place.folders]
    parts = [FORMAT, own, place.is_archive, [(f.item.name, f.digest) for f in files], below]
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:16]


def _total(place: Place, files: list[Examined], totals: dict[str, Totals]) -> Totals:
    below = [
        (totals[path], Place(path).is_archive) for path in map(place.inside, place.folders)
    ]  # fmt: skip
    return add_up([f.item for f in files], below, bare=place.is_archive)


def _put(
    folder: Folder, place: Place, page: str, sources: str, report: Report, *, force: bool
) -> None:
    """Write one abstract, unless it fits already or is not ours."""
    name, path = place.inside(NAME), folder.root / place.path / NAME
    try:
        mark, mode = _standing(path)
        if mark is None:
            report.foreign.append(name)
        elif mark == sources and not force:
            report.unchanged.append(name)
        else:
            if not report.dry_run:
                write_whole(path, page.encode("utf-8", "replace"), mode)
            report.written.append(name)
    except FileFault as fault:
        report.problems.append(Skipped(name, fault.message.removeprefix(f"{path}: ")))


def _standing(path: Path) -> tuple[str | None, int]:
    """What is there: the sources of our abstract ("" where there is none) and its mode.

    None for the sources: it is somebody else's. FileFault: nobody can tell.
    """
    try:
        info = os.lstat(path)
    except FileNotFoundError:
        return "", 0o600
    except OSError as error:
        raise FileFault(f"{path}: {os.strerror(error.errno or 0)}") from error
    if not stat.S_ISREG(info.st_mode):
        return None, 0
    return read_mark(read(path, READ_CAP, cut=True).data), stat.S_IMODE(info.st_mode)
