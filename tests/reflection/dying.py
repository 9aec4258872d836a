"""A memfas that is killed: `python -m reflection.dying N ARGUMENTS...` dies at its N-th change.

Each call by which it could change a file counts; it is killed before that call. N = 0: it lives,
and the last line on stderr is how many there were.
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable
from typing import Any

from agent_memfas.cli import main

CALLS = ("write", "pwrite", "ftruncate", "replace", "rename", "unlink", "mkdir", "open")
calls = [0]  # how many there were


def deadly(call: Callable[..., Any], number: int) -> Callable[..., Any]:
    """The call, until the number is up."""

    def counted(*given: Any, **named: Any) -> Any:
        reads = call.__name__ == "open" and not given[1] & (os.O_WRONLY | os.O_RDWR)
        calls[0] += not reads
        if calls[0] == number and not reads:
            os.kill(os.getpid(), signal.SIGKILL)
        return call(*given, **named)

    return counted


if __name__ == "__main__":
    for name in CALLS:
        setattr(os, name, deadly(getattr(os, name), int(sys.argv[1])))
    status = main(sys.argv[2:])
    print(calls[0], file=sys.stderr)
    sys.exit(status)
