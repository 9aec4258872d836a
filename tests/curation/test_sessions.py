"""What a session was given, over turns, objects and processes."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from math import log
from pathlib import Path

import pytest

from agent_memfas.v3 import ContextCurator
from commandline import REPO
from curation.support import Agent

Made = Callable[..., ContextCurator]


@pytest.fixture(autouse=True)
def _known(agent: Agent) -> None:
    agent.keep("The heron nests at the pond", "The egret nests in the reeds")


def test_a_named_session_is_not_given_the_same_twice(agent: Agent, curator: Made) -> None:
    """The second turn of `main` gets what is new only, and the account says why; another session,
    and one that asks for it, get it again."""
    mine = curator()
    first = mine.get_context("Where does the heron nest?", session_id="main")
    assert "heron" in first.context
    second = mine.get_context("Where does the heron nest?", session_id="main")
    assert "heron" not in second.context
    assert second.memories_dropped >= 1
    assert mine.last
    assert {left.reason for left in mine.last.dropped} == {"given in this session already"}
    assert "heron" in mine.get_context("Where does the heron nest?", session_id="other").context
    again = mine.get_context("Where does the heron nest?", session_id="main", resend=True)
    assert again.context == first.context
    agent.write("memory/2026-03-01.md", "- The heron nests on the roof now\n")
    third = mine.get_context("Where does the heron nest?", session_id="main")
    assert "on the roof now" in third.context
    assert "at the pond" not in third.context


def test_after_a_compaction_a_session_is_given_it_again(agent: Agent, curator: Made) -> None:
    """What was given before the window was compacted is no longer there: it may come once more, in
    this process and in others. Another session is not touched; one that nobody knows makes no file.
    """
    mine = curator()
    for session in ("main", "other"):
        assert "heron" in mine.get_context("Where does the heron nest?", session_id=session).context
    mine.on_compaction("main")
    mine.on_compaction("unknown")
    assert len(list((agent.root / ".memfas/curation").glob("*.json"))) == 2
    again = curator()
    assert "heron" in again.get_context("Where does the heron nest?", session_id="main").context
    for session in ("main", "other"):
        found = again.get_context("Where does the heron nest?", session_id=session)
        assert "heron" not in found.context
    assert again.get_session_stats("main")["memories_accessed"] >= 1


def test_a_memory_is_known_wherever_it_stands(agent: Agent, curator: Made) -> None:
    """Lines move, a log says the same again: what was given stays given. A text that was changed is
    another memory."""
    mine = curator()
    fact = "The staging host of the acme project is called ibis"
    agent.write("memory/2026-03-01.md", f"- {fact}\n")
    assert "ibis" in mine.get_context("staging host", session_id="s").context
    agent.write("memory/2026-03-01.md", f"# A new head\n\n- Rain\n- {fact}\n")
    assert "ibis" not in mine.get_context("staging host", session_id="s").context
    agent.write("memory/2026-03-02.md", f"- {fact}\n")
    agent.write("MEMORY.md", f"- [P0] {fact}\n")
    assert "ibis" not in mine.get_context("staging host", session_id="s").context
    agent.write("memory/2026-03-01.md", f"- {fact.replace('ibis', 'ibis two')}\n")
    agent.write("MEMORY.md", "")
    (agent.root / "memory/2026-03-02.md").unlink()
    assert "ibis two" in mine.get_context("staging host", session_id="s").context


def test_a_session_gets_to_all_there_is(agent: Agent, curator: Made) -> None:
    """Asked the same again and again it is given the next ones each time, each once, until there is
    nothing left; a long talk does not run dry before."""
    agent.keep(*(f"The acme server number {n} stands in hall {n * 7}" for n in range(200)))
    mine = curator(level=5)
    seen = list[str]()
    for _ in range(30):
        context = mine.get_context("acme server", session_id="s").context
        seen += [line for line in context.splitlines() if "acme server" in line]
        if not context:
            break
    assert len(seen) == len(set(seen)) == 200


def test_the_session_of_nobody_is_given_it_again(curator: Made) -> None:
    """Who names no session asks each time anew; `resend=False` leaves out there, too."""
    mine = curator()
    first = mine.get_context("heron")
    assert mine.get_context("heron").context == first.context != ""
    assert mine.get_context("heron", resend=False).memories_included == 0


def test_what_was_given_often_counts_more(curator: Made) -> None:
    """Accesses are counted, and from the second time on a memory of this session counts 1.2 times;
    nothing of that in another session."""
    mine = curator()
    seen = []
    for _ in range(4):
        mine.get_context("heron", session_id="s", resend=True)
        assert mine.last
        (one,) = [r for r in mine.last.rated if r.source == "MEMORY.md:1"]
        seen.append((round(one.worth.access, 6), one.worth.boosted))
    assert seen == [(round(log(1 + n) / 5, 6), n >= 2) for n in range(4)]
    mine.get_context("heron", session_id="new")
    assert mine.last
    assert not any(one.worth.boosted or one.worth.access for one in mine.last.rated)


def test_a_session_survives_the_object(curator: Made) -> None:
    """Another object, or process, goes on with the session; ending it forgets it."""
    curator().get_context("heron", session_id="s")
    later = curator()
    assert later.get_context("heron", session_id="s").memories_included == 0
    stats = later.get_session_stats("s")
    assert (stats["session_id"], stats["turn_count"]) == ("s", 2)
    assert list(stats) == [
        "session_id", "turn_count", "duration_minutes", "unique_topics", "active_entities",
        "memories_accessed", "hot_memories",
    ]  # fmt: skip
    later.end_session("s")
    assert later.get_session_stats("s")["turn_count"] == 0
    assert curator().get_context("heron", session_id="s").memories_included > 0


@pytest.mark.parametrize("name", ["", "../../etc/passwd", "a" * 5000, "\udcff", "a\0b", "会话 1"])
def test_any_text_is_a_session(agent: Agent, curator: Made, name: str) -> None:
    """Whatever a host calls its sessions: it has a memory of its own, in .memfas and nowhere else."""
    mine = curator()
    assert mine.get_context("heron", session_id=name).memories_included > 0
    assert mine.get_context("heron", session_id=name).memories_included == 0
    assert set(agent.truth()) == {"MEMORY.md"}
    assert sorted(p.name for p in agent.root.parent.iterdir()) == ["agent"]


def test_topics_are_those_of_the_session(curator: Made) -> None:
    """The first turn of a session is no shift, whatever others talk about; a follow-up is none,
    and brings its topic along; a new topic is one."""
    mine = curator()
    first = mine.get_context("What is the status of the heron?", session_id="a")
    assert (first.topic, first.topic_shifted) == ("heron", False)
    other = mine.get_context("Where is my passport?", session_id="b")
    assert (other.topic, other.topic_shifted) == ("passport", False)
    follow = mine.get_context("and where does it nest?", session_id="a", resend=True)
    assert (follow.topic, follow.topic_shifted) == ("heron", False)
    assert "at the pond" in follow.context
    moved = mine.get_context("Who cooks the soup on Friday?", session_id="a")
    assert moved.topic_shifted


def test_an_empty_question_gets_nothing(curator: Made) -> None:
    """Nothing is asked, nothing is given, whatever the session was about."""
    mine = curator()
    mine.get_context("heron", session_id="s")
    for blank in ("", "  \n"):
        response = mine.get_context(blank, session_id="s", resend=True)
        assert (response.context, response.tokens_used) == ("", 0)


PROGRAM = """
import sys
from agent_memfas.v3 import ContextCurator
with ContextCurator(sys.argv[1]) as curator:
    for n in range(15):
        response = curator.get_context("heron", session_id="shared", resend=True)
        assert "heron" in response.context
"""


def test_two_processes_share_a_session(agent: Agent, curator: Made) -> None:
    """Each of two has 15 turns in it at the same time: the session has 30, and the telemetry."""
    environment = {**os.environ, "PYTHONPATH": str(REPO / "scripts")}
    both = [
        subprocess.Popen([sys.executable, "-c", PROGRAM, agent.root], env=environment)
        for _ in range(2)
    ]
    assert [one.wait(120) for one in both] == [0, 0]
    stats = curator().get_session_stats("shared")
    assert (stats["turn_count"], stats["memories_accessed"]) == (30, 1)
    turns = (agent.root / ".memfas/telemetry.jsonl").read_text().splitlines()
    assert len([line for line in turns if json.loads(line)["type"] == "turn"]) == 30


@pytest.mark.parametrize("damage", [b"", b"{", b"[]", b'{"version": 1}', b"\xff\xfe", b"null"])
def test_a_damaged_session_begins_anew(agent: Agent, curator: Made, damage: bytes) -> None:
    """Its file is rubbish: the turn is answered, the notes say so once, and it goes on from there."""
    mine = curator()
    mine.get_context("heron", session_id="s")
    (file,) = (agent.root / ".memfas/curation").glob("*.json")
    file.write_bytes(damage)
    response = mine.get_context("heron", session_id="s")
    assert "heron" in response.context
    assert any("begins anew" in note for note in mine.notes)
    assert mine.get_context("heron", session_id="s").memories_included == 0
    assert mine.notes == []


def test_a_folder_in_place_of_the_session_costs_no_answer(agent: Agent, curator: Made) -> None:
    """It cannot be read or written: each turn is answered, and says that it is not remembered."""
    mine = curator()
    mine.get_context("heron", session_id="s")
    (file,) = (agent.root / ".memfas/curation").glob("*.json")
    file.unlink()
    file.mkdir()
    for _ in range(2):
        assert "heron" in mine.get_context("heron", session_id="s").context
        assert any("may be given the same again" in note for note in mine.notes)
    mine.end_session("s")


def test_sessions_of_curation_are_private(agent: Agent, curator: Made) -> None:
    """What was said stands in a file that only I can read."""
    curator().get_context("heron", session_id="s")
    for path in (agent.root / ".memfas/curation").iterdir():
        assert Path(path).stat().st_mode & 0o077 == 0
