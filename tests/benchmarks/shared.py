"""A shared index beside the own one: how fast it is filled, how long a question takes, how far the
ten best passages are the same.

    python -m tests.benchmarks.shared [--uri URI] [--passages 10000 100000] [--questions 60]

Without an address Milvus Lite's own server is started on loopback (it keeps all in memory and
compares one by one: a cluster is another thing). The folders are those of tests.benchmarks.corpus.
Questions are asked in one process, once before the clock runs.
"""

from __future__ import annotations

import argparse
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import date
from pathlib import Path
from typing import Any

from tests.benchmarks import corpus
from tests.benchmarks.query import PASSAGES

from agent_memfas.index.backends.collection import Address
from agent_memfas.index.keeper import Keeper
from agent_memfas.index.places import places_of
from agent_memfas.index.shared import shared
from agent_memfas.tasks.recall import Filters, ask

TOP = 10


@contextmanager
def served() -> Iterator[str]:
    """The address of a server of our own."""
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        port = found.getsockname()[1]
    with tempfile.TemporaryDirectory() as data:
        command = [sys.executable, "-m", "milvus_lite.cmdline", "server", "--host", "127.0.0.1",
                   "--port", str(port), "--data-dir", data]  # fmt: skip
        with subprocess.Popen(command, stdout=-3, stderr=-3) as process:
            try:
                for _ in range(600):
                    with socket.socket() as tried:
                        if tried.connect_ex(("127.0.0.1", port)) == 0:
                            break
                    time.sleep(0.1)
                yield f"http://127.0.0.1:{port}"
            finally:
                process.kill()


def asked(keeper: Keeper, questions: list[str]) -> tuple[list[float], list[list[str]], set[str]]:
    """Milliseconds of each question, the places of its best passages, and the notes."""
    ms, tops, notes = list[float](), list[list[str]](), set[str]()
    for turn in range(2):
        for question in questions:
            start = time.perf_counter()
            answer = ask(keeper, question, Filters(limit=TOP), date.today(), time.time_ns(), None)
            if turn:
                ms.append(1000 * (time.perf_counter() - start))
                tops.append([f"{hit.path}:{hit.start_line}" for hit in answer.hits])
                notes.update(answer.freshness.notes)
    return ms, tops, notes


def timed(work: Callable[[], Any]) -> float:
    """Seconds."""
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def row(name: str, seconds: float, passages: int, ms: list[float]) -> None:
    """A line of the table."""
    p50, p95 = statistics.median(ms), sorted(ms)[int(len(ms) * 0.95)]
    rate = f"{passages / seconds:10,.0f} a second"
    print(f"{passages:8,}  {name:7}  {rate}  {p50:7.1f} ms  {p95:7.1f} ms")


def run(given: argparse.Namespace, uri: str) -> None:
    """A table for each size."""
    for passages in given.passages:
        with tempfile.TemporaryDirectory() as folder:
            files = round(passages / PASSAGES)
            root = corpus.folder_of(Path(folder), files)
            questions = corpus.questions(files, given.questions)
            places = places_of(str(root), "", "")
            own = Keeper(str(root), places)
            took = timed(lambda own=own: own.source(time.time_ns()))
            count = own.source(time.time_ns()).database.count("passages")
            ms, tops, _ = asked(own, questions)
            row("sqlite", took, count, ms)
            address = Address(uri, collection="bench", namespace=f"b{passages}-{time.time_ns()}")
            other = shared(address, None)(str(root), places)
            took = timed(lambda other=other: other.feed(time.time_ns()))
            ms, others, notes = asked(other, questions)
            row("milvus", took, count, ms)
            same = [len({*a} & {*b}) / max(len(a), 1) for a, b in zip(tops, others, strict=True)]
            first = [a[:1] == b[:1] for a, b in zip(tops, others, strict=True)]
            print(f"          of the {TOP} best {100 * statistics.mean(same):.1f} % are the same,"
                  f" of the best {100 * statistics.mean(first):.1f} %  {notes or ''}")  # fmt: skip
            own.close()
            other.close()


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n\n")[0])
    parser.add_argument("--uri", default="")
    parser.add_argument("--passages", type=int, nargs="+", default=[10_000, 100_000])
    parser.add_argument("--questions", type=int, default=60)
    given = parser.parse_args()
    print("passages  backend        filled          p50         p95")
    if given.uri:
        run(given, given.uri)
        return
    with served() as uri:
        run(given, uri)


if __name__ == "__main__":
    main()
