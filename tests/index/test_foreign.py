"""A file of somebody else's where the index should be: it stays as it is, to the byte."""

from __future__ import annotations

import os
import shutil
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from random import Random

import pytest

from inputs.memory import Memory

from .support import ask, texts


def crashed(path: Path, *statements: str) -> None:
    """A database as a program leaves it that is killed after these statements."""
    original = path.with_name("original")
    with closing(sqlite3.connect(original, isolation_level=None)) as connection:
        connection.execute("create table mine(x)")
        connection.execute("insert into mine values(randomblob(9000))")
        for statement in statements:
            connection.execute(statement)
        for end in ("", "-journal", "-wal", "-shm"):
            if Path(f"{original}{end}").exists():
                shutil.copyfile(f"{original}{end}", f"{path}{end}")
        assert not connection.in_transaction or connection.execute("rollback")


FOREIGN: dict[str, Callable[[Path], object]] = {
    "a text": lambda path: path.write_text("- my notes\n" * 900),
    "a short text": lambda path: path.write_text("x\n"),
    "a database": crashed,
    "a database with a log": lambda path: crashed(
        path, "pragma journal_mode = wal", "insert into mine values('not yet in the file')"
    ),
    "a database with a journal": lambda path: crashed(
        path, "pragma cache_size = 1", "begin", "update mine set x = randomblob(50000)",
        "insert into mine select randomblob(50000) from mine",
    ),
    "a folder": lambda path: path.mkdir(),
    "a pipe": os.mkfifo,
    "a link to nowhere": lambda path: path.symlink_to("nowhere"),
    "a closed file": lambda path: (path.write_text("x"), path.chmod(0)),
}  # fmt: skip
COMMANDS = ["status", "doctor --deep", "index", "doctor --fix", "reindex", "clear --yes", "stats"]


def all_of(folder: Path) -> dict[str, tuple[int, int, bytes]]:
    """Each file with its inode, time and bytes."""
    return {
        path.name: (info.st_ino, info.st_mtime_ns, path.read_bytes() if path.is_file() else b"")
        for path in sorted(folder.iterdir())
        for info in [path.lstat()]
    }


@pytest.mark.parametrize("what", FOREIGN)
def test_a_foreign_file_is_left_alone(memory: Memory, what: str) -> None:
    """db_path names a text, another program's database (also one that its crash has left with a
    journal or a log) or no file at all: no command touches it or what lies beside it, the answer
    is right, and the index is in its usual place."""
    folder = memory.root / "data"
    folder.mkdir()
    FOREIGN[what](folder / "store.db")
    memory.write("memfas.yaml", "db_path: data/store.db\n")
    before = all_of(folder)
    if what == "a database with a journal":
        assert "store.db-journal" in before
    for word in ("crow", "ibis"):
        memory.write("memory/log.md", f"- the {word} host\n")
        answer = ask(memory, "crow ibis")
        assert texts(answer) == [f"- the {word} host"]
        assert answer["source"] == "index"
        assert any("store.db" in note for note in answer["notes"])
        assert all_of(folder) == before
    for command in COMMANDS:
        name, *rest = command.split()
        result = memory.run(name, *rest)
        assert "fault of memfas" not in result.everything, (command, result)
        assert all_of(folder) == before, command
    assert (memory.root / ".memfas/index.db").exists()


def test_other_files_beside_a_named_index_stay(memory: Memory) -> None:
    """db_path lies among files of mine: none of them goes, whatever its name looks like."""
    folder = memory.root.with_name("data")
    folder.mkdir()
    mine = ["report.2024-05.tmp", "99-deadbeef.tmp", "x.99999999-deadbeef.tmp", "store.db.bak",
            "store.db.2024-05.tmp", "store.db.tmp"]  # fmt: skip
    for name in mine:
        (folder / name).write_text("mine\n")
    memory.write("memfas.yaml", f"db_path: {folder}/store.db\n")
    for command in ("recall heron", *COMMANDS, "recall heron"):
        name, *rest = command.split()
        memory.run(name, *rest)
        assert not set(mine) - {path.name for path in folder.iterdir()}, command
    assert (folder / "store.db").exists()


@contextmanager
def named(memory: Memory) -> Iterator[Path]:
    """An index of ours at a path that a person chose."""
    path = memory.root.with_name("data") / "store.db"
    memory.write("memfas.yaml", f"db_path: {path}\n")
    ask(memory, "heron")
    assert path.is_file()
    yield path
    answer = ask(memory, "heron")
    assert texts(answer) == ["- [P0] the staging host is heron"]
    answer = ask(memory, "heron")
    assert (answer["source"], answer["notes"]) == ("index", [])
    assert not (memory.root / ".memfas/index.db").exists()


def test_a_damaged_index_of_ours_is_made_anew_where_it_is(memory: Memory) -> None:
    """The file at db_path is an index of memfas by its mark, and damaged: it is replaced there."""
    with named(memory) as path:
        data = path.read_bytes()
        path.write_bytes(data[:200] + Random(4711).randbytes(len(data) - 200))
    with named(memory) as path:
        path.write_bytes(path.read_bytes()[:8192])
    with named(memory) as path:
        path.unlink()
