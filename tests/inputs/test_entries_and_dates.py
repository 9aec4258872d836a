"""What is an entry, what is nearly one, and which lines go with it."""

from __future__ import annotations

import pytest

from .memory import CONTROL, HEAD, TEXT_BEGINS, Memory, moves, only_control_leaves

OLD = "- [P1][2020-01-01]"


def test_nothing_after_an_unclosed_fence_expires(memory: Memory) -> None:
    """I forgot to close a fence: what follows stays, and I am told in which line it was opened."""
    data = only_control_leaves(memory, f"```sh\nmake\n\n## Later\n\n{OLD} an entry?\n")
    (miss,) = data["near_misses"]
    assert miss["line"] == TEXT_BEGINS
    assert f"fence opened at line {TEXT_BEGINS}" in miss["problem"]
    assert "never closed" in miss["problem"]


@pytest.mark.parametrize(
    "fence",
    [
        pytest.param(f"````\n```\n{OLD} inside\n```\n{OLD} inside\n````\n", id="four-hold-three"),
        pytest.param(f"~~~\n```\n{OLD} inside\n```\n{OLD} inside\n~~~\n", id="tildes-hold-ticks"),
        pytest.param(f"~~~~ text\n{OLD} inside\n~~~\n{OLD} inside\n~~~~~~\n", id="longer-closes"),
        pytest.param(
            f"````\n{OLD} inside\n``` \n{OLD} inside\n````\n", id="shorter-does-not-close"
        ),
        pytest.param(
            f"```\n{OLD} inside\n``` not the end\n{OLD} inside\n```\n", id="info-no-close"
        ),
        pytest.param(f"```\n{OLD} inside\n    ```\n{OLD} inside\n```\n", id="indented-no-close"),
    ],
)
def test_a_fence_ends_only_where_markdown_says_so(memory: Memory, fence: str) -> None:
    """My examples inside fences are not edited, however the fences are nested; after them it
    goes on: the same entry behind the fence does expire."""
    before = HEAD + fence.encode() + f"\n{OLD} outside\n".encode()
    moves(memory, before, HEAD + fence.encode() + b"\n", f"{OLD} outside\n".encode())


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(f"- how to write one:\n\n  ```\n  {OLD} inside\n  ```\n", id="fence-in-item"),
        pytest.param(f"1. so:\n   ~~~\n   {OLD} inside\n   ~~~\n", id="fence-in-numbered-item"),
        pytest.param(f"An example:\n\n    {OLD} inside\n", id="four-spaces"),
        pytest.param(f"An example:\n\n\t{OLD} inside\n", id="tab"),
        pytest.param(f"An example:\n\n  \t{OLD} inside\n", id="spaces-and-tab"),
        pytest.param(f"<!-- {OLD} inside -->\n", id="comment"),
        pytest.param(f"<!--\n{OLD} inside\n\n{OLD} inside\n-->\n", id="comment-of-lines"),
        pytest.param(f"- a <!-- from here\n{OLD} inside\n- to here -->\n", id="comment-over-items"),
        pytest.param(f"<!--\n\n# A\n\n{OLD} inside\n", id="comment-never-closed"),
        pytest.param(f"<pre>\n{OLD} inside\n\n{OLD} inside\n</pre>\n", id="pre"),
        pytest.param(f"<PRE class=x>\n{OLD} inside\n\n{OLD} inside\n", id="pre-never-closed"),
        pytest.param(
            f"<details>\n<summary>s</summary>\n\n{OLD} inside\n\n</details>\n", id="details"
        ),
        pytest.param(f"<details open>\n\n{OLD} inside\n", id="details-never-closed"),
        pytest.param(f"<div>\n{OLD} inside\n</div>\n", id="div"),
        pytest.param(f"<script>\n\n{OLD} inside\n</script>\n", id="script"),
        pytest.param(f"> {OLD} inside\n>\n> {OLD} inside\n", id="quote"),
        pytest.param(f"> > {OLD} inside\n", id="quote-in-quote"),
        pytest.param(f"- said:\n  > {OLD} inside\n", id="quote-in-item"),
    ],
)
def test_examples_are_not_entries(memory: Memory, text: str) -> None:
    """Code, comments, raw HTML and quotes hold examples: the janitor leaves every byte of them."""
    only_control_leaves(memory, text)


def test_front_matter_is_not_memory(memory: Memory) -> None:
    """A YAML header that lists entries is a header, and what follows it is memory."""
    header = f"---\ntitle: a\nold:\n{OLD} inside\n---\n".encode()
    moves(memory, header + CONTROL, header, CONTROL)


def test_a_quote_ends_before_a_bullet(memory: Memory) -> None:
    """My entry directly under a quote is an entry: no bullet continues a quote by itself."""
    moves(memory, b"> said\n" + CONTROL + b"> more\n", b"> said\n> more\n", CONTROL)


@pytest.mark.parametrize("opener", ["`<!--`", "``<!--``", "&lt;!--"])
def test_a_comment_mark_in_code_opens_nothing(memory: Memory, opener: str) -> None:
    """I wrote about comments in `code`: the entries below it go on expiring."""
    note = f"- [P0] comments open with {opener}\n".encode()
    moves(memory, HEAD + note + CONTROL, HEAD + note, CONTROL)


def test_what_is_said_of_an_open_fence_is_what_is_done(memory: Memory) -> None:
    """A fence left open inside a bullet ends with it: either the entries behind it stay, or I am
    not told that nothing behind it is an entry."""
    text = f"- so:\n\n  ```\n  code\n\nProse.\n\n{OLD} behind\n".encode()
    memory.write("MEMORY.md", HEAD + text)
    result = memory.janitor()
    stays = memory.read() == HEAD + text
    told = [n for n in result.data["near_misses"] if "nothing after it" in n["problem"]]
    assert stays == bool(told)


BLOCK = (
    f"{OLD} the first line\n"
    "  a line that goes on\n"
    "  - nested\n"
    "    - nested again\n"
    "\n"
    "  a paragraph after a blank line\n"
    "\n"
    "  ```python\n"
    "  - [P0] in a fence inside it\n"
    "\n"
    "  # not a heading\n"
    "  ```\n"
    "\n"
    "      indented code\n"
).encode()


@pytest.mark.parametrize(
    "after", [b"\n- [P0] next\n", b"- [P0] next\n", b"\nProse.\n", b"## Next\n"]
)
def test_an_entry_moves_whole(memory: Memory, after: bytes) -> None:
    """Everything indented under an expired entry goes with it, in order, byte for byte."""
    moves(memory, HEAD + BLOCK + after, HEAD + after, BLOCK.replace(b"\n\n", b"\n"))
    assert BLOCK in memory.archived


@pytest.mark.parametrize(
    "prose", ["Prose that follows.\n", "Two\nlines.\n", "===\n", "---\n", "# H\n"]
)
def test_prose_behind_an_entry_stays(memory: Memory, prose: str) -> None:
    """Unindented text directly under an expired entry is its neighbour, not a part of it."""
    entry = f"{OLD} gone\n  its own line\n".encode()
    moves(memory, HEAD + entry + prose.encode(), HEAD + prose.encode(), entry)


@pytest.mark.parametrize(
    "child",
    [
        "- [P0] never",
        "- [P1][2026-02-20] alive",
        "- [P2][2020-01-01][until:2026-12-31] has a term of its own",
        "- [P1] without a date",
        "- [P1][2026-02-30] no such day",
        "- [p0] nearly",
        "* [P0] another bullet",
        "1. [P0] numbered",
    ],
)
@pytest.mark.parametrize("indent", ["  ", "\t", "    "])
def test_a_living_child_keeps_its_parent(memory: Memory, child: str, indent: str) -> None:
    """A bullet inside an expired entry that has not expired (or may be meant so) keeps it all."""
    only_control_leaves(memory, f"{OLD} parent\n{indent}{child}\n  - and more\n")


def test_a_child_that_keeps_its_parent_for_ever_is_reported(memory: Memory) -> None:
    """I want to know that an entry never leaves because of the P0 inside it, and where that is."""
    data = only_control_leaves(memory, f"{OLD} parent\n  - [P0] never\n")
    told = [n for n in data["near_misses"] if str(TEXT_BEGINS + 1) in n["problem"]]
    assert [n["line"] for n in told] == [TEXT_BEGINS]


def test_an_expired_child_never_leaves_alone(memory: Memory) -> None:
    """A bullet inside a living entry, or inside an untagged one, stays although it has expired."""
    only_control_leaves(
        memory,
        "- [P0] parent\n  - [P2][2020-01-01] child\n"
        "- [P1][2026-02-20] parent\n\n  - [P2][2020-01-01] child\n"
        "- an untagged parent\n  - [P2][2020-01-01] child\n",
    )


def test_expired_children_leave_with_their_parent(memory: Memory) -> None:
    """Where all of an entry has expired, all of it goes."""
    entry = f"{OLD} parent\n  - [P2][2020-01-01] child\n    - [P1][2020-01-01] its child\n".encode()
    moves(memory, HEAD + entry + b"- [P0] stays\n", HEAD + b"- [P0] stays\n", entry)


@pytest.mark.parametrize(
    "indented",
    ["\tby a tab\n", "  \tby both\n", " by one space\n", "\t- nested by a tab\n\t\tand deeper\n"],
)
def test_tabs_and_spaces_indent_alike(memory: Memory, indented: str) -> None:
    """What my editor indents by tabs belongs to the entry as what is indented by spaces."""
    entry = f"{OLD} gone\n{indented}".encode()
    moves(memory, HEAD + entry + b"- [P0] stays\n", HEAD + b"- [P0] stays\n", entry)


@pytest.mark.parametrize("indent", ["", " ", "  ", "   "])
def test_an_entry_may_be_indented_by_up_to_three_spaces(memory: Memory, indent: str) -> None:
    """Markdown takes such a bullet for one at top level, and so does the janitor."""
    entry = f"{indent}{OLD} gone\n".encode()
    moves(memory, HEAD + entry, HEAD, entry)


def test_an_entry_without_text_expires(memory: Memory) -> None:
    """A bullet of nothing but its tags is an entry like any other."""
    for entry in (f"{OLD}\n", f"{OLD} \n", f"{OLD}[ttl:1d]\n"):
        memory.write("MEMORY.md", HEAD + entry.encode() + b"- [P0] stays\n")
        assert memory.janitor().status == 0
        assert memory.read() == HEAD + b"- [P0] stays\n"


def test_the_first_date_counts(memory: Memory) -> None:
    """Two dates in a line: the one behind the priority decides, the other is text."""
    stays = b"- [P1][2026-02-20][2020-01-01] alive\n- [P1][2026-02-20] since 2020 [2020-01-01]\n"
    gone = b"- [P1][2020-01-01][2030-01-01] gone\n- [P2][2020-01-01] due [2030-01-01]\n"
    moves(memory, HEAD + gone + stays, HEAD + stays, gone)


def test_a_bare_rule_on_the_first_line_hides_nothing(memory: Memory) -> None:
    """My file starts with a `---` line that no second one closes: the entries below are entries."""
    moves(memory, b"---\n\n" + CONTROL + b"\ntext\n", b"---\n\n\ntext\n", CONTROL)


def test_a_rule_before_and_after_the_entries_is_no_header(memory: Memory) -> None:
    """Two rules with bullets between them are not YAML front matter."""
    moves(memory, b"---\n" + CONTROL + b"---\n", b"---\n---\n", CONTROL)


@pytest.mark.parametrize("data", [b"", b"# Memory\n", b"# Memory", b"\n", b" \n\t\n\n", b"   "])
def test_a_file_with_nothing_in_it_is_left_alone(memory: Memory, data: bytes) -> None:
    """A fresh MEMORY.md holds a heading, blanks, or nothing: no change, no error, no archive."""
    memory.write("MEMORY.md", data)
    result = memory.janitor()
    assert (result.status, result.data["moved"]) == (0, [])
    assert memory.read() == data
    assert not (memory.root / "archive").exists()


def test_a_file_without_a_last_line_end_keeps_none(memory: Memory) -> None:
    """My editor writes no newline at the end: the janitor adds none and drops none."""
    moves(memory, HEAD + CONTROL + b"- [P0] last", HEAD + b"- [P0] last", CONTROL)


def test_an_expired_last_line_without_a_line_end_moves(memory: Memory) -> None:
    """The archive gives it a line of its own all the same."""
    moves(memory, HEAD + CONTROL.strip(), HEAD, CONTROL)


def test_an_added_line_starts_on_a_line_of_its_own(memory: Memory) -> None:
    """`memfas add` to a file without a last newline does not lengthen its last entry."""
    memory.write("MEMORY.md", b"- [P0] last")
    assert memory.run("add", "-p", "P0", "new").status == 0
    assert memory.read() == b"- [P0] last\n- [P0] new\n"


@pytest.mark.parametrize(("blank", "over"), [(149, False), (150, True)])
def test_the_limit_of_150_counts_lines(memory: Memory, blank: int, over: bool) -> None:
    """Blank lines are lines: at 150 there is no warning of the limit, at 151 there is, and with
    --fail-over-limit a script can see it, and I am told what to move."""
    memory.write("MEMORY.md", b"- [P1][2026-02-20] the only entry\n" + b"\n" * blank)
    result = memory.janitor("--fail-over-limit")
    said = [w for w in result.data["warnings"] if "over the limit of 150" in w]
    assert (bool(said), result.status) == (over, int(over))
    if over:
        assert "151 lines" in said[0]
        assert any("move" in warning for warning in result.data["warnings"])


def test_the_limit_of_150_does_not_count_characters(memory: Memory) -> None:
    """One very long line is one line."""
    memory.write("MEMORY.md", b"- [P0] " + b"x" * 5000 + b"\n")
    assert not any("150" in warning for warning in memory.janitor().data["warnings"])
