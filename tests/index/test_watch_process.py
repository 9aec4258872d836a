"""`memfas watch` as a process: one at a time, ended by a signal, seen from outside, or run once."""

from __future__ import annotations

import json
import os
import plistlib
import shutil
import signal
import sqlite3
import subprocess
import sys
from configparser import ConfigParser
from contextlib import closing
from pathlib import Path

import pytest

from agent_memfas.store import heartbeat
from agent_memfas.store.locks import is_held
from commandline import REPO

from .watchers import environment, run, wait_in_step, wait_until, watching


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A small memory folder."""
    folder = tmp_path / "agent"
    (folder / "memory").mkdir(parents=True)
    (folder / "MEMORY.md").write_text("- [P0] The staging host is called heron\n")
    (folder / "memory/2026-02-24.md").write_text("# Tuesday\n\n- moved staging\n")
    return folder


def test_there_is_one_watcher(root: Path) -> None:
    """A second one ends at once with "try again" and says who watches; the first goes on."""
    with watching(root) as first, watching(root, ready=False) as second:
        assert second.process.wait(60) == 75
        assert f"pid {first.process.pid}" in second.said()
        assert "watching since" in second.said()
        first.append("MEMORY.md")
        wait_in_step(root)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_a_signal_ends_it_cleanly(root: Path, number: int) -> None:
    """It ends with status 0, without a word, and leaves neither lock nor heartbeat."""
    with watching(root) as watcher:
        assert watcher.end(number) == 0
        assert watcher.said().count("\n") == 1
        assert sorted(p.name for p in (root / ".memfas").iterdir()) == ["index.db", "index.db.lock"]


def test_a_signal_ends_the_first_reading(root: Path) -> None:
    """I need not wait until thousands of files are read: it stops, and leaves nothing behind."""
    for n in range(3000):
        (root / f"memory/{n}.md").write_text("- a note of the heron\n\n" * 8)
    with watching(root, ready=False) as watcher:
        wait_until(lambda: list(root.glob(".memfas/index.db.*.tmp")), "it has begun to read")
        assert watcher.end() == 0
        assert watcher.said() == ""
        assert list(root.glob(".memfas/*.tmp*")) == []
        assert not (root / ".memfas/watch.lock").exists()


def test_a_dead_watcher_is_not_taken_for_a_living_one(root: Path) -> None:
    """Killed, it leaves its files; nobody believes them, and another one can begin."""
    home = root / ".memfas"
    with watching(root) as watcher:
        beat = heartbeat.read([home])
        assert beat is not None
        assert beat.pid == watcher.process.pid
        assert heartbeat.describe(beat).startswith(f"watching since {beat.since}")
        assert watcher.end(signal.SIGKILL) == -signal.SIGKILL
    assert (home / heartbeat.FILE).exists()
    assert heartbeat.read([home]) is None
    with watching(root) as watcher:
        watcher.append("MEMORY.md")
        wait_in_step(root)


def test_the_heartbeat_tells_what_happened(root: Path) -> None:
    """From outside I see since when it watches, and when it last heard, read and compared."""
    with watching(root) as watcher:
        wait_until(lambda: watcher.beat().get("last_reconcile"), "the first reconcile")
        assert watcher.beat()["last_event"] == ""
        watcher.append("memory/new.md")
        wait_until(lambda: watcher.beat()["last_event"], "an event")
        wait_until(lambda: watcher.beat()["files"] == 3, "the new file")
        beat = watcher.beat()
        assert beat["how"] == "events"
        assert beat["behind"] == 0
        assert str(beat["since"]) <= str(beat["last_event"]) <= str(beat["last_sync"])


def test_a_program_can_follow_it(root: Path) -> None:
    """With --json each message is one object with the heartbeat in it."""
    with watching(root, "--json", ready=False) as watcher:
        watcher.wait_said("}\n")
        first = json.loads(watcher.said().splitlines()[0])
        assert first["schema"] == 1
        assert first["message"].startswith("watching ")
        assert first["pid"] == watcher.process.pid


def test_once_compares_everything_and_ends(root: Path) -> None:
    """`--once`, for cron: it reads every file, says how many were not as the index had them, and
    the second time none are."""
    first = run("watch", "--once", "--root", str(root))
    assert first.stdout == "2 files read, 2 changed, 2 in the index\n"
    assert first.returncode == 0
    with closing(sqlite3.connect(root / ".memfas/index.db")) as connection, connection:
        connection.execute("update files set hash = x'00' where path = cast('MEMORY.md' as blob)")
    second = run("watch", "--once", "--root", str(root), "--json")
    assert json.loads(second.stdout) == {"schema": 1, "files": 2, "read": 2, "changed": 1}
    third = run("watch", "--once", "--root", str(root))
    assert third.stdout == "2 files read, 0 changed, 2 in the index\n"
    wait_in_step(root)


def test_once_says_when_it_cannot(root: Path, tmp_path: Path) -> None:
    """No folder is a wrong configuration; an index that another process holds is "try again"."""
    assert run("watch", "--once", "--root", str(tmp_path / "nowhere")).returncode == 3
    (root / ".memfas").mkdir()
    flock = ["flock", str(root / ".memfas/index.db.lock"), "sleep", "60"]
    with subprocess.Popen(flock) as holder:
        try:
            wait_until(lambda: is_held(root / ".memfas/index.db.lock"), "the lock is held")
            done = run("watch", "--once", "--root", str(root))
        finally:
            holder.kill()
    assert done.returncode == 75
    assert "another process is writing the index" in done.stderr


def limited(limit: int) -> list[str]:
    """What to put before a command so that it may watch few folders only."""
    script = f'echo {limit} > /proc/sys/user/max_inotify_watches && exec "$0" "$@"'
    prefix = ["unshare", "-Ur", "sh", "-c", script]
    if shutil.which("unshare") and subprocess.run([*prefix, "true"], check=False).returncode == 0:
        return prefix
    # No user namespaces here: the same answer, given by the module that asks the system.
    program = (
        "import ctypes, runpy, sys\n"
        "from watchdog.observers import inotify_c\n"
        "real, calls = inotify_c.inotify_add_watch, []\n"
        "def add(*asked):\n"
        "    calls.append(1)\n"
        f"    if len(calls) <= {limit}: return real(*asked)\n"
        "    ctypes.set_errno(28)\n"
        "    return -1\n"
        "inotify_c.inotify_add_watch = add\n"
        "sys.argv = sys.argv[sys.argv.index('agent_memfas.cli'):]\n"
        "runpy.run_module('agent_memfas.cli', run_name='__main__', alter_sys=True)\n"
    )
    return [sys.executable, "-c", program]


def test_the_limit_of_watches_is_no_end(root: Path) -> None:
    """Where the system lets me watch three folders and there are twenty, it says so and looks by
    itself; whatever changes where nothing is watched is found."""
    for n in range(20):
        (root / f"memory/d{n}").mkdir()
    with watching(root, prefix=limited(3)) as watcher:
        assert "looking again and again" in watcher.said()
        assert "max_user_watches" in watcher.said()
        watcher.append("memory/d19/far.md")
        wait_in_step(root)
        assert watcher.beat()["how"] == "polling"


def test_the_unit_for_systemd_is_valid(tmp_path: Path) -> None:
    """I copy the unit, put my paths in, and systemd has nothing to say against it."""
    text = (REPO / "templates/memfas-watch.service").read_text(encoding="utf-8")
    unit = ConfigParser(strict=False, interpolation=None)
    unit.optionxform = str  # type: ignore[assignment, method-assign]
    unit.read_string(text)
    command = unit["Service"]["ExecStart"].split()
    assert command[1:] == ["watch", "--root", "%h/my-agent"]
    assert unit["Install"]["WantedBy"] == "default.target"
    placed = tmp_path / "memfas-watch.service"
    placed.write_text(text.replace(command[0], sys.executable), encoding="utf-8")
    if shutil.which("systemd-analyze"):
        done = subprocess.run(
            ["systemd-analyze", "verify", "--user", str(placed)],
            capture_output=True, text=True, check=False,
            env=environment(XDG_RUNTIME_DIR=str(tmp_path), HOME=str(tmp_path)),
        )  # fmt: skip
        assert "memfas-watch" not in done.stderr, done.stderr


def test_the_agent_for_launchd_is_valid() -> None:
    """The plist is one that macOS can read, and starts the same command."""
    agent = plistlib.loads((REPO / "templates/com.memfas.watch.plist").read_bytes())
    assert agent["Label"] == "com.memfas.watch"
    assert os.path.basename(agent["ProgramArguments"][0]) == "memfas"
    assert agent["ProgramArguments"][1:3] == ["watch", "--root"]
    assert agent["RunAtLoad"] is True
