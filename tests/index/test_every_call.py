"""Each call that touches the index file or its folder fails once, or is the process's last."""

from __future__ import annotations

import ctypes
import json
import os
import shutil
import signal
import subprocess
import time
import warnings
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from inputs.memory import Memory

from .support import INDEX, ask, in_step, texts

PR_SET_PTRACER = 0x59616D61
WRITING = {"pwrite64", "ftruncate", "fdatasync", "fsync", "unlink", "rename", "mkdir", "write"}
QUESTION = "ibis crow day 1"
SCENES = ["first build", "update", "no change"]


@dataclass(frozen=True)
class Traced:
    """A recall that was traced. status: negative for a signal."""

    status: int
    out: str
    err: str
    calls: list[str]


@pytest.fixture(scope="module", autouse=True)
def strace() -> None:
    """Skip where calls cannot be traced."""
    if shutil.which("strace") is None:
        pytest.skip("needs strace")
    if subprocess.run(["strace", "-o", "/dev/null", "true"], check=False).returncode:
        pytest.skip("needs strace (ptrace is forbidden here)")


@pytest.fixture
def memory() -> Iterator[Memory]:
    """A memory folder on a disk that need not be waited for."""
    base = Path("/dev/shm" if os.access("/dev/shm", os.W_OK) else "/tmp") / f"memfas-{os.getpid()}"
    memory = Memory(base / "agent")
    yield memory
    shutil.rmtree(base)


def stage(memory: Memory, scene: str) -> None:
    """A folder just before the recall of a scene."""
    if scene == "no change" and memory.root.exists():
        return
    shutil.rmtree(memory.root, ignore_errors=True)
    for n in range(3):
        memory.write(f"memory/n{n}.md", f"- the crow of day {n}\n")
    if scene != "first build":
        ask(memory, "crow")
    if scene == "no change":
        time.sleep(0.03)  # until the files are old enough to be believed
        ask(memory, "crow")
    else:
        memory.write("memory/n1.md", "- the ibis of day 1\n")


def recall(memory: Memory, *options: str) -> Traced:
    """Recall in a fork of this process, which has loaded everything, under strace."""
    state, base = memory.root / ".memfas", memory.root.parent
    log, ready, go = base / "log", *os.pipe()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # a fork beside threads
        child = os.fork()
    if child == 0:
        try:
            for number, name in ((1, "out"), (2, "err")):
                os.dup2(os.open(base / name, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), number)
            ctypes.CDLL(None).prctl(PR_SET_PTRACER, ctypes.c_ulong(-1), 0, 0, 0)
            os.close(go)
            os.read(ready, 1)
            result = memory.run("recall", "--json", "--within", "0", QUESTION)
            os.write(1, result.raw)
            os.write(2, result.errors.encode())
            os._exit(result.status)
        finally:
            os._exit(99)
    os.close(ready)
    paths = [state, *(f"{memory.root / INDEX}{end}" for end in ("", "-journal", ".lock"))]
    argv = ["strace", "-y", "-p", str(child), "-o", log, *options]
    argv += [word for path in paths for word in ("-P", path)]
    with subprocess.Popen(argv, stderr=subprocess.PIPE) as tracer:
        assert tracer.stderr is not None
        said = b""
        while b"attached" not in said:
            said = tracer.stderr.readline()
            assert said, "strace ended"
        os.write(go, b"!")
        os.close(go)
        status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        tracer.communicate()
    lines = [line for line in log.read_text(errors="replace").splitlines() if "(" in line]
    out, err = ((base / name).read_text() for name in ("out", "err"))
    return Traced(status, out, err, lines)


def faults(name: str) -> tuple[str, ...]:
    """What may befall a call: EACCES where a name is opened, ENOSPC where it writes."""
    if name in WRITING:
        return ("EIO", "ENOSPC", "KILL")
    return ("EIO", "EACCES") if name == "openat" else ("EIO",)


def points(calls: list[str]) -> list[tuple[str, int]]:
    """(name, number among its namesakes), of calls that are not the same again and again; of the
    many that write pages every third."""
    count, seen, found = Counter[str](), set[str](), []
    for line in calls:
        name = line.partition("(")[0]
        count[name] += 1
        what = line if name in WRITING else f"{name}{line.partition('<')[2].partition('>')[0]}"
        if what not in seen and (name != "pwrite64" or count[name] % 3 == 1):
            found.append((name, count[name]))
        seen.add(what)
    return found


@pytest.mark.parametrize("scene", SCENES)
def test_a_fault_at_any_call_is_no_fault_of_the_answer(memory: Memory, scene: str) -> None:
    """The disk breaks, is full or closed, or the process is killed, at each call in turn: the
    answer is right (or there is none, of the killed one), and the next one is, from an index that
    is equal to a fresh one."""
    stage(memory, scene)
    right = texts(ask(memory, QUESTION, "--no-index"))
    calm = recall(memory)
    assert texts(json.loads(calm.out)) == right
    report, number = list[str](), 0
    for name, at in points(calm.calls):
        for fault in faults(name):
            stage(memory, scene)
            how = "signal=KILL" if fault == "KILL" else f"error={fault}"
            ended = recall(memory, "-e", f"inject={name}:{how}:when={at}")
            report += [f"{fault} at {name}#{at}: {text}" for text in wrong(memory, ended, right)]
            number += 1
    print(f"{scene}: {number} faults")
    assert number >= 5
    assert not report, "\n".join(report)


def wrong(memory: Memory, ended: Traced, right: list[str]) -> list[str]:
    """What is wrong with an answer, and with the next one."""
    found = []
    if ended.status == 0:
        found += judged(json.loads(ended.out), right)
    elif ended.status != -signal.SIGKILL:
        found.append(f"status {ended.status}: {ended.err}")
    answer = ask(memory, QUESTION)
    found += judged(answer, right)
    if answer["source"] != "index" or answer["notes"]:
        found.append(f"then: {answer['notes']}")
    found += in_step(memory.root)
    if left := [path.name for path in (memory.root / ".memfas").glob("*.tmp")]:
        found.append(f"left: {left}")
    return found


def judged(answer: dict[str, Any], right: list[str]) -> list[str]:
    """What is wrong with an answer."""
    if texts(answer) != right or not answer["fresh"]:
        return [f"{texts(answer)} of {answer['source']}, {answer['notes']}, and not {right}"]
    return []
