"""Whatever has become of the index, the question is answered, rightly, and it is said how."""

from __future__ import annotations

import os
import shutil
import signal
import sqlite3
import warnings
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from random import Random

import pytest

from agent_memfas.index import rebuild, schema, sync
from agent_memfas.store import durable
from inputs.memory import Memory

from .support import INDEX, ask, in_step, texts

RIGHT = ["- the ibis host"]
NOISE = Random(4711).randbytes(5000)


def sql(*statements: str) -> Callable[[Path], None]:
    """Change the index by SQL."""

    def change(index: Path) -> None:
        with closing(sqlite3.connect(index, isolation_level=None)) as connection:
            for statement in statements:
                connection.execute(statement)

    return change


def data(change: Callable[[bytes], bytes]) -> Callable[[Path], None]:
    """Change the index's bytes."""
    return lambda index: index.write_bytes(change(index.read_bytes())) and None


def instead(make: Callable[[Path], object]) -> Callable[[Path], None]:
    """Something else under its name."""

    def change(index: Path) -> None:
        index.unlink()
        make(index)

    return change


def other_log(index: Path) -> None:
    """A write-ahead log, valid and of a newer state, of a copy that has one."""
    copy = index.with_name("copy.db")
    shutil.copyfile(index, copy)
    with closing(sqlite3.connect(copy, isolation_level=None)) as connection:
        connection.execute("pragma journal_mode = wal")
        connection.execute("delete from passages")
        shutil.copyfile(f"{copy}-wal", f"{index}-wal")
        shutil.copyfile(f"{copy}-shm", f"{index}-shm")
    copy.unlink()


GONE = {
    "none": lambda index: index.unlink(),
    "no state folder": lambda index: shutil.rmtree(index.parent),
    "empty": data(lambda _: b""),
}
DAMAGED = {
    "text": data(lambda _: b"this is no database\n" * 500),
    "one letter": data(lambda _: b"x"),
    "zeros": data(lambda old: bytes(len(old))),
    "a zeroed header": data(lambda old: bytes(100) + old[100:]),
    "a zeroed page": data(lambda old: old[:4096] + bytes(4096) + old[8192:]),
    "its second half lost": data(lambda old: old[: len(old) // 2]),
    "its first page only": data(lambda old: old[:4096]),
    "half a header": data(lambda old: old[:50]),
    "random bytes": data(lambda old: old[:200] + NOISE * (len(old) // 5000)),
    "another program's": instead(sql("create table t(x)")),
    **{f"no {table}": sql(f"drop table {table}")
       for table in ("meta", "folders", "files", "passages", "triggers", "words", "vocabulary",
                     "vectors")},
    **{f"empty {table}": sql(f"delete from {table}") for table in ("meta", "files")},
    "no column": sql("drop index passages_of", "alter table passages drop column day"),
    **{f"another {key}": sql(f"update meta set value = 'x' where key = '{key}'")
       for key in ("schema", "parser", "tokenizer")},
    "another program's number": sql("pragma application_id = 7"),
    "another log": other_log,
}  # fmt: skip
IN_THE_WAY = {
    "a folder": instead(lambda index: index.mkdir()),
    "a full folder": instead(lambda index: (index / "x").mkdir(parents=True)),
    "a pipe": instead(os.mkfifo),
    "a link": instead(lambda index: index.symlink_to("/etc/hostname")),
    "a link to nowhere": instead(lambda index: index.symlink_to("nowhere/index.db")),
    "a link to itself": instead(lambda index: index.symlink_to("index.db")),
}
LYING_ABOUT = {
    "a journal of zeros": lambda index: Path(f"{index}-journal").write_bytes(bytes(5000)),
    "a journal of junk": lambda index: Path(f"{index}-journal").write_bytes(NOISE),
    "a log of junk": lambda index: Path(f"{index}-wal").write_bytes(NOISE),
    "shared memory of junk": lambda index: Path(f"{index}-shm").write_bytes(NOISE),
    "an empty log": lambda index: Path(f"{index}-wal").write_bytes(b""),
    "a temporary file": lambda index: Path(f"{index}.4711-0a0b0c0d.tmp").write_bytes(b"x"),
    "a lock file": lambda index: Path(f"{index}.lock").write_bytes(b"junk"),
}
STATES = {**GONE, **DAMAGED, **IN_THE_WAY, **LYING_ABOUT}


@pytest.fixture
def indexed(memory: Memory) -> Memory:
    """A folder with an index, that has a log and triggers."""
    memory.write("memory/log.md", "- the crow host\n")
    memory.write("TRIGGERS.md", "- standup -> be brief\n")
    ask(memory, "crow")
    return memory


@pytest.mark.parametrize("edited", [False, True], ids=["as it was", "edited"])
@pytest.mark.parametrize("state", STATES)
def test_any_index_is_as_good_as_none(indexed: Memory, state: str, edited: bool) -> None:
    """Lost, emptied, damaged, of another version, of another program, or no file at all: the
    answer is right, says how where that matters, and the next one is from a good index again."""
    if not edited:
        indexed.write("memory/log.md", RIGHT[0] + "\n")
        ask(indexed, "ibis")
    STATES[state](indexed.root / INDEX)
    if edited:
        indexed.write("memory/log.md", RIGHT[0] + "\n")
    answer = ask(indexed, "ibis crow standup")
    assert (texts(answer), len(answer["triggers"]), answer["fresh"]) == (RIGHT, 1, True)
    if state in DAMAGED:
        assert answer["notes"]
        assert "index" in answer["notes"][0]
    answer = ask(indexed, "ibis crow standup")
    assert (texts(answer), len(answer["triggers"])) == (RIGHT, 1)
    if state not in ("a folder", "a full folder", "a pipe"):
        assert (answer["source"], answer["notes"]) == ("index", [])
        assert in_step(indexed.root) == []
        indexed.write("memory/log.md", "- the gull host\n")
        ask(indexed, "gull")
        left = {path.name for path in (indexed.root / ".memfas").iterdir()}
        assert left - {"index.db-journal"} == {"index.db", "index.db.lock"}


COMMANDS = ["status", "stats", "doctor", "doctor --deep", "index", "doctor --fix", "clear --yes",
            "reindex", "doctor --deep --fix"]  # fmt: skip


# One of each sort: nine commands take their time.
SORTS = ["none", "no state folder", "empty", "text", "a zeroed page", "its second half lost",
         "another program's", "no words", "empty files", "no column", "another schema",
         "another log", *IN_THE_WAY, "a log of junk"]  # fmt: skip


@pytest.mark.parametrize("state", SORTS)
def test_no_command_stumbles_over_it(indexed: Memory, state: str) -> None:
    """Each command that looks at the index, or makes it anew, copes with whatever is there."""
    good = indexed.root.with_name("good")
    shutil.copytree(indexed.root / ".memfas", good)
    for command in COMMANDS:
        shutil.rmtree(indexed.root / ".memfas", ignore_errors=True)
        shutil.copytree(good, indexed.root / ".memfas")
        STATES[state](indexed.root / INDEX)
        name, *rest = command.split()
        result = indexed.run(name, *rest)
        assert "fault of memfas" not in result.everything, (command, result)
        assert result.status in (0, 1), (command, result)
        if command in COMMANDS[-2:] and state not in ("a folder", "a full folder"):
            assert result.status == 0, (command, result)
            assert in_step(indexed.root) == []


@pytest.mark.parametrize("state", ["a file", "a link out", "a link to nowhere", "a pipe"])
@pytest.mark.parametrize("home", ["a home", "no home"])
def test_a_state_folder_that_is_none(
    memory: Memory, monkeypatch: pytest.MonkeyPatch, state: str, home: str
) -> None:
    """.memfas is something else: it is left as it is, nothing is written through it, and the index
    is in my cache folder, or the files answer."""
    place, elsewhere = memory.root / ".memfas", memory.root.with_name("elsewhere")
    elsewhere.mkdir()
    makers: dict[str, Callable[[], object]] = {
        "a file": lambda: place.write_text("mine\n"),
        "a link out": lambda: place.symlink_to(elsewhere),
        "a link to nowhere": lambda: place.symlink_to("nowhere"),
        "a pipe": lambda: os.mkfifo(place),
    }
    makers[state]()
    if home == "no home":
        monkeypatch.delenv("HOME")
    memory.write("memfas.yaml", "search: {max_results: 3}\n")
    for word in ("crow", "ibis"):
        memory.write("memory/log.md", f"- the {word} host\n")
        answer = ask(memory, "crow ibis")
        assert texts(answer) == [f"- the {word} host"]
        assert answer["source"] == ("index" if home == "a home" else "files")
        assert answer["fresh"]
        assert home == "a home" or answer["notes"]
    for command in COMMANDS:
        name, *rest = command.split()
        result = memory.run(name, *rest)
        assert "fault of memfas" not in result.everything, (command, result)
    assert list(elsewhere.iterdir()) == []
    assert not place.is_file() or place.read_text() == "mine\n"
    assert not (memory.root / "nowhere").exists()


@pytest.mark.parametrize("existing", [False, True], ids=["at first", "later"])
def test_sqlite_without_full_text_search(
    memory: Memory, monkeypatch: pytest.MonkeyPatch, existing: bool
) -> None:
    """The SQLite of this Python has no FTS5, whether the index has to be made or is there: the files
    answer, and it is said why."""
    memory.write("memory/log.md", RIGHT[0] + "\n")
    if existing:
        ask(memory, "ibis")
        sql("pragma writable_schema = on",
            "update sqlite_master set sql = replace(sql, 'using fts5', 'using fts77')",
            )(memory.root / INDEX)  # fmt: skip
    monkeypatch.setattr(schema, "TABLES", schema.TABLES.replace("using fts5", "using fts77"))
    for _ in range(2):
        answer = ask(memory, "ibis")
        assert (texts(answer), answer["source"], answer["fresh"]) == (RIGHT, "files", True)
        assert any("no such module: fts77" in note for note in answer["notes"])
    assert list((memory.root / ".memfas").glob("*.tmp")) == []
    monkeypatch.undo()


MOMENTS: dict[str, tuple[object, str]] = {
    "an empty file": (rebuild, "create"),
    "the tables are made": (rebuild, "fill"),
    "some files are read": (sync.Sync, "_remember"),
    "before the commit": (sync.Sync, "_write_meta"),
    "all is written": (durable, "put_in_place"),
}


@pytest.mark.parametrize("reason", ["no index", "another version", "reindex"])
def test_killed_while_building_five_times(memory: Memory, reason: str) -> None:
    """Kill -9 at five moments of building the index: the next question is answered from a good
    one, and no half of one is left."""
    memory.write("memory/log.md", "- the crow host\n")
    if reason != "no index":
        ask(memory, "crow")
    for module, name in MOMENTS.values():
        if reason == "another version":
            sql("update meta set value = '0' where key = 'schema'")(memory.root / INDEX)
        dies_at(module, name, memory, "reindex" if reason == "reindex" else "recall")
    assert list((memory.root / ".memfas").glob("*.tmp"))
    memory.write("memory/log.md", RIGHT[0] + "\n")
    answer = ask(memory, "ibis crow")
    assert (texts(answer), answer["source"], answer["fresh"]) == (RIGHT, "index", True)
    assert in_step(memory.root) == []
    assert [path.name for path in (memory.root / ".memfas").glob("*.tmp")] == []


def dies_at(module: object, name: str, memory: Memory, command: str) -> None:
    """Run a command in a process that is killed when it comes to a function."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # a fork beside threads
        child = os.fork()
    if child == 0:
        setattr(module, name, lambda *_, **__: os.kill(os.getpid(), signal.SIGKILL))
        memory.run(command, *(["crow"] if command == "recall" else []))
        os._exit(0)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == -signal.SIGKILL
