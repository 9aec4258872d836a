"""How the program that is running now is called from anywhere: by a host, by git."""

from __future__ import annotations

import sys
from pathlib import Path


def program() -> list[str]:
    """The words to call it with, up to the name of a command: `memfas` by its full path, else the
    door of a checkout, else the package of this Python.
    """
    running = Path(sys.argv[0]).absolute()
    if running.name == "memfas" and running.is_file():
        return [str(running)]
    door = Path(__file__).parents[2] / "memfas.py"
    return [sys.executable, *([str(door)] if door.exists() else ["-m", "agent_memfas.cli"])]
