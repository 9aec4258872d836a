"""What agent hosts wait for: a cold hook, and an MCP server's first answers.

    python -m tests.benchmarks.hosts [--runs 15] [--logs 365]

Medians over processes of their own, as ratios to a bare `python -c "import sqlite3"`: `memfas hook`
for each event with a memory of so many daily logs (ten lines each) and a fresh index, and `memfas
mcp` over stdio: `initialize`, the first call and a second one.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from datetime import date, timedelta
from pathlib import Path
from typing import Any

SCRIPTS = Path(__file__).parents[2] / "scripts"
PYTHON = [sys.executable]
MEMFAS = [*PYTHON, "-m", "agent_memfas.cli"]
INITIALIZE = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
    "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "b", "version": "0"}}}  # fmt: skip
CALL = {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {
    "name": "memory_recall", "arguments": {"query": "Which host was restarted?"}}}  # fmt: skip
EVENTS: dict[str, dict[str, Any]] = {
    "SessionStart": {"source": "startup"}, "UserPromptSubmit": {"prompt": "Which host is staging?"},
    "PreCompact": {"trigger": "auto"}, "Stop": {}, "SessionEnd": {"reason": "other"},
}  # fmt: skip


def median(runs: int, work: Callable[[int], None]) -> float:
    """Milliseconds."""
    found = []
    for n in range(runs):
        began = time.perf_counter()
        work(n)
        found.append(1000 * (time.perf_counter() - began))
    return statistics.median(found)


def lay(root: Path, logs: int) -> None:
    """A memory of so many days."""
    (root / "memory").mkdir(parents=True)
    today = date.today()
    for n in range(logs):
        day = today - timedelta(days=n)
        lines = "".join(f"- {8 + k:02}:00 host{n * k % 97} was restarted by Anna, ticket {n}{k}\n"
                        for k in range(10))  # fmt: skip
        (root / f"memory/{day}.md").write_text(f"# {day}\n\n{lines}")
    (root / "MEMORY.md").write_text("- [P0] The staging host is heron\n- [P0] Timezone: US\n")


def hooks(root: Path, runs: int, bare: float, environment: dict[str, str]) -> None:
    """Each event, in a process of its own."""
    talk = root / "talk.jsonl"
    talk.write_text("".join(
        json.dumps({"type": role, "message": {"role": role, "content": f"message number {n}"}}) + "\n"
        for n in range(200) for role in ("user", "assistant")
    ))  # fmt: skip
    for event, own in EVENTS.items():

        def call(n: int, event: str = event, own: dict[str, Any] = own) -> None:
            given = {"session_id": f"{event}{n}", "cwd": str(root), "hook_event_name": event,
                     "transcript_path": str(talk), **own}  # fmt: skip
            subprocess.run([*MEMFAS, "hook", event], input=json.dumps(given).encode(),
                           stdout=subprocess.DEVNULL, env=environment, check=True)  # fmt: skip

        took = median(runs, call)
        print(f"hook {event:17} {took:6.0f} ms  {took / bare:5.1f} of a bare start")


def server(root: Path, runs: int, bare: float, environment: dict[str, str]) -> None:
    """From the start of the process to each answer."""
    found: list[list[float]] = []
    for _ in range(runs):
        began, times = time.perf_counter(), list[float]()
        with subprocess.Popen([*MEMFAS, "mcp", "--root", str(root)], stdin=-1, stdout=-1,
                              stderr=subprocess.DEVNULL, env=environment) as process:  # fmt: skip
            assert process.stdin is not None
            assert process.stdout is not None
            for message in (INITIALIZE, CALL, {**CALL, "id": 3}):
                process.stdin.write(json.dumps(message).encode() + b"\n")
                process.stdin.flush()
                process.stdout.readline()
                times.append(1000 * (time.perf_counter() - began))
            process.stdin.close()
        found.append([times[0], times[1] - times[0], times[2] - times[1]])
    for name, values in zip(("initialize", "first call", "second call"), zip(*found, strict=True),
                            strict=True):  # fmt: skip
        took = statistics.median(values)
        print(f"mcp {name:18} {took:6.0f} ms  {took / bare:5.1f} of a bare start")


def main() -> None:
    """Measure, and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=15)
    parser.add_argument("--logs", type=int, default=365)
    given = parser.parse_args()
    environment = {**os.environ, "PYTHONPATH": str(SCRIPTS)}
    with tempfile.TemporaryDirectory() as home:
        root = Path(home) / "agent"
        lay(root, given.logs)
        subprocess.run([*MEMFAS, "index", "--root", str(root)], env=environment, check=True,
                       stdout=subprocess.DEVNULL)  # fmt: skip
        bare = median(given.runs, lambda _: subprocess.run(
            [*PYTHON, "-c", "import sqlite3"], check=True) and None)  # fmt: skip
        print(f"bare start with sqlite3    {bare:6.0f} ms")
        hooks(root, given.runs, bare, environment)
        server(root, max(3, given.runs // 3), bare, environment)


if __name__ == "__main__":
    main()
