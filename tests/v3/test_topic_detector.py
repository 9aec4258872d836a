"""`TopicDetector` and `SessionState` as users of agent-memfas have them."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta, timezone
from math import log
from pathlib import Path

import pytest

from agent_memfas import v3
from agent_memfas.store import turns
from agent_memfas.store.layout import Folder
from agent_memfas.v3 import SessionState, Topic, TopicDetector


class Compass:
    """An embedder of two directions: what has to do with teeth, and all else."""

    def __init__(self) -> None:
        self.seen: list[str] = []

    def embed(self, text: str) -> Sequence[float]:
        self.seen.append(text)
        return [1.0, 0.1] if any(word in text for word in ("dentist", "crown")) else [0.0, 1.0]


def test_the_names_are_where_the_reference_has_them() -> None:
    """`from agent_memfas.v3 import ...` gives each; a name that is none is an AttributeError."""
    assert {"SessionState", "Topic", "TopicDetector"} <= set(v3.__all__)
    assert all(getattr(v3, name) for name in v3.__all__)
    with pytest.raises(AttributeError, match="TopicDetecter"):
        _ = v3.TopicDetecter  # type: ignore[attr-defined]


def test_a_topic_has_name_embedding_confidence_and_time() -> None:
    """The fields of a Topic, in the order of the reference; its time is UTC without a zone."""
    topic = Topic("acme", [1.0], 0.7)
    assert list(vars(topic)) == ["name", "embedding", "confidence", "timestamp"]
    now = datetime.now(timezone.utc).replace(tzinfo=None)
    assert abs(now - topic.timestamp) < timedelta(minutes=1)


def test_a_detector_needs_no_embedder() -> None:
    """Topics and shifts by words alone, turn by turn."""
    detector = TopicDetector()
    assert detector.get_current_topic() is None
    heard = []
    for message in (
        "What is the status of acme?",
        "and who is the manager?",
        "Where is my passport?",
    ):
        topic = detector.detect(message)
        heard.append((topic.name, detector.detect_shift()))
        assert detector.get_current_topic() is topic
        assert topic.embedding == []
    assert heard == [("acme", False), ("acme", False), ("passport", True)]


def test_each_session_has_a_detector_of_its_own() -> None:
    """The first turn of session B is no shift, whatever session A was talking about."""
    TopicDetector().detect("What is the status of acme?")
    other = TopicDetector()
    other.detect("Where is my passport?")
    assert not other.detect_shift()


def test_an_embedder_tells_what_words_cannot() -> None:
    """Below the threshold of 0.6 it is a shift; above it the topic goes on, without a common word;
    a follow-up is none, however unlike its vector is.
    """
    detector = TopicDetector(Compass())
    detector.detect("the dentist appointment")
    detector.detect("How much does the crown cost?")
    assert not detector.detect_shift()
    detector.detect("why?")
    assert not detector.detect_shift()
    detector.detect("Where is my passport?")
    assert detector.detect_shift()


def test_the_embedding_is_that_of_the_last_three_messages_and_this_one() -> None:
    """As in the reference: of what the host gives as history, else of what was said before."""
    embedder = Compass()
    detector = TopicDetector(embedder)
    detector.detect("a dentist", recent_history=["one", "two", "three", "four"])
    assert embedder.seen == ["two\nthree\nfour\na dentist"]
    detector.detect("a filling")
    assert "a dentist\na filling" in embedder.seen


def test_a_history_that_ends_with_the_message_itself_is_understood() -> None:
    """Some hosts add a message to the history before they ask: it is not its own topic before."""
    detector = TopicDetector()
    detector.detect("What is the status of acme?")
    message = "Where is my passport?"
    detector.detect(message, recent_history=["What is the status of acme?", message])
    assert detector.detect_shift()


def test_a_detector_goes_on_with_a_session() -> None:
    """A new process resumes with what was said before; after a reset it knows nothing."""
    detector = TopicDetector()
    detector.resume(["What is the status of acme?", "why?"])
    assert detector.detect("and who is the manager?").name == "acme"
    assert not detector.detect_shift()
    detector.detect("Where is my passport?")
    assert detector.detect_shift()
    detector.reset()
    assert detector.get_current_topic() is None
    detector.detect("What is the status of globex?")
    assert not detector.detect_shift()


def test_only_so_many_topics_are_kept() -> None:
    """history_size bounds what a long session costs."""
    detector = TopicDetector(history_size=3)
    for number in range(9):
        detector.detect(f"tell me about heron{number}")
    assert [topic.name for topic in detector.topic_history] == ["heron6", "heron7", "heron8"]


def test_a_session_counts_what_it_was_given() -> None:
    """get_stats has the figures of the reference; what was given twice is hot."""
    state = SessionState("main")
    start = datetime(2026, 3, 1, 12)
    for minutes, (query, name, used) in enumerate(
        [("What is the status of acme?", "acme", ["a", "b"]), ("Is Alice there?", "alice", ["b"])]
    ):
        topic = Topic(name, [], 0.7, start + timedelta(minutes=minutes))
        state.on_turn(query, topic, used)
    assert state.get_stats() == {
        "session_id": "main", "turn_count": 2, "duration_minutes": 1.0, "unique_topics": 2,
        "active_entities": 2, "memories_accessed": 2, "hot_memories": 1,
    }  # fmt: skip
    assert state.get_boost_ids() == {"b"}
    assert state.active_entities == {"acme", "alice"}
    assert state.last_used_memories == ["b"]
    assert state.detect_topic_shift()
    assert (state.created_at, state.last_turn_at) == (start, start + timedelta(minutes=1))


def test_access_scores_are_real() -> None:
    """What was given n times in this session scores min(ln(1 + n) / 5, 1), what was not, nothing."""
    state = SessionState("main")
    for _ in range(3):
        state.on_turn("acme", Topic("acme"), ["a"])
    assert state.access_score("a") == pytest.approx(log(4) / 5)
    assert state.access_score("b") == 0.0


def test_a_new_session_has_empty_figures() -> None:
    """No turn yet: zeros, no topic, no shift."""
    state = SessionState("new")
    assert set(state.get_stats().values()) == {"new", 0}
    assert state.current_topic is None
    assert state.last_turn_at is None
    assert not state.detect_topic_shift()


def test_a_session_is_the_same_in_the_next_process(tmp_path: Path) -> None:
    """Stored turn by turn, it comes back with its counts, topics and figures."""
    folder = Folder(tmp_path)
    state = SessionState("s/../ü", turns.load(folder, "s/../ü"))
    for query in ("What is the status of acme?", "Where is my passport?", "Where is my passport?"):
        turn = state.on_turn(query, Topic(query), ["m"])
        turns.save(folder, "s/../ü", turn, ["m"], list(state.active_entities)[:0])
    again = SessionState("s/../ü", turns.load(folder, "s/../ü"))
    assert again.accessed_memories == {"m": 3}
    assert again.turn_count == 3
    assert [topic.name for topic in again.topic_history] == [t.name for t in state.topic_history]
    assert again.detect_topic_shift() == state.detect_topic_shift()


def test_a_session_can_be_reset() -> None:
    """It is as new, under the same id."""
    state = SessionState("s")
    state.on_turn("acme", Topic("acme"), ["a"])
    state.reset()
    assert state.get_stats() == SessionState("s").get_stats()
