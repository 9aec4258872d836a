"""Disks that are full, broken or read-only, and files that are another user's: recall answers."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from faults import disks
from inputs.memory import PROGRAM, Memory, start

from .support import INDEX, ask, in_step, texts


@pytest.fixture
def small(tmp_path: Path) -> Iterator[Memory]:
    """A memory folder on a disk of one megabyte."""
    if os.geteuid() != 0:
        pytest.skip("needs root")
    with disks.in_memory(tmp_path / "disk", "size=1m") as at:
        memory = Memory(at / "agent")
        for n in range(40):
            memory.write(f"memory/n{n}.md", f"- the ibis of day {n}\n" + "- a line\n" * 20)
        yield memory


@contextmanager
def read_only(memory: Memory) -> Iterator[None]:
    """The disk cannot be written for a while."""
    disk = memory.root.parent
    disks.need("mount", "-o", "remount,ro", disk, why="needs mounts")
    try:
        yield
    finally:
        disks.need("mount", "-o", "remount,rw", disk, why="needs mounts")


def fill(disk: Path, left: int) -> Path:
    """Leave so many bytes of a disk."""
    ballast = disk / "ballast"
    with ballast.open("wb", buffering=0) as file:
        try:
            while file.write(bytes(4096)):
                pass
        except OSError:
            file.truncate(max(0, file.tell() - left))
    return ballast


@pytest.mark.parametrize("first", ["at first", "later"])
def test_a_read_only_disk(small: Memory, first: str) -> None:
    """The memory is on a disk that I may not write: the index is in my cache folder, follows the
    files from there, and is not in the way when the disk can be written again."""
    if first == "later":
        ask(small, "ibis day 7")
    for word in ("crow", "gull"):
        small.write("memory/n7.md", f"- the {word} of day 7\n")
        with read_only(small):
            answer = ask(small, "ibis crow gull day 7")
        assert texts(answer)[0] == f"- the {word} of day 7"
        assert (answer["source"], answer["fresh"], answer["notes"]) == ("index", True, [])
    cache = small.root.parents[1] / "home/.cache/memfas"
    (index,) = cache.rglob("*.db")
    assert index.parent.stat().st_mode & 0o077 == 0
    small.write("memory/n7.md", "- the swan of day 7\n")
    assert texts(ask(small, "swan")) == ["- the swan of day 7"]
    assert in_step(small.root) == []


@pytest.mark.parametrize("first", ["at first", "later"])
def test_a_read_only_disk_and_no_home(
    small: Memory, monkeypatch: pytest.MonkeyPatch, first: str
) -> None:
    """Cron knows no HOME: an index that is there serves by a copy in memory, else the files do."""
    monkeypatch.delenv("HOME")
    if first == "later":
        ask(small, "ibis")
    small.write("memory/n7.md", "- the crow of day 7\n")
    with read_only(small):
        answer = ask(small, "ibis crow day 7")
    assert texts(answer)[0] == "- the crow of day 7"
    assert answer["source"] == ("index" if first == "later" else "files")
    assert answer["fresh"]
    assert answer["notes"]


@pytest.mark.parametrize("left", [0, 4096, 16384, 65536])
def test_a_full_disk_at_the_first_question(small: Memory, left: int) -> None:
    """There is no room for an index, or only for half of one: the files answer and it is said;
    nothing of the attempt is left; with room there is an index."""
    ballast = fill(small.root.parent, left)
    for _ in range(2):
        answer = ask(small, "ibis day 7")
        assert texts(answer)[0] == "- the ibis of day 7"
        assert (answer["source"], answer["fresh"]) == ("files", True)
        assert "full" in answer["notes"][0] or "No space" in answer["notes"][0]
        assert list(small.root.rglob("*.tmp")) == []
    ballast.unlink()
    answer = ask(small, "ibis day 7")
    assert (answer["source"], answer["notes"]) == ("index", [])


@pytest.mark.parametrize("left", [0, 4096, 8192, 16384])
def test_a_full_disk_at_an_update(small: Memory, left: int) -> None:
    """There is no room to write what has changed: a copy in memory answers, and the index is sound
    and in step as soon as there is room."""
    ask(small, "ibis")
    for n in range(40):
        small.write(f"memory/n{n}.md", f"- the crow of day {n}\n" + "- a line\n" * 20)
    ballast = fill(small.root.parent, left)
    for _ in range(2):
        answer = ask(small, "ibis crow day 7")
        assert texts(answer)[0] == "- the crow of day 7"
        assert (answer["source"], answer["fresh"]) == ("index", True)
        assert "in memory" in answer["notes"][0]
    ballast.unlink()
    assert ask(small, "ibis crow day 7")["notes"] == []
    assert in_step(small.root) == []


@pytest.fixture
def as_anybody(memory: Memory) -> list[str]:
    """What to put before a command so that modes count for it: they stop nobody who is root."""
    if os.geteuid() != 0:
        return []
    prefix = ["setpriv", "--bounding-set=-dac_override,-dac_read_search,-fowner,-chown"]
    if shutil.which("setpriv") is None or subprocess.run([*prefix, "true"], check=False).returncode:
        pytest.skip("needs setpriv, or not to be root")
    return prefix


CLOSED = {
    "the folder": ("", 0o555),
    "the state folder": (".memfas", 0o555),
    "the state folder to me": (".memfas", 0o000),
    "the index": (INDEX, 0o444),
    "the index to me": (INDEX, 0o000),
    "the lock": (f"{INDEX}.lock", 0o000),
}


@pytest.mark.parametrize("home", ["a home", "no home"])
@pytest.mark.parametrize("what", CLOSED)
def test_what_i_may_not_write(memory: Memory, as_anybody: list[str], what: str, home: str) -> None:
    """The folder, its state folder, the index or its lock belong to somebody else: the answer is
    right after each edit, whether there is a home for another index or not."""
    memory.write("memory/log.md", "- the ibis host\n")
    ask(memory, "ibis")
    name, mode = CLOSED[what]
    place = memory.root / name
    place.chmod(mode)
    for word in ("crow", "gull"):
        memory.write("memory/log.md", f"- the {word} host\n")
        answer = run(as_anybody, memory, home)
        assert texts(answer) == [f"- the {word} host"]
        assert answer["fresh"]
        assert answer["notes"] or answer["source"] == "index"
    place.chmod(0o700)
    assert texts(ask(memory, "ibis crow gull")) == ["- the gull host"]
    assert in_step(memory.root) == []


def run(prefix: list[str], memory: Memory, home: str) -> dict[str, Any]:
    """Recall in a process for which modes count."""
    env = {"HOME": str(memory.root.with_name("home"))} if home == "a home" else {"HOME": ""}
    command = [*prefix, *PROGRAM, "recall", "--root", str(memory.root), "--json", "--within", "0"]
    done = start([*command, "ibis crow gull"], env=env)
    assert (done.returncode, done.stderr) == (0, b"")
    found = json.loads(done.stdout)
    assert isinstance(found, dict)
    return found


def test_files_that_i_may_not_read_are_told_and_come_back(
    memory: Memory, as_anybody: list[str]
) -> None:
    """A file and a folder are closed to me: their lines are not in the answer and I am told; when
    they are opened again, they are found."""
    memory.write("memory/log.md", "- the ibis host\n").chmod(0)
    memory.write("lessons/log.md", "- the crow host\n")
    (memory.root / "lessons").chmod(0)
    memory.write("shared/log.md", "- the gull host\n")
    for _ in range(2):
        answer = run(as_anybody, memory, "a home")
        assert texts(answer) == ["- the gull host"]
        assert {s["path"]: s["reason"] for s in answer["files_skipped"]} == {
            "memory/log.md": "Permission denied", "lessons": "Permission denied",
        }  # fmt: skip
    (memory.root / "memory/log.md").chmod(0o600)
    (memory.root / "lessons").chmod(0o700)
    assert len(run(as_anybody, memory, "a home")["hits"]) == 3
    assert in_step(memory.root) == []


def test_a_folder_that_is_closed_keeps_its_rows(memory: Memory, as_anybody: list[str]) -> None:
    """A folder that was readable is closed for a while, another one is deleted: nothing of the
    closed one answers, the deleted one is gone from the counts, and nothing is read twice."""
    memory.write("lessons/log.md", "- the crow host\n")
    memory.write("memory/log.md", "- the ibis host\n")
    memory.write("shared/log.md", "- the gull host\n")
    assert len(run(as_anybody, memory, "a home")["hits"]) == 3
    (memory.root / "lessons").chmod(0)
    shutil.rmtree(memory.root / "shared")
    answer = run(as_anybody, memory, "a home")
    assert texts(answer) == ["- the ibis host"]
    assert answer["files_indexed"] == 3  # MEMORY.md, the closed one, the one that is left
    (memory.root / "lessons").chmod(0o700)
    assert len(run(as_anybody, memory, "a home")["hits"]) == 2
    assert in_step(memory.root) == []
