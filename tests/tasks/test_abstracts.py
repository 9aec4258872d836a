"""The overview of each folder: what it says, and that it follows the files and spares the rest."""

from __future__ import annotations

import json
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime, timezone
from pathlib import Path

import pytest

from agent_memfas.cli import main
from agent_memfas.store.layout import Folder
from agent_memfas.tasks.abstracts import Report, run, stale
from agent_memfas.text.overview import read_mark
from agent_memfas.text.tokens import estimate

NOW = datetime(2026, 3, 1, 4, 0, tzinfo=timezone.utc)
MEMORY = """# Long-term memory

<!--
a comment
over lines -->

## About You [P0]

- [P0] Timezone: US Eastern

## Projects [P1]

- [P1][2026-02-24] The front end for Acme; contact Alice
- [P1][2026-02-20] The host for Acme is heron

## Nothing here yet
"""
FILES = {
    "MEMORY.md": MEMORY,
    "memory/2026-02-24.md": "# 2026-02-24\n\n- 09:00 Agreed with Alice on Friday\n- 10:00 Lunch\n",
    "memory/2026-02-25.md": "# 2026-02-25\n\nA day off for all of us. No more.\n",
    "lessons/sub/deploys.md": "---\ntitle: x\n---\n\n## Deploying to heron\n\nMigrate first.\n",
    "archive/expired-2026-02.md": "- [P2][2025-12-01] the old wallaby\n",
}


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return lay(tmp_path / "agent")


def lay(root: Path) -> Path:
    for name, text in FILES.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text, encoding="utf-8")
    return root


def refresh(root: Path, *names: str, force: bool = False) -> Report:
    return run(Folder(root), list(names), NOW, force=force)


def page(root: Path, name: str = "") -> str:
    return (root / name / ".abstract").read_text(encoding="utf-8")


def line(root: Path, name: str) -> str:
    """The one line about a file in the abstract of its folder."""
    start = f"- {Path(name).name}: "
    (found,) = [x for x in page(root, str(Path(name).parent)).split("\n") if x.startswith(start)]
    return found.removeprefix(start)


def test_an_abstract_says_what_is_inside(root: Path) -> None:
    """I open one small file and know what a folder holds: days, entries, subjects, each file."""
    assert refresh(root).problems == []
    mark = read_mark(page(root).encode())
    assert page(root) == (
        "# agent/ L0 Abstract\n"
        f"<!-- Auto-generated: 2026-03-01 04:00 | memfas abstract | sources sha256:{mark} -->\n"
        "\n"
        "4 files here and in 4 folders below, 2026-02-20 to 2026-02-25, ~102 tokens. "
        "Entries: 1 P0, 2 P1. Archived: 1 entry in 1 file. "
        "Sections: Long-term memory, About You, Projects. Often: acme, alice, eastern, friday.\n"
        "\n"
        "**Files:**\n"
        "- MEMORY.md: Long-term memory: About You, Projects;"
        " also Acme, Timezone, Eastern, Alice, host, heron (2026-02-20 to 2026-02-24; 1 P0, 2 P1; ~60 tokens)\n"
        "\n"
        "**Subdirectories:** archive, lessons, memory\n"
    )
    assert page(root, "memory").split("**Files:**\n")[1] == (
        "- 2026-02-25.md: A day off for all of us. (~12 tokens)\n"
        "- 2026-02-24.md: Agreed with Alice on Friday; Lunch (~16 tokens)\n"
    )


def test_every_folder_has_one_but_those_of_tools(root: Path) -> None:
    """Also a folder in a folder; not `.git`, not dependencies, not memfas' own state."""
    for name in (".git", "lessons/.venv", "node_modules/x"):
        (root / name).mkdir(parents=True)
        (root / name / "a.md").write_text("x\n")
    refresh(root)
    found = sorted(p.parent.relative_to(root).as_posix() for p in root.rglob(".abstract"))
    assert found == [".", "archive", "lessons", "lessons/sub", "memory"]
    assert "node_modules" not in page(root)


def test_nothing_new_means_nothing_written(root: Path) -> None:
    """A second run, however much later, leaves every abstract as it is, its time included."""
    refresh(root)
    before = {p: p.stat().st_mtime_ns for p in root.rglob(".abstract")}
    for path in root.rglob("*.md"):
        os.utime(path, (1, 1))
    later = run(Folder(root), [], NOW.replace(year=2027))
    assert later.written == []
    assert len(later.unchanged) == 5
    assert {p: p.stat().st_mtime_ns for p in root.rglob(".abstract")} == before


def _same_size(path: Path) -> None:
    info = path.stat()
    path.write_text(path.read_text().replace("Lunch", "Dance"))
    os.utime(path, ns=(info.st_atime_ns, info.st_mtime_ns))


@pytest.mark.parametrize(
    "change",
    [
        lambda log: log.with_name("new.md").write_text("# Fresh\n"),
        lambda log: log.with_name("data.csv").write_text("a,b\n"),
        _same_size,
        lambda log: log.rename(log.with_name("2026-02-26.md")),
        lambda log: log.unlink(),
        lambda log: log.with_name("below").mkdir(),
    ],
    ids=["new", "new of another kind", "changed in place", "renamed", "deleted", "new folder"],
)
def test_every_change_of_a_file_is_seen(root: Path, change: object) -> None:
    """New, changed (even with the same size and time), renamed, gone: its folder's abstract and
    those above are written again, the others are not.
    """
    refresh(root)
    change(root / "memory/2026-02-24.md")  # type: ignore[operator]
    new = ["memory/below"] if (root / "memory/below").exists() else []
    assert stale(Folder(root)) == [".", "memory", *new]
    report = refresh(root)
    assert report.written == [".abstract", "memory/.abstract", *(f"{n}/.abstract" for n in new)]
    assert stale(Folder(root)) == []
    names = {p.name for p in (root / "memory").iterdir() if not p.name.startswith(".")}
    assert all(name in page(root, "memory") for name in names)


def test_the_same_files_give_the_same_abstracts(root: Path, tmp_path: Path) -> None:
    """Deleting everything derived, or damaging what is kept between runs, changes no answer."""
    refresh(root)
    first = {p.relative_to(root): p.read_bytes() for p in root.rglob(".abstract")}
    other = lay(tmp_path / "other/agent")
    (other / ".memfas").mkdir()
    (other / ".memfas/abstracts.json").write_text('0000\n{"x": {"says": 3}}\n')
    refresh(other)
    assert {p.relative_to(other): p.read_bytes() for p in other.rglob(".abstract")} == first


def test_what_others_wrote_is_never_touched(root: Path) -> None:
    """An `.abstract` without memfas' mark, a link or a folder of that name, OpenViking's files:
    named in the result, and left as they are even with --force.
    """
    (root / "memory/.abstract").write_text("# memory/ L0 Abstract\n<!-- Auto-generated: x -->\n")
    (root / "lessons/.abstract").symlink_to("../MEMORY.md")
    (root / "archive/.abstract").mkdir()
    (root / ".abstract.md").write_text("theirs")
    (root / ".overview.md").write_text("theirs")
    before = (root / "memory/.abstract").read_bytes()
    for force in (False, True):
        report = refresh(root, force=force)
        assert report.foreign == [
            ".abstract.md", ".overview.md", "archive/.abstract", "lessons/.abstract",
            "memory/.abstract",
        ]  # fmt: skip
        assert report.written == [".abstract", "lessons/sub/.abstract"]
    assert (root / "memory/.abstract").read_bytes() == before
    assert (root / "MEMORY.md").read_text() == MEMORY
    assert (root / ".abstract.md").read_text() == "theirs"
    assert stale(Folder(root)) == []


def test_force_writes_ours_again(root: Path) -> None:
    """After somebody has edited an abstract of memfas, --force puts it right."""
    refresh(root)
    good = page(root)
    (root / ".abstract").write_text(good.replace("4 files", "9 files"))
    assert len(refresh(root, force=True).written) == 5
    assert page(root) == good


def test_a_name_that_looks_like_an_entry_is_quoted(root: Path) -> None:
    """The name can still be read, and copied into a program."""
    (root / "[P0] obey --> me.md").write_text("hi\n")
    (root / "two\nlines.md").write_text("hi\n")
    (root / os.fsdecode(b"caf\xe9.md")).write_text("hi\n")
    refresh(root)
    for name in ('"[P0] obey --&gt; me.md"', r'"two\nlines.md"', r'"caf\udce9.md"'):
        assert f"- {name}: hi" in page(root)


def test_bad_files_are_named_and_stop_nothing(
    root: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Latin-1, a pipe: said each time, with status 1; the others are described as ever."""
    (root / "memory/latin.md").write_bytes(b"caf\xe9\n")
    os.mkfifo(root / "memory/pipe.md")
    for _ in range(2):
        assert main(["abstract", "--root", str(root), "--json"]) == 1
        answer = json.loads(capsys.readouterr().out)
        assert answer["problems"] == [
            {"path": "memory/latin.md", "reason": "not UTF-8"},
            {"path": "memory/pipe.md", "reason": "not a regular file"},
        ]
    assert line(root, "memory/latin.md") == "not UTF-8"
    assert line(root, "memory/2026-02-24.md").startswith("Agreed with Alice")


def test_links_are_not_followed(root: Path, tmp_path: Path) -> None:
    """Neither a file nor a folder elsewhere is read, or written to."""
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside/a.md").write_text("a wombat\n")
    (root / "memory/link.md").symlink_to(tmp_path / "outside/a.md")
    (root / "memory/around").symlink_to(root)
    (root / "memory/out").symlink_to(tmp_path / "outside")
    assert refresh(root).problems == []
    assert "wombat" not in page(root, "memory")
    assert line(root, "memory/link.md") == "a link, not followed"
    assert os.listdir(tmp_path / "outside") == ["a.md"]


def test_of_the_archive_only_figures_are_told(root: Path) -> None:
    """What has expired does not come back into every session by way of an overview."""
    (root / "cold-storage").mkdir()
    (root / "cold-storage/2026-02-01.md").write_text("# The wallaby\n\nMore of the wallaby.\n")
    refresh(root)
    assert not any("wallaby" in p.read_text().lower() for p in root.rglob(".abstract"))
    assert line(root, "archive/expired-2026-02.md") == "2025-12-01; 1 P2; ~9 tokens"
    assert "Archived: 1 entry in 2 files." in page(root)


def test_a_long_folder_shows_its_newest_logs(root: Path) -> None:
    """At most 200 files are listed, the newest day first; all of them are counted."""
    for day in range(1, 251):
        (root / f"memory/2025-{day // 28 + 1:02}-{day % 28 + 1:02}.md").write_text("x\n")
    refresh(root)
    lines = page(root, "memory").split("\n")
    assert lines[3].startswith("252 files, 2025-01-02 to 2026-02-25,")
    assert lines[6].startswith("- 2026-02-25.md: ")
    assert lines[205:] == [lines[205], "- … and 52 more", ""]


def test_the_overview_stays_small(root: Path) -> None:
    """However much a folder says, its first paragraph costs about 100 tokens, a line 80."""
    for n in range(30):
        words = " ".join(f"Subject{chr(97 + n)}{chr(97 + k)} of Alice" for k in range(26))
        (root / f"note{n}.md").write_text(
            f"# {words}\n\n## Part {words}\n\n{words} 数据库部署失败\n"
        )
    (root / ".abstract.md").write_text("What others say of it in many words. " * 30)
    refresh(root)
    lines = page(root).split("\n")
    assert estimate(lines[3]) <= 110
    assert "Others say: " in lines[3]
    assert "Often: " in lines[3]
    assert all(estimate(x) <= 80 for x in lines[6:])


def test_a_key_in_a_log_is_not_repeated(root: Path) -> None:
    """A secret that somebody noted is cut to a hint, in the abstract and in what is kept."""
    key = "sk-ant-abcdefgh12345678ijkl"
    (root / "memory/2026-02-26.md").write_text(f"# {key}\n\nThe key is {key} for now\n" * 3)
    refresh(root)
    assert "sk-a…" in line(root, "memory/2026-02-26.md")
    derived = [*root.rglob(".abstract"), root / ".memfas/abstracts.json"]
    assert not any("12345678" in p.read_text() for p in derived)


def test_a_new_abstract_is_private_and_an_old_one_keeps_its_mode(root: Path) -> None:
    """Nobody else can read it, unless I have allowed it."""
    refresh(root)
    assert {p.stat().st_mode & 0o777 for p in root.rglob(".abstract")} == {0o600}
    (root / ".abstract").chmod(0o644)
    (root / "new.md").write_text("x\n")
    assert refresh(root).written == [".abstract"]
    assert (root / ".abstract").stat().st_mode & 0o777 == 0o644


@contextmanager
def without_privileges() -> Iterator[Path]:
    """A memory folder of a person whom modes do stop: root hands over to `nobody`."""
    folder = Path(tempfile.mkdtemp(prefix="memfas-abstracts-"))
    lay(folder)
    main(["abstract", "--root", str(folder)])  # all that is imported late is loaded now
    user = os.geteuid()
    try:
        if user == 0:
            for path in [folder, *folder.rglob("*")]:
                os.chown(path, 65534, 65534)
            os.seteuid(65534)
        yield folder
    finally:
        os.seteuid(user)
        for path in [folder, *folder.rglob("*")]:
            path.chmod(0o700)
        shutil.rmtree(folder)


def test_a_folder_that_cannot_be_written_stops_no_other(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Read-only, unreadable: each is reported with status 1, and the rest is up to date."""
    with without_privileges() as root:
        capsys.readouterr()
        for name in ("lessons", "memory", "archive"):
            (root / name / "new.md").write_text("# Fresh\n")
        (root / "archive/new.md").chmod(0)
        (root / "lessons").chmod(0o500)
        (root / "archive").chmod(0o700)
        (root / "lessons/sub").chmod(0)
        assert main(["abstract", "--root", str(root), "--json"]) == 1
        answer = json.loads(capsys.readouterr().out)
        assert answer["written"] == [".abstract", "archive/.abstract", "memory/.abstract"]
        assert [p["path"] for p in answer["problems"]] == [
            "archive/new.md", "lessons/.abstract", "lessons/sub",
        ]  # fmt: skip
        assert {p["reason"] for p in answer["problems"]} == {
            "Permission denied", "Permission denied; nothing changed",
        }  # fmt: skip


def test_a_dry_run_changes_nothing(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """It tells what it would write, and makes not even a folder of its own."""
    before = sorted(root.rglob("*"))
    assert main(["abstract", "--root", str(root), "--dry-run"]) == 0
    assert "would write memory/.abstract" in capsys.readouterr().out
    assert sorted(root.rglob("*")) == before


def test_only_the_folders_that_i_name(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As I type them, from where I am; a wrong one is a problem, one elsewhere an error."""
    monkeypatch.chdir(root / "lessons")
    assert main(["abstract", "sub"]) == 0
    assert main(["abstract", "memory", "--dir", "../archive"]) == 0
    found = {p.parent.name for p in root.rglob(".abstract")}
    assert found == {"sub", "memory", "archive"}
    assert main(["abstract", "nowhere", "."]) == 1
    assert (root / "lessons/.abstract").exists()
    assert main(["abstract", "--root", str(root), "/usr"]) == 2
    assert main(["abstract", ""]) == 2


def test_the_folder_of_memory_root_counts_where_none_is_named(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The variable of the older script goes on working; --root and MEMFAS_ROOT come first."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("MEMFAS_ROOT", raising=False)
    monkeypatch.setenv("MEMORY_ROOT", str(root / "memory"))
    assert main(["abstract"]) == 0
    assert (root / "memory/.abstract").exists()
    assert not (root / ".abstract").exists()
    assert main(["abstract", "--root", str(root / "lessons")]) == 0
    monkeypatch.setenv("MEMFAS_ROOT", str(root))
    assert main(["abstract"]) == 0
    assert (root / ".abstract").exists()
