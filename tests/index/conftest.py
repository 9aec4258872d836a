"""A memory folder for each test, and nothing of the machine that it runs on."""

from __future__ import annotations

from pathlib import Path

import pytest

from inputs.memory import Memory


@pytest.fixture(autouse=True)
def nothing_of_this_machine(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """No variable of the person who runs the tests steers memfas; the home is the test's own."""
    for name in ("MEMFAS_ROOT", "MEMORY_PATH", "ARCHIVE_DIR", "MEMORY_DIR", "TZ", "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))


@pytest.fixture
def memory(tmp_path: Path) -> Memory:
    """A memory folder with a MEMORY.md of one entry."""
    memory = Memory(tmp_path / "agent")
    memory.write("MEMORY.md", "# Memory\n\n- [P0] the staging host is heron\n")
    return memory
