"""The logs of context management: five files of JSON lines, as the reference has them.

No words of a conversation are in them but the query of a recovery or curation. A full file gets a
number and stays, as telemetry does.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import suppress
from datetime import datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

from agent_memfas.errors import FileFault
from agent_memfas.store import telemetry

if TYPE_CHECKING:
    from agent_memfas.context.results import CompactionResult, ContextStatus

COMPACTION, CURATION, DROPS = "compaction.jsonl", "curation.jsonl", "drops.jsonl"
HEALTH, RECOVERY = "health.jsonl", "recovery.jsonl"
FILES = (COMPACTION, CURATION, DROPS, HEALTH, RECOVERY)
QUERY = 200  # characters of a query


class ContextLogger:
    """Logs into a folder, which is made with the first line. What cannot be written is left out:
    no agent stops for its logs.

    log_path: the folder. off: files that are not written. clock: the time, aware. largest: bytes
    of a file from which on it gets a number.
    """

    def __init__(
        self,
        log_path: str | Path = "./logs/context/",
        *,
        off: frozenset[str] = frozenset(),
        clock: Callable[[], datetime] | None = None,
        largest: int | None = None,
    ) -> None:
        self.log_path = Path(log_path).expanduser()
        self._off = off
        self._clock = clock or _now
        self._largest = largest
        self._last_compaction: str | None = None

    def log_message(self, message: object, context_count: int, token_count: int) -> None:  # noqa: ARG002 - no words are logged
        """A message came. message: is not written."""
        self._log(HEALTH, "message", context_chunks=context_count, token_count=token_count)

    def log_health(self, status: ContextStatus) -> None:
        """A health check."""
        self._log(
            HEALTH, "health_check", current_tokens=status.current_tokens,
            max_tokens=status.max_tokens, pct_used=status.pct_used,
            chunks_count=status.chunks_count, cold_storage_count=status.cold_storage_count,
            needs_compaction=status.needs_compaction,
        )  # fmt: skip

    def log_compaction(self, result: CompactionResult) -> None:
        """A compaction."""
        self._last_compaction = self._clock().isoformat()
        self._log(
            COMPACTION, "compaction", tokens_before=result.tokens_before,
            tokens_after=result.tokens_after, token_savings=result.token_savings,
            chunks_dropped=result.chunks_dropped, chunks_summarized=result.chunks_summarized,
        )  # fmt: skip

    def log_drop(
        self, chunk_id: str, session_id: str, relevance_score: float, reason: str,
        cold_storage_path: str, tokens: int = 0,
    ) -> None:  # fmt: skip
        """A chunk left the context."""
        self._log(
            DROPS, "chunk_dropped", chunk_id=chunk_id, session_id=session_id,
            relevance_score=round(relevance_score, 4), reason=reason,
            cold_storage_path=cold_storage_path, tokens=tokens,
        )  # fmt: skip

    def log_recovery(self, query: str, chunks_recovered: int) -> None:
        """Cold storage was asked."""
        self._log(RECOVERY, "recovery", query=query[:QUERY], chunks_recovered=chunks_recovered)

    def log_curation(
        self, query: str, hits_found: int, total_before: int, token_savings: int,
        drops_triggered: int,
    ) -> None:  # fmt: skip
        """What stood in the context twice was taken out."""
        self._log(
            CURATION, "curation", query=query[:QUERY], hits_found=hits_found,
            total_before_curation=total_before, token_savings=token_savings,
            drops_triggered=drops_triggered,
        )  # fmt: skip

    def log_session_end(self, context_count: int, message_count: int) -> None:
        """A session ended."""
        self._log(HEALTH, "session_end", context_chunks=context_count, message_count=message_count)

    def log_activity(self, activity: str, **fields: Any) -> None:
        """Anything else, such as response_complete."""
        self._log(HEALTH, activity, **fields)

    def last_compaction_time(self) -> str | None:
        """When this object logged a compaction last, ISO; None for never."""
        return self._last_compaction

    def get_compaction_stats(self, hours: float = 24) -> dict[str, Any]:
        """{compaction_count, total_token_savings} of the last hours; {} where nothing is logged."""
        found = list(self._since(COMPACTION, hours))
        if not found and not telemetry.parts(self.log_path / COMPACTION):
            return {}
        saved = sum(_number(one.get("token_savings")) for one in found)
        return {"compaction_count": len(found), "total_token_savings": saved}

    def get_drop_stats(self, hours: float = 24) -> dict[str, Any]:
        """{total_drops, drops_by_reason} of the last hours; {} where nothing is logged."""
        found = list(self._since(DROPS, hours))
        if not found and not telemetry.parts(self.log_path / DROPS):
            return {}
        reasons = Counter(str(one.get("reason", "unknown")) for one in found)
        return {"total_drops": len(found), "drops_by_reason": dict(reasons)}

    def _log(self, file: str, event: str, **fields: Any) -> None:
        if file not in self._off:
            line = {"event": event, **fields, "timestamp": self._clock().isoformat()}
            telemetry.add(self.log_path / file, line, self._largest)

    def _since(self, file: str, hours: float) -> Iterator[dict[str, Any]]:
        """The lines of a log that are no older; lines that are none of ours are passed over."""
        first = self._clock() - timedelta(hours=hours)
        with suppress(FileFault):
            for _, _, line in telemetry.lines(self.log_path / file):
                with suppress(ValueError, TypeError, RecursionError):
                    fields = json.loads(line)
                    at = datetime.fromisoformat(fields["timestamp"])
                    at = at if at.tzinfo else at.replace(tzinfo=first.tzinfo)
                    if at > first:
                        yield fields


def _number(value: object) -> int:
    return value if type(value) is int else 0


def _now() -> datetime:
    return datetime.now().astimezone()
