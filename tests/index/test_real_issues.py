"""What went wrong in other programs that index notes, tried on this one."""

from __future__ import annotations

import os
import sqlite3
import subprocess
import threading
import time
from contextlib import closing
from pathlib import Path

import pytest

from agent_memfas.store import listing
from agent_memfas.text.passages import LONGEST
from inputs.memory import Memory

from .support import INDEX, ask, in_step, keeper_of, places, texts


def paths(root: Path) -> list[str]:
    """The files that are in the index."""
    with closing(sqlite3.connect(root / INDEX)) as connection:
        rows = connection.execute("select path from files").fetchall()
    return sorted(os.fsdecode(path) for (path,) in rows)


@pytest.mark.parametrize("name", ["memory/a.md", "memory", "./memory/a.md"])
def test_indexing_one_file_leaves_the_others(memory: Memory, name: str) -> None:
    """`memfas index a.md` cleared all that it was not told of."""
    memory.write("memory/a.md", "- the ibis host\n")
    memory.write("lessons/b.md", "- the crow host\n")
    assert memory.run("index").status == 0
    memory.write("memory/a.md", "- the gull host\n")
    assert memory.run("index", name).status == 0
    assert set(texts(ask(memory, "ibis crow gull"))) == {"- the gull host", "- the crow host"}
    assert paths(memory.root) == ["MEMORY.md", "lessons/b.md", "memory/a.md"]
    assert in_step(memory.root) == []


def test_one_change_clears_nothing_meanwhile(memory: Memory) -> None:
    """The whole store was emptied and filled again for one changed file: whoever asked just then
    found nothing."""
    for n in range(30):
        memory.write(f"memory/n{n}.md", f"- the ibis of day {n}\n")
    ask(memory, "ibis")
    over, misses = threading.Event(), list[int]()

    def other() -> None:
        keeper = keeper_of(memory.root)
        while not over.is_set():
            source = keeper.answer(lambda s: len(list(s.ranked("ibis"))), time.time_ns(), None)
            misses.append(source) if source < 29 else None
        keeper.close()

    thread = threading.Thread(target=other)
    thread.start()
    for n in range(25):
        memory.write("memory/n7.md", f"- the ibis of day {n}\n")
        assert texts(ask(memory, "ibis day"))
    over.set()
    thread.join()
    assert misses == []


@pytest.mark.parametrize("text", ["", "\n\n", "<!-- -->\n", "---\n---\n", "***\n"])
def test_a_file_without_passages_keeps_no_old_ones(memory: Memory, text: str) -> None:
    """A file edited down to nothing kept its old pieces."""
    memory.write("memory/a.md", "- the ibis host\n")
    assert texts(ask(memory, "ibis")) == ["- the ibis host"]
    memory.write("memory/a.md", text)
    assert texts(ask(memory, "ibis")) == []
    assert in_step(memory.root) == []


def test_what_editors_leave_takes_no_row(memory: Memory) -> None:
    """An emacs autosave was indexed and destroyed the row of its note; lock links, backups and
    swap files are none either."""
    memory.write("memory/note.md", "- the ibis host\n")
    ask(memory, "ibis")
    memory.write("memory/#note.md#", "- the crow host\n")
    memory.write("memory/note.md~", "- the crow host\n")
    memory.write("memory/.note.md.swp", "- the crow host\n")
    memory.write("memory/4913", "- the crow host\n")
    (memory.root / "memory/.#note.md").symlink_to("me@host.4711:1700000000")
    assert places(ask(memory, "ibis crow")) == ["memory/note.md:1"]
    (memory.root / "memory/#note.md#").unlink()
    assert places(ask(memory, "ibis crow")) == ["memory/note.md:1"]
    assert paths(memory.root) == ["MEMORY.md", "memory/note.md"]


def test_files_of_our_own_writing_take_no_row(memory: Memory) -> None:
    """Temporary files of the program's own writes were indexed. Here, while entries are added and
    archived, every look sees only finished files."""
    memory.write("memfas.yaml", "writing: {quiet: 0, patience: 0.2}\n")
    over, seen = threading.Event(), set[str]()

    def watch() -> None:
        keeper = keeper_of(memory.root)
        while not over.is_set():
            keeper.source(time.time_ns())
            seen.update(paths(memory.root))
        keeper.close()

    ask(memory, "anything")
    thread = threading.Thread(target=watch)
    thread.start()
    for n in range(8):
        memory.run("add", "-p", "P2", f"crow number {n}")
        memory.run("janitor", "--force", "--today", "2099-01-01", "--json")
        memory.run("log", f"gull number {n}")
    over.set()
    thread.join()
    assert any(name.startswith("archive/") for name in seen)
    assert all(name.startswith(("MEMORY.md", "archive/expired-", "memory/20")) for name in seen)
    assert all(name.endswith(".md") for name in seen)


def test_a_lock_is_waited_for_where_that_is_wanted(memory: Memory) -> None:
    """With a busy timeout of 0 writes were dropped. `memfas index` waits until the other is done,
    and reads what has changed."""
    ask(memory, "anything")
    memory.write("memory/a.md", "- the ibis host\n")
    with subprocess.Popen(
        ["flock", memory.root / f"{INDEX}.lock", "sh", "-c", "echo held; sleep 0.3"],
        stdout=subprocess.PIPE,
    ) as other:
        assert other.stdout is not None
        assert other.stdout.readline() == b"held\n"
        result = memory.run("index")
        assert result.status == 0, result
    assert "memory/a.md" in paths(memory.root)


def test_dependencies_are_not_entered(memory: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    """Twenty thousand files under memory/.venv and node_modules were listed and watched."""
    for n in range(100):
        memory.write(f"memory/.venv/lib/p{n}/README.md", "- the crow host\n")
        memory.write(f"memory/node_modules/p{n}/README.md", "- the crow host\n")
    memory.write("memory/a.md", "- the ibis host\n")
    listed, list_folder = [], listing.list_folder

    def counting(root: str, folder: str, *suffixes: tuple[str, ...]) -> listing.Listed:
        listed.append(folder)
        return list_folder(root, folder, *suffixes)

    monkeypatch.setattr("agent_memfas.store.sweep.list_folder", counting)
    handles = len(os.listdir("/proc/self/fd"))
    answer = ask(memory, "ibis crow")
    assert places(answer) == ["memory/a.md:1"]
    assert answer["files_seen"] == 2
    assert set(listed) == {"", "memory"}
    assert len(os.listdir("/proc/self/fd")) <= handles  # what others left may be closed meanwhile


QUESTIONS = {
    "DEC-0054": "decided in DEC-0054", "38.101": "see TS 38.101 for that",
    "node.js": "we use node.js v1.2.3", "v1.2.3": "we use node.js v1.2.3", "C++": "written in C++",
    "bob@example.com": "mail bob@example.com", "a_b-c/d": "the file a_b-c/d", "Alice's": "ask Alice about it",
    '"quoted phrase"': "a quoted phrase here", "NOT heron": "the near heron",
    "NEAR(heron, 2)": "the near heron", "heron*": "the near heron", "^heron": "the near heron",
    "terms:heron": "the near heron", "{heron}": "the near heron", "heron + near": "the near heron",
    "-heron": "the near heron", "(heron": "the near heron", "部署-v2": "部署在上海 v2",
}  # fmt: skip


@pytest.mark.parametrize("question", QUESTIONS)
@pytest.mark.parametrize("way", ["--limit=9", "--no-index"])
def test_signs_in_a_question_are_no_commands(memory: Memory, question: str, way: str) -> None:
    """Hyphens, dots and the operators of full-text queries gave syntax errors or nothing."""
    memory.write(
        "memory/a.md", "".join(f"- {line}\n" for line in dict.fromkeys(QUESTIONS.values()))
    )
    found = texts(ask(memory, way, "--", question))
    assert f"- {QUESTIONS[question]}" in found


def test_one_long_line_becomes_short_passages(memory: Memory) -> None:
    """A table cell of 21,000 characters gave a piece over every limit: here each piece is short,
    and all of the cell can be found."""
    cell = " ".join(f"word{n} in the cell." for n in range(1000))
    memory.write("memory/a.md", f"| head | other |\n|---|---|\n| {cell} | x |\n" + "y" * 21_000)
    for n in (0, 500, 999):
        (hit, *_) = ask(memory, f"word{n}")["hits"]
        assert f"word{n} " in hit["text"]
        assert (hit["start_line"], hit["end_line"]) == (3, 3)
    with closing(sqlite3.connect(memory.root / INDEX)) as connection:
        (longest,) = connection.execute("select max(length(text)) from passages").fetchone()
        (count,) = connection.execute("select count(*) from passages").fetchone()
    assert longest <= LONGEST
    assert count > 100


@pytest.mark.parametrize("way", ["--limit=9", "--no-index"])
def test_a_nul_hides_nothing(memory: Memory, way: str) -> None:
    """A NUL made a document vanish, or harmed the full-text index for all the others."""
    memory.write("memory/a.md", b"- ibis\0crow host\n- gull host\n\0\n- \0swan\0\n")
    memory.write("memory/b.md", "- the lark host\n")
    for word in ("ibis", "crow", "gull", "swan", "lark"):
        assert len(ask(memory, way, word)["hits"]) == 1, word
    memory.write("memory/a.md", b"- ibis\0gull host\n")
    assert len(ask(memory, way, "ibis gull")["hits"]) == 1
    assert ask(memory, way, "crow")["hits"] == []
    assert in_step(memory.root) == []
