"""Vectors: what the embedders say of their models, tables of one's own, a plain sqlite3."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from agent_memfas import Memory
from agent_memfas.embedders import Embedder, FastEmbedEmbedder, OllamaEmbedder
from agent_memfas.errors import UsageError
from agent_memfas.search import EmbeddingBackend

BIRDS = (("heron", "bird"), ("soup", "recipe"))


class Birds(Embedder):
    """Two things that a text can be about."""

    @property
    def dimensions(self) -> int:
        return len(BIRDS)

    def embed(self, text: str) -> Sequence[float]:
        return [float(sum(text.lower().count(word) for word in topic)) for topic in BIRDS]


@pytest.mark.parametrize(("model", "dimensions"), [
    ("BAAI/bge-small-en-v1.5", 384), ("BAAI/bge-base-en-v1.5", 768),
    ("sentence-transformers/all-MiniLM-L6-v2", 384), ("nomic-ai/nomic-embed-text-v1.5", 768),
    ("somebody/something", 384),
])  # fmt: skip
def test_fastembed_knows_the_dimensions_of_its_models(
    monkeypatch: pytest.MonkeyPatch, model: str, dimensions: int
) -> None:
    """Before one is loaded; of a model that is not known, those of the usual one."""
    monkeypatch.setattr("agent_memfas.embedders.fastembed.find_spec", lambda name: name)
    assert FastEmbedEmbedder(model).dimensions == dimensions
    assert FastEmbedEmbedder().dimensions == 384


@pytest.mark.parametrize(("model", "dimensions"), [
    ("nomic-embed-text", 768), ("mxbai-embed-large", 1024), ("all-minilm", 384),
    ("snowflake-arctic-embed", 1024), ("something", 768), ("mxbai-embed-large:latest", 1024),
])  # fmt: skip
def test_ollama_knows_the_dimensions_of_its_models(model: str, dimensions: int) -> None:
    """Before a server is asked, with a tag or without one; of an unknown model 768."""
    assert OllamaEmbedder(model).dimensions == dimensions
    assert OllamaEmbedder().dimensions == 768


def test_two_backends_of_one_file_keep_to_their_tables(tmp_path: Path) -> None:
    """With another table_prefix one neither finds, counts, deletes nor clears what is the other's;
    with the same prefix it does."""
    file = tmp_path / "vectors.db"
    with (
        EmbeddingBackend(file, Birds(), table_prefix="mine") as mine,
        EmbeddingBackend(file, Birds(), table_prefix="yours") as yours,
        EmbeddingBackend(file, Birds()) as usual,
    ):
        mine.index("a", "a heron", {"source": "mine.md"})
        yours.index("a", "another heron", {"source": "yours.md"})
        assert [result.source for result in mine.search("bird")] == ["mine.md"]
        assert [result.source for result in yours.search("bird")] == ["yours.md"]
        assert (usual.search("bird"), usual.count()) == ([], 0)
        usual.delete("a")
        yours.clear()
        assert (yours.search("bird"), yours.count()) == ([], 0)
        assert [result.text for result in mine.search("bird")] == ["a heron"]
        with EmbeddingBackend(file, Birds(), table_prefix="mine") as again:
            assert again.count() == 1
            assert [result.source for result in again.search("bird")] == ["mine.md"]


@pytest.mark.parametrize("prefix", [
    "", " ", "1st", "a-b", "a b", "a.b", 'a"b', "x; drop table y", "größe", "a\x00b",
])  # fmt: skip
def test_a_table_prefix_that_is_no_name_is_refused(tmp_path: Path, prefix: str) -> None:
    """A sentence that names the option, and no file is made."""
    with pytest.raises(UsageError, match="table_prefix"):
        EmbeddingBackend(tmp_path / "vectors.db", Birds(), table_prefix=prefix)
    assert list(tmp_path.iterdir()) == []


class Plain(sqlite3.Connection):
    """A connection of a Python that was built without loadable extensions."""

    def __getattribute__(self, name: str) -> Any:
        if name in ("enable_load_extension", "load_extension"):
            raise AttributeError(f"'sqlite3.Connection' object has no attribute '{name}'")
        return super().__getattribute__(name)


def test_vectors_need_no_extension_of_sqlite(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where sqlite3 can load none, as in many a Python, the backend finds by meaning all the same,
    alone and in a Memory."""
    connect, opened = sqlite3.connect, list[Plain]()

    def plain(*arguments: Any, **options: Any) -> sqlite3.Connection:
        opened.append(connect(*arguments, **{**options, "factory": Plain}))
        return opened[-1]

    monkeypatch.setattr(sqlite3, "connect", plain)
    with EmbeddingBackend(tmp_path / "vectors.db", Birds()) as backend:
        backend.index("a", "a heron", {"source": "a.md"})
        backend.index("b", "a soup", {"source": "b.md"})
        assert [result.source for result in backend.search("bird")] == ["a.md"]
    assert opened
    assert not any(hasattr(one, "enable_load_extension") for one in opened)
    (tmp_path / "MEMORY.md").write_text("- a heron\n- a soup\n")
    with Memory(tmp_path, search_backend="embedding", embedder=Birds()) as memory:
        assert [result.text for result in memory.search("bird")] == ["- a heron"]
        assert "- a soup" in memory.recall("recipe")
