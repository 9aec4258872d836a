"""A memory folder for each test, a clock to set, and what a machine must offer for a fault."""

from __future__ import annotations

import os
import shutil
import stat
import subprocess
from collections.abc import Callable, Iterator
from datetime import datetime, timedelta, tzinfo
from pathlib import Path

import pytest

from agent_memfas.cli import brief

from .memory import CONFIG, Memory


@pytest.fixture(autouse=True)
def nothing_of_this_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    """No variable of the person who runs the tests steers memfas."""
    for name in ("MEMFAS_ROOT", "MEMORY_PATH", "ARCHIVE_DIR", "MEMORY_DIR", "TZ"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture(autouse=True)
def no_power_cuts(monkeypatch: pytest.MonkeyPatch) -> None:
    """The disk need not be waited for here: tests/faults cuts the power, nothing here does."""
    monkeypatch.setattr(os, "fsync", lambda descriptor: None)


@pytest.fixture
def memory(tmp_path: Path) -> Memory:
    """A memory folder with a configuration that does not wait, and nothing else."""
    root = tmp_path / "agent"
    root.mkdir()
    (root / "memfas.yaml").write_text(CONFIG)
    return Memory(root)


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Set the clock that the command line reads: an instant, and how far it goes on at each look."""

    def set_to(instant: datetime, step: timedelta = timedelta(0)) -> None:
        looks = [0]

        class Clock(datetime):
            @classmethod
            def now(cls, tz: tzinfo | None = None) -> datetime:  # type: ignore[override]
                looks[0] += 1
                at = instant + step * (looks[0] - 1)
                # Like the real one: without a zone it gives the machine's time without one.
                return at.astimezone(tz) if tz else at.astimezone().replace(tzinfo=None)

        monkeypatch.setattr(brief, "datetime", Clock)

    return set_to


@pytest.fixture
def as_root() -> None:
    """Skip where mounts, attributes and other users cannot be had."""
    if os.geteuid() != 0:
        pytest.skip("needs root")


@pytest.fixture
def as_anybody(memory: Memory) -> Iterator[list[str]]:
    """What to put before a command so that modes count for it: they stop nobody who is root."""
    prefix: list[str] = []
    if os.geteuid() == 0:
        prefix = ["setpriv", "--bounding-set=-dac_override,-dac_read_search"]
        probe = [*prefix, "true"]
        if shutil.which("setpriv") is None or subprocess.run(probe, check=False).returncode:
            pytest.skip("needs setpriv, or not to be root")
    yield prefix
    for path in [memory.root, *memory.root.rglob("*")]:
        path.chmod(stat.S_IRWXU)
