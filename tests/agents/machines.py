"""Machines that share a memory by git: clones of a bare remote, and nothing of this machine's git."""

from __future__ import annotations

import subprocess
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from inputs.memory import CONFIG, Memory, Result

FACT = "- [P1][2026-02-24] {}\n"


@dataclass(frozen=True)
class Machine(Memory):
    """A clone: a memory folder on a machine of its own."""

    def git(self, *words: str, check: bool = True) -> str:
        done = subprocess.run(["git", *words], cwd=self.root, capture_output=True, check=False)
        assert not check or done.returncode == 0, done.stderr.decode()
        return done.stdout.decode("utf-8", "replace").strip()

    def sync(self, *arguments: str, status: int = 0) -> Result:
        result = self.run("sync", *arguments)
        assert "Traceback" not in result.everything, result
        assert "a fault of memfas" not in result.everything, result
        assert result.status == status, result
        return result

    def append(self, name: str, text: str) -> None:
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("a", encoding="utf-8") as file:
            file.write(text)

    def lines(self) -> Counter[str]:
        """The lines of all memory files."""
        found = Counter[str]()
        for name, data in self.truth().items():
            if name.endswith(".md") and not name.startswith(".git/"):
                found.update(n for n in data.decode().split("\n") if n.strip())
        return found

    def files(self) -> dict[str, bytes]:
        return {name: data for name, data in self.truth().items() if not name.startswith(".git/")}


@dataclass(frozen=True)
class Place:
    """Where the clones and the remote are."""

    path: Path

    @property
    def remote(self) -> Path:
        return self.path / "remote.git"

    def clone(self, name: str, *, setup: bool = True) -> Machine:
        git(self.path, "clone", "-q", str(self.remote), name)
        machine = Machine(self.path / name)
        if setup:
            machine.sync("--setup")
        return machine

    def two(self) -> tuple[Machine, Machine]:
        """Two machines with the same memory, set up and in step."""
        one = self.clone("one", setup=False)
        one.write("memfas.yaml", CONFIG)
        one.write("MEMORY.md", "# Memory\n\n## Facts\n\n- [P0] Timezone: US Eastern\n")
        one.sync("--setup")
        one.sync()
        return one, self.clone("two")


def git(at: Path, *words: str) -> str:
    return subprocess.run(["git", *words], cwd=at, capture_output=True, check=True).stdout.decode()
