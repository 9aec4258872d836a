"""Verify: whether each insight's words still stand where it says; where not, it is labelled."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from datetime import date

from agent_memfas.errors import FileFault, MemfasError, UsageError
from agent_memfas.llm.evidence import Evidence
from agent_memfas.store.files import READ_CAP, read, walk
from agent_memfas.store.layout import Folder
from agent_memfas.store.passes import Draft, Pass, edit, hold
from agent_memfas.text.citations import Citation
from agent_memfas.text.documents import Document, parse
from agent_memfas.text.insights import Standing, label, recite, standing

STANDS, MOVED, STALE, GONE = "stands", "moved", "stale", "gone"


@dataclass(frozen=True)
class Checked:
    """An insight. path, line: where it stands, 1-based. cite: as it is cited; now: where its words
    stand now, None for nowhere. state: stands, moved (to other lines), stale (the words are not
    there any more), gone (the log is not there any more, or cannot be read).
    """

    path: str
    line: int
    state: str
    cite: str
    now: str | None
    text: str


@dataclass(frozen=True)
class Report:
    """All insights, by file. faults: files that were left alone. changed: lines with another
    label or citation."""

    checked: list[Checked] = field(default_factory=list)
    faults: list[MemfasError] = field(default_factory=list)
    changed: int = 0

    def count(self, state: str) -> int:
        """How many are in that state."""
        return sum(each.state == state for each in self.checked)


def run(folder: Folder, run: Pass, *, dry_run: bool = False) -> Report:
    """Check all insights. Those that are stale get a label of today, those that moved their new
    lines, and those that are neither lose a label that they have; other bytes stay.
    """
    report, changed = Report(), 0
    sources = _Sources(folder)
    paths = [p for p in walk(folder).files if p.startswith("insights/") and p.endswith(".md")]
    for path in paths:
        try:
            document = parse(read(folder.place(path), READ_CAP, cut=True).data)
        except (FileFault, UsageError) as fault:
            report.faults.append(fault)
            continue
        draft = _plan(document, path, sources, run.now.date())
        report.checked.extend(draft.detail)
        if draft.new == document.data:
            continue
        changed += sum(a != b for a, b in zip(document.lines, parse(draft.new).lines, strict=True))
        if not dry_run:
            _apply(folder, path, sources, run, report)
    return replace(report, changed=changed)


def _apply(folder: Folder, path: str, sources: _Sources, run: Pass, report: Report) -> None:
    try:
        with hold(folder, run):
            edit(folder, path, lambda now: _plan(now, path, sources, run.now.date()), run)
    except MemfasError as error:
        report.faults.append(error)


class _Sources:
    """The logs that are cited, each read once."""

    def __init__(self, folder: Folder) -> None:
        self._folder = folder
        self._known: dict[str, Evidence | None] = {}

    def find(self, path: str) -> Evidence | None:
        """A log, or None where it cannot be read."""
        if path not in self._known:
            try:
                data = read(self._folder.place(path)).data
                self._known[path] = Evidence(parse(data).text_lines)
            except (FileFault, UsageError):
                self._known[path] = None
        return self._known[path]


def _plan(document: Document, path: str, sources: _Sources, today: date) -> Draft[list[Checked]]:
    lines, found = list(document.lines), list[Checked]()
    for one in standing(document.text_lines):
        if one.line in document.opaque:
            continue
        state, now = _state(one, sources)
        old = document.text_lines[one.line]
        new = old
        if state == MOVED and now is not None:
            new = recite(new, (now, *one.insight.cites[1:]))
        if state != GONE:
            new = label(new, (one.stale or today.isoformat()) if state == STALE else "")
        if new != old:
            raw = lines[one.line]
            lines[one.line] = raw.replace(old.encode(), new.encode(), 1)
        found.append(Checked(path, one.line + 1, state, str(one.insight.cites[0]),
                             str(now) if now else None, one.insight.text))  # fmt: skip
    return Draft(b"".join(lines), found)


def _state(one: Standing, sources: _Sources) -> tuple[str, Citation | None]:
    cite = one.insight.cites[0]
    evidence = sources.find(cite.path)
    if evidence is None:
        return GONE, None
    place = evidence.place(one.insight.shown, cite.start, cite.end)
    if place is None:
        return STALE, None
    now = Citation(cite.path, *place)
    inside = cite.start <= now.start and now.end <= cite.end
    return (STANDS, cite) if inside else (MOVED, now)
