"""Changing a file in place and by exchange: what stays, what waits, what is carried over."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
import threading
import time
from datetime import datetime, timezone
from pathlib import Path

import pytest

from agent_memfas.errors import FileFault, TryAgain
from agent_memfas.store import exchange, locks
from agent_memfas.store.layout import Folder, open_folder
from agent_memfas.store.passes import Draft, Pass, edit, hold
from agent_memfas.tasks import undo
from agent_memfas.text.documents import Document

NOW = datetime(2026, 11, 30, 4, 0, tzinfo=timezone.utc)


@pytest.fixture
def folder(tmp_path: Path) -> Folder:
    (tmp_path / "MEMORY.md").write_bytes(b"one\ntwo\nthree\n")
    return open_folder(tmp_path)


def quick(**changes: float) -> Pass:
    """A pass that does not wait for quiet, as after a minute of peace."""
    hurry = {"quiet": 0.0, "patience": 0.2, "lease_wait": 0.3, "lock_wait": 0.1}
    return Pass("test", NOW, **{**hurry, **changes})


def drop(*unwanted: bytes):
    """A plan that leaves out whole lines."""

    def plan(document: Document) -> Draft[None]:
        return Draft(b"".join(line for line in document.lines if line not in unwanted), None)

    return plan


def drop_while_others_append(memory: Path):
    """A plan that leaves out `two`, and before whose writing somebody appends a line."""

    def plan(document: Document) -> Draft[None]:
        if b"late\n" not in document.lines:
            with memory.open("ab") as file:
                file.write(b"late\n")
        return drop(b"two\n")(document)

    return plan


def change(folder: Folder, *unwanted: bytes, **patience: float) -> None:
    run = quick(**patience)
    with hold(folder, run):
        edit(folder, "MEMORY.md", drop(*unwanted), run)


def test_the_same_inode_is_rewritten(folder: Folder) -> None:
    """Links, `tail -f`, permissions and attributes survive, because the file stays the file."""
    memory = folder.root / "MEMORY.md"
    memory.chmod(0o640)
    os.link(memory, folder.root / "other-name.md")
    inode = memory.stat().st_ino
    change(folder, b"two\n")
    assert memory.read_bytes() == b"one\nthree\n"
    assert (folder.root / "other-name.md").read_bytes() == b"one\nthree\n"
    assert (memory.stat().st_ino, memory.stat().st_mode & 0o777) == (inode, 0o640)


def test_a_symbolic_link_stays_a_link(folder: Folder) -> None:
    """A MEMORY.md that is a link inside the folder: its target changes, the link stays."""
    real = folder.root / "notes"
    real.mkdir()
    (folder.root / "MEMORY.md").rename(real / "real.md")
    (folder.root / "MEMORY.md").symlink_to("notes/real.md")
    change(folder, b"one\n")
    assert (folder.root / "MEMORY.md").is_symlink()
    assert (real / "real.md").read_bytes() == b"two\nthree\n"


def test_whoever_opens_the_file_meanwhile_waits_for_the_new_text(folder: Folder) -> None:
    """While the lease is held an append sleeps in open() and then lands behind the new text."""
    memory = folder.root / "MEMORY.md"
    descriptor = os.open(memory, os.O_RDWR)
    try:
        assert locks.take_lease(descriptor)
        script = f"open({str(memory)!r}, 'a').write('appended\\n')"
        with subprocess.Popen([sys.executable, "-c", script]) as writer:
            time.sleep(0.3)
            assert writer.poll() is None
            os.pwrite(descriptor, b"new!\n", 0)
            os.ftruncate(descriptor, 5)
            os.close(descriptor)
            descriptor = -1
            assert writer.wait(10) == 0
        assert memory.read_bytes() == b"new!\nappended\n"
    finally:
        if descriptor >= 0:
            os.close(descriptor)


@pytest.mark.parametrize("swap", ["exchange", "link"])
def test_a_file_held_open_is_exchanged_and_late_lines_are_carried_over(
    folder: Folder, monkeypatch: pytest.MonkeyPatch, swap: str
) -> None:
    """A logger that keeps the file open for days loses nothing: what it appends to the old inode
    is carried over by this and every later run, with or without renameat2.
    """
    if swap == "link":
        monkeypatch.setattr(exchange, "_exchange", lambda one, other: False)
    memory = folder.root / "MEMORY.md"
    memory.chmod(0o644)
    with memory.open("ab", buffering=0) as held:
        change(folder, b"two\n")
        assert memory.read_bytes() == b"one\nthree\n"
        assert memory.stat().st_mode & 0o777 == 0o644
        held.write(b"late one\nlate t")
        change(folder)
        assert memory.read_bytes() == b"one\nthree\nlate one\n"
        held.write(b"wo\n")
        change(folder)
        assert memory.read_bytes() == b"one\nthree\nlate one\nlate two\n"
        change(folder)
    assert memory.read_bytes() == b"one\nthree\nlate one\nlate two\n"
    change(folder)
    assert list((folder.root / ".memfas/limbo").iterdir()) == []


def test_a_hard_linked_file_held_open_is_refused(folder: Folder) -> None:
    """Exchanging it would leave the other name with the old text, so it is left alone."""
    memory = folder.root / "MEMORY.md"
    os.link(memory, folder.root / "other-name.md")
    with memory.open("rb"), pytest.raises(FileFault, match="2 names"):
        change(folder, b"two\n")
    assert memory.read_bytes() == b"one\ntwo\nthree\n"
    change(folder, b"two\n")
    assert memory.read_bytes() == b"one\nthree\n"


def test_an_append_between_reading_and_writing_is_kept(folder: Folder) -> None:
    """Lines that arrive after the plan was made stay behind its text."""
    memory = folder.root / "MEMORY.md"

    run = quick()
    with hold(folder, run):
        edit(folder, "MEMORY.md", drop_while_others_append(memory), run)
    assert memory.read_bytes() == b"one\nthree\nlate\n"


@pytest.mark.parametrize("held", [False, True])
def test_undo_keeps_what_was_appended_during_the_pass(folder: Folder, held: bool) -> None:
    """A line that came while the pass was at work is not part of it: undoing it leaves the line."""
    memory = folder.root / "MEMORY.md"

    run = quick()
    with memory.open("rb") if held else contextlib.nullcontext(), hold(folder, run):
        edit(folder, "MEMORY.md", drop_while_others_append(memory), run)
    assert memory.read_bytes() == b"one\nthree\nlate\n"
    undo.run(folder, "", quick())
    assert memory.read_bytes() == b"one\ntwo\nthree\nlate\n"


def test_a_save_between_reading_and_writing_makes_a_new_plan(folder: Folder) -> None:
    """Somebody saved another text meanwhile: the change is made to theirs, not to the old one."""
    memory, seen = folder.root / "MEMORY.md", list[bytes]()

    def plan(document: Document) -> Draft[None]:
        seen.append(document.data)
        if len(seen) == 1:
            (folder.root / "new").write_bytes(b"theirs\ntwo\n")
            os.replace(folder.root / "new", memory)
        return Draft(b"".join(line for line in document.lines if line != b"two\n"), None)

    run = quick()
    with hold(folder, run):
        edit(folder, "MEMORY.md", plan, run)
    assert memory.read_bytes() == b"theirs\n"
    assert len(seen) == 2


def test_bytes_behind_an_unfinished_line_make_a_new_plan(folder: Folder) -> None:
    """A line that was half written when it was read is moved or kept as a whole, never torn."""
    memory, seen = folder.root / "MEMORY.md", list[bytes]()
    memory.write_bytes(b"one\ntwo\nthr")

    def plan(document: Document) -> Draft[None]:
        seen.append(document.data)
        if len(seen) == 1:
            with memory.open("ab") as file:
                file.write(b"ee and a half\n")
        return Draft(b"".join(line for line in document.lines if line != b"thr"), None)

    run = quick()
    with hold(folder, run):
        edit(folder, "MEMORY.md", plan, run)
    assert memory.read_bytes() == b"one\ntwo\nthree and a half\n"


def test_two_runs_at_once_do_not_both_write(folder: Folder) -> None:
    """The second run is told to try again, and nothing was changed by it."""
    with hold(folder, quick()), pytest.raises(TryAgain), hold(folder, quick()):
        pytest.fail("two runs held the folder")


def test_a_file_being_written_is_waited_for(folder: Folder) -> None:
    """A run waits until nobody has written for the quiet time, and no longer than it may."""
    memory = folder.root / "MEMORY.md"
    stop = threading.Event()

    def write() -> None:
        while not stop.is_set():
            with memory.open("ab") as file:
                file.write(b"more\n")
            time.sleep(0.02)

    writer = threading.Thread(target=write)
    writer.start()
    try:
        change(folder, b"two\n", quiet=5.0, patience=0.5)
    finally:
        stop.set()
        writer.join()
    text = memory.read_bytes()
    assert text.startswith(b"one\nthree\nmore\n")
    assert b"two" not in text


def test_the_state_folder_is_private(folder: Folder) -> None:
    """What memfas keeps for itself is for the user alone: folders 0700, files 0600."""
    change(folder, b"two\n")
    for path in (folder.root / ".memfas").rglob("*"):
        assert path.stat().st_mode & 0o777 == (0o700 if path.is_dir() else 0o600)
