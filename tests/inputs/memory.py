"""A memory folder to do things to, and the command line run inside this process.

A process of its own costs a third of a second; where it brings nothing (no signal, no descriptor,
no environment of its own), `Memory.run` calls the command line directly and gives what it printed.
"""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
from collections.abc import Sequence
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryFile
from typing import IO, Any

from agent_memfas.cli import main
from commandline import REPO

TODAY = "2026-03-01"
# Waiting until a file is quiet is the one thing that these tests cannot afford.
CONFIG = "writing: {quiet: 0, patience: 0.2}\n"
PROGRAM = [sys.executable, "-m", "agent_memfas.cli"]


@dataclass(frozen=True)
class Result:
    """How a command ended: its status and what it printed, as bytes on both streams."""

    status: int
    raw: bytes
    errors: str

    @property
    def text(self) -> str:
        """Standard output as text; that it is UTF-8 is part of every test."""
        return self.raw.decode("utf-8")

    @property
    def data(self) -> dict[str, Any]:
        """Standard output as the one JSON object that it must be."""
        found = json.loads(self.raw)
        assert isinstance(found, dict)
        assert found["schema"] == 1
        return found

    @property
    def everything(self) -> str:
        """All that a person sees."""
        return self.text + self.errors


@dataclass(frozen=True)
class Memory:
    """A memory folder."""

    root: Path

    def write(self, name: str, data: bytes | str) -> Path:
        """Put a file into the folder, parents included."""
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data.encode("utf-8", "surrogatepass") if isinstance(data, str) else data)
        return path

    def read(self, name: str = "MEMORY.md") -> bytes:
        return (self.root / name).read_bytes()

    def run(self, command: str, *arguments: str) -> Result:
        """`memfas COMMAND --root HERE ARGUMENTS...` in this process."""
        return call(command, "--root", str(self.root), *arguments)

    def process(
        self, command: str, *arguments: str | bytes, **options: Any
    ) -> subprocess.CompletedProcess[bytes]:
        """The same in a process of its own; options are those of `start`."""
        return start([*PROGRAM, command, "--root", str(self.root), *arguments], **options)

    def janitor(self, *arguments: str, today: str = TODAY) -> Result:
        """The janitor on a fixed day; its answer as JSON."""
        return self.run("janitor", "--today", today, "--json", *arguments)

    @property
    def archived(self) -> bytes:
        """All that stands in the archive, file after file."""
        return b"".join(path.read_bytes() for path in sorted(self.root.glob("archive/*.md")))

    @property
    def archive_entries(self) -> bytes:
        """The lines of the archive without what the janitor itself writes there."""
        kept = (n for n in self.archived.splitlines(keepends=True) if n.strip() and not _ours(n))
        return b"".join(kept)

    def truth(self) -> dict[str, bytes]:
        """Every file that is not run-time state, by its path."""
        files = (p for p in sorted(self.root.rglob("*")) if p.is_file() and not p.is_symlink())
        return {
            str(path.relative_to(self.root)): path.read_bytes()
            for path in files
            if ".memfas" not in path.relative_to(self.root).parts
        }


# An entry that any working janitor moves: it shows that a run did look at the file.
CONTROL = b"- [P2][2020-01-01] the control\n"
HEAD = b"# Memory\n\n"


def only_control_leaves(memory: Memory, text: bytes | str, *arguments: str) -> dict[str, Any]:
    """A MEMORY.md of the control and this text: the control moves and not one byte of the text."""
    raw = text.encode() if isinstance(text, str) else text
    memory.write("MEMORY.md", HEAD + CONTROL + b"\n## Section\n\n" + raw)
    result = memory.janitor(*arguments)
    assert result.status == 0, result
    assert memory.read() == HEAD + b"\n## Section\n\n" + raw
    assert memory.archive_entries == CONTROL
    return result.data


TEXT_BEGINS = 7  # the line of MEMORY.md on which the text of only_control_leaves starts


def moves(memory: Memory, before: bytes, after: bytes, archived: bytes, **day: str) -> None:
    """The janitor makes `after` of `before`, and exactly `archived` goes to the archive."""
    memory.write("MEMORY.md", before)
    result = memory.janitor(**day)
    assert result.status == 0, result
    assert memory.read() == after
    assert memory.archive_entries == archived


def _ours(line: bytes) -> bool:
    marks = (b"<!-- from ", b"<!-- janitor ", b"<!-- /janitor ", b"## Archived ")
    return line.startswith(marks)


def call(*arguments: str) -> Result:
    """The command line on these arguments, in this process.

    Its streams are real files, looked at through descriptors that it does not know.
    """
    with (
        TemporaryFile() as out,
        TemporaryFile() as errors,
        _second(out) as printed,
        _second(errors) as said,
    ):
        stdout = io.TextIOWrapper(out, encoding="ascii")
        stderr = io.TextIOWrapper(errors, encoding="ascii")
        with redirect_stdout(stdout), redirect_stderr(stderr):
            status = main(list(arguments))
        stderr.flush()
        printed.seek(0)
        said.seek(0)
        return Result(status, printed.read(), said.read().decode("utf-8"))


def _second(file: IO[bytes]) -> IO[bytes]:
    return os.fdopen(os.dup(file.fileno()), "rb")


def start(whole: Sequence[str | bytes], **options: Any) -> subprocess.CompletedProcess[bytes]:
    """A program under the bare environment that cron gives; options are those of subprocess.run."""
    environment = {
        "PATH": os.environ.get("PATH", "/usr/bin:/bin"),
        "HOME": "/nonexistent",
        "LC_ALL": "C",
        "PYTHONPATH": str(REPO / "scripts"),
        "PYTHONDONTWRITEBYTECODE": "1",
        **options.pop("env", {}),
    }
    if "stdout" not in options:
        options.setdefault("capture_output", True)
    return subprocess.run(whole, env=environment, timeout=300, check=False, **options)
