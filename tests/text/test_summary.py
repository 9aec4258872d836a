"""What is told of a file, and the page that nothing can break."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent_memfas.text.documents import parse
from agent_memfas.text.entries import entries
from agent_memfas.text.keywords import keywords
from agent_memfas.text.overview import Item, Totals, read_mark, write_page
from agent_memfas.text.summary import summarize

LESSONS = """{"_schema": "x", "category": "example"}
{"category": "db"}
{"category": "deploy", "date": "2026-02-01"}
broken
"""


@pytest.mark.parametrize(
    ("name", "text", "says"),
    [
        ("a.md", "\ufeff# Deploys\n\nx\n", "Deploys: x"),
        ("a.md", "---\ntitle: no\n---\n# Yes\n", "Yes"),
        ("a.md", "<!-- one\n\n# two\n\nthree -->\n\nReal text.\n", "Real text."),
        ("a.md", "## Second **level** [link](http://x)\n", "Second level link"),
        ("deploys.md", "# Deploys\n\nShip on Friday, never later! More.\n",
         "Ship on Friday, never later!"),
        ("2026-02-24.md", "# Tuesday, 24 February 2026\n\n- [ ] call Bob\n- [P0] Sam\n",
         "call Bob; Sam"),
        ("a.md", "# Notes on heron\n\n- disk\n- fans <!-- trigger: x -->\n",
         "Notes on heron: disk; fans"),
        ("a.md", "# 部署\n\n## 回滚\n\n先迁移。\n", "部署: 回滚"),
        ("a.md", "```\n# code\n```\n\n> quote\n", ""),
        ("a.md", " \n\n", "empty"),
        ("a.txt", "Plain text counts too. Really.\n", "Plain text counts too."),
        ("a.json", '{"name": 1, "when": 2}', "2 keys (name, when)"),
        ("a.json", "[1, 2", "not valid JSON"),
        ("a.jsonl", LESSONS, "2 entries (db, deploy), 1 broken line"),
        ("a.jsonl", '{"_schema": "x"}\n', "0 entries"),
    ],
)  # fmt: skip
def test_a_file_is_described_by_what_it_says(name: str, text: str, says: str) -> None:
    """Its first real heading, else its first sentence or bullets: never a `---`, a comment, a
    bare date, the schema line of a lessons file.
    """
    summary = summarize(name, text.encode())
    assert summary is not None
    assert summary.says == says


@pytest.mark.parametrize(
    ("name", "text", "days"),
    [
        ("a.md", "- [P1][2026-02-24] x\n- [P2][2026-01-02] y\n", ("2026-01-02", "2026-02-24")),
        ("2026-02-24.md", "x\n", ("2026-02-24", "2026-02-24")),
        ("2026-02.md", "x\n", ("2026-02", "2026-02")),
        ("2026-02.md", "## 2026-02-03\n\nx\n", ("2026-02-03", "2026-02-03")),
        ("a.md", "- [P1][2026-02-30] no such day\n\n# 2026-99-99\n", ("", "")),
        ("a.jsonl", LESSONS, ("2026-02-01", "2026-02-01")),
    ],
)
def test_a_file_has_the_days_that_it_speaks_of(name: str, text: str, days: tuple[str, str]) -> None:
    """From its entries, its headings, its records, its name; days that do not exist are none."""
    summary = summarize(name, text.encode())
    assert summary is not None
    assert (summary.first, summary.last) == days


def test_headings_with_nothing_under_them_are_no_sections() -> None:
    """A template's empty sections promise nothing."""
    text = "# Plan\n\n## Empty\n\n<!-- x -->\n\n## Full\n\n### Part\n\nx\n\n## Last\n"
    summary = summarize("a.md", text.encode())
    assert summary is not None
    assert summary.sections == ("Plan", "Full", "Part")


def test_text_that_is_not_utf8_is_not_guessed_at() -> None:
    """No summary is better than a wrong one."""
    assert summarize("a.md", b"caf\xe9") is None
    assert summarize("a.jsonl", "{}".encode("utf-16")) is None


def test_the_words_of_a_text_are_its_names_and_what_it_repeats() -> None:
    """Names before all, also in Chinese; no grammar, no numbers, no titles of headings."""
    text = (
        "# Some Title\n\n- 09:00 talked to Alice about the database\n- the database of Acme 42\n"
        "数据库部署失败了\n周五数据库部署\n"
    )
    assert [word for word, _ in keywords(text)] == ["acme", "alice", "database", "数据库部署"]


NASTY = st.text(
    st.sampled_from("ab -#>*`[]()<!&\n\r\t\"'\\:,;\0\x1b\x85\u2028\u202e\u200b\ufeff部é\u0301")
    | st.characters(codec="utf-8"),
    max_size=60,
)


@settings(max_examples=150, deadline=None)
@given(texts=st.lists(st.tuples(NASTY, NASTY), max_size=5), folder=NASTY)
def test_no_text_and_no_name_breaks_the_page(texts: list[tuple[str, str]], folder: str) -> None:
    """Whatever files are called and say, each is one line, and nothing forges an entry, a heading
    or the mark.
    """
    items = []
    for name, text in texts:
        body = f"# {text}\n\n{text}\n\n- [P0] {text}\n--> <!-- x\n".encode("utf-8", "replace")
        items.append(Item(name or "a", summarize("a.md", body)))
    said = next((i.summary.says for i in items if i.summary), "")
    made = write_page(
        folder, "2026-03-01 04:00", "0" * 16, items, {folder: said}, Totals(), said=said,
        bare=False,
    )  # fmt: skip
    lines = made.split("\n")
    assert read_mark(made.encode()) == "0" * 16
    assert made.splitlines() == lines[:-1]
    assert sum(x.startswith("- ") for x in lines) == len(items) + bool(said)
    assert made.count("-->") == made.count("<!--") == 1
    assert entries(parse(made.encode())) == []
    assert [h.text for h in parse(made.encode()).headings] == [lines[0][2:].strip()]
    assert not any(c in made for c in "\0\x1b\u202e\u200b\ufeff\r")
