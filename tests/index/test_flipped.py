"""Bits of the index flip, pages get lost or change places: no answer ever says what no file says."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from inputs.memory import Memory

from .support import INDEX, ask, in_step

PAGE = 4096
QUESTIONS = ["ibis crow", "staging host day 7", "standup 部署", "node.js", "office"]


def flip(data: bytes, at: float, bit: int) -> bytes:
    place = int(at * len(data))
    return data[:place] + bytes([data[place] ^ 1 << bit]) + data[place + 1 :]


def lose(data: bytes, at: float, bit: int) -> bytes:
    start = int(at * len(data)) // PAGE * PAGE
    return data[:start] + bytes([0, 255][bit % 2] for _ in range(PAGE)) + data[start + PAGE :]


def swap(data: bytes, at: float, bit: int) -> bytes:
    pages = [data[n : n + PAGE] for n in range(0, len(data), PAGE)]
    one, two = int(at * len(pages)), bit % len(pages)
    pages[one], pages[two] = pages[two], pages[one]
    return b"".join(pages)


def cut(data: bytes, at: float, bit: int) -> bytes:
    return data[: int(at * len(data))]


def scramble(data: bytes, at: float, bit: int) -> bytes:
    place = int(at * len(data))
    return (data[:place] + bytes((n * 37 + bit) % 256 for n in range(40)) + data[place + 40 :])[
        : len(data)
    ]


HARMS: list[Callable[[bytes, float, int], bytes]] = [flip, flip, flip, lose, swap, cut, scramble]


@pytest.fixture
def stored(memory: Memory, monkeypatch: pytest.MonkeyPatch) -> Memory:
    """A folder with an index of several pages that needs no further reading."""
    monkeypatch.setattr(os, "fsync", lambda descriptor: None)
    for n in range(12):
        lines = [f"- the {bird} of day {n}, seen by {n * 7} people\n" for bird in ("ibis", "crow")]
        memory.write(f"memory/2026-01-{n + 1:02d}.md", "# Log\n\n" + "".join(lines))
    memory.write("memory/w.md", "- 服务器部署在上海\n- we use node.js v1.2.3\n")
    memory.write("TRIGGERS.md", "- standup -> be brief\n")
    memory.write("lessons/x.md", "- [P0][superseded:2026-02-01] office: Berlin\n- office: Rome\n")
    return memory


def told(answer: dict[str, Any]) -> list[dict[str, Any]]:
    """What an answer says, without how well it fits."""
    return [
        {**found, "score": 0} for kind in ("hits", "triggers") for found in answer[kind]
    ]  # fmt: skip


def test_no_harm_to_the_index_changes_a_word(stored: Memory) -> None:
    """Whatever bytes the index file has: no traceback, every hit and trigger is one that the files
    themselves give, and after the index is made anew all of them are there."""
    questions = {q: told(ask(stored, q, "--no-index", "-n", "99")) for q in QUESTIONS}
    assert all(questions.values())
    for question, right in questions.items():
        assert told(ask(stored, question, "-n", "99")) == right
    young = (stored.root / INDEX).read_bytes()
    time.sleep(0.03)
    ask(stored, "anything")
    settled = (stored.root / INDEX).read_bytes()  # of files that need not be read again
    assert len(settled) > 12 * PAGE

    @settings(
        max_examples=int(os.environ.get("MEMFAS_EXAMPLES", "120")),
        deadline=None,
        database=None,
        suppress_health_check=list(HealthCheck),
    )
    @given(
        st.lists(
            st.tuples(
                st.sampled_from(HARMS),
                st.floats(0, 1, exclude_max=True),
                st.integers(0, 7),
            ),
            min_size=1,
            max_size=3,
        ),
        st.sampled_from(QUESTIONS),
        st.booleans(),
    )
    def check(
        harms: list[tuple[Callable[..., bytes], float, int]], question: str, fresh: bool
    ) -> None:
        data = young if fresh else settled
        for harm, at, bit in harms:
            data = harm(data, at, bit) if data else data
        (stored.root / INDEX).unlink(missing_ok=True)
        (stored.root / INDEX).write_bytes(data)
        for _ in range(2):
            answer = ask(stored, question, "-n", "99")
            assert [found for found in told(answer) if found not in questions[question]] == []
            assert answer["fresh"]
        if not any("readonly" in note for note in answer["notes"]):  # so says its header then
            assert (answer["source"], answer["notes"]) == ("index", [])

    check()
    stored.run("reindex")
    assert in_step(stored.root) == []
    for question, right in questions.items():
        assert told(ask(stored, question, "-n", "99")) == right
