"""Abstracts: the `.abstract` of a folder and of every folder below it, kept up with their files."""

from __future__ import annotations

import hashlib
import json
import os
import stat
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, nullcontext, suppress
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path

from agent_memfas.errors import FileFault
from agent_memfas.index.foreign import said_by_others
from agent_memfas.index.scope import scope_of
from agent_memfas.index.summaries import Examined, Summaries
from agent_memfas.store.durable import is_left_over, sweep, write_whole
from agent_memfas.store.files import READ_CAP, read
from agent_memfas.store.layout import Folder
from agent_memfas.store.listing import Skipped
from agent_memfas.store.locks import exclusive
from agent_memfas.store.overviews import ABSTRACT, OPENVIKING
from agent_memfas.store.tree import Place, list_bottom_up
from agent_memfas.text.overview import Totals, add_up, read_mark, write_page

FORMAT = 2  # one more whenever the same files give another page


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
    folder: Folder,
    names: list[str],
    now: datetime,
    *,
    force: bool = False,
    dry_run: bool = False,
    as_of: int = 0,
    check: Callable[[], None] | None = None,
    wait: float = 10.0,
    seen: Callable[[str, str], None] | None = None,
) -> Report:
    """Write the abstracts of the named folders (none: of the root) and of all folders below.

    names: relative to the root, or absolute; UsageError where one is outside the folder. now:
    the time that stands in the abstracts. force: read every file, and write also where nothing has
    changed. as_of: the wall clock, ns, by which a file is known again that was read before; 0:
    the next run reads what this one has read. check: called before each file that is read; may
    raise. wait: seconds for another process that is writing abstracts; TryAgain after that. seen:
    is given the path and the page of each abstract that says something of what files say.
    """
    report = Report(dry_run=dry_run)
    starts = [s for name in names or ["."] if (s := _start(folder, name, report)) is not None]
    with nullcontext() if dry_run else _alone(folder, wait):
        known = Summaries(folder, as_of, check, anew=force)
        survey = _Survey(folder, known)
        for place in survey.places(starts):
            page = _renew(survey, place, f"{now:%Y-%m-%d %H:%M}", report, force=force)
            if seen and page and not place.is_archive:
                seen(place.inside(ABSTRACT), page)
        if not dry_run:
            known.save(whole="" in starts)
    for found in (report.written, report.unchanged, report.foreign):
        found.sort()
    report.problems.sort(key=lambda problem: problem.path)
    return report


def _renew(survey: _Survey, place: Place, stamp: str, report: Report, *, force: bool) -> str:
    """See to the abstract of one folder; those inside it have been seen to. Its page, "" for none
    of ours.
    """
    files = survey.take(place)
    sources, totals = survey.sources[place.path], survey.add_up(place, files)
    report.problems.extend(place.problems)
    report.problems.extend(
        Skipped(place.inside(f.item.name), f.problem) for f in files if f.problem
    )
    report.foreign.extend(place.inside(n) for n in place.hidden if n in OPENVIKING)
    if any(map(is_left_over, place.hidden)) and not report.dry_run:
        sweep(survey.folder.root / place.path, of=ABSTRACT)
    page = ""
    if place.listed:
        page = write_page(
            survey.name(place), stamp, sources, [f.item for f in files], survey.folders(place),
            totals, said=survey.said[place.path], bare=place.is_archive,
        )  # fmt: skip
        _put(survey.folder, place, page, sources, report, force=force)
    return "" if place.inside(ABSTRACT) in report.foreign else page


def stale(folder: Folder, as_of: int = 0) -> list[str]:
    """The folders (relative, "." for the root) whose abstract is missing or no longer fits.

    A folder with a foreign `.abstract` is not among them, nor one that cannot be read. as_of: as
    for `run`. Nothing is written.
    """
    return _stale(folder, Summaries(folder, as_of))


def are_kept(folder: Folder) -> bool:
    """Whether the folder is one that has abstracts: the root's is there, and memfas' own."""
    try:
        return bool(_standing(folder.root / ABSTRACT)[0])
    except FileFault:
        return False


def keep_up(
    folder: Folder,
    now: datetime,
    *,
    as_of: int,
    check: Callable[[], None] | None = None,
    wait: float = 10.0,
) -> Report | None:
    """Write the abstracts that do not fit any more, where the folder has abstracts at all.

    None where it has none, or all of them fit; then no file is read that is known, and no summary.
    Everything else is as for `run`.
    """
    if not are_kept(folder):
        return None
    known = Summaries(folder, as_of, check)
    found = _stale(folder, known)
    known.save(whole=True, summed=False)
    return run(folder, [], now, as_of=as_of, check=check, wait=wait) if found else None


class _Survey:
    """What is found out about the folders from the bottom up, by path. sources: the fingerprint;
    said: what others say of it; totals."""

    def __init__(self, folder: Folder, known: Summaries, *, summed: bool = True) -> None:
        self.folder, self.known, self.summed = folder, known, summed
        self.sources: dict[str, str] = {}
        self.said: dict[str, str] = {}
        self.totals: dict[str, Totals] = {}

    def places(self, starts: list[str]) -> list[Place]:
        """The folders, without what .memfasignore leaves out."""
        scope = scope_of(str(self.folder.root), ())
        return list_bottom_up(self.folder, starts, scope.ignores if scope.ignore else None)

    def name(self, place: Place) -> str:
        """The folder's own."""
        return (self.folder.root / place.path).name

    def folders(self, place: Place) -> dict[str, str]:
        """The names of the folders inside, each with what others say of it."""
        return {name: self.said[place.inside(name)] for name in place.folders}

    def take(self, place: Place) -> list[Examined]:
        """A folder's files; those inside it come before it. Notes what it is made of."""
        found = (
            self.known.examine(place.inside(name), info, summed=self.summed)
            for name, info in place.files.items()
        )
        files = [file for file in found if file is not None]
        self.said[place.path] = said = said_by_others(self.folder, place)
        below = [(n, self.sources[place.inside(n)], s) for n, s in self.folders(place).items()]
        parts = [FORMAT, self.name(place), place.is_archive, said,
                 [(f.item.name, f.digest) for f in files], below]  # fmt: skip
        self.sources[place.path] = hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:16]
        return files

    def add_up(self, place: Place, files: list[Examined]) -> Totals:
        """What is in a folder and below it."""
        below = [
            (self.totals[path], Place(path).is_archive) for path in map(place.inside, place.folders)
        ]  # fmt: skip
        total = add_up([f.item for f in files], below, bare=place.is_archive)
        self.totals[place.path] = total
        return total


def _stale(folder: Folder, known: Summaries) -> list[str]:
    survey, found = _Survey(folder, known, summed=False), []
    for place in survey.places([""]):
        survey.take(place)
        try:
            mark, _ = _standing(folder.root / place.path / ABSTRACT)
        except FileFault:
            continue
        if place.listed and mark is not None and mark != survey.sources[place.path]:
            found.append(place.path or ".")
    return sorted(found)


@contextmanager
def _alone(folder: Folder, wait: float) -> Iterator[None]:
    """Hold the lock of whoever writes abstracts. TryAgain; where there can be no lock, none."""
    with ExitStack() as held:
        with suppress(FileFault):
            held.enter_context(exclusive(folder, "abstracts.lock", wait))
        yield


def _start(folder: Folder, name: str, report: Report) -> str | None:
    path = folder.root / os.path.expanduser(name)
    if name.strip() and "\0" not in name and Path(os.path.realpath(path)) == folder.root:
        return ""
    real = folder.place(name)
    if real.is_dir():
        return folder.relative(real)
    report.problems.append(Skipped(name, "not a folder" if real.exists() else "does not exist"))
    return None


def _put(
    folder: Folder, place: Place, page: str, sources: str, report: Report, *, force: bool
) -> None:
    """Write one abstract, unless it fits already or is not ours."""
    name, path = place.inside(ABSTRACT), folder.root / place.path / ABSTRACT
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
