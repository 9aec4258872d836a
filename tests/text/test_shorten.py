"""The extractive summary: never too long, and what matters first."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_memfas.text.counting import estimate_cl100k as count
from agent_memfas.text.importance import is_important
from agent_memfas.text.shorten import shorten
from agent_memfas.text.words import query_terms

CHAT = ("Nice weather today. I had lunch already. Did you see the game? The train was late again. "
        "Music is fun. ")  # fmt: skip
LOG = "\n".join([
    "$ pytest -q", *(f"tests/test_{n}.py ......" for n in range(60)),
    "E   FileNotFoundError: [Errno 2] No such file: '/srv/app/config.yaml'",
    "1 failed, 239 passed in 12.31s", "exit status 1",
])  # fmt: skip


@pytest.mark.parametrize(("text", "wanted"), [
    (CHAT * 4 + "We decided to use PostgreSQL instead of MySQL. " + CHAT * 4, "PostgreSQL"),
    (CHAT * 4 + "The staging port is 8443. " + CHAT * 4, "8443"),
    (CHAT * 4 + "The file is src/app/main.py. " + CHAT * 4, "src/app/main.py"),
    (LOG, "FileNotFoundError"), (LOG, "1 failed, 239 passed"),
    ("今天天气不错。" * 20 + "我们决定改用 SQLite，不再使用 MySQL。" + "午饭已经吃了。" * 20, "SQLite"),
])  # fmt: skip
def test_what_matters_is_kept(text: str, wanted: str) -> None:
    """Decisions, numbers, paths, errors, in English and Chinese, in 60 tokens."""
    found = shorten(text, 60, count)
    assert wanted in found
    assert count(found) <= 60


def test_what_is_asked_for_is_kept() -> None:
    """The prompt decides among sentences of the same weight; so do words that must stay."""
    facts = [f"The {bird} nests near the {place} in spring." for bird, place in (
        ("heron", "pond"), ("egret", "reeds"), ("stork", "chimney"), ("swift", "tower"))]  # fmt: skip
    text = " ".join(fact + " " + CHAT for fact in facts)
    assert "chimney" in shorten(text, 40, count, query_terms("where does the stork nest"))
    assert "tower" in shorten(text, 40, count, keep=["swift"])


def test_a_text_that_fits_stays_as_it_is() -> None:
    """Byte for byte."""
    assert shorten(" a\n\n b ", 100, count) == " a\n\n b "


PIECES = st.sampled_from([
    "We decided to use Postgres. ", "```py\n", "x = 1\n", "```\n", "Error: no file /tmp/a.txt\n",
    "好的，我们改用 SQLite。", "| a | b |\n|---|---|\n| 1 | 2 |\n", "Nice day today! ", "\x00", "\r\n",
    "12345678901234567890 " * 9, '{"a": [1, 2, {"b": "c"}]}', "aaaa" * 200, "\u202e", "e\u0301",
])  # fmt: skip


@given(st.text(max_size=300) | st.lists(PIECES, max_size=20).map("".join), st.integers(0, 80))
def test_it_is_never_longer_than_it_may_be(text: str, target: int) -> None:
    """Nor longer than the text; only a blank text or no room give nothing."""
    found = shorten(text, target, count)
    assert count(found) <= min(target, count(text))
    if not text.strip() or target == 0:
        assert found == ""


@pytest.mark.parametrize(("text", "expected"), [
    ("Nice weather today, isn't it?", False), ("We had 2 cups of tea", False),
    ("See you tomorrow then", False), ("The port is 8443", True), ("[P0] never on Fridays", True),
    ("We decided to use Rust", True), ("Traceback (most recent call last):", True),
    ("edit src/app.py first", True), ("数据库连接失败", True), ("it costs 40 €", True),
    ("we meet at 14:30", True), ("version 1.2.3", True),
])  # fmt: skip
def test_which_chunks_are_important(text: str, expected: bool) -> None:
    """Tags, decisions, errors, paths and numbers that are facts; not every digit."""
    assert is_important(text) is expected
