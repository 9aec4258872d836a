"""`memfas watch` as users rely on it: whatever happens to the files reaches the index by itself.

Real processes and real file events; each story ends when the index file equals a fresh one, row
for row, without anybody having asked anything.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
from contextlib import suppress
from pathlib import Path

import pytest

from .watchers import wait_in_step, wait_until, watching


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A small memory folder."""
    folder = tmp_path / "agent"
    (folder / "memory").mkdir(parents=True)
    (folder / "MEMORY.md").write_text("- [P0] The staging host is called heron\n")
    (folder / "memory/2026-02-24.md").write_text("# Tuesday\n\n- moved staging\n")
    (folder / "TRIGGERS.md").write_text("- alice -> prefers async\n")
    return folder


def save_like_vim(path: Path, text: str) -> None:
    """Away, anew, and the old one deleted: for a moment there is no such file."""
    (path.parent / "4913").touch()
    (path.parent / "4913").unlink()
    (path.parent / f".{path.name}.swp").write_text("swap")
    path.rename(f"{path}~")
    with path.open("w") as file:
        file.write(text)
        os.fsync(file.fileno())
    Path(f"{path}~").unlink()
    (path.parent / f".{path.name}.swp").unlink()


def append(path: Path, text: str) -> None:
    """What an agent does with `>>`."""
    with path.open("a") as file:
        file.write(text)


def replace(path: Path, text: str) -> None:
    """A new file over the old one, as sed -i, rsync and memfas itself do."""
    temporary = path.parent / ".M.Xy12Zq"
    temporary.write_text(text)
    temporary.replace(path)


def test_every_way_of_saving_reaches_the_index(root: Path) -> None:
    """However a program or a person changes a file, it is searched as it is now."""
    memory = root / "MEMORY.md"
    outside = root.parent / "outside.md"
    outside.write_text("- from another folder\n")
    ways = {
        "append": lambda: append(memory, "- more of the heron\n"),
        "vim": lambda: save_like_vim(memory, "- [P0] saved by vim\n"),
        "rename over": lambda: replace(memory, "- [P0] replaced\n"),
        "truncate and write": lambda: memory.write_text("- [P0] written over\n"),
        "same length": lambda: memory.write_text("- [P0] written OVER\n"),
        "new name": lambda: memory.rename(root / "memory/OLD.md"),
        "back": lambda: (root / "memory/OLD.md").rename(memory),
        "from outside": lambda: outside.rename(root / "memory/in.md"),
        "to outside": lambda: (root / "memory/in.md").rename(outside),
        "empty": lambda: os.truncate(memory, 0),
        "trigger": lambda: (root / "TRIGGERS.md").write_text("- heron -> the staging host\n"),
        "delete": memory.unlink,
        "made again": lambda: memory.write_text("- [P0] The staging host is called heron\n"),
    }
    with watching(root):
        for way, change in ways.items():
            change()
            wait_in_step(root, way)


def test_a_file_that_is_held_open_is_followed(root: Path) -> None:
    """A logger that never closes its file is heard with each line that it writes."""
    with watching(root), (root / "memory/log.md").open("a") as log:
        for n in range(3):
            log.write(f"- line {n}\n")
            log.flush()
            wait_in_step(root, f"line {n}")


def test_folders_come_go_and_move(root: Path) -> None:
    """Files in folders that are made, moved in, moved out or renamed are found where they are, and
    what happens there later is noticed too."""
    other = root.parent / "elsewhere"
    (other / "deep").mkdir(parents=True)
    (other / "deep/x.md").write_text("- egret\n")
    with watching(root) as watcher:
        watcher.append("lessons/a/b/c.md")
        wait_in_step(root, "mkdir -p")
        watcher.append("lessons/a/b/c.md")
        wait_in_step(root, "written to in the new folder")
        other.rename(root / "project")
        wait_in_step(root, "moved in")
        watcher.append("project/deep/x.md")
        wait_in_step(root, "written to after it was moved in")
        (root / "lessons").rename(root / "tmp")
        (root / "project").rename(root / "lessons")
        (root / "tmp").rename(root / "project")
        wait_in_step(root, "two folders change places")
        watcher.append("lessons/deep/x.md")
        watcher.append("project/a/b/c.md", "- other\n")
        wait_in_step(root, "written to after that")
        (root / "project").rename(other)
        wait_in_step(root, "moved out")
        (other / "a/b/c.md").write_text("- a ghost\n")
        shutil.rmtree(root / "lessons")
        watcher.append("lessons/again.md")
        wait_in_step(root, "deleted and made again")
        watcher.append("lessons/again.md")
        wait_in_step(root, "written to after that")


def test_a_change_of_branch_is_followed(root: Path) -> None:
    """After a `git checkout` that removes, replaces and makes hundreds of files, all are found."""
    for n in range(300):
        (root / f"memory/n{n}.md").write_text(f"- note {n} of main\n")
    with watching(root):
        wait_in_step(root)
        for n in range(300):
            (root / f"memory/n{n}.md").unlink()
            if n % 3:
                (root / f"memory/n{n}.md").write_text(f"- note {n} of the branch\n")
            if n % 10 == 0:
                (root / f"memory/d{n}").mkdir()
                (root / f"memory/d{n}/new.md").write_text("- only in the branch\n")
        wait_in_step(root, "the branch")


def test_events_that_are_lost_do_not_matter(root: Path) -> None:
    """Where so much happens that the system throws events away, nothing is missed."""
    queue = int(Path("/proc/sys/fs/inotify/max_queued_events").read_text())
    with watching(root) as watcher:
        watcher.freeze()
        files = [open(root / f"memory/{n}.md", "ab", buffering=0) for n in range(4)]  # noqa: SIM115
        for _ in range(queue // len(files) + 10):
            for file in files:
                file.write(b".")
        for file in files:
            file.close()
        watcher.append("late/and/deep.md")
        watcher.process.send_signal(signal.SIGCONT)
        wait_in_step(root)
        watcher.wait_said("overflow")
        watcher.append("late/and/deep.md")
        wait_in_step(root, "written to after that")


def test_what_does_not_count_costs_nothing(root: Path) -> None:
    """Dependencies, hidden folders and what .memfasignore names are not watched at all."""
    (root / ".memfasignore").write_text("drafts/\n")
    for n in range(50):
        (root / f"node_modules/p{n}/lib").mkdir(parents=True)
        (root / f".git/objects/{n:02x}").mkdir(parents=True)
        (root / f"drafts/d{n}").mkdir(parents=True)
    with watching(root) as watcher:

        def watched() -> int:
            count = 0
            for path in Path(f"/proc/{watcher.process.pid}/fdinfo").iterdir():
                with suppress(FileNotFoundError):  # a descriptor that is closed meanwhile
                    count += path.read_text().count("inotify wd")
            return count

        wait_until(lambda: watched() == 2, "the root and memory/ are watched")
        (root / "node_modules/p0/README.md").write_text("- not mine\n")
        (root / ".memfasignore").write_text("")
        wait_in_step(root, "drafts count now")
        wait_until(lambda: watched() == 53, "and are watched")
        (root / ".memfasignore").write_text("drafts/\nmemory/\n")
        wait_in_step(root, "and do not any more")
        wait_until(lambda: watched() == 1, "only the root is watched")


def test_new_settings_are_followed(root: Path) -> None:
    """I change `sources` in memfas.yaml while it runs, and only those are searched."""
    with watching(root):
        (root / "memfas.yaml").write_text("sources:\n  - path: memory\n")
        wait_in_step(root, "only memory/", sources=("memory",))
        (root / "memfas.yaml").unlink()
        wait_in_step(root, "all")


def test_an_index_that_is_deleted_is_made_again(root: Path) -> None:
    """I delete .memfas while it runs: index, lock and heartbeat come back, and nobody else can
    begin to watch."""
    with watching(root) as watcher:
        (root / ".memfas/index.db").unlink()
        watcher.append("MEMORY.md")
        wait_in_step(root, "the index was deleted")
        while (root / ".memfas").exists():  # it writes its heartbeat there while we delete
            shutil.rmtree(root / ".memfas", ignore_errors=True)
        wait_until(watcher.beat, "a new heartbeat")
        wait_in_step(root, "everything was deleted")
        with watching(root, ready=False) as second:
            assert second.process.wait(60) == 75
        watcher.append("MEMORY.md")
        wait_in_step(root, "written to after that")


def test_a_folder_that_is_replaced_is_watched_anew(root: Path) -> None:
    """I move the folder away: it says so, makes nothing in its place, and forgets nothing. A new
    one in its place is watched as if for the first time."""
    away = root.parent / "away"
    with watching(root) as watcher:
        root.rename(away)
        watcher.wait_said("nothing is forgotten")
        assert not root.exists()
        assert (away / ".memfas/index.db").exists()
        root.mkdir()
        (root / "MEMORY.md").write_text("- [P0] another memory\n")
        wait_in_step(root, "the new folder")
        watcher.wait_said("in step again")
        wait_until(watcher.beat, "a new heartbeat")
        watcher.append("memory/x/y.md")
        wait_in_step(root, "written to after that")


def test_a_folder_that_cannot_be_read_is_not_forgotten(root: Path) -> None:
    """While I may not read the folder nothing leaves the index, it is said, and afterwards all is
    found."""
    prefix = ["setpriv", "--bounding-set=-dac_override,-dac_read_search"]
    if os.geteuid() != 0:
        prefix = []
    elif not shutil.which("setpriv") or subprocess.run([*prefix, "true"], check=False).returncode:
        pytest.skip("needs setpriv, or not to be root")
    with watching(root, prefix=prefix) as watcher:
        try:
            root.chmod(0)
            watcher.wait_said("Permission denied")
        finally:
            root.chmod(0o700)
        watcher.append("memory/new.md")
        wait_in_step(root, "it may be read again")
        watcher.wait_said("in step again")


def test_without_events_it_looks_again_and_again(root: Path) -> None:
    """With --poll, as on network drives, everything is found all the same."""
    with watching(root, "--poll") as watcher:
        assert "as asked for" in watcher.said()
        watcher.append("memory/new/er.md")
        (root / "MEMORY.md").unlink()
        wait_in_step(root)
        assert watcher.beat()["how"] == "polling"


def test_a_busy_index_is_waited_for(root: Path) -> None:
    """While another process holds the index, the watcher says so and gets there in the end."""
    from agent_memfas.index.rebuild import hold_index

    with watching(root) as watcher:
        with hold_index(str(root / ".memfas/index.db"), 5.0):
            watcher.append("MEMORY.md")
            watcher.wait_said("another process is writing the index")
            wait_until(lambda: watcher.beat().get("behind") == 1, "one file behind")
        wait_in_step(root)
        watcher.wait_said("in step again")
        wait_until(lambda: not watcher.beat()["problem"], "no problem any more")


def test_a_damaged_index_is_built_anew(root: Path) -> None:
    """Rubbish over the index file is no end: it is made again at the next look."""
    with watching(root) as watcher:
        data = (root / ".memfas/index.db").read_bytes()
        (root / ".memfas/index.db").write_bytes(data[:4096] + os.urandom(len(data) - 4096))
        watcher.append("MEMORY.md")
        wait_in_step(root)
        assert watcher.process.poll() is None
