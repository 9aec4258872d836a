"""Writing a value as YAML (on one line, or in block style) or as JSON."""

from __future__ import annotations

import json
import re
import sys
from typing import Any

from agent_memfas.errors import UsageError
from agent_memfas.text.settings_parts import DEEPEST

_BREAK = re.compile("[\n\r\x85\u2028\u2029]")


def plain(value: Any, depth: int = 0) -> Any:
    """The value, rebuilt from text, numbers, true, false, null, lists and mappings with text as
    keys. UsageError for anything else, and for text that is not Unicode."""
    if depth > DEEPEST:
        raise UsageError("a value that is nested too deeply")
    if isinstance(value, str):
        try:
            value.encode()
        except UnicodeEncodeError as error:
            raise UsageError(f"{value!a} is not valid text") from error
        return value
    if value is None or type(value) in (bool, int, float):
        return value
    if isinstance(value, (list, tuple)):
        return [plain(item, depth + 1) for item in value]
    if isinstance(value, dict) and all(isinstance(key, str) for key in value):
        return {plain(key): plain(item, depth + 1) for key, item in value.items()}
    raise UsageError(f"a {type(value).__name__} cannot be written to a settings file")


def scalar(value: Any, quote: str = "") -> str:
    """A scalar as YAML, fit to stand inside flow style too. Text is quoted where it must be, or
    with the quote that is asked for; it stays on one line."""
    import yaml

    style = quote if isinstance(value, str) and quote in ("'", '"') else None
    if isinstance(value, str) and _BREAK.search(value):
        style = '"'
    written: str = yaml.safe_dump(
        [value], default_flow_style=True, default_style=style, allow_unicode=True, width=sys.maxsize
    )
    return written.strip()[1:-1]


def flow(value: Any) -> str:
    """A value as YAML on one line."""
    if isinstance(value, dict):
        return "{" + ", ".join(pair(key, item) for key, item in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(flow(item) for item in value) + "]"
    return scalar(value)


def pair(key: str, value: Any) -> str:
    """A key and its value on one line of YAML."""
    return f"{scalar(key)}: {flow(value)}"


def keyed(key: str, value: Any, step: int, dent: int) -> list[str]:
    """A key and its value as lines of block style, from column 0.

    step: columns by which a nested mapping is indented; dent: those of a list under its key.
    A list of scalars stays on one line.
    """
    if isinstance(value, dict) and value:
        lines = [line for k, v in value.items() for line in keyed(k, v, step, dent)]
        return [f"{scalar(key)}:", *(" " * step + line for line in lines)]
    if isinstance(value, list) and any(isinstance(item, dict) for item in value):
        lines = [line for item in value for line in element(item, step, dent)]
        return [f"{scalar(key)}:", *(" " * dent + line for line in lines)]
    return [pair(key, value)]


def element(value: Any, step: int, dent: int, lead: str = "- ") -> list[str]:
    """An element of a block list as lines, from column 0. lead: the dash and the blanks behind."""
    if not isinstance(value, dict) or not value:
        return [lead + flow(value)]
    lines = [line for k, v in value.items() for line in keyed(k, v, step, dent)]
    return [(lead if n == 0 else " " * len(lead)) + line for n, line in enumerate(lines)]


def as_json(value: Any, unit: str | None, margin: str = "", newline: str = "\n") -> str:
    """A value as JSON: on one line, or indented by unit with margin before each further line.

    UsageError for a number that JSON has not.
    """
    try:
        written = json.dumps(value, ensure_ascii=False, indent=unit, allow_nan=False)
    except ValueError as error:
        raise UsageError("not a number that JSON can hold") from error
    return written.replace("\n", newline + margin) if unit is not None else written
