"""Telemetry of curation under the reference's names: a line for each turn and each session."""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field, replace
from datetime import datetime, timezone
from pathlib import Path
from typing import TYPE_CHECKING, Any

from agent_memfas.errors import MemfasError, UsageError
from agent_memfas.store import telemetry as store
from agent_memfas.store.layout import Folder
from agent_memfas.store.places import nearest
from agent_memfas.tasks.telemetry import Filter, read
from agent_memfas.text.hiding import FULL, hider
from agent_memfas.text.telemetry import QUERY, SESSION, SNIPPET, TURN, time_of
from agent_memfas.text.telemetry_summary import block, most_used, percentile

if TYPE_CHECKING:
    from agent_memfas.config import Settings

MOST = 5  # memories that are named at the end of a session
_OF_A_MEMORY = ("id", "score", "source", "snippet")


@dataclass
class TurnMetrics:
    """A turn. timestamp: ISO; one without a zone is UTC. query: of it 200 characters are kept, and
    100 of each snippet in top_memories [{id, score, source, snippet}].

    compression_ratio: curated / baseline; 1.0 where there is no baseline.
    """

    timestamp: str
    session_id: str
    turn_number: int
    query: str
    query_tokens: int
    detected_topic: str
    topic_shifted: bool
    baseline_context_tokens: int
    curated_context_tokens: int
    memories_scored: int
    memories_included: int
    memories_dropped: int
    memories_filtered: int = 0
    triggers_matched: int = 0
    tokens_saved: int = 0
    compression_ratio: float = 1.0
    latency_ms: float = 0.0
    curation_level: int = 3
    curation_level_name: str = "balanced"
    min_score_threshold: float = 0.0
    top_memories: list[dict[str, Any]] = field(default_factory=list)
    score_weights: dict[str, float] = field(default_factory=dict)


@dataclass
class SessionMetrics:
    """A session, added up. most_accessed_memories: [{id, source, count}], five at most."""

    session_id: str
    start_time: str
    end_time: str
    total_turns: int
    total_baseline_tokens: int
    total_curated_tokens: int
    total_tokens_saved: int
    avg_compression_ratio: float
    topics_detected: list[str]
    topic_shifts: int
    unique_memories_used: int
    most_accessed_memories: list[dict[str, Any]]
    avg_latency_ms: float
    p95_latency_ms: float
    max_latency_ms: float


class TelemetryLogger:
    """Writes turns and sessions as lines of JSON, and adds them up.

    log_path: the file, made when the first turn is logged; None for the one of the memory folder
    that the current folder lies in. max_file_size_mb: a larger file gets a number and stays.
    enabled: False writes nothing. hide: what is kept of words, see `text.hiding`. What cannot be
    written is left out without an error: no turn fails for its telemetry.
    """

    def __init__(
        self,
        log_path: str | Path | None = None,
        max_file_size_mb: float = 50,
        *,
        enabled: bool = True,
        hide: Callable[[str, int], str] | None = None,
    ) -> None:
        path = _usual() if log_path is None else Path(os.path.expanduser(log_path))
        self.log_path = Path(os.path.realpath(path))
        self.max_file_size = int(max_file_size_mb * 1024 * 1024)
        self.enabled = enabled
        self._hide = hide or hider(FULL, bytes)
        self._sessions: defaultdict[str, list[TurnMetrics]] = defaultdict(list)

    def log_turn(self, metrics: TurnMetrics) -> None:
        """Write a turn."""
        if not self.enabled:
            return
        with suppress(MemfasError):  # no key for hashes is to be had: then no words are written
            kept = self._kept(metrics)
            self._sessions[kept.session_id].append(kept)
            store.add(self.log_path, {"type": TURN, **asdict(kept)}, self.max_file_size)

    def log_session_end(self, session_id: str) -> SessionMetrics | None:
        """Write what a session came to, as far as this object has seen it; None if it has not."""
        turns = self._sessions.pop(session_id, [])
        if not turns:
            return None
        metrics = _added_up(session_id, turns)
        store.add(self.log_path, {"type": SESSION, **asdict(metrics)}, self.max_file_size)
        return metrics

    def get_summary(
        self,
        since: str | None = None,
        session_id: str | None = None,
        last_n_turns: int | None = None,
    ) -> dict[str, Any]:
        """All turns of all parts of the file, added up, with exactly the keys of the reference.

        since: ISO date or time, UTC where it has no zone; UsageError where it is neither. FileFault
        where the file cannot be read.
        """
        moment = time_of(since) if since else None
        if since and moment is None:
            raise UsageError(f"since {since}: not a date or time", "such as 2026-03-01T12:00:00")
        wanted = Filter(moment, session_id or "", max(last_n_turns or 0, 0))
        return read(self.log_path, wanted).summary()

    def format_summary(self, summary: dict[str, Any] | None = None, **filters: Any) -> str:
        """A summary as the command line shows it. filters: those of `get_summary`."""
        return block(self.get_summary(**filters) if summary is None else summary)

    def clear(self) -> None:
        """Delete the file with all its parts. FileFault."""
        store.clear(self.log_path)
        self._sessions.clear()

    def _kept(self, metrics: TurnMetrics) -> TurnMetrics:
        """What is written of a turn: a ratio that means something, a time with a zone, and no more
        text than there may be.
        """
        at = time_of(metrics.timestamp) or datetime.now(timezone.utc)
        baseline, curated = metrics.baseline_context_tokens, metrics.curated_context_tokens
        memories = [{k: one[k] for k in _OF_A_MEMORY if k in one} for one in metrics.top_memories]
        for one in memories:
            if "snippet" in one:
                one["snippet"] = self._hide(str(one["snippet"]), SNIPPET)
        return replace(
            metrics, timestamp=at.isoformat(), query=self._hide(metrics.query, QUERY),
            detected_topic=self._hide(metrics.detected_topic, QUERY), top_memories=memories,
            compression_ratio=curated / baseline if baseline else 1.0,
        )  # fmt: skip


def logger_of(
    folder: Folder, settings: Settings, path: str | Path | None = None
) -> TelemetryLogger:
    """The telemetry of a memory folder as `telemetry:` in memfas.yaml has it. path: another file,
    or None for `.memfas/telemetry.jsonl`.
    """
    choice = settings.telemetry
    hide = hider(choice.content, lambda: store.secret_of(folder))
    where = store.home(folder) if path is None else path
    return TelemetryLogger(where, enabled=choice.enabled, hide=hide)


def _usual() -> Path:
    here = os.path.abspath(".")
    return store.home(Folder(Path(nearest(here) or here)))


def _added_up(session: str, turns: Sequence[TurnMetrics]) -> SessionMetrics:
    latencies = [turn.latency_ms for turn in turns]
    ratios = [t.compression_ratio for t in turns if t.baseline_context_tokens] or [1.0]
    different, most = most_used((one for turn in turns for one in turn.top_memories), MOST)
    return SessionMetrics(
        session_id=session,
        start_time=turns[0].timestamp,
        end_time=turns[-1].timestamp,
        total_turns=len(turns),
        total_baseline_tokens=sum(turn.baseline_context_tokens for turn in turns),
        total_curated_tokens=sum(turn.curated_context_tokens for turn in turns),
        total_tokens_saved=sum(turn.tokens_saved for turn in turns),
        avg_compression_ratio=sum(ratios) / len(ratios),
        topics_detected=list(dict.fromkeys(t.detected_topic for t in turns if t.detected_topic)),
        topic_shifts=sum(turn.topic_shifted for turn in turns),
        unique_memories_used=different,
        most_accessed_memories=most,
        avg_latency_ms=sum(latencies) / len(latencies),
        p95_latency_ms=percentile(latencies, 95),
        max_latency_ms=max(latencies),
    )
