"""`memfas sync`: two clones and a bare remote, with real git; no line is lost, none is marked."""

from __future__ import annotations

import os
import random
import subprocess
from collections import Counter
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

import pytest

from agent_memfas.cli.syncing import driver
from agent_memfas.store.layout import open_folder
from agent_memfas.store.passes import Pass
from agent_memfas.store.replacing import tails_kept
from inputs.memory import CONFIG, Memory, Result

MARKERS = ("<<<<<<<", "=======", ">>>>>>>")
ENTRY = "- [P1][2026-02-24] {}\n"


@dataclass(frozen=True)
class Machine(Memory):
    """A clone: a memory folder on a machine of its own."""

    def git(self, *words: str, check: bool = True) -> str:
        done = subprocess.run(["git", *words], cwd=self.root, capture_output=True, check=False)
        assert not check or done.returncode == 0, done.stderr.decode()
        return done.stdout.decode("utf-8", "replace").strip()

    def sync(self, *arguments: str, status: int = 0) -> Result:
        result = self.run("sync", *arguments)
        assert "Traceback" not in result.everything, result
        assert "a fault of memfas" not in result.everything, result
        assert result.status == status, result
        return result

    def append(self, name: str, text: str) -> None:
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("a", encoding="utf-8") as file:
            file.write(text)

    def lines(self) -> Counter[str]:
        """The lines of all memory files."""
        found = Counter[str]()
        for name, data in self.truth().items():
            if name.endswith(".md") and not name.startswith(".git/"):
                found.update(n for n in data.decode().split("\n") if n.strip())
        return found

    def files(self) -> dict[str, bytes]:
        return {name: data for name, data in self.truth().items() if not name.startswith(".git/")}


@dataclass(frozen=True)
class Place:
    """Where the clones and the remote are."""

    path: Path

    @property
    def remote(self) -> Path:
        return self.path / "remote.git"

    def clone(self, name: str, *, setup: bool = True) -> Machine:
        git(self.path, "clone", "-q", str(self.remote), name)
        machine = Machine(self.path / name)
        if setup:
            machine.sync("--setup")
        return machine

    def two(self) -> tuple[Machine, Machine]:
        """Two machines with the same memory, set up and in step."""
        one = self.clone("one", setup=False)
        one.write("memfas.yaml", CONFIG)
        one.write("MEMORY.md", "# Memory\n\n## Facts\n\n- [P0] Timezone: US Eastern\n")
        one.sync("--setup")
        one.sync()
        return one, self.clone("two")


def git(at: Path, *words: str) -> str:
    return subprocess.run(["git", *words], cwd=at, capture_output=True, check=True).stdout.decode()


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Place:
    """A bare remote, and a git that knows nothing of this machine and its user."""
    for name in [name for name in os.environ if name.startswith(("GIT_", "MEMFAS_"))]:
        monkeypatch.delenv(name)
    (tmp_path / "home").mkdir()
    config = tmp_path / "home" / "gitconfig"
    config.write_text(
        "[init]\n\tdefaultBranch = main\n[user]\n\tname = Me\n\temail = me@example.org\n"
    )
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(config))
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")
    git(tmp_path, "init", "-q", "--bare", "remote.git")
    return Place(tmp_path)


# Two machines


def test_what_one_machine_notes_the_other_has_after_a_sync(place: Place) -> None:
    """Both write into the same section; after two syncs here and one there all is everywhere."""
    one, two = place.two()
    one.append("MEMORY.md", ENTRY.format("from one"))
    two.append("MEMORY.md", ENTRY.format("from two"))
    two.append("memory/2026-03-01.md", "- 10:00 coffee\n")
    told = one.sync("--message", "what I learned", "--json").data
    assert (told["committed"], told["pushed"], told["received"]) == (["MEMORY.md"], True, [])
    told = two.sync("--json").data
    assert told["committed"] == ["MEMORY.md", "memory/2026-03-01.md"]
    assert told["received"] == ["MEMORY.md"]
    assert one.sync("--json").data["received"] == ["MEMORY.md", "memory/2026-03-01.md"]
    assert one.files() == two.files()
    assert one.read().endswith(
        ENTRY.format("from one").encode() + ENTRY.format("from two").encode()
    )
    assert "what I learned" in git(place.remote, "log", "--format=%s")
    assert one.git("status", "--porcelain") == ""
    assert not (one.root / ".memfas" / "sync-tree").exists()
    again = one.sync("--json").data
    assert (again["committed"], again["received"], again["pushed"]) == ([], [], False)


@pytest.mark.parametrize("seed", range(int(os.environ.get("SYNC_SEEDS", "2"))))
def test_random_edits_on_two_machines_lose_nothing(place: Place, seed: int) -> None:
    """Added, changed, taken out and moved on both, synced in turn: at the end both are the same,
    and every line that was added and not taken out is there once.
    """
    dice = random.Random(seed)
    both = place.two()
    expected = {line for line in both[0].lines() if line.startswith("- ")}
    number = 0
    for _ in range(4):
        taken = set[str]()  # by one machine in this round; changed by both would stay twice
        for machine in both:
            for _ in range(dice.randint(0, 4)):
                number += 1
                name = dice.choice(["MEMORY.md", "memory/2026-03-01.md", "insights/2026-03.md"])
                new = f"- [P1][2026-02-24] fact {number} {dice.randbytes(4).hex()}"
                _edit(machine, name, new, dice, expected, taken)
        for machine in dice.sample(both, 2):
            machine.sync()
    for machine in (*both, *both):
        machine.sync()
    assert both[0].files() == both[1].files()
    found = both[0].lines()
    assert {line: found[line] for line in expected} == dict.fromkeys(expected, 1)
    assert {line for line in found if line.startswith("- ")} == expected
    assert not [line for line in found if line.startswith(MARKERS)]


def _edit(
    machine: Machine, name: str, new: str, dice: random.Random, expected: set[str], taken: set[str]
) -> None:
    """One change to one file, and what it makes of the lines that are expected."""
    path = machine.root / name
    lines = path.read_text("utf-8").split("\n") if path.exists() else ["# A page", "", ""]
    free = [n for n, line in enumerate(lines) if line in expected and line not in taken]
    what = dice.choice(["add", "add", "insert", "change", "remove", "move"])
    if what in ("add", "insert") or not free:
        at = len(lines) - 1 if what == "add" else dice.randint(2, len(lines) - 1)
        lines.insert(at, new)
        expected.add(new)
        taken.add(new)
    else:
        at = dice.choice(free)
        old = lines.pop(at)
        taken.add(old)
        if what == "move":
            lines.insert(dice.randint(2, len(lines) - 1), old)
        else:
            expected.discard(old)
        if what == "change":
            lines.insert(at, new)
            expected.add(new)
            taken.add(new)
    machine.write(name, "\n".join(lines))


def test_two_janitors_of_one_night(place: Place) -> None:
    """Both archive the same entry: after the sync it is in the archive once, and nowhere else."""
    one, two = place.two()
    one.append("MEMORY.md", "- [P2][2020-01-01] long over\n- [P2][2026-02-20] still good\n")
    one.sync()
    two.sync()
    for machine in (one, two):
        machine.janitor()
        machine.sync()
    one.sync()
    assert one.files() == two.files()
    assert one.archive_entries == b"- [P2][2020-01-01] long over\n"
    assert b"long over" not in one.read()


def test_both_begin_on_their_own(place: Place) -> None:
    """Two folders that were never one: with the same remote they become one."""
    one, two = Machine(place.path / "one"), Machine(place.path / "two")
    for machine in (one, two):
        machine.root.mkdir()
        machine.write("MEMORY.md", f"# Memory\n\n- [P0] I am {machine.root.name}\n")
        machine.sync("--setup", "--init")
        machine.git("remote", "add", "origin", str(place.remote))
        machine.sync()
    one.sync()
    assert one.files() == two.files()
    assert one.read() == b"# Memory\n\n- [P0] I am one\n- [P0] I am two\n"


def test_plain_git_uses_the_driver_too(place: Place) -> None:
    """`git pull` and `git merge` by hand merge as sets, for setup has told git how."""
    one, two = place.two()
    one.append("MEMORY.md", ENTRY.format("one"))
    one.sync()
    two.append("MEMORY.md", ENTRY.format("two"))
    two.git("commit", "-qam", "two")
    two.git("pull", "-q", "--no-rebase", "--no-edit")
    assert two.read().endswith((ENTRY.format("one") + ENTRY.format("two")).encode())


def test_a_folder_inside_a_repository(place: Place) -> None:
    """Only what is in the memory folder is committed, whatever else was changed or staged."""
    one = place.clone("one", setup=False)
    (one.root / "code.py").write_text("1\n")
    one.git("add", ".")
    one.git("commit", "-qm", "code")
    inner = Machine(one.root / "agent [1]")
    inner.write("MEMORY.md", "# Memory\n\n")
    inner.write("notes [x].md", "- odd name\n")
    inner.write("photo.png", b"\x89PNG")
    (one.root / "code.py").write_text("2\n")
    (one.root / "staged.py").write_text("3\n")
    (one.root / "other.md").write_text("not memory\n")
    one.git("add", "staged.py")
    inner.sync("--setup")
    assert (inner.root / ".gitattributes").exists()
    assert not (one.root / ".gitattributes").exists()
    told = inner.sync("--json").data
    assert told["committed"] == [".gitattributes", ".gitignore", "MEMORY.md", "notes [x].md"]
    left = one.git("status", "--porcelain").splitlines()
    assert sorted(n.split(maxsplit=1)[1] for n in left) == [
        '"agent [1]/photo.png"', "code.py", "other.md", "staged.py"]  # fmt: skip
    two = place.clone("two", setup=False)
    (two.root / "agent [1]/MEMORY.md").write_text("# Memory\n\n- [P0] two\n")
    Machine(two.root / "agent [1]").sync()
    inner.append("MEMORY.md", "- [P0] one\n")
    inner.sync()
    assert inner.read() == b"# Memory\n\n- [P0] one\n- [P0] two\n"
    assert (one.root / "code.py").read_text() == "2\n"
    assert one.git("diff", "--cached", "--name-only") == "staged.py"


# Setup


def test_setup_adds_lines_and_nothing_else(place: Place) -> None:
    """Byte for byte what was there stays; a second time changes nothing; no remote is asked."""
    one = place.clone("one", setup=False)
    one.write("MEMORY.md", "")
    one.write(".gitignore", b"*.tmp\r\n.memfas/\r\nlast")
    one.write(".gitattributes", b"* text=auto\n")
    assert one.run("sync", "--setup", "--dry-run").status == 0
    assert one.read(".gitattributes") == b"* text=auto\n"
    assert not one.git("config", "--get", "merge.memfas.driver", check=False)
    one.git("remote", "set-url", "origin", "/nowhere")
    told = one.run("sync", "--setup", "--json").data
    assert [(a["path"], a["line"]) for a in told["added"]] == [
        (".gitattributes", "*.md merge=memfas"), (".gitattributes", "*.jsonl merge=memfas"),
        (".gitignore", ".abstract")]  # fmt: skip
    assert one.read(".gitignore") == b"*.tmp\r\n.memfas/\r\nlast\n.abstract\n"
    assert one.read(".gitattributes") == (b"* text=auto\n*.md merge=memfas\n*.jsonl merge=memfas\n")
    assert one.git("config", "--get", "merge.memfas.driver") == driver()
    before = one.truth()
    assert "all is set up already" in one.sync("--setup").text
    assert one.truth() == before


def test_overviews_that_are_tracked_are_not_ignored(place: Place) -> None:
    """Whoever has them in the repository wants them there."""
    one = place.clone("one", setup=False)
    one.write("MEMORY.md", "")
    one.write("memory/.abstract", "x\n")
    one.git("add", ".")
    one.git("commit", "-qm", "all")
    one.sync("--setup")
    assert one.read(".gitignore") == b".memfas/\n"


def test_the_driver_is_a_program_of_its_own(place: Place, tmp_path: Path) -> None:
    """`memfas merge-driver` puts the result into the second file, and ends with 0."""
    memory = Memory(tmp_path)
    for name, text in (("base", "- a\n"), ("ours", "- a\n- b\n"), ("theirs", "- a\n- c\n")):
        memory.write(name, text)
    done = subprocess.run(
        driver().replace("%O %A %B %P", "base ours theirs memory/x.md"), shell=True, cwd=tmp_path,
        capture_output=True, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
    assert memory.read("ours") == b"- a\n- b\n- c\n"
    assert memory.read("theirs") == b"- a\n- c\n"


# What goes wrong


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
    two.append("MEMORY.md", ENTRY.format("two"))
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
    one.append("MEMORY.md", ENTRY.format("one"))
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
    two.append("MEMORY.md", ENTRY.format("two"))
    one.append("MEMORY.md", ENTRY.format("one"))
    hook = one.root / ".git/hooks/pre-push"
    hook.parent.mkdir(exist_ok=True)
    other = "git commit -qam two && git push -q"
    hook.write_text(
        f"#!/bin/sh\nrm $0\nunset $(git rev-parse --local-env-vars)\ncd '{two.root}' && {other}\n"
    )
    hook.chmod(0o755)
    assert one.sync("--json").data["pushed"]
    assert {line for line in one.lines() if "[P1]" in line} == {
        ENTRY.format(name).strip() for name in ("one", "two")}  # fmt: skip
    two.sync()
    assert one.files() == two.files()


@pytest.mark.parametrize(("hook", "words"), [("pre-commit", "commit"), ("pre-push", "push")])
def test_hooks_of_the_repository_run(place: Place, hook: str, words: str) -> None:
    """One that fails stops the sync, and is quoted."""
    one, _ = place.two()
    one.append("MEMORY.md", ENTRY.format("one"))
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
    one.append("MEMORY.md", ENTRY.format("one"))
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
    one.append("MEMORY.md", ENTRY.format("one"))
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
    two.append("MEMORY.md", ENTRY.format("two"))
    two.sync()
    one.append("MEMORY.md", ENTRY.format("one"))
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
