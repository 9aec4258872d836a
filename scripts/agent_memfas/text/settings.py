"""Changing the text of a memfas.yaml or memfas.json, and finding places in it.

Pure functions from text to text. Nothing but the value in question is touched: comments, order,
other keys, indentation, line ends, byte order mark and a missing last newline stay. Each edit is
checked before it is given back: the new text is read again and must hold the old values with
exactly that change, else Conflict names file and line and asks a person to edit it.

Conflict too, and nothing else is tried, where the file is not valid, has anchors, aliases, tags
on collections, a key twice, unusual line breaks or several documents, or is nested over 32 deep.

name: keys from the outermost on, with dots between ("search.backend"). file: the name used in
errors; one that ends in .json is JSON. UsageError: a value that no settings file can hold.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from agent_memfas.errors import NothingFound
from agent_memfas.text.settings_parts import Entry, Path, Tree, walk
from agent_memfas.text.settings_spelling import plain
from agent_memfas.text.settings_tree import change, drop, put, read

BOM = "\ufeff"
FILE = "memfas.yaml"


class Item(NamedTuple):
    """An element of a list. first, last: its lines, 1-based and inclusive, without comments."""

    value: Any
    first: int
    last: int


def items(text: str, name: str, file: str = FILE) -> list[Item]:
    """The elements of a list and where they stand; none where it is missing or null.

    Reads what can be read: a key that stands twice counts as it stands last. Conflict where the
    file is not valid or name is something else than a list.
    """
    tree = read(file, text.removeprefix(BOM))
    path = _path(name)
    chain = walk(tree.root, path)
    part = chain[-1].part
    if len(chain) <= len(path) or (part.kind == "scalar" and part.value is None):
        return []
    if part.kind != "list":
        raise tree.refusal(chain[-1].start, f"{name} is not a list")
    return [Item(e.part.value, tree.line(e.start), tree.line(e.part.end)) for e in part.entries]


def lines_of(text: str, file: str = FILE) -> dict[str, int]:
    """The line (1-based) of each key, and with a dot of each key in a section. Conflict where the
    file is not valid.
    """
    tree = read(file, text.removeprefix(BOM))
    found: dict[str, int] = {}
    for entry in tree.root.entries if tree.root.kind == "map" else ():
        found[str(entry.key)] = tree.line(entry.start)
        for inner in entry.part.entries if entry.part.kind == "map" else ():
            found[f"{entry.key}.{inner.key}"] = tree.line(inner.start)
    return found


def set_value(text: str, name: str, value: Any, file: str = FILE) -> str:
    """The text with a key set. A key that is missing comes at the end of its section, a section
    that is missing at the end of the file. Of a list or mapping only what differs is changed."""
    return _finish(text, change(_editable(text, file), _path(name), plain(value)))


def remove_value(text: str, name: str, file: str = FILE) -> str:
    """The text without a key; the last key of a section leaves `{}`. NothingFound: no such key."""
    tree = _editable(text, file)
    return _finish(text, drop(tree, _path(name)))


def append_item(text: str, name: str, value: Any, file: str = FILE) -> str:
    """The text with one element more at the end of a list, in the style that is there. A list
    that is empty, null or missing is begun on lines under its key."""
    tree, path = _editable(text, file), _path(name)
    at = len(_elements(tree, path, name))
    return _finish(text, put(tree, (*path, at), plain(value)))


def remove_item(text: str, name: str, index: int, file: str = FILE) -> str:
    """The text without one element (index from 0), its lines and the comments that belong to it
    (see settings_block); the last one leaves `[]`. NothingFound: no such element."""
    tree, path = _editable(text, file), _path(name)
    _elements(tree, path, name)
    return _finish(text, drop(tree, (*path, index)))


def replace_item(text: str, name: str, index: int, value: Any, file: str = FILE) -> str:
    """The text with one element (index from 0) changed to value; only the keys and elements in
    it that differ are touched. NothingFound: no such element."""
    tree, path = _editable(text, file), _path(name)
    if not 0 <= index < len(_elements(tree, path, name)):
        raise NothingFound(f"{file}: {name} has no element {index + 1}")
    return _finish(text, change(tree, (*path, index), plain(value)))


def _path(name: str) -> Path:
    return tuple(name.split("."))


def _editable(text: str, file: str) -> Tree:
    tree = read(file, text.removeprefix(BOM))
    for at, words in tree.faults:
        raise tree.refusal(at, f"{words}; a program cannot edit this safely")
    root = tree.root
    if root.kind == "list" or (root.kind == "scalar" and root.value is not None):
        raise tree.refusal(root.start, "the file must be a mapping of keys to values")
    return tree


def _finish(text: str, tree: Tree) -> str:
    return BOM + tree.body if text.startswith(BOM) else tree.body


def _elements(tree: Tree, path: Path, name: str) -> tuple[Entry, ...]:
    """The elements of a list; () where it is missing or null."""
    chain = walk(tree.root, path)
    part = chain[-1].part
    if len(chain) > len(path) and part.kind != "list" and part.value is not None:
        raise tree.refusal(chain[-1].start, f"{name} is not a list")
    return part.entries if len(chain) > len(path) else ()
