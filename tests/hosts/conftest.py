"""A home of its own with a memory folder, and a project that works in it."""

from __future__ import annotations

import json
import os
import subprocess
from dataclasses import dataclass
from datetime import date, timedelta
from pathlib import Path
from typing import Any

import pytest

from commandline import REPO
from inputs.memory import PROGRAM, Memory

TODAY = date.today()


@dataclass
class Home:
    """A home folder. memory: the memory folder in it."""

    path: Path
    memory: Memory

    @property
    def environment(self) -> dict[str, str]:
        kept = {
            k: v for k, v in os.environ.items()
            if not k.startswith(("MEMFAS", "CLAUDE", "CODEX", "XDG"))
        }  # fmt: skip
        return {**kept, "HOME": str(self.path), "PYTHONPATH": str(REPO / "scripts")}

    def run(self, *arguments: str, **more: Any) -> subprocess.CompletedProcess[str]:
        """`memfas ARGUMENTS` in the memory folder."""
        options: dict[str, Any] = {"cwd": self.memory.root, "env": self.environment, **more}
        return subprocess.run(
            [*PROGRAM, *arguments], capture_output=True, text=True, check=False, timeout=60,
            **options,
        )  # fmt: skip

    def hook(self, event: str, given: Any, *arguments: str, **more: Any) -> str:
        """What a hook prints: one JSON object's context, or "". Its status is always 0."""
        told = given if isinstance(given, str) else json.dumps(
            {"session_id": "s1", "cwd": str(self.memory.root), "hook_event_name": event, **given}
        )  # fmt: skip
        done = self.run("hook", event, *arguments, input=told, **more)
        assert done.returncode == 0
        if not done.stdout:
            return ""
        said = json.loads(done.stdout)
        assert set(said) == {"hookSpecificOutput"}
        assert set(said["hookSpecificOutput"]) == {"hookEventName", "additionalContext"}
        assert said["hookSpecificOutput"]["hookEventName"] == event
        return str(said["hookSpecificOutput"]["additionalContext"])

    def log(self, day: date = TODAY) -> str:
        path = self.memory.root / f"memory/{day}.md"
        return path.read_text(encoding="utf-8") if path.exists() else ""


@pytest.fixture
def home(tmp_path: Path) -> Home:
    """A memory folder with something of each kind."""
    memory = Memory(tmp_path / "home" / "my-agent")
    memory.write("MEMORY.md", f"# Memory\n\n- [P1][{TODAY}] The staging host is heron\n"
        f"- [P2][{TODAY}] A passing note on herons\n- [P0] Timezone: US Eastern\n"
        "- [P1][2020-01-01] Long expired\n")  # fmt: skip
    memory.write("SESSION-STATE.md", "# State\n\n- task: move the database\n")
    memory.write("TRIGGERS.md", "- deploy -> from main only\n")
    memory.write(f"memory/{TODAY}.md", f"# {TODAY}\n\n- 09:00 heron was restarted\n")
    yesterday = TODAY - timedelta(days=1)
    memory.write(f"memory/{yesterday}.md", f"# {yesterday}\n\n- 18:00 backups are due\n")
    memory.write("memfas.yaml", "index: {budget: 0}\n")
    return Home(tmp_path / "home", memory)
