"""Messages of a context: whatever form an agent gives them, what they say and what hangs on them.

A message is a string, a mapping with `role` and `content` (chat messages of OpenAI; content blocks
of Anthropic; tool calls and results of both), or an object with `text` or `content`. Nothing here
changes one: `with_text` makes another of the same shape.
"""

from __future__ import annotations

import copy
import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import datetime, timezone
from typing import Any

from agent_memfas.text.record import Record

USER, ASSISTANT, TOOL = "user", "assistant", "tool"
SYSTEM = frozenset(("system", "developer"))
RESULTS = frozenset(("tool", "function"))  # roles of a message that is the result of a call
MESSAGE, SUMMARY, NOTICE = "message", "summary", "notice"
_TIMES = ("timestamp", "created_at", "time", "ts", "date")
_SHOWN = frozenset(("text", "input_text", "output_text", "refusal", "thinking", "summary_text"))
_CALLS = frozenset(("tool_use", "server_tool_use", "mcp_tool_use"))
_ANSWERS = re.compile(r"(?:\w+_)?tool_result$")
_POINTER = re.compile(r"\n?\[memfas: shortened; the whole in cold storage: ([^\]\s]+)\]\s*\Z")
_NOTICE = re.compile(r"\A\[memfas: \d+ earlier messages? (?:is|are) in cold storage\b")
_LONGEST_NUMBER = 1e11  # seconds: year 5138; larger ones are milliseconds


class Message(Record):
    """What a message says. role: "" of a bare string. text: what a reader would see of it: text,
    names and arguments of calls, results; no images, no signatures. calls, results: ids of the
    calls that it makes and answers. at: aware, when it was said, if it says so. pinned: whether it
    says `"pinned": true`. kind: "message", or what this program made: "summary", "notice". source:
    of a summary, the chunk in cold storage that it was made of. id: what the message is called;
    pieces of one message, as some transcripts have them, share it.
    """

    role: str
    text: str
    calls: tuple[str, ...] = ()
    results: tuple[str, ...] = ()
    at: datetime | None = None
    pinned: bool = False
    kind: str = MESSAGE
    source: str = ""
    id: str = ""

    @property
    def is_turn(self) -> bool:
        """Whether a person says something: a user's message that is more than results of tools."""
        return self.role == USER and not self.results and self.kind != NOTICE


def read_message(raw: object) -> Message:
    """What a message says. Never fails: what makes no sense says nothing."""
    if isinstance(raw, str):
        return _of_text(Message("", raw))
    role = _text(_field(raw, "role"))
    calls, results, parts = list[str](), list[str](), list[str]()
    for part in _parts(raw, role):
        calls += part.calls
        results += part.results
        parts += [part.text] if part.text else []
    pinned = _field(raw, "pinned") is True
    found = Message(
        role, "\n".join(parts), tuple(calls), tuple(results), _time(raw), pinned,
        id=_text(_field(raw, "id")),
    )  # fmt: skip
    return _of_text(found)


def _of_text(found: Message) -> Message:
    """The same, with what its text says of where it comes from."""
    text = found.text
    if "[memfas: " not in text:
        return found
    pointer = _POINTER.search(text)
    if pointer:
        return Message(**{**vars(found), "kind": SUMMARY, "source": pointer[1]})
    if _NOTICE.match(text):
        return Message(**{**vars(found), "kind": NOTICE})
    return found


def pointer(chunk_id: str) -> str:
    """The line at the end of a summary that says where its source is."""
    return f"[memfas: shortened; the whole in cold storage: {chunk_id}]"


def without_pointer(text: str) -> str:
    """A summary without that line."""
    return _POINTER.sub("", text)


def notice(number: int, place: str, about: Sequence[str]) -> str:
    """What stands in a context where messages were taken out of it. place: of the files."""
    verb = "message is" if number == 1 else "messages are"
    topics = f"; about: {', '.join(about)}" if about else ""
    return (
        f"[memfas: {number} earlier {verb} in cold storage ({place}){topics}. "
        'To see them again: memfas recover "…"]'
    )


def number_in_notice(text: str) -> int:
    """How many messages a notice speaks of; 0 where it is none."""
    return int(text.split()[1]) if _NOTICE.match(text) else 0


def with_text(raw: object, text: str) -> object:
    """A message of the same shape that says this: ids, role and unknown keys stay.

    What it said is gone: text blocks, images, thinking. Of several results the first says it, the
    others nothing. The calls stay, for a call without its arguments would be another one.
    """
    if isinstance(raw, str):
        return text
    if not isinstance(raw, Mapping):
        return _object_with(raw, text)
    changed = dict(raw)
    changed["content"] = _content_with(raw.get("content"), text)
    return changed


def _content_with(content: object, text: str) -> object:
    if not isinstance(content, list):
        return text
    kept, said = list[object](), False
    for block in content:
        if not isinstance(block, Mapping):
            continue
        kind = _text(block.get("type"))
        if kind in _CALLS:
            kept.append(block)
        elif _ANSWERS.match(kind):
            kept.append({**block, "content": "" if said else text})
            said = True
    return kept if said else [{"type": "text", "text": text}, *kept]


def _object_with(raw: object, text: str) -> object:
    """A copy of an object with another text; a mapping of role and text where it has none."""
    name = "text" if isinstance(getattr(raw, "text", None), str) else "content"
    try:
        changed = copy.copy(raw)
        object.__setattr__(changed, name, text)
    except (AttributeError, TypeError, copy.Error):
        return {"role": _text(_field(raw, "role")) or USER, "content": text}
    return changed


def groups(messages: Sequence[Message]) -> list[tuple[int, ...]]:
    """Positions of what moves together, each group in order, by its first: calls with their
    results (and what stands between them), the pieces of one message, everything else alone.
    """
    opened, last = dict[str, int](), list(range(len(messages)))
    pieces = dict[str, int]()
    for n, message in enumerate(messages):
        for call in message.results:
            if (first := opened.get(call)) is not None:
                last[first] = n
        if message.id and message.role == ASSISTANT:
            last[pieces.setdefault(message.id, n)] = n
        opened.update(dict.fromkeys(message.calls, n))
    found, start = list[tuple[int, ...]](), 0
    while start < len(messages):
        end, n = last[start], start
        while n <= end:  # results of a call may stand behind the next call
            end, n = max(end, last[n]), n + 1
        found.append(tuple(range(start, end + 1)))
        start = end + 1
    return found


def open_calls(messages: Sequence[Message]) -> set[int]:
    """Positions of messages with calls that have no result yet."""
    answered = {call for message in messages for call in message.results}
    return {n for n, m in enumerate(messages) if any(call not in answered for call in m.calls)}


def to_stored(raw: object) -> tuple[str, str, str]:
    """(role, text, JSON) of a message. JSON: "" where role and text are all of it; of an object
    what it says, for nothing else of it can be written.
    """
    found = read_message(raw)
    if isinstance(raw, str):
        return "", raw, ""
    if not isinstance(raw, Mapping):
        return found.role, found.text, ""
    plain = {"role": found.role, "content": found.text}
    if found.role and dict(raw) == plain:
        return found.role, found.text, ""
    try:
        return found.role, found.text, json.dumps(dict(raw), ensure_ascii=False)
    except (TypeError, ValueError, RecursionError):
        return found.role, found.text, json.dumps(plain, ensure_ascii=False)


def from_stored(role: str, text: str, raw_json: str) -> object:
    """The message again. ValueError where the JSON is damaged."""
    if raw_json:
        return json.loads(raw_json)
    return {"role": role, "content": text} if role else text


class _Part(Record):
    text: str
    calls: tuple[str, ...] = ()
    results: tuple[str, ...] = ()


def _parts(raw: object, role: str) -> Iterator[_Part]:
    content = _field(raw, "content")
    if content is None and not isinstance(raw, Mapping):
        content = _field(raw, "text")
    answers = _text(_field(raw, "tool_call_id")) or (
        role == "function" and _text(_field(raw, "name"))
    )
    if answers and role in RESULTS:
        yield _Part("", (), (answers,))
    yield from _content(content)
    yield from _openai_calls(raw)


def _content(content: object) -> Iterator[_Part]:
    if isinstance(content, str):
        yield _Part(content)
    elif isinstance(content, (list, tuple)):
        for block in content:
            yield _Part(block) if isinstance(block, str) else _block(block)


def _block(block: object) -> _Part:
    """A content block. Images and what cannot be read count as nothing."""
    kind = _text(_field(block, "type"))
    if kind in _CALLS:
        said = f"{_text(_field(block, 'name'))}({_shown(_field(block, 'input'))})"
        return _Part(said, _ids(_field(block, "id")))
    if _ANSWERS.match(kind):
        inner = "\n".join(part.text for part in _content(_field(block, "content")) if part.text)
        return _Part(inner, (), _ids(_field(block, "tool_use_id")))
    if kind in _SHOWN or not kind:
        value = _field(block, "text")
        value = value if isinstance(value, str) else _field(block, kind) if kind else value
        return _Part(_text(value))
    return _Part("")


def _openai_calls(raw: object) -> Iterator[_Part]:
    calls = _field(raw, "tool_calls")
    for call in calls if isinstance(calls, (list, tuple)) else ():
        function = _field(call, "function") or _field(call, "custom")
        said = _text(_field(function, "arguments")) or _text(_field(function, "input"))
        yield _Part(f"{_text(_field(function, 'name'))}({said})", _ids(_field(call, "id")))
    function = _field(raw, "function_call")
    if function and not isinstance(function, str):
        name = _text(_field(function, "name"))
        yield _Part(f"{name}({_text(_field(function, 'arguments'))})", _ids(name))


def _field(thing: object, name: str) -> Any:
    if isinstance(thing, Mapping):
        return thing.get(name)
    found = None if isinstance(thing, (str, list, tuple)) else getattr(thing, name, None)
    return None if callable(found) else found


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""


def _ids(value: object) -> tuple[str, ...]:
    return (value,) if isinstance(value, str) and value else ()


def _shown(value: object) -> str:
    """Arguments as a reader sees them."""
    if isinstance(value, str) or value is None:
        return value or ""
    try:
        return json.dumps(value, ensure_ascii=False, default=str)
    except (ValueError, RecursionError):
        return ""


def _time(raw: object) -> datetime | None:
    for name in _TIMES:
        value = _field(raw, name)
        read = _readers.get(type(value))
        if read is not None and (found := read(value)) is not None:
            return found
    return None


def _of_number(value: float) -> datetime | None:
    seconds = value / 1000 if value > _LONGEST_NUMBER else value
    try:
        return datetime.fromtimestamp(seconds, timezone.utc) if seconds > 0 else None
    except (ValueError, OverflowError, OSError):
        return None


def _of_iso(value: str) -> datetime | None:
    try:
        return _aware(datetime.fromisoformat(value.strip().replace("Z", "+00:00")))
    except ValueError:
        return None


def _aware(value: datetime) -> datetime:
    """A time without a zone is UTC, as in the transcripts that have such."""
    return value if value.tzinfo else value.replace(tzinfo=timezone.utc)


_readers: dict[type, Callable[[Any], datetime | None]] = {
    str: _of_iso, int: _of_number, float: _of_number, datetime: _aware,
}  # fmt: skip
