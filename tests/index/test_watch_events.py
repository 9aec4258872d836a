"""What is taken for a hint, where events are not to be had, and who is the one that watches."""

from __future__ import annotations

import logging
import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from agent_memfas.errors import TryAgain
from agent_memfas.store import heartbeat, observing
from agent_memfas.store.events import Hints, Mailbox, is_watched_file, is_watched_folder
from agent_memfas.store.heartbeat import Heartbeat, Post
from agent_memfas.store.inotify import FolderWatch
from agent_memfas.store.listing import list_folder
from agent_memfas.store.mounts import silent_kind
from agent_memfas.store.observing import NoEvents, TreeWatch, observe

from .watchers import wait_until

NAMES = [
    "MEMORY.md", "a.MD", "b.txt", "c.jsonl", "d.markdown", "部署.md", "a b.md", "a (copy).md",
    "MEMORY.md~", "#MEMORY.md#", ".#MEMORY.md", ".MEMORY.md.swp", "4913", "x.swx", "sedAb12Cd",
    "x.md.tmp", ".goutputstream-XYZ", ".abstract", ".abstract.7-0123abcd.tmp", "picture.png", "md", "x.md.bak", ".memfasignore",
]  # fmt: skip


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A folder with one file, two folders that count and two that do not."""
    for name in ("memory", "lessons/deep", "node_modules/p", ".memfas"):
        (tmp_path / "agent" / name).mkdir(parents=True)
    (tmp_path / "agent/MEMORY.md").write_text("- a\n")
    return tmp_path / "agent"


def test_hints_and_sweeps_agree_on_names(tmp_path: Path) -> None:
    """No leftover of an editor is a hint, and everything that is searched is one."""
    for name in NAMES:
        (tmp_path / name).write_text("x\n")
    listed = list_folder(str(tmp_path), "")
    seen = {*listed.names, *(skipped.path for skipped in listed.skipped)}
    assert {name for name in NAMES if is_watched_file(name)} == seen
    assert [n for n in ("memory", ".git", "node_modules", "x.md") if is_watched_folder(n)] == [
        "memory", "x.md",
    ]  # fmt: skip


@pytest.fixture(params=[FolderWatch, TreeWatch])
def watched(root: Path, request: pytest.FixtureRequest) -> Iterator[tuple[Any, Mailbox, Path]]:
    """A root under the eyes of either way to watch."""
    mailbox = Mailbox()
    watch = request.param(str(root), mailbox)
    assert watch.cover(["", "memory", "lessons", "lessons/deep"])
    assert not watch.cover(["", "memory", "lessons", "lessons/deep"])
    yield watch, mailbox, root
    watch.close()
    assert not watch.is_alive()


def heard(mailbox: Mailbox, act: Callable[[], object], expected: Callable[[Hints], bool]) -> None:
    """Do something, and wait for the hints that there must be."""
    mailbox.take()
    act()
    found = [Hints()]

    def enough() -> bool:
        more = mailbox.take()
        found[0] = Hints(
            found[0].files | more.files, found[0].everywhere or more.everywhere,
            found[0].lost or more.lost,
        )  # fmt: skip
        return expected(found[0])

    wait_until(enough, f"{act}: only {found}")


def test_each_change_is_a_hint(watched: tuple[Any, Mailbox, Path]) -> None:
    """A file that is written, renamed or deleted is hinted at by name; what happens to a folder,
    or to the rules, hints at everything."""
    watch, mailbox, root = watched
    assert watch.is_alive()
    assert not watch.is_short()
    deep = root / "lessons/deep"
    file = ("lessons/deep", "a.md")
    heard(mailbox, lambda: (deep / "a.md").write_text("- a\n"), lambda h: file in h.files)
    heard(mailbox, lambda: (deep / "a.md").chmod(0o600), lambda h: file in h.files)
    heard(mailbox, lambda: (deep / "a.md").rename(deep / "b.md"), lambda h: file in h.files)
    heard(mailbox, (deep / "b.md").unlink, lambda h: ("lessons/deep", "b.md") in h.files)
    heard(mailbox, (root / "memory/new").mkdir, lambda h: h.everywhere)
    heard(mailbox, lambda: (root / "memory").rename(root / "moved"), lambda h: h.everywhere)
    heard(mailbox, (root / ".memfasignore").touch, lambda h: h.everywhere)
    heard(mailbox, lambda: (root / "memfas.yaml").write_text("\n"), lambda h: h.everywhere)
    heard(mailbox, lambda: shutil.rmtree(root / "lessons"), lambda h: h.everywhere)


def test_what_does_not_count_is_no_hint(watched: tuple[Any, Mailbox, Path]) -> None:
    """Our own index, other people's dependencies, and files that are only read."""
    _, mailbox, root = watched
    (root / ".memfas/index.db").write_text("x")
    (root / "node_modules/p/README.md").write_text("- not mine\n")
    (root / "MEMORY.md").read_text()
    list(root.iterdir())
    (root / "memory/last.md").write_text("- the end\n")
    found: set[tuple[str, str]] = set()

    def ended() -> bool:
        hints = mailbox.take()
        found.update((folder, name) for folder, name in hints.files if name)
        assert not hints.everywhere
        return ("memory", "last.md") in found

    wait_until(ended, "the last change")
    assert found == {("memory", "last.md")}


def test_the_end_of_the_index_is_a_hint(root: Path) -> None:
    """Somebody who deletes .memfas is noticed at once, though nothing in it is watched."""
    mailbox = Mailbox()
    watch = FolderWatch(str(root), mailbox)
    assert watch.cover([""])
    heard(mailbox, lambda: shutil.rmtree(root / ".memfas"), lambda h: h.everywhere)
    (root / ".memfas").mkdir()
    heard(mailbox, (root / "x.md").touch, lambda h: ("", "x.md") in h.files)
    watch.close()


def test_a_complaint_of_watchdog_is_heard(root: Path) -> None:
    """That events were lost it says in its log only, and no more after the end of the watch."""
    mailbox = Mailbox()
    watch = FolderWatch(str(root), mailbox)
    logger = logging.getLogger("watchdog.observers.inotify_c")
    logger.warning("Inotify queue overflowed; filesystem events were lost")
    assert "overflowed" in mailbox.take().lost
    watch.close()
    logger.debug("nothing")
    assert mailbox.take() == Hints()
    assert logging.getLogger("watchdog.observers").handlers == []


TABLE = r"""21 1 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw
22 21 0:5 / /proc rw - proc proc rw
30 21 0:44 / /mnt/share rw - nfs4 server:/x rw
31 21 0:45 / /home/me/my\040notes/drive rw shared:7 master:2 - fuse.sshfs me@host: rw
32 21 8:2 / /mnt/share/local rw - ext4 /dev/sdb1 rw
33 21 0:46 / /c rw - 9p drvfs rw
34 33 8:3 / /c rw - ext4 /dev/sdc rw
"""


@pytest.mark.parametrize(
    ("root", "kind"),
    [
        ("/home/me/agent", ""),
        ("/mnt/share/agent", "nfs4"),
        ("/mnt/share", "nfs4"),
        ("/mnt/sharephoto", ""),
        ("/mnt/share/local/agent", ""),
        ("/home/me/my notes", "fuse.sshfs"),
        ("/home/me/my notes/drive/x", "fuse.sshfs"),
        ("/c/agent", ""),
    ],
)
def test_drives_that_do_not_tell_are_known(tmp_path: Path, root: str, kind: str) -> None:
    """Network and host drives are recognised, around the folder and inside it; the mount on top
    counts."""
    (tmp_path / "mountinfo").write_text(TABLE)
    assert silent_kind(root, str(tmp_path / "mountinfo")) == kind
    assert silent_kind(root, str(tmp_path / "nowhere")) == ""


def test_why_there_are_no_events_is_said(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A network drive and an old watchdog are reasons for good; a limit may pass."""

    def refuse(error: Exception) -> Callable[..., Any]:
        def make(*_: object) -> Any:
            raise error

        return make

    for name in ("FolderWatch", "TreeWatch"):
        monkeypatch.setattr(observing, name, refuse(OSError(24, os.strerror(24))))
    with pytest.raises(NoEvents, match="max_user_instances") as limit:
        observe(str(root), Mailbox())
    assert not limit.value.lasting
    for name in ("FolderWatch", "TreeWatch"):
        monkeypatch.setattr(observing, name, refuse(ImportError("no such name")))
    with pytest.raises(NoEvents, match="watchdog 7") as old:
        observe(str(root), Mailbox())
    assert old.value.lasting
    monkeypatch.setattr(observing, "silent_kind", lambda _: "nfs4")
    with pytest.raises(NoEvents, match="nfs4") as drive:
        observe(str(root), Mailbox())
    assert drive.value.lasting


def test_one_lock_makes_one_watcher(root: Path) -> None:
    """The lock is one's own only while the file that everybody looks at is the one that is held."""
    home = root / ".memfas"
    first, second = Post(home), Post(home)
    first.take()
    first.say(Heartbeat(7, since="2026-02-24T10:00:00+00:00"))
    with pytest.raises(TryAgain, match=r"pid 7"):
        second.take()
    (home / heartbeat.LOCK).unlink()
    assert not first.is_taken()
    assert heartbeat.read([home]) is None
    second.take()
    assert heartbeat.read([home]) == Heartbeat(0)
    with pytest.raises(TryAgain):
        first.take()
    first.leave()
    assert second.is_taken()
    second.leave()
    assert list(home.iterdir()) == []


def test_a_post_is_made_where_its_folder_is_missing(tmp_path: Path) -> None:
    """.memfas is made again inside a memory folder, but no memory folder is made for its sake; a
    cache folder is made whole."""
    post = Post(tmp_path / "agent/.memfas")
    with pytest.raises(Exception, match="agent"):
        post.take()
    assert not (tmp_path / "agent").exists()
    cached = Post(tmp_path / "cache/memfas/agent-1")
    cached.take()
    assert cached.is_taken()
    cached.leave()


def test_a_heartbeat_that_cannot_be_read_is_still_one(root: Path) -> None:
    """Half a file, or one of another version, tells what it has; the lock tells that it is true."""
    home = root / ".memfas"
    post = Post(home)
    post.take()
    for text in ("", "{", "[]", '{"pid": "x", "files": 3, "more": 1}'):
        (home / heartbeat.FILE).write_text(text)
        beat = heartbeat.read([root / "nowhere", home])
        assert beat is not None
        assert beat.pid == 0
    assert beat.files == 3
    assert "last event never" in heartbeat.describe(beat)
    post.leave()
    assert heartbeat.describe(heartbeat.read([home])) == "nobody is watching"
