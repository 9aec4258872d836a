"""Vectors in the index: made once, as fresh as the files, and never in the way."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

import pytest

from agent_memfas import Memory
from agent_memfas.errors import TryAgain
from agent_memfas.index import semantic
from agent_memfas.index.probes import LATIN
from agent_memfas.index.semantic import without_names
from ollama import Topics

NOTES = "# Notes\n\n- my horse is called Blitz\n- the soup was too hot\n- taxes are due\n"


@pytest.fixture
def root(tmp_path: Path, nothing_of_this_machine: None) -> Path:
    folder = tmp_path / "home"
    (folder / "memory").mkdir(parents=True)
    (folder / "MEMORY.md").write_text(NOTES)
    return folder


class Reader(Topics):
    """Knows the answers by which a model is measured, so that its cosines are trusted."""

    def embed(self, text: str) -> Sequence[float]:
        known = [float(text in pair) for pair in LATIN]
        return [*super().embed(text), *known]


def texts(embedder: Topics) -> list[str]:
    """What was embedded of the notes, and what was asked; not what a model is measured by."""
    return [
        text
        for text in embedder.asked
        if any(w in text for w in ("Blitz", "taxes", "soup", "pony"))
    ]


def test_words_and_meaning_together_find_more_than_each(root: Path) -> None:
    """Hybrid: a line that shares no word with the question, and one that shares a word only."""
    memory = Memory(root, search_backend="hybrid", embedder=Reader())
    found = [result.text for result in memory.search("pony taxes")]
    assert set(found[:2]) == {"- my horse is called Blitz", "- taxes are due"}
    assert memory.stats()["backend"] == "HybridBackend"


def test_what_is_far_from_the_question_is_no_hit(root: Path) -> None:
    """Meaning alone: a question about nothing in the notes gets nothing, not all of them."""
    memory = Memory(root, embedder=Topics())
    assert memory.search("learning from a paper") == []
    known = Memory(root, search_backend="hybrid", embedder=Reader())
    assert known.search("learning from a paper") == []
    assert [result.text for result in memory.search("pony")] == ["- my horse is called Blitz"]


def test_a_heading_with_nothing_under_it_is_not_what_is_meant(root: Path) -> None:
    """Of a template, say: it is found by its words alone."""
    (root / "MEMORY.md").write_text(f"{NOTES}\n## My pony\n")
    embedder = Topics()
    found = [result.text for result in Memory(root, embedder=embedder).search("pony")]
    assert found == ["- my horse is called Blitz"]
    assert "## My pony" in [r.text for r in Memory(root).search("pony")]


def test_a_text_is_embedded_once_wherever_it_stands(root: Path) -> None:
    """Without its bullet; moved, copied, indexed anew, asked by another process: never again."""
    Memory(root, search_backend="hybrid", embedder=Reader()).search("pony")
    (root / "memory/2026-02-24.md").write_text(NOTES)
    (root / "MEMORY.md").unlink()
    again = Reader()
    memory = Memory(root, search_backend="hybrid", embedder=again)
    assert memory.search("pony")[0].source == "memory/2026-02-24.md"
    assert texts(again) == ["pony"]
    memory.reindex()
    memory.search("pony")
    assert texts(again) == ["pony", "pony"]
    (root / "memory/2026-02-24.md").write_text(NOTES + "- more soup\n")
    memory.search("pony")
    assert texts(again)[2:] == ["more soup", "pony"]


def test_vectors_of_another_model_are_not_compared(root: Path) -> None:
    """The same class with another name of a model, or with other vectors: all is embedded anew."""

    class Mirrored(Reader):
        def embed(self, text: str) -> Sequence[float]:
            return [-x for x in super().embed(text)]

    Memory(root, search_backend="hybrid", embedder=Reader()).search("pony")
    for other in (Mirrored(), Reader()):
        other.model = "another" if type(other) is Reader else ""
        found = Memory(root, search_backend="hybrid", embedder=other).search("pony")
        assert found[0].text == "- my horse is called Blitz"
        assert len(texts(other)) == 4


def test_a_new_line_is_found_by_words_before_it_has_a_vector(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where there is no time to embed it: it is in the answer, and the answer says what is left."""
    monkeypatch.setattr(semantic, "SECONDS", -1.0)
    memory = Memory(root, search_backend="hybrid", embedder=Reader())
    assert [result.text for result in memory.search("soup")] == ["- the soup was too hot"]
    assert memory.search("pony") == []


def test_an_index_with_odd_vectors_still_answers(root: Path) -> None:
    """Vectors of other lengths, a model that makes no sense: they are made anew, or words rank."""
    memory = Memory(root, search_backend="hybrid", embedder=Reader())
    memory.search("pony")
    memory.close()
    for statement in ("update vectors set vector = x'00' where rowid = 1", "delete from vectors",
                      "update meta set value = 'x' where key = 'model'"):  # fmt: skip
        with closing(
            sqlite3.connect(root / ".memfas/index.db", isolation_level=None)
        ) as connection:
            connection.execute(statement)
        with Memory(root, search_backend="hybrid", embedder=Reader()) as again:
            assert "- the soup was too hot" in [result.text for result in again.search("soup")]
            again.search("pony")
            assert again.search("pony")[0].text == "- my horse is called Blitz"


def test_a_model_that_fails_leaves_words(root: Path) -> None:
    """From the first text or in the middle: a warning, and what words find."""

    class Fails(Reader):
        def embed(self, text: str) -> Sequence[float]:
            if "Blitz" in text:
                raise TryAgain("no power", "plug it in")
            return super().embed(text)

    memory = Memory(root, search_backend="hybrid", embedder=Fails())
    with pytest.warns(UserWarning, match="ranked by words.*no power.*plug it in"):
        assert [result.text for result in memory.search("soup")] == ["- the soup was too hot"]


def test_names_of_those_who_speak_are_no_part_of_what_is_meant() -> None:
    """A model takes what is said to somebody for what is about them; alone, a name stays."""
    people = ["Alice Smith", "小明", "assistant"]
    assert without_names("What did Alice's dog eat, Alice?", people) == "What did dog eat,"
    assert without_names("小明去哪儿了", people) == "去哪儿了"
    assert without_names("Alice", people) == "Alice"
    assert without_names("Does the assistant know Bob?", people) == "Does the assistant know Bob?"
