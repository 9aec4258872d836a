"""`memfas sync`: two clones and a bare remote, with real git; no line is lost, none is marked."""

from __future__ import annotations

import os
import random
import subprocess
from pathlib import Path

import pytest

from agent_memfas.cli.syncing import driver
from agents.machines import FACT, Machine, Place, git
from inputs.memory import Memory

MARKERS = ("<<<<<<<", "=======", ">>>>>>>")


def test_what_one_machine_notes_the_other_has_after_a_sync(place: Place) -> None:
    """Both write into the same section; after two syncs here and one there all is everywhere."""
    one, two = place.two()
    one.append("MEMORY.md", FACT.format("from one"))
    two.append("MEMORY.md", FACT.format("from two"))
    two.append("memory/2026-03-01.md", "- 10:00 coffee\n")
    told = one.sync("--message", "what I learned", "--json").data
    assert (told["committed"], told["pushed"], told["received"]) == (["MEMORY.md"], True, [])
    told = two.sync("--json").data
    assert told["committed"] == ["MEMORY.md", "memory/2026-03-01.md"]
    assert told["received"] == ["MEMORY.md"]
    assert one.sync("--json").data["received"] == ["MEMORY.md", "memory/2026-03-01.md"]
    assert one.files() == two.files()
    assert one.read().endswith(FACT.format("from one").encode() + FACT.format("from two").encode())
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
    one.append("MEMORY.md", FACT.format("one"))
    one.sync()
    two.append("MEMORY.md", FACT.format("two"))
    two.git("commit", "-qam", "two")
    two.git("pull", "-q", "--no-rebase", "--no-edit")
    assert two.read().endswith((FACT.format("one") + FACT.format("two")).encode())


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


def test_what_a_shell_appends_meanwhile_is_there_too(place: Place) -> None:
    """`>>` in a loop on one machine, while it syncs again and again with another that writes the
    same file: each line is there once, on both.
    """
    one, two = place.two()
    loop = 'for n in $(seq 150); do echo "- loop $n" >> MEMORY.md; sleep 0.02; done'
    shell = subprocess.Popen(["sh", "-c", loop], cwd=one.root)
    for n in range(4):
        two.append("MEMORY.md", FACT.format(f"two {n}"))
        two.sync()
        assert one.run("sync").status in (0, 75)
    shell.wait()
    for machine in (one, two, one):
        machine.sync()
    assert one.files() == two.files()
    wanted = {f"- loop {n + 1}" for n in range(150)}
    wanted |= {FACT.format(f"two {n}").strip() for n in range(4)}
    assert {line: one.lines()[line] for line in wanted} == dict.fromkeys(wanted, 1)
