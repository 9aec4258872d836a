"""A janitor that runs again and again, as fast as it can, until its stdin ends.

    python -m tests.faults.loop JANITOR ROOT [process]

prints `ready` after the first pass, at the end
{"passes": n, "statuses": {status: n}, "messages": {message: n}}. Passes run in this process;
with `process`, each in one of its own, as cron would.
"""

from __future__ import annotations

import contextlib
import io
import json
import re
import select
import subprocess
import sys
from collections import Counter
from pathlib import Path

from . import janitors


def one(kind: str, root: Path, apart: bool) -> tuple[int, str]:
    """A pass: exit status and messages."""
    if apart:
        argv = janitors.command(kind, root, "--force")
        ended = subprocess.run(argv, cwd=janitors.REPO, capture_output=True, text=True, check=False)
        return ended.returncode, ended.stderr
    errors = io.StringIO()
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(errors):
        status = janitors.call(kind, janitors.options(root, "--force"))
    return status, errors.getvalue()


def repeat(kind: str, root: Path, apart: bool) -> dict[str, object]:
    """Passes until stdin ends."""
    janitors.hasten()
    statuses: Counter[int] = Counter()
    messages: Counter[str] = Counter()
    while not select.select([sys.stdin], [], [], 0)[0]:
        status, errors = one(kind, root, apart)
        statuses[status] += 1
        for line in errors.splitlines():
            messages[re.sub(r"\d+", "N", line)] += 1
        if statuses.total() == 1:
            print("ready", flush=True)
    return {
        "passes": statuses.total(),
        "statuses": dict(statuses),
        "messages": dict(messages.most_common(5)),
    }


if __name__ == "__main__":
    print(json.dumps(repeat(sys.argv[1], Path(sys.argv[2]), "process" in sys.argv[3:])))
