"""Looking up triggers: 10, 1,000 and 100,000 of them, the same question.

In process and warm, CPU time; the question has 12 words, one of which is a trigger. The cost is to
be that of the question, whatever the number of triggers.
"""

from __future__ import annotations

import argparse
import os
import time
from pathlib import Path
from tempfile import TemporaryDirectory

from agent_memfas.index.keeper import Keeper
from agent_memfas.index.places import places_of

QUESTION = "what did keyword7 say about the deadline of the new front end yesterday"


def seconds(count: int, rounds: int) -> float:
    """The median CPU time of one lookup among so many triggers."""
    with TemporaryDirectory(prefix="memfas-triggers-") as folder:
        root = os.path.realpath(folder)
        lines = [f"- keyword{n}, name{n} surname{n} -> hint number {n}\n" for n in range(count)]
        Path(root, "TRIGGERS.md").write_text("".join(lines), encoding="utf-8")
        keeper = Keeper(root, places_of(root, "", ""))
        source = keeper.source(time.time_ns())
        taken = []
        for _ in range(rounds):
            began = time.process_time()
            found = source.triggers(QUESTION)
            taken.append(time.process_time() - began)
        assert [trigger.keyword for trigger in found] == ["keyword7"]
        keeper.close()
    return sorted(taken)[rounds // 2]


def main() -> None:
    """Print a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=201)
    rounds = parser.parse_args().rounds
    base = seconds(10, rounds)
    print("| triggers | µs a lookup | ratio to 10 |\n|---|---|---|")
    for count in (10, 1_000, 100_000):
        taken = seconds(count, rounds)
        print(f"| {count} | {taken * 1e6:.0f} | {taken / base:.2f} |")


if __name__ == "__main__":
    main()
