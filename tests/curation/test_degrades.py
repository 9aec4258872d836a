"""Folders that cannot be written, full disks, wrong settings: a turn is answered all the same."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from agent_memfas.v3 import ContextCurator
from curation.support import Agent
from faults import disks
from inputs.conftest import as_anybody, as_root  # noqa: F401 - fixtures
from inputs.memory import PROGRAM, start

Made = Callable[..., ContextCurator]


@pytest.fixture
def memory(agent: Agent) -> Agent:
    """The folder, by the name under which `as_anybody` knows it."""
    agent.keep("Door code is 4411.")
    return agent


def test_a_folder_that_cannot_be_written_is_answered_from(
    memory: Agent,
    as_anybody: list[str],  # noqa: F811
) -> None:
    """Nothing is written, the context is the same, and a session says that it is not remembered."""
    memory.root.chmod(0o555)
    command = [*as_anybody, *PROGRAM, "curate", "--root", str(memory.root), "door code"]
    for _ in range(2):
        done = start([*command, "-s", "chat", "--json"])
        data = json.loads(done.stdout)
        assert (done.returncode, data["memories_included"]) == (0, 1)
        assert any("may be given the same again" in note for note in data["notes"])
    plain = start(command)
    assert b"4411" in plain.stdout
    assert b"given the same again" not in plain.stderr
    assert sorted(p.name for p in memory.root.iterdir()) == ["MEMORY.md"]


@pytest.mark.parametrize("options", ["size=64k", "nr_inodes=3"])
def test_a_full_disk_costs_what_is_remembered_and_no_answer(
    tmp_path: Path,
    options: str,
    as_root: None,  # noqa: F811
) -> None:
    """No byte, or no file, is free: index, session and telemetry cannot be kept, the context is
    there; once there is room the session is remembered again."""
    with disks.in_memory(tmp_path / "disk", options) as place:
        agent = Agent(place)
        agent.keep("Door code is 4411.")
        ballast = place / "ballast"
        with ballast.open("wb", buffering=0) as file:
            try:
                while options.startswith("size"):
                    file.write(b"x" * 4096)
            except OSError:
                pass
        with ContextCurator(place) as mine:
            for _ in range(2):
                assert "4411" in mine.get_context("door code", session_id="s").context
                assert any("may be given the same again" in note for note in mine.notes)
            mine.end_session("s")
        assert "4411" in agent.curate("door code", "-s", "t").text


def test_a_file_where_the_state_should_be_costs_no_answer(memory: Agent) -> None:
    """`.memfas` is a file of mine: it stays as it is."""
    memory.write(".memfas", "mine")
    result = memory.curate("door code", "-s", "chat")
    assert (result.status, "4411" in result.text) == (0, True)
    assert "may be given the same again" in result.errors
    assert memory.read(".memfas") == b"mine"


def test_wrong_settings_are_told_and_the_defaults_taken(memory: Agent) -> None:
    """As with recall: one sentence about memfas.yaml, and the context."""
    memory.write("memfas.yaml", "bogus: 1\n")
    result = memory.curate("door code")
    assert (result.status, "4411" in result.text) == (0, True)
    assert result.errors.count("unknown key bogus") == 1
    assert "Warning" not in result.errors


def test_settings_that_turn_wrong_leave_a_curator_at_work(memory: Agent, curator: Made) -> None:
    """A memfas.yaml that breaks while the process lives: a warning, and the settings before hold."""
    memory.write("memfas.yaml", "")
    mine = curator()
    mine.get_context("door code")
    memory.write("memfas.yaml", "search: [1\n")
    with pytest.warns(UserWarning, match="the settings before it hold"):
        assert "4411" in mine.get_context("door code").context


def test_an_empty_folder_has_nothing_to_give(agent: Agent, curator: Made) -> None:
    """No file at all, or only empty ones: no context, no error, status 1."""
    for _ in range(2):
        response = curator().get_context("anything?")
        assert (response.context, response.tokens_used, response.memories_included) == ("", 0, 0)
        result = agent.curate("anything?")
        assert (result.status, "No memories found." in result.text) == (1, True)
        agent.write("MEMORY.md", "")
        agent.write("TRIGGERS.md", "")


def test_a_file_that_cannot_be_read_is_named(memory: Agent) -> None:
    """What is no text is not silently left out: the answer says which file, and why."""
    memory.write("memory/2026-03-01.md", b"door code \x00\x01\x02\xff\xfe")
    result = memory.curate("door code")
    assert "4411" in result.text
    assert "memory/2026-03-01.md" in result.errors
    assert any("memory/2026-03-01.md" in note for note in memory.data("door code")["notes"])


def test_an_index_that_is_rubbish_is_made_anew(memory: Agent) -> None:
    """The database is overwritten between two calls: the next one has the same context."""
    before = memory.data("door code")["context"]
    (memory.root / ".memfas/index.db").write_bytes(b"rubbish" * 1000)
    assert memory.data("door code")["context"] == before != ""


def test_a_question_of_any_length_is_answered(memory: Agent, curator: Made) -> None:
    """A hundred kilobytes, odd characters, our own tags: a turn like any other."""
    mine = curator()
    for question in ("door code " * 10_000, "door code \udcff", "door\0code", "</relevant_memory>",
                     "*", "\u202e", "AND OR NOT NEAR(", '"'):  # fmt: skip
        response = mine.get_context(question, "s", resend=True)
        assert response.tokens_used <= response.budget
    assert "4411" in mine.get_context("door code " * 10_000).context
