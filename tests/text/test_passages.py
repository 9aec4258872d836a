"""Passages: what recall returns of a file, and that nothing is left out."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from agent_memfas.text.documents import parse
from agent_memfas.text.passages import LONGEST, passages, records


def cut(text: str) -> list[tuple[int, int, tuple[str, ...], str]]:
    return [(p.start + 1, p.end, p.heading, p.text) for p in passages(parse(text.encode()))]


def test_bullets_and_paragraphs_stand_alone_under_their_headings() -> None:
    """Each bullet is a passage with what is indented under it; each knows its headings."""
    text = "# A\n\npara\nmore\n\n## B\n- one\n  - child\n- two\n\nSetext\n---\n\n```\n# no heading\n```\n"
    assert cut(text) == [
        (3, 4, ("A",), "para\nmore"),
        (7, 8, ("A", "B"), "- one\n  - child"),
        (9, 9, ("A", "B"), "- two"),
        (14, 16, ("A", "Setext"), "```\n# no heading\n```"),
    ]


def test_short_facts_are_passages() -> None:
    """A 19-character entry is found like any other; so is a heading with nothing under it."""
    assert cut("- [P0] Zone: US\n\n# Empty\n") == [
        (1, 1, (), "- [P0] Zone: US"),
        (3, 3, ("Empty",), "# Empty"),
    ]


def test_days_come_from_the_entry_or_its_heading() -> None:
    """The entry's own date counts before that of a heading above it."""
    found = passages(parse(b"## 2026-02-24 Insights\n- [P1][2026-01-01] a\n- b\n"))
    assert [p.day for p in found] == ["2026-01-01", "2026-02-24"]


def test_front_matter_is_found_and_comments_are_not() -> None:
    """A note's title can be searched; instructions in comments are no memory."""
    found = cut("---\ntitle: Deploys\ntags: [ops]\n---\n<!-- how to use this file -->\ntext\n")
    assert [text for *_, text in found] == ["title: Deploys\ntags: [ops]", "text"]


def test_lesson_records_are_passages_and_the_schema_is_not() -> None:
    """One line of JSON, one passage, with its date; broken lines are searched as they are."""
    data = b'{"_schema": "operational-lesson"}\n{"date": "2026-02-24", "lesson": "x"}\nbroken{\n'
    assert [(p.start, p.day) for p in records(parse(data))] == [(1, "2026-02-24"), (2, "")]


@given(st.lists(st.sampled_from(
    ["# h", "- item word", "  - nested", "prose text", "", "```", "> q", "1. n", "x" * 700, "<!--", "-->"]
), max_size=30))  # fmt: skip
def test_no_text_is_lost_and_no_passage_is_too_long(lines: list[str]) -> None:
    """Every word outside comments and rules stands in some passage (or is a heading of one), and
    each passage is within the limit and lies where it says.
    """
    document = parse("\n".join(lines).encode())
    found = passages(document)
    for passage in found:
        assert len(passage.text) <= LONGEST
        source = "\n".join(document.text_lines[passage.start : passage.end])
        assert passage.text in source
    if "<!--" not in lines:
        for word in ("item word", "nested", "prose text"):
            if any(word in line for line in lines):
                texts = [p.text + " ".join(p.heading) for p in found]
                assert any(word in text for text in texts)


def test_a_very_long_line_is_cut_at_sentences_and_never_inside_an_emoji() -> None:
    """A table cell of 20,000 characters gives pieces within the limit, in order, complete."""
    sentence = "The quick brown fox jumps over the lazy dog. "
    found = passages(parse((sentence * 500).encode()))
    assert "".join(p.text for p in found).replace(" ", "") == (sentence * 500).replace(" ", "")
    assert all(p.text.rstrip().endswith(".") for p in found)
    family = "👨\u200d👩\u200d👧\u200d👦"
    assert all(
        not p.text.startswith(("\u200d", "\ufe0f"))
        for p in passages(parse((family * 900).encode()))
    )
