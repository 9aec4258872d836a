"""Size limits: what is measured, and what is advised before a host cuts."""

from __future__ import annotations

from datetime import date

import pytest

from agent_memfas.text.documents import parse
from agent_memfas.text.entries import Terms, entries
from agent_memfas.text.limits import advice, readings

TODAY = date(2026, 3, 1)


def advise(text: str, untagged: tuple[int, ...] = ()) -> str:
    document = parse(text.encode())
    return advice(document, entries(document), untagged, TODAY, Terms())


def test_every_limit_is_measured_in_its_own_unit_and_in_tokens() -> None:
    """Lines count blank ones too; bytes and characters differ for Chinese; tokens stand beside."""
    found = {
        (r.limit.name, r.limit.unit): r for r in readings(parse("中文\n\n- a\n".encode()).lines)
    }
    assert found["memfas", "lines"].size == 3
    assert found["Claude Code", "bytes"].size == 12
    assert found["OpenClaw", "characters"].size == 8
    assert {r.tokens for r in found.values()} == {4}


@pytest.mark.parametrize(("lines", "near", "over"), [(134, False, False), (135, True, False),
                                                    (150, True, False), (151, True, True)])  # fmt: skip
def test_the_warning_comes_before_the_limit(lines: int, near: bool, over: bool) -> None:
    """From nine tenths on it is near; the 150th line still fits, the 151st does not."""
    reading = next(r for r in readings(parse(b"x\n" * lines).lines) if r.limit.name == "memfas")
    assert (reading.near, reading.over) == (near, over)


def test_what_leaves_soonest_is_named_first() -> None:
    """The three entries with the nearest last day, by line."""
    told = advise("- [P1][2026-02-20] a\n- [P2][2026-02-20] b\n- [P0] c\n")
    assert told.index("line 2") < told.index("line 1")
    assert "line 3" not in told


def test_bullets_that_never_leave_are_named_when_they_are_the_most() -> None:
    """With a hundred untagged bullets the few tagged ones are not the cause."""
    assert "from line 2" in advise("- [P1][2026-02-20] a\n- b\n- c\n", untagged=(2, 3))


@pytest.mark.parametrize("text", ["", "# M\n\n- [P0] x\n", "just prose\n", "## A\nx\n## B\ny\nz\n"])
def test_there_is_advice_for_every_file(text: str) -> None:
    """Without dated entries, without sections, without anything: a sentence all the same."""
    assert advise(text).startswith("move ")
