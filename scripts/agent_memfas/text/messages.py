"""Messages of a context: whatever form an agent gives them, what they say and what hangs on them.

A message is a string, a mapping with `role` and `content` (chat messages of OpenAI; content blocks
of Anthropic; tool calls and results of both), an item of OpenAI's Responses API, or an object that
has the same as attributes. Nothing here changes one.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any

from agent_memfas.text.moments import moment
from agent_memfas.text.record import Record
from agent_memfas.text.traces import MARK, number_in_notice, pointed

USER, ASSISTANT, TOOL = "user", "assistant", "tool"
SYSTEM = frozenset(("system", "developer"))
RESULTS = frozenset(("tool", "function"))  # roles of a message that is the result of a call
MESSAGE, SUMMARY, NOTICE = "message", "summary", "notice"
CALLS = frozenset(("tool_use", "server_tool_use", "mcp_tool_use"))  # types of content blocks
ANSWERS = re.compile(r"(?:\w+_)?tool_result$")
_TIMES = ("timestamp", "created_at", "time", "ts", "date")
_SHOWN = frozenset(("text", "input_text", "output_text", "refusal", "thinking", "summary_text"))
_SEEN = frozenset(("image", "image_url", "input_image", "document", "file", "input_file",
                   "audio", "input_audio"))  # fmt: skip
_ITEM = re.compile(r"(?:\w+_)?call(?P<output>_output)?$")  # types of items of the Responses API
_ROLES = {"human": USER, "ai": ASSISTANT, "system": "system", "tool": TOOL}  # LangChain's types
_PAGES = 75_000  # characters of a file in base64 that are reckoned as one more image


class Message(Record):
    """What a message says. role: "" of a bare string. text: what a reader would see of it: text,
    names and arguments of calls, results; no signatures. calls, results: ids of the calls that it
    makes and answers. at: aware, when it was said, if it says so. pinned: whether it says
    `"pinned": true`. kind: "message", or what this program made: "summary", "notice". source: of a
    summary, the chunk in cold storage that it was made of, "" where that is nowhere. id: what the
    message is called; pieces of one message, as some transcripts have them, share it. images: how
    many it shows, a file counting as several by its size. leads: whether it is the thought that the
    next message comes from. item: whether it is a call, a result or a thought of the Responses API.
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
    images: int = 0
    leads: bool = False
    item: bool = False

    @property
    def is_turn(self) -> bool:
        """Whether a person says something: a user's message that is more than results of tools."""
        return self.role == USER and not self.results and self.kind != NOTICE


class _Part(Record):
    text: str
    calls: tuple[str, ...] = ()
    results: tuple[str, ...] = ()
    images: int = 0


def read_message(raw: object) -> Message:
    """What a message says. Never fails: what makes no sense says nothing."""
    if isinstance(raw, str):
        found = Message("", raw)
        return _placed(found, [_Part(raw)]) if MARK in raw else found
    role = role_of(raw)
    parts = list(_parts(raw, role))
    kind = _text(field_of(raw, "type"))
    found = Message(
        role,
        "\n".join([part.text for part in parts if part.text]),
        tuple([call for part in parts for call in part.calls]),
        tuple([call for part in parts for call in part.results]),
        _time(raw),
        field_of(raw, "pinned") is True,
        id=_text(field_of(raw, "id")),
        images=sum([part.images for part in parts]),
        leads=kind == "reasoning",
        item=is_item(raw),
    )
    return _placed(found, parts) if MARK in found.text else found


def role_of(raw: object) -> str:
    """The role of a message, whatever it is called; "" where it says none."""
    role, kind = _text(field_of(raw, "role")), _text(field_of(raw, "type"))
    if role:
        return role
    if not isinstance(raw, Mapping) and kind in _ROLES:
        return _ROLES[kind]
    if is_item(raw):
        match = _ITEM.match(kind)
        return TOOL if match and match["output"] else ASSISTANT
    return ""


def is_item(raw: object) -> bool:
    """Whether it is a call, a result or a thought of the Responses API, which are no messages."""
    kind = field_of(raw, "type")
    if not isinstance(kind, str) or field_of(raw, "role") is not None:
        return False
    return kind == "reasoning" or _ITEM.match(kind) is not None


def spoken(raw: object) -> str:
    """What a message says beside its calls."""
    if isinstance(raw, str):
        return raw
    parts = _parts(raw, role_of(raw))
    return "\n".join([part.text for part in parts if part.text and not part.calls])


def _placed(found: Message, parts: list[_Part]) -> Message:
    """The same, told from where it comes. Words that a host has put beside a summary in the same
    message are somebody's, and then it is all theirs.
    """
    said = [part for part in parts if (part.text and not part.calls) or part.images]
    if len(said) != 1 or said[0].images:
        return found
    source = pointed(said[0].text)
    if source is not None:
        return Message(**{**vars(found), "kind": SUMMARY, "source": source})
    if found.role in (USER, "") and not found.calls and not found.results:
        is_notice = number_in_notice(said[0].text) > 0
        return Message(**{**vars(found), "kind": NOTICE}) if is_notice else found
    return found


def _parts(raw: object, role: str) -> Iterator[_Part]:
    if is_item(raw):
        yield from _item(raw)
        return
    content = field_of(raw, "content")
    if content is None and not isinstance(raw, Mapping):
        content = field_of(raw, "text")
    answers = _text(field_of(raw, "tool_call_id")) or (
        role == "function" and _text(field_of(raw, "name"))
    )
    if answers and role in RESULTS:
        yield _Part("", (), (answers,))
    yield from _content(content)
    yield from _openai_calls(raw)


def _item(raw: object) -> Iterator[_Part]:
    """An item of the Responses API. One that answers itself (a search of the web) has no id that a
    result would name.
    """
    kind, ids = _text(field_of(raw, "type")), _ids(field_of(raw, "call_id"))
    match = _ITEM.match(kind)
    if match is None:
        yield from _content(field_of(raw, "summary"))
        yield from _content(field_of(raw, "content"))
    elif match["output"]:
        output = field_of(raw, "output")
        yield _Part("", (), ids)
        yield from _content(output if isinstance(output, (str, list, tuple)) else _shown(output))
    else:
        names = ("arguments", "input", "action")
        said = next((v for v in (field_of(raw, name) for name in names) if v is not None), None)
        name = _text(field_of(raw, "name")) or kind
        yield _Part(f"{name}({_shown(said)})", ids)
        yield from _content(field_of(raw, "output"))


def _content(content: object) -> Iterator[_Part]:
    if isinstance(content, str):
        yield _Part(content)
    elif isinstance(content, (list, tuple)):
        for block in content:
            yield _Part(block) if isinstance(block, str) else _block(block)


def _block(block: object) -> _Part:
    """A content block. What cannot be read counts as nothing."""
    kind = _text(field_of(block, "type"))
    if kind in CALLS:
        said = f"{_text(field_of(block, 'name'))}({_shown(field_of(block, 'input'))})"
        return _Part(said, _ids(field_of(block, "id")))
    if ANSWERS.match(kind):
        inner = list(_content(field_of(block, "content")))
        said = "\n".join([part.text for part in inner if part.text])
        images = sum([part.images for part in inner])
        return _Part(said, (), _ids(field_of(block, "tool_use_id")), images)
    if kind in _SEEN:
        return _shown_file(block, kind)
    if kind in _SHOWN or not kind:
        value = field_of(block, "text")
        value = value if isinstance(value, str) else field_of(block, kind) if kind else value
        return _Part(_text(value))
    return _Part("")


def _shown_file(block: object, kind: str) -> _Part:
    source = field_of(block, "source") or field_of(block, "file") or field_of(block, kind)
    data = field_of(source, "data") or field_of(source, "file_data") or field_of(source, "url")
    if field_of(source, "type") == "text":
        return _Part(_text(data))
    is_image = kind in ("image", "image_url", "input_image")
    return _Part("", images=1 if is_image else 1 + len(_text(data)) // _PAGES)


def _openai_calls(raw: object) -> Iterator[_Part]:
    calls = field_of(raw, "tool_calls")
    for call in calls if isinstance(calls, (list, tuple)) else ():
        function = field_of(call, "function") or field_of(call, "custom")
        if function is None:  # LangChain's: name, args, id
            said = f"{_text(field_of(call, 'name'))}({_shown(field_of(call, 'args'))})"
            yield _Part(said, _ids(field_of(call, "id")))
            continue
        said = _text(field_of(function, "arguments")) or _text(field_of(function, "input"))
        yield _Part(f"{_text(field_of(function, 'name'))}({said})", _ids(field_of(call, "id")))
    function = field_of(raw, "function_call")
    if function and not isinstance(function, str):
        name = _text(field_of(function, "name"))
        yield _Part(f"{name}({_text(field_of(function, 'arguments'))})", _ids(name))


def field_of(thing: object, name: str) -> Any:
    """What a mapping or an object holds under a name, None for nothing."""
    if isinstance(thing, Mapping):
        return thing.get(name)
    if isinstance(thing, (str, list, tuple)):
        return None
    try:
        found = getattr(thing, name, None)
    except Exception:  # noqa: BLE001 - a property of the host's may do anything
        return None
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
    found = (moment(value) for name in _TIMES if (value := field_of(raw, name)) is not None)
    return next((one for one in found if one is not None), None)
