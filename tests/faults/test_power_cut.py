"""The power fails after each call of a janitor pass that changes the disk (ext4, real shutdown).

The pass is stopped right after the call, the file system is shut down without flushing its log, the
process dies, the file system is mounted again: what had not been synced is gone. Then the next run.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from . import disks, folders
from .warm import BY_HANDLE, BY_PATH, Point, Warm, distinct, injecting, mutating, points, tracing

pytestmark = pytest.mark.usefixtures("as_root", "strace")

NAMES = BY_HANDLE + BY_PATH
# After these, nothing on the disk can differ that matters: locks, modes, owners, times.
DULL = {"flock", "fcntl", "mkdir", "fchmod", "fchown", "chmod", "utimensat"}


@pytest.fixture
def bench(ram_path: Path) -> Path:
    """A folder in memory for the images, each a few megabytes."""
    return ram_path


@contextlib.contextmanager
def holder(root: Path, scene: str) -> Iterator[None]:
    """In the scene `held open`, another process has the file open: no lease is granted."""
    if scene == "held open":
        with (root / "MEMORY.md").open("rb"):
            yield
    else:
        yield


def prepare(bench: Path) -> tuple[Path, folders.Truth]:
    """An image with a memory folder on it, all of it safely on the disk."""
    image = disks.image(bench / "image")
    with disks.mounted(image, bench / "mnt") as at:
        truth = folders.build(at / "m", live=60, expired=40)
        os.sync()
    return image, truth


def crash(at: Path, scene: str, warm: Warm, point: Point | None) -> bool:
    """A pass that is stopped after the point (None: that ends), then a power cut."""
    root = at / "m"
    fault = injecting(NAMES, point, "signal=STOP") if point else tracing(NAMES)
    with holder(root, scene):
        pid = warm.start(root, strace=fault)
        met = warm.stands_still(1)
        if not met:
            warm.wait()
        disks.cut_power(at)
        if met:
            os.kill(pid, signal.SIGKILL)
            warm.wait()
    return met


def after(root: Path, warm: Warm, truth: folders.Truth) -> list[str]:
    """The next run and the one after it, on the disk as it came back; what is wrong."""
    report = []
    for which in ("next", "third"):
        ended = warm.run(root)
        if ended.status != 0:
            report.append(f"the {which} run ends with {ended.status}: {ended.err.strip()}")
    return report + folders.violations(root, truth)


def every_cut(bench: Path, scene: str, warm: Warm) -> tuple[int, list[str]]:
    """A power cut after every call that changes the disk; how many, and what went wrong."""
    image, truth = prepare(bench)
    work, at = bench / "work", bench / "mnt"
    shutil.copyfile(image, work)
    with disks.mounted(work, at):
        with holder(at / "m", scene):
            ended = warm.run(at / "m", strace=tracing(NAMES))
        assert ended.status == 0, ended.err
        calls = points(warm.log(), at)
    cuts = [
        p for p in distinct(calls) if mutating(p) and p.call not in DULL and "history" not in p.line
    ]
    report: list[str] = []
    for point in [*cuts, None]:
        run_sparse_copy(image, work)
        with disks.mounted(work, at):
            met = crash(at, scene, warm, point)
        with disks.mounted(work, at):
            texts = after(at / "m", warm, truth)
        if point and not met:
            texts.append("the call was not met: the calls of a pass are not the same each time")
        report += [f"after {point}: {text}\n    {point.line if point else ''}" for text in texts]
    return len(cuts) + 1, report


def run_sparse_copy(source: Path, target: Path) -> None:
    """A copy that takes no room for what is empty."""
    assert disks.run("cp", "--sparse=always", source, target).returncode == 0


@pytest.mark.parametrize("scene", ["quiet", "held open"])
def test_a_power_cut_after_any_call_loses_doubles_and_tears_nothing(
    bench: Path, scene: str, ours: Warm
) -> None:
    """Whatever had reached the disk when the light went out, the next run puts it in order."""
    count, report = every_cut(bench, scene, ours)
    print(f"{scene}: {count} power cuts")
    assert count >= 10
    assert not report, "\n".join(report)


def test_a_power_cut_catches_the_janitor_that_does_not_sync_its_archive(
    bench: Path, naive: Warm
) -> None:
    """The control: MEMORY.md is safely replaced, the archive has nothing in it."""
    _count, report = every_cut(bench, "quiet", naive)
    assert any("lost:" in text for text in report), report
