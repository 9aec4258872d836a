"""The level `auto`: chosen by a question's kind and by how what was found falls off, with a reason."""

from __future__ import annotations

import pytest

from agent_memfas.text.choosing import choose_level

ALONE = [0.95, 0.6, 0.5, 0.4]
CROWD = [0.8] * 10
LEVELS = range(1, 6)


def test_one_thing_asked_for_and_found_needs_little() -> None:
    """A question for one fact whose answer stands out is lean, and the reason says so."""
    choice = choose_level("What is the door code?", ALONE)
    assert choice.level == 2
    assert "stands out" in choice.why


def test_a_longer_question_is_given_more() -> None:
    """The same without the form of a question for one fact is balanced."""
    assert choose_level("Why has the team moved its meetings to Friday", ALONE).level == 3


@pytest.mark.parametrize(
    "question",
    ["List all open tasks", "Tell me about alice", "What do we know of acme?", "总结一下项目"],
)
def test_many_things_asked_for_need_much(question: str) -> None:
    """A question for a list or an overview is rich, and full where very many come near."""
    assert choose_level(question, ALONE).level == 4
    assert choose_level(question, [0.8] * 30).level == 5
    assert "several things" in choose_level(question, ALONE).why


def test_where_nothing_stands_out_more_is_given() -> None:
    """Weak hits may hold the answer anywhere among them."""
    choice = choose_level("Where did the cat go?", [0.3, 0.29, 0.28])
    assert choice.level == 4
    assert "0.30" in choice.why


def test_where_many_come_near_the_best_more_is_given() -> None:
    """Ten that are as good as the best are more than balanced holds."""
    choice = choose_level("Where did the cat go?", CROWD)
    assert choice.level == 4
    assert f"{len(CROWD)} come near" in choice.why


def test_without_hits_it_is_the_default() -> None:
    """With nothing found there is nothing to choose by."""
    assert choose_level("anything", []).level == 3
    assert "nothing was found" in choose_level("all of it", []).why


@pytest.mark.parametrize("question", ["", "?", "all", "什么时候", "what is the port of acme"])
@pytest.mark.parametrize("found", [[], [0.0], [1.0], [0.5] * 500])
def test_always_a_level_and_a_reason(question: str, found: list[float]) -> None:
    """Whatever is asked and found: a level there is, and a short reason on one line."""
    choice = choose_level(question, found)
    assert choice.level in LEVELS
    assert choice.why
    assert "\n" not in choice.why
    assert len(choice.why) < 80
