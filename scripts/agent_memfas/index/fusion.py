"""Words and vectors in one score: pure functions.

A cosine means nothing by itself: its ordinary size and its spread differ by model, by script and by
question. So it is measured in spreads above the ordinary, and added to what the words say;
calibrated sums beat fusion of ranks (Bruch, Gai and Ingber, "An Analysis of Fusion Functions for
Hybrid Retrieval", 2023; on LoCoMo by 4 to 10 points of MRR).

Fitted on LoCoMo, BEAM and MADial-zh each, and flat around these values: from .3 to 1.1 WEIGHT
changes E@1000 of locomo-dev between 88.2 and 88.9.
"""

from __future__ import annotations

from math import exp, sqrt

from agent_memfas.index import weights
from agent_memfas.text.record import Record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

SPREADS = 5.0  # about where half of the passages are evidence, with every model
SHORT, LONGEST = (
    180,
    360,
)  # characters: a passage up to SHORT takes all of it, one of LONGEST none
FOREIGN = 0.3  # of the nearness of a passage in another script than the question's
LEAST = 0.3  # sum of the words below which they are not blown up further
SHRINK = 30  # cosines that a model's own measure counts for against those of the store
_CURVES = {"fts5": (3.4, 1.7), "embedding": (3.3, 1.9), "hybrid": (2.7, 2.3)}
_NAMED = (16.0, 0.2)


class Measure(Record):
    """A model in one kind of script. ordinary, spread: of the cosines of questions with answers to
    others. trust, 0 to 1: how well the right answers stand out; 0 where it cannot read the script.
    """

    ordinary: float
    spread: float
    trust: float


def measure(questions: Sequence[Sequence[float]], answers: Sequence[Sequence[float]]) -> Measure:
    """What a model makes of pairs of questions and their answers; vectors of length 1."""
    n = len(questions)
    cosines = [[sum(a * b for a, b in zip(q, v, strict=True)) for v in answers] for q in questions]
    wrong = [cosines[i][j] for i in range(n) for j in range(n) if i != j]
    ordinary = sum(wrong) / len(wrong)
    spread = max(sqrt(sum((c - ordinary) ** 2 for c in wrong) / len(wrong)), 1e-3)
    right = sum(cosines[i][i] for i in range(n)) / n
    return Measure(ordinary, spread, min(max(((right - ordinary) / spread - 1.2) / 1.8, 0.0), 1.0))


def is_latin(text: str) -> bool:
    """Whether at least half of its letters are of the Latin script."""
    if text.isascii():
        return True
    letters = [c for c in text if c.isalpha()]
    return sum(c < "\u0250" for c in letters) * 2 >= len(letters)


def standard(count: int, mean: float, spread: float, model: Measure) -> tuple[float, float]:
    """(ordinary cosine, spread) for one question. count, mean, spread: of its cosines with all
    passages of the store.

    In a large store these are the question's own, in one of three notes the model's; the spread is
    never below the model's, so that a question to which nothing answers is not blown up.
    """
    n = count + SHRINK
    ordinary = (count * mean + SHRINK * model.ordinary) / n
    variance = (count * (spread**2 + (mean - ordinary) ** 2) + SHRINK * model.spread**2) / n
    return ordinary, max(sqrt(variance), model.spread)


def room_for_neighbours(length: int) -> float:
    """How much of what its neighbours stand above the ordinary a passage of so many characters
    takes: short turns say little alone. How near a passage is in all: its cosine in spreads above
    the ordinary, as a part of SPREADS, and so much of those of the passages before and after it in
    its section; where there is none it counts itself, so that a lone note stands no worse.
    """
    return weights.NEIGHBOURS * min(max((LONGEST - length) / (LONGEST - SHORT), 0.0), 1.0)


def lexical_divisor(top: float) -> float:
    """What sums of words are divided by: the root of their best, so that they count the less the
    less of the question they explain."""
    return sqrt(max(top, LEAST) / 2)


def shown(score: float, kind: str) -> float:
    """0 to 1 for a sum: the root of the share of such hits that are evidence (.3: one in ten, .5:
    one in four, .7: half), measured on the three data sets. It rises with the sum.

    kind: what there was to go by: fts5, embedding or hybrid.
    """
    slope, half = _CURVES[kind]
    power = min(-slope * (score - half), 700.0)
    return sqrt(1 / (1 + exp(power)))


def named(share: float) -> float:
    """0 to 1 for the line of an overview that holds so much of the words of a question: how many
    such lines name a file with evidence, measured as above; not its root, for to be sent to a file
    is worth less than to be shown the line.
    """
    slope, half = _NAMED
    return 1 / (1 + exp(-slope * (share - half)))
