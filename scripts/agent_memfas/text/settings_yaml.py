"""Reading YAML as parts: one pass over PyYAML's events, whose marks say where each value stands."""

from __future__ import annotations

import re
from typing import Any

from agent_memfas.errors import Conflict
from agent_memfas.text.settings_parts import BY_HAND, DEEPEST, Entry, Part, Tree, doubles

_ODD_BREAK = re.compile("\r(?!\n)|[\x85\u2028\u2029]")
_COLON = re.compile(r"\s*:")
_KEPT_SCALAR = re.compile(r"[^\n]*[|>][0-9]?\+")


def read(file: str, body: str) -> Tree:
    """YAML without its byte order mark -> its tree. Conflict, with the line, where it cannot be
    read: bad syntax, aliases, several documents, keys that are not scalars, nesting over 32."""
    import yaml

    reader = _Reader(file, body)
    try:
        root = reader.document(yaml.SafeLoader(body))
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        at = mark.index if mark else 0
        raise reader.refusal(at, f"{error.problem or error.context}") from error
    except yaml.reader.ReaderError as error:
        raise reader.refusal(error.position, f"{error.reason}") from error
    except (yaml.YAMLError, ValueError, OverflowError) as error:
        words = (str(error) or type(error).__name__).splitlines()[0]
        raise reader.refusal(reader.at, words) from error
    odd = [(m.start(), "an unusual line break") for m in _ODD_BREAK.finditer(body)]
    return Tree(file, body, root, tuple(sorted(reader.faults + odd)))


class _Reader:
    """Builds parts from events. at: the offset of the value last begun.

    loader and events are Any: PyYAML's parser has no types.
    """

    loader: Any

    def __init__(self, file: str, body: str) -> None:
        self.file, self.body, self.at = file, body, 0
        self.faults: list[tuple[int, str]] = []

    def refusal(self, at: int, words: str) -> Conflict:
        return Conflict(f"{self.file}:{self.body.count(chr(10), 0, at) + 1}: {words}", BY_HAND)

    def document(self, loader: Any) -> Part:
        from yaml.events import StreamEndEvent

        self.loader = loader
        loader.get_event()  # the stream starts
        if loader.check_event(StreamEndEvent):
            end = len(self.body)
            return Part("scalar", "", end, end, None, tail=end)
        loader.get_event()  # the document starts
        root = self.part(0)
        loader.get_event()  # the document ends
        if not loader.check_event(StreamEndEvent):
            at = loader.peek_event().start_mark.index
            raise self.refusal(at, "a second document begins here")
        return root

    def part(self, depth: int) -> Part:
        from yaml.events import AliasEvent, CollectionStartEvent

        event = self.loader.get_event()
        self.at = event.start_mark.index
        if isinstance(event, AliasEvent):
            raise self.refusal(self.at, f"an alias (*{event.anchor})")
        if depth > DEEPEST:
            raise self.refusal(self.at, "nested too deeply")
        if event.anchor is not None:
            self.faults.append((self.at, f"an anchor (&{event.anchor})"))
        if isinstance(event, CollectionStartEvent):
            if event.tag is not None:
                self.faults.append((self.at, f"a tag ({event.tag})"))
            return self.collection(event, depth)
        return self.scalar(event)

    def scalar(self, event: Any) -> Part:
        from yaml.nodes import ScalarNode

        tag = event.tag
        if tag is None or tag == "!":
            tag = self.loader.resolve(ScalarNode, event.value, event.implicit)
        node = ScalarNode(tag, event.value, event.start_mark, event.end_mark)
        value = self.loader.construct_object(node)
        start, end = event.start_mark.index, event.end_mark.index
        style = event.style or ""
        if style in ("|", ">"):
            end = self._end_of_block(start, end)
        return Part("scalar", style, start, end, value, tail=end)

    def _end_of_block(self, start: int, end: int) -> int:
        """A block scalar ends with its last line of text; with `+` blank lines are text too."""
        text = self.body[start:end]
        if _KEPT_SCALAR.match(text):
            return start + len(text.removesuffix("\n").removesuffix("\r"))
        return start + len(text.rstrip())

    def collection(self, event: Any, depth: int) -> Part:
        from yaml.events import MappingStartEvent

        is_map = isinstance(event, MappingStartEvent)
        style = "flow" if event.flow_style else "block"
        start = event.start_mark.index
        entries: list[Entry] = []
        while (close := self._closing()) is None:
            last = entries[-1].part.end if entries else start
            entries.append(self.pair(depth) if is_map else self.element(event, last, depth))
        tail = close.end_mark.index
        end = tail if style == "flow" else entries[-1].part.end
        value: Any = [e.part.value for e in entries]
        if is_map:
            self.faults += doubles(entries)
            value = {e.key: e.part.value for e in entries}
        return Part("map" if is_map else "list", style, start, end, value, tuple(entries), tail)

    def _closing(self) -> Any:
        from yaml.events import CollectionEndEvent

        return self.loader.get_event() if self.loader.check_event(CollectionEndEvent) else None

    def pair(self, depth: int) -> Entry:
        key = self.part(depth + 1)
        if key.kind != "scalar":
            raise self.refusal(key.start, "a key that is a list or a mapping")
        found = _COLON.match(self.body, key.end)
        value = self.part(depth + 1)
        return Entry(key.start, value, key.value, found.end() - 1 if found else -1)

    def element(self, event: Any, last: int, depth: int) -> Entry:
        part = self.part(depth + 1)
        if event.flow_style:
            return Entry(part.start, part)
        return Entry(self._dash(event.start_mark.index, last, part.start), part)

    def _dash(self, first: int, last: int, start: int) -> int:
        """The dash of a block element: in the column of the first one, above or before its value;
        last: where the element before it ends."""
        if last == first:
            return first if self.body[first : first + 1] == "-" else start
        column = first - (self.body.rfind("\n", 0, first) + 1)
        line = self.body.rfind("\n", 0, start) + 1
        while line > last:
            dash = line + column
            if self.body[dash : dash + 1] == "-" and not self.body[line:dash].strip(" "):
                return dash
            line = self.body.rfind("\n", 0, line - 1) + 1
        return start
