"""Asking once, from nothing: whole processes, in turns, against a bare Python with one FTS5 query.

The floor is `import sqlite3, sys` and one OR query of all the words of the question over 5,000
passages, best five by rank; below it the same without stop words, and `python -c pass`.

Twice: as after an installation or a first run, and where nothing of memfas is ever compiled, as
from a checkout with PYTHONDONTWRITEBYTECODE=1. (A script itself, recall.py, is compiled each time.)
"""

from __future__ import annotations

import argparse
import shutil
import sqlite3
import sys
from pathlib import Path

from tests.benchmarks import corpus, ours
from tests.benchmarks.measure import (
    COMPARED,
    Command,
    Starter,
    compared,
    in_turns,
    main,
    numbers,
    show,
)

from agent_memfas.text.documents import parse
from agent_memfas.text.passages import passages
from agent_memfas.text.stopwords import is_stop_word

FLOOR = "the floor: Python, sqlite3, one FTS5 query"
PASSAGES = 5000
_ASK = """
import sqlite3, sys
words = ["".join(c for c in w if c.isalnum()) for w in sys.argv[2].lower().split()]
asked = " OR ".join('"%s"' % w for w in words if w and w not in sys.argv[3:]) or '"nothing"'
for row in sqlite3.connect(sys.argv[1]).execute(
        "select text from notes where notes match ? order by rank limit 5", (asked,)):
    print(row[0])
"""


def floor(work: Path, *left_out: str) -> Command:
    """The least that such a program can be."""
    return Command((sys.executable, "-c", _ASK, str(_floor_index(work)), "{}", *left_out))


def _floor_index(work: Path) -> Path:
    path = work / "floor.db"
    if path.exists():
        return path
    found: list[tuple[str]] = []
    while len(found) < PASSAGES:
        document = parse(corpus.text_of(len(found)).encode())
        found += [(passage.text,) for passage in passages(document)]
    connection = sqlite3.connect(path)
    connection.execute("create virtual table notes using fts5(text)")
    connection.executemany("insert into notes values(?)", found[:PASSAGES])
    connection.commit()
    connection.close()
    return path


def stop_words() -> list[str]:
    """Those that there are in the text."""
    words = {word.lower() for sentence in corpus.sentences() for word in sentence.split()}
    return sorted(word for word in words if is_stop_word(word) and word.isalpha())


def rg(folder: Path) -> Command:
    """Run ripgrep for the lines with any of the question's telling words."""
    return Command(("rg", "-n", "-i", "-w", "{either}", str(folder)), fails=(1,))


def run(started: Starter, given: argparse.Namespace) -> None:
    """Print both tables."""
    folders = {files: corpus.folder_of(given.work, files) for files in given.sizes}
    for folder in folders.values():
        ours.in_step(folder)
    asked = corpus.questions(min(given.sizes), given.rounds)
    for compiled in (True, False):
        settings = {} if compiled else ours.NO_CACHE
        scripts = ours.copied(given.work, compiled=compiled)
        commands = {"python -c pass": Command((sys.executable, "-c", "pass")),
                    FLOOR: floor(given.work),
                    "the floor without stop words": floor(given.work, *stop_words())}  # fmt: skip
        for files, folder in folders.items():
            command = ours.recall(scripts, folder, settings)
            ours.check_fresh(started, command, asked[0])
            commands[f"scripts/recall.py, {files:,} files"] = command
            if compiled and given.memfas:
                installed = Command((str(given.memfas), "recall", "{}"), {}, str(folder), (1,))
                commands[f"memfas recall, {files:,} files"] = installed
            if compiled and shutil.which("rg"):
                commands[f"rg of its telling words, {files:,} files"] = rg(folder)
        runs = in_turns(started, commands, asked)
        name = "memfas compiled" if compiled else "nothing of memfas ever compiled"
        show(f"Asking from nothing, {name}; {given.rounds} turns", COMPARED,
             compared(runs, FLOOR))  # fmt: skip


def add_options(parser: argparse.ArgumentParser) -> None:
    """What this benchmark can be told."""
    parser.add_argument("--sizes", type=numbers, default=[1000, 10_000], help="files")
    parser.add_argument("--rounds", type=int, default=21)
    parser.add_argument("--memfas", type=Path, help="an installed `memfas` to run as well")


if __name__ == "__main__":
    main(__doc__, add_options, run)
