"""Citations: a quotation stands where its words stand, and nowhere else."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_memfas.text.citations import (
    Citation,
    Quotable,
    cited_at_end,
    read_citation,
    words_of,
)

LOG = [
    "# 2026-02-24",
    "",
    "- Alice said the **deadline** moves to Friday,",
    "  because the client asked for it",
    "- done",
    "- Alice said the deadline moves to Monday",
    "- 部署后检查了服务器日志,一切正常",
]


@pytest.mark.parametrize(
    ("quote", "lines"),
    [
        ("the deadline moves to Friday", [(3, 3)]),
        ("THE DEADLINE moves to friday!", [(3, 3)]),
        ("moves to Friday because the client", [(3, 4)]),
        ("Alice said the deadline moves to", [(3, 3), (6, 6)]),
        ("检查了服务器日志", [(7, 7)]),
        ("done", [(5, 5)]),  # all that its line says
    ],
)
def test_a_quotation_is_found_whatever_its_dress(quote: str, lines: list[tuple[int, int]]) -> None:
    """Capitals, markup, punctuation and line breaks do not matter; it is found at each place."""
    assert Quotable(LOG).find(quote) == lines


@pytest.mark.parametrize(
    "quote",
    [
        "", "the", "to", "。", "Alice", "deadline moves Friday", "the dead", "line moves to Friday",
        "the deadline moves to Tuesday", "moves to Friday done", "日志",
    ],
)  # fmt: skip
def test_what_proves_nothing_is_not_found(quote: str) -> None:
    """Parts of words, single words and words in another order are no evidence."""
    assert Quotable(LOG).find(quote) == []


def test_of_several_places_the_nearest_is_meant() -> None:
    """A quotation that stands twice is taken where the citation says, or nearest to it."""
    log = Quotable(LOG)
    assert log.place("Alice said the deadline", 6, 6) == (6, 6)
    assert log.place("Alice said the deadline", 1, 2) == (3, 3)
    assert log.place("no such words here", 1, 9) is None
    assert not log.stands("Alice said the deadline moves to Monday", 3, 4)


def test_the_last_citations_of_a_line_count() -> None:
    """A line may speak of citations; those at its end are its own, and the rest stays behind."""
    line = "- as in (a.md#L1-L2) it went on (memory/b.md#L3-L4; memory/c.md#L5) <!-- x -->"
    assert cited_at_end(line) == (
        "- as in (a.md#L1-L2) it went on",
        (Citation("memory/b.md", 3, 4), Citation("memory/c.md", 5, 5)),
        " <!-- x -->",
    )
    assert cited_at_end("- nothing (is cited) here") is None
    assert cited_at_end("- backwards (memory/b.md#L4-L3)") is None
    assert read_citation("memory/b.md#L0-L3") is None


@given(st.lists(st.text(max_size=40), max_size=8), st.data())
def test_whatever_a_file_says_can_be_quoted(lines: list[str], data: st.DataObject) -> None:
    """Any run of whole lines that has words enough is found on exactly these lines (at least)."""
    log = Quotable(lines)
    first = data.draw(st.integers(0, max(0, len(lines) - 1)))
    last = data.draw(st.integers(first, max(first, len(lines) - 1)))
    quote = "\n".join(lines[first : last + 1])
    found = log.find(quote)
    assert not found or words_of(quote)
    for start, end in found:
        there = words_of("\n".join(lines[start - 1 : end]))
        assert " ".join(words_of(quote)) in " ".join(there)
    if len(words_of(quote)) > 8:
        assert any(first + 1 <= start and end <= last + 1 for start, end in found)
