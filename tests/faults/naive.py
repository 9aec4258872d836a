"""The janitor that everybody writes first: the control that must fail in this harness.

Two ways of saving: `truncate` reads, empties and writes the file; `replace` writes a temporary
file beside it, syncs that and renames it over, synced. Both archive first, as text, without a sync.

    python -m tests.faults.naive --root R --today D [--method truncate|replace]
"""

from __future__ import annotations

import argparse
import os
import re
import sys
from datetime import date, timedelta
from pathlib import Path

ENTRY = re.compile(r"- \[(P[12])\]\[([0-9]{4}-[0-9]{2}-[0-9]{2})\]")
DAYS = {"P1": 90, "P2": 30}


def split(text: str, today: date) -> tuple[list[str], list[str]]:
    """The lines that stay and those of expired entries (with what is indented under them)."""
    keep: list[str] = []
    move: list[str] = []
    moving = False
    for line in text.splitlines(keepends=True):
        match = ENTRY.match(line)
        if match:
            age = today - date.fromisoformat(match[2])
            moving = age > timedelta(days=DAYS[match[1]])
        elif not line.startswith(" "):
            moving = False
        (move if moving else keep).append(line)
    return keep, move


def save(path: Path, text: str, method: str) -> None:
    """Write the file back, in place or by rename."""
    if method == "truncate":
        path.write_text(text, encoding="utf-8")
        return
    temporary = path.with_name(path.name + ".tmp")
    with temporary.open("w", encoding="utf-8") as handle:
        handle.write(text)
        handle.flush()
        os.fsync(handle.fileno())
    temporary.replace(path)
    folder = os.open(path.parent, os.O_RDONLY)
    os.fsync(folder)
    os.close(folder)


def run(root: Path, today: date, method: str) -> int:
    """One pass; the exit status, always 0: an error is a traceback, as in the wild."""
    path = root / "MEMORY.md"
    keep, move = split(path.read_text(encoding="utf-8"), today)
    if move:
        archive = root / "archive" / f"expired-{today:%Y-%m}.md"
        archive.parent.mkdir(exist_ok=True)
        with archive.open("a", encoding="utf-8") as handle:
            handle.write(f"\n## Archived {today} by memory-janitor\n" + "".join(move))
        save(path, "".join(keep), method)
    return 0


def main(argv: list[str] | None = None) -> None:
    """Command line: the options of memory-janitor.py that the harness uses."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--root", type=Path, required=True)
    parser.add_argument("--today", type=date.fromisoformat, required=True)
    parser.add_argument("--method", choices=["truncate", "replace"], default="replace")
    parser.add_argument("--force", action="store_true")
    parser.add_argument("--json", action="store_true")
    args = parser.parse_args(argv)
    sys.exit(run(args.root, args.today, args.method))


if __name__ == "__main__":
    main()
