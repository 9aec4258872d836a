"""Ranking: what BM25 says of a passage, of those around it and of its section, what a model says of
its meaning, and what is known of it besides. Pure functions; the index and the bare files both
rank by them.

Of words every passage gets a sum of shares of what an ideal passage would have (see `postings`):

    L = OWN own + WINDOW window + SECTION section + ANSWERS own of the question before it

window: the sum over the terms of the best share within REACH passages of its section; section: the
same within the whole section. Where there are vectors, their nearness is added (see `fusion`). The
rest are priors, parts of the best sum of the pool, so that they mean the same for three passages as
for thousands, for two words as for two hundred:

    sum = base + max(base) * priors that hold,   base = L / sqrt(max(L) / 2) + WEIGHT * nearness

The weights were fitted on LoCoMo and looked at on BEAM and MADial-zh, and the other way round: see
WEIGHTS in /tests/benchmarks/evidence.py for what each is worth on each.
"""

from __future__ import annotations

from agent_memfas.index import fusion
from agent_memfas.index.postings import summed, whole
from agent_memfas.text.asked import (
    folded,
    is_assistant,
    is_lookup,
    is_named,
    may_name_time,
    quotations,
)
from agent_memfas.text.days import aging
from agent_memfas.text.record import Record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Collection
    from datetime import date
    from typing import Protocol

    Part = dict[int, float]  # passage -> share of one term
    Place = tuple[int, int, int]  # file, order among the passages of the file, section

    class Ground(Protocol):
        """What the passages of a folder look like to a ranking."""

        def around(self, passages: Collection[int], reach: int) -> dict[int, Place]:
            """Where these passages stand, and those within reach of them in their files."""

        def spots(self, passages: Collection[int]) -> dict[int, Spot]:
            """What is known of these."""

        def within(self, sections: Collection[int]) -> dict[int, int]:
            """Every passage of these sections, with its section."""


POOL = 100  # passages with the best shares of their own; those around them come on top
REACH = 2  # passages before and behind, in the same section
OWN, WINDOW, SECTION, ANSWERS = 1.0, 0.6, 0.2, 0.3
SPEAKER, OPENS, ASSISTANT, TIME, ASKS, QUOTED = 0.2, 0.2, -0.25, 0.3, -0.1, 0.5
RECENCY = 0.5  # times recency_weight, for a passage of today; less for older ones, see days.aging
SUPERSEDED = 0.5  # times the sum, so that its successor stands above it
FULL = OWN + WINDOW + SECTION  # what a passage by itself gets for all of its share


class Spot(Record):
    """What is known of a passage. path: of its file. opens: it is the first piece of its bullet or
    paragraph. asks: see speakers.asks. superseded: a day, or "". text: for quotations.
    """

    path: str
    order: int
    speaker: str
    opens: bool
    asks: int
    day: str
    superseded: str
    text: str


class Ranked(Record):
    """A passage of the pool. score: 0 to 1. parts: what each feature has given to its sum."""

    passage: int
    score: float
    parts: dict[str, float]


class Order(Record):
    """The pool, best first. share: what a passage by itself, with that share of words, scores."""

    pool: list[Ranked]
    share: Callable[[float], float]


class Cosines(Record):
    """What a model makes of a question. nearest: the nearest passages. of: gives the cosine of any.
    ordinary, spread: of such cosines. trust: 0 to 1. latin: whether the question is in that script.
    alone: words do not count.
    """

    nearest: list[int]
    of: Callable[[int], float | None]
    ordinary: float
    spread: float
    trust: float
    latin: bool
    alone: bool = False


class Leaning(Record):
    """What a ranking depends on beside the words. today: for ages, and for times that a question
    names relative to it. recency_weight: of memfas.yaml; 0 where there is no today.
    """

    today: date | None = None
    recency_weight: float = 0.0


PLAIN = Leaning()


def rank(
    question: str, parts: list[Part], ground: Ground, leaning: Leaning = PLAIN,
    cosines: Cosines | None = None,
) -> Order:  # fmt: skip
    """The pool of the best passages, best first; equal ones by path and order.

    parts: for each term of the question its postings, shares of the ideal maximum. Those that hold
    every term come before the others. Where it is only a word or two that are looked up, what
    stands beside them is no answer. cosines: of a model, if there is one.
    """
    own, full = summed(parts), whole(parts, question)
    best = sorted(own, key=lambda passage: (passage not in full, -own[passage], passage))[:POOL]
    places = ground.around([*best, *(cosines.nearest if cosines else ())], 2 * REACH)
    near = _near(places)
    pool = [other for passage in best for other in near(passage)]
    if is_lookup(question):
        pool = [passage for passage in pool if passage in own]
    pool = list(dict.fromkeys([*pool, *(cosines.nearest if cosines else ())]))
    spots = ground.spots(pool)
    sums = _sums(own, parts, {passage: near(passage) for passage in pool}, places, ground)
    _add_answers(sums, own, places, spots)
    divisor = fusion.lexical_divisor(
        max((sum(found.values()) for found in sums.values()), default=0.0)
    )
    base = {
        passage: {name: part / divisor for name, part in found.items() if part}
        for passage, found in sums.items()
    }
    kind = "fts5"
    if cosines is not None and cosines.trust:
        kind = "embedding" if cosines.alone else "hybrid"
        _add_nearness(base, cosines, places, spots)
    top = max((sum(found.values()) for found in base.values()), default=0.0)
    priors = Priors(question, leaning)
    ranked = [
        _scored(passage, found, priors.of(spots[passage]), max(top, 0.0), spots[passage], kind)
        for passage, found in base.items()
    ]
    ranked.sort(key=lambda r: _order(r, spots[r.passage], r.passage in full))
    return Order(ranked, lambda share: fusion.shown(FULL * share / divisor, kind))


def _order(ranked: Ranked, spot: Spot, has_all: bool) -> tuple[bool, float, str, int]:
    first = has_all and not spot.superseded
    return not first, -round(ranked.score, 9), spot.path, spot.order


def _scored(
    passage: int, base: dict[str, float], priors: dict[str, float], top: float, spot: Spot,
    kind: str,
) -> Ranked:  # fmt: skip
    share = SUPERSEDED if spot.superseded else 1.0
    parts = {name: part * share for name, part in base.items()}
    for name, weight in priors.items():
        parts[name] = top * weight * share
    return Ranked(passage, fusion.shown(sum(parts.values()), kind), parts)


def _add_nearness(
    base: dict[int, dict[str, float]], cosines: Cosines, places: dict[int, Place],
    spots: dict[int, Spot],
) -> None:  # fmt: skip
    """What the vectors say; a passage that has none yet is taken for an ordinary one."""
    at = {place: passage for passage, place in places.items()}
    unit = fusion.SPREADS * cosines.spread
    weight = 1.0 if cosines.alone else fusion.WEIGHT * cosines.trust

    def above(passage: int | None, share: float) -> float | None:
        cosine = None if passage is None else cosines.of(passage)
        return None if cosine is None else (cosine - cosines.ordinary) / unit * share

    for passage, found in base.items():
        file, order, section = places[passage]
        text = spots[passage].text
        share = 1.0 if fusion.is_latin(text) == cosines.latin else fusion.FOREIGN
        own = above(passage, share)
        if own is not None:
            beside = tuple(above(at.get((file, order + n, section)), share) for n in (-1, 1))
            found["meaning"] = weight * fusion.nearness(own, (beside[0], beside[1]), len(text))


def _near(places: dict[int, Place]) -> Callable[[int], list[int]]:
    """What gives, for a passage, those within reach in its section, itself included, in order."""
    at = {place: passage for passage, place in places.items()}

    def near(passage: int) -> list[int]:
        file, order, section = places[passage]
        found = [at.get((file, order + n, section)) for n in range(-REACH, REACH + 1)]
        return [other for other in found if other is not None]

    return near


def _sums(
    own: Part, parts: list[Part], near: dict[int, list[int]], places: dict[int, Place],
    ground: Ground,
) -> dict[int, dict[str, float]]:  # fmt: skip
    """The weighted shares of each passage of the pool: own, window, section."""
    section_of = ground.within({places[passage][2] for passage in near})
    section: dict[int, float] = {}
    window = dict.fromkeys(near, 0.0)
    for part in parts:
        best: dict[int, float] = {}
        for passage, share in part.items():
            number = section_of.get(passage)
            if number is not None and share > best.get(number, 0.0):
                best[number] = share
        for number, share in best.items():
            section[number] = section.get(number, 0.0) + share
        share_of = part.get
        for passage, around in near.items():
            window[passage] += max([share_of(n, 0.0) for n in around])
    return {
        passage: {
            "own": OWN * own.get(passage, 0.0), "window": WINDOW * window[passage],
            "section": SECTION * section.get(places[passage][2], 0.0),
        } for passage in near
    }  # fmt: skip


def _add_answers(
    sums: dict[int, dict[str, float]], own: Part, places: dict[int, Place], spots: dict[int, Spot]
) -> None:
    """Whatever a person says after a question gets a share of what the question has."""
    at = {places[passage]: passage for passage in sums}
    for passage, found in sums.items():
        file, order, section = places[passage]
        before = at.get((file, order - 1, section))
        spot = spots[passage]
        if (before is not None and spots[before].asks and spot.opens
                and not is_assistant(spot.speaker)):  # fmt: skip
            found["answers"] = ANSWERS * own.get(before, 0.0)


class Priors:
    """What speaks for a passage whatever words it has, for one question."""

    def __init__(self, question: str, leaning: Leaning) -> None:
        self._question = question
        self._named: dict[str, bool] = {}
        self._of_day: dict[str, float] = {}
        self._quotations = quotations(question)
        self._to_assistant: bool | None = None
        self._leaning = leaning
        self._times = self._spans = None
        if may_name_time(question):
            from agent_memfas.text.asked_times import named_spans, named_times, nearness

            self._nearness = nearness
            self._times = named_times(question)
            self._spans = named_spans(question, leaning.today) if leaning.today else []

    def of(self, spot: Spot) -> dict[str, float]:
        """Name and weight of each that holds."""
        found = {}
        if spot.speaker:
            if self._is_named(spot.speaker):
                found["speaker"] = SPEAKER
            if is_assistant(spot.speaker) and not self._asks_assistant():
                found["assistant"] = ASSISTANT
        if spot.opens:
            found["opens"] = OPENS
        if spot.asks == 2:
            found["asks"] = ASKS
        if (self._times or self._spans) and (near := self._nearness(
            spot.day, self._times or [], self._spans or []
        )):  # fmt: skip
            found["time"] = TIME * near
        if recency := self._recency(spot.day):
            found["recency"] = recency
        if self._quotations and any(q in folded(spot.text) for q in self._quotations):
            found["quoted"] = QUOTED
        return found

    def _recency(self, day: str) -> float:
        weight, today = self._leaning.recency_weight, self._leaning.today
        if not weight or today is None:
            return 0.0
        if day not in self._of_day:
            self._of_day[day] = RECENCY * weight / aging(day, today, weight)
        return self._of_day[day]

    def _is_named(self, speaker: str) -> bool:
        if speaker not in self._named:
            self._named[speaker] = is_named(speaker, self._question)
        return self._named[speaker]

    def _asks_assistant(self) -> bool:
        if self._to_assistant is None:
            from agent_memfas.text.asked_times import asks_assistant

            self._to_assistant = asks_assistant(self._question)
        return self._to_assistant
