"""At every system call of a janitor pass, somebody else does something to the file, just then.

The pass is stopped (SIGSTOP) right after a call, the other writer acts, the pass goes on. So each
possible order of one pass and one act of one writer is tried, not only those that luck brings up.
An act that has to wait because the janitor holds the write lease ends when the lease does.
"""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from . import folders, janitors
from .acts import ACTS, Other, line_of
from .warm import BY_HANDLE, BY_PATH, READING, Point, Warm, distinct, injecting, points, tracing

pytestmark = pytest.mark.usefixtures("strace")

NAMES = BY_HANDLE + BY_PATH + READING


@contextlib.contextmanager
def held(root: Path, scene: str) -> Iterator[None]:
    """In the scene `exchange`, somebody has the file open all the time (`tail -f`): no lease."""
    if scene != "exchange":
        yield
        return
    with (root / "MEMORY.md").open("rb"):
        yield


def interrupt(
    root: Path, warm: Warm, *plan: tuple[Point, str], target: str = "MEMORY.md"
) -> list[str]:
    """One pass with acts at given moments; what is wrong with how they end."""
    others = [Other(name, root / target) for _, name in plan]
    faults = [option for point, _ in plan for option in injecting([], point, "signal=STOP")[-2:]]
    pid = warm.start(root, strace=[*tracing(NAMES), *faults])
    for number, other in enumerate(others):
        met = warm.stands_still(number + 1)
        other.step()
        if met:
            os.kill(pid, signal.SIGCONT)
    ended = warm.wait()
    for other in others:
        other.finish()
    report = [f"a writer failed: {error}" for other in others for error in other.failures]
    if ended.status is None or ended.status < 0:
        return [*report, f"the pass hung or died: {ended.status}"]
    return report + folders.complaints(ended.status, ended.err)


def aftermath(root: Path, warm: Warm, truth: folders.Truth, *names: str) -> list[str]:
    """Two quiet passes, then the rules; names: of the acts, each of which wrote a line."""
    report = []
    for which in ("next", "third"):
        ended = warm.run(root, "--force")
        if ended.status != 0:
            report.append(f"the {which} pass ends with {ended.status}: {ended.err.strip()}")
    for name in names:
        truth = truth.plus(line_of(name))
    found = folders.violations(root, truth)
    if not all("append" in name for name in names):  # a saver may bring moved entries back
        stay = folders.said(truth.after)
        found = [text for text in found if not by_saver(text, stay)]
    text = (root / "MEMORY.md").read_bytes()
    missing = [name for name in names if line_of(name) not in text]
    found += [f"the line of {name} is not in MEMORY.md" for name in missing]
    if len(names) > 1:  # in which order two writers' lines stand is nobody's promise
        found = [text for text in found if "is not what was there" not in text]
    return report + found


def by_saver(text: str, stay: dict[bytes, int]) -> bool:
    """Whether it is the saver's doing: an expired entry archived twice, a mode not kept."""
    doubled = text.startswith("duplicated: ") and not any(repr(line) in text for line in stay)
    return doubled or text.startswith("mode of MEMORY.md")


def moments(base: Path, scene: str, warm: Warm) -> list[Point]:
    """The calls of a pass that touch MEMORY.md by any of its names: what others do to it between
    two other calls is the same as what they do before the first of them."""
    root = base / "trace"
    folders.build(root, live=6, expired=4)
    with held(root, scene):
        warm.run(root, strace=tracing(NAMES))
    every = points(warm.log(), root, reading=True)
    return distinct([p for p in every if "MEMORY.md" in p.line and "/shared/" not in p.line])


def run_all(base: Path, scene: str, warm: Warm, name: str) -> tuple[list[Point], list[str]]:
    """The act at every moment; the moments, and all that went wrong."""
    calls = moments(base, "lease" if scene == "lease" else "exchange", warm)
    report: list[str] = []
    for number, point in enumerate(calls):
        root = base / f"m{number}"
        truth = folders.build(root, live=6, expired=4)
        with held(root, scene):
            texts = interrupt(root, warm, (point, name))
        texts += aftermath(root, warm, truth, name)
        report += [f"{name} after {point}: {text}\n    {point.line}" for text in texts]
    return calls, report


LEASED = [("lease", name) for name in ACTS]
SWAPPED = (
    "append",
    "slow append",
    "append by handle",
    "rename",
    "in-place",
    "stale rename",
    "slow save",
)
CASES = [*LEASED, *(("exchange", name) for name in SWAPPED)]
# The only open handle is the writer's own: no lease, until it has written and closed.
CASES.append(("own handle", "append by handle"))


@pytest.mark.parametrize(("scene", "name"), CASES)
def test_whatever_others_do_and_whenever_nothing_is_lost(
    ram_path: Path, scene: str, name: str, ours: Warm
) -> None:
    """An append or a save by any method, between any two calls of the janitor, survives it."""
    calls, report = run_all(ram_path, scene, ours, name)
    print(f"{scene}, {name}: {len(calls)} moments")
    assert len(calls) >= 10
    assert not report, "\n".join(report)


def two_acts(base: Path, warm: Warm, second: str, one: str = "rename") -> tuple[int, list[str]]:
    """Without a lease: a save just before the new file is swapped in, then a second act at each
    moment after that; the number of moments, and all that went wrong."""
    calls = moments(base, "exchange", warm)
    swap = next(n for n, point in enumerate(calls) if point.call == "renameat2")
    first = calls[swap - 1]
    root = base / "trace two"
    folders.build(root, live=6, expired=4)
    with held(root, "exchange"):
        interrupt(root, warm, (first, one))
    every = points(warm.log(), root, reading=True)
    start = next(n for n, point in enumerate(every) if point.call == "renameat2")
    later = [p for p in every[start:] if "MEMORY.md" in p.line and p.call != first.call]
    report = []
    for number, point in enumerate(later):
        root = base / f"two{number}"
        truth = folders.build(root, live=6, expired=4)
        with held(root, "exchange"):
            texts = interrupt(root, warm, (first, one), (point, second))
        texts += aftermath(root, warm, truth, one, second)
        report += [f"{second} after {point}: {text}\n    {point.line}" for text in texts]
    return len(later), report


ARCHIVE = "archive/expired-2026-06.md"


@pytest.mark.parametrize("name", ["append", "slow append", "rename", "vim-like", "in-place"])
def test_what_others_do_to_the_archive_meanwhile_loses_no_moved_entry(
    ram_path: Path, name: str, ours: Warm
) -> None:
    """Somebody tidies up the archive by hand while entries move into it: both are there."""
    trace = ram_path / "trace"
    folders.build(trace, live=2, expired=1)
    ours.run(trace)
    folders.build(trace, live=6, expired=4)
    ours.run(trace, strace=tracing(NAMES))
    calls = [p for p in points(ours.log(), trace, reading=True) if ARCHIVE in p.line]
    report: list[str] = []
    for number, point in enumerate(calls):
        root = ram_path / f"m{number}"
        folders.build(root, live=2, expired=1)
        ours.run(root)
        path = root / ARCHIVE
        path.write_bytes(path.read_bytes().replace(b" 0", b" of old"))
        truth = folders.build(root, live=6, expired=4)
        texts = interrupt(root, ours, (point, name), target=ARCHIVE)
        missing = truth.lines - folders.found(root)
        texts += [f"lost: {line.decode()}" for line in missing]
        if line_of(name) not in path.read_bytes():
            texts.append("their line is not in the archive")
        report += [f"{name} after {point}: {text}\n    {point.line}" for text in texts]
    assert len(calls) >= 5
    assert not report, "\n".join(report)


def test_the_state_folder_may_be_removed_at_any_moment(ram_path: Path, ours: Warm) -> None:
    """Rm -rf .memfas in the middle of a pass costs undo, never a line of memory."""
    trace = ram_path / "trace"
    folders.build(trace, live=6, expired=4)
    ours.run(trace, strace=tracing(NAMES))
    calls = distinct(points(ours.log(), trace, reading=True))
    report: list[str] = []
    for number, point in enumerate(calls):
        root = ram_path / f"m{number}"
        truth = folders.build(root, live=6, expired=4)
        pid = ours.start(root, strace=injecting(NAMES, point, "signal=STOP"))
        if ours.stands_still(1):
            shutil.rmtree(root / ".memfas", ignore_errors=True)
            os.kill(pid, signal.SIGCONT)
        ended = ours.wait()
        texts = folders.lost(root, truth)
        texts += folders.complaints(ended.status or 0, ended.err)
        again = ours.run(root)
        if again.status != 0:
            texts.append(f"the next pass ends with {again.status}: {again.err.strip()}")
        texts += folders.violations(root, truth)
        report += [f"rm after {point}: {text}\n    {point.line}" for text in texts]
    print(f"{len(calls)} moments")
    assert not report, "\n".join(report)


def test_a_second_janitor_does_not_disturb_the_first(ram_path: Path, ours: Warm) -> None:
    """While a pass is under way, another one ends at once with status 75 and changes nothing."""
    calls = moments(ram_path, "lease", ours)
    root = ram_path / "m"
    truth = folders.build(root, live=6, expired=4)
    middle = next(point for point in calls if point.call == "pwrite64")
    pid = ours.start(root, strace=injecting(NAMES, middle, "signal=STOP"))
    assert ours.stands_still(1)
    other = subprocess.run(
        janitors.command("ours", root), capture_output=True, text=True, timeout=20, check=False
    )
    os.kill(pid, signal.SIGCONT)
    assert ours.wait().status == 0
    assert other.returncode == 75
    assert folders.complaints(other.returncode, other.stderr) == []
    assert folders.violations(root, truth) == []


@pytest.mark.parametrize("name", ["append", "slow append", "rename", "vim-like", "in-place"])
def test_late_lines_are_carried_over_whatever_others_do_meanwhile(
    ram_path: Path, name: str, ours: Warm
) -> None:
    """A line written through an old handle waits in limbo: the pass that brings it home is met at
    every moment by another writer; both their lines are there."""

    def build(root: Path) -> folders.Truth:
        truth = folders.build(root, live=6, expired=4)
        with (root / "MEMORY.md").open("ab", buffering=0) as handle:
            ours.run(root)
            handle.write(b"- [P0] late\n")
        return truth.plus(b"- [P0] late\n")

    build(ram_path / "trace")
    ours.run(ram_path / "trace", strace=tracing(NAMES))
    every = points(ours.log(), ram_path / "trace", reading=True)
    calls = distinct([p for p in every if "MEMORY.md" in p.line and "/shared/" not in p.line])
    report: list[str] = []
    for number, point in enumerate(calls):
        root = ram_path / f"m{number}"
        truth = build(root)
        texts = interrupt(root, ours, (point, name)) + aftermath(root, ours, truth, name)
        texts = [text for text in texts if "is not what was there" not in text]  # order
        report += [f"{name} after {point}: {text}\n    {point.line}" for text in texts]
    assert len(calls) >= 5
    assert not report, "\n".join(report)


SECOND = ("append", "slow append", "in-place", "vim-like", "half rename", "half in-place")


@pytest.mark.parametrize("second", SECOND)
def test_a_save_and_another_act_while_the_file_is_held_open_both_survive(
    ram_path: Path, second: str, ours: Warm
) -> None:
    """The pass finds out that it was overtaken and puts the file back: also that can be overtaken."""
    count, report = two_acts(ram_path, ours, second)
    print(f"rename, then {second}: {count} moments")
    assert count >= 5
    assert not report, "\n".join(report)


@pytest.mark.parametrize("first", ["append", "in-place", "rename"])
def test_what_was_written_before_the_swap_is_not_hidden_while_the_disk_is_synced(
    ram_path: Path, first: str, ours: Warm
) -> None:
    """Who reads the file after another's write sees that write, or will undo it by saving later.

    Without a lease the swap itself and the look at what came out cannot be made one: these few
    calls, microseconds, are all the time in which a line may be out of sight. No sync is among them.
    """
    _count, report = two_acts(ram_path, ours, "slow save", first)
    brief = re.compile(r"slow save after (renameat2|newfstatat|pread64)#")
    report = [text for text in report if not brief.match(text)]
    assert not report, "\n".join(report)


@pytest.mark.parametrize("second", ["stale rename", "stale vim-like", "stale in-place"])
def test_a_save_over_a_save_while_the_file_is_held_open_tears_nothing(
    ram_path: Path, second: str, ours: Warm
) -> None:
    """Who saves an old text over another's save loses that one's line, as ever; no more than it."""
    _count, report = two_acts(ram_path, ours, second)
    own = ("lost: - [P0] written just then by rename", "the line of rename is not in MEMORY.md")
    assert not [text for text in report if not any(words in text for words in own)]


@pytest.mark.parametrize("name", ["append", "rename", "vim-like", "in-place"])
def test_the_janitor_that_replaces_loses_what_comes_in_between(
    ram_path: Path, name: str, naive: Warm
) -> None:
    """The control: between its read and its rename, whatever is written is gone."""
    _calls, report = run_all(ram_path, "lease", naive, name)
    assert any("lost:" in text for text in report), report
