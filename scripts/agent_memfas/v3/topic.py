"""`Topic` and `TopicDetector`: what a conversation is about, turn by turn."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timezone
from math import sqrt
from typing import Protocol

from agent_memfas.text.turns import HISTORY, TopicName, shifted, topic_of


class Embeds(Protocol):
    """What is needed of an embedder: any `agent_memfas.embedders.Embedder` has it."""

    def embed(self, text: str) -> Sequence[float]:
        """The vector of one text."""


def utcnow() -> datetime:
    """Now in UTC and without a time zone, as the reference has its times."""
    return datetime.now(timezone.utc).replace(tzinfo=None)


@dataclass
class Topic:
    """What a turn is about. name: in lower case. embedding: of its message with the three before
    it, [] without an embedder. confidence: 0.5 to 1.0. timestamp: UTC, naive.
    """

    name: str
    embedding: Sequence[float] = field(default_factory=list)
    confidence: float = 0.5
    timestamp: datetime = field(default_factory=utcnow)


class TopicDetector:
    """The topics of one session: each has a detector of its own.

    embedder: without one, words are compared. shift_threshold: a message whose cosine to the topic
    before is less is a shift, if it neither follows up on what was said nor has a word in common
    with it. history_size: topics that are kept. known: names, folded, however they are written.

    Measured on the dialogues of tests/text/dialogues.py: by words 249 of 258 turns are told to stay
    with the topic or to leave it, and as many with the offline model. Cosines alone: 187 where
    the topics are compared with the messages before them, as in the reference (nearly no shift is
    seen, for they share most of their text), 143 where the messages are (every follow-up is one).
    """

    def __init__(
        self,
        embedder: Embeds | None = None,
        shift_threshold: float = 0.6,
        history_size: int = 10,
        known: Collection[str] = (),
    ) -> None:
        self.embedder = embedder
        self.shift_threshold = shift_threshold
        self.history_size = max(1, history_size)
        self.known = known
        self.topic_history: list[Topic] = []
        self._said: list[str] = []
        self._shifted = False

    def resume(self, said: Iterable[str], topic: str = "") -> None:
        """Go on with a session. said: its last messages, oldest first; topic: that of the last."""
        self.reset()
        self._said = list(said)[-HISTORY:]
        if self._said or topic:
            last = topic or topic_of(self._said[-1], self._said[:-1], known=self.known).name
            self.topic_history = [Topic(last, self._embedded(self._said))]

    def detect(self, message: str, recent_history: Sequence[str] | None = None) -> Topic:
        """The topic of a message, which then is the current one.

        recent_history: what was said before, oldest first; the last three count. Without it: the
        messages that this detector was given. Raises what the embedder raises.
        """
        before = list(recent_history or self._said)
        if recent_history and before[-1] == message:  # some hosts count it to the history
            before.pop()
        recent = before[-HISTORY:]
        last = self.get_current_topic()
        embedding = self._embedded([*recent, message])
        likeness = self._likeness(message, recent, embedding)
        known, name = self.known, last.name if last else ""
        found: TopicName = topic_of(message, recent, topic=name, known=known, likeness=likeness)
        self._shifted = last is not None and shifted(
            recent, message, topic=name, known=known,
            likeness=likeness, threshold=self.shift_threshold,
        )  # fmt: skip
        topic = Topic(found.name, embedding, found.confidence)
        self.topic_history = [*self.topic_history, topic][-self.history_size :]
        self._said = [*self._said, message][-HISTORY:]
        return topic

    def detect_shift(self) -> bool:
        """Whether the last message that was looked at is about something else than before."""
        return self._shifted

    def get_current_topic(self) -> Topic | None:
        """The topic of the last message, None before the first."""
        return self.topic_history[-1] if self.topic_history else None

    def reset(self) -> None:
        """Forget all topics."""
        self.topic_history = []
        self._said = []
        self._shifted = False

    def _embedded(self, messages: Sequence[str]) -> Sequence[float]:
        text = "\n".join(messages)
        return self.embedder.embed(text) if self.embedder and text.strip() else []

    def _likeness(
        self, message: str, recent: Sequence[str], embedding: Sequence[float]
    ) -> float | None:
        """The cosine of a message and the topic before; None where words have to do.

        Of the message alone: with what was said before it in the text, it would always be alike.
        """
        last = self.get_current_topic()
        if last is None or not len(last.embedding) or not len(embedding):
            return None
        own = self._embedded([message]) if recent else embedding
        return cosine(last.embedding, own) if len(own) == len(last.embedding) else None


def cosine(a: Sequence[float], b: Sequence[float]) -> float:
    """The cosine of two vectors of the same length, -1..1; 0.0 where one of them is all zeros."""
    product = sum(x * y for x, y in zip(a, b, strict=True))
    lengths = sqrt(sum(x * x for x in a)) * sqrt(sum(y * y for y in b))
    return float(product / lengths) if lengths else 0.0
