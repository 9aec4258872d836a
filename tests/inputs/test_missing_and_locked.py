"""Files and folders that are missing, closed, empty, or in the middle of something."""

from __future__ import annotations

import os
import shutil
import stat
import subprocess
from pathlib import Path

import pytest

from .memory import CONTROL, HEAD, PROGRAM, TODAY, Memory, call, start

SAYING = b"- [P0] the heron host\n"


def run_as(
    prefix: list[str], memory: Memory, command: str, *arguments: str
) -> subprocess.CompletedProcess[bytes]:
    """A command in a process for which the modes of files count."""
    return start([*prefix, *PROGRAM, command, "--root", str(memory.root), *arguments])


def test_a_closed_file_stops_no_other(memory: Memory, as_anybody: list[str]) -> None:
    """One MEMORY.md that I may not read: named, left alone, and the other one is tended."""
    memory.write("MEMORY.md", HEAD + CONTROL).chmod(0)
    memory.write("shared/MEMORY.md", HEAD + CONTROL)
    done = run_as(as_anybody, memory, "janitor", "--today", TODAY)
    assert done.returncode == 1
    assert b"MEMORY.md: Permission denied" in done.stderr
    assert memory.read("shared/MEMORY.md") == HEAD
    (memory.root / "MEMORY.md").chmod(0o600)
    assert memory.read() == HEAD + CONTROL


def test_closed_files_and_folders_are_named_by_recall(
    memory: Memory, as_anybody: list[str]
) -> None:
    """What I may not open is in the list of what was passed over; the rest answers."""
    memory.write("memory/2026-02-01.md", SAYING)
    memory.write("memory/2026-02-02.md", SAYING).chmod(0)
    memory.write("lessons/ops.md", SAYING)
    (memory.root / "lessons").chmod(0)
    done = run_as(as_anybody, memory, "recall", "heron")
    assert done.returncode == 0, done.stderr
    assert done.stdout.count(b"the heron host") == 1
    for name in (b"memory/2026-02-02.md", b"lessons"):
        assert name + b": Permission denied" in done.stderr


def test_a_read_only_folder_answers_and_is_not_changed(
    memory: Memory, as_anybody: list[str]
) -> None:
    """Recall needs to write nothing; the janitor and `add` say why they cannot."""
    memory.write("MEMORY.md", HEAD + CONTROL + SAYING)
    memory.root.chmod(0o555)
    assert run_as(as_anybody, memory, "recall", "heron").returncode == 0
    done = run_as(as_anybody, memory, "janitor", "--today", TODAY)
    assert done.returncode == 1
    assert b"Permission denied" in done.stderr
    assert run_as(as_anybody, memory, "log", "x").returncode == 1
    assert memory.read() == HEAD + CONTROL + SAYING


def test_a_closed_archive_stops_the_move(memory: Memory, as_anybody: list[str]) -> None:
    """Nothing leaves MEMORY.md where the archive cannot be written; once it can, all is well."""
    memory.write("MEMORY.md", HEAD + CONTROL)
    (memory.root / "archive").mkdir()
    (memory.root / "archive").chmod(0o555)
    done = run_as(as_anybody, memory, "janitor", "--today", TODAY)
    assert done.returncode == 1
    assert b"archive" in done.stderr
    assert memory.read() == HEAD + CONTROL
    (memory.root / "archive").chmod(0o700)
    assert run_as(as_anybody, memory, "janitor", "--today", TODAY).returncode == 0
    assert (memory.read(), memory.archive_entries) == (HEAD, CONTROL)


@pytest.mark.parametrize("obstacle", ["a file", "a link out", "a pipe", "a folder for the file"])
def test_an_archive_that_is_none_stops_the_move(
    memory: Memory, tmp_path: Path, obstacle: str
) -> None:
    """archive/ is a file, leads out of the folder, or holds a pipe under the name that is needed:
    nothing is removed from MEMORY.md and nothing is written elsewhere."""
    memory.write("MEMORY.md", HEAD + CONTROL)
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    place = memory.root / "archive"
    if obstacle == "a file":
        place.write_text("mine\n")
    elif obstacle == "a link out":
        place.symlink_to(elsewhere)
    elif obstacle == "a pipe":
        place.mkdir()
        os.mkfifo(place / f"expired-{TODAY[:7]}.md")
    else:
        (place / f"expired-{TODAY[:7]}.md").mkdir(parents=True)
    result = memory.janitor()
    assert result.status in (1, 2)
    assert "archive" in result.everything
    assert memory.read() == HEAD + CONTROL
    assert list(elsewhere.iterdir()) == []
    assert obstacle != "a file" or place.read_text() == "mine\n"


@pytest.mark.usefixtures("as_root")
@pytest.mark.parametrize("flag", ["i", "a"])
def test_a_file_with_a_flag_against_changes_is_left(memory: Memory, flag: str) -> None:
    """With chattr +i or +a it says so, nothing is moved and nothing doubled; then all goes on."""
    path = memory.write("MEMORY.md", HEAD + CONTROL)
    marked = subprocess.run(["chattr", f"+{flag}", path], check=False, capture_output=True)
    if marked.returncode:
        pytest.skip("needs a file system with attributes")
    try:
        result = memory.janitor()
        assert result.status == 1
        assert "MEMORY.md" in result.errors
        assert memory.read() == HEAD + CONTROL
    finally:
        subprocess.run(["chattr", f"-{flag}", path], check=True)
    assert memory.janitor().status == 0
    assert (memory.read(), memory.archive_entries) == (HEAD, CONTROL)


@pytest.mark.parametrize("command", [["janitor"], ["recall", "x"], ["log", "x"], ["lint"]])
def test_a_folder_that_is_none_is_an_error(tmp_path: Path, command: list[str]) -> None:
    """A root that is missing, a file, or too long a name: status 3, nothing is made."""
    (tmp_path / "file").write_text("x")
    for root in ("missing", "file", "file/below", "x" * 300):
        name, *rest = command
        result = call(name, "--root", str(tmp_path / root), *rest)
        assert result.status == 3, result
        assert "memory folder" in result.errors
    assert [p.name for p in tmp_path.iterdir()] == ["file"]


def test_a_current_folder_that_is_gone_is_an_error(tmp_path: Path) -> None:
    """The folder that I stand in was deleted: one sentence, status 3."""
    gone = tmp_path / "gone"
    gone.mkdir()
    script = f"cd {gone} && rmdir {gone} && exec {' '.join(PROGRAM)} janitor"
    done = start(["bash", "-c", script])
    assert done.returncode == 3
    assert b"Traceback" not in done.stderr
    assert len(done.stderr.splitlines()) == 2


def used(memory: Memory) -> Memory:
    """A folder in which a janitor has run."""
    memory.write("MEMORY.md", HEAD + CONTROL + SAYING)
    assert memory.janitor().status == 0
    return memory


@pytest.mark.parametrize("state", ["kept", "lost"])
@pytest.mark.parametrize("what", ["missing", "empty", "blank", "a folder"])
def test_a_memory_that_was_emptied_stops(memory: Memory, what: str, state: str) -> None:
    """MEMORY.md is gone, empty or a folder, and there is an archive: something went wrong. It is
    not made anew, nothing is changed, and the status says stop (also where .memfas/ is lost)."""
    used(memory)
    path = memory.root / "MEMORY.md"
    path.unlink()
    if what == "a folder":
        path.mkdir()
    elif what != "missing":
        path.write_bytes(b"" if what == "empty" else b"\n \n")
    if state == "lost":
        shutil.rmtree(memory.root / ".memfas")
    before = memory.truth()
    result = memory.janitor()
    assert result.status == (1 if what == "a folder" else 4)
    assert "MEMORY.md" in result.everything
    assert memory.truth() == before
    assert path.is_dir() if what == "a folder" else path.exists() == (what != "missing")


def test_a_memory_that_never_was_is_an_error(memory: Memory) -> None:
    """No MEMORY.md in a new folder: said, not made."""
    result = memory.janitor()
    assert result.status == 1
    assert "MEMORY.md" in result.errors
    assert not (memory.root / "MEMORY.md").exists()


def test_a_named_file_that_is_not_there_is_an_error(memory: Memory) -> None:
    """A typing mistake is told, and the file beside it is done."""
    memory.write("MEMORY.md", HEAD + CONTROL)
    result = memory.janitor("MEMROY.md", "MEMORY.md")
    assert result.status == 1
    assert "MEMROY.md" in result.errors
    assert memory.read() == HEAD


CONFLICT = b"<<<<<<< HEAD\n- [P0] mine\n=======\n- [P0] theirs\n>>>>>>> other\n"


@pytest.mark.parametrize(
    "conflict",
    [
        pytest.param(CONFLICT, id="whole"),
        pytest.param(CONFLICT.replace(b"\n", b"\r\n"), id="windows"),
        pytest.param(b"<<<<<<< HEAD\n- [P0] mine\n", id="only-its-beginning"),
        pytest.param(b"- [P0] theirs\n>>>>>>> 0a1b2c3 (message)\n", id="only-its-end"),
    ],
)
def test_an_unresolved_conflict_is_left_to_me(memory: Memory, conflict: bytes) -> None:
    """Git could not merge: the file is not rewritten, I am told the line; the other one is done."""
    memory.write("MEMORY.md", HEAD + CONTROL + conflict)
    memory.write("shared/MEMORY.md", HEAD + CONTROL)
    result = memory.janitor()
    assert result.status == 1
    assert "conflict" in result.errors
    assert memory.read() == HEAD + CONTROL + conflict
    assert memory.read("shared/MEMORY.md") == HEAD
    assert memory.run("lint").status == 1


def test_a_conflict_on_the_first_line_is_seen_behind_a_byte_order_mark(memory: Memory) -> None:
    """The mark of the file hides no mark of git."""
    memory.write("MEMORY.md", b"\xef\xbb\xbf" + CONFLICT + CONTROL)
    assert memory.janitor().status == 1
    assert memory.read() == b"\xef\xbb\xbf" + CONFLICT + CONTROL


def test_marks_that_are_no_conflict_are_text(memory: Memory) -> None:
    """Arrows in prose and a heading underlined by equals signs are text."""
    text = b"a <<<<<<< b\n=======\n\n> > quoted >>>>>>> twice\n"
    memory.write("MEMORY.md", HEAD + CONTROL + text)
    assert memory.janitor().status == 0
    assert memory.read() == HEAD + text


LEFT_BY_A_DEAD_RUN = {
    ".memfas/lock": b"",
    ".memfas/append.lock": b"",
    ".memfas/redo": b'{"pass_id": "2026',
    ".memfas/redo.4711.tmp": b"half",
    ".memfas/janitor.json": b"\0\0\0",
    ".memfas/janitor.json.4711.tmp": b"half",
    ".memfas/history/log.jsonl": b'{"pass_id"\n[]\n"x"\n{"pass_id": 1}\n\xff\n',
    ".memfas/limbo/x.json": b"{",
    ".memfas/limbo/y.json": b'{"kept": "../../etc/passwd", "path": "../x", "accounted": "no"}',
    ".MEMORY.md.20260101T040000-abcdef.memfas.tmp": b"half",
}


def test_what_a_dead_run_left_harms_nothing(memory: Memory) -> None:
    """Locks without an owner, half-written state, junk: the next run does its work."""
    for name, data in LEFT_BY_A_DEAD_RUN.items():
        memory.write(name, data)
    memory.write("MEMORY.md", HEAD + CONTROL + SAYING)
    assert memory.janitor().status == 0
    assert (memory.read(), memory.archive_entries) == (HEAD + SAYING, CONTROL)
    assert memory.janitor().data["moved"] == []
    assert len(memory.run("recall", "--json", "heron").data["hits"]) == 1
    assert memory.run("undo").status == 0
    assert memory.read() == HEAD + CONTROL + SAYING


def test_a_living_run_is_not_disturbed(memory: Memory) -> None:
    """Another janitor holds the folder: this one does nothing and says try again; add waits for
    nobody."""
    memory.write("MEMORY.md", HEAD + CONTROL)
    (memory.root / ".memfas").mkdir()
    lock = memory.root / ".memfas" / "lock"
    with subprocess.Popen(
        ["flock", lock, "sh", "-c", "echo held; read x"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    ) as other:
        assert other.stdout is not None
        assert other.stdout.readline() == b"held\n"
        result = memory.janitor()
        assert result.status == 75
        assert "another" in result.data["error"]
        assert memory.read() == HEAD + CONTROL
        assert memory.run("add", "-p", "P0", "meanwhile").status == 0
        assert memory.janitor("--dry-run").status == 0
        other.communicate(b"\n")
    assert memory.janitor().status == 0
    assert memory.read() == HEAD + b"- [P0] meanwhile\n"


def test_state_in_a_foreign_place_is_refused(memory: Memory, tmp_path: Path) -> None:
    """.memfas is a link out of the folder, or a file: nothing is written through it."""
    memory.write("MEMORY.md", HEAD + CONTROL)
    (tmp_path / "elsewhere").mkdir()
    state = memory.root / ".memfas"
    state.symlink_to(tmp_path / "elsewhere")
    assert memory.janitor().status == 1
    state.unlink()
    state.write_text("x")
    assert memory.janitor().status == 1
    assert memory.read() == HEAD + CONTROL
    assert list((tmp_path / "elsewhere").iterdir()) == []


def test_modes_of_changed_files_stay(memory: Memory) -> None:
    """A MEMORY.md that the group may read stays so, in place or swapped for a new file."""
    for held in (False, True):
        path = memory.write("MEMORY.md", HEAD + CONTROL)
        path.chmod(0o664)
        with path.open("rb") if held else open(os.devnull, "rb"):
            assert memory.process("janitor", "--today", TODAY).returncode == 0
        assert memory.read() == HEAD
        assert stat.S_IMODE(path.stat().st_mode) == 0o664
