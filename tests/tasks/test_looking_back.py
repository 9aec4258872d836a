"""Undo, restore and history: everything comes back, and what vanished is told."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from agent_memfas.cli import main

MEMORY = (
    "# M\n\n## Projects\n\n- [P0] stays\n- [P1][2020-01-01] Beacon\n  - with a child\n\n  and more\n"
    "- [P0] between\n- [P2][2020-01-01] note\n\n## Notes\n\n- [P2][2020-02-01] other\n"
)
ARCHIVE = "archive/expired-2026-03.md"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "MEMORY.md").write_text(MEMORY)
    (tmp_path / "memfas.yaml").write_text("writing: {quiet: 0, patience: 0.2}\n")
    return tmp_path


def clean(root: Path, day: str = "2026-03-01") -> None:
    assert main(["janitor", "--root", str(root), "--today", day]) == 0


def archived_line(root: Path, text: str) -> str:
    lines = (root / ARCHIVE).read_text().split("\n")
    return f"{ARCHIVE}:{next(n for n, line in enumerate(lines, 1) if text in line)}"


def data(capsys: pytest.CaptureFixture[str]) -> dict:
    return json.loads(capsys.readouterr().out.strip().split("\n")[-1])


def test_undo_takes_back_the_last_pass_whole(
    root: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The bytes are those of before, the archive forgets the block, and it is said what was done."""
    clean(root)
    assert "Beacon" in (root / ARCHIVE).read_text()
    assert main(["undo", "--root", str(root), "--json"]) == 0
    told = data(capsys)
    assert told["command"] == "janitor"
    assert told["changes"] == [{"path": "MEMORY.md", "lines_back": 6, "lines_gone": 0}]
    assert (root / "MEMORY.md").read_text() == MEMORY
    assert (root / ARCHIVE).read_bytes() == b""


def test_undo_goes_back_step_by_step_and_can_be_undone(root: Path) -> None:
    """A second undo takes the pass before; undoing an undo by its name does the pass again."""
    clean(root)
    once = (root / "MEMORY.md").read_text()
    assert main(["add", "-p", "P0", "oops", "--root", str(root)]) == 0
    assert main(["undo", "--root", str(root)]) == 0
    assert (root / "MEMORY.md").read_text() == once
    assert main(["undo", "--root", str(root)]) == 0
    assert (root / "MEMORY.md").read_text() == MEMORY
    assert main(["undo", "--root", str(root)]) == 1


def test_undo_keeps_what_others_wrote_since(root: Path) -> None:
    """Lines appended after the pass stay when its lines come back."""
    clean(root)
    with (root / "MEMORY.md").open("a") as file:
        file.write("- [P0] appended since\n")
    assert main(["undo", "--root", str(root)]) == 0
    assert (root / "MEMORY.md").read_text() == MEMORY + "- [P0] appended since\n"


def test_undo_of_a_named_pass_and_of_none(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """History names the passes; an unknown name is status 1; a dry run changes nothing."""
    clean(root)
    capsys.readouterr()
    assert main(["history", "MEMORY.md", "--root", str(root), "--json"]) == 0
    pass_id = next(v["pass"] for v in data(capsys)["versions"] if v["command"] == "janitor")
    after = (root / "MEMORY.md").read_bytes()
    assert main(["undo", pass_id, "--dry-run", "--root", str(root)]) == 0
    assert (root / "MEMORY.md").read_bytes() == after
    assert main(["undo", "20000101T000000-ffffff", "--root", str(root)]) == 1
    assert main(["undo", pass_id, "--root", str(root)]) == 0
    assert main(["undo", pass_id, "--root", str(root)]) == 1
    assert (root / "MEMORY.md").read_text() == MEMORY


def test_undo_refuses_what_was_edited_since(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A line that the pass wrote and somebody changed: nothing happens, the old text is named."""
    assert main(["renew", "MEMORY.md:6", "--root", str(root), "--today", "2026-03-01"]) == 0
    text = (root / "MEMORY.md").read_text().replace("Beacon", "BEACON")
    (root / "MEMORY.md").write_text(text)
    assert main(["undo", "--root", str(root)]) == 1
    assert (root / "MEMORY.md").read_text() == text
    assert "memfas history MEMORY.md --show" in capsys.readouterr().err


@pytest.mark.parametrize("text", ["Beacon", "with a child", "and more"])
def test_restore_brings_an_entry_back_whole_to_its_place(root: Path, text: str) -> None:
    """By any of its lines, with its children and blank lines, between its old neighbours."""
    clean(root)
    assert main(["restore", archived_line(root, text), "--root", str(root)]) == 0
    assert (root / "MEMORY.md").read_text() == MEMORY.replace(
        "- [P2][2020-01-01] note\n", ""
    ).replace("- [P2][2020-02-01] other\n", "")
    assert "Beacon" not in (root / ARCHIVE).read_text()
    assert "note" in (root / ARCHIVE).read_text()


def test_restore_works_without_any_state_of_ours(root: Path) -> None:
    """With .memfas deleted an entry goes back under its heading."""
    import shutil

    clean(root)
    shutil.rmtree(root / ".memfas")
    (root / "MEMORY.md").write_text("# M\n\n## Notes\n\n- [P0] new\n\n## Projects\n\n- [P0] p\n")
    assert main(["restore", archived_line(root, "other"), "--root", str(root)]) == 0
    assert "- [P0] new\n- [P2][2020-02-01] other\n\n## Projects" in (root / "MEMORY.md").read_text()


def test_restore_can_be_undone(root: Path) -> None:
    """Then the entry is in the archive again, and only there."""
    clean(root)
    before = (root / "MEMORY.md").read_bytes(), (root / ARCHIVE).read_bytes()
    assert main(["restore", archived_line(root, "note"), "--root", str(root)]) == 0
    assert main(["undo", "--root", str(root)]) == 0
    assert ((root / "MEMORY.md").read_bytes(), (root / ARCHIVE).read_bytes()) == before


@pytest.mark.parametrize(
    ("place", "status"), [("archive/none.md:1", 1), (f"{ARCHIVE}:1", 1), ("x", 2)]
)
def test_restore_of_nothing_is_said(root: Path, place: str, status: int) -> None:
    """No such file, no entry there, no place at all: one line, nothing changed."""
    clean(root)
    before = (root / "MEMORY.md").read_bytes(), (root / ARCHIVE).read_bytes()
    assert main(["restore", place, "--root", str(root)]) == status
    assert ((root / "MEMORY.md").read_bytes(), (root / ARCHIVE).read_bytes()) == before


def test_lines_that_vanish_without_an_archive_record_are_told(
    root: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """An editor or a model overwrote the file: the next run says what is gone, and history has it
    back; an edited line and a moved one are no loss.
    """
    clean(root)
    text = (root / "MEMORY.md").read_text()
    (root / "MEMORY.md").write_text(text.replace("- [P0] between\n", "").replace("stays", "stays!"))
    capsys.readouterr()
    clean(root, "2026-03-02")
    assert "1 line left MEMORY.md" in capsys.readouterr().err
    assert main(["history", "MEMORY.md", "--root", str(root), "--json"]) == 0
    versions = data(capsys)["versions"]
    assert [v["vanished"] for v in versions if v["vanished"]] == [["- [P0] between"]]
    janitor = next(v["pass"] for v in versions if v["command"] == "janitor")
    assert main(["history", "MEMORY.md", "--show", janitor, "--root", str(root)]) == 0


def test_history_keeps_thirty_versions(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Older ones go, with their contents; private modes throughout."""
    for n in range(40):
        assert main(["supersede", f"MEMORY.md:{5 + n}", f"stays {n}", "--root", str(root)]) == 0
    capsys.readouterr()
    assert main(["history", "MEMORY.md", "--root", str(root), "--json"]) == 0
    assert len(data(capsys)["versions"]) == 30
    objects = list((root / ".memfas/history/objects").iterdir())
    assert len(objects) == 31
    assert {path.stat().st_mode & 0o777 for path in objects} == {0o600}


def test_show_prints_the_very_bytes(root: Path, capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    """What a pass found can be written to a file, byte for byte."""
    clean(root)
    main(["history", "--root", str(root), "--json"])
    out = json.loads(capfdbinary.readouterr().out.split(b"\n")[-2])
    pass_id = out["versions"][-1]["pass"]
    args = ["history", "MEMORY.md", "--show", pass_id, "--before", "--root", str(root)]
    assert main(args) == 0
    assert capfdbinary.readouterr().out == MEMORY.encode()
