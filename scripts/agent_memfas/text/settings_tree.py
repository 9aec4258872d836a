"""Steps that change one thing in a settings file, each read again and compared before it counts."""

from __future__ import annotations

from typing import Any

from agent_memfas.errors import Conflict, NothingFound
from agent_memfas.text import settings_block, settings_flow, settings_json, settings_yaml
from agent_memfas.text.settings_parts import Edit, Entry, Path, Tree, is_json, same, splice, walk
from agent_memfas.text.settings_spelling import flow, scalar


def read(file: str, body: str) -> Tree:
    """The tree of a file's text without its byte order mark. Conflict: it is not valid."""
    return settings_json.read(file, body) if is_json(file) else settings_yaml.read(file, body)


def change(tree: Tree, path: Path, value: Any) -> Tree:
    """The tree with the value at path changed to another one, by as little as it takes."""
    chain = walk(tree.root, path)
    old = chain[-1].part
    if len(chain) <= len(path):
        return put(tree, path, value)
    if same(old.value, value):
        return tree
    if old.entries and isinstance(value, dict) and old.kind == "map":
        for key in [k for k in old.value if k not in value]:
            tree = drop(tree, (*path, key))
        for key, item in value.items():
            tree = change(tree, (*path, key), item)
        return tree
    if old.entries and isinstance(value, list) and old.kind == "list":
        return _change_list(tree, path, old.value, value)
    return put(tree, path, value)


def _change_list(tree: Tree, path: Path, old: list[Any], value: list[Any]) -> Tree:
    """Elements that are no longer there go first, then the rest is changed in its place."""
    old = list(old)
    while len(old) > len(value):
        pairs = zip(old, value)  # noqa: B905 - the shorter one ends it
        gone = next((n for n, (a, b) in enumerate(pairs) if not same(a, b)), len(value))
        tree = drop(tree, (*path, gone))
        del old[gone]
    for n, item in enumerate(value):
        tree = change(tree, (*path, n), item)
    return tree


def put(tree: Tree, path: Path, value: Any) -> Tree:
    """The tree with the value at path set as a whole: replaced, or added where it is missing."""
    chain = walk(tree.root, path)
    found, entry = len(chain) - 1, chain[-1]
    expected = _with(tree.root.value, path, value)
    if found == len(path):
        return _checked(tree, entry, _replacement(tree, chain, value), expected)
    added = value
    for inner in reversed(path[found + 1 :]):
        added = [added] if isinstance(inner, int) else {inner: added}
    step = path[found]
    key = step if isinstance(step, str) else None
    if entry.part.kind != ("list" if key is None else "map") and entry.part.value is not None:
        words = "a list" if key is None else "a mapping of keys to values"
        raise tree.refusal(entry.start, f"{entry.key} is not {words}")
    return _checked(tree, entry, _addition(tree, chain, key, added), expected)


def drop(tree: Tree, path: Path) -> Tree:
    """The tree without the key or element at path. NothingFound: there is none."""
    chain = walk(tree.root, path)
    if len(chain) <= len(path):
        name = ".".join(str(step + 1 if isinstance(step, int) else step) for step in path)
        raise NothingFound(f"{tree.file}: there is no {name}")
    parent, entry = chain[-2], chain[-1]
    index = parent.part.entries.index(entry)
    if parent.part.style == "block":
        edits = settings_block.remove(tree, entry, index, parent)
    else:
        edits = settings_flow.remove(tree, parent.part, index)
    return _checked(tree, entry, edits, _without(tree.root.value, path))


def _addition(tree: Tree, chain: list[Entry], key: str | None, value: Any) -> list[Edit]:
    entry, part = chain[-1], chain[-1].part
    if part.entries and part.style == "block":
        return settings_block.append(tree, part, key, value)
    if len(chain) == 1 and part.kind == "scalar" and key is not None:
        return settings_block.start_file(tree, key, value)
    if len(chain) > 1 and settings_block.can_open(tree, chain[-2].part, entry):
        return settings_block.open_up(tree, entry, [value] if key is None else {key: value})
    return settings_flow.append(tree, part, key, value)


def _replacement(tree: Tree, chain: list[Entry], value: Any) -> list[Edit]:
    entry, part = chain[-1], chain[-1].part
    written = tree.body[part.start : part.end]
    if part.entries and (part.style == "block" or ("#" in written and not tree.json)):
        raise tree.refusal(entry.start, "a list or mapping that a program must not throw away")
    many = isinstance(value, dict) or (
        isinstance(value, list) and any(isinstance(v, dict) for v in value)
    )
    if value and many and settings_block.can_open(tree, chain[-2].part, entry):
        return settings_block.open_up(tree, entry, value)
    if tree.json:
        text = settings_flow.written(tree, None, value, tree.margin(part.start), wide=True)
    else:
        text = flow(value) if isinstance(value, (dict, list)) else scalar(value, part.style)
    return [settings_block.replace(tree, part, settings_flow.spaced(tree, part, text))]


def _checked(tree: Tree, entry: Entry, edits: list[Edit], expected: Any) -> Tree:
    """The tree after the edits, if that is the expected one. Conflict: it is not."""
    words = "a program cannot edit this safely"
    try:
        new = read(tree.file, splice(tree.body, edits))
    except Conflict as error:
        raise tree.refusal(entry.start, words) from error
    if new.faults or not same({} if new.root.empty else new.root.value, expected):
        raise tree.refusal(entry.start, words)
    return new


def _with(value: Any, path: Path, new: Any) -> Any:
    """A copy of a value in which another value stands at path."""
    if not path:
        return new
    step = path[0]
    if isinstance(step, int):
        old = value or []
        return [*old[:step], _with(dict(enumerate(old)).get(step), path[1:], new), *old[step + 1 :]]
    old = value if isinstance(value, dict) else {}
    return {**old, step: _with(old.get(step), path[1:], new)}


def _without(value: Any, path: Path) -> Any:
    """A copy of a value in which nothing stands at path."""
    step = path[0]
    if len(path) > 1:
        return _with(value, (step,), _without(value[step], path[1:]))
    if isinstance(value, list):
        return [item for n, item in enumerate(value) if n != step]
    return {key: item for key, item in value.items() if key != step}
