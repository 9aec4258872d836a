"""Full disks and folders that cannot be written: nothing is lost, and the run says what is wrong."""

from __future__ import annotations

import contextlib
import os
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from . import disks, folders
from .janitors import REPO
from .warm import Ended, Warm

NOBODY = 65534


def refused(root: Path, ended: Ended, truth: folders.Truth) -> list[str]:
    """What is wrong after a pass that could not do its work (or, on a disk just large enough, did):
    a documented status, one sentence, and MEMORY.md as it was."""
    if ended.status is None or ended.status < 0:
        return [f"the pass hung or died: {ended.status}"]
    report = folders.complaints(ended.status, ended.err) + folders.lost(root, truth)
    if ended.status and (root / "MEMORY.md").read_bytes() not in (truth.before, truth.after):
        report.append("MEMORY.md was changed, but neither left nor finished")
    return report


def mended(root: Path, warm: Warm, truth: folders.Truth) -> list[str]:
    """What is wrong after the next pass, once there is room again."""
    ended = warm.run(root)
    wrong = [] if ended.status == 0 else [f"then ends with {ended.status}: {ended.err.strip()}"]
    return wrong + folders.violations(root, truth)


@contextlib.contextmanager
def ballast(at: Path, free_pages: int) -> Iterator[None]:
    """Fill a file system up to so many pages of 4 KB."""
    name = at / "ballast"
    with name.open("wb", buffering=0) as handle:
        with contextlib.suppress(OSError):
            while True:
                handle.write(b"x" * 4096)
        size = handle.tell() - free_pages * 4096
        handle.truncate(max(0, size))
    yield
    name.unlink()


@contextlib.contextmanager
def crowd(at: Path, free_names: int) -> Iterator[None]:
    """Use up the inodes of a file system but so many."""
    folder = at / "crowd"
    folder.mkdir()
    made = []
    with contextlib.suppress(OSError):
        for number in range(10_000):
            path = folder / str(number)
            path.touch()
            made.append(path)
    for path in made[len(made) - free_names :]:
        path.unlink()
    yield
    disks.run("rm", "-rf", folder)


def full(
    base: Path, warm: Warm, options: str, fill: Callable[[Path, int], object], levels: range
) -> list[str]:
    """A pass at every level of a filling disk, then one with room; all that went wrong."""
    report = []
    statuses = set()
    for level in levels:
        with disks.in_memory(base / f"disk{level}", options) as at:
            truth = folders.build(at / "m", live=24, expired=16)
            with fill(at, level):  # type: ignore[attr-defined]
                ended = warm.run(at / "m")
                texts = refused(at / "m", ended, truth)
            statuses.add(ended.status)
            texts += mended(at / "m", warm, truth)
            report += [f"with {level} left: {text}" for text in texts]
    print(f"statuses {statuses}")
    if warm.kind == "ours" and statuses != {0, 1}:
        report.append(f"the levels go from nothing to enough, the statuses are {statuses}")
    return report


@pytest.mark.usefixtures("as_root")
def test_a_full_disk_loses_nothing_and_the_next_run_with_room_finishes(
    tmp_path: Path, ours: Warm
) -> None:
    """From no page free to enough of them: each step of the pass meets the end of the disk."""
    report = full(tmp_path, ours, "size=256k", ballast, range(16))
    assert not report, "\n".join(report)


@pytest.mark.usefixtures("as_root")
def test_a_disk_without_inodes_loses_nothing(tmp_path: Path, ours: Warm) -> None:
    """From no new file possible to enough of them."""
    report = full(tmp_path, ours, "size=1m,nr_inodes=60", crowd, range(16))
    assert not report, "\n".join(report)


@pytest.mark.usefixtures("as_root")
def test_a_full_disk_catches_the_janitor_without_a_plan(tmp_path: Path, naive: Warm) -> None:
    """The control: a half-written archive, and everything in it once more at the next run."""
    report = full(tmp_path, naive, "size=256k", ballast, range(4))
    assert any("duplicated:" in text for text in report), report


def test_writes_that_are_cut_short_lose_and_double_nothing(ram_path: Path, ours: Warm) -> None:
    """A limit on file sizes: writes take only some of their bytes, the next ones fail (EFBIG)."""
    report = []
    for limit in range(250, 12_000, 250):
        root = ram_path / f"m{limit}"
        truth = folders.build(root, live=24, expired=16)
        texts = refused(root, ours.run(root, file_limit=limit), truth)
        texts += mended(root, ours, truth)
        report += [f"files of {limit} bytes: {text}" for text in texts]
    assert not report, "\n".join(report)


def test_an_archive_that_takes_half_a_block_is_put_back(ram_path: Path, ours: Warm) -> None:
    """The limit lies within what is to be appended: the archive's old lines stay, no torn one."""
    report = []
    old = "".join(f"- [P2][2019-01-01] archived long ago {number}\n" for number in range(2000))
    for more in range(0, 2600, 100):
        root = ram_path / f"m{more}"
        (root / "archive").mkdir(parents=True)
        (root / "archive" / "expired-2026-06.md").write_text(old)
        truth = folders.build(root, live=24, expired=16)
        ended = ours.run(root, file_limit=len(old) + more)
        texts = refused(root, ended, truth)
        if ended.status and folders.archived(root) != truth.archive:
            texts.append("the archive is not as it was")
        texts += mended(root, ours, truth)
        report += [f"after {more} bytes: {text}" for text in texts]
    assert not report, "\n".join(report)


@pytest.mark.usefixtures("as_root")
def test_a_read_only_disk_is_said_to_be_one(tmp_path: Path, ours: Warm) -> None:
    """Remounted read-only: status 1, a sentence, nothing changed; then read-write: all is done."""
    with disks.in_memory(tmp_path / "disk", "size=1m") as at:
        truth = folders.build(at / "m")
        disks.need("mount", "-o", "remount,ro", at, why="needs mounts")
        ended = ours.run(at / "m")
        assert ended.status == 1
        assert refused(at / "m", ended, truth) == []
        assert (at / "m" / "MEMORY.md").read_bytes() == truth.before
        disks.need("mount", "-o", "remount,rw", at, why="needs mounts")
        assert mended(at / "m", ours, truth) == []


@pytest.mark.usefixtures("as_root")
@pytest.mark.parametrize("flag", ["i", "a"])
@pytest.mark.parametrize("what", ["MEMORY.md", "archive", "archive/expired-2026-06.md"])
def test_a_protected_file_is_left_alone(home_path: Path, what: str, flag: str, ours: Warm) -> None:
    """Chattr +i or +a on the file, the archive or its folder: nothing leaves MEMORY.md unarchived."""
    root = home_path / "m"
    truth = folders.build(root)
    (root / "archive").mkdir(mode=0o700)
    (root / "archive" / "expired-2026-06.md").touch(mode=0o600)
    disks.need("chattr", f"+{flag}", root / what, why="needs chattr")
    try:
        ended = ours.run(root)
        report = refused(root, ended, truth)
        if ended.status:
            assert (root / "MEMORY.md").read_bytes() == truth.before
    finally:
        disks.run("chattr", f"-{flag}", root / what)
    report += mended(root, ours, truth)
    assert not report, "\n".join(report)
    assert ended.status == (1 if what == "MEMORY.md" or (what, flag) in STOPPED else 0)


# An append-only archive takes appends, and a folder that takes no new file has the file already.
STOPPED = {("archive/expired-2026-06.md", "i")}


@pytest.mark.parametrize("what", ["a file", "a dangling link", "a link out of the folder"])
def test_an_archive_that_is_no_folder_keeps_everything_in_place(
    tmp_path: Path, what: str, ours: Warm
) -> None:
    """archive/ is something else: status not 0, MEMORY.md as it was; put right, the next run works."""
    root = tmp_path / "m"
    truth = folders.build(root)
    archive = root / "archive"
    if what == "a file":
        archive.write_text("not a folder\n")
    else:
        outside = tmp_path / "outside"
        if what != "a dangling link":
            outside.mkdir()
        archive.symlink_to(outside)
    ended = ours.run(root)
    assert ended.status not in (0, None)
    assert folders.complaints(ended.status or 0, ended.err) == []
    assert (root / "MEMORY.md").read_bytes() == truth.before
    assert not (tmp_path / "outside" / "expired-2026-06.md").exists()
    archive.unlink()
    assert mended(root, ours, truth) == []


@pytest.fixture
def public_path() -> Iterator[Path]:
    """A folder that every user may enter: pytest's own are closed to others."""
    for place in (REPO, Path(sys.prefix)):
        if not all(folder.stat().st_mode & 0o001 for folder in (place, *place.parents)):
            pytest.skip("needs a checkout and a Python that other users can get at")
    with tempfile.TemporaryDirectory(prefix="memfas-test-") as name:
        Path(name).chmod(0o755)
        yield Path(name)


def hand_over(root: Path, to: int = NOBODY) -> None:
    """Give a folder and all in it to another user."""
    for path in [root, *root.rglob("*")]:
        os.chown(path, to, to)


@pytest.mark.usefixtures("as_root")
@pytest.mark.parametrize("what", ["archive", "MEMORY.md", "."])
def test_what_a_user_may_not_open_is_reported_and_nothing_is_lost(
    public_path: Path, what: str, ours: Warm
) -> None:
    """Mode 0000 on the archive, the file or the folder, for a user who is not root."""
    root = public_path / "m"
    truth = folders.build(root)
    (root / "archive").mkdir(mode=0o700)
    hand_over(root)
    mode = (root / what).stat().st_mode
    (root / what).chmod(0)
    ended = ours.run(root, uid=NOBODY)
    (root / what).chmod(mode)
    assert ended.status not in (0, None)
    assert refused(root, ended, truth) == []
    assert (root / "MEMORY.md").read_bytes() == truth.before
    ended = ours.run(root, uid=NOBODY)
    assert ended.status == 0, ended.err
    assert folders.violations(root, truth) == []


@pytest.mark.usefixtures("as_root")
def test_a_file_of_another_owner_loses_nothing(public_path: Path, ours: Warm) -> None:
    """MEMORY.md is writable, but another user's: no lease is to be had. Changed whole or left.

    The old file may wait in limbo: without a lease nobody can tell whether it is still open.
    """
    root = public_path / "m"
    truth = folders.build(root, mode=0o666)
    hand_over(root)
    os.chown(root / "MEMORY.md", 0, 0)
    ended = ours.run(root, uid=NOBODY)
    report = refused(root, ended, truth)
    if ended.status == 0:
        report += [text for text in folders.violations(root, truth) if "/limbo/" not in text]
    else:
        assert (root / "MEMORY.md").read_bytes() == truth.before
    assert not report, "\n".join(report)
