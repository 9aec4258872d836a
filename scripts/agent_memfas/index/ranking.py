"""Ranking: what BM25 says of a passage, of those around it and of its section, what a model says of
its meaning, and what is known of it besides. Pure functions; the index and the bare files both
rank by them.

Of words every passage gets a sum of shares of what an ideal passage would have (see `postings`):

    L = OWN own + WINDOW window + SECTION section + ANSWERS own of the question before it

window: the sum over the terms of the best share within REACH passages of its section; section: the
same within the whole section. Where there are vectors, their nearness is added (see `fusion`). The
rest are priors, parts of the best sum of the pool, so that they mean the same for three passages as
for thousands, for two words as for two hundred:

    sum = base + max(base) * priors that hold,   base = L / sqrt(max(L) / 2) + MEANING * nearness

The weights, and what each is worth, are in `weights`.
"""

from __future__ import annotations

from collections import namedtuple

from agent_memfas.index import fusion, weights
from agent_memfas.index.postings import summed, whole
from agent_memfas.index.priors import PLAIN, Leaning, Priors
from agent_memfas.text.asked import is_assistant, is_lookup
from agent_memfas.text.record import Record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping
    from typing import NamedTuple, Protocol

    Part = dict[int, float]  # passage -> share of one term
    Place = tuple[int, int, int]  # file, order among the passages of the file, section

    class Ground(Protocol):
        """What the passages of a folder look like to a ranking."""

        def around(self, passages: Collection[int], reach: int) -> dict[int, Place]:
            """Where these passages stand, and those within reach of them in their files."""

        def spots(self, passages: Collection[int], *, texts: bool) -> dict[int, Spot]:
            """What is known of these; their texts are "" where they are not asked for."""

        def within(self, sections: Collection[int]) -> dict[int, int]:
            """Every passage of these sections, with its section."""


POOL = 100  # passages with the best shares of their own; those around them come on top
REACH = 2  # passages before and behind, in the same section
_REACHED = range(-REACH, REACH + 1)


if TYPE_CHECKING:

    class Spot(NamedTuple):
        """What is known of a passage. path: of its file. opens: it is the first piece of its bullet
        or paragraph. asks: see speakers.asks. superseded: a day, or "". text: see Ground.spots.
        """

        path: str
        order: int
        speaker: str
        opens: int
        asks: int
        day: str
        superseded: str
        text: str

    class Ranked(NamedTuple):
        """A passage of the pool. total: its sum. base: what words and meaning give to it, in the
        order of PARTS; priors: what is known besides, as parts of the best base.
        """

        passage: int
        total: float
        base: list[float]
        priors: dict[str, float]

else:  # hundreds of each are made for a question
    Spot = namedtuple("Spot", "path order speaker opens asks day superseded text")
    Ranked = namedtuple("Ranked", "passage total base priors")
PARTS = ("own", "window", "section", "answers", "meaning")


class Order(Record):
    """The pool, best first. top: its best base. divisor: of words. kind: see fusion.shown."""

    pool: list[Ranked]
    top: float
    divisor: float
    kind: str

    def score(self, ranked: Ranked) -> float:
        """0 to 1."""
        return fusion.shown(ranked.total, self.kind)

    def parts(self, ranked: Ranked) -> dict[str, float]:
        """What each feature has given to the sum."""
        given = {name: part for name, part in zip(PARTS, ranked.base, strict=True) if part}
        plain = sum(ranked.base) + self.top * sum(ranked.priors.values())
        share = ranked.total / plain if plain else 1.0
        given.update((name, self.top * weight) for name, weight in ranked.priors.items())
        return {name: part * share for name, part in given.items()}

    def score_of(self, share: float) -> float:
        """What a passage by itself, with that share of words, scores."""
        return fusion.shown(weights.FULL * share / self.divisor, self.kind)


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
    nearest = cosines.nearest if cosines else []
    places = ground.around([*best, *nearest], 2 * REACH)
    at = {place: passage for passage, place in places.items()}
    pool = dict.fromkeys(other for passage in best for other in _near(passage, places, at))
    if is_lookup(question):
        pool = {passage: None for passage in pool if passage in own}
    pool.update(dict.fromkeys(nearest))
    priors = Priors(question, leaning)
    spots = ground.spots(pool, texts=cosines is not None or priors.need_texts)
    sums = _sums(own, parts, pool, places, at, ground)
    _add_answers(sums, own, places, at, spots)
    divisor = fusion.lexical_divisor(max(map(sum, sums.values()), default=0.0))
    base = {passage: [part / divisor for part in found] for passage, found in sums.items()}
    kind = "fts5"
    if cosines is not None and cosines.trust:
        kind = "embedding" if cosines.alone else "hybrid"
        _add_nearness(base, cosines, places, at, spots)
    top = max(max(map(sum, base.values()), default=0.0), 0.0)
    ranked = [
        _scored(passage, found, priors, top, spots[passage]) for passage, found in base.items()
    ]
    ranked.sort(key=lambda r: _order(r, spots[r.passage], r.passage in full))
    return Order(ranked, top, divisor, kind)


def _order(ranked: Ranked, spot: Spot, has_all: bool) -> tuple[bool, float, str, int]:
    first = has_all and not spot.superseded
    return not first, -round(ranked.total, 9), spot.path, spot.order


def _scored(passage: int, base: list[float], priors: Priors, top: float, spot: Spot) -> Ranked:
    found = priors.of(spot)
    total = sum(base) + top * sum(found.values())
    return Ranked(passage, total * weights.SUPERSEDED if spot.superseded else total, base, found)


def _near(passage: int, places: dict[int, Place], at: dict[Place, int]) -> list[int]:
    """Those within reach in its section, itself included, in order."""
    file, order, section = places[passage]
    found = [at.get((file, order + n, section)) for n in _REACHED]
    return [other for other in found if other is not None]


def _sums(
    own: Part, parts: list[Part], pool: Collection[int], places: dict[int, Place],
    at: dict[Place, int], ground: Ground,
) -> dict[int, list[float]]:  # fmt: skip
    """The weighted shares of each passage of the pool, in the order of PARTS."""
    section_of = ground.within({places[passage][2] for passage in pool})
    section = _best_of_groups(parts, lambda n: (section_of[n],), section_of)
    reached: dict[int, list[int]] = {}

    def around(passage: int) -> list[int]:
        found = reached.get(passage)
        if found is None:
            found = reached[passage] = _near(passage, places, at)
        return found

    window = _best_of_groups(parts, around, places)
    return {
        passage: [weights.OWN * own.get(passage, 0.0), weights.WINDOW * window.get(passage, 0.0),
                  weights.SECTION * section.get(places[passage][2], 0.0), 0.0, 0.0]
        for passage in pool
    }  # fmt: skip


def _best_of_groups(
    parts: list[Part], groups_of: Callable[[int], Iterable[int]], known: Mapping[int, object]
) -> dict[int, float]:
    """For each group of passages the sum over the terms of the best share in it. groups_of: those
    that a passage is in, of passages that are known."""
    total: dict[int, float] = {}
    for part in parts:
        best: dict[int, float] = {}
        for passage in part.keys() & known.keys():
            share = part[passage]
            for group in groups_of(passage):
                if share > best.get(group, 0.0):
                    best[group] = share
        for group, share in best.items():
            total[group] = total.get(group, 0.0) + share
    return total


def _add_answers(
    sums: dict[int, list[float]], own: Part, places: dict[int, Place], at: dict[Place, int],
    spots: dict[int, Spot],
) -> None:  # fmt: skip
    """Whatever a person says after a question gets a share of what the question has."""
    for passage in sums:
        if not spots[passage].asks:
            continue
        file, order, section = places[passage]
        answer = at.get((file, order + 1, section))
        spot = spots.get(answer) if answer is not None else None
        if answer in sums and spot and spot.opens and not is_assistant(spot.speaker):
            sums[answer][3] = weights.ANSWERS * own.get(passage, 0.0)


def _add_nearness(
    base: dict[int, list[float]], cosines: Cosines, places: dict[int, Place],
    at: dict[Place, int], spots: dict[int, Spot],
) -> None:  # fmt: skip
    """What the vectors say; a passage that has none yet is taken for an ordinary one."""
    unit, ordinary, of = fusion.SPREADS * cosines.spread, cosines.ordinary, cosines.of
    weight = 1.0 if cosines.alone else weights.MEANING * cosines.trust
    for passage, found in base.items():
        cosine = of(passage)
        if cosine is None:
            continue
        text = spots[passage].text
        share = 1.0 if fusion.is_latin(text) == cosines.latin else fusion.FOREIGN
        own, beside = (cosine - ordinary) / unit * share, 0.0
        room = fusion.room_for_neighbours(len(text))
        if room:
            file, order, section = places[passage]
            for n in (-1, 1):
                other = at.get((file, order + n, section))
                cosine = None if other is None else of(other)
                there = own if cosine is None else (cosine - ordinary) / unit * share
                beside += max(there, 0.0)
        found[4] = weight * (own + room * beside)
