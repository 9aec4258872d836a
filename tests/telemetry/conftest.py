"""A memory folder, and its telemetry as a curator has it."""

from __future__ import annotations

from pathlib import Path

import pytest

from agent_memfas import config
from agent_memfas.store.layout import open_folder
from agent_memfas.v3.telemetry import TelemetryLogger, logger_of
from inputs.memory import CONFIG, Memory


@pytest.fixture(autouse=True)
def _alone(nothing_of_this_machine: None) -> None:
    """No variable of this machine counts."""


@pytest.fixture
def memory(tmp_path: Path) -> Memory:
    made = Memory(tmp_path / "agent")
    made.write("memfas.yaml", CONFIG)
    return made


@pytest.fixture
def log(memory: Memory) -> TelemetryLogger:
    """What is written with the settings of the folder as they are first."""
    settings = config.load(memory.root / "memfas.yaml")
    return logger_of(open_folder(memory.root), settings)
