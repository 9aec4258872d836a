"""Embedders of settings: `memfas reindex -e TYPE`, `search.base_url`, `search.api_key_env`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

from agent_memfas import Config
from agent_memfas.config import SearchConfig
from embedders.server import error, late, serving
from inputs.memory import Memory
from ollama import TOY, ollama

NOTES = "- [P0] my horse is called Blitz\n- [P0] the soup was too hot\n"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Memory:
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL", "OLLAMA_HOST"):
        monkeypatch.delenv(name, raising=False)
    made = Memory(tmp_path / "my-agent")
    made.write("MEMORY.md", NOTES)
    return made


def found(folder: Memory, question: str) -> list[str]:
    answer = folder.run("recall", question, "--json", "--within", "0")
    assert answer.status in (0, 1), answer
    return [hit["text"] for hit in answer.data["hits"]]


def test_a_compatible_server_is_used_once_the_settings_name_it(folder: Memory) -> None:
    """Its address stands in memfas.yaml; what shares no word with the question is found."""
    with serving() as server:
        folder.write("memfas.yaml", f"search:\n  base_url: {server.address}  # vLLM\n")
        done = folder.run(
            "reindex", "-b", "embedding", "-e", "openai", "-m", "toy", "--save-config"
        )
        assert (done.status, done.errors) == (0, "")
        assert found(folder, "pony")[0] == "- [P0] my horse is called Blitz"
        assert {body["model"] for body in server.bodies} == {"toy"}
        assert b"# vLLM\n" in folder.read("memfas.yaml")
        server.script = [error(500)]
        result = folder.run("recall", "soup", "--json")
    assert [hit["start_line"] for hit in result.data["hits"]] == [2]
    assert "ranked by words" in " ".join(result.data["notes"])


def test_it_is_said_where_the_texts_go(folder: Memory) -> None:
    """Before the first one is sent to a server that is not on this machine."""
    folder.write("memfas.yaml", "search: {base_url: 'http://models.invalid/v1'}\n")
    result = folder.run("reindex", "-b", "hybrid", "-e", "openai", "-m", "toy")
    assert result.status != 0
    assert "the texts of this folder go to http://models.invalid/v1" in result.errors


def test_the_key_is_that_of_the_variable_that_is_named(
    folder: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And without it nothing is asked; a key that is pasted there is a mistake, and not shown."""
    options = ("reindex", "-b", "embedding", "-e", "openai")
    settings = "search:\n  base_url: {}\n  api_key_env: {}\n"
    monkeypatch.setenv("MINE", "sk-mine")
    with serving() as server:
        folder.write("memfas.yaml", settings.format(server.address, "MINE"))
        assert folder.run(*options).status == 0
        assert set(server.keys) == {"Bearer sk-mine"}
        folder.write("memfas.yaml", settings.format("https://embeddings.invalid/v1", "OTHER"))
        done = folder.run(*options, "--json")
        assert (done.status, "$OTHER is not set" in done.data["error"]) == (3, True)
        folder.write("memfas.yaml", settings.format(server.address, "sk-pasted-by-mistake"))
        done = folder.run(*options)
    assert (done.status, "memfas.yaml:3" in done.errors) == (3, True)
    assert "api_key_env" in done.errors
    assert "pasted" not in done.everything


def test_the_address_of_an_ollama_server_may_stand_in_the_settings(
    folder: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    """There it counts more than $OLLAMA_HOST, which is one for all folders."""
    monkeypatch.setenv("OLLAMA_HOST", "127.0.0.1:1")
    with ollama() as address:
        folder.write("memfas.yaml", f"search: {{base_url: '{address}'}}\n")
        options = ("reindex", "-b", "embedding", "-e", "ollama", "-m", "all-minilm")
        assert folder.run(*options).status == 0
        assert any("Blitz" in text for text in TOY.asked)


def test_a_model_of_another_embedder_is_not_kept(folder: Memory) -> None:
    """Who goes from one embedder to another without naming a model gets the usual one."""
    folder.write("memfas.yaml", "search:\n  embedder_type: ollama\n  embedder_model: all-minilm\n")
    done = folder.run("reindex", "-b", "embedding", "-e", "offline", "--save-config")
    assert done.status == 0, done
    assert Config.load(folder.root / "memfas.yaml").search == SearchConfig(
        backend="embedding", embedder_type="offline"
    )
    done = folder.run("reindex", "-b", "embedding", "-e", "offline", "-m", "other")
    assert (done.status, "-m" in done.errors) == (2, True)


def test_the_settings_in_force_name_them_and_objects_keep_them(tmp_path: Path) -> None:
    """`memfas config` shows both keys; a Config that is loaded, changed and saved has them."""
    folder = Memory(tmp_path)
    folder.write("memfas.yaml", "search:\n  base_url: http://localhost:8000/v1\n")
    shown = folder.run("config").text
    assert "search.base_url" in shown
    assert "OPENAI_API_KEY" in shown
    config = Config.load(tmp_path / "memfas.yaml")
    assert config.search.base_url == "http://localhost:8000/v1"
    assert Config.from_dict(config.to_dict()) == config
    config.search.api_key_env = "MINE"
    config.save(tmp_path / "memfas.yaml")
    assert folder.read("memfas.yaml") == (
        b"search:\n  base_url: http://localhost:8000/v1\n  api_key_env: MINE\n"
    )
    assert "base_url" not in Config().to_dict()["search"]


def test_an_ollama_server_that_hangs_or_talks_nonsense_is_a_sentence(folder: Memory) -> None:
    """Within the time that is given to it; the same for one that says no."""
    from agent_memfas.embedders import OllamaEmbedder
    from agent_memfas.errors import TryAgain

    cases = ((late, "nothing came"), (lambda _: (200, {}, b"<html>"), "web page"),
             (lambda _: (200, {}, b'{"embeddings": [[NaN]]}'), "finite"),
             (lambda _: (200, {}, b'{"embeddings": []}'), "0 vectors for 1 texts"),
             (lambda _: (400, {}, b'{"error": "out of memory"}'), "out of memory"))  # fmt: skip
    for make, words in cases:
        with serving() as server:
            answer = make(server)
            server.script = [answer]
            with pytest.raises(TryAgain, match=words):
                OllamaEmbedder("toy", server.address, timeout=0.5).embed("soup")


def test_questions_for_ollama_have_the_prefix_of_the_model(folder: Memory) -> None:
    """nomic-embed-text was trained with one for questions and another for texts."""
    from agent_memfas.embedders import OllamaEmbedder
    from agent_memfas.errors import TryAgain

    with serving() as server:
        one = OllamaEmbedder("nomic-embed-text:latest", server.address)
        for ask in (one.embed_query, one.embed):
            with pytest.raises(TryAgain):
                ask("soup")
    assert server.asked == [["search_query: soup"], ["search_document: soup"]]


def test_a_question_never_waits_for_a_model_to_be_fetched(
    folder: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`reindex` fetches it; a question that does not find it is answered by words, and says how it
    comes here.
    """
    fetched: list[str] = []

    class TextEmbedding:
        def __init__(self, model_name: str, **options: Any) -> None:
            if options:
                raise ValueError("not in the cache")
            fetched.append(model_name)
            raise OSError("no network")

    library = type(sys)("fastembed")
    library.TextEmbedding = TextEmbedding  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "fastembed", library)
    monkeypatch.setattr("agent_memfas.embedders.fastembed.find_spec", lambda _: library)
    folder.write("memfas.yaml", "search: {backend: embedding, embedder_type: fastembed}\n")
    result = folder.run("recall", "soup", "--json")
    assert [hit["start_line"] for hit in result.data["hits"]] == [2]
    told = result.errors + " ".join(result.data["notes"])
    assert "memfas reindex -b embedding -e fastembed" in told
    assert fetched == []
    assert "no network" in folder.run("reindex").errors
    assert len(fetched) == 1
