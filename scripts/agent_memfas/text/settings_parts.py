"""A settings file as a tree of parts, each with its place in the text.

The tree is the same for YAML and JSON; `settings_yaml` and `settings_json` read it. Places are
offsets into the body: the text without its byte order mark.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

from agent_memfas.errors import Conflict

DEEPEST = 32
BY_HAND = "edit the file by hand"
Path = tuple[str | int, ...]
_BLANK = re.compile(r"[ \t]*")


class Edit(NamedTuple):
    """Put text in place of body[start:end]."""

    start: int
    end: int
    text: str


@dataclass(frozen=True)
class Part:
    """One value. kind: scalar, list or map. style: block or flow; of a scalar its quote, `|`, `>`
    or "". start, end: where its text stands, without comments and blank lines behind it; both the
    same for a null that is not written. tail: where the next token stands (block), else end."""

    kind: str
    style: str
    start: int
    end: int
    value: Any
    entries: tuple[Entry, ...] = ()
    tail: int = 0

    @property
    def empty(self) -> bool:
        """Whether it is null, `[]` or `{}`: something that a first entry can be put into."""
        return not self.entries if self.kind != "scalar" else self.value is None


@dataclass(frozen=True)
class Entry:
    """An element of a list or a key with its value. start: its dash, its key, or, in a flow list,
    its value. colon: the offset of the colon, -1 where there is none."""

    start: int
    part: Part
    key: Any = None
    colon: int = -1


@dataclass(frozen=True)
class Tree:
    """A file that was read. faults: (offset, words) of what keeps a program from editing it."""

    file: str
    body: str
    root: Part
    faults: tuple[tuple[int, str], ...] = ()

    @property
    def json(self) -> bool:
        """Whether the file is JSON: no comments, no block style, every string quoted."""
        return is_json(self.file)

    @property
    def newline(self) -> str:
        """How lines end in this file: as the first one does."""
        at = self.body.find("\n")
        return "\r\n" if at > 0 and self.body[at - 1] == "\r" else "\n"

    def line(self, at: int) -> int:
        """The line of an offset, 1-based."""
        return bisect_right(self._starts, at)

    @cached_property
    def _starts(self) -> list[int]:
        return [0, *(found.end() for found in re.finditer("\n", self.body))]

    def refusal(self, at: int, words: str) -> Conflict:
        """The error that names file and line and leaves the edit to a person."""
        return Conflict(f"{self.file}:{self.line(at)}: {words}", BY_HAND)

    def column(self, at: int) -> int:
        """How far from the start of its line an offset is."""
        return at - self.line_start(at)

    def line_start(self, at: int) -> int:
        """Where the line of an offset starts."""
        return self.body.rfind("\n", 0, at) + 1

    def line_end(self, at: int) -> int:
        """Where the next line starts, or the end of the text."""
        return self.body.find("\n", at) + 1 or len(self.body)

    def margin(self, at: int) -> str:
        """The blanks that the line of an offset starts with."""
        found = _BLANK.match(self.body, self.line_start(at))
        return found[0] if found else ""

    def leads(self, at: int) -> bool:
        """Whether nothing but blanks stands before an offset in its line."""
        return self.column(at) == len(self.margin(at))


def is_json(file: str) -> bool:
    """Whether a file of this name is read as JSON."""
    return file.lower().endswith(".json")


def walk(root: Part, path: Path) -> list[Entry]:
    """The entries from the root (as an entry of nothing) along the path, as far as it exists."""
    chain = [Entry(root.start, root)]
    for step in path:
        part = chain[-1].part
        found = [e for n, e in enumerate(part.entries)
                 if (e.key if part.kind == "map" else n) == step]  # fmt: skip
        if not found:
            break
        chain.append(found[-1])
    return chain


def splice(body: str, edits: list[Edit]) -> str:
    """The text with all edits made; those at one place stand in their order."""
    out, at = [], 0
    for edit in sorted(edits, key=lambda e: e.start):
        out += [body[at : edit.start], edit.text]
        at = edit.end
    return "".join([*out, body[at:]])


def same(one: Any, other: Any) -> bool:
    """Whether two values are alike down to their types and the order of their keys."""
    if type(one) is not type(other):
        return False
    if isinstance(one, dict):
        return len(one) == len(other) and all(
            same(key, name) and same(item, thing)
            for (key, item), (name, thing) in zip(one.items(), other.items(), strict=True)
        )
    if isinstance(one, list):
        return len(one) == len(other) and all(map(same, one, other))
    return bool(one == other or (one != one and other != other))  # noqa: PLR0124 - not a number


def doubles(entries: list[Entry]) -> list[tuple[int, str]]:
    """(offset, words) of the keys of a mapping that stand there twice."""
    found, seen = list[tuple[int, str]](), set[Any]()
    for entry in entries:
        if entry.key in seen:
            found.append((entry.start, f"the key {entry.key} stands there twice"))
        seen.add(entry.key)
    return found
