"""Comparing versions: what vanished, what comes back, where a line belongs."""

from __future__ import annotations

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from agent_memfas.text.merge import place_in, take_back, vanished

LINES = st.lists(st.sampled_from([b"a\n", b"b\n", b"c\n", b"d\n", b"\n", b"e"]), max_size=12)


@given(LINES, LINES)
def test_taking_back_the_last_change_gives_the_old_text(
    before: list[bytes], after: list[bytes]
) -> None:
    """With nothing changed since, undo is exact."""
    assert take_back(before, after, after) == before


@given(LINES, st.data())
def test_lines_added_since_survive_an_undo(before: list[bytes], data: st.DataObject) -> None:
    """A removal is taken back and what others appended meanwhile stays."""
    kept = [line for line in before if data.draw(st.booleans())]
    current = [*kept, b"added since\n"]
    undone = take_back(before, kept, current)
    assert undone is not None
    assert Counter(undone) == Counter([*before, b"added since\n"])


def test_a_change_that_was_edited_since_is_not_taken_back() -> None:
    """The very line that the pass wrote is different now: nobody can say what is wanted."""
    assert take_back([b"a\n"], [b"A\n"], [b"AA\n"]) is None
    assert take_back([b"a\n", b"b\n"], [b"A\n", b"b\n"], [b"A\n", b"c\n"]) == [b"a\n", b"c\n"]


def test_a_line_that_came_back_by_hand_is_not_doubled() -> None:
    """Undo after somebody pasted the lines back in their place changes nothing."""
    before, after = [b"a\n", b"b\n", b"c\n"], [b"a\n", b"c\n"]
    assert take_back(before, after, before) == before


def test_vanished_lines_are_those_that_nobody_has() -> None:
    """Moved, edited and archived lines have not vanished; dropped ones have."""
    before = [b"- Timezone: US Eastern\n", b"- old entry\n", b"- the door code is 4411\n", b"x\n"]
    after = [b"x\n", b"- Timezone: US Pacific\n"]
    assert vanished(before, after, [b"- old entry\n"]) == [b"- the door code is 4411\n"]
    assert vanished(before, list(reversed(before)), []) == []


def test_a_line_belongs_behind_its_old_neighbour() -> None:
    """The neighbour above counts first, blank lines never; without any neighbour nobody knows."""
    older = [b"# h\n", b"\n", b"- a\n", b"- gone\n", b"- b\n"]
    assert place_in(older, 3, [b"# h\n", b"- new\n", b"- a\n", b"- b\n"]) == 3
    assert place_in(older, 3, [b"- x\n", b"- b\n"]) == 1
    assert place_in(older, 3, [b"\n", b"- z\n"]) is None
