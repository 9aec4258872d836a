"""A warm process that forks one child for each pass, under strace if wanted.

A cold start costs a quarter of a second, thousands of passes cost a quarter of an hour. The zygote
has imported the janitor already: its child is at work, and traced, within milliseconds, and no call
of the interpreter's own start disturbs the numbering of calls.

Requests and answers are JSON, one a line: see `start` and `wait`. Run by `warm.Warm`.
"""

from __future__ import annotations

import ctypes
import json
import os
import resource
import select
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from . import folders, janitors

PR_SET_PTRACER = 0x59616D61


def child(kind: str, request: dict[str, Any], gate: int) -> int:
    """In the fork: wait for the word to go, then be the janitor; the exit status."""
    for number, name in ((1, "out"), (2, "err")):
        file = os.open(request[name], os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        os.dup2(file, number)
    # Where a process may only be traced by its parent, this lets a sibling do it.
    ctypes.CDLL(None).prctl(PR_SET_PTRACER, ctypes.c_ulong(-1), 0, 0, 0)
    if request.get("file_limit") is not None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (request["file_limit"],) * 2)
    if request.get("uid"):
        os.setgroups([])
        os.setgid(request["uid"])
        os.setuid(request["uid"])
    select.select([gate], [], [])
    os.close(gate)
    status = janitors.call(kind, request["argv"])
    sys.stdout.flush()
    sys.stderr.flush()
    return status


def attach(pid: int, request: dict[str, Any]) -> subprocess.Popen[bytes]:
    """Start strace on the child and wait until it holds it."""
    argv = ["strace", "-f", "-y", "-p", str(pid), "-o", request["log"], *request["strace"]]
    tracer = subprocess.Popen(argv, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL)
    assert tracer.stderr is not None
    said = tracer.stderr.readline().decode()
    if "attached" not in said:
        os.kill(pid, signal.SIGKILL)
        raise RuntimeError(f"strace: {said}")
    return tracer


class Zygote:
    """One child at a time."""

    def __init__(self, kind: str) -> None:
        self.kind = kind
        self.pid = 0
        self.tracer: subprocess.Popen[bytes] | None = None

    def warm_up(self) -> None:
        """One whole pass on a folder of its own, so that everything is imported."""
        with tempfile.TemporaryDirectory() as name:
            root = Path(name)
            folders.build(root)
            janitors.call(self.kind, janitors.options(root))
            janitors.hasten()
            janitors.call(self.kind, janitors.options(root))

    def start(self, request: dict[str, Any]) -> dict[str, Any]:
        """{argv, out, err, strace?, log?, uid?, file_limit?} -> {pid}: the pass is under way."""
        gate, go = os.pipe()
        self.pid = os.fork()
        if self.pid == 0:
            status = 1
            try:
                os.close(go)
                status = child(self.kind, request, gate)
            finally:
                os._exit(status)
        os.close(gate)
        if request.get("strace"):
            self.tracer = attach(self.pid, request)
        os.write(go, b"!")
        os.close(go)
        return {"pid": self.pid}

    def wait(self, request: dict[str, Any]) -> dict[str, Any]:
        """{timeout} -> {status}: negative for a signal, null when it had to be ended."""
        deadline = time.monotonic() + request["timeout"]
        late = False
        while True:
            pid, code = os.waitpid(self.pid, os.WNOHANG)
            if pid:
                break
            if time.monotonic() > deadline:
                late = True
                os.kill(self.pid, signal.SIGKILL)
            time.sleep(0.0005)
        if self.tracer is not None:
            self.tracer.communicate()
            self.tracer = None
        return {"status": None if late else os.waitstatus_to_exitcode(code)}


def serve(kind: str) -> None:
    """Answer requests until stdin ends."""
    answers = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(2, 1)
    zygote = Zygote(kind)
    zygote.warm_up()
    print(json.dumps({"ready": True}), file=answers)
    for line in sys.stdin:
        request = json.loads(line)
        try:
            answer = getattr(zygote, request["op"])(request)
        except (OSError, RuntimeError) as error:
            answer = {"error": str(error)}
        print(json.dumps(answer), file=answers)
