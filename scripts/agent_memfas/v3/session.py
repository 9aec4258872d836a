"""`SessionState`: what a session has talked about and what it was given."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from datetime import datetime, timezone
from typing import Any

from agent_memfas.store.turns import Session, Turn
from agent_memfas.text.turns import entities, shifted
from agent_memfas.text.valuing import access
from agent_memfas.v3.topic import Topic, utcnow

KEPT = 20  # topics


class SessionState:
    """A session of curation, turn by turn. Times are UTC and naive.

    session_id: any text. stored: what is known of it from before (`store.turns.load`); `stored` is
    then what is known now. known: names, folded, that count however they are written.
    """

    def __init__(
        self, session_id: str, stored: Session | None = None, known: Collection[str] = ()
    ) -> None:
        self.session_id = session_id
        self.known = known
        self.stored = stored or Session(session_id)
        self.topic_history = [
            Topic(turn.topic, [], turn.confidence, _moment(turn.at)) for turn in self.stored.recent
        ]
        self._made = utcnow()

    def on_turn(
        self,
        query: str,
        topic: Topic,
        used_memory_ids: Sequence[str],
        topic_shifted: bool | None = None,
    ) -> Turn:
        """Note a turn, and give it back to be kept (`store.turns.save`).

        used_memory_ids: of what was included in the context. topic_shifted: as the detector has it;
        None: as the words have it.
        """
        was = self.stored
        if topic_shifted is None:
            topic_shifted = shifted(was.said, query, topic=was.topic, known=self.known)
        at = topic.timestamp.replace(tzinfo=topic.timestamp.tzinfo or timezone.utc).timestamp()
        turn = Turn(max(0.0, at), topic.name, topic.confidence, bool(topic_shifted), query)
        self.stored = was.with_turn(turn, used_memory_ids, entities(query, self.known))
        self.topic_history = [*self.topic_history, topic][-KEPT:]
        return turn

    @property
    def created_at(self) -> datetime:
        """When its first turn was; before that, when this object was made."""
        return _moment(self.stored.began) if self.stored.turns else self._made

    @property
    def last_turn_at(self) -> datetime | None:
        """When its last turn was, None before the first."""
        return _moment(self.stored.last) if self.stored.turns else None

    @property
    def turn_count(self) -> int:
        """How many turns it has had."""
        return self.stored.turns

    @property
    def current_topic(self) -> Topic | None:
        """The topic of the last turn."""
        return self.topic_history[-1] if self.topic_history else None

    @property
    def entity_mentions(self) -> dict[str, int]:
        """How many turns named each name or thing."""
        return dict(self.stored.names)

    @property
    def active_entities(self) -> set[str]:
        """The names and things that were named."""
        return set(self.stored.names)

    @property
    def accessed_memories(self) -> dict[str, int]:
        """In how many contexts of this session each memory was."""
        return {key: given.times for key, given in self.stored.given.items()}

    @property
    def last_used_memories(self) -> list[str]:
        """The memories in the last context, at most ten."""
        last = self.stored.turns
        return [key for key, given in self.stored.given.items() if given.turn == last][:10]

    def get_boost_ids(self, min_access: int = 2) -> set[str]:
        """The memories that were given so often or more."""
        return {key for key, count in self.accessed_memories.items() if count >= min_access}

    def get_hot_entities(self, min_mentions: int = 2) -> set[str]:
        """The names and things that so many turns or more have named."""
        return {name for name, count in self.stored.names.items() if count >= min_mentions}

    def access_score(self, memory_id: str) -> float:
        """What the accesses of a memory add to its score, 0..1 (`text.valuing.access`)."""
        given = self.stored.given.get(memory_id)
        return access(given.times if given else 0)

    def detect_topic_shift(self) -> bool:
        """Whether the last turn left the topic before."""
        return bool(self.stored.recent) and self.stored.recent[-1].shifted

    def get_session_duration_minutes(self) -> float:
        """From its first turn to its last."""
        return max(0.0, self.stored.last - self.stored.began) / 60

    def get_stats(self) -> dict[str, Any]:
        """The figures of the session; hot_memories: how many were given twice or more."""
        return {
            "session_id": self.session_id,
            "turn_count": self.turn_count,
            "duration_minutes": self.get_session_duration_minutes(),
            "unique_topics": len(self.stored.topics),
            "active_entities": len(self.stored.names),
            "memories_accessed": len(self.stored.given),
            "hot_memories": len(self.get_boost_ids()),
        }

    def reset(self) -> None:
        """Forget all; what is stored in a file stays until the session is saved or forgotten."""
        self.stored = Session(self.session_id)
        self.topic_history = []


def _moment(seconds: float) -> datetime:
    return datetime.fromtimestamp(seconds, timezone.utc).replace(tzinfo=None)
