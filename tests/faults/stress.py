"""Lines lost while writers that take no lock and a janitor that never rests share one MEMORY.md.

    python -m tests.faults.stress [--writes 100000] [--writer KIND]... [--janitor ours] [--at DIR]

One line of figures for each kind of writer. An appender's line is lost when, after the last pass, it
is neither in MEMORY.md nor in the archive. A saver writes back the whole file as it read it, so it
may bring moved entries back (that is no loss: they are then in both places); lost is what it added,
saved, and what is then nowhere; `reverted` are saves that were undone by the next time it read.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from . import folders, janitors, writers

HEADER = "# Memory\n\n## Notes\n\n- [P0] The first entry\n"


@dataclass
class Tally:
    """What became of the writes of one kind of writer."""

    writer: str
    writes: int = 0
    lines: int = 0
    lost: list[str] = field(default_factory=list)
    duplicated: int = 0
    torn: list[str] = field(default_factory=list)
    reverted: int = 0
    passes: int = 0
    moving: int = 0
    archived: int = 0
    seconds: float = 0
    statuses: dict[str, int] = field(default_factory=dict)
    messages: dict[str, int] = field(default_factory=dict)

    @property
    def sound(self) -> bool:
        """Whether nothing was lost, torn or undone."""
        return not (self.lost or self.torn or self.reverted)

    def __str__(self) -> str:
        """One line of a table."""
        rate = len(self.lost) * 100_000 / max(1, self.writes)
        return (
            f"{self.writer:9} {self.writes:7} writes {self.seconds:6.1f} s"
            f" {self.passes:6} passes {self.moving:5} moved {self.archived:7} lines |"
            f" lost {len(self.lost):6} = {rate:9.1f} per 100,000 | torn {len(self.torn)}"
            f" | reverted {self.reverted} | doubled {self.duplicated} | status {self.statuses}"
        )


def start_janitor(kind: str, root: Path, apart: bool) -> subprocess.Popen[str]:
    """The janitor's loop, once it is under way."""
    argv = [sys.executable, "-m", f"{__package__}.loop", kind, str(root)]
    pipe = subprocess.PIPE
    where = janitors.REPO if __package__ == "tests.faults" else janitors.REPO / "tests"
    argv += ["process"] * apart
    loop = subprocess.Popen(argv, stdin=pipe, stdout=pipe, text=True, cwd=where)
    assert loop.stdout is not None
    loop.stdout.readline()  # the first pass is over, everything is imported
    return loop


def report_of(process: subprocess.Popen[str]) -> dict[str, Any]:
    """End a process's stdin and read its account."""
    out, _ = process.communicate()
    if process.returncode:
        raise RuntimeError(f"{process.args!r} ended with {process.returncode}")
    account: dict[str, Any] = json.loads(out)
    return account


def settle(kind: str, root: Path) -> None:
    """The quiet passes after the storm: what waits in limbo is brought home."""
    for _ in range(3):
        subprocess.run(
            janitors.command(kind, root, "--force"),
            cwd=janitors.REPO,
            capture_output=True,
            check=False,
        )


def count(tally: Tally, root: Path, accounts: dict[str, dict[str, Any]]) -> None:
    """Compare what was confirmed with what is there."""
    confirmed: Counter[bytes] = folders.said(HEADER.encode())
    allowed = set(confirmed)
    for name, account in accounts.items():
        tally.writes += account["confirmed"] - len(account["failed"])
        tally.reverted += account["reverted"]
        failed = set(account["failed"])
        for number in range(account["confirmed"]):
            lines = folders.said(writers.entry(name, number).encode())
            allowed.update(lines)
            if number not in failed:
                confirmed.update(lines)
    there = folders.found(root)
    tally.lines = confirmed.total()
    tally.lost = [line.decode() for line in confirmed - there]
    tally.duplicated = sum(there[line] - 1 for line in allowed if there[line] > 1)
    for line in there:
        furniture = folders.FURNITURE.fullmatch(line) or line.startswith(writers.COUNTER.encode())
        if line not in allowed and not furniture:
            tally.torn.append(repr(line))
    archive = folders.archived(root)
    tally.moving = archive.count(b"## Archived ")
    tally.archived = sum(folders.said(archive).values())


def last_save(root: Path) -> str | None:
    """The number of the save that MEMORY.md shows."""
    text = (root / "MEMORY.md").read_text()
    shown = [line for line in text.splitlines() if line.startswith(writers.COUNTER)]
    return shown[0].removeprefix(writers.COUNTER) if len(shown) == 1 else None


def stress(
    writer: str,
    janitor: str = janitors.OURS,
    *,
    at: Path,
    writes: int = 100_000,
    seconds: float = 600,
    pause: float = 0.001,
    apart: bool = False,
) -> Tally:
    """`writes` writes by processes of one kind while the janitor loops in the folder `at`."""
    at.joinpath("memfas.yaml").write_text(folders.CONFIG)
    path = at / "MEMORY.md"
    path.write_text(HEADER)
    names = [f"{writer}{number}" for number in range(writers.PROCESSES.get(writer, 1))]
    share = -(-writes // len(names))
    argvs = [writers.command(writer, str(path), name, share, pause, seconds) for name in names]
    processes = [writers.start(argv) for argv in argvs]
    loop = start_janitor(janitor, at, apart)
    began = time.monotonic()
    for process in processes:
        assert process.stdin is not None
        process.stdin.close()
        process.stdin = None
    accounts = dict(zip(names, map(report_of, processes), strict=True))
    tally = Tally(writer, seconds=time.monotonic() - began)
    account = report_of(loop)
    tally.passes, tally.statuses = account["passes"], account["statuses"]
    tally.messages = account["messages"]
    settle(janitor, at)
    count(tally, at, accounts)
    saves = tally.writes
    if writer in writers.SAVERS and last_save(at) != f"{saves:07d}":
        tally.reverted += 1
    return tally


def main() -> None:
    """Run the kinds asked for and print a line for each."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--writes", type=int, default=100_000, help="for each kind of writer")
    parser.add_argument("--writer", action="append", choices=writers.KINDS, help="default: all")
    parser.add_argument("--seconds", type=float, default=600, help="at most, for each kind")
    parser.add_argument("--pause", type=float, default=0.001, help="seconds between writes")
    parser.add_argument("--janitor", choices=janitors.KINDS, default=janitors.OURS)
    parser.add_argument("--process", action="store_true", help="each pass a process of its own")
    parser.add_argument("--at", help="make the folders here: which file system is tested")
    args = parser.parse_args()
    sound = True
    for kind in args.writer or writers.KINDS:
        with tempfile.TemporaryDirectory(prefix="memfas-stress-", dir=args.at) as name:
            tally = stress(
                kind,
                args.janitor,
                at=Path(name),
                writes=args.writes,
                seconds=args.seconds,
                pause=args.pause,
                apart=args.process,
            )
        print(tally, flush=True)
        for text in [*tally.lost[:5], *tally.torn[:5], *map(str, tally.messages.items())]:
            print("   ", text, flush=True)
        sound = sound and tally.sound
    sys.exit(0 if sound else 1)


if __name__ == "__main__":
    main()
