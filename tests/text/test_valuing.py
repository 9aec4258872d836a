"""What a memory is worth for a turn: the formula of the reference, and similarity made comparable."""

from __future__ import annotations

from math import log

import pytest

from agent_memfas.text.valuing import Weights, access, recency, similarity, worth
from agent_memfas.v3 import LEVEL_PRESETS

OLD = 365.0  # days


def value_at(level: int, score: float, topic: float | None = None, age: float = OLD) -> float:
    """What a hit of that score is worth at a level."""
    weights = Weights().with_recency(LEVEL_PRESETS[level].recency_weight)
    return worth(similarity(score), age, 0, topic, weights).value


def passes(level: int, score: float, topic: float | None = None, age: float = OLD) -> bool:
    """Whether such a hit is good enough for a level."""
    return value_at(level, score, topic, age) >= LEVEL_PRESETS[level].min_score


def test_the_formula_of_the_reference() -> None:
    """Each part with its weight: 0.6, 0.2, 0.1, 0.1; recency halves in a week."""
    found = worth(0.5, 7.0, 4, 0.8, Weights())
    expected = 0.6 * 0.5 + 0.2 * 0.5 + 0.1 * log(5) / 5 + 0.1 * 0.8
    assert found.value == pytest.approx(expected)
    assert not found.boosted


def test_what_is_not_known_counts_half() -> None:
    """A memory without a date, and a turn without a topic, get half of these parts."""
    found = worth(0.0, None, 0, None, Weights())
    assert (found.recency, found.topic) == (0.5, 0.5)
    assert found.value == pytest.approx(0.15)


def test_what_was_given_twice_is_worth_more_but_not_over_one() -> None:
    """From the second time on 1.2 times as much, held to 1."""
    once, twice = (worth(0.5, 7.0, n, 0.5, Weights(), included=n) for n in (1, 2))
    plain = worth(0.5, 7.0, 2, 0.5, Weights())
    assert not once.boosted
    assert twice.value == pytest.approx(1.2 * plain.value)
    assert worth(1.0, 0.0, 10**6, 1.0, Weights(), included=9).value == 1.0


@pytest.mark.parametrize(
    ("level", "weights"),
    [
        (1, (0.667, 0.111, 0.111, 0.111)), (2, (0.632, 0.158, 0.105, 0.105)),
        (3, (0.6, 0.2, 0.1, 0.1)), (4, (0.571, 0.238, 0.095, 0.095)),
        (5, (0.545, 0.273, 0.091, 0.091)),
    ],
)  # fmt: skip
def test_weights_of_the_levels(level: int, weights: tuple[float, ...]) -> None:
    """A level's weight of recency replaces the base's, and all add up to 1."""
    found = Weights().with_recency(LEVEL_PRESETS[level].recency_weight)
    assert (found.semantic, found.recency, found.access, found.topic) == pytest.approx(
        weights, abs=6e-4
    )


def test_weights_of_nothing_are_the_default() -> None:
    """Where all four are 0 nothing could be told apart."""
    assert Weights(0, 0, 0, 0).normalised() == Weights()


def test_similarity_rises_with_the_score_from_0_to_1() -> None:
    """It never falls, is 0 for what any passage scores, and 1 for what is more likely than not."""
    found = [similarity(n / 100) for n in range(-5, 120)]
    assert found == sorted(found)
    assert (found[0], similarity(0.04), similarity(0.75), found[-1]) == (0.0, 0.0, 1.0, 1.0)


def test_a_long_question_explains_less_of_a_hit() -> None:
    """For a whole dialogue as a question a hit of half the score is as near; no more than that."""
    assert similarity(0.2, 40) == similarity(0.2, 4000) == similarity(0.4, 12)
    assert similarity(0.2, 20) == similarity(0.2)


@pytest.mark.parametrize(
    ("level", "least"), [(1, None), (2, 0.41), (3, 0.23), (4, 0.12), (5, 0.06)]
)
def test_the_levels_mean_what_they_say(level: int, least: float | None) -> None:
    """What an old memory must score: lean what is evidence one time in six, balanced one in twenty,
    rich one in seventy, full whatever is more than any passage; minimal takes none, unless it is of
    the turn's topic and more likely than not to be evidence.
    """
    if least is None:
        assert not passes(level, 1.0)
        assert passes(level, 0.75, topic=1.0)
        assert not passes(level, 0.5, topic=1.0)
        return
    assert passes(level, least)
    assert not passes(level, 0.8 * least)


def test_what_has_nothing_to_do_with_a_question_needs_the_full_level() -> None:
    """A passage that scores as any does, without a date and off the topic, is for `full` only."""
    assert [passes(level, 0.05, 0.0, None) for level in LEVEL_PRESETS] == [  # type: ignore[arg-type]
        False, False, False, False, True,
    ]  # fmt: skip


def test_recency_and_access_keep_to_their_range() -> None:
    """A day ahead counts as today; a count below 0 as none."""
    assert recency(-30.0) == recency(0.0) == 1.0
    assert access(-3) == 0.0
    assert access(10**9) == 1.0
