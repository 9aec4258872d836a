"""Looking whether anything has changed, and finding what has.

The sweep of unchanged files in one process, with the listings that an index would know; and, as a
whole process, a recall right after one file among many was edited, which finds the edit.
"""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Iterator
from pathlib import Path
from statistics import median

from tests.benchmarks import corpus, ours
from tests.benchmarks.measure import (
    Run,
    Starter,
    main,
    numbers,
    show,
)

from agent_memfas.store.listing import Known, packed
from agent_memfas.store.sweep import sweep


def known_of(root: str) -> dict[str, Known]:
    """What an index that is in step knows of a folder."""
    found = {}
    for path, listed in sweep(root, {}).changed.items():
        latest = max(listed.numbers[3::4], default=0)
        found[path] = Known(*packed(listed.names, listed.numbers), True, latest)
    return found


def sweeps(folder: Path, rounds: int) -> list[str]:
    """A row: files, folders, CPU and wall of a sweep that finds nothing."""
    root = str(folder.resolve())
    known = known_of(root)
    cpu, wall, seen = list[float](), list[float](), 0
    for _ in range(rounds):
        ticks, clock = time.process_time(), time.perf_counter()
        swept = sweep(root, known)
        cpu.append((time.process_time() - ticks) * 1000)
        wall.append((time.perf_counter() - clock) * 1000)
        assert not swept.changed
        seen = swept.seen
    return [f"{seen:,}", f"{len(known):,}", f"{median(cpu):.1f} ({min(cpu):.1f})",
            f"{median(wall):.1f} ({min(wall):.1f})", f"{median(cpu) * 1000 / seen:.2f}"]  # fmt: skip


def edits(started: Starter, work: Path, files: int, rounds: int) -> Iterator[tuple[Run, Run]]:
    """A recall that finds what was written just before, and one that finds nothing changed."""
    folder = corpus.folder_of(work, files)
    ours.in_step(folder)
    command = ours.recall(ours.copied(work), folder)
    ours.check_fresh(started, command, "time zone")
    for n in range(rounds):
        path, word = folder / corpus.path_of(n * 37 % files), f"edited{os.urandom(6).hex()}"
        before = path.read_bytes()
        try:
            path.write_bytes(before + f"\n- The word is {word}.\n".encode())
            edited = started.run(command, word)
            if word not in started.output:
                raise RuntimeError(f"{word} was not found: {started.output}{started.errors}")
            time.sleep(0.05)
            started.run(command, word)  # looks once more at what was too young to be believed
            yield edited, started.run(command, word)
        finally:
            path.write_bytes(before)
            time.sleep(0.05)
            ours.in_step(folder)


def run(started: Starter, given: argparse.Namespace) -> None:
    """Print both tables."""
    folders = {files: corpus.folder_of(given.work, files) for files in given.sizes}
    rows = [sweeps(folder, given.rounds) for folder in folders.values()]
    show(f"A sweep that finds nothing, in one process; {given.rounds} times",
         ("files", "folders", "CPU ms (least)", "wall ms (least)", "us a file"), rows)  # fmt: skip
    rows = []
    for files in given.edited:
        pairs = list(edits(started, given.work, files, given.rounds))
        for name, runs in zip(("one file edited", "nothing changed"), zip(*pairs, strict=True),
                              strict=True):  # fmt: skip
            cpu, wall = [run.cpu for run in runs], [run.wall for run in runs]
            rows.append([f"{files:,}", name, f"{median(cpu):.1f} ({min(cpu):.1f})",
                         f"{median(wall):.1f} ({min(wall):.1f})",
                         f"{max(run.peak for run in runs):.1f}"])  # fmt: skip
    show("From an edit to the answer that holds it: a whole `recall.py`",
         ("files", "since the last recall", "CPU ms (least)", "wall ms (least)", "MiB"), rows)  # fmt: skip


def add_options(parser: argparse.ArgumentParser) -> None:
    """What this benchmark can be told."""
    parser.add_argument("--sizes", type=numbers, default=[1000, 10_000, 100_000], help="files")
    parser.add_argument("--edited", type=numbers, default=[1000, 10_000], help="files")
    parser.add_argument("--rounds", type=int, default=9)


if __name__ == "__main__":
    main(__doc__, add_options, run)
