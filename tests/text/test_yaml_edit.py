"""Changing memfas.yaml and memfas.json: random files, random edits, nothing else touched."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any

import yaml
from hypothesis import assume, given
from hypothesis import strategies as st
from yaml_documents import FIELDS, NAMES, documents

from agent_memfas.errors import Conflict
from agent_memfas.text.settings import (
    append_item,
    items,
    remove_item,
    remove_value,
    replace_item,
    set_value,
)
from agent_memfas.text.settings_parts import same

TEXT = st.text(st.characters(codec="utf-8"), max_size=12) | st.sampled_from(
    ["no", "1:30", "", " x", "a: b", "x # y", "- z", "'", "[", "2026-01-01", "~", "é", "🙂", "a\nb"]
)
SCALARS = (
    TEXT
    | st.integers()
    | st.booleans()
    | st.none()
    | st.floats(allow_nan=False, allow_infinity=False)
)
TRIGGERS = st.fixed_dictionaries({"keyword": TEXT, "hint": TEXT}) | TEXT
VALUES = SCALARS | st.lists(TEXT, max_size=3) | st.lists(TRIGGERS, max_size=3) | TRIGGERS
KEYS = [yaml.safe_load(name) for name in NAMES]
LISTS = documents(("list", "block list"))
TREES = st.dictionaries(
    st.sampled_from(KEYS) | TEXT,
    st.recursive(SCALARS, lambda s: st.lists(s, max_size=4) | st.dictionaries(TEXT, s, max_size=3)),
    max_size=5,
)


def comments(text: str) -> list[str]:
    return re.findall(r"#c\d+\.", text)


def lines(text: str) -> list[str]:
    return re.findall("[^\n]*\n|[^\n]+", text.removeprefix("\ufeff"))


def assert_kept(old: str, new: str, touched: set[int]) -> None:
    """Every line of the old text, but for those touched (0-based), stands in the new one, whole
    and in the old order; only a last one without a line end may have been given one."""
    rest = iter(lines(new))
    for n, line in enumerate(lines(old)):
        forms = (line,) if line.endswith("\n") else (line, f"{line}\n", f"{line}\r\n")
        assert n in touched or any(other in forms for other in rest), line
    assert new.startswith("\ufeff") == old.startswith("\ufeff")
    if "\n" in old and "\n" in new:  # all ends of lines are of one kind, and so are the new ones
        assert ("\r\n" in old) == ("\r\n" in new)
        assert new.count("\r\n") in (0, new.count("\n"))
    if old.removeprefix("\ufeff") and not old.endswith("\n"):
        assert not new.endswith("\n") or touched


def place(text: str, path: tuple[str | int, ...]) -> set[int]:
    """The lines (0-based) of what stands at a path, from its key to its end, by PyYAML alone;
    none where nothing is."""
    if not path:
        return set()
    node: Any = yaml.compose(text, yaml.SafeLoader)
    first = 0
    for step in path:
        if isinstance(node, yaml.MappingNode):
            found = [(k, v) for k, v in node.value if k.value == step]
        elif isinstance(node, yaml.SequenceNode):
            found = [(node, v) for v in node.value[step : step + 1]]
        else:
            found = []
        if not found:
            return set()
        inside = found[0][0] is node
        key, node = found[0]
        first = (node if inside else key).start_mark.line
        while inside and not key.flow_style and not lines(text)[first].lstrip().startswith("-"):
            first -= 1  # a dash may stand above what it is the dash of
    return set(range(first, last_line(node, text) + 1))


def last_line(node: yaml.Node, text: str) -> int:
    """The last line of a node, 0-based: that of its closing bracket or of its last text."""
    if isinstance(node, yaml.CollectionNode) and not node.flow_style:
        last: Any = node.value[-1]
        return last_line(last[1] if isinstance(last, tuple) else last, text)
    line: int = node.end_mark.line
    if isinstance(node, yaml.ScalarNode) and node.style in ("|", ">"):
        line -= node.end_mark.column == 0
        while not node.value.endswith("\n\n") and not lines(text)[line].strip():
            line -= 1
    return line


def tried(edit: Callable[..., str], *args: Any) -> tuple[str, str]:
    """The new text, or "" and why the file was left alone; it names the file and a line."""
    try:
        return edit(*args), ""
    except Conflict as error:
        found = re.fullmatch(r"memfas\.yaml:\d+: (.+)", error.message)
        return "", found[1] if found else "no line is named"


def load(text: str) -> dict[str, Any]:
    return yaml.safe_load(text) or {}


@given(documents(), st.sampled_from(KEYS), st.sampled_from(["", *FIELDS]), VALUES)
def test_a_setting_is_changed_and_nothing_else(text: str, key: str, field: str, value: Any) -> None:
    """I set one key: it has the new value, and each other line of my file is as I left it."""
    tree, name = load(text), f"{key}.{field}".strip(".")
    assume(not field or tree.get(key) is None or isinstance(tree[key], dict))
    path = (key, field) if field else (key,)
    old = (tree.get(key) or {}).get(field) if field else tree.get(key)
    new, why = tried(set_value, text, name, value)
    if why:  # not thrown away for something of another kind
        assert "must not throw away" in why
        assert isinstance(old, (dict, list))
        assert old
        return
    expected = {**tree, key: {**(tree.get(key) or {}), field: value} if field else value}
    assert load(new) == expected
    assert same(load(set_value(new, name, value)), load(new))
    section = place(text, path[:-1])
    in_block = tree.get(key) and not any("{" in lines(text)[n] for n in section)
    assert_kept(text, new, place(text, path) or (set() if in_block else section))
    if not isinstance(old, (dict, list)):
        assert comments(new) == comments(text)


@given(documents(), st.sampled_from(KEYS), TRIGGERS)
def test_a_trigger_is_added_at_the_end_of_the_list(text: str, key: str, value: Any) -> None:
    """I add a trigger: it comes last, in the style of my list, and no comment is lost."""
    tree = load(text)
    assume(tree.get(key) is None or isinstance(tree[key], list))
    new = append_item(text, key, value)
    assert load(new) == {**tree, key: [*(tree.get(key) or []), value]}
    assert comments(new) == comments(text)
    where = place(text, (key,))
    in_block = tree.get(key) and not any("[" in lines(text)[n] for n in where)
    assert_kept(text, new, set() if in_block else where)
    assert [item.value for item in items(new, key)] == load(new)[key]


@given(LISTS, st.integers(0, 3))
def test_a_trigger_goes_with_its_lines_and_its_comments(text: str, n: int) -> None:
    """I forget a trigger: its lines go and so do comments beside it; all the rest stays."""
    tree, key = load(text), "triggers"
    n %= len(tree[key])
    new, why = tried(remove_item, text, key, n)
    if why:  # blank lines would come to stand behind a text that takes them in
        assert "safely" in why
        assert "|+" in text
        return
    rest = [item for at, item in enumerate(tree[key]) if at != n]
    assert same(load(new), {**tree, key: rest})
    gone = place(text, (key, n))
    above, below = min(gone), max(gone)
    while lines(text)[above - 1].lstrip().startswith("#"):
        above -= 1
    while "".join(lines(text)[below + 1 : below + 2]).lstrip().startswith("#"):
        below += 1
    in_flow = "[" in "".join(lines(text)[line] for line in place(text, (key,)))
    beside = set(range(above, below + 1))
    assert_kept(text, new, beside | (place(text, (key,)) if in_flow or not rest else set()))
    lost = set(comments(text)) - set(comments(new))
    assert lost <= set(comments("".join(lines(text)[line] for line in beside)))
    for line in lines(text)[above : min(gone)]:
        assert "# - out" not in line or not set(comments(line)) & lost


@given(LISTS, TRIGGERS)
def test_adding_and_forgetting_a_trigger_gives_the_old_file(text: str, value: Any) -> None:
    """I add a trigger to my list and forget it again: the file is as before, byte for byte."""
    old = load(text)["triggers"]
    added = append_item(text, "triggers", value)
    bare = text if text.endswith("\n") else f"{text}\r\n" if "\r\n" in text else f"{text}\n"
    assert remove_item(added, "triggers", len(old)) in (text, bare)


@given(LISTS, st.integers(0, 3), VALUES)
def test_an_element_is_changed_in_its_place(text: str, n: int, value: Any) -> None:
    """One keyword of a trigger is taken away or changed: its neighbours are left alone."""
    tree, key = load(text), "triggers"
    n %= len(tree[key])
    new_list = [value if at == n else item for at, item in enumerate(tree[key])]
    new, why = tried(replace_item, text, key, n, value)
    if why:
        assert "must not throw away" in why or "would be joined" in why
        assert isinstance(tree[key][n], dict)
        return
    assert load(new) == {**tree, key: new_list}
    assert_kept(text, new, place(text, (key, n)))


@given(documents(("map", "block map")), st.integers(0, 9), st.booleans())
def test_a_key_is_taken_out(text: str, n: int, whole: bool) -> None:
    """I take a key out: it is gone, its section stays, no other key is touched."""
    tree = load(text)
    key = list(tree)[n % len(tree)] if whole else "triggers"
    field = "" if whole or not tree[key] else list(tree[key])[n % len(tree[key])]
    new, why = tried(remove_value, text, f"{key}.{field}".strip("."))
    if why:  # as above
        assert "|+" in text
        return
    if field:
        tree[key] = {k: v for k, v in tree[key].items() if k != field}
    else:
        del tree[key]
    assert same(load(new), tree)
    gone = place(text, (key,))
    under = max(gone) + 1
    while re.match("[ ]+#", "".join(lines(text)[under : under + 1])):
        under += 1
    assert_kept(text, new, set(range(min(gone), under)))


@given(documents(), st.sampled_from(KEYS))
def test_every_element_knows_its_lines(text: str, key: str) -> None:
    """A trigger that fires says where it stands: the lines that I see in my editor."""
    tree = load(text)
    assume(tree.get(key) is None or isinstance(tree[key], list))
    found = items(text, key)
    assert same([item.value for item in found], tree.get(key) or [])
    for n, item in enumerate(found):
        there = {line + 1 for line in place(text, (key, n))}
        assert (item.first, item.last) == (min(there), max(there))


@given(documents(), st.data())
def test_whatever_the_file_is_it_is_never_broken(text: str, data: st.DataObject) -> None:
    """A file that I mangled is either edited as asked or left alone with a line to look at."""
    at = data.draw(st.integers(0, len(text)))
    odd = ["\t", "&a ", "*a", "!!str ", "? ", "\r", "\u2028", "#", "---\n", "...\n", "{", "]", ",", "-", ":",
           "\n", " ", "'", "|", "%", "<<: ", "triggers: [x]\n"]  # fmt: skip
    text = text[:at] + data.draw(st.sampled_from(odd)) + text[at + data.draw(st.integers(0, 2)) :]
    new, why = tried(append_item, text, "triggers", "more")
    other, why_not = tried(set_value, text, "search.backend", "it: 'works'")
    assert "no line is named" not in (why, why_not)
    if why or why_not:
        return
    gone = remove_item(new, "triggers", len(load(new)["triggers"]) - 1)
    tree = load(text)
    assert same(load(new), {**tree, "triggers": [*(tree.get("triggers") or []), "more"]})
    assert same(load(gone), {**tree, "triggers": tree.get("triggers") or []})
    search = {**(tree.get("search") or {}), "backend": "it: 'works'"}
    assert same(load(other), {**tree, "search": search})


@given(TREES, st.sampled_from([None, 0, 1, 2, 4, "\t"]), st.sampled_from(KEYS), VALUES)
def test_json_keeps_its_indentation(
    tree: dict[str, Any], indent: int | str | None, key: str, value: Any
) -> None:
    """My memfas.json is indented as I like it: a change leaves it what a formatter would write."""
    text = json.dumps(tree, indent=indent, ensure_ascii=False) + "\n"
    new = set_value(text, key, value, "memfas.json")
    assert same(json.loads(new), {**tree, key: value})
    if indent not in (None, 0) and tree:
        assert new == json.dumps({**tree, key: value}, indent=indent, ensure_ascii=False) + "\n"
    if isinstance(tree.get(key, []), list):
        longer = append_item(text, key, value, "memfas.json")
        expected = {**tree, key: [*tree.get(key, []), value]}
        assert same(json.loads(longer), expected)
        if indent not in (None, 0) and tree:
            assert longer == json.dumps(expected, indent=indent, ensure_ascii=False) + "\n"
        if key in tree:
            assert remove_item(longer, key, len(tree[key]), "memfas.json") == text
