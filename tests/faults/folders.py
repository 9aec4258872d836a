"""Memory folders made for a fault, and the rules that hold whatever happens to them.

Every line of a folder is unique, so that a lost, doubled or torn one can be named.
"""

from __future__ import annotations

import re
import stat
from collections import Counter
from dataclasses import dataclass, replace
from pathlib import Path

# What the janitor itself writes into an archive: comments, a dated heading.
FURNITURE = re.compile(rb"<!--.*-->|## Archived [0-9-]{10} by memory-janitor")
# Waiting is the one thing that tests cannot afford.
CONFIG = "writing: {quiet: 0, patience: 0.02}\n"


@dataclass(frozen=True)
class Truth:
    """What was in MEMORY.md, and what must be in it after a pass; what was in the archive."""

    before: bytes
    after: bytes
    mode: int
    archive: bytes = b""

    @property
    def lines(self) -> Counter[bytes]:
        """The lines that say something, each with how often it stands in the folder."""
        entries = {k: n for k, n in said(self.archive).items() if not FURNITURE.fullmatch(k)}
        return said(self.before) + Counter(entries)

    def plus(self, line: bytes) -> Truth:
        """The same with a line that stays, appended by somebody."""
        return replace(self, before=self.before + line, after=self.after + line)


def said(data: bytes) -> Counter[bytes]:
    """The lines that are not blank, without their terminator, counted."""
    return Counter(line for line in data.split(b"\n") if line.strip())


def build(root: Path, live: int = 60, expired: int = 40, mode: int = 0o640) -> Truth:
    """Make a memory folder with a MEMORY.md of several pages; what must become of it."""
    root.mkdir(parents=True, exist_ok=True)
    before: list[str] = ["# Memory\n", "\n"]
    after = list(before)
    for number in range(max(live, expired)):
        if number % 20 == 0:
            head = [f"## Topic {number // 20}\n", f"Prose about topic {number // 20}.\n"]
            before += head
            after += head
        if number < expired:
            before += expired_entry(number)
        if number < live:
            entry = live_entry(number)
            before += entry
            after += entry
    truth = Truth("".join(before).encode(), "".join(after).encode(), mode, archived(root))
    (root / "memfas.yaml").write_text(CONFIG)
    (root / "MEMORY.md").write_bytes(truth.before)
    (root / "MEMORY.md").chmod(mode)
    return truth


def expired_entry(number: int) -> list[str]:
    """An entry whose time is over, every third with lines under it."""
    first = f"- [P{1 + number % 2}][2020-01-01] expired {number} {'past ' * 12}\n"
    if number % 3:
        return [first]
    return [first, f"  goes on {number}\n", f"  - nested {number} {'x' * 40}\n"]


def live_entry(number: int) -> list[str]:
    """An entry that stays."""
    tags = ("[P0]", "[P1][2026-05-20]", "[P2][2026-05-25]")[number % 3]
    first = f"- {tags} live {number} {'still ' * 10}\n"
    return [first, f"  its detail {number}\n"] if number % 5 == 0 else [first]


def archived(root: Path) -> bytes:
    """All that stands in the archive."""
    folder = root / "archive"
    if not folder.is_dir():
        return b""
    return b"\n".join(path.read_bytes() for path in sorted(folder.iterdir()) if path.is_file())


def found(root: Path) -> Counter[bytes]:
    """The lines of MEMORY.md and archive together, counted."""
    memory = root / "MEMORY.md"
    return said(memory.read_bytes() if memory.exists() else b"") + said(archived(root))


def lost(root: Path, truth: Truth) -> list[str]:
    """Lines that are neither in MEMORY.md nor in the archive."""
    missing = truth.lines - found(root)
    return [f"lost: {line.decode(errors='replace')}" for line in missing]


def violations(root: Path, truth: Truth) -> list[str]:
    """Every rule that a folder breaks once a whole pass has gone through; [] when it is sound."""
    report = lost(root, truth)
    there = found(root)
    surplus = there - truth.lines
    for line in surplus:
        if line in truth.lines:
            report.append(f"duplicated: {line!r}")
        elif not FURNITURE.fullmatch(line):
            report.append(f"torn: {line!r}")
    memory = root / "MEMORY.md"
    if memory.read_bytes() != truth.after:
        report.append("MEMORY.md is not what was there less the expired entries")
    mode = stat.S_IMODE(memory.stat().st_mode)
    if mode != truth.mode:
        report.append(f"mode of MEMORY.md is {mode:o}, was {truth.mode:o}")
    return report + leftovers(root)


def leftovers(root: Path) -> list[str]:
    """Work files that a finished pass must not leave behind."""
    known = {"MEMORY.md", "memfas.yaml", "archive", ".memfas"}
    report = [f"left behind: {path.name}" for path in root.iterdir() if path.name not in known]
    state = root / ".memfas"
    if (state / "redo").exists():
        report.append("left behind: .memfas/redo")
    report += [f"left behind: {path.relative_to(root)}" for path in state.rglob("*.tmp")]
    limbo = state / "limbo"
    if limbo.is_dir():
        report += [f"left behind: .memfas/limbo/{path.name}" for path in limbo.iterdir()]
    archive = root / "archive"
    if archive.is_dir():
        odd = [path for path in archive.iterdir() if not path.name.startswith("expired-")]
        report += [f"left behind: archive/{path.name}" for path in odd]
    return report


def canonical(root: Path) -> dict[str, bytes]:
    """Each file of the folder that is truth (not state), by its path."""
    files = (path for path in root.rglob("*") if path.is_file() and ".memfas" not in path.parts)
    return {str(path.relative_to(root)): path.read_bytes() for path in files}


def complaints(status: int, errors: str) -> list[str]:
    """What is wrong with the way a failed pass ended: status and message."""
    report = []
    if status not in {0, 1, 2, 3, 4, 75}:
        report.append(f"undocumented status {status}")
    if "Traceback" in errors:
        report.append("a traceback: " + errors.strip().splitlines()[-1])
    if status and "memfas: " not in errors:
        report.append(f"status {status} without a message: {errors!r}")
    return report
