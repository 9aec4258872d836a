"""Seven kinds of writers that know nothing of memfas and take no lock.

    python -I -S writers.py KIND PATH NAME COUNT PAUSE SECONDS

writes entries into PATH until COUNT are written or SECONDS are over, about PAUSE seconds apart, once
stdin ends. Then prints {"confirmed": n, "failed": [...], "reverted": n}: `confirmed` saves were made,
numbered from 0, without those in `failed`; `reverted` saves were found undone at the next read.
Most entries are expired at birth, so that every pass of a janitor has something to move.
"""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
import time
from collections.abc import Callable, Iterator

LIVE_EVERY = 50  # one entry in so many stays, else the file would grow for ever
TALL_EVERY = 10  # one in so many has a second line
HELD_WRITES = 200
COUNTER = "- [P0] saves made: "


def entry(name: str, number: int) -> str:
    """The text of one entry, whole lines, unique for its writer and number."""
    tags = "[P0]" if number % LIVE_EVERY == 0 else "[P2][2020-01-01]"
    text = f"- {tags} {name} {number:07d} noted\n"
    return text + f"  more {name} {number:07d}\n" if number % TALL_EVERY == 3 else text


def append_once(path: str, text: str) -> None:
    """open, append, close: what most programs do."""
    with open(path, "ab", buffering=0) as handle:
        handle.write(text.encode())


def append_slowly(path: str, text: str) -> None:
    """open, think, append, close."""
    with open(path, "ab", buffering=0) as handle:
        time.sleep(random.uniform(0, 0.004))
        handle.write(text.encode())


class Holder:
    """A logging handler: keeps the file open for many writes."""

    def __init__(self) -> None:
        self.handle = -1
        self.writes = 0

    def __call__(self, path: str, text: str) -> None:
        if self.writes % HELD_WRITES == 0:
            if self.handle >= 0:
                os.close(self.handle)
            self.handle = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
        self.writes += 1
        os.write(self.handle, text.encode())


class Saver:
    """An editor or agent that reads the whole file and writes the whole file back.

    Keeps a line with the number of its saves: if the file, when read again, shows another number
    than the last one saved, somebody has undone a save.
    """

    def __init__(self, method: Callable[[str, bytes], None]) -> None:
        self.method = method
        self.saves = 0
        self.reverted = 0

    def __call__(self, path: str, text: str) -> None:
        with open(path, "rb") as handle:
            old = handle.read().decode()
        lines = [line for line in old.splitlines(keepends=True) if not line.startswith(COUNTER)]
        shown = [line for line in old.splitlines() if line.startswith(COUNTER)]
        if self.saves and shown != [f"{COUNTER}{self.saves:07d}"]:
            self.reverted += 1
        time.sleep(random.choice((0, 0, 0.0005)))
        counter = f"{COUNTER}{self.saves + 1:07d}\n"
        self.method(path, ("".join(lines) + counter + text).encode())
        self.saves += 1


def save_by_rename(path: str, data: bytes) -> None:
    """A temporary file beside it, renamed over: sed -i, rsync, most careful programs."""
    temporary = f"{path}.new"
    with open(temporary, "wb") as handle:
        handle.write(data)
    os.rename(temporary, path)


def save_like_vim(path: str, data: bytes) -> None:
    """Rename away to a backup, create anew, write, sync, remove the backup."""
    os.rename(path, path + "~")
    handle = os.open(path, os.O_WRONLY | os.O_CREAT, 0o644)
    try:
        os.write(handle, data)
        os.fsync(handle)
    finally:
        os.close(handle)
    os.unlink(path + "~")


def save_in_place(path: str, data: bytes) -> None:
    """Truncate, then write: cp, shell redirection, VS Code, an agent's write tool."""
    with open(path, "wb", buffering=0) as handle:
        handle.write(data)


BASH = r"""
path=$1 name=$2 count=$3 pause=$4 seconds=$5
exec {never}<> <(:)
read -r _
failed=() ; end=$((SECONDS + seconds)) ; n=0
while (( n < count && SECONDS < end )); do
  printf -v id '%s %07d' "$name" "$n"
  tags='[P2][2020-01-01]' ; (( n % 50 == 0 )) && tags='[P0]'
  line="- $tags $id noted" ; (( n % 10 == 3 )) && line+=$'\n'"  more $id"
  echo "$line" >> "$path" || failed+=("$n")
  n=$((n + 1))
  [[ $pause != 0 ]] && read -rt "$pause" -u "$never"
done
IFS=, ; echo "{\"confirmed\": $n, \"failed\": [${failed[*]}], \"reverted\": 0}"
"""


def writer(kind: str) -> Callable[[str, str], None]:
    """What a writer of this kind does once."""
    if kind == "held":
        return Holder()
    savers = {"rename": save_by_rename, "vim-like": save_like_vim, "in-place": save_in_place}
    if kind in savers:
        return Saver(savers[kind])
    return {"append": append_once, "slow": append_slowly}[kind]


KINDS = ("append", "bash", "slow", "held", "rename", "vim-like", "in-place")
SAVERS = ("rename", "vim-like", "in-place")
PROCESSES = {"append": 2, "bash": 2, "slow": 4, "held": 2}


def pauses(pause: float, thoughtful: bool) -> Iterator[None]:
    """Bursts and rests, `pause` seconds a write on average: agents do not write evenly.

    thoughtful: now and then a longer rest. A janitor can only change a file that is not saved anew
    between its reading and its writing; a saver without any rest would keep it from all work.
    """
    while True:
        burst = random.choice((1, 1, 4, 16, 64))
        for _ in range(burst):
            yield
        if thoughtful and random.random() < 0.1:
            time.sleep(0.3)
        elif pause:
            time.sleep(pause * burst * random.uniform(0.5, 1.5))


def work(kind: str, path: str, name: str, count: int, pause: float, seconds: float) -> None:
    """Be the writer and print the account."""
    random.seed(name)
    write = writer(kind)
    failed: list[int] = []
    sys.stdin.read()
    end = time.monotonic() + seconds
    number = 0
    rests = pauses(pause, isinstance(write, Saver))
    while number < count and time.monotonic() < end:
        next(rests)
        try:
            write(path, entry(name, number))
        except OSError:
            failed.append(number)
        number += 1
    reverted = write.reverted if isinstance(write, Saver) else 0
    print(json.dumps({"confirmed": number, "failed": failed, "reverted": reverted}))


def command(kind: str, path: str, name: str, count: int, pause: float, seconds: float) -> list[str]:
    """The arguments of a writer's process."""
    rest = [path, name, str(count), str(pause), str(max(1, round(seconds)))]
    if kind == "bash":
        return ["bash", "-c", BASH, "bash", *rest]
    return [sys.executable, "-I", "-S", __file__, kind, *rest]


def start(argv: list[str]) -> subprocess.Popen[str]:
    """A writer that waits for its stdin to end."""
    pipe = subprocess.PIPE
    return subprocess.Popen(argv, stdin=pipe, stdout=pipe, text=True)


if __name__ == "__main__":
    work(sys.argv[1], sys.argv[2], sys.argv[3], int(sys.argv[4]), *map(float, sys.argv[5:7]))
