"""Many triggers: a question fires the same ones, and the database works no more for it."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from contextlib import closing
from typing import Any

import pytest

from promises.prompt import Here

QUESTION = ("what", "did", "kw7", "say", "of", "the", "code", "review", "to", "other3")
FIRED = ["kw7", "code review", "other3"]


def fill(here: Here, many: int) -> None:
    """So many triggers and one of two words, all of them in the index."""
    lines = "".join(f"- kw{n}, other{n} -> hint {n}\n" for n in range(many // 2))
    here.write("TRIGGERS.md", f"{lines}- code review -> slowly\n")
    here.write("MEMORY.md", "- heron\n")
    here.memfas("index")
    here.memfas("index")
    assert here.answer("kw7")["source"] == "index"


def watched(patch: pytest.MonkeyPatch, watch: Callable[[sqlite3.Connection], object]) -> None:
    """Look at every connection that is opened from now on."""
    connect = sqlite3.connect

    def opened(*arguments: Any, **options: Any) -> sqlite3.Connection:
        connection: sqlite3.Connection = connect(*arguments, **options)
        watch(connection)
        return connection

    patch.setattr(sqlite3, "connect", opened)


def test_twenty_thousand_triggers_cost_a_question_no_more_than_ten(
    here: Here, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The same ones fire, and SQLite takes about as many steps for the whole command: it looks
    keywords up and does not go through them."""
    steps = {}
    for many in (10, 20_000):
        fill(here, many + 10)
        ticks: list[int] = []
        with monkeypatch.context() as patch:
            watched(patch, lambda c, into=ticks: c.set_progress_handler(lambda: into.append(1), 1))
            assert here.fires(*QUESTION) == FIRED
        steps[many] = len(ticks)
    assert 0 < steps[20_000] < steps[10] * 2


def test_a_keyword_is_looked_up_by_an_index(here: Here, monkeypatch: pytest.MonkeyPatch) -> None:
    """SQLite says of each statement that names a keyword that it searches, and scans no table."""
    fill(here, 200)
    asked: list[str] = []
    with monkeypatch.context() as patch:
        watched(patch, lambda connection: connection.set_trace_callback(asked.append))
        assert here.fires(*QUESTION) == FIRED
    lookups = [sql for sql in asked if "triggers" in sql and "'kw7'" in sql]
    assert lookups
    with closing(here.database()) as database:
        for sql in lookups:
            plan = [step for *_, step in database.execute(f"explain query plan {sql}")]
            assert any(step.startswith("SEARCH") and "(key=?)" in step for step in plan), plan
            assert not [step for step in plan if step.startswith("SCAN")], plan
