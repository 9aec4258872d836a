"""The near end of a zygote: start passes, wait for them, trace them."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .janitors import REPO, options

SERVE = "import sys; sys.path[:0] = sys.argv[2:]; from {package} import zygote; zygote.serve(sys.argv[1])"

# Calls that change what is on a disk, or who may. A `?` lets strace skip a name it has not.
BY_HANDLE = (
    "write pwrite64 writev pwritev ftruncate fallocate fsync fdatasync fchmod fchown fcntl flock"
).split()
BY_PATH = (
    "?open ?creat openat ?mkdir mkdirat ?rename ?renameat renameat2 ?link linkat ?symlink symlinkat"
    " ?unlink unlinkat ?rmdir ?chmod fchmodat ?chown fchownat truncate utimensat"
).split()
READING = "read pread64 ?newfstatat ?statx fstat getdents64 ?readlink readlinkat".split()
LINE = re.compile(r"^(?:\d+ +)?(?P<call>\w+)\((?P<rest>.*)$")


@dataclass(frozen=True)
class Ended:
    """How a pass ended. status: None if it hung and was killed, negative for a signal."""

    status: int | None
    out: str
    err: str


@dataclass(frozen=True)
class Point:
    """The `number`th (from 1) call of this name in a pass, and its line in the trace."""

    call: str
    number: int
    line: str

    def __str__(self) -> str:
        return f"{self.call}#{self.number}"


class Warm:
    """A zygote of one kind of janitor."""

    def __init__(self, kind: str) -> None:
        self.kind = kind
        self.scratch = tempfile.TemporaryDirectory(prefix="memfas-warm-")
        code = SERVE.format(package=__package__)
        roots = [str(REPO), str(REPO / "tests"), str(REPO / "scripts")]
        argv = [sys.executable, "-B", "-c", code, kind, *roots]
        pipe = subprocess.PIPE
        self.process = subprocess.Popen(argv, stdin=pipe, stdout=pipe, text=True, cwd="/")
        self.answer()

    def answer(self) -> dict[str, Any]:
        """The next answer; an error of the zygote's is one here."""
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        if not line:
            raise RuntimeError(f"the {self.kind} janitor could not be started")
        answer: dict[str, Any] = json.loads(line)
        if "error" in answer:
            raise RuntimeError(answer["error"])
        return answer

    def ask(self, **request: Any) -> dict[str, Any]:
        """One request, one answer."""
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps(request) + "\n")
        self.process.stdin.flush()
        return self.answer()

    def path(self, name: str) -> Path:
        """Where the last pass left `out`, `err` or `log`."""
        return Path(self.scratch.name) / name

    def start(self, root: Path, *more: str, strace: list[str] | None = None, **how: Any) -> int:
        """Begin a pass; its process id."""
        log = self.path("log")
        log.unlink(missing_ok=True)
        answer = self.ask(
            op="start",
            argv=options(root, *more),
            out=str(self.path("out")),
            err=str(self.path("err")),
            log=str(log),
            strace=strace,
            **how,
        )
        return int(answer["pid"])

    def wait(self, timeout: float = 20) -> Ended:
        """The end of the pass begun last; after `timeout` seconds it is killed."""
        status = self.ask(op="wait", timeout=timeout)["status"]
        out, err = (self.path(name).read_text(errors="replace") for name in ("out", "err"))
        return Ended(status, out, err)

    def run(self, root: Path, *more: str, **how: Any) -> Ended:
        """One whole pass."""
        self.start(root, *more, **how)
        return self.wait()

    def log(self) -> str:
        """The trace of the last pass."""
        return self.path("log").read_text(errors="replace")

    def stands_still(self, times: int) -> bool:
        """Wait until the pass is stopped for the nth time; False if it ended without coming there."""
        for _ in range(4000):
            log = self.log()
            if log.count("stopped by SIGSTOP") >= times:
                return True
            if "+++ exited" in log or "+++ killed" in log:
                return False
            time.sleep(0.001)
        return False

    def close(self) -> None:
        """End the zygote."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.close()
        self.process.wait()
        self.process.stdout.close()
        self.scratch.cleanup()


def points(log: str, root: Path, *, reading: bool = False) -> list[Point]:
    """The calls of a traced pass that aim at `root`, in order, numbered as strace counts them."""
    seen: dict[str, int] = {}
    result = []
    by_handle = {*BY_HANDLE, *(name.lstrip("?") for name in READING if reading)}
    for line in log.splitlines():
        match = LINE.match(line)
        if not match:
            continue
        call = match["call"]
        seen[call] = seen.get(call, 0) + 1
        first = match["rest"].partition(",")[0]
        aim = first if call in by_handle and re.match(r"\d+<", first) else match["rest"]
        if str(root) in aim:
            result.append(Point(call, seen[call], line))
    return result


def distinct(found: list[Point]) -> list[Point]:
    """Without those that only repeat an earlier call that changed nothing: the same stat of the
    same file, another mkdir of a folder that is there."""
    seen: set[tuple[str, str]] = set()
    result = []
    for point in found:
        idle = point.call.endswith(("stat", "statat", "statx")) or "= -1 E" in point.line
        key = point.call, re.sub(r"^\d+ +|\{.*\}|\.\d+-?\w*\.tmp", "", point.line)
        if not idle or key not in seen:
            result.append(point)
        seen.add(key)
    return result


def mutating(point: Point) -> bool:
    """Whether the call writes, makes, moves, removes or locks something (an open for reading: no)."""
    if point.call in {"open", "openat"}:
        return any(flag in point.line for flag in ("O_WRONLY", "O_RDWR", "O_CREAT", "O_TRUNC"))
    return not (point.call == "fcntl" and "F_SETLEASE" not in point.line)


def tracing(names: list[str]) -> list[str]:
    """Strace options that show just these calls."""
    return ["-e", "trace=" + ",".join(names), "-e", "signal=all"]


def injecting(names: list[str], point: Point, fault: str) -> list[str]:
    """Strace options that show these calls and spoil one: fault is `error=EIO`, `signal=KILL` ..."""
    return [*tracing(names), "-e", f"inject={point.call}:{fault}:when={point.number}"]
