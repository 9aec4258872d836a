"""Every system call of a janitor pass that touches the memory folder fails or dies once.

A pass is traced, its calls are numbered, and for each a fresh folder goes through a pass in which
just this call fails (ENOSPC, EIO, EACCES) or is the last one before kill -9. Then: a pass that
recovers and a pass that must find nothing to do.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from . import folders
from .warm import (
    BY_HANDLE,
    BY_PATH,
    READING,
    Point,
    Warm,
    distinct,
    injecting,
    mutating,
    points,
    tracing,
)

pytestmark = pytest.mark.usefixtures("strace")

FAULTS = ("error=ENOSPC", "error=EIO", "error=EACCES", "signal=KILL")
CASES = [(scene, fault) for scene in ("first pass", "held open") for fault in FAULTS] + [
    ("later pass", "error=EIO"),
    ("later pass", "signal=KILL"),
    ("first pass", "signal=INT"),
    ("held open", "signal=INT"),
    ("late line", "error=EIO"),
    ("late line", "signal=KILL"),
]
OLD_HANDLE = b"- [P0] written through an old handle\n"


@dataclass
class Stage:
    """A folder in a situation. held open: another process has the file open all the time, so that
    no lease is granted, and writes a line through its old handle after the fault. late line: this
    was so in the pass before, and the line that it wrote then waits in limbo."""

    scene: str
    root: Path
    truth: folders.Truth

    @contextmanager
    def holder(self) -> Iterator[None]:
        """While the pass runs: what the scene has another process do (here: this one)."""
        if self.scene != "held open":
            yield
            return
        handle = os.open(self.root / "MEMORY.md", os.O_WRONLY | os.O_APPEND)
        try:
            yield
            self.append(handle)
        finally:
            os.close(handle)

    def append(self, handle: int) -> None:
        """Append a line through the handle that was opened before the pass."""
        os.write(handle, OLD_HANDLE)
        self.truth = self.truth.plus(OLD_HANDLE)


def build(base: Path, scene: str, warm: Warm) -> Stage:
    """A fresh folder in the scene's situation."""
    root = base / f"m{time.monotonic_ns()}"
    if scene == "later pass":
        folders.build(root, live=2, expired=1)
        warm.run(root)
        for path in root.joinpath("archive").iterdir():
            path.write_bytes(path.read_bytes().replace(b" 0", b" of old"))
    truth = folders.build(root, live=8, expired=6)
    if scene == "late line":
        with Stage("held open", root, truth).holder():
            warm.run(root)
        truth = truth.plus(OLD_HANDLE)
    return Stage(scene, root, truth)


def settle(stage: Stage, warm: Warm) -> list[str]:
    """The pass after the fault and the one after that; what is wrong then."""
    report = []
    recovery = warm.run(stage.root)
    if recovery.status == 4:
        recovery = warm.run(stage.root, "--force")
    if recovery.status != 0:
        report.append(f"the next pass ends with {recovery.status}: {recovery.err.strip()}")
    report += folders.violations(stage.root, stage.truth)
    before = folders.canonical(stage.root)
    again = warm.run(stage.root)
    if again.status != 0:
        report.append(f"the third pass ends with {again.status}: {again.err.strip()}")
    if folders.canonical(stage.root) != before:
        report.append("the third pass changed something")
    return report


def met(log: str, root: Path) -> bool:
    """Whether the fault has come to a call that aims at the folder."""
    failed = [line for line in log.splitlines() if "(INJECTED)" in line]
    if failed:
        return str(root) in failed[0]
    return "killed by SIGKILL" in log or "--- SIGINT" in log


def suffer(
    base: Path, scene: str, warm: Warm, point: Point, fault: str, names: list[str]
) -> list[str]:
    """One pass with one fault; what is wrong at once and after the next passes."""
    for _ in range(12):  # a pass that waits makes more or fewer calls than the one before
        stage = build(base, scene, warm)
        with stage.holder():
            ended = warm.run(stage.root, strace=injecting(names, point, fault))
        if met(warm.log(), stage.root):
            break
    else:
        return [f"{point} {fault}: not met: the calls of a pass are not the same each time"]
    report = []
    if fault == "signal=INT" and "Traceback" in ended.err:
        report.append("a traceback: " + ended.err.strip().splitlines()[-1])
    if "signal" not in fault:
        if ended.status is None or ended.status < 0:
            report.append(f"the pass hung or died: {ended.status}")
        else:
            report += folders.complaints(ended.status, ended.err)
    if stage.scene not in {"held open", "late line"}:
        report += folders.lost(stage.root, stage.truth)
    report += settle(stage, warm)
    return [f"{point} {fault}: {text}\n    {point.line}" for text in report]


def enumerate_calls(base: Path, scene: str, warm: Warm, *, reading: bool = False) -> list[Point]:
    """The calls of an undisturbed pass in this scene: as two passes in a row make them, for on a
    busy machine one may look once more than usual."""
    before: list[str] = []
    for _ in range(5):
        calls = _calls(base, scene, warm, reading=reading)
        if [str(point) for point in calls] == before:
            break
        before = [str(point) for point in calls]
    return calls


def _calls(base: Path, scene: str, warm: Warm, *, reading: bool) -> list[Point]:
    stage = build(base, scene, warm)
    names = BY_HANDLE + BY_PATH + (READING if reading else [])
    with stage.holder():
        ended = warm.run(stage.root, strace=tracing(names))
    assert ended.status == 0, ended.err
    return distinct(points(warm.log(), stage.root, reading=reading))


def every(base: Path, scene: str, warm: Warm, fault: str) -> tuple[list[Point], list[str]]:
    """The fault at each mutating call of a pass; the calls, and all that went wrong."""
    calls = [point for point in enumerate_calls(base, scene, warm) if mutating(point)]
    report: list[str] = []
    for point in calls:
        report += suffer(base, scene, warm, point, fault, BY_HANDLE + BY_PATH)
    return calls, report


@pytest.mark.parametrize(("scene", "fault"), CASES)
def test_a_fault_at_any_call_loses_doubles_and_tears_nothing(
    ram_path: Path, scene: str, fault: str, ours: Warm
) -> None:
    """Disk full, I/O error, no permission or kill -9 at each call in turn: the next run mends it."""
    calls, report = every(ram_path, scene, ours, fault)
    print(f"{scene}, {fault}: {len(calls)} calls: {' '.join(map(str, calls))}")
    assert len(calls) >= 10
    assert not report, "\n".join(report)


@pytest.mark.parametrize("scene", ["first pass", "later pass"])
def test_a_file_that_cannot_be_read_is_not_an_empty_file(
    ram_path: Path, scene: str, ours: Warm
) -> None:
    """An I/O error at each open, read or stat: the run says so, and nothing is lost by it."""
    every_call = enumerate_calls(ram_path, scene, ours, reading=True)
    calls = [point for point in every_call if not mutating(point) or point.call in read_names()]
    names = BY_HANDLE + BY_PATH + READING
    report: list[str] = []
    for point in calls:
        report += suffer(ram_path, scene, ours, point, "error=EIO", names)
    print(f"{scene}: {len(calls)} reading calls")
    assert len(calls) >= 5
    assert not report, "\n".join(report)


def read_names() -> set[str]:
    """Names of calls that only read."""
    return {name.lstrip("?") for name in READING}


def test_the_same_faults_catch_the_janitor_that_truncates(ram_path: Path, truncating: Warm) -> None:
    """The control: read, truncate, write loses lines in this very harness."""
    _calls, report = every(ram_path, "first pass", truncating, "signal=KILL")
    assert any("lost:" in text for text in report), report


@pytest.mark.parametrize("fault", ["error=EIO", "signal=KILL"])
def test_the_same_faults_catch_the_janitor_that_replaces(
    ram_path: Path, fault: str, naive: Warm
) -> None:
    """The control: archive, temporary file, rename leaves lines in both places."""
    _calls, report = every(ram_path, "first pass", naive, fault)
    assert any("duplicated:" in text for text in report), report
