"""Other programs with the same folder: install, index, index again, ask. Each in its own folder.

`--peers DIR` holds an environment of each, made by hand (those that are missing are left out):

    python -m venv DIR/agent-memfas && DIR/agent-memfas/bin/pip install agent-memfas==0.4.0 PyYAML
    python3.12 -m venv DIR/basic-memory && DIR/basic-memory/bin/pip install basic-memory==0.24.1

basic-memory runs without its model, which has to be downloaded. Whatever takes longer than
`--patience` is ended and shown as such.
"""

from __future__ import annotations

import argparse
import json
import re
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

from tests.benchmarks import corpus, ours
from tests.benchmarks.cold import FLOOR, floor, rg
from tests.benchmarks.measure import (
    COMPARED,
    Command,
    Run,
    Starter,
    compared,
    in_turns,
    main,
    show,
)

TIMED_OUT = 124  # the status of coreutils' timeout
ROUNDS_OF_SLOW = 3


@dataclass(frozen=True)
class Peer:
    """A program. folder: its own copy of the notes. installed: what its installation takes up.

    index: reads whatever has changed, and all of it at first; first: comes before that, once.
    ask: with the question for `{}`. kept: where its index lies. slow: takes seconds to answer.
    """

    name: str
    folder: Path
    installed: Sequence[Path]
    index: Command
    ask: Command
    kept: Sequence[Path]
    first: Command | None = None
    slow: bool = False


def peers_of(work: Path, files: int, environments: Path | None) -> list[Peer]:
    """memfas, and those whose environment is there."""
    found = [_ours(work, _copy(work, "memfas", files))]
    if environments and (old := environments / "agent-memfas" / "bin" / "memfas").exists():
        found.append(_agent_memfas(old, _copy(work, "agent-memfas", files)))
    if environments and (other := environments / "basic-memory" / "bin" / "bm").exists():
        found.append(_basic_memory(other, _copy(work, "basic-memory", files)))
    return found


def _copy(work: Path, name: str, files: int) -> Path:
    folder = work / "against" / f"{name}-{files}"
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(corpus.folder_of(work, files), folder, ignore=lambda *_: {".memfas"})
    return folder


def _ours(work: Path, folder: Path) -> Peer:
    scripts = ours.copied(work)
    return Peer(
        "memfas", folder, [scripts, *_dependencies()], ours.memfas(scripts, folder, "index"),
        ours.recall(scripts, folder), [folder / ".memfas"],
    )  # fmt: skip


def _dependencies() -> list[Path]:
    """The files of what the declared dependencies bring, directly or not."""
    wanted = ["typer", "python-frontmatter", "markdown-it-py", "watchdog", "openai", "rank-bm25",
              "pathspec", "detect-secrets"]  # fmt: skip
    found: dict[str, list[Path]] = {}
    while wanted:
        name = wanted.pop()
        if name in found:
            continue
        try:
            one = distribution(name)
        except PackageNotFoundError:  # of another system or an older Python
            continue
        found[name] = [Path(str(path.locate())) for path in one.files or ()]
        wanted += [re.split(r"[^\w.-]", line, maxsplit=1)[0].lower()
                   for line in one.requires or () if "extra ==" not in line]  # fmt: skip
    return [path for paths in found.values() for path in paths]


def _packages(environment: Path) -> list[Path]:
    """What is installed in an environment, without what is in each."""
    (packages,) = environment.glob("lib/python*/site-packages")
    bare = ("pip", "setuptools", "pkg_resources", "_distutils", "distutils")
    return [path for path in packages.iterdir() if not path.name.startswith(bare)]


def _agent_memfas(program: Path, folder: Path) -> Peer:
    settings = {"db_path": str(folder / "memfas.db"), "sources": []}
    (folder / "memfas.json").write_text(json.dumps(settings), encoding="utf-8")
    start = (str(program), "-c", "memfas.json")
    return Peer(
        "agent-memfas", folder, _packages(program.parents[1]),
        Command((*start, "index", "memory"), folder=str(folder)),
        Command((*start, "recall", "{}"), folder=str(folder)), [folder / "memfas.db"],
    )  # fmt: skip


def _basic_memory(program: Path, folder: Path) -> Peer:
    home = folder.with_name(f"{folder.name}.home")
    shutil.rmtree(home, ignore_errors=True)
    home.mkdir()
    settings = {"HOME": str(home), "BASIC_MEMORY_HOME": str(folder),
                "BASIC_MEMORY_SEMANTIC_SEARCH_ENABLED": "false",
                "BASIC_MEMORY_AUTO_UPDATE": "false"}  # fmt: skip
    start = str(program)
    return Peer(
        "basic-memory", folder, _packages(program.parents[1]),
        Command((start, "reindex", "--search", "--project", "main"), settings, str(folder)),
        Command((start, "tool", "search-notes", "{}", "--plain"), settings, str(folder)),
        [home / ".basic-memory"],
        first=Command((start, "project", "list"), settings, str(folder)), slow=True,
    )  # fmt: skip


def megabytes(paths: Sequence[Path]) -> float:
    """What files and folders take up, in MB."""
    files = [file for path in paths for file in (path.rglob("*") if path.is_dir() else [path])]
    return sum(file.stat().st_size for file in files if file.is_file()) / 1e6


def indexing(started: Starter, peer: Peer, patience: int) -> tuple[list[str], bool]:
    """A row, and whether the first index was done in time."""

    def run(command: Command) -> Run:
        limited = ("timeout", str(patience), *command.arguments)
        return started.run(Command(limited, command.settings, command.folder, (TIMED_OUT,)))

    if peer.first:
        run(peer.first)
    first = run(peer.index)
    if first.status == TIMED_OUT:
        told = f"not done in {patience} s (CPU {first.cpu / 1000:.0f} s)"
        return [peer.name, f"{megabytes(peer.installed):.0f}", told, f"{first.peak:.0f}", "", "",
                f"{megabytes(peer.kept):.1f}"], False  # fmt: skip
    again = run(peer.index)
    edited = peer.folder / corpus.path_of(0)
    edited.write_bytes(edited.read_bytes() + b"\n- One more line about a zebra.\n")
    once = run(peer.index)
    spent = [f"{one.wall / 1000:.2f} ({one.cpu / 1000:.2f})" for one in (first, again, once)]
    return [peer.name, f"{megabytes(peer.installed):.0f}", spent[0], f"{first.peak:.0f}",
            *spent[1:], f"{megabytes(peer.kept):.1f}"], True  # fmt: skip


INDEXING = ("program", "installed MB", "index: wall (CPU) s", "peak MiB",
            "again, nothing changed", "again, one file changed", "index MB")  # fmt: skip


def asking(
    started: Starter, work: Path, peers: Sequence[Peer], files: int, rounds: int
) -> list[list[str]]:
    """Rows: a question to each from nothing, in turns with the floor; slow ones fewer times."""
    commands = {FLOOR: floor(work)}
    if shutil.which("rg"):
        commands["rg of its telling words"] = rg(corpus.folder_of(work, files))
    quick = {peer.name: peer.ask for peer in peers if not peer.slow}
    asked = corpus.questions(files, rounds)
    rows = compared(in_turns(started, {**commands, **quick}, asked), FLOOR)
    slow = {peer.name: peer.ask for peer in peers if peer.slow}
    if slow:
        some = asked[:ROUNDS_OF_SLOW]
        rows += compared(in_turns(started, {FLOOR: floor(work), **slow}, some), FLOOR)[1:]
    return rows


def run(started: Starter, given: argparse.Namespace) -> None:
    """Print both tables."""
    peers = peers_of(given.work, given.notes, given.peers)
    rows, done = list[list[str]](), list[Peer]()
    for peer in peers:
        row, in_time = indexing(started, peer, given.patience)
        rows.append(row)
        done += [peer] if in_time else []
    show(f"The same {given.notes:,} files, indexed", INDEXING, rows)
    show("... and asked, from nothing", COMPARED,
         asking(started, given.work, done, given.notes, given.turns))  # fmt: skip


def add_options(parser: argparse.ArgumentParser) -> None:
    """What this benchmark can be told."""
    parser.add_argument("--peers", type=Path, help="a folder with an environment for each")
    parser.add_argument("--notes", type=int, default=1000, help="files")
    parser.add_argument("--patience", type=int, default=240, help="seconds for one command")
    parser.add_argument("--turns", type=int, default=21)


if __name__ == "__main__":
    main(__doc__, add_options, run)
