"""Real editors and tools save MEMORY.md while the janitor loops; links and open handles stay whole.

Outside /tmp, where vim would save by another method than it does at home.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from . import folders, writers
from .stress import report_of, start_janitor
from .warm import Warm

SAVES = 60
TRIALS = 40
HEADER = "# Memory\n\n## Notes\n\n- [P0] The first entry\n"

VIM = r"""
set backupskip= nomore noswapfile backupcopy=%s %s
for number in range(1, %d)
  silent edit!
  call append('$', '- ' . (number %% 10 ? '[P2][2020-01-01]' : '[P0]') . ' vim ' . number)
  silent write!
  call writefile([string(number)], 'saved', 'a')
  sleep 3m
endfor
qall!
"""


@contextmanager
def loop(root: Path, kind: str = "ours") -> Iterator[None]:
    """A janitor that never rests in this folder; then a quiet pass."""
    process = start_janitor(kind, root, apart=False)
    try:
        yield
        time.sleep(0.05)
    finally:
        account = report_of(process)
    print(account)
    assert not any("Traceback" in text for text in account["messages"]) or kind != "ours"


def fresh(root: Path) -> Path:
    """A folder with one entry; its MEMORY.md."""
    root.mkdir(parents=True, exist_ok=True)
    (root / "memfas.yaml").write_text(folders.CONFIG)
    (root / "MEMORY.md").write_text(HEADER)
    return root / "MEMORY.md"


def missing(root: Path, lines: list[str]) -> list[str]:
    """Those of the lines that are neither in MEMORY.md nor in the archive."""
    there = folders.found(root)
    return [line for line in [*HEADER.split("\n"), *lines] if line and line.encode() not in there]


def vim_saves(root: Path, copy: str, more: str) -> list[str]:
    """Save again and again in one vim; the lines whose saves succeeded."""
    (root / "saved").touch()
    (root / "script.vim").write_text(VIM % (copy, more, SAVES))
    argv = ["vim", "-u", "NONE", "-i", "NONE", "-n", "-es", "-S", "script.vim", "MEMORY.md"]
    # When the file has changed since it was read, vim asks whether to overwrite it: yes.
    ended = subprocess.run(
        argv, cwd=root, input=b"y" * 4096, capture_output=True, timeout=120, check=False
    )
    numbers = [int(line) for line in (root / "saved").read_text().split()]
    assert len(numbers) == SAVES, ended
    tags = ["[P2][2020-01-01]" if number % 10 else "[P0]" for number in numbers]
    return [f"- {tag} vim {number}" for tag, number in zip(tags, numbers, strict=True)]


@pytest.fixture
def vim() -> None:
    """Skip where there is no vim."""
    if shutil.which("vim") is None:
        pytest.skip("needs vim")


@pytest.mark.usefixtures("vim")
@pytest.mark.parametrize("more", ["writebackup", "backup", "nowritebackup"])
@pytest.mark.parametrize("copy", ["auto", "yes", "no"])
def test_what_vim_saves_while_the_janitor_runs_is_there(
    home_path: Path, copy: str, more: str
) -> None:
    """Vim saves by rename or in place, with and without a backup: no saved line is missing."""
    fresh(home_path)
    with loop(home_path):
        lines = vim_saves(home_path, copy, more)
    assert missing(home_path, lines) == []
    assert b"- [P0] vim 60" in (home_path / "MEMORY.md").read_bytes()
    assert folders.archived(home_path).count(b"<!-- /janitor ") > 0, "the janitor never moved"


@pytest.mark.usefixtures("vim")
def test_vim_catches_the_janitor_that_replaces(home_path: Path) -> None:
    """The control: of what vim saved, lines are gone; by luck it may take some trials."""
    for trial in range(TRIALS):
        root = home_path / str(trial)
        fresh(root)
        with loop(root, "naive-replace"):
            lines = vim_saves(root, "auto", "writebackup")
        if missing(root, lines):
            return
    pytest.fail("the control has lost nothing")


SED = 'sed -i "\\$a - [P2][2020-01-01] tool $n" MEMORY.md'
MOVE = 'cp MEMORY.md new && echo "- [P2][2020-01-01] tool $n" >> new && mv new MEMORY.md'
COPY = 'cp MEMORY.md new && echo "- [P2][2020-01-01] tool $n" >> new && cp new MEMORY.md'
PERL = 'perl -i -pe "print qq(- [P2][2020-01-01] tool $n\\n) if /The first/" MEMORY.md'


def tool_saves(root: Path, command: str, *, each: bool = True) -> list[str]:
    """Save again and again by a shell command; the lines for which it succeeded.

    each: whether every save must. `cp` refuses a file that is replaced while it copies.
    """
    script = f"for n in $(seq {SAVES}); do {command} && echo $n; done"
    ended = subprocess.run(["bash", "-c", script], cwd=root, capture_output=True, check=False)
    numbers = ended.stdout.decode().split()
    assert len(numbers) == SAVES or (numbers and not each), ended.stderr.decode()[-500:]
    return [f"- [P2][2020-01-01] tool {number}" for number in numbers]


@pytest.mark.parametrize("command", [SED, MOVE, COPY, PERL], ids=["sed", "mv", "cp", "perl"])
def test_what_a_tool_saves_while_the_janitor_runs_is_there(home_path: Path, command: str) -> None:
    """Sed -i, mv over it, cp over it, perl -i: what they have written is not lost to the janitor."""
    fresh(home_path)
    with loop(home_path):
        lines = tool_saves(home_path, command)
    assert missing(home_path, lines) == []


@pytest.mark.parametrize("command", [SED, COPY], ids=["sed", "cp"])
def test_a_tool_catches_the_janitor_that_replaces(home_path: Path, command: str) -> None:
    """The control; by luck it may take some trials."""
    for trial in range(TRIALS):
        root = home_path / str(trial)
        fresh(root)
        with loop(root, "naive-replace"):
            lines = tool_saves(root, command, each=False)
        if missing(root, lines):
            return
    pytest.fail("the control has lost nothing")


def git(root: Path, *argv: str) -> None:
    """A git command in the folder that must succeed."""
    own = ["-c", "user.name=a", "-c", "user.email=a@example.com", "-c", "init.defaultBranch=one"]
    ended = subprocess.run(["git", *own, *argv], cwd=root, capture_output=True, check=False)
    assert ended.returncode == 0, ended.stderr


def test_what_git_checks_out_while_the_janitor_runs_is_there(home_path: Path) -> None:
    """Two branches, checked out in turn: all lines of the last one are in the file or archived."""
    if shutil.which("git") is None:
        pytest.skip("needs git")
    path = fresh(home_path)
    texts = {}
    git(home_path, "init", "-q")
    for branch in ("one", "two"):
        entries = [f"- [P2][2020-01-01] {branch} {n}" for n in range(30)]
        live = [f"- [P0] {branch} {n}" for n in range(30)]
        texts[branch] = [*entries, *live]
        path.write_text(HEADER + "\n".join(texts[branch]) + "\n")
        git(home_path, "checkout", "-q", "-B", branch)
        git(home_path, "add", "MEMORY.md")
        git(home_path, "commit", "-q", "-m", branch)
    with loop(home_path):
        for turn in range(30):
            branch = ("one", "two")[turn % 2]
            git(home_path, "checkout", "-q", "-f", branch)
            time.sleep(0.01)
            stay = [line for line in texts[branch] if "[P0]" in line]
            now = path.read_text()
            assert [line for line in stay if line not in now] == []
    assert missing(home_path, texts["two"]) == []


def test_a_linked_memory_file_stays_a_link_and_its_target_is_changed(
    tmp_path: Path, ours: Warm
) -> None:
    """MEMORY.md is a symbolic link to a file in the folder: the link stays, the file is cleaned."""
    root = tmp_path / "m"
    truth = folders.build(root)
    (root / "shared").mkdir()
    (root / "MEMORY.md").rename(root / "shared" / "real.md")
    (root / "MEMORY.md").symlink_to("shared/real.md")
    inode = (root / "shared" / "real.md").stat().st_ino
    assert ours.run(root).status == 0
    assert (root / "MEMORY.md").is_symlink()
    assert (root / "shared" / "real.md").stat().st_ino == inode
    found = folders.violations(root, truth)
    assert [text for text in found if text != "left behind: shared"] == []


def test_every_name_of_a_hard_linked_file_shows_the_new_text(tmp_path: Path, ours: Warm) -> None:
    """Two names, one file: after the pass it is still one file."""
    root = tmp_path / "m"
    truth = folders.build(root)
    os.link(root / "MEMORY.md", tmp_path / "other.md")
    assert ours.run(root).status == 0
    assert (tmp_path / "other.md").read_bytes() == truth.after
    assert folders.violations(root, truth) == []


def test_a_hard_linked_file_that_is_held_open_is_left_for_later(tmp_path: Path, ours: Warm) -> None:
    """No lease, and a swap would part the two names: a status, a sentence, nothing changed."""
    root = tmp_path / "m"
    truth = folders.build(root)
    os.link(root / "MEMORY.md", tmp_path / "other.md")
    with (root / "MEMORY.md").open("rb"):
        ended = ours.run(root)
    assert ended.status in (1, 75)
    assert folders.complaints(ended.status, ended.err) == []
    assert (root / "MEMORY.md").read_bytes() == truth.before
    assert folders.archived(root) == b""
    assert ours.run(root).status == 0
    assert (tmp_path / "other.md").read_bytes() == truth.after
    assert folders.violations(root, truth) == []


def test_a_file_under_tail_f_is_cleaned_and_both_files_stay_whole(
    tmp_path: Path, ours: Warm
) -> None:
    """`tail -f` holds the file for ever: the pass does its work another way and loses nothing."""
    root = tmp_path / "m"
    truth = folders.build(root)
    argv = ["tail", "-n", "+1", "-f", root / "MEMORY.md"]
    with subprocess.Popen(argv, stdout=subprocess.PIPE) as tail:
        assert tail.stdout is not None
        tail.stdout.readline()
        ended = ours.run(root)
        assert ended.status == 0, ended.err
        assert (root / "MEMORY.md").read_bytes() == truth.after
        tail.terminate()
        tail.stdout.read()
    assert ours.run(root).status == 0
    assert folders.violations(root, truth) == []


@pytest.mark.parametrize("linked", [False, True], ids=["plain", "linked"])
def test_lines_written_through_a_handle_that_stays_open_are_carried_over(
    tmp_path: Path, linked: bool, ours: Warm
) -> None:
    """A logging handler writes on after every pass: each line arrives once, in order."""
    root = tmp_path / "m"
    truth = folders.build(root)
    if linked:
        (root / "shared").mkdir()
        (root / "MEMORY.md").rename(root / "shared" / "real.md")
        (root / "MEMORY.md").symlink_to("shared/real.md")
    handle = os.open(root / "MEMORY.md", os.O_WRONLY | os.O_APPEND)
    for number in range(6):
        assert ours.run(root).status == 0
        line = f"- [P0] through the handle {number}\n".encode()
        os.write(handle, line)
        truth = truth.plus(line)
    os.close(handle)
    assert ours.run(root).status == 0
    assert ours.run(root).status == 0
    assert (root / "MEMORY.md").is_symlink() == linked
    found = folders.violations(root, truth)
    assert [text for text in found if text != "left behind: shared"] == []


def test_a_last_line_without_an_end_is_carried_over_too(tmp_path: Path, ours: Warm) -> None:
    """The writer with the old handle ends in the middle of a line: what it wrote is kept."""
    root = tmp_path / "m"
    truth = folders.build(root)
    handle = os.open(root / "MEMORY.md", os.O_WRONLY | os.O_APPEND)
    assert ours.run(root).status == 0
    os.write(handle, b"- [P0] whole\n- [P0] broken off")
    os.close(handle)
    assert ours.run(root).status == 0
    assert ours.run(root).status == 0
    truth = truth.plus(b"- [P0] whole\n- [P0] broken off")
    assert folders.lost(root, truth) == []


def test_two_writers_with_open_handles_and_one_that_appends_lose_nothing(
    tmp_path: Path, ours: Warm
) -> None:
    """Handles from before the first pass and between the passes, all written in turn."""
    root = tmp_path / "m"
    truth = folders.build(root)
    handles = []
    for turn in range(4):
        handles.append(os.open(root / "MEMORY.md", os.O_WRONLY | os.O_APPEND))
        entry = f"- [P2][2020-01-01] soon gone {turn}\n"
        writers.append_once(str(root / "MEMORY.md"), entry)
        truth = folders.Truth(truth.before + entry.encode(), truth.after, truth.mode)
        assert ours.run(root).status == 0
        for number, handle in enumerate(handles):
            line = f"- [P0] turn {turn} handle {number}\n".encode()
            os.write(handle, line)
            truth = truth.plus(line)
    for handle in handles:
        os.close(handle)
    assert ours.run(root).status == 0
    assert ours.run(root).status == 0
    found = folders.violations(root, truth)
    order = "MEMORY.md is not what was there less the expired entries"
    assert [text for text in found if text != order] == []
