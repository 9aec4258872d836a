"""Small file systems of a test's own, and the ways in which they end."""

from __future__ import annotations

import fcntl
import os
import shutil
import struct
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

SHUTDOWN = 0x8004587D  # _IOR('X', 125, u32): EXT4_IOC_SHUTDOWN
NO_LOG_FLUSH = 2


def run(*argv: str | Path) -> subprocess.CompletedProcess[str]:
    """A system tool; its output is shown only when it fails."""
    return subprocess.run(list(map(str, argv)), capture_output=True, text=True, check=False)


def need(*argv: str | Path, why: str) -> None:
    """Run a tool; where it cannot do its work here, the test is skipped with the reason."""
    ended = run(*argv)
    if ended.returncode:
        pytest.skip(f"{why} ({argv[0]}: {ended.stderr.strip()[:100]})")


def image(path: Path, megabytes: int = 16) -> Path:
    """An ext4 file system in a file."""
    if shutil.which("mkfs.ext4") is None:
        pytest.skip("needs loop mounts (no mkfs.ext4)")
    with path.open("wb") as handle:
        handle.truncate(megabytes << 20)
    need("mkfs.ext4", "-q", "-F", path, why="needs loop mounts")
    return path


@contextmanager
def mounted(source: Path, at: Path) -> Iterator[Path]:
    """A file system in a file, mounted for a while."""
    at.mkdir(exist_ok=True)
    need("mount", "-o", "loop", source, at, why="needs loop mounts")
    try:
        yield at
    finally:
        leave(at)


@contextmanager
def in_memory(at: Path, options: str) -> Iterator[Path]:
    """A tmpfs with limits, such as `size=64k` or `nr_inodes=20`."""
    at.mkdir(exist_ok=True)
    need("mount", "-t", "tmpfs", "-o", options, "tmpfs", at, why="needs mounts")
    try:
        yield at
    finally:
        leave(at)


def leave(at: Path) -> None:
    """Unmount, if need be as soon as nobody uses it any more."""
    if run("umount", at).returncode:
        run("umount", "-l", at)


def cut_power(at: Path) -> None:
    """The file system stops at once: what has not reached the disk never will."""
    handle = os.open(at, os.O_RDONLY)
    try:
        fcntl.ioctl(handle, SHUTDOWN, struct.pack("I", NO_LOG_FLUSH))
    finally:
        os.close(handle)
