"""The entry grammar: the examples of its specification, and its borders."""

from __future__ import annotations

import re
from datetime import date

import pytest

from agent_memfas.text.documents import parse
from agent_memfas.text.entries import SPEC, Entry, Terms, entries
from agent_memfas.text.nearmiss import near_misses

TODAY = date(2026, 3, 1)
EXAMPLES = [
    match.groups()
    for line in SPEC.split("\n")
    if (match := re.fullmatch(r" {4}(\S.*?) +-> (.*)", line))
]


def read(text: str) -> list[Entry]:
    return entries(parse(text.encode()))


@pytest.mark.parametrize(("line", "meaning"), EXAMPLES)
def test_each_example_of_the_specification_means_what_it_says(line: str, meaning: str) -> None:
    """The specification is documentation that fails the build when it lies."""
    document = parse(f"{line}\n".encode())
    misses = near_misses(document, TODAY)
    if meaning.startswith("near miss"):
        _, _, fixed = meaning.partition(": ")
        assert [miss.fixed for miss in misses] == [fixed or None]
        assert not any(e.leaves(date(2200, 1, 1), Terms()) for e in entries(document)) or (
            "2030" in line
        )
        return
    (entry,) = entries(document)
    last = entry.tag.last_day(Terms())
    kept = f"kept through {last}" if last else "never expires"
    assert f"{entry.tag.priority}, {kept}" == meaning
    assert misses == []
    if last:
        assert not entry.leaves(last, Terms())
        assert entry.leaves(date.fromordinal(last.toordinal() + 1), Terms())


def test_there_are_examples() -> None:
    """The specification's examples are found at all, good ones and near misses."""
    assert len(EXAMPLES) > 15


@pytest.mark.parametrize("line", [m for m, meaning in EXAMPLES if "near miss: " in meaning])
def test_a_corrected_line_is_right(line: str) -> None:
    """What lint proposes is itself of the exact form: there is nothing left to correct."""
    (miss,) = near_misses(parse(f"{line}\n".encode()), TODAY)
    assert miss.fixed is not None
    assert near_misses(parse(f"{miss.fixed}\n".encode()), TODAY) == []
    (entry,) = read(miss.fixed)
    assert entry.tag.date is not None


def test_an_entry_is_everything_indented_under_it() -> None:
    """Continuation lines, nested bullets, fences and the blank lines between belong to it."""
    text = (
        "- [P1][2026-01-01] head\n  more\n\n  para\n  - child\n    - grandchild\n\n"
        "  ```\n  - [P2][2020-01-01] in a fence\n  ```\n\n- [P0] next\n"
    )
    first, second = read(text)
    assert (first.start, first.end, second.start) == (0, 10, 11)
    assert (first.nested, first.doubtful) == ((), ())


def test_prose_under_an_entry_that_is_not_indented_stays_outside() -> None:
    """CommonMark would take it into the bullet; the person who wrote it did not mean that."""
    (entry,) = read("- [P1][2026-01-01] head\n  its own\nprose\n  more prose\n")
    assert (entry.start, entry.end) == (0, 2)


@pytest.mark.parametrize(
    "text",
    [
        "```\n- [P1][2020-01-01] x\n```\n",
        "````\n```\n- [P1][2020-01-01] x\n````\n",
        "~~~\n- [P1][2020-01-01] x\n```\n",
        "    - [P1][2020-01-01] x\n",
        "<!--\n- [P1][2020-01-01] x\n-->\n",
        "<!-- - [P1][2020-01-01] x -->\n",
        "prose <!-- begins\n\n- [P1][2020-01-01] x\n\nends --> here\n",
        "<pre>\n- [P1][2020-01-01] x\n</pre>\n",
        "<details>\n\n- [P1][2020-01-01] x\n\n</details>\n",
        "<details>\n\n- [P1][2020-01-01] x\n",
        "> - [P1][2020-01-01] x\n",
        "---\ntitle: x\nlist:\n- [P1][2020-01-01] x\n---\n",
        "- plain\n  - [P1][2020-01-01] x\n",
        "1. numbered\n   - [P1][2020-01-01] x\n",
        "- [P1](2020-01-01) x\n",
    ],
)
def test_examples_and_comments_hold_no_entries(text: str) -> None:
    """Nothing in code, comments, quotes, front matter or below another bullet is an entry."""
    assert read(text) == []


@pytest.mark.parametrize(
    "text",
    [
        "---\n- [P1][2020-01-01] x\n",
        "---\n\n- [P1][2020-01-01] x\n\n---\n",
        "`<!--` is how a comment starts\n\n- [P1][2020-01-01] x\n",
        "\ufeff- [P1][2020-01-01] x\n",
        "prose\n- [P1][2020-01-01] x\n",
        "- [P1][2020-01-01] x <!-- trigger: a\n  b -->\n",
        "```\ncode\n```\n- [P1][2020-01-01] x\n",
        "   - [P1][2020-01-01] x\n",
    ],
)
def test_entries_are_found_where_they_are(text: str) -> None:
    """A rule as the first line, a BOM, a code span, a comment of its own hide no entry."""
    (entry,) = read(text)
    assert entry.leaves(TODAY, Terms())


def test_a_living_child_keeps_its_parent() -> None:
    """An expired entry with a P0 or a fresh bullet inside stays whole; an expired one does not
    keep it, and one that is almost a tag does.
    """
    for child, kept in [
        ("- [P0] never", True),
        ("- [P2][2026-02-28] fresh", True),
        ("- [P2][2020-01-01] over", False),
        ("* [P1] doubtful", True),
    ]:
        (entry,) = read(f"- [P1][2020-01-01] old\n  {child}\n")
        assert entry.leaves(TODAY, Terms()) is not kept


def test_comments_of_an_entry_carry_its_metadata() -> None:
    """Trigger, importance and source are read, and are no part of the text."""
    (entry,) = read(
        "- [P0] Acme ships in Q2 <!-- trigger: acme, ship date --> <!-- importance: 8 -->\n"
        "  <!-- source: memory/2026-02-24.md#L3-L9 by scout -->\n"
    )
    assert entry.text == "Acme ships in Q2"
    assert entry.triggers == ("acme", "ship date")
    assert (entry.importance, entry.source) == (8, "memory/2026-02-24.md#L3-L9 by scout")


@pytest.mark.parametrize("days", [0, 1, 36500])
def test_terms_are_counted_in_days(days: int) -> None:
    """A term of so many days keeps the entry through that day, also when it is none."""
    (entry,) = read("- [P1][2026-02-01] x\n")
    last = date.fromordinal(date(2026, 2, 1).toordinal() + days)
    assert entry.tag.last_day(Terms(p1=days)) == last


@pytest.mark.parametrize("written", ["9999-12-31", "0001-01-01", "2024-02-29"])
def test_dates_at_the_ends_of_the_calendar_do_no_harm(written: str) -> None:
    """The last day of the calendar never expires, the first long has, a leap day counts days."""
    (entry,) = read(f"- [P2][{written}] x\n")
    assert entry.leaves(date(2026, 3, 1), Terms()) is (written != "9999-12-31")
