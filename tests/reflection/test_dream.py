"""`memfas dream`: the whole night in its order, whatever one of its steps runs into."""

from __future__ import annotations

import fcntl
import os
import re
import signal
import subprocess
import sys
from collections import Counter
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from commandline import REPO
from faults.disks import in_memory
from inputs.memory import CONFIG, TODAY, Memory, Result, start
from reflection.support import LOG, MARK, pending

STEPS = ["flush check", "compound", "promote", "janitor", "abstracts", "index"]
OLD = "- [P2][2025-01-01] the old staging host was called egret\n"
MEMORY = f"# Memory\n\n{OLD}- [P0] the staging host is heron\n"
DAYS = ["2026-02-22", "2026-02-24", "2026-02-27"]


def dream(memory: Memory, *arguments: str) -> Result:
    """`memfas dream` on a fixed day."""
    return memory.run("dream", "--today", TODAY, *arguments)


def steps(result: Result) -> dict[str, str]:
    """How each step of a night ended."""
    return {step["step"]: step["status"] for step in result.data["steps"]}


def detail(result: Result, name: str) -> dict[str, Any]:
    """What one step says."""
    (found,) = [step["detail"] for step in result.data["steps"] if step["step"] == name]
    assert isinstance(found, dict)
    return found


def fill(memory: Memory, config: str = "compounding: {threshold: 1}\n") -> Memory:
    """A folder with something to do for each step."""
    memory.write("memfas.yaml", CONFIG + config)
    memory.write("MEMORY.md", MEMORY)
    for day in DAYS:
        memory.write(f"memory/{day}.md", LOG.replace("2026-02-24", day))
    return memory


@pytest.fixture
def full(agent: Memory) -> Memory:
    return fill(agent)


def is_whole(memory: Memory) -> None:
    """Each log has its mark once, its block once; the old entry is in one place; all insights stand."""
    blocks = Counter(
        re.findall(
            r"^<!-- compounded: (\S+) ", memory.read("insights/2026-02.md").decode(), re.MULTILINE
        )
    )
    assert blocks == {f"memory/{day}.md#L1-L8": 1 for day in DAYS}
    for day in DAYS:
        assert memory.read(f"memory/{day}.md").decode() == LOG.replace("2026-02-24", day) + MARK
    assert memory.read().decode() == MEMORY.replace(OLD, "")
    assert memory.archive_entries == OLD.encode()
    assert memory.run("verify", "--json").status == 0
    assert pending(memory) == []


def test_the_steps_in_their_order(full: Memory) -> None:
    """Check, compound, propose, expire, describe, index: each says what it has done."""
    night = dream(full, "--json")
    assert night.status == 0, night.everything
    assert [step["step"] for step in night.data["steps"]] == STEPS
    assert set(steps(night).values()) == {"done", "nothing to do"}
    assert {name for name, status in steps(night).items() if status == "done"} == set(STEPS[1:])
    assert detail(night, "compound")["due"] is True
    proposals = detail(night, "promote")["proposals"]
    assert proposals[0]["path"] == "insights/2026-02.md"
    assert detail(night, "janitor")["moved"][0]["text"] == "the old staging host was called egret"
    assert ".abstract" in detail(night, "abstracts")["written"]
    assert detail(night, "index")["changed"] > 3
    is_whole(full)
    found = full.run("recall", "--json", "Which database did we choose?").data
    assert any(hit["path"].startswith("insights/") for hit in found["hits"])


def test_the_report_stands_in_a_file(full: Memory) -> None:
    """One a day, this night's behind that of the one before; the same text is printed."""
    first = dream(full)
    assert first.status == 0
    path = full.root / f".memfas/dreams/{TODAY}.md"
    assert path.read_text() == first.text
    second = dream(full, "--json").data
    assert second["report"] == f".memfas/dreams/{TODAY}.md"
    text = path.read_text()
    assert text.startswith(first.text.rstrip("\n"))
    assert text.count("## memfas dream, ") == 2
    for name in STEPS:
        assert f"- {name}: " in text


def test_a_second_night_has_nothing_to_do(full: Memory) -> None:
    """Not one byte of the folder changes but in `.memfas`."""
    dream(full)
    before = full.truth()
    again = dream(full, "--json")
    assert again.status == 0
    assert {name for name, status in steps(again).items() if status == "done"} <= {"promote"}
    assert full.truth() == before


def test_an_empty_folder(agent: Memory) -> None:
    """No MEMORY.md, no logs: what can be said is said, nothing is made up."""
    before = {name: data for name, data in agent.truth().items() if ".abstract" not in name}
    night = dream(agent, "--json")
    assert [step["step"] for step in night.data["steps"]] == STEPS
    assert steps(night)["compound"] == "nothing to do"
    assert {n: d for n, d in agent.truth().items() if ".abstract" not in n} == before


def test_a_dry_run_changes_no_byte(full: Memory) -> None:
    """It tells what would be reflected on, expire and be written; there is no report."""
    before = full.truth()
    shown = dream(full, "--dry-run")
    assert shown.status == 0
    for words in ("[DRY RUN]", "would reflect on memory/2026-02-22.md#L1-L8", "egret", ".abstract"):
        assert words in shown.text
    data = dream(full, "--dry-run", "--json").data
    assert (data["dry_run"], data["report"]) == (True, None)
    assert full.truth() == before
    assert not (full.root / ".memfas/dreams").exists()
    assert not (full.root / "archive").exists()


def test_what_is_not_due_waits(agent: Memory) -> None:
    """The logs wait, the rest of the night is done, and it is told how far it is."""
    fill(agent, "compounding: {threshold: 1000, after_days: 30}\n")
    night = dream(agent, "--json")
    assert steps(night)["compound"] == "nothing to do"
    assert detail(night, "compound")["due"] is False
    assert len(pending(agent)) == len(DAYS)
    assert steps(night)["janitor"] == "done"
    assert "not due: importance" in dream(agent).text


def test_a_work_buffer_that_is_in_no_log_is_named(full: Memory) -> None:
    """It is newer than every log; what nobody has confirmed for days is named, too."""
    state = full.write(
        "SESSION-STATE.md", "# State\n\n## Task\n\n- move billing\n\n## To confirm\n\n- the port\n"
    )
    for path in full.root.glob("memory/*.md"):
        os.utime(path, (state.stat().st_mtime - 3600,) * 2)
    assert "SESSION-STATE.md is newer than every log" in dream(full).text
    old = datetime.fromisoformat(f"{TODAY}T00:00").timestamp() - 5 * 86_400
    os.utime(state, (old, old))
    text = dream(full).text
    assert "is newer than" not in text
    assert "nobody has confirmed: the port" in text


@pytest.mark.parametrize("lock", ["dream.lock"])
def test_two_nights_at_once(full: Memory, lock: str) -> None:
    """The second ends at once with status 75 and changes nothing."""
    (full.root / ".memfas").mkdir(exist_ok=True)
    before = full.truth()
    with (full.root / ".memfas" / lock).open("w") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        night = dream(full, "--json")
    assert night.status == 75
    assert night.data["error"]
    assert full.truth() == before
    assert dream(full).status == 0
    is_whole(full)


def test_two_nights_that_begin_together(full: Memory) -> None:
    """For real: one does it all, the other has status 75, or comes late and finds nothing to do."""
    environment = {**os.environ, "PYTHONPATH": f"{REPO / 'scripts'}"}
    command = [
        sys.executable,
        "-m",
        "agent_memfas.cli",
        "dream",
        "--root",
        str(full.root),
        "--today",
        TODAY,
    ]
    nights = [
        subprocess.Popen(
            command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        for _ in range(3)
    ]
    ended = sorted(night.wait(timeout=120) for night in nights)
    assert ended[0] == 0
    assert set(ended) <= {0, 75}
    is_whole(full)


def test_a_safety_stop_of_the_janitor(full: Memory) -> None:
    """Status 4, nothing expires; the logs have their insights and the index is in step."""
    many = "".join(f"- [P2][2020-01-01] old entry number {n}\n" for n in range(30))
    full.write("MEMORY.md", f"# Memory\n\n{many}")
    night = dream(full, "--json")
    assert night.status == 4
    assert steps(night)["janitor"] == "failed"
    assert [steps(night)[name] for name in ("compound", "abstracts", "index")] == ["done"] * 3
    assert full.read().decode() == f"# Memory\n\n{many}"
    assert pending(full) == []
    assert "would expire at once" in dream(full).errors


BROKEN = {
    "llm: {model: none-such/at-all}\n": 3,
    "llm: {command: 'false'}\n": 1,
    "llm: {command: /no/such/program}\n": 3,
    "llm: {command: 'echo nonsense'}\n": 1,
    'llm: {model: x, base_url: "http://127.0.0.1:9/v1", timeout: 2}\n': 75,
}


@pytest.mark.parametrize("llm", BROKEN)
def test_a_model_that_does_not_work_stops_no_other_step(agent: Memory, llm: str) -> None:
    """The logs wait for another night; the rest is done, and the status tells."""
    fill(agent, f"compounding: {{threshold: 1}}\n{llm}")
    night = dream(agent, "--json")
    assert night.status != 0, night.everything
    assert steps(night)["compound"] == "failed"
    assert steps(night)["janitor"] == "done"
    assert steps(night)["index"] == "done"
    assert agent.read("memory/2026-02-24.md").decode() == LOG
    assert len(pending(agent)) == len(DAYS)
    assert "Traceback" not in night.everything


def test_one_log_that_cannot_be_read(full: Memory) -> None:
    """It is left alone; the others are done."""
    path = full.root / "memory/2026-02-24.md"
    path.unlink()
    path.mkdir()
    night = dream(full, "--json")
    assert steps(night)["index"] == "done"
    assert full.read("insights/2026-02.md").count(b"<!-- compounded: ") == 2


def test_a_folder_that_cannot_be_written(
    full: Memory, as_root: None, as_anybody: list[str]
) -> None:
    """Every step is tried, none is torn, and the status is not 0; afterwards all is made up for."""
    before = full.truth()
    for path in (full.root, full.root / "memory"):
        path.chmod(0o555)
    for name in before:
        (full.root / name).chmod(0o444)
    command = [
        *as_anybody,
        sys.executable,
        "-m",
        "agent_memfas.cli",
        "dream",
        "--root",
        str(full.root),
    ]
    night = start([*command, "--today", TODAY])
    assert night.returncode not in (0, 70), night.stdout
    assert b"Traceback" not in night.stderr
    assert full.truth() == before
    for path in [full.root, full.root / "memory", *(full.root / name for name in before)]:
        path.chmod(0o755)
    assert dream(full).status == 0
    is_whole(full)


@pytest.mark.parametrize("pages", range(0, 12, 2))
def test_a_full_disk(tmp_path: Path, as_root: None, pages: int) -> None:
    """With so many pages left: no block or mark is torn; once there is room, all is made up for."""
    with in_memory(tmp_path / "disk", "size=512k") as at:
        memory = fill(Memory(at / "agent"))
        ballast = at / "ballast"
        with ballast.open("wb", buffering=0) as handle:
            try:
                while handle.write(b"x" * 4096):
                    pass
            except OSError:
                handle.truncate(max(0, handle.tell() - pages * 4096))
        night = dream(memory)
        assert night.status != 70, night.everything
        ballast.unlink()
        for day in DAYS:
            log = memory.read(f"memory/{day}.md").decode()
            assert log in (LOG.replace("2026-02-24", day), LOG.replace("2026-02-24", day) + MARK)
        assert dream(memory).status == 0
        is_whole(memory)


def test_killed_at_any_change(tmp_path: Path, agent: Memory) -> None:
    """Killed (-9) before one of its changes, all over the night: the next night finishes; no line is lost,
    no block and no mark comes twice."""
    environment = {"PYTHONPATH": f"{REPO / 'scripts'}:{REPO / 'tests'}"}

    def night(memory: Memory, number: int) -> subprocess.CompletedProcess[bytes]:
        return start(
            [sys.executable, "-m", "reflection.dying", str(number), "dream", "--root", str(memory.root), "--today", TODAY],
            env=environment,
        )  # fmt: skip

    whole = night(fill(agent), 0)
    assert whole.returncode == 0, whole.stderr
    is_whole(agent)
    total = int(whole.stderr.split()[-1])
    assert total > 60
    for number in range(1, total, total // 20):
        memory = fill(Memory(tmp_path / f"killed-{number}"))
        assert night(memory, number).returncode == -signal.SIGKILL
        for day in DAYS:
            log = memory.read(f"memory/{day}.md").decode()
            assert log in (LOG.replace("2026-02-24", day), LOG.replace("2026-02-24", day) + MARK)
        assert OLD.encode() in memory.read() + memory.archived
        after = dream(memory)
        assert after.status == 0, (number, after.everything)
        is_whole(memory)


WRONG = [["--today", "tomorrow"], ["--force"], ["--dryrun"], ["now"]]


@pytest.mark.parametrize("arguments", WRONG, ids=" ".join)
def test_what_is_wrong_does_nothing(full: Memory, arguments: list[str]) -> None:
    """Status 2 and a sentence; no night begins."""
    before = full.truth()
    result = full.run("dream", *arguments)
    assert result.status == 2
    assert "Traceback" not in result.everything
    assert full.truth() == before
    assert not (full.root / ".memfas/dreams").exists()


def test_settings_that_are_wrong(full: Memory) -> None:
    """Status 3 before anything is done; as an object, too."""
    full.write("memfas.yaml", "compounding: {threshhold: 3}\n")
    before = full.truth()
    result = dream(full, "--json")
    assert result.status == 3
    assert "threshold" in result.data["error"] + result.data["remedy"]
    assert full.truth() == before


def test_a_folder_that_never_had_a_memory_file(full: Memory) -> None:
    """Logs alone are a memory folder: the janitor has nothing to do, and no night fails for it."""
    (full.root / "MEMORY.md").unlink()
    night = dream(full, "--json")
    assert night.status == 0, night.everything
    assert steps(night)["janitor"] == "nothing to do"


def test_a_memory_file_that_has_gone(full: Memory) -> None:
    """Where there was one, it is a safety stop, and nothing is made in its place."""
    dream(full)
    (full.root / "MEMORY.md").unlink()
    night = dream(full, "--json")
    assert night.status == 4
    assert steps(night)["janitor"] == "failed"
    assert not (full.root / "MEMORY.md").exists()
