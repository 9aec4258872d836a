"""lint on whole folders: what is reported, what is corrected, and what is left alone."""

from __future__ import annotations

import os
from datetime import datetime, timezone
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from agent_memfas.errors import UsageError
from agent_memfas.store.layout import open_folder
from agent_memfas.store.passes import Pass
from agent_memfas.tasks import lint, undo
from agent_memfas.text.entries import Terms

KEY = "ghp_" + "16C7e42F292c6912E7710c838347Ae178B4a"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    put(tmp_path, "MEMORY.md", "# M\n\n- [P0] Timezone: US Eastern\n")
    return tmp_path


def put(root: Path, name: str, text: str | bytes) -> Path:
    path = root / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def look(root: Path, *names: str, fix: bool = False, dry_run: bool = False) -> lint.Report:
    now = datetime(2026, 3, 1, 12, tzinfo=timezone.utc)
    run = Pass("lint", now, quiet=0, patience=0)
    return lint.run(open_folder(root), list(names), Terms(), run, fix=fix, dry_run=dry_run)


def places(report: lint.Report) -> list[tuple[str, int, str]]:
    return [(p.path, p.line, p.rule) for p in report.problems]


def test_a_sound_folder_gives_an_empty_report(root: Path) -> None:
    """Nothing wrong, nothing said."""
    put(root, "memory/2026-02-24.md", "# 2026-02-24\n\n- 10:00 see [memory](../MEMORY.md#L3)\n")
    put(root, "lessons/operational.jsonl", '{"category": "x", "lesson": "[P1] y"}\n')
    report = look(root)
    assert (report.problems, report.fixed, report.files) == ((), (), 3)


def test_near_misses_are_shown_with_the_corrected_line_and_nothing_is_changed(root: Path) -> None:
    """Looking alone changes no file: it names file, line, what is wrong and the line as it should
    be.
    """
    path = put(
        root, "memory/2026-02-24.md", "text\n* [P1][2026-02-24] Acme\n- [P1][2026-02-30] x\n"
    )
    before = path.read_bytes()
    first, second = look(root).problems
    assert (first.path, first.line, first.rule) == ("memory/2026-02-24.md", 2, "near-miss")
    assert "bullet" in first.message
    assert first.fixed == "- [P1][2026-02-24] Acme"
    assert (second.line, second.fixed) == (3, None)
    assert path.read_bytes() == before
    assert not (root / ".memfas").exists()


def test_fix_writes_the_corrected_lines_and_reports_the_rest(root: Path) -> None:
    """Only the reported lines change; CRLF, BOM, indentation and the missing last newline stay, and
    what a program cannot correct is still in the report.
    """
    path = put(
        root,
        "MEMORY.md",
        b"\xef\xbb\xbf* [P1][2026-2-4] first\r\n  * [p2][2026-02-24] inside  \n"
        b"- [P3][2026-02-24] what\r\n\r\nprose\r\n-[P0] last",
    )
    report = look(root, fix=True)
    assert path.read_bytes() == (
        b"\xef\xbb\xbf- [P1][2026-02-04] first\r\n  - [P2][2026-02-24] inside  \n"
        b"- [P3][2026-02-24] what\r\n\r\nprose\r\n- [P0] last"
    )
    assert [(p.line, p.fixed) for p in report.fixed] == [
        (1, "- [P1][2026-02-04] first"),
        (2, "  - [P2][2026-02-24] inside  "),
        (6, "- [P0] last"),
    ]
    assert places(report) == [("MEMORY.md", 3, "near-miss")]


def test_a_dry_run_of_fix_tells_the_same_and_changes_nothing(root: Path) -> None:
    """What would be corrected, and what would be left, is what really is afterwards."""
    text = "-[P1] a\n\n    -[P1] b\n* [P1][2026-02-24] Timezone: Berlin\n- [P0] Timezone: UTC\n"
    path = put(root, "MEMORY.md", text)
    planned = look(root, fix=True, dry_run=True)
    assert path.read_bytes() == text.encode()
    assert not (root / ".memfas").exists()
    done = look(root, fix=True)
    assert (planned.fixed, planned.problems) == (done.fixed, done.problems)
    assert (planned.dry_run, done.dry_run) == (True, False)
    assert places(done) == [("MEMORY.md", 5, "contradiction")]


def test_fix_can_be_taken_back(root: Path) -> None:
    """The file comes back by memfas undo, as it was before lint --fix."""
    path = put(root, "MEMORY.md", "* [P1][2026-02-24] a\n")
    look(root, fix=True)
    assert path.read_bytes() == b"- [P1][2026-02-24] a\n"
    now = datetime(2026, 3, 1, 13, tzinfo=timezone.utc)
    undo.run(open_folder(root), "", Pass("undo", now, quiet=0, patience=0))
    assert path.read_bytes() == b"* [P1][2026-02-24] a\n"


def test_the_archive_and_cold_storage_are_not_mended(root: Path) -> None:
    """What left the memory stays as it is; but a secret in it is still told."""
    for name in ("archive/expired-2026-01.md", "cold-storage/2026-01-01.md"):
        put(root, name, f"* [p1] x [gone](gone.md)\n- [P0] Timezone: Mars\n{KEY}\n")
    assert places(look(root, fix=True)) == [
        ("archive/expired-2026-01.md", 3, "secret"),
        ("cold-storage/2026-01-01.md", 3, "secret"),
    ]
    assert (root / "archive/expired-2026-01.md").read_text().startswith("* [p1] x")


def test_duplicates_are_shown_and_never_merged(root: Path) -> None:
    """The same note twice, in one file or in my memory and the shared one, is for me to see to; a
    note that two logs have in common is not.
    """
    put(root, "MEMORY.md", "- [P0] Alice likes tea\n- [P1][2026-02-24] alice likes TEA.\n")
    put(root, "shared/MEMORY.md", "# S\n- [P0] Alice likes tea\n")
    put(root, "memory/2026-02-24.md", "- [P0] Alice likes tea\n")
    report = look(root, fix=True)
    assert places(report) == [("MEMORY.md", 2, "duplicate"), ("shared/MEMORY.md", 2, "duplicate")]
    assert all("MEMORY.md:1" in problem.message for problem in report.problems)


def test_contradictions_name_both_lines_and_the_command_for_the_older_one(root: Path) -> None:
    """I see what each of them says, where, and what to type if the newer one holds."""
    put(root, "MEMORY.md", "- [P1][2026-02-20] Deadline: Friday\n")
    put(root, "shared/MEMORY.md", "- [P1][2026-02-24] **deadline** = Monday\n")
    (problem,) = look(root).problems
    assert (problem.path, problem.line, problem.rule) == ("MEMORY.md", 1, "contradiction")
    assert '"Deadline" is "Friday" here and "Monday" at shared/MEMORY.md:1' in problem.message
    assert 'memfas supersede MEMORY.md:1 "…"' in problem.message


def test_links_are_dead_when_nothing_is_there(root: Path) -> None:
    """A target counts from its own file or from the root of the folder; a line behind the end, a
    place outside the folder and a name that cannot be are dead as well.
    """
    put(root, "memory/2026-02-24.md", "# day\n- one\n- two\n")
    put(root, "pictures/plan one.png", b"\x89PNG")
    text = """[a](memory/2026-02-24.md) [b](../memory/2026-02-24.md#L3) ![c](../pictures/plan%20one.png)
-> memory/2026-02-24.md#L2-L3. [d](.) [e](../) [f](../pictures/) [g](pictures)
[h](gone.md)
-> memory/2026-02-24.md#L4
[i](../../outside.md) and [j](%00.md)
<!-- source: memory/2026-02-24.md#L3-L9 by scout -->
"""
    put(root.parent, "outside.md", "secret")
    put(root, "insights/2026-02.md", text)
    report = look(root)
    assert {(p.line, p.rule) for p in report.problems} == {
        (3, "dead-link"), (4, "dead-link"), (5, "dead-link"), (6, "dead-link")
    }  # fmt: skip
    messages = [problem.message for problem in report.problems]
    assert "gone.md does not exist in the memory folder" in messages
    assert "memory/2026-02-24.md#L4 names line 4, but the file has 3" in messages
    assert len(messages) == 5


def test_a_conflict_is_reported_and_the_file_left_alone(root: Path) -> None:
    """Two sides of a merge that nobody has settled: no line is touched until it is."""
    text = "<<<<<<< HEAD\n* [P1][2026-02-24] a\n=======\n- [P0] b\n>>>>>>> other\n"
    path = put(root, "MEMORY.md", text)
    report = look(root, fix=True)
    assert ("MEMORY.md", 1, "conflict-marker") in places(report)
    assert ("MEMORY.md", 2, "near-miss") in places(report)
    assert (report.fixed, path.read_text()) == ((), text)


def test_copies_made_by_sync_tools_are_reported(root: Path) -> None:
    """A second MEMORY.md that a sync tool has put beside mine holds notes that nobody reads."""
    put(root, "MEMORY.sync-conflict-20260224-101010-ABCDEFG.md", "- [P0] lost\n")
    put(root, "memory/2026-02-24 (copy).md", "- lost\n")
    assert places(look(root)) == [
        ("MEMORY.sync-conflict-20260224-101010-ABCDEFG.md", 1, "conflict-copy"),
        ("memory/2026-02-24 (copy).md", 1, "conflict-copy"),
    ]


def test_a_bad_file_never_stops_the_others(root: Path) -> None:
    """A pipe, a dangling link, a link out of the folder and bytes that are no text are named one by
    one; what is wrong elsewhere is still found, and corrected.
    """
    put(root, "memory/a.md", b"caf\xe9 * [P1][2026-02-24] x\n")
    put(root, "memory/b.md", "text".encode("utf-16"))
    os.mkfifo(root / "memory" / "c.md")
    (root / "memory" / "d.md").symlink_to("nowhere.md")
    put(root.parent, "outside.md", "* [P1][2026-02-24] not mine\n")
    (root / "memory" / "e.md").symlink_to(root.parent / "outside.md")
    os.truncate(put(root, "memory/f.md", ""), lint.LARGEST + 1)
    good = put(root, "memory/g.md", "* [P1][2026-02-24] x\n")
    report = look(root, fix=True)
    assert places(report) == [
        ("memory/a.md", 1, "not-utf8"),
        ("memory/b.md", 1, "not-utf8"),
        *((f"memory/{name}.md", 1, "unreadable") for name in "cdef"),
    ]
    assert good.read_text() == "- [P1][2026-02-24] x\n"
    assert (root.parent / "outside.md").read_text().startswith("* ")
    assert not any(str(root) in problem.message for problem in report.problems)


def test_a_file_that_cannot_be_written_is_in_the_report(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """When one file cannot be corrected, it is said why, and the next one is corrected."""
    put(root, "memory/a.md", "* [P1][2026-02-24] x\n")
    put(root, "memory/b.md", "* [P1][2026-02-24] x\n")
    real = lint.edit

    def refuse(folder: lint.Folder, name: str, *rest: object) -> object:
        if name == "memory/a.md":
            raise lint.FileFault(f"{name}: Read-only file system")
        return real(folder, name, *rest)  # type: ignore[arg-type]

    monkeypatch.setattr(lint, "edit", refuse)
    report = look(root, fix=True)
    assert [problem.path for problem in report.fixed] == ["memory/b.md"]
    assert ("memory/a.md", 1, "not-fixed") in places(report)


def test_secrets_are_told_and_never_shown(root: Path) -> None:
    """The report says where a key stands and how it begins, also inside a corrected line."""
    put(root, "lessons/x.jsonl", f'{{"lesson": "{KEY}"}}\n')
    put(root, "MEMORY.md", f"- [P0] x\n* [P1][2026-02-24] the key {KEY}\n")
    report = look(root)
    assert places(report) == [
        ("MEMORY.md", 2, "near-miss"), ("MEMORY.md", 2, "secret"), ("lessons/x.jsonl", 1, "secret")
    ]  # fmt: skip
    assert KEY[4:] not in repr(report)
    assert "ghp_…" in report.problems[1].message
    fixed = look(root, fix=True)
    assert KEY[4:] not in repr(fixed)
    assert KEY in (root / "MEMORY.md").read_text()


def test_only_what_is_named_is_looked_at(root: Path) -> None:
    """Files and folders by name, relative or absolute; the folder itself is all of it."""
    put(root, "memory/a.md", "* [P1][2026-02-24] x\n")
    put(root, "memory/deep/b.md", "* [P1][2026-02-24] x\n")
    put(root, "memory/c (copy).md", "x\n")
    put(root, "lessons/c.md", "* [P1][2026-02-24] x\n")
    assert len(look(root).problems) == 4
    assert len(look(root, ".").problems) == 4
    assert {p for p, _, _ in places(look(root, "lessons"))} == {"lessons/c.md"}
    assert len(look(root, str(root / "memory")).problems) == 3
    assert places(look(root, "memory/a.md", "memory/deep")) == [
        ("memory/a.md", 1, "near-miss"),
        ("memory/deep/b.md", 1, "near-miss"),
    ]


def test_a_name_that_is_wrong_is_told(root: Path) -> None:
    """A file that is not there is a problem of the report; a place outside the folder is refused."""
    assert places(look(root, "nothing.md", "MEMORY.md")) == [("nothing.md", 1, "unreadable")]
    for name in ("../x.md", "/etc/passwd", "a\0b", " "):
        with pytest.raises(UsageError):
            look(root, name)


def test_a_linked_memory_file_is_corrected_where_it_leads(root: Path) -> None:
    """MEMORY.md may be a link to a file in the folder: the link stays a link."""
    target = put(root, "vault/real.md", "* [P1][2026-02-24] x\n")
    (root / "MEMORY.md").unlink()
    (root / "MEMORY.md").symlink_to("vault/real.md")
    report = look(root, fix=True)
    assert (report.problems, len(report.fixed)) == ((), 1)
    assert (root / "MEMORY.md").is_symlink()
    assert target.read_text() == "- [P1][2026-02-24] x\n"


@given(st.lists(st.binary(max_size=120), max_size=4))
@settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
def test_no_folder_is_too_broken_to_be_looked_at(root: Path, contents: list[bytes]) -> None:
    """Whatever the files hold, lint reports, and what it does not report as corrected is the same
    after --fix.
    """
    paths = [put(root, f"memory/{n}.md", data) for n, data in enumerate(contents)]
    report = look(root, "memory", fix=True)
    touched = {problem.path for problem in report.fixed}
    for path, data in zip(paths, contents, strict=True):
        if path.relative_to(root).as_posix() not in touched:
            assert path.read_bytes() == data


def test_many_entries_are_no_trouble(root: Path) -> None:
    """Twenty thousand entries, of which every second repeats and contradicts others, are compared
    without each being held against each.
    """
    lines = [f"- [P1][2026-02-24] Host {n % 5000} is: db{n % 7500}\n" for n in range(20_000)]
    put(root, "MEMORY.md", "".join(lines))
    report = look(root, "MEMORY.md")
    rules = [problem.rule for problem in report.problems]
    assert rules.count("contradiction") == 10_000
    assert rules.count("duplicate") == 5_000
