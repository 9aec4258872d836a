"""Questions to an open index, one after the other in one process, common words included.

CPU time of the ten best passages each, after all the questions have been asked once. The exact
ranking scores every passage that holds any term of the question; the quick one, which recall uses,
lets the rarest terms decide who is scored at all.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import islice
from pathlib import Path

from tests.benchmarks import corpus, ours
from tests.benchmarks.measure import Starter, numbers, options, share, show

from agent_memfas.embedders.offline import OfflineEmbedder
from agent_memfas.index import postings, search
from agent_memfas.index.database import Database
from agent_memfas.index.keeper import IndexSource
from agent_memfas.index.places import places_of
from agent_memfas.index.priors import PLAIN
from agent_memfas.index.semantic import Semantic

TOP = 10
PASSAGES = 20.3  # in a file, about
MODELLED = 20_000  # passages: more would take minutes to embed


@contextmanager
def exactly() -> Iterator[None]:
    """Rank by every term while the block runs."""
    usual, postings.POSTINGS = postings.POSTINGS, 1 << 60
    try:
        yield
    finally:
        postings.POSTINGS = usual


def best(database: Database, question: str) -> list[tuple[str, int, str]]:
    """What tells the ten best passages apart, best first."""
    found = islice(search.ranked(database, question), TOP)
    return [(one.path, one.row.start, one.row.text) for one in found]


def times(database: Database, asked: Sequence[str]) -> list[float]:
    """CPU ms of each question, warm."""
    for question in asked:
        best(database, question)
    spent = []
    for question in asked:
        before = time.process_time()
        best(database, question)
        spent.append((time.process_time() - before) * 1000)
    return spent


def hybrid_times(
    source: IndexSource, folder: Path, asked: Sequence[str]
) -> tuple[list[float], list[float]]:
    """CPU ms of each question by words and meaning, warm: of the ranking, and of the model."""
    root = str(folder.resolve())
    kept = Semantic(root, places_of(root, "", ""), wait=60.0)
    kept.lean_on(OfflineEmbedder(), alone=False)
    kept.feed(time.time_ns())
    ranking, model = list[float](), list[float]()
    for question in (*asked, *asked):
        before = time.process_time()
        vector = kept.of_question(question)
        between = time.process_time()
        cosines = kept.cosines(source.database, question, vector)
        list(islice(search.ranked(source.database, question, PLAIN, cosines), TOP))
        ranking.append((time.process_time() - between) * 1000)
        model.append((between - before) * 1000)
    return ranking[len(asked) :], model[len(asked) :]


def agreement(database: Database, asked: Sequence[str]) -> tuple[str, str, str]:
    """How alike the two rankings are: the same ten, of ten, the same first."""
    same = common = first = total = 0
    for question in asked:
        quick = best(database, question)
        with exactly():
            exact = best(database, question)
        same += set(quick) == set(exact)
        first += quick[:1] == exact[:1]
        common += len(set(quick) & set(exact))
        total += len(exact)
    return tuple(f"{part:.1%}" for part in  # type: ignore[return-value]
                 (common / max(total, 1), same / len(asked), first / len(asked)))  # fmt: skip


def rows_of(
    source: IndexSource, folder: Path, name: str, asked: Sequence[str], few: int
) -> list[list[str]]:
    """A row for the quick ranking, one for the exact one, and those with a model."""
    database = source.database
    quick = times(database, asked)
    with exactly():
        exact = times(database, asked[:few])
    alike = agreement(database, asked[:few])
    spent = {"quick": quick, "exact": exact}
    if database.count("passages") <= MODELLED:
        spent["hybrid, the model aside"], spent["the model"] = hybrid_times(source, folder, asked)
    return [[name, ranking, *(f"{share(ms, part):.2f}" for part in (0.5, 0.9, 0.99)),
             f"{max(ms):.2f}", *(alike if ranking == "quick" else ("", "", ""))]
            for ranking, ms in spent.items()]  # fmt: skip


def run(_: Starter | None, given: argparse.Namespace) -> None:
    """Print the table."""
    rows = []
    for passages in given.passages:
        files = round(passages / PASSAGES)
        folder = corpus.folder_of(given.work, files)
        source = ours.in_step(folder)
        asked = corpus.questions(files, given.questions)
        name = f"{source.database.count('passages'):,}"
        rows += rows_of(source, folder, name, asked, given.exact)
        source.database.close()
    show(f"The ten best passages; CPU ms of {given.questions} questions of 8 words"
         f" ({given.exact} for the exact ranking)",
         ("passages", "ranking", "p50", "p90", "p99", "most", "of the exact ten", "same ten",
          "same first"), rows)  # fmt: skip


def add_options(parser: argparse.ArgumentParser) -> None:
    """What this benchmark can be told."""
    parser.add_argument(
        "--passages", type=numbers, default=[1000, 10_000, 100_000, 1_000_000], help="about"
    )
    parser.add_argument("--questions", type=int, default=400)
    parser.add_argument("--exact", type=int, default=50, help="questions for the exact ranking")


if __name__ == "__main__":
    parser = options(__doc__)
    add_options(parser)
    run(None, parser.parse_args())
