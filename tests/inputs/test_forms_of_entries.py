"""Near misses: what is almost an entry stays where it is, and is reported with the right line."""

from __future__ import annotations

import pytest

from .memory import HEAD, TEXT_BEGINS, TODAY, Memory, moves, only_control_leaves

EXPIRED = "- [P1][2020-01-01] text"

# What somebody wrote, and the corrected line, None where nobody can tell what it should be.
NEARLY = [
    ("no-date", "- [P1] text", f"- [P1][{TODAY}] text"),
    ("no-date-p2", "- [P2] text", f"- [P2][{TODAY}] text"),
    ("placeholder", "- [P2][YYYY-MM-DD] text", f"- [P2][{TODAY}] text"),
    ("no-such-day", "- [P2][2026-02-30] text", None),
    ("no-such-month", "- [P2][2020-13-01] text", None),
    ("year-zero", "- [P2][0000-00-00] text", None),
    ("no-leap-year", "- [P2][2025-02-29] text", None),
    ("priority-3", "- [P3][2020-01-01] text", None),
    ("priority-10", "- [P10][2020-01-01] text", None),
    ("priority-minus-1", "- [P-1][2020-01-01] text", None),
    ("small-letter", "- [p1][2020-01-01] text", EXPIRED),
    ("space-between", "- [P1] [2020-01-01] text", EXPIRED),
    ("no-space", "-[P1][2020-01-01] text", EXPIRED),
    ("star", "* [P1][2020-01-01] text", EXPIRED),
    ("plus", "+ [P1][2020-01-01] text", EXPIRED),
    ("numbered", "1. [P1][2020-01-01] text", EXPIRED),
    ("numbered-by-bracket", "1) [P1][2020-01-01] text", EXPIRED),
    ("tab", "-\t[P1][2020-01-01] text", EXPIRED),
    ("two-spaces", "-  [P1][2020-01-01] text", EXPIRED),
    ("spaces-inside", "- [ P1 ][ 2020-01-01 ] text", EXPIRED),
    ("task", "- [ ][P1][2020-01-01] text", "- [P1][2020-01-01] [ ] text"),
    ("task-done", "- [x] [P1][2020-01-01] text", "- [P1][2020-01-01] [x] text"),
    ("bold", "- **[P1]**[2020-01-01] text", EXPIRED),
    ("bold-all", "- **[P1][2020-01-01]** text", EXPIRED),
    ("slashes", "- [P1][2020/01/01] text", EXPIRED),
    ("short", "- [P1][2020-1-1] text", EXPIRED),
    ("dots", "- [P1][01.01.2020] text", EXPIRED),
    ("time", "- [P1][2020-01-01T10:00] text", EXPIRED),
    ("no-hyphens", "- [P1][20200101] text", EXPIRED),
    ("week", "- [P1][2020-W01-3] text", EXPIRED),
    ("fullwidth", "- [P1][２０２０-０１-０１] text", EXPIRED),
    ("arabic", "- [P1][٢٠٢٠-٠١-٠١] text", EXPIRED),
    ("fullwidth-priority", "- [Ｐ1][2020-01-01] text", EXPIRED),
    ("dash-sign", "– [P1][2020-01-01] text", EXPIRED),
    ("no-such-term", "- [P1][2020-01-01][ttl:soon] text", None),
    ("no-such-until", "- [P1][2020-01-01][until:2020-02-30] text", None),
    ("term-of-p0", "- [P0][ttl:1d] text", None),
    ("over-a-year-ahead", "- [P1][2027-03-02] text", None),
    ("far-ahead", "- [P1][9999-12-31] text", None),
]


@pytest.mark.parametrize(
    ("line", "fixed"), [pytest.param(line, fixed, id=name) for name, line, fixed in NEARLY]
)
def test_what_is_nearly_an_entry_stays_and_is_reported(
    memory: Memory, line: str, fixed: str | None
) -> None:
    """Nothing doubtful expires; I am told file, line, what is wrong, and the line that I meant."""
    data = only_control_leaves(memory, line + "\n")
    told = [(n["path"], n["line"], n["fixed"]) for n in data["near_misses"]]
    assert told == [("MEMORY.md", TEXT_BEGINS, fixed)]
    assert data["near_misses"][0]["problem"]


@pytest.mark.parametrize(
    "line",
    [
        "- [P0][2020-01-01] written long ago",
        "- [P0] for ever",
        "- [P1][2026-03-01] of today",
        "- [P1][2026-03-02] of tomorrow, in another time zone",
        "- [P1](https://example.com/2020-01-01) a link",
        "- [P1][ref] a link by reference",
        "- [ ] a task of 2020-01-01",
        "- [2020-01-01] a date alone",
        "P1 2020-01-01 prose",
        "- `[P1][2020-01-01]` is how it is written",
    ],
)
def test_what_is_no_entry_stays(memory: Memory, line: str) -> None:
    """Links, tasks, prose and what never expires stay, every byte of them."""
    only_control_leaves(memory, line + "\n")


def test_the_corrected_line_is_an_entry(memory: Memory) -> None:
    """What is offered as the right line is right: put into the file, it expires on its day."""
    lines = sorted({fixed for _, _, fixed in NEARLY if fixed and TODAY not in fixed})
    text = "".join(f"{line}\n" for line in lines).encode()
    moves(memory, HEAD + text, HEAD, text)


def test_lint_writes_the_lines_that_it_offers(memory: Memory) -> None:
    """`memfas lint --fix` puts every corrected line in place and leaves the rest to me."""
    before = "".join(f"{line}\n\ntext\n\n" for _, line, _ in NEARLY)
    after = "".join(f"{fixed or line}\n\ntext\n\n" for _, line, fixed in NEARLY)
    memory.write("MEMORY.md", HEAD + before.encode())
    assert memory.run("lint", "MEMORY.md").status == 1
    assert memory.read() == HEAD + before.encode()
    memory.run("lint", "--fix", "--today", TODAY, "MEMORY.md")
    assert memory.read().decode() == HEAD.decode() + after


def test_untagged_bullets_are_pointed_out(memory: Memory) -> None:
    """The janitor tells which bullets have no tag at all: they never expire."""
    data = only_control_leaves(memory, "- no tag\n\nprose\n\n- none either\n  - nested\n")
    assert data["untagged"] == {"MEMORY.md": [TEXT_BEGINS, TEXT_BEGINS + 4]}
