"""A memory folder for each test, and nothing of the machine that it runs on."""

from __future__ import annotations

from pathlib import Path

import pytest

from inputs.memory import Memory


@pytest.fixture(autouse=True)
def alone(nothing_of_this_machine: None) -> None:
    """Each test here has a home of its own."""


@pytest.fixture
def memory(tmp_path: Path) -> Memory:
    """A memory folder with a MEMORY.md of one entry."""
    memory = Memory(tmp_path / "agent")
    memory.write("MEMORY.md", "# Memory\n\n- [P0] the staging host is heron\n")
    return memory
