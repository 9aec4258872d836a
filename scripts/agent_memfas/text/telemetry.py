"""Lines of telemetry, each a JSON object: what curation did in a turn, what a model was asked."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import datetime, timezone
from sys import intern
from typing import Any, NamedTuple

TURN, SESSION, CALL = "turn", "session_summary", "llm"
QUERY, SNIPPET = 200, 100  # characters that are kept of a question, and of a passage
_WHOLE = (
    "turn_number", "query_tokens", "baseline_context_tokens", "curated_context_tokens",
    "memories_scored", "memories_included", "memories_dropped", "memories_filtered",
    "triggers_matched", "curation_level", "prompt_tokens", "completion_tokens", "tries",
)  # fmt: skip
_TEXTS = ("query", "detected_topic", "curation_level_name", "command", "model", "outcome")


class Turn(NamedTuple):
    """A turn of curation. at: aware. baseline: tokens that the caller would have sent, 0 for not
    said; curated: tokens that were given. scored, included, dropped: memories; triggers: matched.
    sources: of the passages that scored best, each once.
    """

    at: datetime
    stamp: str
    session: str
    topic: str
    shifted: bool
    baseline: int
    curated: int
    level: str
    latency: float
    scored: int
    included: int
    dropped: int
    triggers: int
    sources: tuple[str, ...]

    @property
    def saved(self) -> int:
        """Tokens that were not sent; 0 where nothing is known of what would have been."""
        return max(0, self.baseline - self.curated)

    @property
    def ratio(self) -> float | None:
        """Of the baseline, the part that was given; None without one, where it would be a count."""
        return self.curated / self.baseline if self.baseline else None


class Call(NamedTuple):
    """A question to a model. cost: None for unknown."""

    at: datetime
    command: str
    model: str
    prompt: int
    completion: int
    cost: float | None
    outcome: str


class Summed(NamedTuple):
    """A summary that was written at the end of a session."""

    at: datetime
    session: str


class Unreadable(ValueError):
    """A line that is no telemetry. str(): why."""


def time_of(text: str) -> datetime | None:
    """An ISO date or time -> aware; one without a zone is UTC, as agent-memfas writes it."""
    try:
        found = datetime.fromisoformat(text[:-1] + "+00:00" if text.endswith("Z") else text)
    except ValueError:
        return None
    return found if found.tzinfo else found.replace(tzinfo=timezone.utc)


def read_line(line: bytes) -> Turn | Call | Summed:
    """What a line says; fields that it lacks are empty. Unreadable where it is none of the three,
    or a field is not what it must be.
    """
    fields = fields_of(line)
    get = fields.get
    kind = get("type")
    if kind == SESSION:
        return Summed(_time(get("end_time")), _session(fields))
    if kind not in (TURN, CALL):
        raise Unreadable("not a line of telemetry")
    _check(fields)
    at = _time(get("timestamp"))
    if kind == CALL:
        return Call(
            at, intern(get("command", "")), intern(get("model", "")), get("prompt_tokens", 0),
            get("completion_tokens", 0), get("cost"), intern(get("outcome", "")),
        )  # fmt: skip
    level = get("curation_level_name") or str(get("curation_level", ""))
    return Turn(
        at, get("timestamp", ""), intern(_session(fields)), intern(get("detected_topic", "")),
        get("topic_shifted", False) is True, get("baseline_context_tokens", 0),
        get("curated_context_tokens", 0), intern(level), float(get("latency_ms") or 0),
        get("memories_scored", 0), get("memories_included", 0), get("memories_dropped", 0),
        get("triggers_matched", 0), _sources(get("top_memories", [])),
    )  # fmt: skip


def fields_of(line: bytes) -> dict[str, Any]:
    """A line as JSON has it. Unreadable where it is no object."""
    try:
        fields = json.loads(line.decode("utf-8"), parse_constant=_no_number)
    except (ValueError, RecursionError) as error:
        raise Unreadable("not JSON") from error
    if not isinstance(fields, dict):
        raise Unreadable("not a line of telemetry")
    return fields


def _check(fields: Mapping[str, Any]) -> None:
    """Every field is of its kind and in its bounds, or Unreadable."""
    for name in _WHOLE:
        value = fields.get(name, 0)
        if type(value) is not int or not 0 <= value < 10**12:
            raise Unreadable(f"{name} is no count")
    for name in _TEXTS:
        if not isinstance(fields.get(name, ""), str):
            raise Unreadable(f"{name} is no text")
    for name in ("latency_ms", "cost"):
        value = fields.get(name) or 0
        if type(value) not in (int, float) or not 0 <= value < 10**12:
            raise Unreadable(f"{name} is no number")


def _no_number(text: str) -> float:
    raise Unreadable(f"{text} is no number of JSON")


def _time(value: Any) -> datetime:
    found = time_of(value) if isinstance(value, str) else None
    if found is None:
        raise Unreadable("no time")
    try:
        at = found.astimezone(timezone.utc)
    except OverflowError:
        raise Unreadable("no time") from None
    if not 1 < at.year < 9999:  # in some zone it would have no date
        raise Unreadable("no time")
    return at


def _session(fields: Mapping[str, Any]) -> str:
    name = fields.get("session_id", "")
    if not isinstance(name, str):
        raise Unreadable("session_id is no text")
    return name


def _sources(memories: Any) -> tuple[str, ...]:
    """Where the best passages stand, each file once."""
    if not isinstance(memories, list):
        raise Unreadable("top_memories is no list")
    named = (one.get("source") for one in memories if isinstance(one, dict))
    return tuple(dict.fromkeys(intern(name) for name in named if isinstance(name, str) and name))
