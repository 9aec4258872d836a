"""The configuration as an object: read from YAML and JSON, changed, checked, saved."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from agent_memfas import Config
from agent_memfas.config import SearchConfig, SourceConfig, TriggerConfig
from agent_memfas.errors import ConfigError, MemfasError

FULL: dict[str, Any] = {
    "db_path": "./index.db",
    "sources": [{"path": "./MEMORY.md", "type": "markdown", "always_load": True}],
    "triggers": [{"keyword": "alice", "hint": "PM", "memory_ids": [7, "MEMORY.md#L3"]}],
    "triggers_file": "./words.md",
    "search": {
        "backend": "embedding", "max_results": 9, "recency_weight": 0.5, "min_score": 0.2,
        "embedder_type": "ollama", "embedder_model": "all-minilm",
    },
}  # fmt: skip


def test_the_defaults_are_those_of_the_reference() -> None:
    """Every field and every default."""
    assert Config().to_dict() == {
        "db_path": "./memfas.db", "sources": [], "triggers": [], "triggers_file": None,
        "search": {"backend": "fts5", "max_results": 5, "recency_weight": 0.3, "min_score": 0.0,
                   "embedder_type": None, "embedder_model": None},
    }  # fmt: skip
    assert SourceConfig("a.md") == SourceConfig("a.md", "markdown", always_load=False)
    assert TriggerConfig("a", "b") == TriggerConfig("a", "b", [])
    assert SearchConfig().backend == "fts5"


def test_a_dict_and_back_is_the_same() -> None:
    """Every key of the reference survives."""
    assert Config.from_dict(FULL).to_dict() == FULL
    assert Config.from_dict({}) == Config()


@pytest.mark.parametrize("name", ["memfas.yaml", "memfas.yml", "memfas.json"])
def test_saved_and_loaded_is_the_same(tmp_path: Path, name: str) -> None:
    """In YAML and in JSON; nobody else may read the file."""
    file = tmp_path / name
    Config.from_dict(FULL).save(file)
    loaded = Config.load(str(file))
    assert loaded == Config.from_dict(FULL)
    assert loaded.file == file
    assert loaded.base == tmp_path
    assert file.stat().st_mode & 0o777 == 0o600


def test_saving_keeps_comments_and_keys_of_others(tmp_path: Path) -> None:
    """Only what differs is written: `context:` and what is in a comment are as they were."""
    file = tmp_path / "memfas.yaml"
    text = (
        "# ours\nsources: [MEMORY.md]  # short\n\ncontext:\n  relevance_cutoff: 0.3  # low\n"
        "search:\n    max_results: 5   # few\ntimezone: Europe/Berlin\n"
    )
    file.write_text(text)
    file.chmod(0o640)
    config = Config.load(file)
    config.save(file)
    assert file.read_text() == text
    config.search.max_results = 8
    config.sources.append(SourceConfig("./b.md", always_load=True))
    config.save(file)
    saved = file.read_text()
    assert saved.replace("8   # few", "5   # few").startswith("# ours\nsources: [MEMORY.md, {")
    assert "context:\n  relevance_cutoff: 0.3  # low\nsearch:\n    max_results: 8   # few" in saved
    assert Config.load(file) == config
    assert file.stat().st_mode & 0o777 == 0o640


def test_saving_to_a_file_that_is_wrong_leaves_it_alone(tmp_path: Path) -> None:
    """What cannot be read is not written over."""
    file = tmp_path / "memfas.yaml"
    file.write_text("search: {nope: 1}\n")
    with pytest.raises(MemfasError, match="nope"):
        Config().save(file)
    assert file.read_text() == "search: {nope: 1}\n"


def test_the_default_takes_the_usual_files_that_are_there(tmp_path: Path) -> None:
    """MEMORY.md, the logs in memory/, and intuition.md, which is always loaded."""
    assert Config.default(tmp_path).sources == []
    (tmp_path / "MEMORY.md").touch()
    (tmp_path / "memory").mkdir()
    (tmp_path / "memory/2026-02-24.md").touch()
    (tmp_path / "intuition.md").touch()
    assert Config.default(str(tmp_path)).sources == [
        SourceConfig("./MEMORY.md"), SourceConfig("./memory/*.md"),
        SourceConfig("./intuition.md", always_load=True),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("data", "words"),
    [
        ({"serch": {}}, ["unknown key serch"]),
        ({"search": {"max_result": 5}}, ["search.max_result", "search.max_results"]),
        ({"search": {"max_results": "5"}}, ["search.max_results", "str '5'"]),
        ({"search": {"max_results": True}}, ["search.max_results"]),
        ({"sources": "MEMORY.md"}, ["sources", "a list"]),
        ({"sources": [{"type": "markdown"}]}, ["sources", "path"]),
        ({"sources": [{"path": "a", "always_load": "yes"}]}, ["always_load"]),
        ({"sources": [{"path": "a", "type": 5}]}, ["type"]),
        ({"triggers": [{"hint": "x"}]}, ["keyword"]),
        ({"triggers": [{"keyword": "a", "hint": "x", "memory_ids": "1"}]}, ["memory_ids"]),
        ({"search": {"backend": "elastic"}}, ["search.backend", "fts5"]),
        ({"search": {"embedder_type": "cohere"}}, ["search.embedder_type", "fastembed", "openai"]),
        ({"search": {"base_url": "localhost:8000"}}, ["search.base_url", "http://"]),
        ({"search": {"api_key_env": "a key"}}, ["search.api_key_env", "OPENAI_API_KEY"]),
        ({"db_path": 5}, ["db_path"]),
    ],
)
@pytest.mark.parametrize("way", ["dict", "yaml", "json"])
def test_a_mistake_is_named(
    tmp_path: Path, data: dict[str, Any], words: list[str], way: str
) -> None:
    """The same rule for all three; of a file it names the line as well."""
    file = tmp_path / f"memfas.{way}"
    if way == "json":
        file.write_text(json.dumps(data, indent=1))
    elif way == "yaml":
        import yaml

        file.write_text(yaml.safe_dump(data))
    with pytest.raises(ConfigError) as caught:
        Config.from_dict(data) if way == "dict" else Config.load(file)
    told = f"{caught.value.message} {caught.value.remedy}"
    assert all(word in told for word in words), told
    if way != "dict":
        assert re.search(rf"{re.escape(str(file))}:[0-9]", told), told


def test_what_no_file_can_hold_is_named() -> None:
    """A value that could never be saved is a mistake at once."""
    with pytest.raises(ConfigError, match="configuration"):
        Config.from_dict({"db_path": {1, 2}})


@pytest.mark.parametrize("text", ["", "\n", "# nothing\n"])
def test_an_empty_file_is_the_defaults(tmp_path: Path, text: str) -> None:
    """No traceback for it."""
    (tmp_path / "memfas.yaml").write_text(text)
    assert Config.load(tmp_path / "memfas.yaml") == Config()


def test_a_missing_file_and_a_folder_are_errors(tmp_path: Path) -> None:
    """Nothing is made of them."""
    for path in (tmp_path / "memfas.yaml", tmp_path):
        with pytest.raises(ConfigError):
            Config.load(path)
    assert list(tmp_path.iterdir()) == []
