"""How long does a warm curate take? CPU and wall ms of a turn, against a bare FTS5 query.

A `ContextCurator` that has been asked before, by words, at level balanced; each turn in a session
of its own, with its file and its line of telemetry. The floor: SQLite's FTS5 over the same passages
in memory, any of the question's words, the ten best by rank.
"""

from __future__ import annotations

import argparse
import shutil
import sqlite3
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from tests.benchmarks import corpus, ours
from tests.benchmarks.measure import Starter, numbers, options, share, show
from tests.benchmarks.query import PASSAGES

from agent_memfas.v3 import ContextCurator

TOP = 10
COLUMNS = ("passages", "", "p50 CPU (wall) ms", "p99", "p50, times the floor", "p99")


def floor_of(folder: Path) -> Callable[[str], object]:
    """The floor over the passages of an index."""
    database = ours.in_step(folder).database
    texts = database.connection.execute("select text from passages").fetchall()
    database.close()
    floor = sqlite3.connect(":memory:")
    floor.execute("create virtual table notes using fts5(text)")
    floor.executemany("insert into notes values (?)", texts)
    sql = f"select text from notes where notes match ? order by rank limit {TOP}"

    def asked(question: str) -> object:
        words = ("".join(c for c in w if c.isalnum()) for w in question.lower().split())
        either = " OR ".join(f'"{word}"' for word in words if word) or '"nothing"'
        return floor.execute(sql, (either,)).fetchall()

    return asked


def times(ask: Callable[[str], object], asked: Sequence[str]) -> list[tuple[float, float]]:
    """(CPU, wall) ms of each question, after the first few were asked once."""
    for question in asked[:5]:
        ask(question)
    spent = []
    for question in asked:
        cpu, wall = time.process_time(), time.perf_counter()
        ask(question)
        wall = time.perf_counter() - wall
        spent.append((1000 * (time.process_time() - cpu), 1000 * wall))
    return spent


def rows_of(folder: Path, files: int, questions: int) -> list[list[str]]:
    """A row for the floor and one for the curator."""
    asked, turn = corpus.questions(files, questions), iter(range(10 * questions))
    bare = times(floor_of(folder), asked)
    shutil.rmtree(folder / ".memfas" / "curation", ignore_errors=True)
    with ContextCurator(folder) as curator:
        whole = times(lambda q: curator.get_context(q, f"turn {next(turn)}"), asked)
    name, rows = f"{round(files * PASSAGES):,}", list[list[str]]()
    for title, spent in (("bare FTS5", bare), ("curate", whole)):
        row, ratios = [name, title], []
        for part in (0.5, 0.99):
            cpu, wall, least = (share([one[n] for one in those], part)
                                for n, those in ((0, spent), (1, spent), (0, bare)))  # fmt: skip
            row.append(f"{cpu:.2f} ({wall:.2f})")
            ratios.append(f"{cpu / least:.1f}")
        rows.append([*row, *ratios])
    return rows


def run(_: Starter | None, given: argparse.Namespace) -> None:
    """Print the table."""
    rows = []
    for passages in given.passages:
        files = round(passages / PASSAGES)
        rows += rows_of(corpus.folder_of(given.work, files), files, given.questions)
    show(f"A turn of curation, {given.questions} questions of 8 words", COLUMNS, rows)


def add_options(parser: argparse.ArgumentParser) -> None:
    """What this benchmark can be told."""
    parser.add_argument("--passages", type=numbers, default=[1000, 10_000], help="about")
    parser.add_argument("--questions", type=int, default=200)


if __name__ == "__main__":
    parser = options(__doc__)
    add_options(parser)
    run(None, parser.parse_args())
