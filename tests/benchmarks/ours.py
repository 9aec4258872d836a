"""memfas itself as the benchmarks run it: a copy of the checkout's scripts, and an index in step."""

from __future__ import annotations

import shutil
import sys
import time
from collections.abc import Mapping
from compileall import compile_dir
from pathlib import Path

from tests.benchmarks import SCRIPTS
from tests.benchmarks.measure import Command, Starter

from agent_memfas.index.keeper import IndexSource, Keeper
from agent_memfas.index.places import places_of

NO_CACHE = {"PYTHONDONTWRITEBYTECODE": "1"}  # else the first run leaves compiled files


def keeper(folder: Path) -> Keeper:
    """What keeps the index of a folder, with the settings of a folder without memfas.yaml."""
    root = str(folder.resolve())
    return Keeper(root, places_of(root, "", ""), wait=60.0)


def in_step(folder: Path) -> IndexSource:
    """The index of a folder, made where it is not there, with nothing left that is not believed."""
    kept = keeper(folder)
    # A question first: an index that does not fit this checkout is thrown away for it.
    kept.answer(lambda source: next(source.ranked("time zone"), None), time.time_ns(), None)
    time.sleep(0.05)  # a file younger than the clock's tick is looked at once more
    return kept.source(time.time_ns())


def copied(work: Path, *, compiled: bool = True) -> Path:
    """A copy of the scripts under `work`, compiled as an installer leaves them, or not at all."""
    copy = work / ("scripts" if compiled else "scripts-never-compiled")
    shutil.rmtree(copy, ignore_errors=True)
    shutil.copytree(SCRIPTS, copy, ignore=shutil.ignore_patterns("__pycache__"))
    if compiled:
        compile_dir(copy, quiet=1)
    return copy


def recall(scripts: Path, folder: Path, settings: Mapping[str, str] | None = None) -> Command:
    """`python scripts/recall.py QUESTION` in that folder. Status 1 means that nothing was found."""
    return Command(
        (sys.executable, str(scripts / "recall.py"), "{}"), settings or {}, str(folder), (1,)
    )


def memfas(scripts: Path, folder: Path, *arguments: str) -> Command:
    """`memfas ARGUMENTS` in that folder."""
    program = (sys.executable, "-m", "agent_memfas.cli", *arguments)
    return Command(program, {"PYTHONPATH": str(scripts)}, str(folder), (1,))


def check_fresh(started: Starter, command: Command, question: str) -> None:
    """RuntimeError where a recall of that kind does not answer from an index that is in step."""
    as_data = Command((*command.arguments, "--json"), command.settings, command.folder, (1,))
    started.run(as_data, question)
    if '"fresh": true' not in started.output or '"source": "index"' not in started.output:
        raise RuntimeError(f"the answer is not fresh: {started.output[:1000]}{started.errors}")
