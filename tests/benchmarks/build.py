"""Making the index of a folder from nothing: the whole process, and where its time goes.

Where it goes is sampled in one process at every tick of its CPU time: a stage has the samples that
fell into its files or into what these called.
"""

from __future__ import annotations

import argparse
import signal
import time
from collections import Counter
from pathlib import Path
from statistics import median
from types import FrameType

from tests.benchmarks import corpus, ours
from tests.benchmarks.measure import (
    Starter,
    main,
    numbers,
    show,
)

TERMS = "terms of the passages"
TICK = 0.001  # seconds; the kernel's own tick may be longer


def whole(started: Starter, folder: Path, scripts: Path, rounds: int) -> list[str]:
    """A row: `memfas reindex` as a process."""
    runs = [started.run(ours.memfas(scripts, folder, "reindex")) for _ in range(rounds)]
    cpu, wall = (median(getattr(run, what) for run in runs) / 1000 for what in ("cpu", "wall"))
    source = ours.in_step(folder)
    files, passages_ = (source.database.count(what) for what in ("files", "passages"))
    text, size = corpus.text_bytes(folder), Path(source.database.path).stat().st_size
    source.database.close()
    return [f"{files:,}", f"{passages_:,}", f"{cpu:.2f}", f"{wall:.2f}", f"{files / cpu:,.0f}",
            f"{text / cpu / 1e6:.2f}", f"{max(run.peak for run in runs):.0f}", f"{text / 1e6:.1f}",
            f"{size / 1e6:.1f}", f"{size / text:.2f}"]  # fmt: skip


WHOLE = ("files", "passages", "CPU s", "wall s", "files/s of CPU", "MB/s of CPU", "peak MiB",
         "text MB", "index MB", "index/text")  # fmt: skip


# Where a sample belongs: the first of these in the innermost file of the stack that has any.
STAGES = (
    ("/markdown_it/", "blocks: markdown-it"),
    ("/text/documents.py", "blocks: around markdown-it"),
    ("/text/words.py", TERMS),
    ("/text/characters.py", TERMS),
    ("/text/beyond_ascii.py", TERMS),
    ("/text/names.py", TERMS),
    ("/text/stems.py", TERMS),
    ("/text/stopwords.py", TERMS),
    ("/agent_memfas/text/", "passages, entries, triggers"),
    ("/index/extract.py", "passages, entries, triggers"),
    ("/agent_memfas/store/", "listing, opening and reading files"),
    ("/index/sync.py", "rows into SQLite and FTS5"),
)


def stages(folder: Path) -> list[list[str]]:
    """Rows: a stage, its share of the samples, and that as us of CPU a file."""
    found: Counter[str] = Counter()

    def sample(_: int, frame: FrameType | None) -> None:
        while frame is not None:
            name = frame.f_code.co_filename
            if stage := next((stage for mark, stage in STAGES if mark in name), None):
                found[stage] += 1
                return
            frame = frame.f_back
        found["the rest"] += 1

    kept = ours.keeper(folder)
    before = time.process_time()
    usual = signal.signal(signal.SIGPROF, sample)
    signal.setitimer(signal.ITIMER_PROF, TICK, TICK)
    try:
        files = kept.anew(time.time_ns()).database.count("files")
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, usual)
    took, total = time.process_time() - before, sum(found.values())
    kept.close()
    return [[stage, f"{count / total:.0%}", f"{count / total * took / files * 1e6:,.0f}"]
            for stage, count in [*found.most_common(), ("the whole", total)]]  # fmt: skip


def run(started: Starter, given: argparse.Namespace) -> None:
    """Print both tables."""
    scripts = ours.copied(given.work)
    folders = [corpus.folder_of(given.work, files) for files in given.built]
    rows = [whole(started, folder, scripts, given.builds) for folder in folders]
    show("`memfas reindex`, whole process", WHOLE, rows)
    show(f"Where its time goes: {given.built[-1]:,} files in one process",
         ("stage", "share of CPU", "us a file"), stages(folders[-1]))  # fmt: skip


def add_options(parser: argparse.ArgumentParser) -> None:
    """What this benchmark can be told."""
    parser.add_argument("--built", type=numbers, default=[1000, 10_000], help="files")
    parser.add_argument("--builds", type=int, default=3, help="times that each is built")


if __name__ == "__main__":
    main(__doc__, add_options, run)
