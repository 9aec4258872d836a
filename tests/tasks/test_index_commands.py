"""index, reindex, clear, stats, status, doctor: what a person sees of the index."""

from __future__ import annotations

import json
import os
import sqlite3
from pathlib import Path
from typing import Any

import pytest

from agent_memfas.cli import main


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "agent"
    (folder / "memory").mkdir(parents=True)
    (folder / "MEMORY.md").write_text("# M\n\n- [P0] the staging host is heron\n")
    (folder / "memory/2026-02-24.md").write_text("- Alice: the deadline is Friday\n- lunch\n")
    (folder / "TRIGGERS.md").write_text("- alice, code review -> Project manager\n")
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.chdir(folder)
    return folder


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    status = main(list(arguments))
    captured = capsys.readouterr()
    return status, captured.out, captured.err


def data(capsys: pytest.CaptureFixture[str], *arguments: str) -> Any:
    return json.loads(run(capsys, *arguments, "--json")[1])


def database(root: Path) -> sqlite3.Connection:
    return sqlite3.connect(root / ".memfas/index.db", isolation_level=None)


def test_index_reads_what_has_changed(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Without a path everything new is read, and nothing twice."""
    os.utime(root / "MEMORY.md")
    assert data(capsys, "index")["files"] == 3
    data(capsys, "index")  # the files were younger than a tick of the clock
    assert data(capsys, "index")["files_read"] == 0
    (root / "memory/2026-02-25.md").write_text("- Bob has the keys\n")
    assert run(capsys, "index")[:2] == (0, "4 files in the index, 1 file read now\n")


def test_index_names_each_file_and_why_one_failed(
    root: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Files and folders are taken from here; what is missing, outside, ignored or no text is said,
    the rest is indexed, and the status tells."""
    (root / ".memfasignore").write_text("drafts/\n")
    (root / "drafts").mkdir()
    (root / "drafts/x.md").write_text("x\n")
    (root / "photo.png").write_bytes(b"\x89PNG\r\n")
    status, out, _ = run(
        capsys,
        "index",
        "MEMORY.md",
        "memory",
        "nosuch.md",
        "drafts/x.md",
        "photo.png",
        "/etc/hosts",
    )
    assert status == 1
    assert "✓ Indexed: MEMORY.md" in out
    assert "✓ Indexed: memory/2026-02-24.md" in out
    assert "✗ Not found: nosuch.md" in out
    assert "✗ Failed: drafts/x.md (left out by .memfasignore" in out
    assert "✗ Failed: photo.png (not a text file" in out
    assert "✗ Failed: /etc/hosts (/etc/hosts is outside the memory folder" in out


def test_index_of_one_file_mends_its_rows_and_leaves_the_others(
    root: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A file that is named is read again although its bytes are the same; others stay found."""
    run(capsys, "index")
    database(root).execute("update passages set text = 'nonsense' where text like '%heron%'")
    assert run(capsys, "index", "MEMORY.md")[0] == 0
    texts = [text for (text,) in database(root).execute("select text from passages")]
    assert "- [P0] the staging host is heron" in texts
    assert "- Alice: the deadline is Friday" in texts


def test_stats_tells_database_backend_memories_and_triggers(
    root: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The lines of the reference, of the files as they are now."""
    status, out, _ = run(capsys, "stats")
    assert status == 0
    assert f"Database: {root}/.memfas/index.db" in out
    assert "Backend:  fts5" in out
    assert "Memories: 3 in 3 files" in out
    assert "Triggers: 2" in out
    assert data(capsys, "stats")["memories"] == 3


def test_clear_asks_unless_it_is_told(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Nobody there to answer: an error that says so. With -y the index goes and no file with it;
    the next question brings it back."""
    run(capsys, "index")
    status, _, err = run(capsys, "clear")
    assert (status, "add -y" in err) == (2, True)
    before = {path: path.read_bytes() for path in root.rglob("*.md")}
    status, out, _ = run(capsys, "clear", "-y")
    assert status == 0
    assert out.startswith("✓ Cleared all memories")
    assert not (root / ".memfas/index.db").exists()
    assert before == {path: path.read_bytes() for path in root.rglob("*.md")}
    assert data(capsys, "recall", "heron")["hits"]


def test_reindex_reads_the_files_again(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Whatever was wrong with the index, the new one is of the files; unknown backends are errors."""
    run(capsys, "index")
    database(root).execute("delete from passages")
    status, out, _ = run(capsys, "reindex", "-b", "fts5", "-y")
    assert status == 0
    assert "Current: fts5 with 3 memories" in out
    assert "✓ Migrated to fts5: 3 memories" in out
    assert run(capsys, "reindex", "-b", "cloud")[0] == 2


def test_status_changes_nothing(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """It says what is behind without reading it: no index, in step, behind by some files."""
    assert "there is no index yet" in run(capsys, "status")[1]
    assert not (root / ".memfas").exists()
    for _ in range(2):
        run(capsys, "index")
    assert "in step; 3 files, 3 memories" in run(capsys, "status")[1]
    (root / "memory/2026-02-25.md").write_text("- Bob\n")
    (root / "MEMORY.md").unlink()
    assert "behind by 2 files" in run(capsys, "status")[1]
    told = data(capsys, "status")
    assert (told["fresh"], told["files_behind"], told["files_indexed"]) == (False, 2, 3)


def test_doctor_finds_nothing_wrong_with_a_sound_folder(
    root: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Every check has a tick, also the comparison row for row."""
    for _ in range(2):
        run(capsys, "index")
    status, out, _ = run(capsys, "doctor", "--deep")
    assert status == 0, out
    assert "✗" not in out
    assert "✓ row for row" in out


LOSE = "insert into words(words, rowid, terms) select 'delete', id, 'heron' from passages where "
LOSE += "text like '%heron%'"
HARM = {
    "a text changed": ("update passages set text = 'x' where id = 1", "its text is not what was"),
    "a passage gone": ("delete from passages where id = 1", "passages where 3 were counted"),
    "a term gone": (LOSE, "postings of"),
    "a trigger gone": ("delete from triggers", "triggers of TRIGGERS.md"),
    "a hash changed": ("update files set hash = x'00'", "files of MEMORY.md"),
}  # fmt: skip


@pytest.mark.parametrize("harm", HARM)
def test_doctor_finds_harm_and_mends_it(
    root: Path, capsys: pytest.CaptureFixture[str], harm: str
) -> None:
    """Rows that are not what the files say are named by --deep; --fix makes them right."""
    for _ in range(2):
        run(capsys, "index")
    statement, words = HARM[harm]
    database(root).execute(statement)
    status, out, _ = run(capsys, "doctor", "--deep")
    assert status == 1
    assert words in out
    status, out, _ = run(capsys, "doctor", "--deep", "--fix")
    assert status == 0, out
    assert "mended" in out
    assert run(capsys, "doctor", "--deep")[0] == 0


def test_doctor_names_leftovers_and_files_that_are_passed_over(
    root: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """What dead runs left goes with --fix; a copy by a sync tool is for the person to mend."""
    run(capsys, "index")
    left = root / ".memfas/index.db.999999999-0123abcd.tmp"
    left.write_bytes(b"")
    (root / "MEMORY (copy).md").write_text("x\n")
    status, out, _ = run(capsys, "doctor", "--fix")
    assert status == 1
    assert not left.exists()
    assert "MEMORY (copy).md: a copy made by a sync tool" in out
    checks = {check["name"]: check for check in data(capsys, "doctor")["checks"]}
    assert checks["files"]["found"]
    assert not checks["leftovers"]["found"]


def test_a_file_of_somebody_else_is_never_taken_for_the_index(
    root: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """db_path may name a file by mistake: clear, reindex, doctor --fix and recall leave it alone."""
    precious = root / "precious.db"
    connection = sqlite3.connect(precious)
    connection.execute("create table mine(x)")
    connection.commit()
    connection.close()
    before = precious.read_bytes()
    (root / "memfas.yaml").write_text("db_path: precious.db\n")
    for command in (["recall", "heron"], ["index"], ["reindex"], ["clear", "-y"], ["doctor", "--fix"],
                    ["recall", "heron"]):  # fmt: skip
        run(capsys, *command)
        assert precious.read_bytes() == before
    assert data(capsys, "recall", "heron")["source"] == "index"
