"""The values in a text of JSON: the elements of one list, or objects one after another."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

_BLANK = re.compile(r"[ \t\r\n\ufeff]*")


def values(text: str) -> Iterator[object]:
    """The elements of a list, one at a time so that a large export is never all objects at once;
    of any other text each value in it, as in JSON lines. A line that is no JSON is left out.

    ValueError where a list breaks off, with what was before it given already.
    """
    at = _skip(text, 0)
    yield from _elements(text, at + 1) if text[at : at + 1] == "[" else _rows(text, at)


def _elements(text: str, at: int) -> Iterator[object]:
    decoder = json.JSONDecoder()
    at = _skip(text, at)
    while text[at : at + 1] != "]":
        value, at = _decoded(decoder, text, at)
        yield value
        at = _skip(text, at)
        if text[at : at + 1] == ",":
            at = _skip(text, at + 1)
        elif text[at : at + 1] != "]":
            raise ValueError(f"no comma at character {at}")


def _rows(text: str, at: int) -> Iterator[object]:
    decoder = json.JSONDecoder()
    while at < len(text):
        try:
            value, at = _decoded(decoder, text, at)
        except ValueError:
            end = text.find("\n", at)
            at = len(text) if end < 0 else end
        else:
            yield value
        at = _skip(text, at)


def _decoded(decoder: json.JSONDecoder, text: str, at: int) -> tuple[object, int]:
    try:
        value, end = decoder.raw_decode(text, at)
    except RecursionError as error:
        raise ValueError(f"nested too deeply at character {at}") from error
    return value, end


def _skip(text: str, at: int) -> int:
    match = _BLANK.match(text, at)
    return match.end() if match else at
