"""TelemetryLogger, as programs of agent-memfas use it."""

from __future__ import annotations

import json
import re
from dataclasses import asdict, fields
from pathlib import Path
from typing import Any

import pytest

from agent_memfas import config
from agent_memfas.errors import UsageError
from agent_memfas.store.layout import open_folder
from agent_memfas.v3 import SessionMetrics, TelemetryLogger, TurnMetrics
from agent_memfas.v3.telemetry import logger_of
from inputs.memory import Memory
from telemetry.turns import AT, turn

TURN_KEYS = """timestamp session_id turn_number query query_tokens detected_topic topic_shifted
baseline_context_tokens curated_context_tokens memories_scored memories_included memories_dropped
memories_filtered triggers_matched tokens_saved compression_ratio latency_ms curation_level
curation_level_name min_score_threshold top_memories score_weights""".split()
SESSION_KEYS = """session_id start_time end_time total_turns total_baseline_tokens
total_curated_tokens total_tokens_saved avg_compression_ratio topics_detected topic_shifts
unique_memories_used most_accessed_memories avg_latency_ms p95_latency_ms max_latency_ms""".split()
SUMMARY_KEYS = {
    "period": "start end total_turns",
    "compression": "total_baseline_tokens total_curated_tokens total_tokens_saved "
                   "avg_compression_ratio best_compression worst_compression",
    "memory_usage": "total_memories_scored total_memories_included total_memories_dropped "
                    "avg_memories_per_turn avg_triggers_per_turn",
    "topics": "unique_topics topic_shifts shift_rate",
    "performance": "avg_latency_ms p50_latency_ms p95_latency_ms max_latency_ms",
}  # fmt: skip


def lines(log: TelemetryLogger) -> list[dict[str, Any]]:
    return [json.loads(line) for line in log.log_path.read_text("utf-8").splitlines()]


def test_a_turn_is_a_line_with_the_keys_of_the_reference(log: TelemetryLogger) -> None:
    """In its order, with its values as they were given; in the memory folder, private."""
    log.log_turn(turn())
    (line,) = lines(log)
    assert list(line) == ["type", *TURN_KEYS]
    assert line == {"type": "turn", **asdict(turn())}
    assert [field.name for field in fields(TurnMetrics)] == TURN_KEYS
    assert log.log_path.parent.name == ".memfas"
    assert log.log_path.stat().st_mode & 0o777 == 0o600


def test_the_end_of_a_session_is_a_line_with_the_keys_of_the_reference(
    log: TelemetryLogger,
) -> None:
    """Totals, topics in the order in which they came up, the most used memories, the latencies."""
    other = {"id": "m2", "score": 0.5, "source": "memory/2026-02-24.md", "snippet": "x"}
    log.log_turn(turn(1, latency_ms=10.0))
    log.log_turn(turn(2, latency_ms=20.0, detected_topic="bob", topic_shifted=True,
                      top_memories=[other, *turn().top_memories]))  # fmt: skip
    log.log_turn(turn(1, session_id="another"))
    metrics = log.log_session_end("main")
    assert isinstance(metrics, SessionMetrics)
    line = lines(log)[-1]
    assert list(line) == ["type", *SESSION_KEYS]
    assert line == {
        "type": "session_summary", "session_id": "main", "start_time": AT, "end_time": AT,
        "total_turns": 2, "total_baseline_tokens": 2000, "total_curated_tokens": 400,
        "total_tokens_saved": 1600, "avg_compression_ratio": 0.2,
        "topics_detected": ["acme", "bob"], "topic_shifts": 1, "unique_memories_used": 2,
        "most_accessed_memories": [
            {"id": "m1", "source": "MEMORY.md", "count": 2},
            {"id": "m2", "source": "memory/2026-02-24.md", "count": 1},
        ],
        "avg_latency_ms": 15.0, "p95_latency_ms": 19.5, "max_latency_ms": 20.0,
    }  # fmt: skip
    assert log.log_session_end("main") is None


def test_the_summary_has_the_keys_of_the_reference(log: TelemetryLogger) -> None:
    """All of them and no others, with the arithmetic of the reference."""
    for n in range(1, 5):
        log.log_turn(turn(n, latency_ms=float(n), curated_context_tokens=100 * n,
                          tokens_saved=1000 - 100 * n, topic_shifted=n == 3))  # fmt: skip
    log.log_session_end("main")
    found = log.get_summary()
    assert found.pop("status") == "ok"
    assert {key: " ".join(part) for key, part in found.items()} == SUMMARY_KEYS
    assert found["period"] == {"start": AT, "end": AT, "total_turns": 4}
    assert found["compression"] == pytest.approx({
        "total_baseline_tokens": 4000, "total_curated_tokens": 1000, "total_tokens_saved": 3000,
        "avg_compression_ratio": 0.25, "best_compression": 0.1, "worst_compression": 0.4,
    })  # fmt: skip
    assert found["memory_usage"]["avg_triggers_per_turn"] == 2
    assert found["topics"] == {"unique_topics": ["acme"], "topic_shifts": 1, "shift_rate": 0.25}
    assert found["performance"] == pytest.approx(
        {"avg_latency_ms": 2.5, "p50_latency_ms": 2.5, "p95_latency_ms": 3.85, "max_latency_ms": 4}
    )


def test_without_a_baseline_nothing_is_claimed(log: TelemetryLogger) -> None:
    """D41: no ratio of 278; turns without a baseline do not count in the mean of the others."""
    log.log_turn(turn(1, baseline_context_tokens=0, curated_context_tokens=278, tokens_saved=0,
                      compression_ratio=278.0))  # fmt: skip
    assert lines(log)[0]["compression_ratio"] == 1.0
    alone = log.get_summary()["compression"]
    assert {alone[f"{one}_compression"] for one in ("best", "worst")} == {1.0}
    assert "Tokens saved:     unknown" in log.format_summary()
    log.log_turn(turn(2))
    assert log.get_summary()["compression"]["avg_compression_ratio"] == 0.2
    assert "278.00x" not in log.format_summary()


def test_ratios_that_the_reference_logged_without_a_baseline_are_not_believed(
    log: TelemetryLogger,
) -> None:
    """An old file with 278.00x in it is summed up like a new one."""
    old = {"type": "turn", **asdict(turn(baseline_context_tokens=0, compression_ratio=278.0))}
    log.log_path.parent.mkdir()
    log.log_path.write_text(json.dumps(old) + "\n")
    assert log.get_summary()["compression"]["worst_compression"] == 1.0


def test_no_more_text_is_kept_than_the_reference_keeps(log: TelemetryLogger) -> None:
    """200 characters of the question, 100 of a passage; no secret, no field beyond the four."""
    memory = {"id": "m", "score": 1.0, "source": "a.md", "snippet": "s" * 500, "text": "all of it"}
    key = "sk-abcdefghijklmnopqrstuvwx123456"
    log.log_turn(turn(query=f"use {key} " + "q" * 500, top_memories=[memory]))
    (line,) = lines(log)
    assert len(line["query"]) == 200
    assert key[:12] not in line["query"]
    assert line["top_memories"] == [
        {"id": "m", "score": 1.0, "source": "a.md", "snippet": "s" * 100}
    ]
    assert memory["snippet"] == "s" * 500


def _log_with(memory: Memory, settings: str) -> TelemetryLogger:
    memory.write("memfas.yaml", settings)
    return logger_of(open_folder(memory.root), config.load(memory.root / "memfas.yaml"))


def test_hashed_content_can_be_counted_and_not_read(memory: Memory) -> None:
    """The same words give the same hash in this folder and another one elsewhere."""
    for _ in range(2):
        log = _log_with(memory, "telemetry: {content: hashed}\n")
        log.log_turn(turn())
        log.log_session_end("main")
    text = log.log_path.read_text()
    assert not re.search("acme|status", text, re.IGNORECASE)
    first, _, second, ended = lines(log)
    assert first == second
    assert re.fullmatch("#[0-9a-f]{16}", first["query"])
    assert ended["topics_detected"] == [first["detected_topic"]]
    assert first["top_memories"][0]["source"] == "MEMORY.md"
    elsewhere = Memory(memory.root.parent / "other")
    elsewhere.write("MEMORY.md", "")
    other = _log_with(elsewhere, "telemetry: {content: hashed}\n")
    other.log_turn(turn())
    assert lines(other)[0]["query"] != first["query"]


def test_content_can_be_left_out(memory: Memory) -> None:
    """Keys stay, so that every reader goes on; their words are empty."""
    log = _log_with(memory, "telemetry: {content: none}\n")
    log.log_turn(turn())
    (line,) = lines(log)
    assert list(line) == ["type", *TURN_KEYS]
    assert (line["query"], line["detected_topic"]) == ("", "")
    assert line["top_memories"][0]["snippet"] == ""
    assert log.get_summary()["topics"]["unique_topics"] == []


def test_telemetry_can_be_switched_off(memory: Memory) -> None:
    """Then not even the folder for it is made."""
    log = _log_with(memory, "telemetry: {enabled: false}\n")
    log.log_turn(turn())
    assert log.log_session_end("main") is None
    assert log.get_summary()["status"] == "no_data"
    assert not (memory.root / ".memfas").exists()


def test_a_path_of_my_own_is_where_it_is(memory: Memory, tmp_path: Path) -> None:
    """`telemetry_path` is taken as a program gives it, and read back from there."""
    log = logger_of(open_folder(memory.root), config.Settings(), tmp_path / "logs/mine.jsonl")
    log.log_turn(turn())
    assert len((tmp_path / "logs/mine.jsonl").read_text().splitlines()) == 1
    assert TelemetryLogger(str(tmp_path / "logs/mine.jsonl")).get_summary()["status"] == "ok"
    assert not (memory.root / ".memfas").exists()


def test_without_a_path_it_is_the_memory_folder_and_not_where_one_happens_to_be(
    memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    """D51: from a folder below, the same file."""
    memory.write("sub/deeper/x", "")
    monkeypatch.chdir(memory.root / "sub/deeper")
    TelemetryLogger().log_turn(turn())
    assert (memory.root / ".memfas/telemetry.jsonl").is_file()


def test_filters_choose_turns(log: TelemetryLogger) -> None:
    """By since (also without a zone, which is UTC), session_id and last_n_turns, alone or not."""
    for n in range(1, 7):
        log.log_turn(turn(n, timestamp=f"2026-03-0{n}T12:00:00", session_id="ab"[n % 2]))
    assert lines(log)[0]["timestamp"] == "2026-03-01T12:00:00+00:00"

    def turns(**chosen: Any) -> int:
        found = log.get_summary(**chosen)
        return found["period"]["total_turns"] if found["status"] == "ok" else 0

    assert turns(since="2026-03-03") == 4
    assert turns(since="2026-03-03T12:00:00.5") == 3
    assert turns(since="2026-03-03T14:00:00+02:00") == 4
    assert turns(session_id="a") == 3
    assert turns(session_id="a", last_n_turns=2, since="2026-03-05") == 1
    assert turns(last_n_turns=4) == 4
    assert turns(session_id="nobody") == 0
    with pytest.raises(UsageError):
        turns(since="yesterday")


def test_a_file_grows_to_its_size_and_the_summary_is_of_all_parts(tmp_path: Path) -> None:
    """max_file_size_mb as in the reference, but what was there before is not overwritten."""
    log = TelemetryLogger(tmp_path / "t.jsonl", max_file_size_mb=0.001)
    for n in range(1, 8):
        log.log_turn(turn(n))
    assert len(list(tmp_path.glob("t.*.jsonl"))) >= 3
    assert log.get_summary()["period"]["total_turns"] == 7
    log.clear()
    assert list(tmp_path.iterdir()) == []
    assert log.get_summary()["status"] == "no_data"
    assert log.format_summary() == "📊 No telemetry data found."
