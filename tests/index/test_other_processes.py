"""Several at one index: whoever asks is answered, at once and rightly, whatever the others do."""

from __future__ import annotations

import json
import shutil
import sqlite3
import subprocess
import threading
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from agent_memfas.errors import TryAgain
from agent_memfas.index import writer
from commandline import REPO
from inputs.memory import PROGRAM, Memory

from .support import INDEX, ask, counted_time, in_step, keeper_of, texts


@contextmanager
def lock_held(root: Path) -> Iterator[None]:
    """Another process is writing the index, and takes its time."""
    with subprocess.Popen(
        ["flock", f"{root / INDEX}.lock", "sh", "-c", "echo held; read x"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    ) as other:
        assert other.stdout is not None
        assert other.stdout.readline() == b"held\n"
        yield
        other.communicate(b"\n")


@contextmanager
def transaction(root: Path, kind: str) -> Iterator[None]:
    """Another program has the index open and does not let go."""
    with closing(sqlite3.connect(root / INDEX, isolation_level=None)) as other:
        other.execute(f"begin {kind}")
        if kind == "deferred":
            other.execute("select * from meta").fetchone()
        yield


HOLDERS = {
    "the lock": lock_held,
    "a reader": lambda root: transaction(root, "deferred"),
    "a writer": lambda root: transaction(root, "immediate"),
    "an exclusive writer": lambda root: transaction(root, "exclusive"),
}


@pytest.mark.parametrize("holder", HOLDERS)
def test_a_held_index_is_not_waited_for(memory: Memory, holder: str) -> None:
    """Somebody holds the lock or the database all the time: the answer is right, from a copy in
    memory or from the files, and says how; after that all is as usual."""
    if shutil.which("flock") is None:
        pytest.skip("needs flock")
    memory.write("memory/log.md", "- the ibis host\n")
    assert texts(ask(memory, "ibis")) == ["- the ibis host"]
    with HOLDERS[holder](memory.root):
        for word in ("crow", "gull"):
            memory.write("memory/log.md", f"- the {word} host\n")
            answer = ask(memory, "ibis crow gull")
            assert texts(answer) == [f"- the {word} host"]
            assert answer["fresh"]
            if holder == "an exclusive writer":
                assert answer["source"] == "files"
                assert "locked" in answer["notes"][0]
            else:
                assert answer["source"] == "index"
                assert "in memory" in answer["notes"][0]
    answer = ask(memory, "ibis crow gull")
    assert (texts(answer), answer["source"], answer["notes"]) == (["- the gull host"], "index", [])
    assert in_step(memory.root) == []


def test_waiting_for_another_takes_no_time_from_reading(memory: Memory) -> None:
    """Thirty files have changed, there is time for forty looks at the clock, and a writer is in the
    way for half of them: all thirty are in the answer."""
    ask(memory, "anything")
    for n in range(30):
        memory.write(f"memory/n{n}.md", f"- the ibis of day {n}\n")
    with lock_held(memory.root), counted_time():
        answer = ask(memory, "ibis", "--within", "40000", "--limit", "50")
    assert (len(answer["hits"]), answer["fresh"]) == (30, True)


@pytest.mark.parametrize("holder", ["the lock", "a reader", "a writer"])
def test_an_unchanged_folder_is_answered_beside_a_writer(memory: Memory, holder: str) -> None:
    """Nothing has changed: the index answers although somebody has it, and nothing is said."""
    memory.write("memory/log.md", "- the ibis host\n")
    settle(memory)
    with HOLDERS[holder](memory.root):
        answer = ask(memory, "ibis")
    assert (texts(answer), answer["source"], answer["notes"]) == (["- the ibis host"], "index", [])


def settle(memory: Memory) -> None:
    """Ask when the files are old enough to be believed, so that no later look has to read them."""
    time.sleep(0.03)
    ask(memory, "anything")


def test_a_first_build_by_another_is_not_waited_for(memory: Memory) -> None:
    """Somebody is just making the first index: the files answer."""
    (memory.root / ".memfas").mkdir()
    with lock_held(memory.root):
        answer = ask(memory, "heron")
    assert texts(answer) == ["- [P0] the staging host is heron"]
    assert (answer["fresh"], answer["source"]) == (True, "files")
    assert "another process" in answer["notes"][0]


@pytest.mark.parametrize("start", ["no index", "an index"])
def test_many_at_once_are_all_right(memory: Memory, start: str) -> None:
    """Eight agents ask at the same moment after an edit: each finds the new line and not the old."""
    for n in range(60):
        memory.write(f"memory/n{n}.md", f"- the ibis of day {n}\n")
    if start == "an index":
        ask(memory, "ibis")
    for n in range(60):
        memory.write(f"memory/n{n}.md", f"- the crow of day {n}\n")
    command = [*PROGRAM, "recall", "--root", str(memory.root), "--json", "--within", "5000",
               "ibis crow day 59"]  # fmt: skip
    agents = [
        subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            env={"PYTHONPATH": str(REPO / "scripts"), "HOME": str(memory.root.parent)},
        )
        for _ in range(8)
    ]  # fmt: skip
    for agent in agents:
        out, err = agent.communicate(timeout=120)
        assert (agent.returncode, err) == (0, b"")
        answer = json.loads(out)
        assert answer["fresh"]
        assert answer["hits"][0]["text"] == "- the crow of day 59"
        assert not any("ibis" in text for text in texts(answer))
    assert in_step(memory.root) == []


def test_an_index_that_is_locked_just_then_is_not_waited_for(
    memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Between the sweep and the update another program takes the database for itself: the files
    answer."""
    ask(memory, "heron")
    memory.write("memory/log.md", "- the ibis host\n")

    with closing(sqlite3.connect(memory.root / INDEX, isolation_level=None)) as other:

        @contextmanager
        def hold_index(*_: object) -> Iterator[None]:
            other.execute("begin exclusive")
            raise TryAgain("another process is writing the index")
            yield

        monkeypatch.setattr(writer, "hold_index", hold_index)
        answer = ask(memory, "ibis")
    assert (texts(answer), answer["source"]) == (["- the ibis host"], "files")
    assert "locked" in answer["notes"][0]


def test_one_keeper_may_be_asked_by_several_threads(memory: Memory) -> None:
    """A server answers in threads: all see the files as they are."""
    for n in range(20):
        memory.write(f"memory/n{n}.md", f"- the ibis of day {n}\n")
    keeper, found = keeper_of(memory.root), []

    def run() -> None:
        for n in range(10):
            hits = keeper.answer(
                lambda source, n=n: [h.row.text for h in source.ranked(f"ibis day {n}")],  # type: ignore[misc]
                time.time_ns(),
            )
            found.append(hits[0] == f"- the ibis of day {n}")

    threads = [threading.Thread(target=run) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    keeper.close()
    assert found == [True] * 40


def test_an_index_that_goes_while_it_is_asked_is_made_anew(memory: Memory) -> None:
    """I delete .memfas, or put another index there, while a server has it open: the next answer is
    from an index in its place, and right."""
    memory.write("memory/log.md", "- the ibis host\n")
    keeper = keeper_of(memory.root)
    first = keeper.source(time.time_ns())
    shutil.copyfile(memory.root / INDEX, memory.root / "older")
    shutil.rmtree(memory.root / ".memfas")
    memory.write("memory/log.md", "- the crow host\n")
    second = keeper.source(time.time_ns())
    assert second.database is not first.database
    assert (memory.root / INDEX).is_file()
    assert [hit.row.text for hit in second.ranked("ibis crow")] == ["- the crow host"]
    (memory.root / "older").replace(memory.root / INDEX)
    third = keeper.source(time.time_ns())
    assert [hit.row.text for hit in third.ranked("ibis crow")] == ["- the crow host"]
    keeper.close()
    assert in_step(memory.root) == []
