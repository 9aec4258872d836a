"""The janitor: expired entries move to the archive, whole; everything else stays, byte for byte."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path

from agent_memfas.errors import FileFault, MemfasError, NothingFound, SafetyStop
from agent_memfas.store import archive, history
from agent_memfas.store.cold import LARGEST, remove_emptied
from agent_memfas.store.durable import write_whole
from agent_memfas.store.files import read
from agent_memfas.store.layout import Folder
from agent_memfas.store.passes import Draft, Pass, edit, editable, hold, read_patiently
from agent_memfas.store.places import COLD
from agent_memfas.text.cold import is_empty, is_expired, without
from agent_memfas.text.cold import parse as parse_cold
from agent_memfas.text.days import parse_day
from agent_memfas.text.documents import Document, parse
from agent_memfas.text.entries import Entry, Terms, entries
from agent_memfas.text.limits import Reading, advice, readings
from agent_memfas.text.merge import vanished
from agent_memfas.text.nearmiss import NearMiss, near_misses

MASS_SHARE, MASS_COUNT = 0.5, 20
JUMP_DAYS = 45
DEFAULT_FILES = ("MEMORY.md", "shared/MEMORY.md")


@dataclass(frozen=True)
class MovedEntry:
    """An entry that left (or would leave): lines 1-based and inclusive, the archive it is in."""

    path: str
    start_line: int
    end_line: int
    priority: str
    date: str
    text: str
    archive: str
    age: int


@dataclass(frozen=True)
class FileReport:
    """What the janitor saw in one file. kept: entries that stay; untagged: top-level bullets
    without tags (1-based lines); lines: before and after.
    """

    path: str
    moved: tuple[MovedEntry, ...]
    kept: int
    near_misses: tuple[NearMiss, ...]
    sizes: tuple[Reading, ...]
    advice: str
    untagged: tuple[int, ...]
    lines: tuple[int, int]


@dataclass(frozen=True)
class ExpiredChunk:
    """A chunk of cold storage whose time is over: where it stood, 1-based, and until when."""

    path: str
    start_line: int
    end_line: int
    chunk_id: str
    until: str


@dataclass(frozen=True)
class Report:
    """The whole run, its lists filled as it goes. faults: files that were left alone, each as the
    error it met. cold: chunks that left cold storage.
    """

    files: list[FileReport] = field(default_factory=list)
    cold: list[ExpiredChunk] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    faults: list[MemfasError] = field(default_factory=list)
    dry_run: bool = False

    @property
    def moved(self) -> list[MovedEntry]:
        """The moved entries of all files."""
        return [entry for file in self.files for entry in file.moved]

    @property
    def over_limit(self) -> bool:
        """Whether any file is over any limit."""
        return any(reading.over for file in self.files for reading in file.sizes)


def run(
    folder: Folder,
    names: list[str],
    terms: Terms,
    run: Pass,
    *,
    dry_run: bool = False,
    force: bool = False,
    cold: str = COLD,
) -> Report:
    """Move expired entries of the named files (default: MEMORY.md and shared/MEMORY.md), and remove
    the chunks of cold storage whose time is over, for which `memfas undo` is left.

    cold: its folder, relative to the memory folder; "" for none in it.
    The run's day is the date of `run.now`. SafetyStop: nothing was changed (mass expiry, a clock
    that jumped, an emptied file). A file that cannot be read is a fault of the report, and the
    others are done all the same.
    """
    report = Report(dry_run=dry_run)
    named = [_named(folder, name) for name in names] or _present(folder)
    if dry_run:
        for name in named:
            _survey(folder, name, terms, run, report)
        _look_for_danger(folder, run, report, force=True)
        _expire_cold(folder, cold, run, report)
        return report
    with hold(folder, run):
        preview = Report(dry_run=True)
        for name in named:
            _survey(folder, name, terms, run, preview)
        _look_for_danger(folder, run, preview, force=force)
        report.warnings.extend(preview.warnings)
        report.faults.extend(preview.faults)
        failed = {file.path for file in preview.files}
        for name in (n for n in named if n in failed):
            _clean(folder, name, terms, run, report)
        _expire_cold(folder, cold, run, report)
        _remember(folder, run.now.date())
    report.warnings[:0] = run.notices
    return report


def _named(folder: Folder, name: str) -> str:
    path = folder.place(name)
    if path.is_dir():
        raise NothingFound(f"{name} is a folder", "name a file")
    return folder.relative(path) if Path(name).is_absolute() else name


def _present(folder: Folder) -> list[str]:
    """MEMORY.md always (its absence is a finding), shared/MEMORY.md where there is one."""
    return [n for n in DEFAULT_FILES if n == "MEMORY.md" or os.path.lexists(folder.root / n)]


def plan(document: Document, name: str, terms: Terms, today: date) -> Draft[FileReport]:
    """The change that the janitor makes to a document; pure."""
    known = entries(document)
    leaving = [e for e in known if e.leaves(today, terms)]
    target = archive.file_name(today)
    kept, moved = archive.taken_out(document, name, [(e.start, e.end) for e in leaving])
    staying = [e for e in known if not e.leaves(today, terms)]
    report = FileReport(
        name,
        tuple(_moved(name, e, today, target) for e in leaving),
        len(staying),
        tuple(near_misses(document, today)),
        tuple(readings(kept)),
        advice(document, staying, _untagged(document, known), today, terms),
        _untagged(document, known),
        (len(document.lines), len(kept)),
    )
    return Draft(b"".join(kept), report, moved)


def _moved(name: str, entry: Entry, today: date, target: str) -> MovedEntry:
    day = entry.tag.date or today
    return MovedEntry(
        name, entry.start + 1, entry.end, entry.tag.priority, day.isoformat(), entry.text,
        target, (today - day).days,
    )  # fmt: skip


def _untagged(document: Document, known: list[Entry]) -> tuple[int, ...]:
    tagged = {e.start for e in known}
    return tuple(
        b.start + 1
        for b in document.blocks
        if b.kind == "item" and b.depth == 1
        and b.start not in tagged and b.start not in document.opaque
    )  # fmt: skip


def _survey(folder: Folder, name: str, terms: Terms, run: Pass, report: Report) -> None:
    """What would be done to one file, without doing it."""
    try:
        path = folder.place(name)
        image = read_patiently(path)
        draft = plan(editable(name, image), name, terms, run.now.date())
    except FileFault as error:
        if path.exists() or not _known(folder, name):
            report.faults.append(error)
            return
        raise SafetyStop(
            f"{name} is missing, but it was not always: nothing was changed",
            f"bring it back: memfas history {name}, then "
            f"memfas history {name} --show PASS > {name}",
        ) from error
    except MemfasError as error:
        report.faults.append(error)
        return
    report.files.append(draft.detail)
    if not image.data.strip() and _known(folder, name):
        report.warnings.append(f"{name} is empty, but it was not always")


def _known(folder: Folder, name: str) -> bool:
    """Whether the file held something once, by its history or the archive."""
    if any(v.after for v in history.versions(folder, name)):
        return True
    return name == "MEMORY.md" and archive.last_pass_day(folder.root / archive.FOLDER) is not None


def _look_for_danger(folder: Folder, run: Pass, report: Report, *, force: bool) -> None:
    """The safety stops. With force (and in a dry run) they are warnings."""
    today = run.now.date()
    found = [w for w in report.warnings if "is empty, but" in w]
    last = _last_run(folder)
    if last is not None and today < last:
        found.append(f"today is {today}, but the last run was on {last}: is the clock right?")
    if last is not None and (today - last).days > JUMP_DAYS:
        found.append(
            f"today is {today}, {(today - last).days} days after the last run on {last}: "
            "is the clock right?"
        )
    for file in report.files:
        total = len(file.moved) + file.kept
        if len(file.moved) > MASS_COUNT and len(file.moved) > MASS_SHARE * total:
            found.append(
                f"{len(file.moved)} of {total} entries of {file.path} would expire at once"
            )
    if found and not force:
        raise SafetyStop(
            f"{'; '.join(found)}: nothing was changed",
            "look: memfas janitor --dry-run; go on: memfas janitor --force",
        )
    report.warnings.extend(w for w in found if w not in report.warnings)


def _last_run(folder: Folder) -> date | None:
    """The day of the last run; without our own state, by the newest heading in the archive."""
    try:
        return parse_day(json.loads((folder.state / "janitor.json").read_bytes())["last_run"])
    except (OSError, ValueError, KeyError, TypeError):
        newest = archive.last_pass_day(folder.root / archive.FOLDER)
        return parse_day(newest) if newest else None


def _remember(folder: Folder, today: date) -> None:
    state = json.dumps({"last_run": today.isoformat()})
    write_whole(folder.state / "janitor.json", state.encode())


def _clean(folder: Folder, name: str, terms: Terms, run: Pass, report: Report) -> None:
    """Move what has expired in one file; say which lines vanished from it since the last run."""
    seen: list[bytes] = []

    def see_and_plan(document: Document) -> Draft[FileReport]:
        if not seen:
            seen.append(document.data)
            _tell_vanished(folder, name, document, run, report)
        return plan(document, name, terms, run.now.date())

    try:
        draft = edit(folder, name, see_and_plan, run)
    except MemfasError as error:
        report.faults.append(error)
        return
    if draft is not None:
        report.files.append(draft.detail)


def _tell_vanished(
    folder: Folder, name: str, document: Document, run: Pass, report: Report
) -> None:
    data = document.data
    last = history.observe(folder, name, data, run.id, run.now.isoformat(timespec="seconds"))
    before = history.content(folder, last.after) if last else None
    if before is None or last is None or before == data:
        return
    lost = vanished(parse(before).lines, document.lines, archive.all_lines(folder.root))
    if lost:
        report.warnings.append(
            f"{len(lost)} {'line' if len(lost) == 1 else 'lines'} left {name} since "
            f"{last.time[:10]} without going to the archive "
            f"(first: {lost[0].decode('utf-8', 'replace').strip()[:60]!r}): memfas history {name}"
        )


def _expire_cold(folder: Folder, cold: str, run: Pass, report: Report) -> None:
    """Remove what is over from the files of cold storage; a file that holds nothing more since an
    earlier day goes. Pinned chunks, and what people wrote between the chunks, stay.
    """
    for path in sorted((folder.root / cold).glob("*.md")) if cold else ():
        name = folder.relative(path)

        def without_expired(document: Document, name: str = name) -> Draft[list[ExpiredChunk]]:
            blocks, _ = parse_cold(document.data)
            over = [b for b in blocks if not b.pinned and is_expired(b.until, run.now)]
            told = [ExpiredChunk(name, b.start_line, b.end_line, b.chunk_id, b.until) for b in over]
            return Draft(without(document.data, over), told)

        try:
            data = read(path, LARGEST).data
            if not report.dry_run and is_empty(data):
                remove_emptied(path, run.now)
                continue
            draft = without_expired(parse(data))
            if draft.detail and not report.dry_run:
                done = edit(folder, name, without_expired, run)
                draft = done or draft
        except MemfasError as error:
            report.faults.append(error)
            continue
        report.cold.extend(draft.detail)
