"""Warm janitors, and what a machine must offer for a fault to be made."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from .warm import Warm


@pytest.fixture(scope="session")
def ours() -> Iterator[Warm]:
    """The janitor of this project."""
    warm = Warm("ours")
    yield warm
    warm.close()


@pytest.fixture(scope="session")
def naive() -> Iterator[Warm]:
    """The control that reads, writes a temporary file and renames it over."""
    warm = Warm("naive-replace")
    yield warm
    warm.close()


@pytest.fixture(scope="session")
def truncating() -> Iterator[Warm]:
    """The control that reads, truncates and writes."""
    warm = Warm("naive-truncate")
    yield warm
    warm.close()


@pytest.fixture(scope="session")
def strace() -> None:
    """Skip where calls cannot be traced."""
    if shutil.which("strace") is None:
        pytest.skip("needs strace")
    probe = subprocess.run(["strace", "-o", "/dev/null", "true"], capture_output=True, check=False)
    if probe.returncode:
        pytest.skip("needs strace (ptrace is forbidden here)")


@pytest.fixture
def as_root() -> None:
    """Skip where mounts, attributes and other users cannot be had."""
    if os.geteuid() != 0:
        pytest.skip("needs root")


@pytest.fixture
def home_path() -> Iterator[Path]:
    """A folder outside /tmp: there vim and emacs save by another method than at home."""
    with tempfile.TemporaryDirectory(prefix=".memfas-test-", dir=Path.home()) as name:
        yield Path(name)


@pytest.fixture
def ram_path(tmp_path: Path) -> Iterator[Path]:
    """A folder in memory where there is one: thousands of syncs cost nothing there."""
    shm = Path("/dev/shm")
    if not os.access(shm, os.W_OK):
        yield tmp_path
        return
    with tempfile.TemporaryDirectory(prefix="memfas-test-", dir=shm) as name:
        yield Path(name)
