"""What a folder may hold beside files: pipes, devices, links, odd names. Nothing hangs on them."""

from __future__ import annotations

import os
import socket
import stat
import subprocess
import unicodedata
from pathlib import Path

import pytest

from .memory import CONFIG, CONTROL, HEAD, PROGRAM, TODAY, Memory, call, start

SAYING = b"- [P0] the heron host\n"


def paths_found(memory: Memory, question: str = "heron", *options: str) -> list[str]:
    """The files that answer, sorted; recall must succeed or find nothing."""
    answer = memory.run("recall", "--json", "--limit", "50", *options, question)
    assert answer.status in (0, 1), answer
    return sorted({hit["path"] for hit in answer.data["hits"]})


def skipped(memory: Memory) -> dict[str, str]:
    """The files that recall passed over, with the reason."""
    answer = memory.run("recall", "--json", "heron").data
    return {skip["path"]: skip["reason"] for skip in answer["files_skipped"]}


def make(kind: str, path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    if kind == "pipe":
        os.mkfifo(path)
    elif kind == "socket":
        here = Path.cwd()
        os.chdir(path.parent)  # a socket's path may have about 100 characters
        try:
            socket.socket(socket.AF_UNIX).bind(path.name)
        finally:
            os.chdir(here)
    elif kind == "folder":
        path.mkdir()
    elif kind == "loop":
        path.symlink_to(path.name)
    elif kind == "dangling":
        path.symlink_to("nowhere.md")
    else:
        path.symlink_to("/dev/zero")


SPECIAL = ["pipe", "socket", "folder", "loop", "dangling", "device"]


@pytest.mark.parametrize("kind", SPECIAL)
@pytest.mark.filterwarnings("ignore::ResourceWarning")
def test_what_is_no_file_is_passed_over(memory: Memory, kind: str) -> None:
    """A pipe without a writer, a socket, /dev/zero, a link to itself or to nowhere in memory/:
    recall answers from the others and names it (a folder is simply entered)."""
    make(kind, memory.root / "memory" / "odd.md")
    memory.write("memory/2026-02-01.md", SAYING)
    assert paths_found(memory) == ["memory/2026-02-01.md"]
    assert list(skipped(memory)) == ([] if kind == "folder" else ["memory/odd.md"])
    assert memory.run("lint").status in (0, 1)


@pytest.mark.parametrize("kind", SPECIAL)
@pytest.mark.filterwarnings("ignore::ResourceWarning")
def test_the_janitor_rewrites_only_files(memory: Memory, kind: str) -> None:
    """The same in place of shared/MEMORY.md: reported, not touched, and MEMORY.md is done."""
    odd = memory.root / "shared" / "MEMORY.md"
    make(kind, odd)
    before = os.lstat(odd)
    memory.write("MEMORY.md", HEAD + CONTROL)
    result = memory.janitor()
    assert memory.read() == HEAD
    assert (os.lstat(odd).st_ino, os.lstat(odd).st_mode) == (before.st_ino, before.st_mode)
    if kind != "dangling":
        assert result.status == 1
        assert "shared/MEMORY.md" in result.errors


def test_a_pipe_hangs_no_process(memory: Memory) -> None:
    """For real: `memfas janitor` on a pipe ends by itself."""
    os.mkfifo(memory.root / "MEMORY.md")
    done = memory.process("janitor")
    assert done.returncode == 1
    assert b"MEMORY.md: not a regular file" in done.stderr


def test_links_to_folders_are_not_followed(memory: Memory) -> None:
    """A link to the parent folder, as some sync tools leave it: each file is found once."""
    memory.write("memory/2026-02-01.md", SAYING)
    (memory.root / "memory" / "up").symlink_to("..")
    (memory.root / "memory" / "self").symlink_to(".")
    (memory.root / "all").symlink_to("memory")
    assert paths_found(memory) == ["memory/2026-02-01.md"]


@pytest.fixture
def outside(tmp_path: Path) -> Path:
    """A file of somebody else's, outside the memory folder, that would have much to tell."""
    path = tmp_path / "secret.md"
    path.write_bytes(HEAD + CONTROL + SAYING)
    return path


def test_links_out_of_the_folder_are_not_read(memory: Memory, outside: Path) -> None:
    """Whether the link is a file or a folder: recall shows nothing of it, and names the file."""
    memory.write("memory/2026-02-01.md", SAYING)
    (memory.root / "memory" / "link.md").symlink_to(outside)
    (memory.root / "lessons").symlink_to(outside.parent)
    assert paths_found(memory) == ["memory/2026-02-01.md"]
    assert "memory/link.md" in skipped(memory)


@pytest.mark.parametrize("absolute", [True, False])
def test_links_out_of_the_folder_are_not_written(
    memory: Memory, outside: Path, absolute: bool
) -> None:
    """shared/MEMORY.md leads out: what it leads to stays, it is named, MEMORY.md is done."""
    (memory.root / "shared").mkdir()
    target = outside if absolute else Path("../../secret.md")
    (memory.root / "shared" / "MEMORY.md").symlink_to(target)
    memory.write("MEMORY.md", HEAD + CONTROL)
    before = outside.read_bytes()
    result = memory.janitor()
    assert outside.read_bytes() == before
    assert result.status in (1, 2)
    assert "shared/MEMORY.md" in result.everything
    assert memory.read() == HEAD


@pytest.mark.parametrize("command", ["log", "add"])
def test_nothing_is_appended_through_a_link_out(
    memory: Memory, outside: Path, command: str
) -> None:
    """memory/ or MEMORY.md is a link out of the folder: refused, nothing is written there."""
    (memory.root / "MEMORY.md").symlink_to(outside)
    (memory.root / "memory").symlink_to(outside.parent)
    before = sorted(outside.parent.iterdir()), outside.read_bytes()
    result = memory.run(command, "a line")
    assert result.status == 2
    assert "outside" in result.errors
    assert (sorted(outside.parent.iterdir()), outside.read_bytes()) == before


@pytest.mark.parametrize("target", ["real/notes.md", "shared/MEMORY.md"])
def test_a_linked_memory_stays_a_link(memory: Memory, target: str) -> None:
    """MEMORY.md is a link to a file in the folder: that file is changed, the link is kept."""
    real = memory.write(target, HEAD + CONTROL)
    (memory.root / "MEMORY.md").symlink_to(target)
    inode = real.stat().st_ino
    assert memory.janitor().status == 0
    assert os.readlink(memory.root / "MEMORY.md") == target
    assert (real.read_bytes(), real.stat().st_ino) == (HEAD, inode)
    assert memory.archive_entries == CONTROL
    assert memory.run("add", "-p", "P0", "new").status == 0
    assert os.readlink(memory.root / "MEMORY.md") == target
    assert real.read_bytes() == HEAD + b"- [P0] new\n"
    assert memory.run("undo").status == 0
    assert real.read_bytes() == HEAD


@pytest.mark.usefixtures("as_root")
@pytest.mark.parametrize("held", [False, True])
def test_a_linked_memory_on_another_disk_is_changed_there(memory: Memory, held: bool) -> None:
    """The link leads to another mount: no error of crossing disks, the link stays, and so it is
    where some program holds the file open and it cannot be changed in place."""
    (memory.root / "disk").mkdir()
    (memory.root / "MEMORY.md").symlink_to("disk/notes.md")
    hold = f"exec 9<{memory.root}/disk/notes.md;" if held else ""
    script = (
        f"mount -t tmpfs none {memory.root}/disk && printf '%s' \"$TEXT\" >disk/notes.md;"
        f"{hold} {' '.join(PROGRAM)} janitor --root {memory.root} --today {TODAY} 9<&-;"
        "echo status $?; cat disk/notes.md"
    )
    done = start(
        ["unshare", "--mount", "bash", "-c", script],
        cwd=memory.root,
        env={"TEXT": (HEAD + CONTROL + SAYING).decode()},
    )
    assert done.stdout.decode().endswith("status 0\n" + (HEAD + SAYING).decode()), done
    assert os.readlink(memory.root / "MEMORY.md") == "disk/notes.md"
    assert memory.archive_entries == CONTROL


def test_a_file_with_two_names_keeps_both(memory: Memory) -> None:
    """MEMORY.md is hard-linked from elsewhere: both names show the new text."""
    path = memory.write("MEMORY.md", HEAD + CONTROL)
    os.link(path, memory.root / "other-name")
    assert memory.janitor().status == 0
    assert memory.read() == memory.read("other-name") == HEAD
    assert path.stat().st_nlink == 2


def test_a_file_with_two_names_that_is_held_open_is_left(memory: Memory) -> None:
    """It can only be replaced then, and the other name would keep the old text: refused."""
    path = memory.write("MEMORY.md", HEAD + CONTROL)
    os.link(path, memory.root / "other-name")
    with path.open("rb"):
        result = memory.process("janitor", "--today", TODAY)
    assert result.returncode in (1, 75)
    assert memory.read() == memory.read("other-name") == HEAD + CONTROL
    assert memory.archived == b""
    assert memory.janitor().status == 0
    assert memory.read() == HEAD


def test_one_file_under_two_names_is_found_once(memory: Memory) -> None:
    """`memory.md` and `MEMORY.md` are one file, as on a disk that ignores case: one hit."""
    path = memory.write("MEMORY.md", HEAD + SAYING)
    os.link(path, memory.root / "memory.md")
    assert len(memory.run("recall", "--json", "heron").data["hits"]) == 1


def test_two_files_of_like_names_are_two(memory: Memory) -> None:
    """Where case counts, `MEMORY.MD` is another file; so are two spellings of é."""
    names = ["MEMORY.md", "MEMORY.MD"]
    names += ["memory/" + unicodedata.normalize(form, "café.md") for form in ("NFC", "NFD")]
    for number, name in enumerate(names):
        memory.write(name, b"- %d: " % number + SAYING.removeprefix(b"- "))
    assert paths_found(memory) == sorted(names)
    memory.write("MEMORY.md", HEAD + CONTROL)
    before = memory.read("MEMORY.MD")
    assert memory.janitor().status == 0
    assert (memory.read(), memory.read("MEMORY.MD")) == (HEAD, before)


DATED = {
    "memory/2026-02-28.md": "2026-02-28",
    "memory/2026-02-30.md": None,
    "memory/2026-2-4.md": None,
    "memory/20260204.md": None,
    "memory/notes.md": None,
    "memory/2026-02-24.txt": None,
    "memory/sub/2026-02-24.md": None,
    "notes/2026-02-24.md": None,
}


@pytest.mark.parametrize(("name", "day"), DATED.items())
def test_only_a_daily_log_has_the_day_of_its_name(
    memory: Memory, name: str, day: str | None
) -> None:
    """memory/YYYY-MM-DD.md with a day that exists; any other file is found without a day, and no
    file has the day of its last change."""
    memory.write(name, b"the heron host\n")
    (hit,) = memory.run("recall", "--json", "heron").data["hits"]
    assert (hit["path"], hit["date"]) == (name, day)


@pytest.mark.parametrize(
    "copy",
    [
        "2026-02-24 (copy).md",
        "2026-02-24 (1).md",
        "2026-02-24.sync-conflict-20260224-101010-ABCDEFG.md",
        "2026-02-24 (Anna's conflicted copy 2026-02-24).md",
    ],
)
def test_copies_of_a_sync_tool_are_not_found_twice(memory: Memory, copy: str) -> None:
    """A conflict copy beside a log: one hit, and the copy is named."""
    memory.write("memory/2026-02-24.md", SAYING)
    memory.write(f"memory/{copy}", SAYING)
    assert paths_found(memory) == ["memory/2026-02-24.md"]
    assert list(skipped(memory)) == [f"memory/{copy}"]
    assert copy in memory.run("lint").everything


@pytest.mark.parametrize("mtime", [0, 1, 2**32, 4070908800])
def test_the_time_of_a_file_means_nothing(memory: Memory, mtime: int) -> None:
    """A file of 1970 or of 2099 is tended and found like any other."""
    path = memory.write("MEMORY.md", HEAD + CONTROL + SAYING)
    os.utime(path, (mtime, mtime))
    assert memory.janitor().status == 0
    assert memory.read() == HEAD + SAYING
    os.utime(path, (mtime, mtime))
    (hit,) = memory.run("recall", "--json", "heron").data["hits"]
    assert hit["date"] is None


@pytest.mark.parametrize("mask", [0o000, 0o022, 0o077])
def test_new_files_are_private_whatever_the_mask(tmp_path: Path, mask: int) -> None:
    """Files that memfas makes are 0600 and folders 0700; those that were there keep their modes."""
    root = tmp_path / "agent"
    old = os.umask(mask)
    try:
        assert call("init", "--root", str(root)).status == 0
        memory = Memory(root)
        existing = root / "MEMORY.md"
        existing.write_bytes(HEAD + CONTROL)
        (root / "memfas.yaml").write_bytes(CONFIG.encode())
        existing.chmod(0o640)
        for command in (["log", "x"], ["add", "y"], ["janitor"], ["undo"]):
            assert memory.run(*command).status == 0
    finally:
        os.umask(old)
    for path in [root, *root.rglob("*")]:
        mode = stat.S_IMODE(path.lstat().st_mode)
        expected = 0o640 if path == existing else 0o700 if path.is_dir() else 0o600
        assert mode == expected, path


def test_a_process_that_reads_is_no_obstacle(memory: Memory) -> None:
    """`tail -f` on MEMORY.md all day: it is changed all the same, and late lines are kept."""
    path = memory.write("MEMORY.md", HEAD + CONTROL + SAYING)
    with path.open("rb") as opened:
        reader = subprocess.Popen(["sleep", "60"], stdin=opened)
    with reader:
        try:
            assert memory.janitor().status == 0
        finally:
            reader.kill()
    assert memory.read() == HEAD + SAYING
    assert memory.archive_entries == CONTROL
