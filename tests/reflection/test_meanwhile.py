"""What happens to the files while a model thinks, and runs that meet, die or find no room."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from commandline import REPO
from faults.disks import in_memory
from inputs.memory import CONFIG, PROGRAM, TODAY, Memory
from llm.server import Server
from reflection.support import (
    DAY,
    INSIGHTS,
    LOG,
    MARK,
    NAME,
    answer,
    compound,
    insight,
    kept,
    nothing_written,
    pending,
    sound,
)

LATER = "- 15:30 Carol signed the contract with Initech while somebody was thinking.\n"


def meanwhile(act: Callable[[], object], *insights: dict[str, Any]) -> Callable[[Any], str]:
    """A model that answers well, after something has happened."""

    def reply(_: Any) -> str:
        act()
        return answer(*(insights or (insight(), insight("mails", "prefers short status mails", 7))))

    return reply


def append(memory: Memory, text: str) -> None:
    with (memory.root / NAME).open("a") as handle:
        handle.write(text)


def test_a_line_that_comes_meanwhile_is_kept_and_seen_next_time(
    memory: Memory, server: Server
) -> None:
    """The head of the block names what the model was shown, and nothing that it was not."""
    server.script = [meanwhile(lambda: append(memory, LATER))]
    assert compound(memory).status == 0
    assert memory.read(NAME).decode() == LOG + LATER + MARK
    assert f"{NAME}#L1-L8 sha256" in memory.read(INSIGHTS).decode()
    (row,) = pending(memory)
    assert (row["start_line"], row["end_line"]) == (9, 9)
    server.script = [answer(insight("Initech", "signed the contract with Initech", 9))]
    assert compound(memory, "--date", DAY).status == 0
    assert f"9| {LATER}" in server.said()
    assert "Alice" not in server.said()
    assert pending(memory) == []
    assert memory.read(NAME).decode() == LOG + LATER + MARK
    sound(memory, LOG + LATER)


def test_half_a_line_that_is_being_written(memory: Memory, server: Server) -> None:
    """The mark begins a line of its own behind it."""
    server.script = [meanwhile(lambda: append(memory, "- 15:30 half of"))]
    assert compound(memory).status == 0
    assert memory.read(NAME).decode() == LOG + "- 15:30 half of\n" + MARK


def test_lines_that_move_meanwhile_are_cited_where_they_are(memory: Memory, server: Server) -> None:
    """As the log is all another one by its hash, it is asked about again, and nothing comes twice."""
    moved = LOG.replace("# 2026-02-24\n", "# 2026-02-24\n\n- 08:00 Got up early and made tea.\n")
    server.script = [meanwhile(lambda: memory.write(NAME, moved))]
    assert compound(memory).status == 0
    assert [line.rpartition("#")[2][:6] for line in kept(memory)] == ["L6-L6)", "L9-L9)"]
    assert [row["file"] for row in pending(memory)] == [NAME]
    sound(memory, moved)
    server.script = [answer(insight(first=6))]
    assert "0 insights" in compound(memory).text
    assert (len(kept(memory)), pending(memory)) == (2, [])
    sound(memory, moved)


def test_words_that_are_changed_meanwhile_are_not_cited(memory: Memory, server: Server) -> None:
    """That insight is dropped with the reason, the other one stays."""
    changed = LOG.replace("Postgres over MySQL", "SQLite over MySQL")
    server.script = [meanwhile(lambda: memory.write(NAME, changed))]
    result = compound(memory)
    assert "1 insight, 1 dropped" in result.text
    assert "its words have been changed meanwhile: Postgres" in result.errors
    assert [row["file"] for row in pending(memory)] == [NAME]
    sound(memory, changed)


def test_a_log_that_is_written_anew_meanwhile(memory: Memory, server: Server) -> None:
    """Where nothing of what was said stands any more, nothing is written."""
    other = (
        "# 2026-02-24\n\n" + "- 09:00 Something else happened on that day, and much of it.\n" * 3
    )
    server.script = [meanwhile(lambda: memory.write(NAME, other))]
    result = compound(memory)
    nothing_written(memory, result, 1, other)
    assert "have been changed meanwhile" in result.errors


@pytest.mark.parametrize("way", ["deleted", "a folder"])
def test_a_log_that_is_gone_meanwhile(memory: Memory, server: Server, way: str) -> None:
    """It is not made anew, and no insight is written that nobody could check."""

    def act() -> None:
        (memory.root / NAME).unlink()
        if way == "a folder":
            (memory.root / NAME).mkdir()

    server.script = [meanwhile(act)]
    result = compound(memory)
    assert result.status == 1
    assert "its insights were not written" in result.errors
    assert not (memory.root / "insights").exists()
    assert not (memory.root / NAME).is_file()


@pytest.mark.parametrize("way", ["appended", "replaced", "moved away"])
def test_a_file_of_insights_that_is_saved_meanwhile(
    memory: Memory, server: Server, way: str
) -> None:
    """What a person has written stays, and the block stands behind it."""
    theirs = "# Insights - February 2026\n\nMy own words.\n"
    memory.write(INSIGHTS, theirs)

    def act() -> None:
        path = memory.root / INSIGHTS
        if way == "appended":
            path.write_text(f"{theirs}And more.\n")
        elif way == "replaced":
            memory.write("insights/new", f"{theirs}And more.\n").replace(path)
        else:
            path.rename(memory.root / "insights/mine.md")

    server.script = [meanwhile(act)]
    assert compound(memory).status == 0
    text = memory.read(INSIGHTS).decode()
    if way == "moved away":
        assert memory.read("insights/mine.md").decode() == theirs
        assert text.startswith("# Insights - February 2026\n\n## 2026-02-24 Insights\n")
    else:
        assert text.startswith(f"{theirs}And more.\n## 2026-02-24 Insights\n")
    assert len(kept(memory)) == 2


def test_two_runs_at_once(memory: Memory, server: Server) -> None:
    """The second one ends at once with status 75; one block, one mark, one question."""
    found = []
    server.script = [meanwhile(lambda: found.append(compound(memory)))]
    assert compound(memory).status == 0
    (second,) = found
    assert second.status == 75
    assert second.errors.startswith("memfas: another memfas run")
    assert len(server.asked) == 1
    assert memory.read(INSIGHTS).count(b"<!-- compounded:") == 1
    sound(memory)


def test_looking_waits_for_nobody(memory: Memory, server: Server) -> None:
    """What waits can be listed, and would be shown, while a model thinks."""
    found = []

    def act() -> None:
        looks = (["--list"], ["--show-payload"], ["--dry-run"], ["--print-prompt", DAY])
        found.extend(compound(memory, *look).status for look in looks)

    server.script = [meanwhile(act)]
    assert compound(memory).status == 0
    assert found == [0, 0, 0, 0]


def test_writers_do_not_wait_for_a_model(memory: Memory, server: Server) -> None:
    """Notes are taken as ever while one thinks."""
    found = []
    server.script = [meanwhile(lambda: found.append(memory.run("log", "a note").status))]
    assert compound(memory).status == 0
    assert found == [0]
    assert any("a note" in path.read_text() for path in memory.root.glob("memory/*.md"))


def begun(memory: Memory, code: str = "") -> subprocess.Popen[bytes]:
    """`memfas compound` in a process of its own, code run before it."""
    program = f"{code}\nfrom agent_memfas.cli import main\nimport sys\nsys.exit(main())"
    whole = [sys.executable, "-c", program] if code else PROGRAM
    environment = {"PATH": os.environ["PATH"], "HOME": "/nonexistent", "LC_ALL": "C",
                   "PYTHONPATH": str(REPO / "scripts")}  # fmt: skip
    return subprocess.Popen(
        [*whole, "compound", "--root", str(memory.root), "--today", TODAY],
        env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip


def test_killed_while_the_model_thinks(memory: Memory, server: Server) -> None:
    """Nothing was written; the next run does it all, and no lock is in its way."""
    asked, go = threading.Event(), threading.Event()

    def think() -> None:
        asked.set()
        go.wait(30)

    server.script = [meanwhile(think), answer(insight())]
    process = begun(memory)
    assert asked.wait(30)
    process.send_signal(signal.SIGKILL)
    process.communicate()
    go.set()
    assert memory.read(NAME).decode() == LOG
    assert not (memory.root / "insights").exists()
    assert compound(memory).status == 0
    assert memory.read(INSIGHTS).count(b"<!-- compounded:") == 1
    sound(memory)


KILLED = """
import os, signal
from agent_memfas.tasks import compounding
def die(*_, **__): os.kill(os.getpid(), signal.SIGKILL)
compounding.{function} = die
"""


@pytest.mark.parametrize(("function", "blocks"), [("append_block", 0), ("mark", 1)])
def test_killed_on_the_way_to_the_mark(
    memory: Memory, server: Server, function: str, blocks: int
) -> None:
    """Before the block or between block and mark: after the next run there is one of each."""
    server.script = [answer(insight())]
    process = begun(memory, KILLED.format(function=function))
    process.communicate(timeout=60)
    assert process.returncode == -signal.SIGKILL
    assert memory.read(NAME).decode() == LOG
    assert len(list(memory.root.glob("insights/*.md"))) == blocks
    assert compound(memory).status == 0
    assert len(server.asked) == 2 - blocks
    assert memory.read(NAME).decode() == LOG + MARK
    assert memory.read(INSIGHTS).count(b"<!-- compounded:") == 1
    assert len(kept(memory)) == 1
    before = memory.truth()
    assert compound(memory).text == "Nothing to compound.\n"
    assert memory.truth() == before
    sound(memory)


def test_a_log_that_cannot_be_marked(memory: Memory, server: Server, as_anybody: list[str]) -> None:
    """Its insights stand all the same, nothing is asked again, and it gets its mark once it can."""
    server.script = [answer(insight())]
    (memory.root / NAME).chmod(0o400)
    for status in (1, 0):
        done = subprocess.run([*as_anybody, *PROGRAM, "compound", "--root", memory.root, "--today", TODAY],
                              env={"PATH": os.environ["PATH"], "PYTHONPATH": str(REPO / "scripts")},
                              capture_output=True, text=True, check=False)  # fmt: skip
        assert done.returncode == status, done.stderr
        assert "Permission denied" in done.stderr
        assert "Traceback" not in done.stderr
    assert memory.read(NAME).decode() == LOG
    assert len(kept(memory)) == len(server.asked) == 1
    (memory.root / NAME).chmod(0o600)
    assert compound(memory).status == 0
    assert memory.read(NAME).decode() == LOG + MARK


@pytest.mark.parametrize("what", ["insights", INSIGHTS])
def test_insights_that_cannot_be_written(
    memory: Memory, server: Server, as_anybody: list[str], what: str
) -> None:
    """It is said, both logs still wait, and the model was not asked about the second for nothing."""
    memory.write("memory/2026-02-25.md", LOG)
    memory.write(INSIGHTS if what == INSIGHTS else "insights/2026-01.md", "# Insights\n")
    (memory.root / what).chmod(0o500 if what == "insights" else 0o400)
    server.script = [answer(insight())]
    done = subprocess.run([*as_anybody, *PROGRAM, "compound", "--root", memory.root, "--today", TODAY],
                          env={"PATH": os.environ["PATH"], "PYTHONPATH": str(REPO / "scripts")},
                          capture_output=True, text=True, check=False)  # fmt: skip
    assert done.returncode == 1
    assert "2026-02.md: Permission denied" in done.stderr
    assert "left for another time: memory/2026-02-24.md#L1-L8, memory/2026-02-25.md" in done.stderr
    assert len(server.asked) == 1
    assert len(pending(memory)) == 2
    assert memory.read(NAME).decode() == LOG


def test_a_full_disk(tmp_path: Path, server: Server, as_root: None) -> None:
    """At whatever moment it is full: no torn block, no log marked without one, all done once there
    is room."""
    with in_memory(tmp_path / "disk", "size=256k") as at:
        memory = Memory(at / "agent")
        memory.write("memfas.yaml", CONFIG + server.settings)
        memory.write(NAME, LOG)
        many = [insight(f"insight {n} {'word ' * 60}") for n in range(50)]
        server.script = [answer(*many)]
        ballast = at / "ballast"
        for pages in range(8):
            with ballast.open("wb", buffering=0) as handle:
                try:
                    while handle.write(b"x" * 4096):
                        pass
                except OSError:
                    handle.truncate(max(0, handle.tell() - pages * 4096))
            result = compound(memory)
            assert "Traceback" not in result.everything
            if result.status == 0:
                break
            assert result.status == 1, result.everything
            assert "No space left" in result.errors
            assert memory.read(NAME).decode() == LOG
            if kept(memory):
                assert len(kept(memory)) == 50
                break
            ballast.unlink()
        ballast.unlink()
        assert compound(memory).status == 0
        assert len(kept(memory)) == 50
        assert memory.read(INSIGHTS).count(b"<!-- compounded:") == 1
        assert memory.read(NAME).decode() == LOG + MARK
        sound(memory)
