"""Which relative targets a document names, and on which line."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_memfas.text.documents import parse
from agent_memfas.text.links import links


def targets(text: str) -> list[tuple[int, str]]:
    return [(link.line + 1, link.target) for link in links(parse(text.encode()))]


def test_links_images_hints_and_sources_are_found_on_their_lines() -> None:
    """Each place where my notes point to another file is known by its own line, also inside an entry
    of several lines.
    """
    text = """# Log of [today](memory/2026-02-24.md)

- [P1][2026-02-24] decided with Alice,
  see [the log](memory/2026-02-24.md#L3) and
  ![the plan](pictures/the%20plan.png "drawn")
  <!-- source: memory/2026-02-24.md#L3-L9 by scout -->
> - quoted -> memory/2026-02-25.md#L12.
- by name: [plan][p]

[p]: <plans/next year.md>

<!-- source: a.md#L1, b/c.md:4-7 by scout -->
"""
    assert targets(text) == [
        (1, "memory/2026-02-24.md"),
        (4, "memory/2026-02-24.md#L3"),
        (5, "pictures/the plan.png"),
        (6, "memory/2026-02-24.md#L3-L9"),
        (7, "memory/2026-02-25.md#L12"),
        (8, "plans/next year.md"),
        (12, "a.md#L1"),
        (12, "b/c.md:4-7"),
    ]


@pytest.mark.parametrize(
    "text",
    [
        "[a](https://example.com/x.md) <https://example.com> [m](mailto:a@example.com)",
        "[top](#top) [file](/etc/hosts) [home](~/notes.md) [drive](C:\\\\notes.md)",
        "`[code](x.md)` and ``-> memory/x.md#L1``",
        "```\n[fenced](x.md)\n-> memory/x.md#L1\n```",
        "text\n\n    [indented](x.md)",
        "<!-- [in a comment](x.md) -->",
        "---\nlink: '[front](matter.md)'\n---\n",
        "\\[escaped](x.md)",
        "- alice -> Project manager\n- a.txt -> b.md\n- x -> y.z",
        "-> memory/YYYY-MM-DD.md and [template](memory/{date}.md)",
        "<!-- source: a chat with Alice by scout --> <!-- trigger: a, b -->",
        "- [P1][2026-02-24] no link (at all) [x] [y]",
    ],
)
def test_what_is_no_relative_link_is_left_out(text: str) -> None:
    """URLs, addresses, anchors, absolute paths, code, comments, examples and arrows in prose are not
    looked up in my folder.
    """
    assert targets(text) == []


def test_a_target_tells_its_file_and_the_last_line_it_names() -> None:
    """`#L12`, `#L3-L9` and `:4-7` name lines; an anchor or a question mark does not."""
    text = "[a](x.md#L12) [b](x.md#L3-L9) -> y/x.md:4-7 [c](x.md#heading) [d](x.md?plain=1)"
    found = [(link.path, link.last) for link in links(parse(text.encode()))]
    assert found == [("x.md", 12), ("x.md", 9), ("y/x.md", 7), ("x.md", 0), ("x.md", 0)]


def test_a_picture_inside_a_link_counts_and_so_does_the_link() -> None:
    """A badge has two targets; a link in the description of a picture is only a description."""
    assert targets("[![badge](badge.svg)](build.md)") == [(1, "badge.svg"), (1, "build.md")]
    assert targets("![a [b](inner.md)](outer.png)") == [(1, "outer.png")]


def test_line_ends_of_any_kind_do_not_shift_the_lines() -> None:
    """CRLF, a lone carriage return and unusual separators inside a line count as before."""
    assert targets("a\r\nb \u2028 c\rd\r\n[x](y.md)\r\n") == [(3, "y.md")]


@given(st.lists(st.sampled_from(["[", "](", ")", "![", "<", ">", "`", "\\", "->", " ", "a.md", "#L1", "\n", "<!-- source:", "-->", "]: ", "- ", "> ", "%00", "%ff", "\0", "é"]), max_size=30).map("".join))  # fmt: skip
def test_any_text_can_be_searched_for_links(text: str) -> None:
    """Broken links of every kind are passed over, and every link stands on a line of the text."""
    document = parse(text.encode())
    assert all(0 <= link.line < len(document.lines) for link in links(document))


@pytest.mark.parametrize("piece", ["[", "[a](", "![", "-> a", "<!-- source:", "[a](<", '[a](b "'])
def test_endless_beginnings_of_links_are_no_trouble(piece: str) -> None:
    """A megabyte of beginnings on one line, or on lines of their own, is read once."""
    links(parse((piece * (1_000_000 // len(piece))).encode()))
    links(parse(((piece + "\n\n") * 2_000).encode()))
