"""`memfas sync` where it cannot do its work: a sentence and a status, and the files as they were."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path

import pytest

from agent_memfas.store.layout import open_folder
from agent_memfas.store.passes import Pass
from agent_memfas.store.replacing import tails_kept
from agents.machines import FACT, Machine, Place
from inputs.memory import CONFIG


def test_without_a_remote_it_only_commits(place: Place, tmp_path: Path) -> None:
    """And says so."""
    alone = Machine(tmp_path / "alone")
    alone.write("MEMORY.md", "- x\n")
    assert "is in no git repository" in alone.sync(status=3).errors
    assert "is in no git repository" in alone.sync("--setup", status=3).errors
    assert not (alone.root / ".git").exists()
    alone.sync("--setup", "--init")
    assert "would be committed" in alone.sync("--dry-run").text
    assert alone.git("log", check=False) == ""
    assert "no remote: nothing pushed" in alone.sync().text
    assert alone.git("log", "--format=%s").startswith("memory: 3 files from ")
    assert alone.sync("--init", status=2).errors


def test_what_cannot_be_merged_is_left_as_it_was(place: Place) -> None:
    """A settings file changed on both sides: its name, what to do, status 1, and not a byte moved."""
    one, two = place.two()
    one.write("memfas.yaml", CONFIG + "timezone: Europe/Berlin\n")
    one.sync()
    two.write("memfas.yaml", CONFIG + "timezone: Asia/Tokyo\n")
    two.append("MEMORY.md", FACT.format("two"))
    before = two.files()
    told = two.sync(status=1)
    assert "memfas.yaml" in told.errors
    assert "your changes are committed" in told.errors
    assert two.files() == before
    assert two.git("status", "--porcelain") == ""
    assert two.git("symbolic-ref", "--short", "HEAD") == "main"
    assert len(two.git("worktree", "list").splitlines()) == 1
    assert two.run("sync", "--json").data["remedy"].startswith("merge by hand")


def test_deleted_here_and_changed_there(place: Place) -> None:
    """Only a person can say which is wanted."""
    one, two = place.two()
    one.write("memory/a.md", "- a\n")
    one.sync()
    two.sync()
    (one.root / "memory/a.md").unlink()
    one.sync()
    two.append("memory/a.md", "- b\n")
    assert "memory/a.md is deleted on one side" in two.sync(status=1).errors
    assert two.read("memory/a.md") == b"- a\n- b\n"


def test_a_repository_in_the_middle_of_something(place: Place) -> None:
    """A merge, a rebase, no branch: sentences that say how to get out of it."""
    one, _ = place.two()
    one.git("switch", "-q", "--detach")
    assert "detached HEAD" in one.sync(status=3).errors
    one.git("switch", "-q", "main")
    (one.root / ".git/MERGE_HEAD").write_text(one.git("rev-parse", "HEAD"))
    assert "a git merge was begun here" in one.sync(status=1).errors
    (one.root / ".git/MERGE_HEAD").unlink()
    (one.root / ".git/rebase-merge").mkdir()
    assert "git rebase --abort" in one.sync(status=1).errors


def test_a_lock_that_a_killed_git_has_left(place: Place) -> None:
    """It is for later; where nobody is at work, the file to remove is named."""
    one, _ = place.two()
    one.append("MEMORY.md", FACT.format("one"))
    one.write(".git/index.lock", "")
    assert f"rm {one.root}/.git/index.lock" in one.sync(status=75).errors


def test_conflict_markers_are_not_committed(place: Place) -> None:
    """Nor pushed to anybody; in a code block they are an example."""
    one, _ = place.two()
    one.write("notes.md", "```\n<<<<<<< HEAD\n```\n")
    one.sync()
    one.append("MEMORY.md", "<<<<<<< HEAD\n- a\n=======\n- b\n>>>>>>> other\n")
    before = one.git("rev-parse", "HEAD")
    assert "MEMORY.md:6: an unresolved git conflict" in one.sync(status=1).errors
    assert one.git("rev-parse", "HEAD") == before


def test_an_emptied_folder_is_not_spread(place: Place) -> None:
    """MEMORY.md gone, or most files: a safety stop; --force goes on."""
    one, two = place.two()
    for n in range(9):
        one.write(f"memory/{n}.md", f"- {n}\n")
    one.sync()
    (one.root / "MEMORY.md").write_bytes(b"")
    assert "MEMORY.md is missing or empty" in one.sync(status=4).errors
    one.git("checkout", "-q", "MEMORY.md")
    for n in range(7):
        (one.root / f"memory/{n}.md").unlink()
    assert "7 of 10 memory files are gone" in one.sync(status=4).errors
    assert len(one.sync("--force", "--json").data["committed"]) == 7
    two.sync()
    assert one.files() == two.files()


def test_somebody_else_is_faster(place: Place) -> None:
    """The remote moves between the fetch and the push: it is fetched again."""
    one, two = place.two()
    two.append("MEMORY.md", FACT.format("two"))
    one.append("MEMORY.md", FACT.format("one"))
    hook = one.root / ".git/hooks/pre-push"
    hook.parent.mkdir(exist_ok=True)
    other = "git commit -qam two && git push -q"
    hook.write_text(
        f"#!/bin/sh\nrm $0\nunset $(git rev-parse --local-env-vars)\ncd '{two.root}' && {other}\n"
    )
    hook.chmod(0o755)
    assert one.sync("--json").data["pushed"]
    assert {line for line in one.lines() if "[P1]" in line} == {
        FACT.format(name).strip() for name in ("one", "two")}  # fmt: skip
    two.sync()
    assert one.files() == two.files()


@pytest.mark.parametrize(("hook", "words"), [("pre-commit", "commit"), ("pre-push", "push")])
def test_hooks_of_the_repository_run(place: Place, hook: str, words: str) -> None:
    """One that fails stops the sync, and is quoted."""
    one, _ = place.two()
    one.append("MEMORY.md", FACT.format("one"))
    path = one.root / ".git/hooks" / hook
    path.parent.mkdir(exist_ok=True)
    path.write_text("#!/bin/sh\necho 'not on a Sunday' >&2\nexit 1\n")
    path.chmod(0o755)
    told = one.sync(status=1).errors
    assert f"git {words} failed" in told
    assert "not on a Sunday" in told


def test_a_remote_that_is_away_or_shut(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    """What was noted is committed; the rest is for later, or for a person who can log in."""
    one, _ = place.two()
    one.git("remote", "set-url", "origin", "http://127.0.0.1:9/x.git")
    one.append("MEMORY.md", FACT.format("one"))
    assert "the remote cannot be reached" in one.sync(status=75).errors
    assert one.git("status", "--porcelain") == ""
    one.git("remote", "set-url", "origin", "ssh://nobody@host/x.git")
    monkeypatch.setenv(
        "GIT_SSH_COMMAND", "echo 'nobody@host: Permission denied (publickey).' >&2; false"
    )
    told = one.sync(status=1).errors
    assert "does not let memfas in" in told
    assert "Permission denied" in told
    one.git("remote", "set-url", "origin", str(place.path / "nothing.git"))
    assert "git fetch failed" in one.sync(status=1).errors
    monkeypatch.setenv("PATH", "/nonexistent")
    assert "git cannot be run" in one.sync(status=3).errors


def test_git_does_not_know_who_i_am(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is told how to say so; no name is made up."""
    one, _ = place.two()
    config = place.path / "home/gitconfig"
    config.write_text("[user]\n\tuseConfigOnly = true\n")
    one.append("MEMORY.md", FACT.format("one"))
    assert "git does not know who you are" in one.sync(status=3).errors


def test_several_remotes_and_no_upstream(place: Place) -> None:
    """It does not guess which is meant."""
    one, _ = place.two()
    one.git("branch", "--unset-upstream")
    one.git("remote", "add", "backup", "/nowhere")
    told = one.sync(status=3)
    assert "there are backup, origin" in told.errors
    assert "git push -u REMOTE main" in told.errors


def test_a_file_that_is_in_the_way(place: Place) -> None:
    """What git would write over and nobody has committed stays; it is named."""
    one, two = place.two()
    two.write("photo.png", b"mine")
    one.write("photo.png", b"theirs")
    one.git("add", "photo.png")
    one.git("commit", "-qm", "photo")
    one.sync()
    told = two.sync(status=1).errors
    assert "photo.png" in told
    assert two.read("photo.png") == b"mine"


def test_a_killed_run_leaves_nothing_in_the_way(place: Place) -> None:
    """The work tree that it had made aside is put away by the next one."""
    one, two = place.two()
    one.git("worktree", "add", "-q", "--detach", ".memfas/sync-tree")
    two.append("MEMORY.md", FACT.format("two"))
    two.sync()
    one.append("MEMORY.md", FACT.format("one"))
    one.sync()
    assert len(one.git("worktree", "list").splitlines()) == 1
    assert "- [P1][2026-02-24] two" in one.lines()


def test_what_is_appended_while_git_replaces_a_file_is_kept(place: Place) -> None:
    """A shell has opened the old file, git puts a new one in its place, the shell writes."""
    one, _ = place.two()
    folder = open_folder(one.root)
    run = Pass("sync", datetime.now().astimezone())
    with (
        tails_kept(folder, ["MEMORY.md", "missing.md"], run),
        (one.root / "MEMORY.md").open("ab") as old,
    ):
        one.write("new", b"# Another\n").replace(one.root / "MEMORY.md")
        old.write(b"- late\n")
    assert one.read() == b"# Another\n- late\n"
    assert run.notices == ["MEMORY.md: what was appended meanwhile is kept"]


def test_a_run_that_was_killed_half_way(place: Place) -> None:
    """The files are those of the remote already and the branch is not: the next run ends it."""
    one, two = place.two()
    two.append("MEMORY.md", FACT.format("two"))
    two.write("memory/2026-03-01.md", "- 10:00 coffee\n")
    two.sync()
    one.git("fetch", "-q")
    one.git("read-tree", "-m", "-u", "HEAD", "origin/main")
    one.append("MEMORY.md", FACT.format("one"))
    one.sync()
    two.sync()
    assert one.files() == two.files()
    assert one.lines()[FACT.format("two").strip()] == 1
    assert one.lines()["- 10:00 coffee"] == 1
