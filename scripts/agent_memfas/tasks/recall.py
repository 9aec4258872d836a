"""Recall: the lines of the memory files that answer a question, each with its place."""

from __future__ import annotations

from agent_memfas.index.check import Checker
from agent_memfas.index.ranking import Leaning
from agent_memfas.index.rows import Found, Freshness, seal
from agent_memfas.store.places import PUT_AWAY
from agent_memfas.text.firing import Trigger, read_link
from agent_memfas.text.record import Record

LONGEST_QUOTE, LONGEST_FILE = 20, 400  # lines
GIVEN, FAINT, APART = range(3)  # why a passage is passed over

TYPE_CHECKING = False
if TYPE_CHECKING:
    from datetime import date

    from agent_memfas.index.keeper import Keeper, Source


class Filters(Record):
    """What may answer. kinds: of places.KINDS, empty for all but archive and cold storage.

    since, until: ISO days, inclusive, or "". p1, p2: days that entries of these priorities are
    kept, for the label `expired`. given: the seals (of path and text) of hits and triggers that
    are not to come again. always: files and globs whose text is part of every answer.
    """

    limit: int = 5
    since: str = ""
    until: str = ""
    kinds: tuple[str, ...] = ()
    archive: bool = False
    min_score: float = 0.0
    p1: int = 90
    p2: int = 30
    recency_weight: float = 0.0
    given: frozenset[int] = frozenset()
    always: tuple[str, ...] = ()


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


class Quote(Record):
    """Lines that a trigger links, 1-based, inclusive. text: "" where they are not there; then path
    may be id:123, for the number of a memory."""

    path: str
    start_line: int
    end_line: int
    text: str


class Answer(Record):
    """hits: best first. triggers: those in the question, each with the lines that it links, in
    quotes under the same number. freshness: what the answer rests on. always: the files that are
    always loaded. repeated: how many were left out, for they were given before; faint: passages
    under min_score; apart: those of other kinds or days than were asked for.
    """

    query: str
    hits: tuple[Hit, ...]
    triggers: tuple[Trigger, ...]
    freshness: Freshness
    quotes: tuple[tuple[Quote, ...], ...] = ()
    always: tuple[Quote, ...] = ()
    repeated: int = 0
    faint: int = 0
    apart: int = 0


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
        checker = Checker(keeper.root)
        hits, passed = _hits(source, checker, question, filters, today, wrong)
        found = source.triggers(question)
        fired = tuple(t for t in found if seal(t.path, t.keyword, t.hint) not in filters.given)
        quotes = tuple(tuple(_quotes(source, checker, t)) for t in fired)
        always = [_whole(checker, path) for path in source.paths(filters.always)]
        new = [q for q in always if seal(q.path, q.text) not in filters.given]
        repeated = passed[GIVEN] + len(found) - len(fired) + len(always) - len(new)
        return Answer(
            question, tuple(hits), fired, source.freshness, quotes,
            tuple(q for q in new if q.text), repeated, passed[FAINT], passed[APART],
        )  # fmt: skip

    answer = keeper.answer(asked, as_of, budget)
    if not wrong:
        return answer
    keeper.suspect(wrong)
    answer = keeper.answer(asked, as_of, budget)
    if not wrong:
        return answer
    told = (*answer.freshness.notes, f"left out, for it changes right now: {', '.join(wrong)}")
    known = {**vars(answer.freshness), "fresh": False, "notes": told}
    return Answer(**{**vars(answer), "freshness": Freshness(**known)})


def _hits(
    source: Source, checker: Checker, question: str, filters: Filters, today: date, wrong: set[str]
) -> tuple[list[Hit], list[int]]:
    """The best hits, and how many better ones were passed over, by reason."""
    hits, passed = list[Hit](), [0, 0, 0]
    leaning = Leaning(today, filters.recency_weight)
    for found in source.ranked(question, leaning) if filters.limit > 0 else ():
        if found.score < filters.min_score or not _passes(found, filters):
            passed[FAINT if found.score < filters.min_score else APART] += 1
            continue
        if not checker.stands(found.path, found.row):
            wrong.add(found.path)
            continue
        if filters.given and seal(found.path, found.row.text) in filters.given:
            passed[GIVEN] += 1
            continue
        hits.append(_hit(found, filters, today))
        if len(hits) >= filters.limit:
            break
    return hits, passed


def _whole(checker: Checker, path: str) -> Quote:
    """A file that is always loaded, up to LONGEST_FILE lines."""
    text = checker.lines(path, 1, LONGEST_FILE)
    return Quote(path, 1, max(text.count("\n") + 1, 1), text)


def _quotes(source: Source, checker: Checker, trigger: Trigger) -> list[Quote]:
    """The lines that a trigger links."""
    found = list[Quote]()
    for link in trigger.links:
        if link.startswith("id:"):
            rows = [f for f in source.numbered(int(link[3:])) if checker.stands(f.path, f.row)]
            here = [Quote(f.path, f.row.start, f.row.end, f.row.text) for f in rows[:1]]
            found += here or [Quote(link, 0, 0, "")]
            continue
        if (place := read_link(link)) is not None:
            path, start, last = place
            end = min(max(last, start), start + LONGEST_QUOTE - 1)
            found.append(Quote(path, start, end, checker.lines(path, start, end)))
    return found


def _passes(found: Found, filters: Filters) -> bool:
    """Whether it is of a kind and a day that were asked for."""
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
