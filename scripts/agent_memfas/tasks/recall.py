"""Recall: the lines of the memory files that answer a question, each with its place."""

from __future__ import annotations

from agent_memfas.index.check import Checker
from agent_memfas.index.rows import Found, Freshness
from agent_memfas.store.places import PUT_AWAY
from agent_memfas.text.firing import Trigger
from agent_memfas.text.record import Record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from datetime import date

    from agent_memfas.index.keeper import Keeper, Source


class Filters(Record):
    """What may answer. kinds: of places.KINDS, empty for all but archive and cold storage.

    since, until: ISO days, inclusive, or "". p1, p2: days that entries of these priorities are
    kept, for the label `expired`.
    """

    limit: int = 5
    since: str = ""
    until: str = ""
    kinds: tuple[str, ...] = ()
    archive: bool = False
    min_score: float = 0.0
    p1: int = 90
    p2: int = 30


class Hit(Record):
    """One passage. Lines 1-based, inclusive; heading: the path, joined by " > "; date: ISO or
    None; labels: expired, superseded; score: 0 to 1.
    """

    path: str
    start_line: int
    end_line: int
    heading: str
    date: str | None
    priority: str | None
    kind: str
    score: float
    text: str
    labels: tuple[str, ...] = ()


class Answer(Record):
    """hits: best first. triggers: those in the question. freshness: what the answer rests on."""

    query: str
    hits: tuple[Hit, ...]
    triggers: tuple[Trigger, ...]
    freshness: Freshness


def ask(
    keeper: Keeper, question: str, filters: Filters, today: date, as_of: int, budget: float | None
) -> Answer:
    """The best passages for a question, as the files stand now.

    as_of: the wall clock, ns. budget: seconds for bringing the index in step, None for no limit.
    Each hit has been found in its file a moment ago: where the index was wrong about a file it is
    read again, and the question asked again.
    """
    wrong = set[str]()

    def asked(source: Source) -> Answer:
        wrong.clear()
        hits = _hits(source, Checker(keeper.root), question, filters, today, wrong)
        fired = tuple(source.triggers(question))
        return Answer(question, tuple(hits), fired, source.freshness)

    answer = keeper.answer(asked, as_of, budget)
    if not wrong:
        return answer
    keeper.suspect(wrong)
    answer = keeper.answer(asked, as_of, budget)
    if not wrong:
        return answer
    told = (*answer.freshness.notes, f"left out, for it changes right now: {', '.join(wrong)}")
    known = {**vars(answer.freshness), "fresh": False, "notes": told}
    return Answer(question, answer.hits, answer.triggers, Freshness(**known))


def _hits(
    source: Source, checker: Checker, question: str, filters: Filters, today: date, wrong: set[str]
) -> list[Hit]:
    hits = list[Hit]()
    for found in source.ranked(question) if filters.limit > 0 else ():
        if not _passes(found, filters):
            continue
        if not checker.stands(found.path, found.row):
            wrong.add(found.path)
            continue
        hits.append(_hit(found, filters, today))
        if len(hits) >= filters.limit:
            break
    return hits


def _passes(found: Found, filters: Filters) -> bool:
    if found.score < filters.min_score:
        return False
    if filters.kinds:
        if found.kind not in filters.kinds:
            return False
    elif found.kind == "cold" or (found.kind in PUT_AWAY and not filters.archive):
        return False
    day = found.row.day
    if not filters.since and not filters.until:
        return True
    return bool(day) and filters.since <= day <= (filters.until or "9999-12-31")


def _hit(found: Found, filters: Filters, today: date) -> Hit:
    row, labels = found.row, list[str]()
    if found.kind == "archive" or row.is_expired(today, filters.p1, filters.p2):
        labels.append("expired")
    if row.superseded:
        labels.append("superseded")
    return Hit(
        found.path, row.start, row.end, row.heading, row.day or None, row.priority or None,
        found.kind, round(found.score, 4), row.text, tuple(labels),
    )  # fmt: skip
