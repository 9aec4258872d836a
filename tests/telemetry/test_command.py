"""`memfas telemetry summary`, `show` and `clear`."""

from __future__ import annotations

import json
import os
import pty
import subprocess
import sys
from pathlib import Path

import pytest

from agent_memfas.store import telemetry as store
from agent_memfas.store.layout import Folder
from agent_memfas.v3 import TelemetryLogger
from commandline import REPO
from inputs.memory import Memory, call
from telemetry.turns import telemetry, turn

NOTHING = "📊 No telemetry data found."
MODEL = {"type": "llm", "timestamp": "2026-03-01T12:00:00+00:00", "command": "dream",
         "model": "toy", "prompt_tokens": 1200, "completion_tokens": 30, "cost": 0.0125,
         "latency_ms": 900, "tries": 1, "outcome": "ok"}  # fmt: skip


def test_alone_it_shows_what_there_is() -> None:
    """D6: the subcommands, status 1 as in the reference, and no traceback."""
    result = call("telemetry")
    assert result.status == 1
    assert all(word in result.text for word in ("summary", "show", "clear", "report"))
    assert result.errors == ""


def test_folder_and_format_may_be_named_before_or_after_the_word(memory: Memory) -> None:
    """`telemetry --root DIR --json summary` is `telemetry summary --root DIR --json`."""
    root = ("--root", str(memory.root))
    after = call("telemetry", "summary", *root, "--json")
    assert call("telemetry", *root, "--json", "summary") == after
    assert call("telemetry", "--json", "summary", *root) == after
    assert after.data["status"] == "no_data"
    assert "summary" in call("telemetry", *root, "--json").data["remedy"]


def test_the_summary_is_the_block_of_the_reference(memory: Memory, log: TelemetryLogger) -> None:
    """Word for word."""
    for n in (1, 2):
        log.log_turn(turn(n, latency_ms=8.0 * n, detected_topic="ab"[n % 2], topic_shifted=n == 2))
    assert (
        telemetry(memory, "summary").text
        == f"""📊 Memfas Performance Summary
{"═" * 40}

Period: 2026-03-01 to 2026-03-01
Turns:  2

Compression:
  Baseline tokens:  2,000
  Curated tokens:   400
  Tokens saved:     1,600 (80.0% reduction)
  Avg compression:  0.20x

Memory Usage:
  Memories scored:  100
  Included:         8 (4.0/turn)
  Dropped:          2
  Triggers:         2.0/turn

Topics:
  Unique:           2
  Shifts:           1 (50.0%)

Latency:
  Average:          12.0ms
  P95:              15.6ms
  Max:              16.0ms
"""
    )


@pytest.mark.parametrize("command", ["summary", "show"])
def test_nothing_yet_is_said(memory: Memory, command: str) -> None:
    """As in the reference, with the status for nothing found; and nothing is made."""
    assert telemetry(memory, command) == (result := telemetry(memory, command))
    assert (result.status, result.text.strip(), result.errors) == (1, NOTHING, "")
    assert not (memory.root / ".memfas").exists()
    assert telemetry(memory, command, "--json").status == 1
    assert telemetry(memory, "summary", "--json").data["status"] == "no_data"


def test_what_models_cost_stands_in_the_summary(memory: Memory, log: TelemetryLogger) -> None:
    """By command, with failures; not where only one session or the last turns are asked for."""
    folder = Folder(memory.root)
    for _ in range(2):
        store.append(folder, MODEL)
    store.append(folder, {**MODEL, "command": "abstract", "cost": None, "outcome": "status 401"})
    alone = telemetry(memory, "summary")
    assert (alone.status, NOTHING in alone.text) == (0, False)
    log.log_turn(turn())
    text = telemetry(memory, "summary").text
    assert "  dream:    2 questions, 2,400 tokens in, 60 out, cost 0.0250" in text
    assert "  abstract: 1 question (1 failed), 1,200 tokens in, 30 out\n" in text
    assert telemetry(memory, "summary", "--json").data["models"][0] == {
        "command": "dream", "calls": 2, "failed": 0, "prompt": 2400, "completion": 60,
        "cost": pytest.approx(0.025),
    }  # fmt: skip
    for chosen in (("-s", "main"), ("--last", "1")):
        assert "Models:" not in telemetry(memory, "summary", *chosen).text


def test_the_summary_can_be_of_a_session_of_the_last_turns_or_since_a_day(
    memory: Memory, log: TelemetryLogger
) -> None:
    """A day begins in my own time zone."""
    memory.write("memfas.yaml", "timezone: Asia/Tokyo\n")
    for n in range(1, 5):
        log.log_turn(turn(n, session_id="ab"[n % 2], timestamp=f"2026-03-0{n}T16:00:00+00:00"))
    for chosen, turns in ((("-s", "a"), 2), (("-n", "3"), 3), (("--since", "2026-03-04"), 2)):
        assert f"Turns:  {turns}\n" in telemetry(memory, "summary", *chosen).text
    assert telemetry(memory, "summary", "--session", "c").status == 1
    assert telemetry(memory, "summary", "--since", "yesterday").status == 2


def test_show_lists_the_last_turns(memory: Memory, log: TelemetryLogger) -> None:
    """Oldest first, ten of them; one that knows no baseline claims no savings."""
    for n in range(1, 13):
        log.log_turn(turn(n, query="q" * 80))
    log.log_turn(turn(13, session_id="other", baseline_context_tokens=0, topic_shifted=True))
    text = telemetry(memory, "show").text
    assert text.count("turn #") == 10
    assert "\n\n[2026-03-01T12:00:00] main turn #12\n  Query: " + "q" * 60 + "...\n" in text
    assert text.endswith(
        "[2026-03-01T12:00:00] other turn #13\n  Query: What is the status of acme?\n"
        "  Topic: acme [SHIFTED]\n  Tokens: 200 (no baseline)\n  Memories: 4 included\n"
        "  Latency: 8.0ms\n\n"
    )
    shown = telemetry(memory, "show", "-n", "2", "-s", "main", "--json").data["turns"]
    assert [one["turn_number"] for one in shown] == [11, 12]
    assert shown[0]["min_score_threshold"] == 0.4


def test_a_question_cannot_write_on_my_terminal(memory: Memory, log: TelemetryLogger) -> None:
    """Escapes and line ends of a logged question are shown, not obeyed."""
    log.log_turn(turn(query="\x1b[2J\nTopic: mine", detected_topic="\u202eabc"))
    text = telemetry(memory, "show").text
    assert "\x1b" not in text
    assert "\u202e" not in text
    assert text.count("\n  Topic:") == 1


WRONG = ("garbage", "[1]", '{"type": "other"}', '{"type": "turn"}', "\\xff\\xfe",
         '{"type": "turn", "timestamp": "2026-03-01", "latency_ms": NaN}',
         '{"type": "turn", "timestamp": "2026-03-01", "turn_number": -1}',
         '{"type": "turn", "timestamp": "2026-03-01", "query": 7}',
         '{"type": "turn", "timestamp": "9999-12-31T23:00:00-10:00"}',
         '{"type": "turn", "timestamp": "2026-03-01", "top_memories": 7}')  # fmt: skip


def test_lines_that_are_no_telemetry_are_counted_and_told(
    memory: Memory, log: TelemetryLogger
) -> None:
    """D51: the rest counts; where the first of them stands is said, on standard error."""
    log.log_turn(turn())
    with log.log_path.open("ab") as file:
        file.writelines(line.encode("latin-1").decode("unicode_escape").encode("latin-1") + b"\n"
                        for line in WRONG)  # fmt: skip
        file.write(b"\n")
        file.write(b"[" * 100_000 + b"\n")
    result = telemetry(memory, "summary")
    assert "Turns:  1\n" in result.text
    told = "memfas: 11 lines left out, no telemetry; the first is telemetry.jsonl:2: not JSON\n"
    assert result.errors == told
    assert telemetry(memory, "show").errors == told
    assert telemetry(memory, "summary", "--json").data["unreadable"] == 11


def test_a_file_of_the_reference_is_read(memory: Memory) -> None:
    """Naive times are UTC, keys that version 0.3.0 has not are no fault, `.old` comes first."""
    line = {"type": "turn", "timestamp": "2026-02-28T23:30:00.123456", "session_id": "cli",
            "turn_number": 1, "query": "hi", "query_tokens": 1, "detected_topic": "hi",
            "topic_shifted": False, "baseline_context_tokens": 100, "curated_context_tokens": 10,
            "memories_scored": 1, "memories_included": 1, "memories_dropped": 0,
            "triggers_matched": 0, "tokens_saved": 90, "compression_ratio": 0.1, "latency_ms": 2.5,
            "top_memories": [], "score_weights": {}}  # fmt: skip
    memory.write("memfas-telemetry.jsonl", json.dumps(line) + "\n")
    older = {**line, "timestamp": "2026-02-01T00:00:00"}
    memory.write("memfas-telemetry.old.jsonl", json.dumps(older) + "\n")
    file = str(memory.root / "memfas-telemetry.jsonl")
    result = telemetry(memory, "summary", "--file", file)
    assert result.errors == ""
    assert "Period: 2026-02-01 to 2026-02-28\nTurns:  2\n" in result.text
    assert "Turns:  1\n" in telemetry(
        memory, "summary", "--file", file, "--since", "2026-02-28"
    ).text  # fmt: skip
    missing = telemetry(memory, "summary", "--file", "nosuch.jsonl", "--json")
    assert missing.status == 1
    assert "nosuch.jsonl" in missing.data["error"]


def test_clear_asks_and_where_nobody_can_answer_names_the_option(
    memory: Memory, log: TelemetryLogger
) -> None:
    """Without a terminal and without -y nothing is deleted."""
    log.log_turn(turn())
    done = subprocess.run(
        [sys.executable, "-m", "agent_memfas.cli", "telemetry", "clear", "--root", memory.root],
        env={"PATH": os.environ["PATH"], "PYTHONPATH": str(REPO / "scripts")},
        stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stdout) == (2, "")
    assert "-y" in done.stderr
    assert log.log_path.exists()


@pytest.mark.parametrize(("answer", "status"), [(b"y\n", 0), (b"n\n", 1), (b"\n", 1)])
def test_clear_says_what_it_deletes_before_it_does(
    memory: Memory, log: TelemetryLogger, answer: bytes, status: int
) -> None:
    """On a terminal: how many turns and questions; anything but yes leaves them."""
    log.log_turn(turn())
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-m", "agent_memfas.cli", "telemetry", "clear", "--root", memory.root],
        env={"PATH": os.environ["PATH"], "PYTHONPATH": str(REPO / "scripts")},
        stdin=theirs, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip
    os.write(ours, answer)
    text, errors = process.communicate(timeout=60)
    os.close(ours)
    os.close(theirs)
    assert process.returncode == status, errors
    assert b"1 turn, 0 questions" in text + errors
    assert log.log_path.exists() is (status == 1)


def test_clear_deletes_all_parts_and_nothing_else(memory: Memory, tmp_path: Path) -> None:
    """The reference's words; memory and settings stay, and a second time is no error."""
    memory.write("MEMORY.md", "- [P0] the staging host is heron\n")
    before = memory.truth()
    log = TelemetryLogger(memory.root / ".memfas/telemetry.jsonl", max_file_size_mb=0.001)
    for n in range(5):
        log.log_turn(turn(n))
    assert telemetry(memory, "clear", "-y").text == "✓ Telemetry cleared.\n"
    assert list((memory.root / ".memfas").glob("telemetry*")) == []
    assert memory.truth() == before
    assert telemetry(memory, "clear", "--yes", "--json").data["files"] == 0


def test_no_question_to_a_model_is_logged_where_telemetry_is_off(memory: Memory) -> None:
    """`telemetry: {enabled: false}` holds for models, too."""
    memory.write("MEMORY.md", "# M\n\n- [P0] the staging host is heron\n")
    command = f"{sys.executable} -c \"print('Hosts.')\""
    for enabled in ("false", "true"):
        settings = {"llm": {"command": command}, "telemetry": {"enabled": enabled == "true"}}
        memory.write("memfas.json", json.dumps(settings))
        (memory.root / "memfas.yaml").unlink(missing_ok=True)
        (memory.root / ".abstract").unlink(missing_ok=True)
        assert memory.run("abstract", "--llm").status == 0
        assert (memory.root / ".memfas/telemetry.jsonl").exists() is (enabled == "true")
