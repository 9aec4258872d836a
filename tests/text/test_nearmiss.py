"""Near misses: what is reported, what is proposed, and what is left in peace."""

from __future__ import annotations

from datetime import date

import pytest

from agent_memfas.text.documents import parse
from agent_memfas.text.nearmiss import near_misses, read_date

TODAY = date(2026, 3, 1)


def fixes(text: str) -> list[tuple[int, str | None]]:
    return [(miss.line, miss.fixed) for miss in near_misses(parse(text.encode()), TODAY)]


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("2026/02/24", date(2026, 2, 24)),
        ("2026.2.4", date(2026, 2, 4)),
        ("24.02.2026", date(2026, 2, 24)),
        ("2026-02-24T10:00", date(2026, 2, 24)),
        ("20260224", date(2026, 2, 24)),
        ("2026-W09-2", date(2026, 2, 24)),
        ("2026年2月24日", date(2026, 2, 24)),
        ("２０２６-０２-２４", date(2026, 2, 24)),
        ("٢٠٢٦-٠٢-٢٤", date(2026, 2, 24)),
        ("2026-02-30", None),
        ("2025-02-29", None),
        ("0000-00-00", None),
        ("02/03/2026", None),
        ("soon", None),
    ],
)
def test_dates_are_understood_only_beyond_doubt(written: str, meant: date | None) -> None:
    """A date in another notation is proposed in ours; 02/03/2026 may be March or February."""
    assert read_date(written) == meant


@pytest.mark.parametrize(
    ("line", "fixed"),
    [
        ("+ [P2][2026-02-24] x", "- [P2][2026-02-24] x"),
        ("-\t[P2][2026-02-24] x", "- [P2][2026-02-24] x"),
        ("- [P1][2026/02/24] x", "- [P1][2026-02-24] x"),
        ("- [P1] [2026-2-4] x", "- [P1][2026-02-04] x"),
        ("- [x] [P2][2026-02-24] done", "- [P2][2026-02-24] [x] done"),
        ("- [P2][YYYY-MM-DD] from the template", "- [P2][2026-03-01] from the template"),
        ("- __[P1][2026-02-24]__ x", "- [P1][2026-02-24] x"),
        ("- [P 1][2026-02-24] x", "- [P1][2026-02-24] x"),
        ("[P1][2026-02-24] x", "- [P1][2026-02-24] x"),
        ("• [P1][2026-02-24] x", "- [P1][2026-02-24] x"),
        ("- [Ｐ1][2026-02-24] x", "- [P1][2026-02-24] x"),
        ("- [P1][2026-02-24]\u00a0[ttl:nope] x", None),
        ("- [P10][2026-02-24] x", None),
        ("- [P-1][2026-02-24] x", None),
        ("- [P0][ttl:3d] x", None),
        ("- [P1][2026-02-24][TTL:3d] x", None),
    ],
)
def test_a_near_miss_is_named_with_its_line_and_its_correction(
    line: str, fixed: str | None
) -> None:
    """Each is reported once, at its line, and corrected where only one thing can be meant."""
    assert fixes(f"# Head\n\n{line}\n") == [(2, fixed)]


@pytest.mark.parametrize(
    "text",
    [
        "- plain bullet\n",
        "- [link](https://example.com) text\n",
        "- [PDF] a scan, [Pat] a name, [P] a letter\n",
        "## Temp Notes [P2]\n",
        "[P1] means it expires after 90 days.\n",
        "- [P0] Timezone: [P1] is not for it\n",
        "- [P1][2026-02-24][superseded:2026-02-28] old\n",
        "- [P1][2026-03-02] written east of here, where it is tomorrow\n",
        "```\n- [p1] example\n```\n",
        "<!-- - [P1][YYYY-MM-DD] example -->\n",
        "> * [P1] quoted\n",
        "- [P1][2026-02-24] one\n  - [P2][2026-02-24] inside\n",
    ],
)
def test_what_is_right_or_something_else_is_left_in_peace(text: str) -> None:
    """Prose, links, headings, examples and sound entries are nobody's mistake."""
    assert fixes(text) == []


def test_open_marks_are_reported_where_they_open() -> None:
    """A fence or a comment that is never closed hides everything after it: its line is named."""
    for text, word in [("a\n```\n- [P1][2020-01-01] x\n", "fence"), ("a <!-- b\n", "comment")]:
        (miss,) = near_misses(parse(text.encode()), TODAY)
        assert word in miss.problem
        assert "never closed" in miss.problem
        assert f"line {miss.line + 1}" in miss.problem


def test_the_child_that_keeps_an_entry_is_told() -> None:
    """A P0 bullet under a P1 entry makes it immortal, and a tag under a plain bullet is alone."""
    (miss,) = near_misses(parse(b"- [P1][2026-02-24] a\n  - [P0] b\n"), TODAY)
    assert (miss.line, "line 2" in miss.problem) == (0, True)
    (miss,) = near_misses(parse(b"- a\n  - [P1][2026-02-24] b\n"), TODAY)
    assert (miss.line, miss.fixed) == (1, None)


def test_correcting_keeps_the_indentation() -> None:
    """A nested near miss is corrected where it stands."""
    assert fixes("- [P1][2026-02-24] a\n  * [P2][2026-02-24] b\n") == [
        (1, "  - [P2][2026-02-24] b")
    ]
