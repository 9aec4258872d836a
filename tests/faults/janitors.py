"""The janitors under test and how to start one: the only place that knows their calls.

A janitor is named `ours`, `naive-truncate` or `naive-replace` and takes the options of
`python scripts/memory-janitor.py`. `call` runs one pass in this process, through the same door that
cron uses; `command` gives the arguments of a process of its own.
"""

from __future__ import annotations

import functools
import runpy
import sys
import traceback
from pathlib import Path

from . import naive

REPO = Path(__file__).resolve().parents[2]
DOOR = REPO / "scripts" / "memory-janitor.py"
OURS = "ours"
NAIVE = ("naive-truncate", "naive-replace")
KINDS = (OURS, *NAIVE)
TODAY = "2026-06-01"


def options(root: Path, *more: str) -> list[str]:
    """The options of a pass over `root` on the day of the tests."""
    return ["--root", str(root), "--today", TODAY, *more]


def command(kind: str, root: Path, *more: str) -> list[str]:
    """The arguments of a pass as a process; run it in REPO."""
    if kind == OURS:
        return [sys.executable, str(DOOR), *options(root, *more)]
    method = kind.partition("-")[2]
    module = "tests.faults.naive"
    return [sys.executable, "-m", module, "--method", method, *options(root, *more)]


def hasten() -> None:
    """For many passes in one process: let the command line's parser be built only once."""
    import typer.main

    typer.main.get_command = functools.cache(typer.main.get_command)


def call(kind: str, argv: list[str]) -> int:
    """One pass in this process, output to sys.stdout and sys.stderr; the exit status."""
    try:
        if kind == OURS:
            sys.argv = [str(DOOR), *argv]
            runpy.run_path(str(DOOR), run_name="__main__")
        else:
            naive.main(["--method", kind.partition("-")[2], *argv])
    except SystemExit as end:
        if end.code is None or isinstance(end.code, int):
            return end.code or 0
        print(end.code, file=sys.stderr)
        return 1
    except BaseException:  # noqa: BLE001 - as the interpreter would: print it, status 1
        traceback.print_exc()
        return 1
    return 0
