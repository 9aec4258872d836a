"""Vectors of length 1 from whatever an embedder gives, and whether two come of one model."""

from __future__ import annotations

import math
from array import array
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from agent_memfas.errors import UsageError

if TYPE_CHECKING:
    from agent_memfas.embedders.base import Embedder

SAME = 0.999  # cosine of two vectors of one text by one model: the last digits may differ


def embed(embedder: Embedder, texts: list[str]) -> list[array[float]]:
    """Vectors of length 1 (or 0, where the embedder gives nothing). UsageError if they are odd."""
    batch = getattr(embedder, "embed_batch", None)
    raw = list(batch(texts)) if batch else [embedder.embed(text) for text in texts]
    return unit_vectors(raw, len(texts))


def embed_question(embedder: Embedder, text: str) -> array[float]:
    """The vector of a question, of length 1. UsageError if it is odd."""
    asked = getattr(embedder, "embed_query", embedder.embed)
    return unit_vectors([asked(text)], 1)[0]


def unit_vectors(raw: Sequence[Iterable[float]], wanted: int) -> list[array[float]]:
    """Vectors of length 1 of whatever an embedder gives. UsageError where that is odd."""
    vectors = []
    for given in raw:
        vector = array("f", (float(x) for x in given))
        length = math.sqrt(sum(x * x for x in vector))
        if not vector or not math.isfinite(length):
            raise UsageError("the embedder gave no vector of finite numbers")
        vectors.append(array("f", (x / length for x in vector)) if length else vector)
    if len(vectors) != wanted or len({len(vector) for vector in vectors}) > 1:
        raise UsageError("the embedder gave another number of vectors, or vectors of two lengths")
    return vectors


def name_of(embedder: Embedder) -> str:
    """What an embedder is known by: its class and its model."""
    kind = type(embedder)
    return f"{kind.__module__}.{kind.__qualname__} {getattr(embedder, 'model', '')}"


def are_alike(one: Sequence[float], other: Sequence[float]) -> bool:
    """Whether two vectors of length 1 (or 0) of one text are those of one model."""
    if len(one) != len(other):
        return False
    return list(one) == list(other) or sum(map(float.__mul__, one, other)) > SAME
