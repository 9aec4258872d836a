"""Ten minutes of everything at once, by hand: `python -m tests.index.soak --minutes 10`.

A watcher keeps the index in step while three agents append to logs, an editor saves notes by rename
and in place, moves and deletes them, the janitor runs every second and a reader asks all the time.
At the end the index is, row for row, what a fresh one is; no line is missing; and the watcher's
memory and descriptors are what they were.
"""

from __future__ import annotations

import argparse
import os
import random
import subprocess
import sys
import threading
import time
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.commandline import REPO

from agent_memfas.index.audit import compare_with_files
from agent_memfas.index.scope import Scope

MEMFAS = [sys.executable, "-c", "import sys; from agent_memfas.cli import main; sys.exit(main())"]
CONFIG = "writing: {quiet: 0, patience: 0.5}\n"


class Soak:
    """A folder, those who write into it, and what they have written."""

    def __init__(self, root: Path, seconds: float) -> None:
        self.root = root
        self.end = time.monotonic() + seconds
        self.written: list[str] = []
        self.problems: list[str] = []
        self.asked = self.unfresh = self.passes = self.saved = 0
        (root / "memory").mkdir()
        (root / "notes").mkdir()
        (root / "memfas.yaml").write_text(CONFIG)
        (root / "MEMORY.md").write_text("# Memory\n\n")

    def memfas(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run([*MEMFAS, *arguments, "--root", str(self.root)], env=environment(), check=False,
                              capture_output=True, text=True)  # fmt: skip

    def agent(self, number: int) -> None:
        """Appends to today's log and to MEMORY.md, now and then an entry that has expired."""
        turn = 0
        while time.monotonic() < self.end:
            turn += 1
            word = f"agent{number}turn{turn}"
            path = self.root / f"memory/2026-11-{turn % 28 + 1:02}.md"
            line = f"- {word} did something\n"
            if turn % 5 == 0:
                path, line = self.root / "MEMORY.md", f"- [P2][2020-01-01] {word} is long over\n"
            with open(path, "a", encoding="utf-8") as file:
                file.write(line)
            self.written.append(word)
            time.sleep(0.25)

    def editor(self) -> None:
        """Saves, moves and deletes notes as editors and file managers do."""
        rng = random.Random(4)
        while time.monotonic() < self.end:
            self.saved += 1
            path = self.root / f"notes/note{rng.randrange(40)}.md"
            text = f"# Note\n\nsaved {self.saved} {rng.random()}\n"
            act = rng.randrange(5)
            if act == 0:
                path.write_text(text)
            elif act == 1:
                swap = path.with_name(f".{path.name}.swp")
                swap.write_text(text)
                os.replace(swap, path)
            elif act == 2:
                path.unlink(missing_ok=True)
            elif act == 3 and path.exists():
                os.replace(path, self.root / f"notes/moved{rng.randrange(40)}.md")
            else:
                deep = self.root / f"notes/d{rng.randrange(6)}/e"
                deep.mkdir(parents=True, exist_ok=True)
                (deep / "x.md").write_text(text)
            time.sleep(0.03)

    def janitor(self) -> None:
        while time.monotonic() < self.end:
            done = self.memfas("janitor", "--force")
            self.passes += 1
            if done.returncode not in (0, 1, 75):
                self.problems.append(f"janitor: {done.returncode} {done.stderr}")
            time.sleep(1)

    def reader(self) -> None:
        """Asks for what was written last: a line that was there before the question is found."""
        while time.monotonic() < self.end:
            time.sleep(0.5)
            if not self.written:
                continue
            word = self.written[-1]
            done = self.memfas("recall", word, "--archive", "--json")
            self.asked += 1
            self.unfresh += '"fresh": true' not in done.stdout
            if '"fresh": true' in done.stdout and f"{word} " not in done.stdout:
                self.problems.append(f"{word}: {done.returncode} {done.stdout[:300]} {done.stderr}")


def environment() -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": f"{REPO / 'scripts'}:{REPO}"}


def vitals(pid: int) -> tuple[int, int]:
    """The memory (KiB) and descriptors of a process."""
    status = Path(f"/proc/{pid}/status").read_text()
    rss = next(int(line.split()[1]) for line in status.splitlines() if line.startswith("VmRSS"))
    return rss, len(os.listdir(f"/proc/{pid}/fd"))


def run(root: Path, minutes: float) -> list[str]:
    """Soak, and tell what is wrong at the end."""
    soak = Soak(root, minutes * 60)
    watcher = subprocess.Popen([*MEMFAS, "watch", "--root", str(root)], env=environment())
    acts = [*(lambda n=n: soak.agent(n) for n in range(3)), soak.editor, soak.janitor, soak.reader]
    threads = [threading.Thread(target=act) for act in acts]
    for thread in threads:
        thread.start()
    samples = []
    while time.monotonic() < soak.end:
        time.sleep(min(10, minutes * 6))
        samples.append(vitals(watcher.pid))
        print(f"{len(samples):4} watcher: {samples[-1][0]} KiB, {samples[-1][1]} descriptors; "
              f"{len(soak.written)} lines, {soak.saved} saves, {soak.passes} passes, "
              f"{soak.asked} questions ({soak.unfresh} not fresh), {len(soak.problems)} problems", flush=True)  # fmt: skip
    for thread in threads:
        thread.join()
    time.sleep(5)  # no more changes: the watcher alone brings the index in step
    wrong = [*soak.problems, *compare_with_files(
        str(root / ".memfas/index.db"), str(root), Scope(), time.time_ns())]  # fmt: skip
    watcher.terminate()
    if watcher.wait(30) != 0:
        wrong.append(f"the watcher ended with {watcher.returncode}")
    text = "".join(path.read_text() for path in root.rglob("*.md"))
    wrong += [f"lost: {word}" for word in soak.written if f"{word} " not in text]
    third = max(len(samples) // 3, 1)
    early, late = samples[third - 1], samples[-1]
    if late[0] > early[0] * 1.2 + 2048 or late[1] > early[1] + 8:
        wrong.append(f"the watcher grew from {early} to {late} (KiB, descriptors)")
    return wrong


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=float, default=10)
    with TemporaryDirectory(prefix="memfas-soak-") as folder:
        wrong = run(Path(os.path.realpath(folder)), parser.parse_args().minutes)
    print("\n".join(wrong[:20]) or "equal at the end, nothing lost, nothing grew")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
