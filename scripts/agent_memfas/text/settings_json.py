"""Reading JSON as parts. The standard library reads the values; this keeps where each stands."""

from __future__ import annotations

import json
import re

from agent_memfas.errors import Conflict
from agent_memfas.text.settings_parts import BY_HAND, DEEPEST, Entry, Part, Tree, doubles

_SPACE = re.compile(r"[ \t\r\n]*")
_DECODER = json.JSONDecoder()


def read(file: str, body: str) -> Tree:
    """JSON without its byte order mark -> its tree; an empty text is `{}`. Conflict, with the
    line, where it is not JSON or nested over 32 deep."""
    if not body.strip():
        return Tree(file, body, Part("map", "flow", 0, len(body), {}, tail=len(body)))
    try:
        json.loads(body)
    except json.JSONDecodeError as error:
        raise Conflict(f"{file}:{error.lineno}: not JSON: {error.msg}", BY_HAND) from error
    except RecursionError as error:
        raise Conflict(f"{file}:1: nested too deeply", BY_HAND) from error
    reader = _Reader(file, body)
    return Tree(file, body, reader.part(reader.skip(0), 0), tuple(reader.faults))


class _Reader:
    """Walks over text that is known to be JSON."""

    def __init__(self, file: str, body: str) -> None:
        self.file, self.body = file, body
        self.faults: list[tuple[int, str]] = []

    def skip(self, at: int) -> int:
        """The next offset that is not blank."""
        found = _SPACE.match(self.body, at)
        return found.end() if found else at

    def part(self, start: int, depth: int) -> Part:
        if self.body[start] not in "{[":
            value, end = _DECODER.raw_decode(self.body, start)
            style = '"' if isinstance(value, str) else ""
            return Part("scalar", style, start, end, value, tail=end)
        if depth > DEEPEST:
            line = self.body.count("\n", 0, start) + 1
            raise Conflict(f"{self.file}:{line}: nested too deeply", BY_HAND)
        is_map = self.body[start] == "{"
        entries: list[Entry] = []
        at = self.skip(start + 1)
        while self.body[at] not in "}]":
            if self.body[at] == ",":
                at = self.skip(at + 1)
            entries.append(self.pair(at, depth) if is_map else self.element(at, depth))
            at = self.skip(entries[-1].part.end)
        value = (
            {e.key: e.part.value for e in entries} if is_map else [e.part.value for e in entries]
        )
        self.faults += doubles(entries) if is_map else []
        kind = "map" if is_map else "list"
        return Part(kind, "flow", start, at + 1, value, tuple(entries), at + 1)

    def pair(self, start: int, depth: int) -> Entry:
        key, end = _DECODER.raw_decode(self.body, start)
        colon = self.skip(end)
        return Entry(start, self.part(self.skip(colon + 1), depth + 1), key, colon)

    def element(self, start: int, depth: int) -> Entry:
        return Entry(start, self.part(start, depth + 1))
