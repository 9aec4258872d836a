"""Compounding: logs become insights, a line each, with the lines of the log that it rests on.

What is done is known from the insights themselves: the head of each block names the lines of a log
and their hash. So a log that was edited, or got more lines, is seen again, and nothing that is
deleted under `.memfas` makes it forget.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import date

from agent_memfas.errors import ConfigError, FileFault, MemfasError, NothingFound, TryAgain
from agent_memfas.llm.evidence import Evidence
from agent_memfas.store import queue
from agent_memfas.store.append import append, append_block
from agent_memfas.store.daily import logs
from agent_memfas.store.files import read, walk
from agent_memfas.store.layout import Folder
from agent_memfas.store.locks import exclusive
from agent_memfas.store.passes import Pass
from agent_memfas.text.citations import Citation, words_of
from agent_memfas.text.documents import Document, parse
from agent_memfas.text.insights import (
    Head,
    Insight,
    file_name,
    file_title,
    hash_of,
    heads,
    is_marker,
    marker,
    standing,
    write_block,
    write_line,
)
from agent_memfas.text.logs import Waiting, rest_of, waiting_of
from agent_memfas.text.reflection import Judged
from agent_memfas.text.tokens import estimate

Reflect = Callable[[Waiting], Judged]


@dataclass(frozen=True)
class Compounded:
    """One log that was reflected on. path, line: where its insights begin, 1-based, 0 where nothing
    was written.
    kept: as written. known: how many the file said already. dropped: why others were not written.
    text: the whole block.
    """

    day: date
    log: Citation
    path: str
    line: int
    kept: tuple[Insight, ...]
    known: int
    dropped: tuple[str, ...]
    text: str


@dataclass(frozen=True)
class Report:
    """The whole run, its lists filled as it goes. left: logs that were not come to."""

    done: list[Compounded] = field(default_factory=list)
    faults: list[MemfasError] = field(default_factory=list)
    left: list[str] = field(default_factory=list)


class _NotWritten(FileFault):
    """Insights that there are cannot be written, and those of the next log could not be either."""


@dataclass(frozen=True)
class Due:
    """Whether it is time to reflect. importance: of all that waits; oldest: its age in days."""

    importance: int
    threshold: int
    oldest: int
    after_days: int

    @property
    def is_due(self) -> bool:
        """As in Generative Agents (Park et al. 2023): when the importance of what was perceived
        since the last reflection comes to a threshold; here also when it has waited long enough.
        """
        return self.importance >= self.threshold or self.oldest >= self.after_days


@contextmanager
def alone(folder: Folder) -> Iterator[None]:
    """Nobody else compounds this folder from now on. TryAgain where somebody does.

    What waits is looked at in here, for another run may just have done it.
    """
    with exclusive(folder, "compound.lock"):
        yield


def waiting(
    folder: Folder, today: date, days: Iterable[date] = (), faults: list[MemfasError] | None = None
) -> list[Waiting]:
    """The logs that have lines without insights, oldest first. days: only these; none: all before
    today, which is still being written. Days in the queue count as if nothing were done of them.

    faults: gets those that cannot be read, or not whole.
    """
    wanted, queued = set(days), queue.days(folder)
    known = _heads(folder)
    found = list[Waiting]()
    for day, path in logs(folder):
        if (day not in wanted) if wanted else day >= today:
            continue
        try:
            document = parse(read(folder.place(path)).data)
        except MemfasError as error:
            if faults is not None:
                faults.append(error)
            continue
        asked = day in queued
        where = rest_of(path, document.text_lines, () if asked else known.get(path, ()))
        if where is not None:
            found.append(waiting_of(day, where, document, queued=asked))
    return found


def whole(folder: Folder, days: Iterable[date]) -> list[Waiting]:
    """The logs of some days, as if nothing were done of them."""
    wanted, found = set(days), list[Waiting]()
    for day, path in logs(folder):
        if day in wanted:
            document = parse(read(folder.place(path)).data)
            where = rest_of(path, document.text_lines, ())
            if where is not None:
                found.append(waiting_of(day, where, document, queued=False))
    return found


def _heads(folder: Folder) -> dict[str, list[Head]]:
    """The heads of all blocks, by the log that they are of."""
    found = dict[str, list[Head]]()
    for path in walk(folder).files:
        if path.startswith("insights/"):
            try:
                lines = parse(read(folder.place(path)).data).text_lines
            except FileFault:
                continue
            for head in heads(lines):
                found.setdefault(head.piece.path, []).append(head)
    return found


def due(found: Sequence[Waiting], threshold: int, after_days: int, today: date) -> Due:
    """Whether what waits is worth a reflection by now."""
    worth = [each for each in found if not each.is_short]
    oldest = max(((today - each.day).days for each in worth), default=0)
    return Due(sum(each.importance for each in worth), threshold, oldest, after_days)


def run(
    folder: Folder, todo: Sequence[Waiting], reflect: Reflect, by: str, run: Pass,
    tell: Callable[[Compounded], None] | None = None, *, dry_run: bool = False,
) -> Report:  # fmt: skip
    """Reflect on each of them and append what it gives. The caller is `alone`, but for a dry run.

    reflect: is called without any lock that a writer could wait for. by: who it is. tell: hears of
    each log when it is done. Where the model cannot be reached or nothing can be written, the rest
    is left for another time. Logs that an earlier run was killed before marking get their mark.
    """
    report = Report()
    if dry_run:
        for each in todo:
            done = _compounded(folder, each, each.document, reflect(each), by, run.now.date())
            report.done.append(done)
        return report
    mark_all(folder, run)
    for n, each in enumerate(todo):
        try:
            report.done.append(done := _compound(folder, each, reflect, by, run))
            if each.day not in {other.day for other in todo[n + 1 :]}:
                queue.take(folder, each.day)
            if tell:
                tell(done)
        except (TryAgain, ConfigError, _NotWritten) as error:
            report.faults.append(error)
            report.left.extend(str(other.where) for other in todo[n:])
            break
        except MemfasError as error:
            report.faults.append(error)
    return report


def _compound(folder: Folder, each: Waiting, reflect: Reflect, by: str, run: Pass) -> Compounded:
    folder.place(file_name(each.day))  # a link out of the folder is refused before anyone is asked
    judged = reflect(each)
    now = _seen_anew(folder, each.where.path)
    done = _compounded(folder, each, now, judged, by, run.now.date())
    if done.dropped and not done.kept and not done.known:
        raise NothingFound(
            f"{each.where}: none of {len(done.dropped)} insights stands in the log "
            f"({done.dropped[0]}); nothing was written",
            f"try again: memfas compound --date {each.day}",
        )
    if each.queued and not done.kept and _is_covered(folder, each, now):
        return done  # asked for once more, and there is nothing to add
    try:
        line = append_block(folder, done.path, done.text, run, header=file_title(each.day))
    except FileFault as fault:
        raise _NotWritten(fault.message, fault.remedy) from fault
    mark(folder, each.where.path, run)
    return replace(done, line=line - done.text.count("\n") + 1)


def _is_covered(folder: Folder, each: Waiting, now: Document) -> bool:
    path = each.where.path
    return rest_of(path, now.text_lines, _heads(folder).get(path, ())) is None


def _seen_anew(folder: Folder, path: str) -> Document:
    """The log as it is now: a model thinks for a while, and others write meanwhile."""
    try:
        return parse(read(folder.place(path)).data)
    except FileFault as fault:
        raise FileFault(f"{fault.message}; its insights were not written") from fault


def _compounded(
    folder: Folder, each: Waiting, now: Document, judged: Judged, by: str, today: date
) -> Compounded:
    """What is written of a log. now: the log as it stands; the hash is of what was asked about."""
    path, where = file_name(each.day), each.where
    kept, dropped = list[Insight](), list(judged.dropped)
    evidence, known = Evidence(now.text_lines), 0
    said = _said(folder, path, each, evidence)
    for insight in judged.kept:
        cite = insight.cites[0]
        place = evidence.place(insight.shown, cite.start, cite.end)
        if _says(insight) in said:
            known += 1
        elif place is None:
            dropped.append(f"its words have been changed meanwhile: {insight.text[:80]}")
        else:
            kept.append(replace(insight, cites=(Citation(cite.path, *place),)))
            said.add(_says(insight))
    head = Head(where, hash_of(each.lines), by, today.isoformat())
    size = sum(estimate(write_line(insight)) for insight in kept)
    told = f"{_count(len(each.lines), 'line')}, {each.tokens} tokens; "
    told += f"{_count(len(kept), 'insight')}, {size} tokens"
    told += f"; {known} known before" if known else ""
    told += f"; {len(dropped)} dropped" if dropped else ""
    text = write_block(each.day, head, kept, told)
    return Compounded(each.day, where, path, 0, tuple(kept), known, tuple(dropped), text)


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def _said(folder: Folder, path: str, each: Waiting, evidence: Evidence) -> set[str]:
    """What a file of insights says of a day already, but for what the log does not show any more.

    evidence: the log as it stands; what rests on another log of the day is taken as it is.
    """
    try:
        lines = parse(read(folder.place(path)).data).text_lines
    except FileFault:
        return set()
    tops = [n for n, line in enumerate(lines) if line.startswith("## ")]
    return {
        _says(one.insight)
        for start, end in zip(tops, [*tops[1:], None], strict=False)
        if lines[start].startswith(f"## {each.day.isoformat()}")
        for one in standing(lines[start:end])
        if all(
            evidence.place(one.insight.shown, cite.start, cite.end)
            for cite in one.insight.cites[:1] if cite.path == each.where.path
        )
    }  # fmt: skip


def _says(insight: Insight) -> str:
    said = f"{insight.text} {insight.quote}" if insight.text.endswith(":") else insight.text
    return f"{insight.section}: {' '.join(words_of(said))}"


def mark_all(folder: Folder, run: Pass) -> None:
    """Mark the logs that have all their insights, where a run did not come to that.

    Inside `alone`.
    """
    known = _heads(folder)
    for _, path in logs(folder):
        if path not in known:
            continue
        try:
            lines = parse(read(folder.place(path)).data).text_lines
            if rest_of(path, lines, known[path]) is None:
                mark(folder, path, run)
        except FileFault as fault:
            run.notices.append(f"{fault.message}; it has its insights, but not their mark")


def mark(folder: Folder, path: str, run: Pass) -> None:
    """Append the mark to a log, unless it ends with one, or inside a comment: the end of the mark
    would be the end of that, too.
    """
    document = parse(read(folder.place(path)).data)
    last = next((line for line in reversed(document.text_lines) if line.strip()), "")
    hidden = any(region.kind == "comment" and not region.closed for region in document.regions)
    if not is_marker(last) and not hidden:
        append(folder, path, marker(run.now.date()), run)
