"""Scoring memories for a turn: the reference's objects over the formula of text/valuing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import date, datetime, time, timezone
from typing import Any

from agent_memfas.text.valuing import Weights, worth
from agent_memfas.text.words import terms
from agent_memfas.v3.topic import cosine

Vector = Sequence[float]


@dataclass
class MemoryChunk:
    """A piece of memory. embedding: a vector, or None; then words are compared. date: a datetime, a
    day, an ISO text or None.
    """

    id: str
    text: str
    source: str
    embedding: Vector | None = None
    section: str | None = None
    date: datetime | date | str | None = None
    token_count: int = 0
    access_count: int = 0
    last_accessed: datetime | None = None
    metadata: dict[str, Any] = field(default_factory=dict)


@dataclass
class ScoredMemory:
    """A memory with its score, and what gave it: semantic, recency, access, topic, boosted."""

    memory: MemoryChunk
    score: float
    breakdown: dict[str, float] = field(default_factory=dict)


class RelevanceScorer:
    """Scores memories for a turn. The weights are scaled to the sum of 1."""

    def __init__(
        self,
        semantic_weight: float = 0.6,
        recency_weight: float = 0.2,
        access_weight: float = 0.1,
        topic_weight: float = 0.1,
    ) -> None:
        given = Weights(semantic_weight, recency_weight, access_weight, topic_weight)
        self.weights = given.normalised()

    def set_weights(
        self,
        semantic: float | None = None,
        recency: float | None = None,
        access: float | None = None,
        topic: float | None = None,
    ) -> None:
        """Other weights; those that are not given stay in their proportion."""
        old = self.weights
        self.weights = Weights(
            old.semantic if semantic is None else semantic,
            old.recency if recency is None else recency,
            old.access if access is None else access,
            old.topic if topic is None else topic,
        ).normalised()

    def score(
        self,
        memory: MemoryChunk,
        query: str | Vector,
        topic: str | Vector | None = None,
        included_count: int = 0,
        now: datetime | None = None,
    ) -> ScoredMemory:
        """One memory for a query, both as vectors or both as texts."""
        value = worth(
            _likeness(memory, query), _age(memory.date, now), memory.access_count,
            None if topic is None else _likeness(memory, topic), self.weights,
            included=included_count,
        )  # fmt: skip
        return ScoredMemory(memory, value.value, value.as_dict())

    def score_all(
        self,
        memories: Sequence[MemoryChunk],
        query: str | Vector,
        topic: str | Vector | None = None,
        now: datetime | None = None,
    ) -> list[ScoredMemory]:
        """All memories, best first; equal ones in the order given."""
        found = [self.score(memory, query, topic, now=now) for memory in memories]
        return sorted(found, key=lambda one: -one.score)


def _likeness(memory: MemoryChunk, other: str | Vector) -> float:
    """0 to 1: the cosine of vectors; of texts, the share of the other's words that it has."""
    if isinstance(other, str):
        asked = set(terms(other))
        here = set(terms(f"{memory.section or ''} {memory.text}"))
        return len(asked & here) / len(asked) if asked else 0.0
    if memory.embedding is None:
        return 0.0
    return max(0.0, min(1.0, cosine(memory.embedding, other)))


def _age(day: datetime | date | str | None, now: datetime | None) -> float | None:
    """Days since then, None for no date that makes sense."""
    if isinstance(day, str):
        try:
            day = datetime.fromisoformat(day)
        except ValueError:
            return None
    if day is None:
        return None
    if not isinstance(day, datetime):
        day = datetime.combine(day, time.min)
    here = now or datetime.now(day.tzinfo)
    if (day.tzinfo is None) != (here.tzinfo is None):
        day = day.replace(tzinfo=day.tzinfo or timezone.utc)
        here = here.replace(tzinfo=here.tzinfo or timezone.utc)
    return (here - day).total_seconds() / 86_400
