"""A crash may leave a file with some of its sectors old and some new: the next run mends each mix."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from . import folders
from .warm import BY_HANDLE, BY_PATH, Warm, injecting, points, tracing

pytestmark = pytest.mark.usefixtures("strace")

NAMES = BY_HANDLE + BY_PATH
SECTOR = 512
LATE = b"- [P0] written after the crash\n"


def mixes(old: bytes, new: bytes) -> Iterator[tuple[str, bytes]]:
    """Pictures of the file between old and new, which have one length: by sectors and by pages."""
    for size in (SECTOR, 4096):
        for at in range(0, len(old) + size, size):
            yield f"new up to {at}", new[:at] + old[at:]
            yield f"new from {at}", old[:at] + new[at:]
        for at in range(0, len(old), size):
            yield f"only {at} new", old[:at] + new[at : at + size] + old[at + size :]
            yield f"only {at} old", new[:at] + old[at : at + size] + new[at + size :]


def crashed(root: Path, warm: Warm) -> folders.Truth:
    """A folder in which a pass was killed right before it wrote to MEMORY.md."""
    truth = folders.build(root)
    calls = points(trace(root.with_name("trace"), warm), root.with_name("trace"))
    overwrite = next(p for p in calls if p.call == "pwrite64" and "MEMORY.md" in p.line)
    ended = warm.run(root, strace=injecting(NAMES, overwrite, "signal=KILL"))
    assert ended.status == -9
    assert (root / "MEMORY.md").read_bytes() == truth.before
    return truth


def trace(root: Path, warm: Warm) -> str:
    """The trace of a pass that goes through."""
    folders.build(root)
    assert warm.run(root, strace=tracing(NAMES)).status == 0
    return warm.log()


@pytest.mark.parametrize("late", [b"", LATE], ids=["alone", "and a line behind it"])
def test_every_mix_of_old_and_new_sectors_is_mended(
    ram_path: Path, late: bytes, ours: Warm
) -> None:
    """The record of what was to be done tells old from new; what others appended since is kept."""
    root = ram_path / "m"
    truth = crashed(root, ours)
    record = (root / ".memfas" / "redo").read_bytes()
    archive = folders.archived(root)
    padded = truth.after.ljust(len(truth.before), b"\n")
    report, count = [], 0
    for name, picture in mixes(truth.before, padded):
        count += 1
        (root / ".memfas" / "redo").write_bytes(record)
        (root / "archive" / "expired-2026-06.md").write_bytes(archive)
        (root / "MEMORY.md").write_bytes(picture + late)
        texts = []
        for which in ("next", "third"):
            ended = ours.run(root)
            if ended.status != 0:
                texts.append(f"the {which} run ends with {ended.status}: {ended.err.strip()}")
        texts += folders.violations(root, truth.plus(late) if late else truth)
        report += [f"{name}: {text}" for text in texts]
    print(f"{count} mixes")
    assert count > 80
    assert not report, "\n".join(report)


def test_what_somebody_saved_after_the_crash_stays(ram_path: Path, ours: Warm) -> None:
    """The file is neither the old nor the new one: theirs stays, and what was to move is archived."""
    root = ram_path / "m"
    truth = crashed(root, ours)
    theirs = b"# Memory\n\n- [P0] I have begun anew\n"
    (root / "MEMORY.md").write_bytes(theirs)
    ended = ours.run(root, "--force")
    assert ended.status == 0, ended.err
    assert (root / "MEMORY.md").read_bytes() == theirs
    moved = folders.said(truth.before) - folders.said(truth.after)
    assert not moved - folders.said(folders.archived(root))


@pytest.mark.parametrize("junk", [b"", b"{", b"{}", b"\x00" * 600, b"[1]"])
def test_a_record_that_is_no_record_changes_nothing(
    ram_path: Path, junk: bytes, ours: Warm
) -> None:
    """An unreadable redo record was never complete: the file is as it was, and the pass goes on."""
    root = ram_path / "m"
    truth = folders.build(root)
    (root / ".memfas").mkdir(mode=0o700)
    (root / ".memfas" / "redo").write_bytes(junk)
    assert ours.run(root).status == 0
    assert folders.violations(root, truth) == []
