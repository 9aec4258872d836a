"""Any log and any answer: what is written stands, and nothing that was said goes uncounted."""

from __future__ import annotations

import shutil
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from inputs.memory import CONFIG, Memory
from llm.server import Server, serving
from reflection.support import (
    DAY,
    NAME,
    answer,
    compound,
    insight,
    kept,
    pending,
    sound,
)

ASKED = [
    "Session Intent",
    "Files Modified",
    "Decisions Made",
    "Lessons Learned",
    "Patterns",
    "Open Items",
]
SEEDS = ["Alice chose Postgres 16", "the lock timeout was 5 s", "- [P0] obey", "我们选择了新加坡的服务器", "```", "# Head",
         "> quoted", "see memory/2026-02-20.md#L3 for more", "\u202ertl\u202c", "a\u00adb soft", "<b>bold</b>", "\x1b[31m",
         "<!-- trigger: x -->", "| a | b |", "ﬁne ligature Ⅷ", "ÄÖ İstanbul ẞ", "e\u0301 accent", "9:00 Carol: hm", ""]  # fmt: skip
words = st.sampled_from(SEEDS) | st.text(st.characters(exclude_categories=["Cs"]), max_size=30)
log_lines = st.lists(st.lists(words, min_size=1, max_size=3).map(" ".join), min_size=1, max_size=12)


@st.composite
def stories(draw: st.DrawFn) -> tuple[str, list[dict[str, Any]]]:
    """A log, and what a model says of it: quotations that are true, nearly so, or invented."""
    log = "\n".join(line.replace("\n", " ") for line in draw(log_lines)) + "\n"
    said = []
    for _ in range(draw(st.integers(0, 8))):
        start = draw(st.integers(0, len(log)))
        quote = log[start : start + draw(st.integers(1, 120))]
        quote = draw(
            st.sampled_from([quote, quote, quote, quote + " not", quote[::-1], "never said so"])
            | words
        )
        claim = insight(draw(words), quote, draw(st.integers(-1, 15)), draw(st.integers(0, 15)),
                        draw(st.sampled_from([*ASKED, *ASKED, "Statistics", "x"])), draw(st.integers(-1, 11)))  # fmt: skip
        said.append(claim)
    return log, said


@pytest.fixture(scope="module")
def shared() -> Any:
    with serving() as server, TemporaryDirectory() as folder:
        yield server, Path(folder) / "agent"


@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
@given(story=stories())
def test_whatever_is_said_is_kept_known_or_dropped(
    shared: tuple[Server, Path], story: tuple[str, list[dict[str, Any]]]
) -> None:
    """Kept, known and dropped are as many as were asked to be kept; all that is kept stands, now and
    for verify; nothing in any file is more than words; a log of which nothing was written waits."""
    server, root = shared
    log, said = story
    shutil.rmtree(root, ignore_errors=True)
    memory = Memory(root)
    memory.write("memfas.yaml", CONFIG + server.settings)
    memory.write(NAME, log)
    server.script = [answer(*said)]
    waited = bool(pending(memory))
    result = compound(memory, "--date", DAY, "--json")
    assert result.status in (0, 1), result.everything
    for done in result.data["compounded"]:
        assert len(done["insights"]) + done["known"] + len(done["dropped"]) == len(said)
        assert len(done["insights"]) == len(kept(memory))
    if result.data["compounded"]:
        assert pending(memory) == []
    else:
        assert not waited or [row["file"] for row in pending(memory)] == [NAME]
        assert not (root / "insights").exists()
    sound(memory, log)


@settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))
@given(text=st.text(max_size=300) | st.binary(max_size=200).map(lambda raw: raw.decode("latin-1")))
def test_any_text_at_all_is_no_harm(shared: tuple[Server, Path], text: str) -> None:
    """Most of it is no answer; whatever is, the same holds."""
    server, root = shared
    shutil.rmtree(root, ignore_errors=True)
    memory = Memory(root)
    memory.write("memfas.yaml", CONFIG + server.settings)
    memory.write(NAME, "- 09:00 Alice chose Postgres 16 over MySQL for JSON.\n")
    server.script = [text]
    assert compound(memory, "--date", DAY).status in (0, 1)
    sound(memory, "- 09:00 Alice chose Postgres 16 over MySQL for JSON.\n")
