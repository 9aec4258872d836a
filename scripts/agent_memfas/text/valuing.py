"""What a memory is worth for a turn: the formula of agent-memfas 0.3, similarity made comparable.

value = w_sem * similarity + w_rec * 0.5^(age in days / 7) + w_acc * min(ln(1 + accesses) / 5, 1)
+ w_top * topic; 1.2 times that where the memory was included twice or more in this session.
(agent_memfas.v3, README and source of 0.4.0; REFERENCE, "v3 scoring".)
"""

from __future__ import annotations

from dataclasses import dataclass
from math import log

HALF_LIFE = 7.0  # days
UNDATED = 0.5  # recency of what has no date
NO_TOPIC = 0.5
BOOST, BOOSTED_FROM = 1.2, 2
FULL_ACCESS = 5.0
CHANCE, SURE = 0.04, 0.75  # scores: one in 600, one in two
LONG, MOST_LIFT = 20, 2.0


@dataclass(frozen=True)
class Weights:
    """What each part counts; they add up to 1."""

    semantic: float = 0.6
    recency: float = 0.2
    access: float = 0.1
    topic: float = 0.1

    def with_recency(self, recency: float) -> Weights:
        """The same with another weight of recency, all scaled to the sum of 1."""
        return Weights(self.semantic, recency, self.access, self.topic).normalised()

    def normalised(self) -> Weights:
        """Scaled to the sum of 1; the default where all are 0."""
        total = self.semantic + self.recency + self.access + self.topic
        if total <= 0:
            return Weights()
        return Weights(self.semantic / total, self.recency / total, self.access / total,
                       self.topic / total)  # fmt: skip


@dataclass(frozen=True)
class Worth:
    """A value with its parts, each before its weight. boosted: whether the session has had it."""

    value: float
    semantic: float
    recency: float
    access: float
    topic: float
    boosted: bool

    def as_dict(self) -> dict[str, float]:
        """The parts as the reference names them, in `breakdown`."""
        return {"semantic": self.semantic, "recency": self.recency, "access": self.access,
                "topic": self.topic, "boosted": float(self.boosted)}  # fmt: skip


def similarity(score: float, length: int = 0) -> float:
    """0 to 1 for the score of a hit of recall, which is the root of the chance that it is evidence.

    The levels' thresholds were made for cosines, where 0.4 is "related" and 0.75 "nearly the
    same". The logarithm of the chance, from that of any passage (CHANCE) up to a good half (SURE),
    makes them mean what they say for a memory that is weeks old: balanced (needs 0.58) takes what
    is evidence once in twenty times or more, lean (0.79) once in six, minimal, where the topic is
    the same, one in two (0.96).

    length: terms of the question. Whole dialogues (MADial-zh) are explained by no passage: with
    four times the words of a question a hit of half the score is evidence as often.
    """
    lifted = score * min(max(length / LONG, 1.0), MOST_LIFT)
    return float(max(0.0, min(1.0, log(max(lifted, CHANCE) / CHANCE) / log(SURE / CHANCE))))


def recency(age_days: float | None) -> float:
    """0.5^(age / 7 days); UNDATED for None. What lies ahead counts as of today."""
    return UNDATED if age_days is None else 0.5 ** (max(0.0, age_days) / HALF_LIFE)


def access(count: int) -> float:
    """min(ln(1 + count) / 5, 1)."""
    return min(log(1 + max(0, count)) / FULL_ACCESS, 1.0)


def worth(
    semantic: float, age_days: float | None, accesses: int, topic: float | None, weights: Weights,
    *, included: int = 0,
) -> Worth:  # fmt: skip
    """The value of a memory. topic: 0 to 1, None without one. included: how often this session has
    been given it. The value is held to 1.
    """
    parts = (semantic, recency(age_days), access(accesses), NO_TOPIC if topic is None else topic)
    total = (
        weights.semantic * parts[0] + weights.recency * parts[1] + weights.access * parts[2]
        + weights.topic * parts[3]
    )  # fmt: skip
    boosted = included >= BOOSTED_FROM
    return Worth(min(1.0, total * BOOST) if boosted else total, *parts, boosted)
