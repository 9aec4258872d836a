"""Reading what a server of embeddings answers: vectors that can be relied upon, or why not."""

from __future__ import annotations

import sys
from array import array
from base64 import b64decode
from collections.abc import Sequence
from math import isfinite
from typing import Any

from agent_memfas.remote.answers import BadAnswer

LARGEST = 1e18  # a number whose square still fits into 32 bits


def in_order(items: Any, count: int) -> list[Any]:
    """The embeddings in `data` of an OpenAI-compatible answer, by their `index`: as many as texts.

    BadAnswer where they are others. A server that numbers none is taken at its order.
    """
    if not isinstance(items, list) or not all(isinstance(item, dict) for item in items):
        raise BadAnswer("has no vectors")
    if len(items) != count:
        raise BadAnswer(f"has {len(items)} vectors for {count} texts")
    if any("index" in item for item in items):
        numbers = [item.get("index") for item in items]
        if not all(type(n) is int for n in numbers) or sorted(numbers) != list(range(count)):
            raise BadAnswer("does not say which vector belongs to which text")
        items = sorted(items, key=lambda item: int(item["index"]))
    return [item.get("embedding") for item in items]


def vectors(found: Any, count: int) -> list[Sequence[float]]:
    """As many vectors of one length, each a list of finite numbers or base64 of 32-bit floats.

    BadAnswer where anything of that is not so.
    """
    if not isinstance(found, list):
        raise BadAnswer("has no vectors")
    if len(found) != count:
        raise BadAnswer(f"has {len(found)} vectors for {count} texts")
    made = [_vector(one) for one in found]
    if len({len(one) for one in made}) > 1:
        raise BadAnswer("has vectors of different lengths")
    return [*made]


def _vector(raw: Any) -> array[float]:
    try:
        if isinstance(raw, str):
            single = array("f", b64decode(raw, validate=True))
            if sys.byteorder == "big":
                single.byteswap()
            made = array("d", single)
        else:
            made = array("d", raw if isinstance(raw, list) else ())
    except (TypeError, ValueError, OverflowError):
        raise BadAnswer("has vectors that are no numbers") from None
    if not made:
        raise BadAnswer("has an empty vector")
    if not all(map(isfinite, made)) or max(map(abs, made)) > LARGEST:
        raise BadAnswer("has vectors that are no finite numbers")
    return made
