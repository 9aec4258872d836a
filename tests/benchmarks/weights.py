r"""What each weight of the ranking is worth, and what weights a data set would choose by itself.

    python -m tests.benchmarks.weights --data DIR                 each weight left out, on all sets
    python -m tests.benchmarks.weights --data DIR --fit locomo-dev    fitted on one, told for all

Data sets: as of `evidence`. Fitting is a coordinate search from a neutral start, for the mean of
E@250, 500, 1000 and 2000; the weights in the code are rounded from what each set chooses and what
the others lose by it. `--config` are lines of memfas.yaml: with a model, its weight is there, too.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests.benchmarks.evidence import of_all

from agent_memfas.cli.benching import LIMIT
from agent_memfas.index import weights

WORDS = ("WINDOW", "SECTION", "ANSWERS", "SPEAKER", "OPENS", "ASSISTANT", "TIME", "ASKS", "RECENCY")
MODEL = ("MEANING", "NEIGHBOURS")
START = {"WINDOW": 0.5, "SECTION": 0.2, "ANSWERS": 0.15, "SPEAKER": 0.2, "OPENS": 0.1,
         "ASSISTANT": -0.1, "TIME": 0.2, "ASKS": -0.05}  # fmt: skip
STEPS = (0.0, 0.5, 1.5, 2.0)  # times a weight, in turn
COLUMNS = ("E@250", "E@500", "E@1000", "E@2000", "MRR")


@contextmanager
def ranked_by(values: dict[str, float]) -> Iterator[None]:
    """Rank by these while the block runs."""
    before = {name: getattr(weights, name) for name in values}
    try:
        for name, value in values.items():
            setattr(weights, name, value)
        yield
    finally:
        for name, value in before.items():
            setattr(weights, name, value)


def figures(data: dict[str, Any], config: str, values: dict[str, float]) -> dict[str, float]:
    """The figures of a data set by these weights."""
    with ranked_by(values):
        found: dict[str, float] = of_all(data, config, LIMIT)[0].figures[""]
        return found


def row(name: str, sets: list[dict[str, Any]], config: str, values: dict[str, float]) -> str:
    """A line of a table: the figures of every set."""
    cells = []
    for data in sets:
        found = figures(data, config, values)
        cells.append(" ".join(f"{found[column]:.1f}" for column in COLUMNS))
    return f"| {name} | {' | '.join(cells)} |"


def fitted(data: dict[str, Any], config: str, rounds: int) -> dict[str, float]:
    """The weights that this data set chooses."""

    def worth(values: dict[str, float]) -> float:
        found = figures(data, config, values)
        return sum(found[column] for column in COLUMNS[:4])

    chosen, best = dict(START), worth(START)
    for _ in range(rounds):
        for name in START:
            for step in STEPS:
                tried = {**chosen, name: round(chosen[name] * step, 3)}
                if tried != chosen and (score := worth(tried)) > best + 0.1:
                    chosen, best = tried, score
    return chosen


def run(given: argparse.Namespace) -> None:
    """Print the tables."""
    sets = [
        json.loads(path.read_text(encoding="utf-8")) for path in sorted(given.data.glob("*.json"))
    ]
    if given.first:
        for data in sets:
            data["corpora"] = data["corpora"][: given.first]
    print(f"| {' '.join(COLUMNS)} | {' | '.join(data['name'] for data in sets)} |")
    print("|---|" + "---|" * len(sets))
    print(row("all", sets, given.config, {}))
    if given.fit:
        (data,) = (data for data in sets if data["name"] == given.fit)
        chosen = fitted(data, given.config, given.rounds)
        print(row(f"fitted on {given.fit}: {chosen}", sets, given.config, chosen))
        return
    for name in (*WORDS, *MODEL) if "backend" in given.config else WORDS:
        print(row(f"without {name}", sets, given.config, {name: 0.0}), flush=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", type=Path, required=True, metavar="DIR")
    parser.add_argument("--config", default="", metavar="LINES")
    parser.add_argument("--fit", metavar="NAME")
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--first", type=int, help="only so many conversations of each set")
    run(parser.parse_args())
