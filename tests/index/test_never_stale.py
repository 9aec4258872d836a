"""What stands in the files is found, what does not is not: at the very next question."""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Callable
from datetime import datetime
from pathlib import Path

import pytest

from inputs.memory import Memory, call

from .support import INDEX, ask, coarse, counted_time, in_step, places, texts

TICKS = pytest.mark.parametrize("tick", [1, 10_000_000, 1_000_000_000], ids=["ns", "10ms", "s"])


@TICKS
def test_every_edit_is_seen_at_once(memory: Memory, tick: int) -> None:
    """A line is appended, changed to another of the same length and removed, again and again,
    with a question after each step: also where many steps share one time of the file."""
    with coarse(tick):
        for n in range(10):
            path = memory.write("memory/log.md", "# Log\n\n- the ibis host\n")
            with path.open("a") as file:
                file.write(f"- port number {n}\n")
            assert f"- port number {n}" in texts(ask(memory, f"port number {n}"))
            memory.write("memory/log.md", "# Log\n\n- the crow host\n")
            assert texts(ask(memory, "crow")) == ["- the crow host"]
            assert texts(ask(memory, "ibis")) == texts(ask(memory, f"port number {n}")) == []


@TICKS
def test_an_edit_whose_time_was_put_back_is_seen(memory: Memory, tick: int) -> None:
    """A tool keeps the size and restores the mtime, as rsync, tar and touch -r do."""
    with coarse(tick):
        path = memory.write("memory/log.md", "- the ibis host\n")
        os.utime(path, (1_700_000_000, 1_700_000_000))
        for word in ("crow", "gull", "swan", "lark"):
            info = path.stat()
            path.write_text(f"- the {word} host\n")
            os.utime(path, ns=(info.st_atime_ns, info.st_mtime_ns))
            assert texts(ask(memory, word)) == [f"- the {word} host"]
            assert texts(ask(memory, "ibis")) == []


def test_a_backup_with_old_times_is_seen(memory: Memory) -> None:
    """A restored file is older than what the index has read, and has its size."""
    path = memory.write("memory/log.md", "- the ibis host\n")
    old = memory.root / "memory/.old"
    shutil.copy2(path, old)
    assert texts(ask(memory, "ibis")) == ["- the ibis host"]
    path.write_text("- the crow host\n")
    assert texts(ask(memory, "ibis")) == []
    old.replace(path)
    assert texts(ask(memory, "ibis")) == ["- the ibis host"]


ENDS: dict[str, Callable[[Path], object]] = {
    "deleted": lambda path: path.unlink(),
    "emptied": lambda path: path.write_text(""),
    "blank": lambda path: path.write_text("\n \n\n"),
    "a comment": lambda path: path.write_text("<!-- ibis -->\n"),
    "a folder": lambda path: (path.unlink(), path.mkdir()),
    "a link away": lambda path: (path.unlink(), path.symlink_to("/etc/hostname")),
    "a pipe": lambda path: (path.unlink(), os.mkfifo(path)),
    "hidden": lambda path: path.rename(path.with_name(".log.md")),
    "in a hidden folder": lambda path: path.parent.rename(path.parent.with_name(".memory")),
    "no text": lambda path: path.rename(path.with_suffix(".bin")),
    "out of the folder": lambda path: path.rename(path.parents[2] / "log.md"),
    "its folder deleted": lambda path: shutil.rmtree(path.parent),
}


@pytest.mark.parametrize("end", ENDS)
def test_what_is_gone_is_not_found(memory: Memory, end: str) -> None:
    """Whatever becomes of a file: its old lines and triggers do not answer any more."""
    path = memory.write("memory/log.md", "- [P0] the ibis host <!-- trigger: standup -->\n")
    answer = ask(memory, "ibis standup")
    assert (len(answer["hits"]), len(answer["triggers"])) == (1, 1)
    ENDS[end](path)
    answer = ask(memory, "ibis standup")
    assert (answer["hits"], answer["triggers"]) == ([], [])
    assert answer["fresh"]
    assert in_step(memory.root) == []


def test_what_moves_is_found_where_it_is(memory: Memory) -> None:
    """A file, its folder and the whole memory folder get other names: hits have the new ones."""
    memory.write("memory/log.md", "- the ibis host\n")
    assert places(ask(memory, "ibis")) == ["memory/log.md:1"]
    (memory.root / "memory/log.md").rename(memory.root / "memory/notes.md")
    assert places(ask(memory, "ibis")) == ["memory/notes.md:1"]
    (memory.root / "memory").rename(memory.root / "lessons")
    answer = ask(memory, "ibis")
    assert [(hit["path"], hit["kind"]) for hit in answer["hits"]] == [
        ("lessons/notes.md", "lessons")
    ]
    elsewhere = Memory(memory.root.with_name("elsewhere"))
    memory.root.rename(elsewhere.root)
    assert places(ask(elsewhere, "ibis")) == ["lessons/notes.md:1"]
    (elsewhere.root / "lessons/notes.md").write_text("- the crow host\n")
    assert texts(ask(elsewhere, "crow ibis")) == ["- the crow host"]


def test_a_copied_folder_has_its_own_answers(memory: Memory) -> None:
    """I copy the folder with its index and times, and both go on: neither sees the other's edits."""
    memory.write("memory/log.md", "- the ibis host\n")
    ask(memory, "ibis")
    copy = Memory(memory.root.with_name("copy"))
    shutil.copytree(memory.root, copy.root, copy_function=shutil.copy2)
    assert texts(ask(copy, "ibis")) == ["- the ibis host"]
    copy.write("memory/log.md", "- the crow host\n")
    memory.write("memory/log.md", "- the gull host\n")
    assert texts(ask(copy, "ibis crow gull")) == ["- the crow host"]
    assert texts(ask(memory, "ibis crow gull")) == ["- the gull host"]
    assert in_step(memory.root) == in_step(copy.root) == []


def test_an_answer_says_what_it_rests_on(memory: Memory) -> None:
    """Fresh, when the files were looked at, how many there are and were read, and what was not."""
    memory.write("memory/log.md", "- the ibis host\n")
    memory.write("memory/latin.md", b"- caf\xe9 ibis\n")
    os.mkfifo(memory.root / "memory/pipe.md")
    before = time.time()
    answer = ask(memory, "ibis")
    looked = datetime.fromisoformat(answer["as_of"]).timestamp()
    assert before - 0.001 <= looked <= time.time()
    assert (answer["fresh"], answer["source"], answer["notes"]) == (True, "index", [])
    assert (answer["files_seen"], answer["files_indexed"], answer["files_behind"]) == (4, 3, 0)
    assert [skipped["path"] for skipped in answer["files_skipped"]] == [
        "memory/latin.md", "memory/pipe.md",
    ]  # fmt: skip
    again = ask(memory, "ibis")
    assert again["as_of"] > answer["as_of"]
    assert {**again, "as_of": 0} == {**answer, "as_of": 0}


def test_a_small_budget_answers_and_catches_up(memory: Memory) -> None:
    """Two thousand files change and there is time for three hundred: the answer is not fresh and
    says how many are missing; the latest change is in it; question by question all are read."""
    for n in range(2000):
        memory.write(f"memory/n{n}.md", f"- bird number {n}\n")
    first = ask(memory, "ibis")
    assert (first["fresh"], first["files_indexed"]) == (True, 2001)
    for n in range(2000):
        memory.write(f"memory/n{n}.md", f"- the ibis of day {n}\n")
    behind = []
    while not behind or behind[-1]:
        with counted_time():
            answer = ask(memory, "ibis day 1999", "--within", "300000")
        behind.append(answer["files_behind"])
        assert answer["hits"][0]["text"] == "- the ibis of day 1999"
        if behind[-1]:
            assert not answer["fresh"]
            assert any(f"{behind[-1]} changed files" in note for note in answer["notes"])
            assert answer["as_of"] == first["as_of"]
    assert behind == sorted(behind, reverse=True)
    assert 5 < len(behind) < 10
    assert answer["fresh"]
    assert in_step(memory.root) == []


def test_a_sweep_that_is_cut_off_saw_the_folder_in_use(memory: Memory) -> None:
    """Fifty folders and time for ten: the one that was written last is looked at first, and the
    answer says that it is not fresh."""
    for n in range(50):
        memory.write(f"memory/m{n}/log.md", f"- bird number {n}\n")
    ask(memory, "bird")
    memory.write("memory/m17/log.md", "- the crow host\n")
    ask(memory, "crow")
    memory.write("memory/m17/log.md", "- the ibis host\n")
    with counted_time():
        answer = ask(memory, "ibis", "--within", "10000")
    assert texts(answer) == ["- the ibis host"]
    assert not answer["fresh"]
    assert "the sweep was cut off" in answer["notes"][0]


def test_folders_do_not_mix(memory: Memory, tmp_path: Path) -> None:
    """Two memory folders, one inside the other, and one file named as the index of both: each
    question is answered from its own folder."""
    inner = Memory(memory.root / "shared")
    inner.write("MEMORY.md", "- the ibis host\n")
    memory.write("memory/log.md", "- the crow host\n")
    for db_path in ("", f"db_path: {tmp_path}/common.db\n"):
        for one in (memory, inner):
            one.write("memfas.yaml", db_path)
        for _ in range(2):
            assert places(ask(memory, "ibis")) == ["shared/MEMORY.md:1"]
            assert places(ask(inner, "ibis crow")) == ["MEMORY.md:1"]
            assert places(ask(memory, "crow")) == ["memory/log.md:1"]
    inner.write("memfas.yaml", f"db_path: {memory.root / INDEX}\n")
    assert places(ask(inner, "ibis crow")) == ["MEMORY.md:1"]
    assert places(ask(memory, "crow")) == ["memory/log.md:1"]


def test_the_current_folder_does_not_matter(
    memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    """From below, from beside and from afar, by relative and by absolute path: one index, the same
    answer."""
    memory.write("memory/log.md", "- the ibis host\n")
    seen = []
    for here, more in (
        ("agent/memory", ()), ("agent", ("--root", ".")), (".", ("--root", "agent")),
        ("/", ("--root", str(memory.root))),
    ):  # fmt: skip
        monkeypatch.chdir(memory.root.parent / here)
        result = call("recall", "--json", "ibis", *more)
        seen.append([(hit["path"], hit["start_line"]) for hit in result.data["hits"]])
        assert result.data["source"] == "index"
    assert seen == [[("memory/log.md", 1)]] * 4
    assert len(list(memory.root.parent.rglob("index.db"))) == 1
