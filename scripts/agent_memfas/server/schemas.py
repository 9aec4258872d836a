"""What the tools take and give, as JSON Schema, and the check of what was given."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from agent_memfas.errors import UsageError

_TYPES: dict[str, tuple[type, ...]] = {
    "string": (str,), "integer": (int,), "boolean": (bool,), "array": (list,),
}  # fmt: skip
Schema = dict[str, Any]


def text(description: str, **more: Any) -> Schema:
    """A text."""
    return {"type": "string", "description": description, **more}


def number(description: str, least: int, most: int, **more: Any) -> Schema:
    """A whole number."""
    return {"type": "integer", "description": description, "minimum": least, "maximum": most,
            **more}  # fmt: skip


def taking(required: tuple[str, ...] = (), **properties: Schema) -> Schema:
    """The arguments of a tool."""
    return {"type": "object", "properties": properties, "required": list(required),
            "additionalProperties": False}  # fmt: skip


def giving(**properties: Schema | str) -> Schema:
    """The result of a tool. A text for a property is its type."""
    told = {key: {"type": one} if isinstance(one, str) else one for key, one in properties.items()}
    return {"type": "object", "properties": told, "required": list(told)}


def checked(schema: Schema, given: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments with their defaults. UsageError names the first that does not fit; null counts
    as not given.
    """
    known, found = schema["properties"], dict[str, Any]()
    for name, value in given.items():
        if name not in known:
            raise UsageError(f"there is no argument {name}", f"there are {', '.join(known)}")
        if value is not None:
            found[name] = _fitting(name, known[name], value)
    for name in schema["required"]:
        if name not in found:
            raise UsageError(f"the argument {name} is missing")
    defaults = {name: one["default"] for name, one in known.items() if "default" in one}
    return {**defaults, **found}


def _fitting(name: str, schema: Schema, value: Any) -> Any:
    fits = isinstance(value, _TYPES[schema["type"]])
    if fits and schema["type"] == "integer":
        fits = not isinstance(value, bool)
        fits = fits and schema["minimum"] <= value <= schema["maximum"]
    if fits and schema["type"] == "array":
        allowed = schema["items"].get("enum")
        fits = all(isinstance(one, str) and (not allowed or one in allowed) for one in value)
    if fits and schema["type"] == "string":
        fits = len(value) <= schema.get("maxLength", len(value))
    if fits and "enum" in schema:
        fits = value in schema["enum"]
    if not fits:
        wanted = {key: one for key, one in schema.items() if key != "description"}
        raise UsageError(f"the argument {name} does not fit", f"it must be {wanted}")
    return value
