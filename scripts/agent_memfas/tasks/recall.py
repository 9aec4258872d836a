"""Recall: the lines of the memory files that answer a question, each with its place."""

from __future__ import annotations

from agent_memfas.index.check import Checker
from agent_memfas.index.priors import Leaning
from agent_memfas.index.rows import Found, Freshness, seal
from agent_memfas.index.tiers import ABSTRACT, AUTO, INSIGHTS, TIERS, Again, enough, merged, tier_of
from agent_memfas.store.places import PUT_AWAY
from agent_memfas.text.alike import EXPIRED, LIVE, SUPERSEDED, Said, fold, said
from agent_memfas.text.cites import Placed, insight, together
from agent_memfas.text.context import span
from agent_memfas.text.firing import Trigger, read_link
from agent_memfas.text.record import Record
from agent_memfas.text.rights import within
from agent_memfas.text.spoken import spoken_in

LONGEST_QUOTE, LONGEST_FILE = 20, 400  # lines
GIVEN, FAINT, APART = range(3)  # why a passage is passed over
AHEAD = 10  # passages behind the last one shown that are looked at for doubles of it
DOUBLES = 200  # passages more than are wanted that are looked at where many say the same

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from datetime import date

    from agent_memfas.index.keeper import Keeper, Source


class Filters(Record):
    """What may answer. limit: hits that are shown. kinds: of places.KINDS, empty for all but
    archive and cold storage.

    since, until: ISO days, inclusive, or "". p1, p2: days that entries of these priorities are
    kept, for the label `expired`. given: the seals (of path and text) of hits and triggers that
    are not to come again. always: files and globs whose text is part of every answer. tier: one of
    TIERS, to read no deeper, or AUTO, to read L2 only where L0 and L1 are weak; "" for all files,
    but no overviews. hidden: files and globs of what the one who asks may not see, nor what is made
    of it.
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
    tier: str = ""
    hidden: tuple[str, ...] = ()


class Hit(Record):
    """One passage. Lines 1-based, inclusive; heading: the path, joined by " > "; date: ISO or
    None; labels: expired, superseded; score: 0 to 1. also: where else the same is said, each
    `path:12` or `path:12-15`. seals: what it and those are known by in Filters.given.
    features: what each of the ranking has given to the sum that the score comes of. cites: the
    lines that an insight rests on, each `path#L3-L4`; what a line of an overview is about.
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
    also: tuple[str, ...] = ()
    seals: tuple[int, ...] = ()
    features: dict[str, float] | None = None
    cites: tuple[str, ...] = ()


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
    under min_score; apart: those of other kinds or days than were asked for. tiers: those that were
    read, where a tier was asked for.
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
    tiers: tuple[str, ...] = ()


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
        search = _Search(source, checker, question, filters, today, wrong)
        (hits, passed), tiers = search.in_tiers() if filters.tier else (search.all(), ())
        found = [t for t in source.triggers(question) if not within(t.path, filters.hidden)]
        fired = tuple(t for t in found if seal(t.path, t.keyword, t.hint) not in filters.given)
        shown = [[q for q in _quotes(source, checker, t) if _is_shown(q, filters)] for t in fired]
        quotes = tuple(map(tuple, shown))
        always = [_whole(checker, path) for path in source.paths(filters.always)]
        always = [quote for quote in always if _is_shown(quote, filters)]
        new = [q for q in always if seal(q.path, q.text) not in filters.given]
        repeated = passed[GIVEN] + len(found) - len(fired) + len(always) - len(new)
        return Answer(
            question, tuple(hits), fired, source.freshness, quotes,
            tuple(q for q in new if q.text), repeated, passed[FAINT], passed[APART], tiers,
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


class _Search:
    """Looks for the passages that answer a question. wrong: gets the paths of files that are not
    as the source has them."""

    def __init__(
        self, source: Source, checker: Checker, question: str, filters: Filters, today: date,
        wrong: set[str],
    ) -> None:  # fmt: skip
        self._source, self._checker, self._question = source, checker, question
        self._filters, self._today, self._wrong = filters, today, wrong

    def all(self) -> tuple[list[Hit], list[int]]:
        """The best hits, and how many better ones were passed over, by reason."""
        return self._best(self._ranked()) if self._filters.limit > 0 else ([], [0, 0, 0])

    def in_tiers(self) -> tuple[tuple[list[Hit], list[int]], tuple[str, ...]]:
        """The same of the tiers that were asked for, and which those were."""
        if self._filters.limit <= 0 or self._filters.tier == TIERS[2]:
            return self.all(), TIERS
        ranked = Again(self._ranked())
        if self._filters.tier == AUTO:
            return self._as_deep_as_needed(ranked)
        from agent_memfas.index.overviews import Overviews

        most = TIERS.index(self._filters.tier)
        lines = Overviews(self._checker.root).ranked(self._question)
        return self._best(_down_to(most, merged(lines, ranked))), TIERS[: most + 1]

    def _as_deep_as_needed(
        self, ranked: Again
    ) -> tuple[tuple[list[Hit], list[int]], tuple[str, ...]]:
        """L0 and L1, or all where these are weak. Overviews are none of it: they name files, and
        where these are to be looked into recall knows the lines.
        """
        from agent_memfas.index.overviews import files

        if not self._source.paths((INSIGHTS,)) and not files(self._checker.root):
            return self._best(ranked), TIERS
        hits, passed = self._best(_down_to(1, ranked))
        deep = (f for f in ranked if tier_of(f.path, f.kind) == 2 and self._counts(f))
        if count := enough(hits, next(deep, None)):
            return (hits[:count], passed), TIERS[:2]
        return self._best(ranked), TIERS

    def _ranked(self) -> Iterator[Found]:
        leaning = Leaning(self._today, self._filters.recency_weight)
        return self._source.ranked(self._question, leaning)

    def _best(self, ranked: Iterable[Found]) -> tuple[list[Hit], list[int]]:
        passed, filters = [0, 0, 0], self._filters
        gatherer = _Gatherer(filters, self._today)
        for found in ranked:
            if gatherer.has_enough():
                break
            if filters.hidden and _is_hidden(found, filters.hidden):
                continue
            if found.score < filters.min_score or not _passes(found, filters):
                passed[FAINT if found.score < filters.min_score else APART] += 1
            elif not gatherer.wants(found):
                continue
            elif not self._checker.stands(found.path, found.row):
                self._wrong.add(found.path)
            else:
                gatherer.take(found, self._checker.beyond(found.path, found.row))
        hits, passed[GIVEN] = gatherer.hits()
        return hits, passed

    def _counts(self, found: Found) -> bool:
        seen = not (self._filters.hidden and _is_hidden(found, self._filters.hidden))
        return seen and found.score >= self._filters.min_score and _passes(found, self._filters)


def _down_to(most: int, ranked: Iterable[Found]) -> Iterator[Found]:
    return (found for found in ranked if tier_of(found.path, found.kind) <= most)


class _Gatherer:
    """Takes passages, best first, until there are as many hits as are wanted, doubles folded."""

    def __init__(self, filters: Filters, today: date) -> None:
        self._filters, self._today = filters, today
        self._found, self._said = list[Found](), list[Said]()
        self._placed = list[Placed]()
        self._room, self._ahead, self._full = filters.limit, AHEAD, False
        self._folded = list[list[int]]()

    def wants(self, found: Found) -> bool:
        """Whether a passage may be of use: once there are enough, only the same words again, and
        what quotes or is quoted."""
        if not self._full or found.kind == INSIGHTS or any(known.cites for known in self._placed):
            return True
        new = spoken_in(found.row.text).words
        return any(known.spoken.words == new for known in self._said)

    def take(self, found: Found, lines: str) -> None:
        """One passage more. lines: those that it is only a piece of, or ""."""
        self._found.append(found)
        self._said.append(_said(found, lines, self._filters, self._today))
        self._placed.append(_placed(found, lines, self._said[-1]))
        self._folded = []

    def has_enough(self) -> bool:
        """Whether no more are needed; to be asked before each passage that there is."""
        taken = len(self._found)
        if not self._full and taken >= self._room:
            missing = self._filters.limit - len(self._groups()[0])
            self._full = missing <= 0 or taken >= self._filters.limit + DOUBLES
            self._room = taken + max(missing, taken // 2)
        self._ahead -= self._full
        return self._ahead < 0

    def hits(self) -> tuple[list[Hit], int]:
        """The hits, and how many more there would be, had they not been given before."""
        groups, given = self._groups()
        return [self._hit(group) for group in groups], given

    def _groups(self) -> tuple[list[list[int]], int]:
        """What is shown, each with its doubles, and how many better ones were given before."""
        groups, given = list[list[int]](), 0
        self._folded = self._folded or together(fold(self._said), self._placed)
        for numbers in self._folded:
            if len(groups) == self._filters.limit:
                break
            if self._was_given(numbers):
                given += 1
            else:
                groups.append(numbers)
        return groups, given

    def _was_given(self, numbers: list[int]) -> bool:
        """Whether one was given that is worth no less than the one that would be shown."""
        least = self._said[numbers[0]].standing
        return any(
            self._said[n].standing >= least and _seal(self._found[n]) in self._filters.given
            for n in (numbers if self._filters.given else ())
        )

    def _hit(self, numbers: list[int]) -> Hit:
        group = [self._found[n] for n in numbers]
        found, row = group[0], group[0].row
        expired, superseded = _state(found, self._filters, self._today)
        labels = [name for name, is_so in
                  (("expired", expired), ("superseded", superseded)) if is_so]  # fmt: skip
        also = dict.fromkeys(map(_place, group))
        return Hit(
            found.path, row.start, row.end, row.heading, row.day or None, row.priority or None,
            found.kind, round(found.score, 4), row.text, tuple(labels), tuple(also)[1:],
            tuple(map(_seal, group)), found.parts, self._placed[numbers[0]].cites,
        )  # fmt: skip


def _is_shown(quote: Quote, filters: Filters) -> bool:
    return not (filters.hidden and within(quote.path, filters.hidden))


def _is_hidden(found: Found, hidden: tuple[str, ...]) -> bool:
    """Whether a passage stands in what may not be seen, or is made of it: a line of an overview, an
    insight; of the archive nobody knows any more whose it was.
    """
    if found.kind == "archive":
        return True
    paths = [found.path]
    if found.kind in (ABSTRACT, INSIGHTS):
        placed = insight(found.path, found.row.start, found.row.end, found.row.text)
        paths += [cite.partition("#")[0] for cite in placed.cites]
        paths += [found.row.heading] if found.kind == ABSTRACT else []
    return any(within(path, hidden) for path in paths)


def _placed(found: Found, lines: str, said: Said) -> Placed:
    """A passage with what it rests on. lines: as in `_Gatherer.take`."""
    row = found.row
    if found.kind == INSIGHTS:
        return insight(found.path, row.start, row.end, lines or row.text)
    about = (row.heading,) if found.kind == ABSTRACT else ()
    return Placed(found.path, row.start, row.end, said.spoken.words, about)


def _said(found: Found, lines: str, filters: Filters, today: date) -> Said:
    """A passage as it is compared. A note stands under the name of its file, too."""
    row = found.row
    expired, superseded = _state(found, filters, today)
    about = f"{found.path} {row.heading}" if found.kind == "other" else row.heading
    return said(
        row.text, about, lines, day=row.day, kind=found.kind, score=found.score,
        standing=SUPERSEDED if superseded else EXPIRED if expired else LIVE,
    )  # fmt: skip


def _state(found: Found, filters: Filters, today: date) -> tuple[bool, bool]:
    """Whether it is expired, and whether it is superseded."""
    row = found.row
    expired = found.kind == "archive" or row.is_expired(today, filters.p1, filters.p2)
    return expired, bool(row.superseded)


def _place(found: Found) -> str:
    return f"{found.path}:{span(found.row.start, found.row.end)}"


def _seal(found: Found) -> int:
    return seal(found.path, found.row.text)


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
