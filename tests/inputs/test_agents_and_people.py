"""Agents and people at the same files: what one does, the other finds, and can take back."""

from __future__ import annotations

import itertools
import json
import os
import re
import subprocess
import sys
from collections.abc import Callable
from datetime import date, datetime, timedelta, timezone
from pathlib import Path

import pytest

from commandline import REPO

from .memory import CONFIG, CONTROL, HEAD, PROGRAM, TODAY, Memory, call, start

Clock = Callable[..., None]
LIVING = b"- [P1][2026-02-20] alive\n"
DOOR = [sys.executable, str(REPO / "scripts" / "memory-janitor.py")]

# A writer that goes through memfas itself: WRITERS processes of this append LINES lines each.
WRITERS, LINES = 8, 40
WRITER = """
import sys
from datetime import datetime
from pathlib import Path
from agent_memfas.store.layout import open_folder
from agent_memfas.store.passes import Pass
from agent_memfas.tasks import notes
folder = open_folder(Path(sys.argv[1]))
now = datetime.fromisoformat("2026-03-01T12:00:00+00:00")
for number in range(int(sys.argv[3])):
    notes.add(folder, f"{sys.argv[2]}-{number}", "P0", Pass("add", now))
"""


def test_no_cooperating_append_is_lost(memory: Memory) -> None:
    """Eight agents add lines at the same time while the janitor works: all lines are there once,
    each whole, and each agent's own in their order."""
    memory.write("MEMORY.md", HEAD + CONTROL)
    environment = {"PYTHONPATH": str(REPO / "scripts"), "PATH": os.environ["PATH"]}
    writers = [
        subprocess.Popen(
            [sys.executable, "-c", WRITER, str(memory.root), str(name), str(LINES)], env=environment
        )
        for name in range(WRITERS)
    ]
    while any(writer.poll() is None for writer in writers):
        memory.janitor("--force")
    assert [writer.returncode for writer in writers] == [0] * WRITERS
    found = re.findall(rb"^- \[P0\] (\d)-(\d+)$", memory.read(), re.MULTILINE)
    expected = [(b"%d" % w, b"%d" % n) for w in range(WRITERS) for n in range(LINES)]
    assert sorted(found, key=lambda pair: (pair[0], int(pair[1]))) == expected
    for writer in range(WRITERS):
        mine = [int(number) for name, number in found if int(name) == writer]
        assert mine == sorted(mine)
    memory.janitor("--force")
    assert memory.read().count(b"\n") == HEAD.count(b"\n") + WRITERS * LINES
    assert memory.archive_entries == CONTROL


def test_an_agent_may_add_all_day(memory: Memory) -> None:
    """More additions than versions are kept, in a folder where no janitor has run: each is
    written, none fails, and the last one can be taken back."""
    memory.write("MEMORY.md", HEAD)
    for number in range(33):
        assert memory.run("add", "-p", "P0", f"line {number}").status == 0
    assert memory.run("undo").status == 0
    assert memory.read().count(b"- [P0] line") == 32


def test_shell_appends_survive_the_janitor(memory: Memory) -> None:
    """An agent that only knows `>>` writes while the janitor runs again and again: none lost."""
    memory.write("MEMORY.md", HEAD + CONTROL)
    loop = 'for i in $(seq 400); do echo "- [P2][2020-01-01] line $i" >> MEMORY.md; done'
    with subprocess.Popen(["bash", "-c", loop], cwd=memory.root) as shell:
        while shell.poll() is None:
            memory.janitor("--force")
    memory.janitor("--force")
    lines = memory.archive_entries.splitlines()
    assert lines == [CONTROL.strip(), *(b"- [P2][2020-01-01] line %d" % n for n in range(1, 401))]
    assert memory.read() == HEAD


def test_a_change_made_by_hand_after_a_run_lives(memory: Memory) -> None:
    """Nothing is remembered between runs that could overwrite what I edited since."""
    memory.write("MEMORY.md", HEAD + CONTROL + LIVING)
    memory.janitor()
    memory.write("MEMORY.md", HEAD + b"- [P0] rewritten by hand\n" + CONTROL)
    memory.janitor()
    assert memory.read() == HEAD + b"- [P0] rewritten by hand\n"
    assert LIVING not in memory.archived
    assert any("alive" in line for line in memory.run("history").text.splitlines())


@pytest.mark.parametrize(
    ("zone", "instant", "day"),
    [
        ("Asia/Shanghai", "2026-02-23T19:53:00+00:00", "2026-02-24"),
        ("America/Los_Angeles", "2026-02-24T07:59:00+00:00", "2026-02-23"),
        ("Europe/Berlin", "2026-03-28T23:30:00+00:00", "2026-03-29"),
    ],
)
def test_the_log_is_that_of_the_local_day(
    memory: Memory, clock: Clock, zone: str, instant: str, day: str
) -> None:
    """At seven minutes to four in Shanghai it is the 24th, whatever the day is in UTC; the time
    in the line is local too."""
    memory.write("memfas.yaml", CONFIG + f"timezone: {zone}\n")
    moment = datetime.fromisoformat(instant)
    clock(moment)
    assert memory.run("log", "deployed").status == 0
    (log,) = (memory.root / "memory").iterdir()
    assert log.name == f"{day}.md"
    assert re.search(rb"^- \d\d:\d\d deployed$", log.read_bytes(), re.MULTILINE)
    assert memory.run("add", "fact").status == 0
    assert f"- [P1][{day}] fact\n".encode() in memory.read()


def test_the_time_zone_of_the_machine_counts(memory: Memory) -> None:
    """Without a setting, TZ decides: fourteen hours east of Greenwich the day is another one than
    twelve hours west."""
    days = set()
    for zone, hours in (("Etc/GMT-14", 14), ("Etc/GMT+12", -12)):
        before = datetime.now(timezone(timedelta(hours=hours))).date()
        done = memory.process("log", "--json", "x", env={"TZ": zone})
        after = datetime.now(timezone(timedelta(hours=hours))).date()
        day = date.fromisoformat(json.loads(done.stdout)["path"][7:17])
        assert before <= day <= after
        days.add(day)
    assert len(days) == 2


def test_every_removal_can_be_traced(memory: Memory) -> None:
    """For each entry that left: its bytes, its old place and its section are in the archive, the
    day and the pass too, and `history` names that pass."""
    before = b"# M\n\n## Projects\n\n" + LIVING + CONTROL + b"\n## Notes\n" + CONTROL
    memory.write("MEMORY.md", before)
    result = memory.janitor()
    moved = [(m["path"], m["start_line"], m["archive"]) for m in result.data["moved"]]
    archive = f"archive/expired-{TODAY[:7]}.md"
    assert moved == [("MEMORY.md", 6, archive), ("MEMORY.md", 9, archive)]
    assert b"<!-- from MEMORY.md:6 | M > Projects -->\n" + CONTROL in memory.archived
    assert b"<!-- from MEMORY.md:9 | M > Notes -->\n" + CONTROL in memory.archived
    assert f"\n## Archived {TODAY} by memory-janitor\n".encode() in memory.archived
    (identity,) = re.findall(rb"<!-- janitor (\S+) -->", memory.archived)
    assert identity.decode() in memory.run("history", "MEMORY.md").text


def test_a_log_folder_that_vanished_is_told(memory: Memory) -> None:
    """memory/ was there and is gone: `log` writes its line all the same (an append is never
    refused), but not without a word about it."""
    assert memory.run("log", "first").status == 0
    for path in (memory.root / "memory").iterdir():
        path.unlink()
    (memory.root / "memory").rmdir()
    result = memory.run("log", "second")
    assert "memory/" in result.errors
    assert result.status in (0, 1)


def test_a_line_that_vanished_is_told(memory: Memory) -> None:
    """An editor wrote an old copy over MEMORY.md: the next run and `history` name the lost line,
    and the old text can be had back."""
    memory.write("MEMORY.md", HEAD + LIVING + b"- [P0] door code 4411\n")
    memory.janitor()
    memory.write("MEMORY.md", HEAD + LIVING)
    result = memory.janitor()
    assert any("door code 4411" in warning for warning in result.data["warnings"])
    listed = memory.run("history", "--json", "MEMORY.md").data["versions"]
    assert "- [P0] door code 4411" in [line for v in listed for line in v["vanished"]]
    shown = memory.run("history", "MEMORY.md", "--show", listed[0]["pass"])
    assert shown.raw == HEAD + LIVING + b"- [P0] door code 4411\n"


@pytest.mark.parametrize(
    "arguments",
    [["--help"], ["--dryrun"], ["--dry-rum"], ["-n"], ["--today"], ["--today=x"], ["--forse"],
     ["--json", "--verbose"], ["--dry-run", "--dry-run"]],
)  # fmt: skip
def test_a_wrong_flag_changes_nothing(memory: Memory, arguments: list[str]) -> None:
    """--help helps, a typing mistake is an error: neither runs the real thing."""
    memory.write("MEMORY.md", HEAD + CONTROL)
    before = memory.truth()
    result = memory.run("janitor", *arguments)
    assert result.status == (0 if arguments[0] in ("--help", "--dry-run") else 2)
    assert memory.truth() == before
    assert not (memory.root / ".memfas").exists()


def test_the_door_obeys_help_and_typing_mistakes_too(memory: Memory) -> None:
    """`memory-janitor.py --help` and `--dryrun` for real."""
    memory.write("MEMORY.md", HEAD + CONTROL)
    assert start([*DOOR, "--help"], cwd=memory.root).returncode == 0
    assert start([*DOOR, "--dryrun"], cwd=memory.root).returncode == 2
    assert memory.read() == HEAD + CONTROL
    assert start([*DOOR, "--today", TODAY], cwd=memory.root).returncode == 0
    assert memory.read() == HEAD


def test_my_own_backup_is_not_overwritten(memory: Memory) -> None:
    """A MEMORY.md.bak of mine stays as it is, run after run, and no other is made."""
    memory.write("MEMORY.md.bak", b"mine\n")
    for _ in range(2):
        memory.write("MEMORY.md", HEAD + CONTROL)
        memory.janitor()
    assert memory.read("MEMORY.md.bak") == b"mine\n"
    assert sorted(memory.truth()) == [
        "MEMORY.md", "MEMORY.md.bak", f"archive/expired-{TODAY[:7]}.md", "memfas.yaml",
    ]  # fmt: skip


def test_a_dry_run_changes_nothing_and_says_the_same(memory: Memory) -> None:
    """What --dry-run announces is what the run then does; not one file is made before."""
    memory.write("MEMORY.md", HEAD + CONTROL + LIVING + CONTROL)
    announced = memory.janitor("--dry-run").data["moved"]
    assert sorted(memory.truth()) == ["MEMORY.md", "memfas.yaml"]
    assert not (memory.root / ".memfas").exists()
    assert memory.janitor().data["moved"] == announced


def test_a_restored_entry_stands_where_it_stood(memory: Memory) -> None:
    """Each archived entry comes back to its place, whole, in whatever order I ask for them."""
    block = b"- [P1][2020-01-01] with more\n  - nested\n\n  a paragraph\n"
    before = b"# M\n\n" + CONTROL + b"\n## A\n" + block + LIVING + b"\ntext\n\n" + CONTROL
    for order in itertools.permutations(range(3)):
        memory.write("MEMORY.md", before)
        assert memory.janitor("--force").status == 0
        left = list(order)
        while left:
            name, lines = archived_at(memory)
            at = sorted(left).index(left[0])
            assert memory.run("restore", f"{name}:{lines[at]}").status == 0
            left.pop(0)
        assert memory.read() == before
        assert memory.archive_entries == b""
        for path in memory.root.glob("archive/*"):
            path.unlink()


def archived_at(memory: Memory) -> tuple[str, list[int]]:
    """The archive file and the lines (1-based) on which its entries begin."""
    name = f"archive/expired-{TODAY[:7]}.md"
    lines = memory.read(name).split(b"\n")
    return name, [n + 2 for n, line in enumerate(lines) if line.startswith(b"<!-- from ")]


def test_undo_leaves_what_others_did_since(memory: Memory) -> None:
    """The pass is taken back; the line that was added after it stays."""
    memory.write("MEMORY.md", HEAD + CONTROL + LIVING)
    memory.janitor()
    with (memory.root / "MEMORY.md").open("ab") as file:
        file.write(b"- [P0] since\n")
    assert memory.run("undo").status == 0
    assert memory.read() == HEAD + CONTROL + LIVING + b"- [P0] since\n"
    assert memory.archive_entries == b""


def test_both_shared_and_own_memory_are_tended(memory: Memory) -> None:
    """shared/MEMORY.md without being named, any other file when it is named."""
    for name in ("MEMORY.md", "shared/MEMORY.md", "team/notes.md"):
        memory.write(name, HEAD + CONTROL)
    assert memory.janitor().status == 0
    assert [memory.read(n) for n in ("MEMORY.md", "shared/MEMORY.md")] == [HEAD, HEAD]
    assert memory.read("team/notes.md") == HEAD + CONTROL
    assert memory.janitor("team/notes.md").status == 0
    assert memory.read("team/notes.md") == HEAD


def test_the_project_around_me_counts(memory: Memory, tmp_path: Path) -> None:
    """Not ~/MEMORY.md: the nearest folder above me that is a memory folder."""
    home = Memory(tmp_path / "home")
    home.write("MEMORY.md", HEAD + CONTROL)
    home.write("memory/x.md", CONTROL)
    memory.write("MEMORY.md", HEAD + CONTROL)
    inside = memory.root / "src" / "deep"
    inside.mkdir(parents=True)
    done = start([*PROGRAM, "janitor", "--today", TODAY], cwd=inside, env={"HOME": str(home.root)})
    assert done.returncode == 0, done.stderr
    assert (memory.read(), home.read()) == (HEAD, HEAD + CONTROL)


def test_outside_of_any_memory_folder_nothing_is_guessed(tmp_path: Path) -> None:
    """No memory folder here or above: status 3, a sentence that names `memfas init`."""
    done = start([*PROGRAM, "janitor"], cwd=tmp_path, env={"HOME": str(tmp_path)})
    assert done.returncode == 3
    assert b"memfas init" in done.stderr
    assert list(tmp_path.iterdir()) == []
    assert call("init", "--root", str(tmp_path)).status == 0


def test_all_texts_give_the_same_three_answers() -> None:
    """Must not be missed: P0. May be looked up: P1 or P2 in MEMORY.md. Neither: the daily log.
    README, SKILL.md and the template agree."""
    for name in ("README.md", "SKILL.md", "templates/MEMORY.md"):
        text = (REPO / name).read_text(encoding="utf-8")
        for tag in ("P0", "P1", "P2"):
            assert tag in text, name
        assert re.search(r"(?is)neither.{0,120}\blog\b", text), name
        assert not re.search(r"(?is)look it up[^.\n]{0,80}archive", text), name
