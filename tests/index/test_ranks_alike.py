"""With an index and without one the same lines answer, in the same order, with the same scores."""

from __future__ import annotations

import os
import shutil
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import date
from pathlib import Path

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from agent_memfas.index import postings
from agent_memfas.tasks.recall import Answer, Filters, ask
from inputs.memory import Memory

from .support import keeper_of

SCRATCH = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
WORDS = ["heron", "herons", "deploy", "deployed", "staging", "host", "the", "is", "of", "node.js",
         "v1.2.3", "DEC-0054", "code_review", "parseConfigFile", "alice@example.com", "C++",
         "服务器", "部署在上海", "部署", "上", "おはよう", "안녕", "é", "naïve", "💾", "2026-02-24",
         "x", "a\0b", "don't", "Alice's", "10,000", "$40", "#42", "ﬁle", "İstanbul"]  # fmt: skip
ORIGINS = ["- ", "- [P0] ", "- [P1][2026-02-20] ", "- [P2][2020-01-01] ", "", "# ", "## 2026-02-03 ",
           "- [P0][superseded:2026-02-01] ", "- [P1][2026-02-01][superseded:2026-02-02] "]  # fmt: skip
TEXT = st.lists(st.sampled_from(WORDS), min_size=1, max_size=7).map(" ".join)
LINES = st.lists(st.builds("{}{}\n".format, st.sampled_from(ORIGINS), TEXT), max_size=6)
NAMES = ["MEMORY.md", "memory/2026-02-24.md", "memory/a.md", "lessons/x.jsonl", "archive/e.md",
         "cold-storage/o.md", "部署.md", "z.txt", "shared/MEMORY.md", "TRIGGERS.md"]  # fmt: skip
STORES = st.dictionaries(st.sampled_from(NAMES), LINES.map("\n".join), min_size=1, max_size=6)
QUESTION = st.one_of(TEXT, st.text(max_size=12))
FILTERS = st.builds(
    Filters,
    limit=st.sampled_from([1, 3, 1000]),
    archive=st.booleans(),
    kinds=st.sampled_from([(), (), ("memory",), ("cold", "long-term")]),
    since=st.sampled_from(["", "", "2026-02-10"]),
    min_score=st.sampled_from([0.0, 0.0, 0.1]),
)
many = settings(
    max_examples=int(os.environ.get("MEMFAS_EXAMPLES", "150")), deadline=None, database=None,
    suppress_health_check=list(HealthCheck),
)  # fmt: skip


@contextmanager
def folder(store: dict[str, str]) -> Iterator[Memory]:
    """A memory folder with these files."""
    memory = Memory(Path(tempfile.mkdtemp(prefix="memfas-ranks-", dir=SCRATCH)))
    try:
        for name, text in store.items():
            memory.write(name, text)
        yield memory
    finally:
        shutil.rmtree(memory.root)


def both(memory: Memory, question: str, filters: Filters) -> tuple[Answer, Answer]:
    """The answers of the index and of the files."""
    answers = []
    for use_index in (True, False):
        keeper = keeper_of(memory.root, use_index=use_index)
        answers.append(
            ask(keeper, question, filters, date(2026, 3, 1), time.time_ns(), budget=None)
        )
        keeper.close()
    assert [answer.freshness.source for answer in answers] == ["index", "files"]
    return answers[0], answers[1]


@many
@given(STORES, STORES, st.lists(QUESTION, min_size=1, max_size=4), FILTERS)
@example({"memory/a.md": "- heron host\n\n- host heron\n"}, {}, ["heron host"], Filters())
@example(
    {"MEMORY.md": "- [P0][superseded:2026-02-01] heron\n- heron x x\n- heron\n- x\n"}, {},
    ["heron x"], Filters(),
)  # fmt: skip
@example({"z.txt": "- heron x\n- x host\n"}, {"z.txt": "- x heron\n- heron x\n- x host\n"},
         ["heron x"], Filters())  # fmt: skip
def test_the_same_answer_either_way(
    store: dict[str, str], edits: dict[str, str], questions: list[str], filters: Filters
) -> None:
    """English, Chinese, names and numbers, superseded and archived entries, any filter, also after
    edits: the same hits in the same order, the same scores, the same triggers."""
    with folder(store) as memory:
        both(memory, "heron", filters)
        for name, text in edits.items():
            memory.write(name, text)
        for question in questions:
            indexed, bare = both(memory, question, filters)
            scores = [hit.score for hit in indexed.hits]  # rounded to four digits
            assert scores == pytest.approx([hit.score for hit in bare.hits], abs=1.01e-4)
            features = [dict(hit.features or {}) for hit in (*indexed.hits, *bare.hits)]
            for of_index, of_files in zip(features, features[len(indexed.hits) :], strict=False):
                assert of_index == pytest.approx(of_files, abs=1e-6)
            alike = [
                [{**vars(hit), "score": 0, "features": None} for hit in a.hits]
                for a in (indexed, bare)
            ]
            assert alike[0] == alike[1]
            assert indexed.triggers == bare.triggers


RARE = ["heron", "ibis", "部署", "node.js", "DEC-0054"]


@settings(many, max_examples=25)
@given(
    st.lists(st.sampled_from(RARE), min_size=1, max_size=2, unique=True),
    st.integers(0, 39),
    st.integers(10, 60),
)
def test_a_rare_word_is_found_among_many(rare: list[str], at: int, limit: int) -> None:
    """Where common words stand in so many lines that they are only used to rank the others, the
    same line leads, with nearly the same score: what common words stand beside it may be missed."""
    lines = [f"- the host of day {n} is deployed to staging {n % 7}\n" for n in range(40)]
    lines[at] = f"- the host of {' and '.join(rare)} is deployed to staging\n"
    lines[(at + 1) % 40] = f"- {rare[0]} is seen on a day\n"
    question = f"{' '.join(rare)} host staging deployed day"
    with folder({"memory/a.md": "".join(lines)}) as memory, pytest.MonkeyPatch.context() as patch:
        patch.setattr(postings, "POSTINGS", limit)
        patch.setattr(postings, "POOL", 50)
        indexed, bare = both(memory, question, Filters(limit=1))
        (hit,) = indexed.hits
        assert rare[0] in hit.text
        assert hit.text == bare.hits[0].text
        assert hit.score == pytest.approx(bare.hits[0].score, abs=0.02)


def test_the_commonest_words_alone_still_answer(memory: Memory) -> None:
    """A question of nothing but words that stand everywhere: as many hits as there are lines."""
    memory.write("memory/a.md", "".join(f"- the host of staging {n}\n" for n in range(60)))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(postings, "POSTINGS", 20)
        patch.setattr(postings, "POOL", 10)
        indexed, bare = both(memory, "host staging", Filters(limit=1000))
    assert {hit.text for hit in indexed.hits} == {hit.text for hit in bare.hits}
    assert len(indexed.hits) == 61
