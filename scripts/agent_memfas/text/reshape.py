"""Messages with less in them, messages as cold storage keeps them, and both again as an agent's.

Nothing here changes a message: what comes out is another one of the same shape.
"""

from __future__ import annotations

import copy
import json
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import fields, is_dataclass
from types import SimpleNamespace
from typing import Any

from agent_memfas.text.messages import ANSWERS, CALLS, USER, field_of, read_message, role_of

LONG = 400  # characters of an argument of a call; of a longer one the beginning stays
BEGINNING = 120
_DEEPEST = 40


def with_text(raw: object, text: str) -> object:
    """A message that says this: ids, role and unknown keys stay.

    What it said is gone: text blocks, images, thinking. Of several results the first says it, the
    others nothing. The calls stay, but for what is long in their arguments.
    """
    if isinstance(raw, str):
        return text
    if not isinstance(raw, Mapping):
        return _object_with(raw, text)
    if "output" in raw and "content" not in raw:
        return {**raw, "output": text}
    changed = {**raw, "content": _content_with(raw.get("content"), text)}
    if isinstance(calls := raw.get("tool_calls"), list):
        changed["tool_calls"] = [_call_cut(call) for call in calls]
    if isinstance(raw.get("function_call"), Mapping):
        changed["function_call"] = _arguments_cut(raw["function_call"])
    return changed


def has_long_arguments(raw: object) -> bool:
    """Whether a call of a message, of a kind that `with_text` can cut, has a long argument."""
    if not isinstance(raw, Mapping):
        return False
    blocks, calls = raw.get("content"), raw.get("tool_calls")
    calls = list(calls) if isinstance(calls, list) else []
    calls += [block for block in blocks if _is_call(block)] if isinstance(blocks, list) else []
    return any(_call_cut(call) != call for call in calls)


def _is_call(block: object) -> bool:
    return isinstance(block, Mapping) and block.get("type") in CALLS


def _content_with(content: object, text: str) -> object:
    if not isinstance(content, list):
        return text
    kept, said, sample = list[object](), False, None
    for block in content:
        kind = field_of(block, "type")
        if kind in CALLS:
            kept.append(_call_cut(block))
        elif isinstance(kind, str) and ANSWERS.match(kind):
            kept.append(_with(block, "content", "" if said else text))
            said = True
        elif kind == "text" and not isinstance(block, Mapping):
            sample = block
    first = {"type": "text", "text": text} if sample is None else _with(sample, "text", text)
    return kept if said else [first, *kept]


def _with(thing: object, name: str, value: object) -> object:
    if isinstance(thing, Mapping):
        return {**thing, name: value}
    changed = copy.copy(thing)
    object.__setattr__(changed, name, value)
    return changed


def _call_cut(call: Any) -> Any:
    """A call of which no argument is long, its JSON as valid as it was."""
    if not isinstance(call, Mapping):
        return call
    changed = dict(call)
    for name in ("input", "args"):
        if isinstance(call.get(name), (Mapping, list)):
            changed[name] = _cut(call[name])
    for name in ("function", "custom"):
        if isinstance(call.get(name), Mapping):
            changed[name] = _arguments_cut(call[name])
    return changed


def _arguments_cut(function: Mapping[str, Any]) -> dict[str, Any]:
    changed = dict(function)
    said = function.get("arguments")
    if isinstance(said, str) and len(said) > LONG:
        try:
            old = json.loads(said)
            new = _cut(old)
        except (ValueError, RecursionError):
            return changed
        if new != old:
            changed["arguments"] = json.dumps(new, ensure_ascii=False)
    if isinstance(said := function.get("input"), str):
        changed["input"] = _cut(said)
    return changed


def _cut(value: Any) -> Any:
    if isinstance(value, str):
        if len(value) <= LONG:
            return value
        return f"{value[:BEGINNING]} [memfas: {len(value) - BEGINNING} more characters]"
    if isinstance(value, Mapping):
        return {key: _cut(inner) for key, inner in value.items()}
    return [_cut(inner) for inner in value] if isinstance(value, list) else value


def _object_with(raw: object, text: str) -> object:
    """A copy of an object with another text; a mapping of role and text where it has none."""
    name = "text" if isinstance(field_of(raw, "text"), str) else "content"
    name = "content" if isinstance(field_of(raw, "content"), (str, list)) else name
    try:
        return _with(raw, name, _content_with(field_of(raw, name), text))
    except (AttributeError, TypeError, copy.Error):
        return {"role": role_of(raw) or USER, "content": text}


def to_stored(raw: object) -> tuple[str, str, str]:
    """(role, text, JSON) of a message. JSON: "" where role and text are all of it; of an object its
    public attributes.
    """
    found = read_message(raw)
    if isinstance(raw, str):
        return "", raw, ""
    plain = {"role": found.role, "content": found.text}
    told = dict(raw) if isinstance(raw, Mapping) else _told(raw, found.role)
    if told == plain and (found.role or not isinstance(raw, Mapping)):
        return found.role, found.text, ""
    try:
        return found.role, found.text, json.dumps(told, ensure_ascii=False, default=_attributes)
    except (TypeError, ValueError, RecursionError):
        return found.role, found.text, json.dumps(plain, ensure_ascii=False)


def _told(raw: object, role: str) -> dict[str, Any]:
    """An object as the mapping that says the same."""
    found = _attributes(raw)
    if not isinstance(found, dict):
        return {"role": role, "content": ""}
    if found.get("content") is None and isinstance(found.get("text"), str):
        found["content"] = found.pop("text")
    return {"role": role, **found} if role or "role" in found else found


def _attributes(thing: object) -> Any:
    """What an object says, for JSON: its public attributes, else what it is as a text."""
    for name in ("model_dump", "to_dict"):
        dump = getattr(thing, name, None)
        if callable(dump) and not isinstance(thing, type):
            try:
                found = dump()
            except Exception:  # noqa: BLE001 - the host's code; there is another way
                continue
            if isinstance(found, Mapping):
                return {key: value for key, value in found.items() if value is not None}
    if is_dataclass(thing):
        named = {one.name: getattr(thing, one.name, None) for one in fields(thing)}
    else:
        named = dict(getattr(thing, "__dict__", {}))
    said = {
        name: value for name, value in named.items()
        if not name.startswith("_") and value is not None and not callable(value)
    }  # fmt: skip
    return said or str(thing)


def from_stored(role: str, text: str, raw_json: str) -> object:
    """The message again. ValueError where the JSON is damaged."""
    if raw_json:
        return json.loads(raw_json)
    return {"role": role, "content": text} if role else text


def alike(message: object, others: Sequence[object]) -> object:
    """A message in the form of the others of its context: as an object where they are objects."""
    if not isinstance(message, Mapping) or not others:
        return message
    same = [one for one in others if role_of(one) == message.get("role")]
    sample = (same or list(others))[-1]
    if isinstance(sample, (str, Mapping)) or sample is None:
        return message
    validate = getattr(type(sample), "model_validate", None)
    if callable(validate):
        with suppress(Exception):  # a model of the host's; there is another way
            return validate(dict(message))
    try:
        return _copied(sample, message)
    except (AttributeError, TypeError, copy.Error):
        return message


def _copied(sample: object, message: Mapping[str, Any]) -> object:
    """A copy of an object that says what a message says, and nothing of its own."""
    made = copy.copy(sample)
    for name in list(getattr(made, "__dict__", {})):
        if not name.startswith("_") and name not in message and name != "type":
            object.__setattr__(made, name, None)
    for key, value in message.items():
        name = "text" if key == "content" and not hasattr(sample, "content") else key
        object.__setattr__(made, name, _as_objects(value, 0))
    return made


def _as_objects(value: Any, depth: int) -> Any:
    if depth > _DEEPEST:
        return value
    if isinstance(value, Mapping) and all(isinstance(name, str) for name in value):
        return SimpleNamespace(**{k: _as_objects(v, depth + 1) for k, v in value.items()})
    return [_as_objects(one, depth + 1) for one in value] if isinstance(value, list) else value
