"""A real `memfas watch` process under test, and what to wait for."""

from __future__ import annotations

import json
import os
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from agent_memfas.index.audit import contents, differences
from agent_memfas.index.database import NoIndex, open_database
from agent_memfas.store import heartbeat
from commandline import REPO

from .support import INDEX, fresh

PATIENCE = (
    50.0  # seconds, for busy machines; less than the look a minute that finds what events miss
)


def command(*arguments: str) -> list[str]:
    """The call of the command line with this Python."""
    return [sys.executable, "-m", "agent_memfas.cli", *arguments]


def environment(**more: str) -> dict[str, str]:
    """Nothing of this machine's but the path."""
    return {"PYTHONPATH": str(REPO / "scripts"), "PATH": os.environ["PATH"], **more}


def wait_until(true: Callable[[], object], what: str) -> None:
    """Look again and again, until it is so."""
    end = time.monotonic() + PATIENCE
    while not true():
        assert time.monotonic() < end, f"waited in vain: {what}"
        time.sleep(0.02)


def apart(root: Path, sources: tuple[str, ...] = ()) -> list[str]:
    """Where the index file, as it lies there, is not what a fresh one would be."""
    try:
        with closing(open_database(str(root / INDEX), str(root), ours=True)) as database:
            held = contents(database)
    except (NoIndex, sqlite3.Error, OSError) as error:
        return [str(error)]
    return list(differences(held, fresh(root, sources)))


def wait_in_step(root: Path, what: str = "the files", sources: tuple[str, ...] = ()) -> None:
    """Until the index equals one that is built anew, row for row. Nobody asks meanwhile."""
    last: list[str] = []

    def equal() -> bool:
        last[:] = apart(root, sources)[:5]
        return not last

    try:
        wait_until(equal, what)
    except AssertionError as error:
        raise AssertionError(f"{error}: {last}") from None


class Watching:
    """A watcher and its folder."""

    def __init__(self, root: Path, process: subprocess.Popen[bytes], messages: Path) -> None:
        self.root = root
        self.process = process
        self._messages = messages

    def said(self) -> str:
        """What it has printed so far."""
        return self._messages.read_text(encoding="utf-8")

    def wait_said(self, text: str) -> None:
        """Until it has printed that."""
        wait_until(lambda: text in self.said() or self.process.poll() is not None, text)
        assert text in self.said(), self.said()

    def beat(self) -> dict[str, object]:
        """Its heartbeat file as it is now; {} where there is none."""
        try:
            found = json.loads((self.root / ".memfas" / heartbeat.FILE).read_bytes())
        except OSError:
            return {}
        assert isinstance(found, dict)
        return found

    def end(self, number: int = signal.SIGTERM) -> int:
        """Send a signal; the exit status."""
        self.process.send_signal(number)
        return self.process.wait(PATIENCE)

    def freeze(self) -> None:
        """Stop it in its tracks, until SIGCONT."""
        self.process.send_signal(signal.SIGSTOP)
        threads = Path(f"/proc/{self.process.pid}/task")

        def frozen() -> bool:
            states = [
                (t / "stat").read_text().rpartition(")")[2].split()[0] for t in threads.iterdir()
            ]
            return set(states) == {"T"}

        wait_until(frozen, "it is frozen")

    def append(self, path: str, text: str = "- the heron host\n") -> None:
        """What an agent does with `>>`."""
        place = self.root / path
        place.parent.mkdir(parents=True, exist_ok=True)
        with place.open("a", encoding="utf-8") as file:
            file.write(text)


@contextmanager
def watching(
    root: Path, *options: str, prefix: list[str] | None = None, ready: bool = True
) -> Iterator[Watching]:
    """`memfas watch` on a folder; whatever happens, it is gone at the end."""
    messages = root.parent / f"{root.name}.said"
    with messages.open("wb") as file:
        process = subprocess.Popen(
            [*(prefix or []), *command("watch", "--root", str(root), *options)],
            stdin=subprocess.DEVNULL, stdout=file, stderr=file, env=environment(),
        )  # fmt: skip
    watcher = Watching(root, process, messages)
    try:
        if ready:
            watcher.wait_said("watching ")
        yield watcher
        assert "Traceback" not in watcher.said(), watcher.said()
    finally:
        process.kill()
        process.wait(PATIENCE)


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    """A command that ends by itself."""
    return subprocess.run(
        command(*arguments), stdin=subprocess.DEVNULL, capture_output=True, encoding="utf-8",
        env=environment(), timeout=PATIENCE, check=False,
    )  # fmt: skip
