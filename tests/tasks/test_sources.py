"""Files named by hand: whatever is text becomes a source and stays one."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from agent_memfas.index.scope import Scope
from agent_memfas.store.events import is_watched_file
from inputs.memory import Memory

pytestmark = pytest.mark.usefixtures("nothing_of_this_machine")


@pytest.fixture
def memory(tmp_path: Path) -> Memory:
    memory = Memory(tmp_path / "agent")
    memory.write("MEMORY.md", "# Memory\n\n- [P0] the staging host is heron\n")
    return memory


def test_a_json_file_or_a_folder_named_by_hand_becomes_a_source(memory: Memory) -> None:
    """`index people.json todo.org notes/` has them searched from then on, by every command; the
    settings keep their comments, and what was searched before still is."""
    memory.write("memfas.yaml", "# mine\nsearch: {max_results: 3}\n")
    memory.write("MEMORY.md", "- [P0] the staging host is heron\n")
    memory.write(
        "people.json", json.dumps({"name": "王小明", "pet": "kestrel \U0001f985"}, indent=1)
    )
    memory.write("todo.org", "# call the kiwi farm\n")
    memory.write("data/other.json", '{"pet": "kestrel"}\n')
    assert memory.run("recall", "kestrel").status == 1
    result = memory.run("index", "people.json", "todo.org", "--json")
    assert (result.status, result.data["added_to_sources"]) == (0, ["people.json", "todo.org"])
    for question, path in (("kestrel", "people.json"), ("王小明", "people.json"),
                           ("kiwi", "todo.org"), ("heron", "MEMORY.md")):  # fmt: skip
        hits = memory.run("search", question, "--json").data["hits"]
        assert [hit["path"] for hit in hits] == [path], question
        assert hits[0]["heading"] == ""
    text = (memory.root / "memfas.yaml").read_text()
    assert text.startswith("# mine\nsearch: {max_results: 3}\n")
    assert memory.run("index", "people.json", "--json").data["added_to_sources"] == []
    assert (memory.root / "memfas.yaml").read_text() == text
    memory.write("people.json", '{"pet": "zebra"}\n')
    assert memory.run("recall", "zebra").status == 0
    assert memory.run("recall", "kestrel").status == 1
    assert memory.run("recall", "--no-index", "zebra").status == 0
    assert (memory.run("index").status, memory.run("doctor", "--deep").status) == (0, 0)


def test_a_folder_named_by_hand_becomes_a_source(memory: Memory) -> None:
    """Where `sources` leave it out; the whole memory folder named is no wish to search it all."""
    memory.write("memfas.yaml", "sources:\n  - path: ./MEMORY.md\n")
    memory.write("MEMORY.md", "- [P0] the staging host is heron\n")
    memory.write("notes/deep/a.md", "the kiwi farm\n")
    memory.write("notes/b.json", '{"pet": "kestrel"}\n')
    memory.write(".memfasignore", "secret.md\n")
    memory.write("secret.md", "the kiwi vault\n")
    assert memory.run("index", ".", "--json").data["added_to_sources"] == []
    assert memory.run("recall", "kiwi").status == 1
    assert "+ Added to sources in" in memory.run("index", "notes").text
    hits = memory.run("search", "kiwi", "--json").data["hits"]
    assert [hit["path"] for hit in hits] == ["notes/deep/a.md"]
    assert memory.run("recall", "kestrel").status == 1
    result = memory.run("index", "secret.md")
    assert (result.status, ".memfasignore" in result.text) == (1, True)


def test_what_cannot_be_a_source_is_named_and_changes_nothing(memory: Memory) -> None:
    """A picture, a file with NUL bytes, a file without a suffix."""
    (memory.root / "a.png").write_bytes(b"\x89PNG\r\n")
    (memory.root / "b.dat").write_bytes(b"a\0b")
    memory.write("plain", "text\n")
    result = memory.run("index", "a.png", "b.dat", "plain")
    assert result.status == 1
    assert result.text.count("not a text file") == 3
    assert not (memory.root / "memfas.yaml").exists()


@pytest.mark.parametrize("settings", ["memfas.yaml", "memfas.json", None])
def test_settings_are_made_where_there_are_none(memory: Memory, settings: str | None) -> None:
    """The first file of another kind makes memfas.yaml; one that is there, in JSON too, is changed,
    and whatever else was searched still is."""
    memory.write("people.json", '{"pet": "kestrel"}\n')
    if settings:
        memory.write(settings, "{}\n" if settings.endswith("json") else "")
    assert memory.run("index", "people.json").status == 0
    assert (memory.root / (settings or "memfas.yaml")).exists()
    for word in ("kestrel", "heron"):
        assert len(memory.run("search", word, "--json").data["hits"]) == 1


def test_characters_that_json_writes_as_escapes_are_found(memory: Memory) -> None:
    r"""`\u6570\u636e\u5e93` is 数据库, a pair of them an emoji; a path with `\users` is a path."""
    texts = ["数据库", "🦅", "C:\\users\\me", "\\u12"]
    memory.write("lessons/a.jsonl", "".join(json.dumps({"text": t}) + "\n" for t in texts))
    for question, text in (("数据库", texts[0]), ("🦅", texts[1]), ("users", texts[2])):
        hits = memory.run("search", question, "--json").data["hits"]
        assert [json.loads(hit["text"])["text"] for hit in hits] == [text], question


def test_a_watcher_hears_of_a_file_whose_kind_a_source_names() -> None:
    """`data/*.json` in the settings: a JSON file that is saved is a hint, and no other is."""
    suffixes = Scope(("data/*.json", "./Notes.Org", "memory", "**")).suffixes
    assert suffixes[-2:] == (".json", ".org")
    assert [is_watched_file(n, suffixes) for n in ("a.JSON", "a.md", "a.toml")] == [
        True,
        True,
        False,
    ]
