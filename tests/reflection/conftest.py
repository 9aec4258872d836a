"""A memory folder with one log that waits, and a model on this machine that says what it is told."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from inputs.conftest import as_anybody, as_root, no_power_cuts
from inputs.memory import CONFIG, Memory
from llm.conftest import _alone as nobody_else
from llm.server import Server, serving
from reflection.support import LOG, NAME

__all__ = ["as_anybody", "as_root", "no_power_cuts", "nobody_else"]


@pytest.fixture(autouse=True)
def alone(nothing_of_this_machine: None) -> None:
    """No variable of the person who runs the tests steers memfas."""


@pytest.fixture
def server() -> Iterator[Server]:
    with serving() as state:
        yield state


@pytest.fixture
def memory(tmp_path, server: Server) -> Memory:
    """Its model is that server; LOG waits to be reflected on."""
    memory = Memory(tmp_path / "agent")
    memory.write("memfas.yaml", CONFIG + server.settings)
    memory.write(NAME, LOG)
    return memory


@pytest.fixture
def agent(tmp_path) -> Memory:
    """A memory folder without a model and without a log."""
    memory = Memory(tmp_path / "plain")
    memory.write("memfas.yaml", CONFIG)
    return memory
