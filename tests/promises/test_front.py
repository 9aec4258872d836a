"""Installing, the first minute, and what a mistake gets for an answer."""

from __future__ import annotations

import pytest

from promises.prompt import Here

BEFORE_INIT = (
    ["recall", "hello"], ["search", "hello"], ["remember", "alice", "--hint", "PM"],
    ["forget", "alice"], ["triggers"], ["suggest"], ["index", "MEMORY.md"], ["index"], ["stats"],
    ["clear", "-y"], ["reindex", "-b", "fts5", "-y"], ["doctor"],
)  # fmt: skip


def test_the_thirty_seconds_of_the_quick_start_need_nothing_but_the_package(here: Here) -> None:
    """init, two triggers, index, recall, as the reference has them, each in a process of its own;
    the answer has the trigger and the line that says it."""
    assert here.memfas_process("init").status == 0
    first = here.memfas_process(
        "remember", "alice", "--hint", "Project manager, prefers async communication"
    )
    assert (first.status, first.text) == (
        0, "✓ Added trigger: [alice] → Project manager, prefers async communication\n",
    )  # fmt: skip
    here.memfas_process("remember", "acme", "--hint", "Client project, due Q2, React frontend")
    here.write("MEMORY.md", "# Memory\n\n- [P0] Timezone: US Eastern\n")
    here.write("memory/2026-02-24.md", "# Log\n\n- Alice: the deadline moved to Friday\n")
    indexed = here.memfas_process("index", "./MEMORY.md", "./memory/")
    assert (indexed.status, "✓ Indexed: memory/2026-02-24.md" in indexed.text) == (0, True)
    answer = here.memfas_process("recall", "What did Alice say about the deadline?")
    assert answer.status == 0
    lines = answer.text.splitlines()
    assert lines[0].startswith("📚 Memory Context:")
    assert lines[2] == "**Triggered Memories:**"
    assert lines[3].startswith("[alice] Project manager, prefers async communication")
    assert "**Related Memories:**" in lines
    assert "  > - Alice: the deadline moved to Friday" in lines


@pytest.mark.parametrize("command", BEFORE_INIT, ids=" ".join)
def test_a_command_before_init_says_what_to_do_and_makes_nothing(
    here: Here, command: list[str]
) -> None:
    """Not a file and not a folder; the message names `memfas init`, and init then works."""
    result = here.memfas(*command)
    assert result.status == 3
    assert result.raw == b""
    assert "no memory folder" in result.errors
    assert "memfas init" in result.errors
    assert here.names() == []
    assert here.memfas("init").status == 0
    assert (here.root / "memfas.yaml").is_file()


@pytest.mark.parametrize("command", [["recall", "hello"], ["triggers"], ["stats"], ["index"]])
def test_a_settings_file_that_is_named_and_not_there_is_said(
    here: Here, command: list[str]
) -> None:
    """`-c nosuch.yaml` is an error that names the file, and nothing is made in its place."""
    result = here.memfas(*command, "-c", "nosuch.yaml")
    assert result.status == 3
    assert "nosuch.yaml" in result.errors
    assert here.names() == []


WRONG = {
    "unknown key": ("search:\n  nope: 1\n", ["memfas.yaml:2", "search.nope"]),
    "bad YAML": ("db_path: x\nsearch: [1\n", ["memfas.yaml:3"]),
    "wrong type": ("search:\n  max_results: many\n", ["memfas.yaml:2", "search.max_results"]),
    "misspelt": ("serach:\n  max_results: 3\n", ["memfas.yaml:1", "search"]),
    "a list": ("- a\n- b\n", ["memfas.yaml:1"]),
    "nearly": ("search:\n  max_result: 3\n", ["memfas.yaml:2", "search.max_results?"]),
}


@pytest.mark.parametrize("kind", WRONG)
def test_a_mistake_in_memfas_yaml_is_a_sentence_with_file_line_and_key(
    here: Here, kind: str
) -> None:
    """A command that writes stops there; a question is answered with the defaults all the same."""
    text, named = WRONG[kind]
    here.write("memfas.yaml", text)
    here.write("MEMORY.md", "- [P0] the staging host is heron\n")
    result = here.memfas("remember", "alice", "--hint", "PM")
    assert result.status == 3
    for part in named:
        assert part in result.errors
    assert not (here.root / "TRIGGERS.md").exists()
    asked = here.memfas("recall", "staging", "host")
    assert (asked.status, named[0] in asked.errors) == (0, True)
    assert "heron" in asked.text


@pytest.mark.parametrize("text", ["", "\n", "# nothing\n", "---\n", "{}\n", "search:\n"])
def test_an_empty_memfas_yaml_means_the_defaults(here: Here, text: str) -> None:
    """An empty file, comments alone, a section without keys."""
    here.write("memfas.yaml", text)
    assert here.memfas("remember", "alice", "--hint", "PM").status == 0
    assert here.fires("ask alice") == ["alice"]


def test_making_the_settings_anew_keeps_the_old_ones(here: Here) -> None:
    """The command leaves a memfas.yaml alone; with --force a new one is written, and every byte of the
    old one, comments and `context:` included, stands beside it."""
    mine = "# mine\ncontext:\n  relevance_cutoff: 0.3  # by hand\n"
    here.write("memfas.yaml", mine)
    assert here.memfas("init").status == 0
    assert here.read("memfas.yaml").decode() == mine
    assert here.memfas("init", "--force").status == 0
    assert here.read("memfas.yaml").decode() != mine
    kept = [path.read_text() for path in here.root.glob("memfas.yaml*") if path.is_file()]
    assert mine in kept


def test_settings_in_json_make_a_memory_folder_as_those_in_yaml_do(here: Here) -> None:
    """memfas.json alone: triggers in it fire, and a mistake in it has file, line and key."""
    here.write("memfas.json", '{"triggers": [{"keyword": "alice", "hint": "PM"}]}\n')
    assert here.fires("ask alice") == ["alice"]
    here.write("memfas.json", '{"search":\n  {"nope": 1}}\n')
    result = here.memfas("remember", "bob", "--hint", "x")
    assert result.status == 3
    assert "memfas.json" in result.errors
    assert "search.nope" in result.errors


def test_what_asks_first_says_so_where_nobody_can_answer(here: Here) -> None:
    """`clear` without a terminal deletes nothing and names the option that it needs."""
    here.write("MEMORY.md", "- [P0] the staging host is heron\n")
    here.memfas("index")
    result = here.memfas_process("clear")
    assert result.status == 2
    assert "-y" in result.errors
    assert (here.root / ".memfas/index.db").exists()


@pytest.mark.parametrize("command", [
    ["telemetry"], ["nosuch"], ["recall"], ["remember", "alice"], ["search", "x", "-n", "many"],
    ["reindex", "-b", "nosuch", "-y"], ["triggers", "--nope"],
], ids=" ".join)  # fmt: skip
def test_a_mistake_at_the_prompt_is_a_sentence(here: Here, command: list[str]) -> None:
    """What is missing or unknown is said on standard error, in two lines at most."""
    here.write("MEMORY.md", "")
    result = here.memfas(*command)
    assert result.status in (1, 2)
    assert result.raw == b"" or command == ["telemetry"]
    assert len(result.errors.splitlines()) <= 2


def test_the_settings_file_says_where_its_paths_begin_whatever_folder_one_is_in(
    here: Here, monkeypatch: pytest.MonkeyPatch
) -> None:
    """From below, with `-c ../memfas.yaml` before or after the command, the same memory answers,
    with the same index and the same sources; nothing is made in the folder one is in."""
    here.write("memfas.yaml", "db_path: ./memfas.db\nsources:\n  - path: ./notes/*.md\n")
    here.write("notes/a.md", "# A\n\nthe staging host is heron\n")
    here.write("other.md", "the staging host is not a heron\n")
    here.write("sub/.keep", "")
    monkeypatch.chdir(here.root / "sub")
    stats = here.memfas("-c", "../memfas.yaml", "stats", "--json").data
    assert (stats["db_path"], stats["files"]) == (str(here.root / "memfas.db"), 1)
    assert stats["memories"] > 0
    for words in (["-c", "../memfas.yaml", "recall", "heron"],
                  ["recall", "heron", "-c", "../memfas.yaml"],
                  ["search", "heron", "-c", "../memfas.yaml"], ["recall", "heron"]):  # fmt: skip
        answer = here.memfas(*words, "--json").data
        assert [hit["path"] for hit in answer["hits"]] == ["notes/a.md"], words
    assert (here.root / "memfas.db").is_file()
    assert [path.name for path in (here.root / "sub").iterdir()] == [".keep"]


def test_the_settings_file_before_the_command_is_the_one_that_counts(here: Here) -> None:
    """`memfas -c FILE recall …` asks the folder of that file, not the one that one is in."""
    here.write("MEMORY.md", "- [P0] this host is heron\n")
    here.write("other/memfas.yaml", "search: {max_results: 2}\n")
    here.write("other/MEMORY.md", "- [P0] that host is stork\n")
    for name in ("recall", "search"):
        found = here.memfas("-c", "other/memfas.yaml", name, "host", "--json").data
        assert [hit["text"] for hit in found["hits"]] == ["- [P0] that host is stork"]


def test_settings_in_json_can_be_made(here: Here) -> None:
    """`init -o memfas.json`: it is JSON, every command reads it, and one that changes settings
    changes it."""
    here.write("notes.json", '{"pet": "kestrel"}\n')
    assert here.memfas("init", "-o", "memfas.json").status == 0
    assert not (here.root / "memfas.yaml").exists()
    assert here.memfas("remember", "alice", "--hint", "PM").status == 0
    assert here.fires("ask alice") == ["alice"]
    assert here.memfas("config").status == 0
    assert here.memfas("index", "notes.json").status == 0
    assert here.hits("kestrel") == ['{"pet": "kestrel"}']


def test_an_answer_that_settings_leave_empty_says_so(here: Here) -> None:
    """Not that no file has the words, where min_score, a day or a kind keeps them out."""
    here.write("MEMORY.md", "- [P0] the staging host is heron\n")
    here.write("memfas.yaml", "search: {min_score: 0.99}\n")
    for command in ("recall", "search"):
        result = here.memfas(command, "heron")
        assert result.status == 1
        assert "1 passage with words of the question, under search.min_score" in result.errors
        result = here.memfas(command, "kestrel")
        assert "has a word of the question" in result.errors
    (here.root / "memfas.yaml").unlink()
    result = here.memfas("recall", "heron", "--since", "2020-01-01")
    assert "1 passage with words of the question, of other kinds or days" in result.errors


def test_a_folder_that_has_notes_is_indexed_by_init(here: Here) -> None:
    """It says how many memories there are, so that one sees whether the notes are found."""
    here.write("memory/a.md", "- one\n- two\n")
    (line,) = [x for x in here.memfas("init").text.splitlines() if x.startswith("✓ Indexed")]
    assert int(line.split()[2]) >= 2


def test_settings_in_json_have_lines_too(here: Here) -> None:
    """`config` names file and line of each setting, in JSON as in YAML."""
    here.write("memfas.json", '{\n  "search": {\n    "max_results": 3\n  }\n}\n')
    found = {one["key"]: one["origin"] for one in here.memfas("config", "--json").data["settings"]}
    assert found["search.max_results"] == f"{here.root}/memfas.json:3"
    assert found["search.backend"] == "default"


def test_the_crontab_line_names_settings_that_lie_elsewhere(here: Here) -> None:
    """`init -o`: the janitor of the printed line reads the file that was made."""
    text = here.memfas("init", "-o", "notes/mine.yaml").text
    (line,) = [line for line in text.splitlines() if "0 4 * * *" in line]
    assert line.endswith(f"-c {here.root}/notes/mine.yaml")
    (line,) = [x for x in here.memfas("init").text.splitlines() if "0 4 * * *" in x]
    assert " -c " not in line
