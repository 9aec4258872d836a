"""Whole processes measured: CPU, wall and peak memory of each run, taken in turns.

The kernel starts a process's peak where that of its parent was. So a small process does the
starting, and no peak below its own 9 MiB can be seen.
"""

from __future__ import annotations

import argparse
import marshal
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple

from agent_memfas.text.stopwords import is_stop_word

# Run as `python -I -S -c`: no module but built-in ones, for these are what makes a process large.
_STARTER = """
import marshal, posix, sys, time
def run(argv, environment, folder, out, err):
    posix.chdir(folder)
    write = posix.O_WRONLY | posix.O_CREAT | posix.O_TRUNC
    opened = [(posix.POSIX_SPAWN_OPEN, 0, '/dev/null', posix.O_RDONLY, 0),
              (posix.POSIX_SPAWN_OPEN, 1, out, write, 0o600),
              (posix.POSIX_SPAWN_OPEN, 2, err, write, 0o600)]
    before = time.perf_counter()
    child = posix.posix_spawn(argv[0], argv, environment, file_actions=opened)
    _, status, used = posix.wait4(child, 0)
    wall = time.perf_counter() - before
    return (used[0] + used[1], wall, used[2], posix.waitstatus_to_exitcode(status))
while True:
    asked = marshal.load(sys.stdin.buffer)
    if asked is None:
        break
    sys.stdout.buffer.write(marshal.dumps(run(*asked)))
    sys.stdout.buffer.flush()
"""


class Run(NamedTuple):
    """One run of a process, its children included. cpu, wall: ms; peak: MiB of the largest."""

    cpu: float
    wall: float
    peak: float
    status: int


@dataclass(frozen=True)
class Command:
    """A program with its arguments. `{}` in one of them stands for the question of the turn, and
    `{either}` for a regular expression of those of its words that are no stop words.

    settings: environment variables beside PATH and HOME. fails: statuses beside 0 that are fine.
    """

    arguments: tuple[str, ...]
    settings: Mapping[str, str] = field(default_factory=dict)
    folder: str = "/"
    fails: tuple[int, ...] = ()


class Starter:
    """Starts processes and measures them. `output` and `errors`: what the last one printed."""

    def __init__(self, work: Path) -> None:
        self._files = (work / "output", work / "errors")
        self._process = subprocess.Popen(
            [sys.executable, "-I", "-S", "-c", _STARTER],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE,
        )  # fmt: skip

    def run(self, command: Command, asked: str = "") -> Run:
        """Run it to its end. RuntimeError where it fails."""
        assert self._process.stdin
        assert self._process.stdout
        given = [
            argument.replace("{either}", either(asked)).replace("{}", asked)
            for argument in command.arguments
        ]
        program = shutil.which(given[0])
        if program is None:
            raise RuntimeError(f"no such program: {given[0]}")
        names = ("PATH", "HOME", "LANG")
        environment = {n: os.environ[n] for n in names if n in os.environ} | dict(command.settings)
        order: tuple[Any, ...] = (
            [program, *given[1:]],
            environment,
            command.folder,
            *map(str, self._files),
        )
        self._process.stdin.write(marshal.dumps(order))
        self._process.stdin.flush()
        cpu, wall, peak, status = marshal.load(self._process.stdout)
        if status not in (0, *command.fails):
            raise RuntimeError(f"{given} ended with {status}:\n{self.errors[-2000:]}")
        return Run(cpu * 1000, wall * 1000, peak / 1024, status)

    @property
    def output(self) -> str:
        return self._files[0].read_text(encoding="utf-8", errors="replace")

    @property
    def errors(self) -> str:
        return self._files[1].read_text(encoding="utf-8", errors="replace")

    def close(self) -> None:
        assert self._process.stdin
        self._process.stdin.write(marshal.dumps(None))
        self._process.stdin.close()
        self._process.wait()


@contextmanager
def starter(work: Path) -> Iterator[Starter]:
    """A starter for as long as the block runs."""
    work.mkdir(parents=True, exist_ok=True)
    started = Starter(work)
    try:
        yield started
    finally:
        started.close()


def either(question: str) -> str:
    """What finds the lines with any of the words that say something."""
    telling = [word.strip(" .,;:()\"'/") for word in question.split() if not is_stop_word(word)]
    return "|".join(re.escape(word) for word in telling if word) or "nothing"


def in_turns(
    started: Starter, commands: Mapping[str, Command], asked: Sequence[str]
) -> dict[str, list[Run]]:
    """Each command once for each question, all of them with one question before the next one."""
    runs: dict[str, list[Run]] = {name: [] for name in commands}
    for question in asked:
        for name, command in commands.items():
            runs[name].append(started.run(command, question))
    return runs


def compared(runs: Mapping[str, list[Run]], floor: str) -> list[list[str]]:
    """Rows of a table: the medians (and least) of each command, and its CPU against the floor's."""
    rows = []
    for name, those in runs.items():
        ratio = median(run.cpu / base.cpu for run, base in zip(those, runs[floor], strict=True))
        rows.append([
            name, _middle([run.cpu for run in those]), _middle([run.wall for run in those]),
            f"{ratio:.2f}", f"{max(run.peak for run in those):.1f}",
        ])  # fmt: skip
    return rows


COMPARED = ("whole process", "CPU ms (least)", "wall ms (least)", "CPU, times the floor", "MiB")


def _middle(numbers: list[float]) -> str:
    return f"{median(numbers):.1f} ({min(numbers):.1f})"


def share(numbers: Sequence[float], part: float) -> float:
    """The number that this part of them does not exceed."""
    ordered = sorted(numbers)
    return ordered[min(len(ordered) - 1, int(len(ordered) * part))]


def show(title: str, columns: Sequence[str], rows: Sequence[Sequence[object]]) -> None:
    """Print a table in markdown."""
    print(f"\n### {title}\n")
    print(f"| {' | '.join(columns)} |")
    print(f"|{'---|' * len(columns)}")
    for row in rows:
        print(f"| {' | '.join(map(str, row))} |")
    print(flush=True)


def options(doc: str | None) -> argparse.ArgumentParser:
    """The options that every benchmark has."""
    parser = argparse.ArgumentParser(
        description=doc, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--work", type=Path, default=Path(tempfile.gettempdir()) / "memfas-benchmarks",
        help="where folders and indexes are made and kept",
    )  # fmt: skip
    return parser


def main(
    doc: str | None,
    add_options: Callable[[argparse.ArgumentParser], None],
    run: Callable[[Starter, argparse.Namespace], None],
) -> None:
    """One benchmark by itself, with its options and what starts its processes."""
    parser = options(doc)
    add_options(parser)
    chosen = parser.parse_args()
    with starter(chosen.work) as one:
        run(one, chosen)


def numbers(text: str) -> list[int]:
    """`1000,10_000` as numbers."""
    return [int(part) for part in text.split(",")]
