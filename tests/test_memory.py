"""Memory as a Python program uses it: the reference's calls, over files that are always current."""

from __future__ import annotations

import threading
import time
from pathlib import Path

import pytest

import agent_memfas
import typed_program
from agent_memfas import Config, Memory, MemoryResult, SearchBackend, SearchResult
from agent_memfas.cli import main
from agent_memfas.config import SearchConfig, SourceConfig, TriggerConfig
from agent_memfas.errors import ConfigError, MemfasError, NothingFound, UsageError

YAML = """\
# mine
db_path: ./memfas.db

sources:
  - path: ./MEMORY.md
    type: markdown
  - path: ./memory/*.md
    type: markdown

triggers:
  - keyword: alice
    hint: "Project manager, prefers async"  # she said so
  - keyword: work
    hint: "Current projects"

search:
  max_results: 5
  recency_weight: 0.3  # Favor recent memories
  min_score: 0.1
"""
NOTES = """\
# Notes

- [P0] Timezone: US Eastern
- Alice said the deadline is Friday
- preference learning paper by Lee
"""


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "memfas.yaml").write_text(YAML)
    (tmp_path / "MEMORY.md").write_text(NOTES)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_the_quick_start_of_the_reference_runs_as_printed(root: Path) -> None:
    """Triggers, indexing, search and recall with the calls of its README, on its memfas.yaml."""
    mem = Memory("./memfas.yaml")
    mem.add_trigger("alice", "Project manager, prefers async")
    mem.index_file("./MEMORY.md")
    results = mem.search("preference learning", limit=5)
    assert [(r.source, r.start_line, r.heading) for r in results] == [("MEMORY.md", 5, "Notes")]
    context = mem.recall("What did Alice say about the deadline?")
    assert context.startswith(
        "📚 Memory Context:\n\n**Triggered Memories:**\n[alice] Project manager"
    )
    assert "\n\n**Related Memories:**\n[MEMORY.md:4]" in context
    assert "  > - Alice said the deadline is Friday" in context


def test_the_package_exports_what_the_reference_exports() -> None:
    """The five names, and types for whoever checks programs with them."""
    assert {"Memory", "MemoryResult", "Config", "SearchBackend", "SearchResult"} <= set(
        agent_memfas.__all__
    )
    assert (Path(agent_memfas.__file__).parent / "py.typed").exists()
    assert MemoryResult("a.md", "text", 0.5).trigger is None
    assert SearchResult("text", 0.5, "a.md").metadata == {}


def test_a_missing_configuration_is_an_error_and_nothing_is_made(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`Memory("./memfas.yaml")` where there is none says so; no folder of that name appears."""
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ConfigError, match=r"there is no .*memfas\.yaml"):
        Memory("./memfas.yaml")
    assert list(tmp_path.iterdir()) == []


def test_a_memory_can_be_made_of_a_folder_or_of_nothing(root: Path) -> None:
    """A folder, None for the current one, a Path, or a Config: all find the same line."""
    (root / "memory").mkdir()
    made = (Memory(), Memory(str(root)), Memory(root / "memfas.yaml"), Memory(Config.default(root)),
            Memory(Config.load("memfas.yaml")))  # fmt: skip
    for memory in made:
        with memory:
            assert [r.start_line for r in memory.search("deadline")] == [4]


def test_paths_are_relative_to_the_file_not_to_the_current_folder(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """From a sub-folder the same memories are found, and no second database is made there."""
    (root / "sub").mkdir()
    monkeypatch.chdir(root / "sub")
    memory = Memory("../memfas.yaml")
    assert memory.stats() == {
        "memories": 3, "triggers": 2, "backend": "FTS5Backend",
        "db_path": str(root / "memfas.db"),
    }  # fmt: skip
    assert list((root / "sub").iterdir()) == []


def test_a_trigger_brings_its_memories(root: Path) -> None:
    """`memory_ids` are ids of results, or places; they are quoted with the hint."""
    memory = Memory(root)
    (found,) = memory.search("preference learning")
    memory.add_trigger("Paper", "What Lee wrote", memory_ids=[found.id or 0])
    assert memory.recall("which paper?").split("\n")[2:6] == [
        "**Triggered Memories:**", "[paper] What Lee wrote  (TRIGGERS.md:3)", "  [MEMORY.md:5]",
        "  > - preference learning paper by Lee",
    ]  # fmt: skip
    assert memory.list_triggers()[1] == {
        "keyword": "paper", "hint": "What Lee wrote", "memory_ids": str(found.id),
    }  # fmt: skip
    memory.add_trigger("zone", "where", memory_ids=["MEMORY.md#L3"])
    assert "Timezone" in memory.recall("the zone")
    with pytest.raises(NothingFound, match="12345"):
        memory.add_trigger("x", "y", memory_ids=[12345])
    with pytest.raises(UsageError, match="is no memory"):
        memory.add_trigger("x", "y", memory_ids=["somewhere"])


def test_triggers_are_listed_once_and_removed_wherever_they_stand(root: Path) -> None:
    """What is in memfas.yaml and in TRIGGERS.md is removed from both; comments in it stay."""
    memory = Memory("memfas.yaml")
    memory.add_trigger("ALICE", "Project manager, prefers async")
    assert [t["keyword"] for t in memory.list_triggers()] == ["alice", "work"]
    memory.add_trigger("alice", "CTO now")
    assert memory.list_triggers()[0]["hint"] == "CTO now"
    memory.remove_trigger("Alice")
    memory.remove_trigger("nosuch")
    assert [t["keyword"] for t in memory.list_triggers()] == ["work"]
    text = (root / "memfas.yaml").read_text()
    assert "alice" not in text
    assert text.startswith("# mine\n")
    assert "# Favor recent memories" in text
    assert [t["keyword"] for t in Memory("memfas.yaml").list_triggers()] == ["work"]


def test_an_edit_of_memfas_yaml_counts_at_the_next_question(root: Path) -> None:
    """A trigger that a person writes into it fires in a program that has been running for long."""
    memory = Memory("memfas.yaml")
    assert memory.recall("acme") == ""
    (root / "memfas.yaml").write_text(YAML.replace("keyword: work", "keyword: acme"))
    assert "[acme] Current projects" in memory.recall("acme")


def test_a_broken_memfas_yaml_is_told_and_the_old_one_holds(root: Path) -> None:
    """While somebody edits it, a running program goes on answering; so it does when it is gone for
    a moment. One that was not there at first counts from when it is.
    """
    memory = Memory("memfas.yaml")
    (root / "memfas.yaml").write_text("search: {nope: 1}\n")
    with pytest.warns(UserWarning, match="nope.*the settings before it hold"):
        assert "Current projects" in memory.recall("work")
    (root / "memfas.yaml").unlink()
    assert "Current projects" in memory.recall("work")
    late = Memory(root)
    assert late.recall("work") == ""
    (root / "memfas.yaml").write_text(YAML)
    assert "Current projects" in late.recall("work")
    assert "Current projects" in memory.recall("work")


def test_a_program_and_the_command_line_share_one_index(
    root: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Asked in turns, neither makes the other write it again."""
    memory = Memory("memfas.yaml")
    memory.recall("work")
    main(["recall", "work"])
    time.sleep(0.1)
    memory.recall("work")
    main(["recall", "work"])
    written = (root / "memfas.db").stat().st_mtime_ns
    memory.recall("work")
    main(["recall", "work"])
    assert "[work] Current projects" in capsys.readouterr().out
    assert (root / "memfas.db").stat().st_mtime_ns == written


def test_triggers_of_a_configuration_object_fire(tmp_path: Path) -> None:
    """A Config that came from no file has triggers too, and they can be removed."""
    config = Config(
        db_path=str(tmp_path / "memfas.db"), triggers=[TriggerConfig("alice", "PM", [])]
    )
    memory = Memory(config)
    assert "[alice] PM" in memory.recall("ask Alice")
    memory.remove_trigger("alice")
    assert memory.recall("ask Alice") == ""


def test_what_is_changed_in_the_object_counts(root: Path) -> None:
    """`memory.config` is the Config that was given, or a copy of what the file says."""
    config = Config.load("memfas.yaml")
    memory = Memory(config)
    assert memory.config is config
    config.search.max_results = 1
    config.triggers.append(TriggerConfig("acme", "Client"))
    assert len(memory.search("Alice preference")) == 1
    assert "[acme] Client" in memory.recall("acme")
    config.search.max_results = 0
    with pytest.raises(ConfigError, match="max_results"):
        memory.search("Alice")
    assert Memory("memfas.yaml").config.search.max_results == 5


def test_a_triggers_file_is_read_and_followed(root: Path) -> None:
    """`triggers_file` of memfas.yaml has triggers, and a change of it counts at once."""
    (root / "memfas.yaml").write_text("triggers_file: ./words.md\n")
    (root / "words.md").write_text("- acme -> Client\n")
    memory = Memory("memfas.yaml")
    assert "[acme] Client  (words.md:1)" in memory.recall("the acme project")
    (root / "words.md").write_text("- acme -> Former client\n")
    assert "[acme] Former client" in memory.recall("the acme project")


def test_many_triggers_never_keep_search_from_running(root: Path) -> None:
    """Five triggers in a question, and the passages come all the same."""
    (root / "memfas.yaml").unlink()
    memory = Memory(root)
    for word in ("red", "green", "blue", "black", "white"):
        memory.add_trigger(word, "a colour")
    assert "the deadline is Friday" in memory.recall("red green blue black white deadline")


def test_what_is_always_loaded_comes_first_and_can_be_left_out(root: Path) -> None:
    """A source with always_load is in every recall, whatever the question."""
    (root / "intuition.md").write_text("Trust the tests.\n")
    (root / "memfas.yaml").write_text(YAML.replace(
        "triggers:", "  - path: ./intuition.md\n    always_load: true\n\ntriggers:"))  # fmt: skip
    memory = Memory("memfas.yaml")
    assert memory.recall("hello there") == (
        "📚 Memory Context:\n\n**Always Loaded:**\n[intuition.md:1]\n  > Trust the tests."
    )
    assert memory.recall("hello there", include_always_load=False) == ""
    (root / "memfas.yaml").unlink()
    assert "Trust the tests." in Memory().recall("hello there")


def test_a_file_that_is_indexed_by_hand_stays_indexed(root: Path) -> None:
    """One that `sources` leave out is added to them, for this program and for all others."""
    (root / "other.md").write_text("Zebra crossing\n")
    memory = Memory("memfas.yaml")
    assert memory.search("zebra") == []
    memory.index_file("other.md")
    assert [r.source for r in memory.search("zebra")] == ["other.md"]
    assert [r.source for r in Memory("memfas.yaml").search("zebra")] == ["other.md"]
    assert "# Favor recent memories" in (root / "memfas.yaml").read_text()
    with pytest.raises(FileNotFoundError):
        memory.index_file("nosuch.md")
    with pytest.raises(UsageError, match="file_type"):
        memory.index_file("other.md", file_type="pdf")
    (root / "picture.png").write_bytes(b"\x89PNG")
    with pytest.raises(UsageError, match="not a text file"):
        memory.index_file("picture.png")


def test_a_configuration_without_sources_searches_what_is_indexed_by_hand(tmp_path: Path) -> None:
    """As in the reference: an object with a database and nothing else, then a file."""
    (tmp_path / "a.md").write_text("apples\n")
    (tmp_path / "b.md").write_text("apples, too\n")
    memory = Memory(Config(db_path=str(tmp_path / "memfas.db")))
    assert memory.search("apples") == []
    memory.index_file(tmp_path / "a.md")
    memory.index_sources()
    assert [r.source for r in memory.search("apples")] == ["a.md"]


def test_clear_and_reindex_lose_nothing(root: Path) -> None:
    """The index is made of files: thrown away or built anew, it holds the same afterwards."""
    memory = Memory("memfas.yaml")
    memory.search("x")
    memory.clear()
    assert not (root / "memfas.db").exists()
    assert [t["keyword"] for t in memory.list_triggers()] == ["alice", "work"]
    assert memory.reindex() == 3
    assert memory.backend.count() == 3
    assert memory.backend.search("deadline")[0].source == "MEMORY.md"
    with pytest.raises(UsageError, match="what the files hold"):
        memory.backend.index("id", "text", {})


def test_suggestions_never_name_a_trigger_that_exists(root: Path) -> None:
    """Names come with their count and kind; Alice is a trigger already."""
    found = Memory("memfas.yaml").suggest_triggers(min_occurrences=1, limit=20)
    assert {"term": "Lee", "count": 1, "type": "entity"} in found
    assert "alice" not in {str(s["term"]).lower() for s in found}


def test_no_limit_no_results(root: Path) -> None:
    """A limit of 0 or less gives nothing; an empty query neither, and no error."""
    memory = Memory("memfas.yaml")
    assert memory.search("deadline", limit=0) == memory.search("deadline", limit=-1) == []
    assert memory.search("") == []
    assert memory.recall("") == ""


@pytest.mark.parametrize("config", [
    Config(search=SearchConfig(max_results=0)),
    Config(search=SearchConfig(backend=7)),  # type: ignore[arg-type]
    Config(sources=[SourceConfig("")]),
    Config(triggers=[TriggerConfig("", "hint")]),
])  # fmt: skip
def test_an_object_with_wrong_values_is_refused(root: Path, config: Config) -> None:
    """The same rules hold as for memfas.yaml."""
    with pytest.raises(ConfigError, match="configuration"):
        Memory(config)


def test_a_memory_that_is_closed_says_so(root: Path) -> None:
    """Not an error of SQLite: a sentence."""
    with Memory("memfas.yaml") as memory:
        pass
    with pytest.raises(UsageError, match="closed"):
        memory.search("deadline")


def test_several_threads_may_ask_at_once(root: Path) -> None:
    """Each gets its answer while another one changes files and triggers."""
    memory = Memory("memfas.yaml")
    wrong: list[object] = []

    def ask() -> None:
        try:
            for _ in range(10):
                if [r.start_line for r in memory.search("deadline")] != [4]:
                    wrong.append("search")
                if "Current projects" not in memory.recall("my work"):
                    wrong.append("recall")
        except MemfasError as error:
            wrong.append(error)

    threads = [threading.Thread(target=ask) for _ in range(4)]
    for thread in threads:
        thread.start()
    for n in range(5):
        memory.add_trigger(f"word {n}", "hint")
    for thread in threads:
        thread.join()
    assert wrong == []
    assert len(memory.list_triggers()) == 7


def test_a_program_with_all_its_types_spelt_out_runs(tmp_path: Path) -> None:
    """The one that .ci/run checks with mypy --strict against the wheel: every backend answers."""
    assert "[alice] PM" in typed_program.run(tmp_path)


def test_a_subclass_of_the_backend_is_a_backend() -> None:
    """Five methods make one; batches, closing and `with` come along."""

    class Mine(SearchBackend):
        def __init__(self) -> None:
            self.kept: dict[str, str] = {}

        def index(self, doc_id: str, text: str, metadata: dict[str, object]) -> None:
            self.kept[doc_id] = text

        def search(self, query: str, limit: int = 5) -> list[SearchResult]:
            return []

        def delete(self, doc_id: str) -> None:
            del self.kept[doc_id]

        def clear(self) -> None:
            self.kept.clear()

        def count(self) -> int:
            return len(self.kept)

    with Mine() as mine:
        mine.index_batch([("a", "x", {}), ("b", "y", {})])
        assert mine.count() == 2


def test_a_file_that_can_only_be_read_in_part_is_indexed(root: Path) -> None:
    """Not UTF-8: `index_file` takes it, as the command does, and `index_sources` tells how it is
    read; what it says is found."""
    (root / "MEMORY.md").write_bytes("caf\xe9 zebra\n".encode("latin-1"))
    memory = Memory("memfas.yaml")
    memory.index_file("MEMORY.md")
    with pytest.warns(UserWarning, match="Indexed only in part MEMORY.md: not UTF-8"):
        memory.index_sources()
    assert [r.source for r in memory.search("zebra")] == ["MEMORY.md"]
