"""Single entries: what leaves soon, renewing one, replacing one by its successor."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from agent_memfas.cli import main

MEMORY = (
    "# M\n\n"
    "- [P0] Timezone: US Eastern\n"
    "- [P1][2025-12-10] Acme: React\n"
    "  - contact: Alice\n"
    "- [P2][2026-02-20][until:2026-12-31] long note\n"
    "- [P2][2026-02-10] short note\r\n"
    "- [P1] no date\n"
    "- [P2][2020-01-01] over\n"
)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "MEMORY.md").write_bytes(MEMORY.encode())
    return tmp_path


def run(root: Path, *arguments: str) -> int:
    return main([*arguments, "--root", str(root), "--today", "2026-03-01"])


def changed(root: Path) -> list[tuple[str, str]]:
    """The lines that differ from the original, by number, before and after."""
    before, after = MEMORY.split("\n"), (root / "MEMORY.md").read_bytes().decode().split("\n")
    return [(b, a) for b, a in zip(before, after, strict=True) if a != b]


def test_what_leaves_soon_is_told_soonest_first(
    root: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Each with its place, its last day and the days left; what is over comes first."""
    assert run(root, "expiring", "--within", "14d", "--json") == 0
    rows = json.loads(capsys.readouterr().out)["entries"]
    assert [(r["line"], r["expires"], r["days_left"]) for r in rows] == [
        (9, "2020-01-31", -2221), (4, "2026-03-10", 9), (7, "2026-03-12", 11),
    ]  # fmt: skip


def test_nothing_leaving_is_status_1(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A script can ask whether there is anything to look at."""
    (root / "MEMORY.md").write_text("- [P0] x\n")
    assert run(root, "expiring", "--within", "1d") == 1
    assert "Nothing expires" in capsys.readouterr().out
    assert run(root, "expiring", "--within", "soon") == 2


def test_renewing_changes_the_date_and_nothing_else(root: Path) -> None:
    """The entry's line gets today's date; its children and every other byte stay."""
    assert run(root, "renew", "MEMORY.md:5") == 0
    assert changed(root) == [("- [P1][2025-12-10] Acme: React", "- [P1][2026-03-01] Acme: React")]


def test_renewing_for_a_term_replaces_the_old_one(root: Path) -> None:
    """--for gives a term of its own; an earlier one is replaced; CRLF stays."""
    assert run(root, "renew", "MEMORY.md:6", "--for", "8w") == 0
    assert run(root, "renew", "MEMORY.md:7", "--for", "3d") == 0
    assert [after for _, after in changed(root)] == [
        "- [P2][2026-03-01][ttl:56d] long note",
        "- [P2][2026-03-01][ttl:3d] short note\r",
    ]


@pytest.mark.parametrize(
    ("place", "status"),
    [("MEMORY.md:3", 2), ("MEMORY.md:8", 2), ("MEMORY.md:1", 1), ("MEMORY.md:99", 1),
     ("MEMORY.md", 2), ("MEMORY.md:0", 2), ("no.md:1", 1), ("../x.md:1", 2), ("/etc/passwd:1", 2)],
)  # fmt: skip
def test_what_cannot_be_renewed_is_said_and_nothing_changes(
    root: Path, capsys: pytest.CaptureFixture[str], place: str, status: int
) -> None:
    """P0, no date, no entry there, no such file, a place outside: one line, nothing written."""
    assert run(root, "renew", place) == status
    assert (root / "MEMORY.md").read_bytes() == MEMORY.encode()
    assert capsys.readouterr().err.startswith("memfas: ")


def test_superseding_labels_the_old_and_adds_the_new(root: Path) -> None:
    """The old line says since when it is not true; the new one stands below its whole block."""
    assert run(root, "supersede", "MEMORY.md:4", "Acme: Vue", "from March") == 0
    assert run(root, "supersede", "MEMORY.md:3", "Timezone: Berlin") == 0
    lines = (root / "MEMORY.md").read_text().split("\n")
    assert lines[2:7] == [
        "- [P0][superseded:2026-03-01] Timezone: US Eastern",
        "- [P0] Timezone: Berlin",
        "- [P1][2025-12-10][superseded:2026-03-01] Acme: React",
        "  - contact: Alice",
        "- [P1][2026-03-01] Acme: Vue from March",
    ]


def test_superseding_twice_or_with_nothing_is_refused(root: Path) -> None:
    """What is superseded has its successor already; an empty successor says nothing."""
    assert run(root, "supersede", "MEMORY.md:3", "new") == 0
    before = (root / "MEMORY.md").read_bytes()
    assert run(root, "supersede", "MEMORY.md:3", "newer") == 2
    assert run(root, "supersede", "MEMORY.md:4", "  ") == 2
    assert (root / "MEMORY.md").read_bytes() == before


def test_the_last_line_without_an_end_can_be_superseded(root: Path) -> None:
    """The old line gets its end, the new one starts on a line of its own; a BOM stays first."""
    (root / "MEMORY.md").write_bytes(b"\xef\xbb\xbf- [P0] old")
    assert run(root, "supersede", "MEMORY.md:1", "new\n- [P0] forged") == 0
    assert (root / "MEMORY.md").read_bytes() == (
        b"\xef\xbb\xbf- [P0][superseded:2026-03-01] old\n- [P0] new - [P0] forged\n"
    )


@pytest.mark.parametrize("command", [["renew", "MEMORY.md:4"], ["supersede", "MEMORY.md:4", "x"]])
def test_a_dry_run_shows_and_changes_nothing(
    root: Path, capsys: pytest.CaptureFixture[str], command: list[str]
) -> None:
    """--dry-run prints the line as it would be."""
    assert run(root, *command, "--dry-run") == 0
    assert "[DRY RUN]" in capsys.readouterr().out
    assert (root / "MEMORY.md").read_bytes() == MEMORY.encode()


@pytest.mark.parametrize("command", [["renew", "MEMORY.md:4"], ["supersede", "MEMORY.md:4", "x"]])
def test_each_edit_can_be_undone(root: Path, command: list[str]) -> None:
    """Undo gives the very bytes back, also after somebody appended."""
    assert run(root, *command) == 0
    with (root / "MEMORY.md").open("ab") as file:
        file.write(b"- [P0] since\n")
    assert main(["undo", "--root", str(root)]) == 0
    assert (root / "MEMORY.md").read_bytes() == MEMORY.encode() + b"- [P0] since\n"
