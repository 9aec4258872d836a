"""Changes of a JSON text that leave every other byte as it is: something put in, or taken out."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Any

from agent_memfas.errors import Conflict
from agent_memfas.text.settings_json import read
from agent_memfas.text.settings_parts import Part, Tree

INDENT = "  "


def value_of(text: str, file: str) -> Any:
    """What a text says; an empty one is an empty object. Conflict where it is no JSON."""
    return _read(text, file).root.value


def with_member(text: str, path: Sequence[str], value: Any, file: str) -> str:
    """The text with a value for a member, which must not be there; objects on its way are made.
    Conflict where it is, or something on the way is no object.
    """
    tree = _read(text, file)
    part, depth = _deepest(tree, path, file)
    if depth == len(path):
        raise Conflict(f"{file}: {'.'.join(path)} is there already")
    for name in reversed(path[depth + 1 :]):
        value = {name: value}
    return _put(tree, part, path[depth], value)


def with_element(text: str, path: Sequence[str], value: Any, file: str) -> str:
    """The text with one more element at the end of a list, which is made where it is missing.
    Conflict where something else is there.
    """
    tree = _read(text, file)
    part, depth = _deepest(tree, path, file)
    if depth < len(path):
        return with_member(text, path, [value], file)
    if part.kind != "list":
        raise Conflict(f"{file}: {'.'.join(path)} is no list")
    return _put(tree, part, None, value)


def without_member(text: str, path: Sequence[str], file: str) -> str:
    """The text without a member; as it is where there is none."""
    tree = _read(text, file)
    part, depth = _deepest(tree, path[:-1], file)
    if depth < len(path) - 1 or part.kind != "map":
        return text
    keys = [entry.key for entry in part.entries]
    return _cut(tree, part, keys.index(path[-1])) if path[-1] in keys else text


def without_elements(
    text: str, path: Sequence[str | int], gone: Callable[[Any], bool], file: str
) -> str:
    """The text without those elements of a list that are meant; as it is where there is none. A
    number on the way there is a place in a list.
    """
    while True:
        tree = _read(text, file)
        part, depth = _deepest(tree, path, file)
        if depth < len(path) or part.kind != "list":
            return text
        values = [entry.part.value for entry in part.entries]
        at = next((n for n, value in enumerate(values) if gone(value)), None)
        if at is None:
            return text
        text = _cut(tree, part, at)


def _read(text: str, file: str) -> Tree:
    """Conflict where it is no JSON, or not all of it counts: a name that is there twice."""
    tree = read(file, text)
    for at, words in tree.faults:
        raise tree.refusal(at, words)
    return tree


def _deepest(tree: Tree, path: Sequence[str | int], file: str) -> tuple[Part, int]:
    """The part at a path, or the last on the way to it, and how many steps that are."""
    part = tree.root
    for depth, name in enumerate(path):
        if isinstance(name, int) and part.kind == "list" and name < len(part.entries):
            part = part.entries[name].part
            continue
        if part.kind != "map":
            raise Conflict(f"{file}: {'.'.join(map(str, path[:depth])) or 'it'} is no object")
        entry = next((one for one in part.entries if one.key == name), None)
        if entry is None:
            return part, depth
        part = entry.part
    return part, len(path)


def _put(tree: Tree, part: Part, name: str | None, value: Any) -> str:
    """Behind the last entry of a part, in the manner in which that is written."""
    text = tree.body
    end = "\r\n" if "\r\n" in text else "\n"
    head = "" if name is None else f"{json.dumps(name, ensure_ascii=False)}: "
    if not text.strip():
        return f"{{{end}{INDENT}{head}{_told(value, INDENT, end)}{end}}}{end}"
    if not part.entries:
        outer = _indent_of(text, part.start)
        inner = outer + INDENT
        body = f"{end}{inner}{head}{_told(value, inner, end)}{end}{outer}"
        return f"{text[: part.start + 1]}{body}{text[part.end - 1 :]}"
    last = part.entries[-1]
    before = text[part.start : last.start]
    if "\n" in before:
        inner = before.rpartition("\n")[2]
        inner = inner if not inner.strip() else _indent_of(text, last.start)
        body = f",{end}{inner}{head}{_told(value, inner, end)}"
    else:
        body = f", {head}{json.dumps(value, ensure_ascii=False)}"
    return f"{text[: last.part.end]}{body}{text[last.part.end :]}"


def _cut(tree: Tree, part: Part, at: int) -> str:
    """Without an entry and the comma that parts it from the next."""
    text, entries = tree.body, part.entries
    if len(entries) == 1:
        return text[: part.start + 1] + text[part.end - 1 :]
    if at + 1 < len(entries):
        return text[: entries[at].start] + text[entries[at + 1].start :]
    return text[: entries[at - 1].part.end] + text[entries[at].part.end :]


def _told(value: Any, indent: str, end: str) -> str:
    lines = json.dumps(value, ensure_ascii=False, indent=len(INDENT)).split("\n")
    return f"{end}{indent}".join(lines)


def _indent_of(text: str, at: int) -> str:
    """The white space that the line of a place begins with."""
    line = text[text.rfind("\n", 0, at) + 1 : at]
    return line[: len(line) - len(line.lstrip())]
