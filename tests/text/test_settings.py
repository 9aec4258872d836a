"""Changing memfas.yaml and memfas.json: what a person sees in an editor before and after."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from agent_memfas.errors import Conflict, NothingFound, UsageError
from agent_memfas.text.settings import (
    Item,
    append_item,
    items,
    remove_item,
    remove_value,
    replace_item,
    set_value,
)

TEMPLATE = Path(__file__).parents[2] / "templates" / "memfas.yaml"
ALICE = {"keyword": "alice", "hint": "PM: ask # first"}
LINES = "keyword: alice\n    hint: 'PM: ask # first'\n"

FILE = """\
# my settings
search:
  backend: fts5   # the engine
  # max_results: 5
triggers:  # by hand
  # people
  - keyword: [alice, alicia, al]
    hint: "Project manager"
      # she left in May
  - keyword: carol

  # Bob is new
  - {keyword: bob, hint: Developer}  # for now
  # - keyword: dave
context: {note: kept}
"""


def test_a_value_changes_and_the_comment_behind_it_stays() -> None:
    """`memfas reindex -b embedding --save-config` changes one word of my file."""
    assert set_value(FILE, "search.backend", "embedding") == FILE.replace("fts5", "embedding")
    assert set_value(FILE, "search.backend", "fts5") == FILE


@pytest.mark.parametrize(
    ("old", "value", "new"),
    [
        ("", "x", "x"),
        ("x", None, "null"),
        ("x", "no", "'no'"),
        ("x", "a: b", "'a: b'"),
        ("x", "", "''"),
        ("x", "one\ntwo", '"one\\ntwo"'),
        ("x", "名前　🙂", "名前　🙂"),
        ('"x"', "y", '"y"'),
        ("'x'", "it's", "'it''s'"),
        ("5", True, "true"),
        ("5", 0.1, "0.1"),
        ("5", [1, "a,b"], "[1, 'a,b']"),
        ("null", ["a"], "[a]"),
        ("[a, b]", ["a", "c"], "[a, c]"),
        ("{a: 1}", {"a": 2, "b": 3}, "{a: 2, b: 3}"),
        ("!!str 5", 6, "6"),
        ("one\n    two", "three", "three"),
        ("|\n    one\n    two", "three", "three"),
        ("> # folded\n    one", "two", "two # folded"),
    ],
)
def test_a_value_is_quoted_only_where_yaml_needs_it(old: str, value: Any, new: str) -> None:
    """What I see is what I would have typed, in the quotes that I use."""
    before = f"s:\n  k: {old}\n  l: 1\n".replace(": \n", ":\n")
    assert set_value(before, "s.k", value) == f"s:\n  k: {new}\n  l: 1\n"


def test_a_missing_key_comes_last_in_its_section() -> None:
    """A new key stands with its kin; a comment keeps its place over what follows."""
    old = "a:\n    b: 1\n    # c\n    # d: 2\n\ne: 3\n"
    assert set_value(old, "a.x", 5) == old.replace("b: 1\n", "b: 1\n    x: 5\n")


def test_a_missing_section_comes_last_in_the_file() -> None:
    """The template is all comments: none is removed, the setting stands below them."""
    old = TEMPLATE.read_text(encoding="utf-8")
    new = set_value(old, "search.backend", "embedding")
    assert new == old + "\nsearch:\n  backend: embedding\n"
    again = set_value(new, "search.max_results", 9)
    assert again == new + "  max_results: 9\n"
    assert set_value(again, "timezone", "UTC") == again + "timezone: UTC\n"


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("", f"triggers:\n  - {LINES}"),
        ("# none\n", f"# none\n\ntriggers:\n  - {LINES}"),
        ("triggers:\na: 1\n", f"triggers:\n  - {LINES}a: 1\n"),
        ("triggers: []  # none\n", f"triggers:  # none\n  - {LINES}"),
        ("triggers: ~\n", f"triggers:\n  - {LINES}"),
        ("a:\n- x\ntriggers: []\n", f"a:\n- x\ntriggers:\n- {LINES}".replace("    ", "  ")),
        ("triggers:\n- x\n# b\nb: 1\n", f"triggers:\n- x\n- {LINES}# b\nb: 1\n".replace("    ", "  ")),
        ("triggers:\n  -   a: x\n      b: y\n", f"triggers:\n  -   a: x\n      b: y\n  -   {LINES}".replace("    h", "      h")),
        ("triggers: [x]\n", "triggers: [x, {keyword: alice, hint: 'PM: ask # first'}]\n"),
        ("triggers:\n- {keyword: x}\n", "triggers:\n- {keyword: x}\n- {keyword: alice, hint: 'PM: ask # first'}\n"),
        ("{triggers: null, a: 1}\n", "{triggers: [{keyword: alice, hint: 'PM: ask # first'}], a: 1}\n"),
        ("a: 1\n...\n", f"a: 1\ntriggers:\n  - {LINES}...\n"),
    ],
)  # fmt: skip
def test_a_trigger_is_added_in_the_style_of_the_file(old: str, new: str) -> None:
    """Whether I write lists with dashes or with brackets: the new trigger looks like the rest."""
    assert append_item(old, "triggers", ALICE) == new


def test_line_ends_and_a_byte_order_mark_stay() -> None:
    """A file written on Windows is still one; a missing last line end is not put in."""
    old = "\ufefftriggers:\r\n- a: 1"
    new = append_item(old, "triggers", {"a": 2, "b": 3})
    assert new == old + "\r\n- a: 2\r\n  b: 3"
    assert remove_item(new, "triggers", 0) == "\ufefftriggers:\r\n- a: 2\r\n  b: 3"


def test_every_trigger_knows_its_lines() -> None:
    """A trigger that fires names the line in memfas.yaml where I can change it."""
    assert [(i.first, i.last) for i in items(FILE, "triggers")] == [(7, 8), (10, 10), (13, 13)]
    assert items(FILE, "triggers")[2].value == {"keyword": "bob", "hint": "Developer"}
    assert items("\ufeffa:\n -\n   # c\n   x\n - |\n  y\n\n", "a") == [
        Item("x", 2, 4),
        Item("y\n", 5, 6),
    ]
    assert items(FILE, "sources") == items("", "triggers") == items("a:\n", "a") == []
    assert items('{"t": [1,\n 2]}', "t", "memfas.json") == [Item(1, 1, 1), Item(2, 2, 2)]


def test_comments_go_with_the_trigger_that_they_belong_to() -> None:
    """What is said about a trigger goes with it; what may be said about others stays."""
    first = remove_item(FILE, "triggers", 0)
    assert "# people\n  - keyword: carol" in first
    assert "she left" not in first
    last = remove_item(FILE, "triggers", 2)
    assert "Bob is new" not in last
    assert "for now" not in last
    assert last.endswith("- keyword: carol\n\n  # - keyword: dave\ncontext: {note: kept}\n")
    group = "t:\n  # people\n  - a\n  - b\n"
    assert remove_item(group, "t", 0) == "t:\n  # people\n  - b\n"
    assert (
        remove_item("t:\n  # - out\n  # c\n  - a\n\n  - b\n", "t", 0)
        == "t:\n  # - out\n  # c\n\n  - b\n"
    )


@pytest.mark.parametrize(
    ("old", "index", "new"),
    [
        ("t:  # c\n  - a: 1\n    b: 2\nx: 1\n", 0, "t: []  # c\nx: 1\n"),
        ("t:\n# c\n\n- a\n", 0, "t: []\n# c\n\n"),
        ("t: [a, b, c]\n", 0, "t: [b, c]\n"),
        ("t: [a, b, c]\n", 2, "t: [a, b]\n"),
        ("t: [a]  # c\n", 0, "t: []  # c\n"),
        ("t: [a,\n  b,  # b\n  c,\n]\n", 1, "t: [a,\n  c,\n]\n"),
        ("t: [\n  a,  # a\n  b  # b\n]\n", 1, "t: [\n  a  # a\n]\n"),
        ("t: [ # c\n  a\n]\n", 0, "t: [ # c\n]\n"),
        ("t: [a,\n  b, c]\n", 1, "t: [a,\n  c]\n"),
        ("t: [a, b,\n  c]\n", 1, "t: [a,\n  c]\n"),
    ],
)
def test_a_list_stays_a_list_when_an_element_goes(old: str, index: int, new: str) -> None:
    """The last trigger leaves `[]`, never a key that means nothing."""
    assert remove_item(old, "t", index) == new


def test_one_of_many_keywords_is_forgotten() -> None:
    """`memfas forget al` takes one word out of a trigger that has three."""
    less = replace_item(
        FILE, "triggers", 0, {"keyword": ["alice", "alicia"], "hint": "Project manager"}
    )
    assert less == FILE.replace(", al]", "]")
    text = replace_item(FILE, "triggers", 2, {"keyword": "bob", "hint": "Lead"})
    assert text == FILE.replace("Developer", "Lead")
    assert replace_item("t:\n- a: 1  # c\n  b: 2\n", "t", 0, {"b": 2}) == "t:\n- b: 2\n"


def test_a_key_is_taken_out_again() -> None:
    """A setting goes back to its default: the section stays as it is, empty if need be."""
    assert remove_value(FILE, "search.backend") == FILE.replace(
        "search:\n  backend: fts5   # the engine\n", "search: {}\n"
    )
    assert remove_value(FILE, "context") == FILE.replace("context: {note: kept}\n", "")


@pytest.mark.parametrize("indent", ["  ", "    ", "\t"])
def test_json_is_indented_as_it_was(indent: str) -> None:
    """memfas.json works like memfas.yaml, in the form that it has."""
    old = '{\n  "triggers": [],\n  "search": {"backend": "fts5"}\n}\n'.replace("  ", indent)
    new = append_item(old, "triggers", {"keyword": "ü"}, "memfas.json")
    wanted = '[\n    {\n      "keyword": "ü"\n    }\n  ]'.replace("  ", indent)
    assert new == old.replace("[]", wanted)
    assert remove_item(new, "triggers", 0, "memfas.json") == old
    new = set_value(old, "search.max_results", 9, "memfas.json")
    assert new == old.replace('"fts5"', '"fts5", "max_results": 9')
    assert set_value(old, "a", 1, "memfas.json") == old.replace("}\n}", f'}},\n{indent}"a": 1\n}}')
    crlf = old.replace("\n", "\r\n")
    assert append_item(crlf, "triggers", 1, "memfas.json").count("\r\n") == 6
    assert set_value("", "a.b", 1, "memfas.json") == '{\n  "a": {\n    "b": 1\n  }\n}\n'


REFUSED = {
    "a: &x 1\nb: 2\n": "1: an anchor (&x)",
    "a: &x 1\nb: *x\n": "2: an alias (*x)",
    "a: 1\nb: 1\na: 2\n": "3: the key a stands there twice",
    "a: 1\n---\nb: 1\n": "2: a second document begins here",
    "a:\n\tb: 1\n": "2: found character '\\t'",
    "a: 1\nb: " + "[" * 50: "2: nested too deeply",
    "a: !!set {x}\n": "1: a tag (tag:yaml.org,2002:set)",
    "a: 1\n? [b]\n: c\n": "2: a key that is a list or a mapping",
    "a: 1\nb: 2026-02-30\n": "2: day is out of range",
    "a: 1\nb: \x00": "2: special characters are not allowed",
    "a: 1\n# \u2028\n": "2: an unusual line break",
    "a: 1\rb: 2\n": "1: an unusual line break",
    "a: 1\n<<: {b: 1}\n": "2: could not determine a constructor",
    "\n- a\n": "2: the file must be a mapping",
    "a: 1\nsearch: 5\n": "2: search is not a mapping",
    "a: 1\nb: |\n  x": "1: a program cannot edit this safely",
}


@pytest.mark.parametrize(("text", "words"), REFUSED.items())
def test_a_file_that_a_program_cannot_edit_safely_is_left_to_me(text: str, words: str) -> None:
    """The error names file and line and says to edit by hand; nothing is guessed."""
    with pytest.raises(Conflict) as caught:
        set_value(text, "search.backend", "x")
    assert caught.value.message.startswith(f"memfas.yaml:{words}")
    assert caught.value.remedy == "edit the file by hand"


@pytest.mark.parametrize(
    ("text", "words"),
    {'{"a": 1,\n}': "2: not JSON", "{\n'a': 1}": "2: not JSON", "[" * 99_999: "1: nested",
     '{"a":\n' + "[" * 50 + "]" * 50 + "}": "2: nested", '{"a": 1,\n"a": 2}': "2: the key a"}.items(),
    ids=str,
)  # fmt: skip
def test_a_broken_json_file_is_left_to_me(text: str, words: str) -> None:
    """The same holds for memfas.json."""
    with pytest.raises(Conflict) as caught:
        set_value(text, "b", "x", "memfas.json")
    assert caught.value.message.startswith(f"memfas.json:{words}")


def test_comments_in_a_list_are_not_thrown_away_with_it() -> None:
    """A list of mine is not replaced by something else; its elements can be changed one by one."""
    for text in ("a:\n  - 1\n", "a: [\n  1 # c\n]\n", "a:\n  b: 1\n"):
        with pytest.raises(Conflict):
            set_value(text, "a", "x")
    with pytest.raises(Conflict):
        append_item("a: x\n", "a", "y")
    with pytest.raises(Conflict):
        items("a: x\n", "a")


def test_lines_can_be_read_where_edits_are_refused() -> None:
    """A key that stands twice or an anchor that nobody uses does not keep a trigger from firing."""
    assert items("a: &x\n- 1\nb: 1\na:\n- 2\n", "a") == [Item(2, 5, 5)]
    assert items("a: &x\n- 1\n", "a")[0].value == 1


@pytest.mark.parametrize(
    ("edit", "arguments"),
    [(remove_item, (3,)), (remove_item, (-1,)), (replace_item, (3, "x")), (remove_value, ())],
)
def test_what_is_not_there_is_said_not_to_be_there(
    edit: Callable[..., str], arguments: tuple[Any, ...]
) -> None:
    """Somebody forgot the trigger before me: I am told, and no other one goes in its place."""
    with pytest.raises(NothingFound):
        edit("a: [x]\n", "a" if arguments else "b", *arguments)


@pytest.mark.parametrize("value", ["\ud800", object(), {1: 2}, b"x", float("nan"), {"a"}])
def test_a_value_that_no_file_can_hold_is_refused(value: Any) -> None:
    """Bytes that are no text, or a number that JSON has not: an error, not a file that nobody reads."""
    with pytest.raises(UsageError):
        set_value("", "a", value, "memfas.json")


def test_a_whole_tree_is_saved_as_it_differs() -> None:
    """`Config.save` into a file of mine: foreign keys and comments are still there."""
    text = FILE
    for name, value in {
        "search": {"backend": "fts5", "max_results": 7},
        "triggers": [{"keyword": "carol"}, {"keyword": "eve", "hint": "new"}],
        "sources": [{"path": "MEMORY.md", "type": "markdown"}],
    }.items():
        text = set_value(text, name, value)
    assert yaml.safe_load(text) == {
        "search": {"backend": "fts5", "max_results": 7},
        "triggers": [{"keyword": "carol"}, {"keyword": "eve", "hint": "new"}],
        "context": {"note": "kept"},
        "sources": [{"path": "MEMORY.md", "type": "markdown"}],
    }
    assert "# the engine" in text
    assert text.endswith("sources:\n  - path: MEMORY.md\n    type: markdown\n")
