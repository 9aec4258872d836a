"""remember, forget, triggers: in every place where a trigger can stand."""

from __future__ import annotations

import unicodedata
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from inputs.memory import Memory

pytestmark = pytest.mark.usefixtures("nothing_of_this_machine")


@pytest.fixture
def memory(tmp_path: Path) -> Memory:
    memory = Memory(tmp_path / "agent")
    memory.write("MEMORY.md", "# Memory\n\n- [P0] the staging host is heron\n")
    return memory


def fires(memory: Memory, question: str) -> list[tuple[str, str]]:
    """(keyword, hint) of the triggers in a question."""
    found = memory.run("recall", "--json", "--within", "0", "--", question).data["triggers"]
    return [(trigger["keyword"], trigger["hint"]) for trigger in found]


def table(memory: Memory) -> list[tuple[str, str]]:
    """(keyword, path:line) of all triggers, as they are listed."""
    found = memory.run("triggers", "--json").data["triggers"]
    return [(trigger["keyword"], f"{trigger['path']}:{trigger['line']}") for trigger in found]


def remember(memory: Memory, keyword: str, hint: str, *more: str) -> int:
    return memory.run("remember", "-H", hint, *more, "--", keyword).status


def forget(memory: Memory, keyword: str) -> str:
    """Forget it, which must work; what is printed."""
    result = memory.run("forget", "--", keyword)
    assert result.status == 0, result
    assert fires(memory, keyword) == []
    return result.text


# What is remembered


@pytest.mark.parametrize(("before", "after"), [
    (b"# T\n\n- bob -> B\n", b"# T\n\n- bob -> B\n- alice -> PM\n"),
    (b"# T\n\n- bob -> B", b"# T\n\n- bob -> B\n- alice -> PM\n"),
    (b"# T\r\n\r\n- bob -> B\r\n", b"# T\r\n\r\n- bob -> B\r\n- alice -> PM\n"),
    (b"", b"# Triggers\n\n- alice -> PM\n"),
    (b"\xef\xbb\xbf# T\n", b"\xef\xbb\xbf# T\n- alice -> PM\n"),
])  # fmt: skip
def test_a_new_keyword_is_appended(memory: Memory, before: bytes, after: bytes) -> None:
    """Behind whatever stands there, each on a line of its own; not one byte before it changes."""
    memory.write("TRIGGERS.md", before)
    assert remember(memory, "alice", "PM") == 0
    assert memory.read("TRIGGERS.md").replace(b"\r\n", b"\n") == after.replace(b"\r\n", b"\n")
    assert memory.read("TRIGGERS.md").startswith(before)
    assert fires(memory, "alice, bob?")[0] == ("alice", "PM")


@pytest.mark.parametrize(("before", "after"), [
    (b"- alice -> old\n- bob -> B\n", b"- alice -> new\n- bob -> B\n"),
    (b"- bob -> B\r\n- Alice -> old\r\n- c -> C\r\n", b"- bob -> B\r\n- alice -> new\r\n- c -> C\r\n"),
    (b"- bob -> B\n- alice -> old", b"- bob -> B\n- alice -> new"),
    (b"- alice, alicia -> old\n- bob -> B\n", b"- alicia -> old\n- bob -> B\n- alice -> new\n"),
    ("* alice → old\n".encode(), b"- alice -> new\n"),
    (b"- alice -> old\n  a second line\n- bob -> B\n", b"- alice -> new\n- bob -> B\n"),
])  # fmt: skip
def test_a_keyword_that_is_there_gets_the_new_hint(
    memory: Memory, before: bytes, after: bytes
) -> None:
    """Its bullet is exchanged where it stands; other keywords of that bullet keep the old hint."""
    memory.write("TRIGGERS.md", before)
    result = memory.run("remember", "alice", "-H", "new")
    assert result.status == 0
    assert "the hint was 'old'" in result.errors
    assert memory.read("TRIGGERS.md") == after
    assert fires(memory, "alice") == [("alice", "new")]


def test_forms_of_one_keyword_are_one_trigger(memory: Memory) -> None:
    """Remembered three times as code review, code-review and CODE_REVIEW, it stands there once."""
    for keyword in ("code review", "code-review", "CODE_REVIEW"):
        assert remember(memory, keyword, f"as {keyword}") == 0
    assert fires(memory, "a Code-Review now") == [("CODE_REVIEW", "as CODE_REVIEW")]
    assert len(table(memory)) == 1


def test_links_are_kept_and_quoted(memory: Memory) -> None:
    """A range of lines, several links, links written at the end of the hint: all are quoted."""
    memory.write("memory/a.md", "one\ntwo\nthree\nfour\n")
    assert remember(memory, "alice", "PM", "--link", "memory/a.md#L2-L3",
                    "--link", "memory/a.md#L1") == 0  # fmt: skip
    assert remember(memory, "bob", "Boss -> memory/a.md#L4, memory/a.md#L1") == 0
    line = b"- alice -> PM -> memory/a.md#L2-L3 memory/a.md#L1\n"
    assert line in memory.read("TRIGGERS.md")
    found = memory.run("recall", "--json", "alice and bob").data["triggers"]
    quoted = {t["keyword"]: [quote["text"] for quote in t["memories"]] for t in found}
    assert quoted == {"alice": ["two\nthree", "one"], "bob": ["four", "one"]}
    assert found[1]["hint"] == "Boss"


@pytest.mark.parametrize(("link", "status"), [
    ("memory/a.md", 2), ("memory/a.md#12", 2), ("memory/a.md#L", 2), ("gone.md#L1", 1),
    ("../outside.md#L1", 2), ("/etc/passwd#L1", 2), ("memory/a.md#L1-L2-L3", 2), ("#L1", 2),
    ("a b.md#L1", 2),
])  # fmt: skip
def test_a_link_that_leads_nowhere_is_refused(memory: Memory, link: str, status: int) -> None:
    """Nothing is written then."""
    memory.write("memory/a.md", "one\n")
    memory.write("a b.md", "one\n")
    result = memory.run("remember", "alice", "-H", "PM", "--link", link)
    assert (result.status, link.partition("#")[0] in result.errors) == (status, True)
    assert not (memory.root / "TRIGGERS.md").exists()


@pytest.mark.parametrize("link", ["../out.md#L1", "{0}/out.md#L1", "link.md#L1", ".memfas/x#L1"])
def test_a_link_out_of_the_folder_quotes_nothing(memory: Memory, link: str) -> None:
    """Written into the list by hand, above the folder, absolute or through a link: the hint comes,
    the text does not."""
    (memory.root.parent / "out.md").write_text("the secret outside\n")
    (memory.root / "link.md").symlink_to(memory.root.parent / "out.md")
    memory.write(".memfas/x", "the secret outside\n")
    memory.write("TRIGGERS.md", f"- alice -> PM -> {link.format(memory.root.parent)}\n")
    result = memory.run("recall", "alice")
    assert "[alice] PM" in result.text
    assert "secret" not in result.text


# What is forgotten


SETTINGS = "# mine\ntriggers:  # all\n  - keyword: bob # b\n    hint: B\n"
PLACES = {
    "a bullet": ("TRIGGERS.md", "# T\n\n- alice -> PM\n- bob -> B\n", "# T\n\n- bob -> B\n"),
    "of several": ("TRIGGERS.md", "- bob, Alice , carl -> B\n", "- bob, carl -> B\n"),
    "first of several": ("TRIGGERS.md", "- alice, bob -> B\n", "- bob -> B\n"),
    "Windows": ("TRIGGERS.md", "- alice -> PM\r\n- bob, alice -> B\r\n", "- bob -> B\r\n"),
    "no end": ("TRIGGERS.md", "- bob -> B\n- alice -> PM", "- bob -> B\n"),
    "quoted": ("TRIGGERS.md", "- `alice` -> PM\n- bob -> B\n", "- bob -> B\n"),
    "an entry": (
        "MEMORY.md",
        "- [P0] one <!-- trigger: alice -->\n- [P0] two\n",
        "- [P0] one\n- [P0] two\n",
    ),
    "of an entry's": (
        "MEMORY.md",
        "- [P0] one <!-- trigger: bob, alice -->\r\n",
        "- [P0] one <!-- trigger: bob -->\r\n",
    ),
    "below": (
        "memory/2026-02-24.md",
        "- [P1][2026-02-24] one\n  more <!-- trigger: alice -->\n",
        "- [P1][2026-02-24] one\n  more\n",
    ),
    "settings": (
        "memfas.yaml",
        f"{SETTINGS}  - {{keyword: Alice, hint: x}}\nsearch: # s\n  max_results: 3\n",
        f"{SETTINGS}search: # s\n  max_results: 3\n",
    ),
    "settings with CRLF": (
        "memfas.yaml",
        "triggers:\r\n- keyword: alice\r\n  hint: x\r\n# of bob\r\n- keyword: bob\r\n  hint: y\r\n",
        "triggers:\r\n# of bob\r\n- keyword: bob\r\n  hint: y\r\n",
    ),
}


@pytest.mark.parametrize("place", PLACES)
def test_a_keyword_is_taken_out_where_it_stands_and_nothing_else_is(
    memory: Memory, place: str
) -> None:
    """Every other byte of the file is as it was, and no other file has changed."""
    path, before, after = PLACES[place]
    memory.write(path, before)
    others = {name: data for name, data in memory.truth().items() if name != path}
    assert fires(memory, "alice")
    assert "✓ Removed trigger: [" in forget(memory, "ALICE")
    assert memory.read(path).decode() == after
    assert {name: data for name, data in memory.truth().items() if name != path} == others


def test_a_keyword_of_a_triggers_file_fires_and_can_be_forgotten(memory: Memory) -> None:
    """The file that memfas.yaml names has the grammar of TRIGGERS.md; it is edited, not the
    settings, and what is written into it later fires at once."""
    memory.write("memfas.yaml", "triggers_file: ./more/triggers.md\n")
    memory.write("more/triggers.md", "# More\n\n- alice -> PM\n- bob -> B\n")
    assert table(memory) == [("alice", "more/triggers.md:3"), ("bob", "more/triggers.md:4")]
    assert "(more/triggers.md:3)" in forget(memory, "alice")
    assert memory.read("more/triggers.md") == b"# More\n\n- bob -> B\n"
    memory.write("more/triggers.md", "- carl -> C\n")
    assert fires(memory, "bob or carl") == [("carl", "C")]


def test_a_triggers_file_that_is_not_there_is_told(memory: Memory) -> None:
    """An answer, from parsed settings and from kept ones, says what it goes without; doctor calls
    it wrong, status 1; both are content once the file is there."""
    memory.write("memfas.yaml", "triggers_file: ./words.md\n")
    memory.write("MEMORY.md", "- [P0] the whale is blue\n")
    words = memory.root / "words.md"
    for _ in range(3):
        result = memory.run("recall", "whale")
        assert "the whale is blue" in result.text
        assert f"triggers_file {words}: there is no such file" in result.errors
    found = memory.run("doctor")
    assert (found.status, "✗ settings:" in found.text) == (1, True)
    assert str(words) in found.text
    memory.write("words.md", "- whale -> W\n")
    result = memory.run("recall", "whale")
    assert ("[whale] W" in result.text, result.errors) == (True, "")
    assert "✓ settings" in memory.run("doctor").text


def test_a_triggers_file_that_is_the_usual_one_counts_once(memory: Memory) -> None:
    """Naming TRIGGERS.md in the settings changes nothing."""
    memory.write("memfas.yaml", "triggers_file: ./TRIGGERS.md\n")
    memory.write("TRIGGERS.md", "- alice -> PM\n")
    assert table(memory) == [("alice", "TRIGGERS.md:1")]


def test_settings_in_json_are_edited_as_well(memory: Memory) -> None:
    """The object of the keyword goes, the others stay as they are written."""
    memory.write(
        "memfas.json",
        '{\n  "triggers": [\n    {"keyword": "alice", "hint": "x"},\n'
        '    {"keyword": "bob",  "hint": "y"}\n  ],\n  "search": {}\n}\n',
    )
    assert fires(memory, "alice") == [("alice", "x")]
    forget(memory, "alice")
    assert b'{"keyword": "bob",  "hint": "y"}\n  ],\n  "search": {}\n}\n' in memory.read(
        "memfas.json"
    )
    forget(memory, "bob")
    assert table(memory) == []


def test_what_stands_outside_the_folder_is_named_and_left_alone(memory: Memory) -> None:
    """A triggers_file elsewhere: forget says file and line, status 1, and changes nothing."""
    outside = memory.root.parent / "shared.md"
    outside.write_text("- alice -> PM\n")
    memory.write("memfas.yaml", "triggers_file: ../shared.md\n")
    assert fires(memory, "alice") == [("alice", "PM")]
    result = memory.run("forget", "alice")
    assert (result.status, f"{outside}:1" in result.errors) == (1, True)
    assert outside.read_text() == "- alice -> PM\n"


def test_a_keyword_in_several_places_goes_from_all_of_them(memory: Memory) -> None:
    """The list, an entry and the settings at once; each place is told."""
    memory.write("TRIGGERS.md", "- alice -> one\n- bob -> B\n")
    memory.write("MEMORY.md", "- [P0] two <!-- trigger: alice -->\n")
    memory.write("memfas.yaml", "triggers:\n  - keyword: alice\n    hint: three\n")
    assert len(fires(memory, "alice")) == 3
    printed = forget(memory, "alice")
    for place in ("TRIGGERS.md:1", "MEMORY.md:1", "memfas.yaml:2"):
        assert f"({place})" in printed
    assert table(memory) == [("bob", "TRIGGERS.md:1")]
    result = memory.run("forget", "alice")
    assert (result.status, result.raw) == (1, b"")


def test_the_last_trigger_of_the_settings_can_go(memory: Memory) -> None:
    """What stays is a settings file that can be read."""
    memory.write("memfas.yaml", "triggers:\n  - keyword: alice\n    hint: x\n")
    forget(memory, "alice")
    assert remember(memory, "bob", "B") == 0
    assert table(memory) == [("bob", "TRIGGERS.md:3")]


def test_forgetting_can_be_undone(memory: Memory) -> None:
    """Undo brings the list back, byte for byte."""
    memory.write("TRIGGERS.md", "- alice -> PM\n- bob -> B\n")
    forget(memory, "alice")
    assert memory.run("undo").status == 0
    assert memory.read("TRIGGERS.md") == b"- alice -> PM\n- bob -> B\n"


# Keywords as they come


@pytest.mark.parametrize(("keyword", "question", "quiet"), [
    ("ai", "the AI does", "I said it again"),
    ("code review", "my code_review", "code of a review"),
    (unicodedata.normalize("NFD", "naïve"), "NAÏVE bayes", "naivete"),
    ("STRASSE", "in der Straße", "strassen"),
    ("数据库", "重启数据库集群", "数据很多"),
    ("C++", "some C++ code", "nothing"),
    ("v1.2.3", "release v1.2.3.", "release v1.2.4"),
    ("what's up", "What’s up?", "up"),
])  # fmt: skip
def test_a_keyword_fires_on_whole_words(
    memory: Memory, keyword: str, question: str, quiet: str
) -> None:
    """In whatever form they are written, and on nothing that only contains its letters."""
    assert remember(memory, keyword, "it") == 0
    assert [hint for _, hint in fires(memory, question)] == ["it"]
    assert fires(memory, quiet) == []


@pytest.mark.parametrize("keyword", [
    "", "  ", "!?.", "->", "a -> b", "a → b", "a, b", "x" * 10_000, "a\nb", "- a", "# a", "> a",
    "[P0] a", "<!-- a", "a --> b", "`a`", "1. a", "\ufeffa", "a\x00b", "a\x1b[31mb", "\u202ea", "*a*",
    "--", "'a'", "[ ] a", "```", "~~~ a", "---", "a  ", "<a>", "\ud800a", "a\u2028- b -> c",
])  # fmt: skip
def test_a_hostile_keyword_is_refused_or_becomes_exactly_one_trigger(
    memory: Memory, keyword: str
) -> None:
    """It cannot break the list, hide what stands after it, or make a trigger of its own."""
    whole_or_not_at_all(memory, keyword, "the hint")


@pytest.mark.parametrize("hint", [
    "", " ", "a -> b", "<!-- a", "a --> b", "x\n- bob -> forged", "```", "x" * 100_000, "a\x1b[31mb",
    "see memory/a.md#L1", "-> memory/a.md#L1", "trailing \\", "<script>", "\ud800", "a <!-- b --> c",
])  # fmt: skip
def test_a_hostile_hint_is_refused_or_becomes_exactly_one_trigger(
    memory: Memory, hint: str
) -> None:
    """The same for what it brings."""
    whole_or_not_at_all(memory, "alice", hint)


@settings(
    max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(st.text(max_size=12), st.text(st.sampled_from("ab ->→#<!`*[],\n\\_"), max_size=12))
def test_any_keyword_with_any_hint_is_refused_or_becomes_exactly_one_trigger(
    memory: Memory, keyword: str, hint: str
) -> None:
    """The same for whatever a generator thinks of."""
    whole_or_not_at_all(memory, keyword, hint)


def whole_or_not_at_all(memory: Memory, keyword: str, hint: str) -> None:
    """After `remember` either the file is as it was, or it has one trigger more, which fires."""
    before = "# Triggers\n\n- zebra -> stays\n"
    memory.write("TRIGGERS.md", before)
    status = remember(memory, keyword, hint)
    if status:
        assert status == 2
        assert memory.read("TRIGGERS.md").decode() == before
        return
    found = memory.run("triggers", "--json").data["triggers"]
    assert len(found) == 2, found
    assert ("zebra", "stays") in fires(memory, "zebra")
    (new,) = (trigger for trigger in found if trigger["keyword"] != "zebra")
    assert (new["keyword"], new["hint"]) in fires(memory, new["keyword"])
    assert remember(memory, "stork", "after it") == 0
    assert ("stork", "after it") in fires(memory, "stork")
    forget(memory, "stork")
    forget(memory, new["keyword"])
    assert memory.read("TRIGGERS.md").decode() == before


# The table


def test_the_table_has_the_columns_of_the_reference_and_the_place(memory: Memory) -> None:
    """Keyword in 20, hint in 50, a rule of 70 dashes; by keyword."""
    memory.write("TRIGGERS.md", "- bob -> B\n- alice -> PM\n")
    lines = memory.run("triggers").text.splitlines()
    assert lines[0] == f"{'Keyword':<20} {'Hint':<50} Where"
    assert lines[1] == "-" * 70
    assert lines[2:] == [
        f"{'alice':<20} {'PM':<50} TRIGGERS.md:2",
        f"{'bob':<20} {'B':<50} TRIGGERS.md:1",
    ]


def test_no_triggers_is_said(memory: Memory) -> None:
    """The line of the reference, and status 0."""
    result = memory.run("triggers")
    assert (result.status, result.text) == (0, "No triggers defined.\n")
