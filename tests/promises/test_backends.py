"""Another backend than words, from the command line: `reindex -b embedding` and what follows."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from agent_memfas import Memory
from ollama import TOY, ollama
from promises.prompt import Here

WITH_TOY = ("-b", "embedding", "-e", "ollama", "-m", "all-minilm")
NOTES = "- [P0] my horse is called Blitz\n- [P0] the soup was too hot\n- [P0] taxes are due\n"


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> object:
    """A server with a toy model at $OLLAMA_HOST: zebra, horse and pony mean the same to it."""
    with ollama() as address:
        monkeypatch.setenv("OLLAMA_HOST", address)
        yield address


def test_vectors_rank_once_the_settings_say_so(here: Here, server: str) -> None:
    """After `reindex -b embedding --save-config` recall and search find what shares no word with
    the question, a program finds the same, and comments in memfas.yaml are still there."""
    here.write("memfas.yaml", "# mine\ncontext:\n  relevance_cutoff: 0.3  # by hand\n")
    here.write("MEMORY.md", NOTES)
    assert here.hits("pony") == []
    result = here.memfas("reindex", *WITH_TOY, "-y", "--save-config")
    assert result.status == 0
    assert [line.split(" with")[0] for line in result.text.splitlines()] == [
        "Current: fts5", "Target: embedding", "Re-indexing...", "✓ Migrated to embedding: 3 memories",
    ]  # fmt: skip
    assert here.hits("pony") == ["- [P0] my horse is called Blitz"]
    assert here.memfas("search", "pony", "--json").data["hits"][0]["start_line"] == 1
    assert [r.text for r in Memory("memfas.yaml").search("pony")] == here.hits("pony")
    assert here.memfas("stats", "--json").data["backend"] == "embedding"
    text = here.read("memfas.yaml").decode()
    assert text.startswith("# mine\ncontext:\n  relevance_cutoff: 0.3  # by hand\n")
    assert "embedder_model: all-minilm" in text


def test_a_text_is_embedded_once(here: Here, server: str) -> None:
    """Later questions, each a process of its own to the vectors, ask for the question alone; a line
    that is new for that line; an edit is found at once."""
    here.write("MEMORY.md", NOTES)
    here.memfas("reindex", *WITH_TOY, "--save-config")
    TOY.asked.clear()
    here.hits("pony")
    assert [text for text in TOY.asked if "fox" not in text] == ["pony"]
    here.write("MEMORY.md", NOTES.replace("horse", "donkey"))
    TOY.asked.clear()
    assert here.hits("pony") == []
    assert sum("donkey" in text for text in TOY.asked) == 1
    assert not any("taxes" in text for text in TOY.asked)


def test_without_saving_the_next_question_is_ranked_as_before(here: Here, server: str) -> None:
    """It is said that memfas.yaml still names the other backend."""
    here.write("MEMORY.md", NOTES)
    result = here.memfas("reindex", *WITH_TOY)
    assert (result.status, "--save-config" in result.errors) == (0, True)
    assert here.hits("pony") == []
    assert not (here.root / "memfas.yaml").exists()


def test_there_and_back_loses_nothing_that_came_in_between(here: Here, server: str) -> None:
    """fts5, embedding, a new file, fts5: all memories are there, and stats names the backend that
    the next process has too."""
    here.write("MEMORY.md", NOTES)
    assert here.memfas("reindex", *WITH_TOY, "-y", "--save-config").status == 0
    here.write("memory/a.md", "the other horse is Donner\n")
    result = here.memfas("reindex", "-b", "fts5", "-y", "--save-config")
    assert (result.status, "4 memories" in result.text.splitlines()[-1]) == (0, True)
    assert len(here.hits("horse")) == 2
    assert here.memfas("stats", "--json").data["backend"] == "fts5"
    assert "backend: fts5" in here.read("memfas.yaml").decode()


def test_a_watcher_makes_the_vectors_of_what_is_new(here: Here, server: str) -> None:
    """`watch --once` embeds what was written, so that the next question has nothing to wait for;
    where that fails it is said, and the rest of its work is done."""
    here.write("MEMORY.md", NOTES)
    here.memfas("reindex", *WITH_TOY, "--save-config")
    here.write("memory/a.md", "- a zebra was seen\n")
    assert here.memfas("watch", "--once").status == 0
    TOY.asked.clear()
    assert len(here.hits("pony")) == 2
    assert not any("zebra" in text for text in TOY.asked)
    here.write("memory/b.md", "- a foal was seen\n")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("OLLAMA_HOST", "127.0.0.1:1")
        result = here.memfas("watch", "--once")
    assert (result.status, "no vectors: " in result.errors) == (0, True)
    assert "3 in the index" in result.text


def test_a_server_that_is_gone_is_told_and_words_rank(here: Here, server: str) -> None:
    """At the start of a question as in the middle of one: the answer is there, status 0, and what
    failed stands on the other stream, with what mends it."""
    here.write("MEMORY.md", NOTES)
    here.memfas("reindex", *WITH_TOY, "--save-config")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("OLLAMA_HOST", "127.0.0.1:1")
        result = here.memfas("recall", "soup")
    assert (result.status, "the soup was too hot" in result.text) == (0, True)
    assert "ranked by words" in result.errors
    assert "ollama serve" in result.errors


def test_a_server_that_fails_later_is_noted_in_the_answer(
    here: Here, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A program that asks when the server has gone is warned, and gets what words find."""
    here.write("MEMORY.md", NOTES)
    with ollama() as address:
        monkeypatch.setenv("OLLAMA_HOST", address)
        here.memfas("reindex", *WITH_TOY, "--save-config")
        memory = Memory("memfas.yaml")
        assert memory.search("pony")[0].text.endswith("Blitz")
    here.write("memory/a.md", "the soup of the day\n")
    with memory, pytest.warns(UserWarning, match="ranked by words"):
        assert {r.source for r in memory.search("soup")} == {"MEMORY.md", "memory/a.md"}


@pytest.mark.parametrize("options", [
    ["-b", "fts5", "-e", "ollama"], ["-b", "embedding", "-e", "nosuch"], ["-b", "nosuch"],
], ids=" ".join)  # fmt: skip
def test_what_makes_no_sense_is_a_mistake_and_changes_nothing(
    here: Here, options: list[str]
) -> None:
    """Usage, status 2, before anything is read or written."""
    here.write("MEMORY.md", NOTES)
    result = here.memfas("reindex", *options, "--save-config")
    assert (result.status, result.raw) == (2, b"")
    assert here.names() == ["MEMORY.md"]


def test_a_library_that_is_not_installed_is_named_and_nothing_changes(
    here: Here, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without the extra `reindex -b embedding` says how to get it; the index answers as before."""
    monkeypatch.setitem(sys.modules, "fastembed", None)
    monkeypatch.setattr("agent_memfas.embedders.fastembed.find_spec", lambda _: None)
    here.write("MEMORY.md", NOTES)
    here.memfas("index")
    result = here.memfas("reindex", "-b", "embedding", "-e", "fastembed", "-y", "--save-config")
    assert result.status == 3
    assert "agent-memfas[embeddings]" in result.errors
    assert not Path("memfas.yaml").exists()
    assert here.hits("soup") == ["- [P0] the soup was too hot"]


def test_the_same_backend_may_be_saved(here: Here) -> None:
    """`reindex -b fts5 -y --save-config` in a folder that never had another one."""
    here.write("MEMORY.md", NOTES)
    result = here.memfas("reindex", "-b", "fts5", "-y", "--save-config", "--json")
    assert (result.status, result.data["memories"]) == (0, 3)
    assert here.read("memfas.yaml") == b"search:\n  backend: fts5\n"
