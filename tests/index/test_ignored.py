"""What is no memory: hidden and installed things, what .memfasignore says, what lies outside."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from agent_memfas.index.scope import Scope
from agent_memfas.store.sweep import sweep
from inputs.memory import Memory

from .support import ask, in_step, keeper_of, places

HIDDEN = [".venv/lib/x.md", ".git/x.md", ".obsidian/x.md", "memory/.trash/x.md", ".x.md",
          "node_modules/pkg/README.md", "memory/node_modules/x.md", "venv/x.md", "__pycache__/x.md",
          ".memfas/x.md", "site-packages/x.md"]  # fmt: skip
NO_TEXT = ["x.png", "x.py", "x.md.bak", "x.md~", "#x.md#", "x.docx", "x"]
SYNCED = ["x (copy).md", "x (1).md", "x.sync-conflict-20260101-1.md", "x (conflicted copy).md"]


def write_all(memory: Memory, names: list[str]) -> None:
    for n, name in enumerate(names):  # what says the same would be folded into one hit
        memory.write(name, f"- the ibis host {n}\n")


@pytest.mark.parametrize("command", ["index", "recall"])
def test_what_is_hidden_or_installed_is_no_memory(memory: Memory, command: str) -> None:
    """Dot folders, dependencies, caches, other kinds of files: not read, not counted, not told.
    Copies that a sync tool makes are not read either, but I am told of them."""
    write_all(memory, [*HIDDEN, *NO_TEXT, *SYNCED, "memory/log.md"])
    if command == "index":
        assert memory.run("index").status == 0
    answer = ask(memory, "ibis")
    assert places(answer) == ["memory/log.md:1"]
    assert answer["files_indexed"] == 2
    assert sorted(skipped["path"] for skipped in answer["files_skipped"]) == sorted(SYNCED)


def test_a_name_that_only_looks_like_an_ignored_one_counts(memory: Memory) -> None:
    """Files and folders with odd names are memory like any other."""
    names = ["memory/venv.md", "node_modules.md/x.md", "~/x.md", "~root.md", "a b/c d.md", "-x.md",
             "UPPER.MD", "部署/日志.md", "memory/[x].md", "con.txt", "*.md", "a\\b.md", "x.markdown",
             "memory/2026-01-01.md", "a\nb.md", "#x.md", "!x.md", "%41.md", "x?y.md"]  # fmt: skip
    write_all(memory, names)
    (memory.root / os.fsdecode(b"caf\xe9.md")).write_text("- the ibis host\n")
    assert len(ask(memory, "ibis", "-n", "99")["hits"]) == len(names) + 1
    assert ask(memory, "ibis")["files_skipped"] == []
    assert in_step(memory.root) == []


def test_files_in_a_folder_named_like_my_home_are_its_own(
    memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A folder called ~ (an accident of some tool) is a folder, also where HOME is my memory."""
    monkeypatch.setenv("HOME", str(memory.root))
    memory.write("~/x.md", "- the crow host\n")
    memory.write("x.md", "- the ibis host\n")
    assert places(ask(memory, "crow")) == ["~/x.md:1"]
    assert places(ask(memory, "ibis")) == ["x.md:1"]


FILES = ["a.md", "b.md", "keep.md", "drafts/a.md", "drafts/keep.md", "drafts/deep/a.md",
         "memory/a.md", "memory/drafts/b.md", "old/2025/a.md", "old/2026/a.md"]  # fmt: skip


@pytest.mark.parametrize(
    ("rules", "left_out"),
    [
        ("a.md", ["a.md", "drafts/a.md", "drafts/deep/a.md", "memory/a.md", "old/2025/a.md",
                  "old/2026/a.md"]),
        ("/a.md", ["a.md"]),
        ("drafts/", ["drafts/a.md", "drafts/keep.md", "drafts/deep/a.md", "memory/drafts/b.md"]),
        ("/drafts/", ["drafts/a.md", "drafts/keep.md", "drafts/deep/a.md"]),
        ("drafts/*\n!drafts/keep.md", ["drafts/a.md", "drafts/deep/a.md"]),
        ("/drafts/\n!drafts/keep.md", ["drafts/a.md", "drafts/keep.md", "drafts/deep/a.md"]),
        ("*.md\n!keep.md\n!*/", [f for f in FILES if not f.endswith("keep.md")]),
        ("old/202[0-5]/", ["old/2025/a.md"]),
        ("**/deep/**", ["drafts/deep/a.md"]),
        ("old/**/a.md", ["old/2025/a.md", "old/2026/a.md"]),
        ("# a.md\n\n   \nb.md   \n", ["b.md", "memory/drafts/b.md"]),
        ("\\#a.md\n", []),
        ("/a.md\r\n/b.md\r\n", ["a.md", "b.md"]),
        ("\ufeff/a.md\n", ["a.md"]),
        ("A.md", []),
        ("?.md\n!b.md", [f for f in FILES if f.endswith("/a.md") or f == "a.md"]),
        ("!\n[\n///\n\\\n/a.md\n*[\n!!", ["a.md"]),
    ],
)  # fmt: skip
def test_memfasignore_is_like_gitignore(memory: Memory, rules: str, left_out: list[str]) -> None:
    """Names, folders, roots, stars, exceptions, comments; a line that makes no sense is passed over
    and the others hold. What it says counts at the next question, and no longer than it says it."""
    write_all(memory, FILES)
    assert len(ask(memory, "ibis", "-n", "99")["hits"]) == len(FILES)
    for _ in range(2):
        memory.write(".memfasignore", rules)
        for more in ((), ("--no-index",)):
            answer = ask(memory, "ibis", "-n", "99", *more)
            found = {hit["path"] for hit in answer["hits"]}
            assert set(FILES) - found == set(left_out)
            assert answer["fresh"]
            memory_too = "*.md" not in rules
            assert answer["files_indexed"] == len(FILES) + memory_too - len(left_out)
        assert in_step(memory.root) == []
        (memory.root / ".memfasignore").unlink()
        assert len(ask(memory, "ibis", "-n", "99")["hits"]) == len(FILES)


@pytest.mark.parametrize("what", ["a folder", "a pipe", "a link out", "no text", "too much"])
def test_a_memfasignore_that_cannot_be_read_stops_nothing(memory: Memory, what: str) -> None:
    """It is no file, or none that makes sense: then nothing is left out, and recall works."""
    write_all(memory, FILES)
    path = memory.root / ".memfasignore"
    if what == "a folder":
        path.mkdir()
    elif what == "a pipe":
        os.mkfifo(path)
    elif what == "a link out":
        (memory.root.parent / "rules").write_text("*.md\n")
        path.symlink_to(memory.root.parent / "rules")
    else:
        path.write_bytes(b"\xff\xfe\x00[\n" if what == "no text" else b"# no rule\n" * 200_000)
    assert len(ask(memory, "ibis", "-n", "99")["hits"]) == len(FILES)


PATTERN = st.lists(
    st.sampled_from(
        ["a", "b", "drafts", "deep", "old", "memory", "*", "**", "?", "/", "/", ".md", "[ab]", "!",
         "202[!5]", "\\", " ", "#", "keep"]
    ), min_size=1, max_size=5,
).map("".join)  # fmt: skip


@pytest.fixture(scope="module")
def repository(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A git repository with the files."""
    if shutil.which("git") is None:
        pytest.skip("needs git")
    root = tmp_path_factory.mktemp("repository")
    subprocess.run(["git", "init", "-q", root], check=True)
    for name in FILES:
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text("x")
    return root


@settings(
    max_examples=int(os.environ.get("MEMFAS_EXAMPLES", "60")), deadline=None, database=None,
    suppress_health_check=list(HealthCheck),
)  # fmt: skip
@given(rules=st.lists(PATTERN, min_size=1, max_size=4).map("\n".join))
@example(rules="drafts/**\n!drafts/keep.md")
@example(rules="/*\n!/drafts/\n/drafts/*\n!/drafts/keep.md")
@example(rules="**/\n!a.md")
def test_git_leaves_out_the_same(repository: Path, rules: str) -> None:
    """Whatever is written into it, it means what git takes it for."""
    (repository / ".gitignore").write_text(rules)
    listed = subprocess.run(
        ["git", "-C", repository, "-c", "core.quotePath=false", "ls-files", "--others",
         "--exclude-standard"],
        capture_output=True, encoding="utf-8", check=True,
        env={"PATH": os.environ["PATH"], "HOME": str(repository), "GIT_CONFIG_NOSYSTEM": "1"},
    )  # fmt: skip
    scope = Scope((), rules)
    swept = sweep(str(repository), {}, scope.enters)
    ours = {
        os.path.join(folder, name) for folder, found in swept.changed.items()
        for name in found.names if scope.wants(os.path.join(folder, name))
    }  # fmt: skip
    assert ours == set(listed.stdout.splitlines()) - {".gitignore"}


def test_links_lead_nowhere_outside(memory: Memory, tmp_path: Path) -> None:
    """A linked folder is not entered (a loop neither), a link out of the folder or into the state
    folder is not read but told of; a link to a file inside that has no other name is read, and a
    file with two names once."""
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "secret.md").write_text("- the ibis secret\n")
    write_all(memory, ["memory/a.md", ".hidden/b.md", ".memfas/c.md"])
    link = {
        "out.md": outside / "secret.md", "folder": outside, "loop": memory.root, "me.md": "me.md",
        "up.md": "../outside/secret.md", "state.md": ".memfas/c.md", "twin.md": "memory/a.md",
        "hidden.md": ".hidden/b.md", "gone.md": "nowhere.md", "device.md": "/dev/zero",
    }  # fmt: skip
    for name, target in link.items():
        (memory.root / name).symlink_to(target)
    os.link(memory.root / "memory/a.md", memory.root / "memory/z.md")
    for more in ((), ("--no-index",)):
        answer = ask(memory, "ibis", "-n", "99", *more)
        assert sorted(places(answer)) == ["hidden.md:1", "memory/a.md:1"]
        assert {skipped["path"] for skipped in answer["files_skipped"]} == {
            "out.md", "me.md", "up.md", "state.md", "twin.md", "gone.md", "device.md",
            "memory/z.md",
        }  # fmt: skip
    assert in_step(memory.root) == []


@pytest.mark.parametrize(
    "folder", [".git", "node_modules", "memory/.trash", "linked", "../outside"]
)
def test_a_watcher_cannot_be_led_into_what_is_ignored(memory: Memory, folder: str) -> None:
    """An event below a hidden, installed, linked or outer folder: it is not looked at."""
    (memory.root.parent / "outside").mkdir()
    (memory.root / "linked").symlink_to(memory.root.parent / "outside")
    (memory.root / folder).mkdir(parents=True, exist_ok=True)
    (memory.root / folder / "x.md").write_text("- the ibis host\n")
    keeper = keeper_of(memory.root)
    keeper.source(0)
    source = keeper.source(0, only={folder, ""})
    assert list(source.ranked("ibis")) == []
    keeper.close()
    assert in_step(memory.root) == []
