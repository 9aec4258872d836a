"""A watcher keeps the abstracts up, too: where there are any, and never because of itself."""

from __future__ import annotations

from datetime import datetime, timezone
from pathlib import Path
from typing import Any

import pytest

from agent_memfas.cli.abstracting import Refresh
from agent_memfas.errors import FileFault
from agent_memfas.store.chores import Chore
from agent_memfas.store.events import Mailbox, Stopped
from agent_memfas.store.layout import Folder
from agent_memfas.store.locks import exclusive
from agent_memfas.tasks import abstracts
from agent_memfas.tasks.watch import Charge, Watcher

from .test_watch_loop import World
from .watchers import run, wait_until, watching


class Refreshed(World):
    """A world in which it is counted when the abstracts are refreshed."""

    def __init__(self, root: Path, *, poll: bool = False) -> None:
        super().__init__(root, poll=poll)
        self.at: list[float] = []
        self.busy, self.lasts = 0, 0.0
        self.watcher = Watcher(
            Charge(
                str(root), lambda: self, self, lambda: int(self.time * 1e9), timezone.utc,  # type: ignore[arg-type, return-value]
                lambda text, _: self.told.append(text), poll=poll, observe=self.observe,
                monotonic=self.clock, follow=self.refresh,
            ),
            self.mailbox,
        )  # fmt: skip

    def refresh(self) -> bool:
        self.at.append(self.time)
        self.time += self.lasts
        self.busy -= 1
        return self.busy < 0


@pytest.fixture
def world(tmp_path: Path) -> Refreshed:
    """A watcher that has begun, some time ago."""
    found = Refreshed(tmp_path)
    found.pass_time(10)
    assert len(found.at) == 1
    found.at.clear()
    return found


def test_a_burst_is_one_refresh(world: Refreshed) -> None:
    """Many saves in a row are one refresh, some seconds after the last of them."""
    world.pass_time(20, *((n / 4, "memory") for n in range(40)))
    assert len(world.at) == 1
    assert world.time - 10 <= world.at[0] <= world.time - 5


def test_in_a_stream_there_is_one_now_and_then(world: Refreshed) -> None:
    """Where writing never pauses, it is done every half minute all the same."""
    world.pass_time(120, *((n / 2, "memory") for n in range(240)))
    assert 3 <= len(world.at) <= 5


@pytest.mark.parametrize("poll", [False, True])
def test_when_nothing_changes_hardly_any(tmp_path: Path, poll: bool) -> None:
    """In an idle hour only as often as all files are compared."""
    world = Refreshed(tmp_path, poll=poll)
    world.pass_time(10)
    world.at.clear()
    world.pass_time(3600)
    assert len(world.at) <= 6


def test_files_that_are_gone_are_noticed_without_events(tmp_path: Path) -> None:
    """Looking again and again, a file less is a change."""
    world = Refreshed(tmp_path, poll=True)
    world.pass_time(10)
    world.at.clear()
    world.files = 9
    world.pass_time(30)
    assert len(world.at) == 1


def test_it_never_takes_much_of_the_time(world: Refreshed) -> None:
    """Where a refresh takes two seconds, the next one is not begun before forty have passed."""
    world.lasts = 2.0
    world.pass_time(400, *((n / 2, "memory") for n in range(800)))
    assert len(world.at) <= 400 / 42 + 1


def test_it_is_tried_again_while_another_process_writes(world: Refreshed) -> None:
    """The janitor is at it just now: a little later it is done."""
    world.busy = 2
    world.pass_time(30, (0.0, "memory"))
    assert len(world.at) == 3


def test_nothing_to_do_is_never_due() -> None:
    """It wakes nobody."""
    assert Chore(lambda: True, lambda: 0.0).due() == float("inf")


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A small memory folder with abstracts."""
    folder = tmp_path / "agent"
    (folder / "memory").mkdir(parents=True)
    (folder / "MEMORY.md").write_text("- [P0] The staging host is called heron\n")
    (folder / "memory/2026-02-24.md").write_text("# Tuesday\n\n- moved staging\n")
    return folder


def test_what_is_saved_reaches_the_abstracts(root: Path) -> None:
    """I add, rename and delete files, while a janitor runs as well; some seconds later every
    abstract fits, and nothing has been said."""
    abstracts.run(Folder(root), [], datetime.now(timezone.utc))
    with watching(root) as watcher:
        watcher.append("memory/2026-02-25.md", "# The wombat\n\n- of the heron\n")
        (root / "memory/2026-02-24.md").rename(root / "memory/2026-02-26.md")
        assert run("janitor", "--root", str(root)).returncode == 0
        watcher.append("memory/deep/new.md", "# The wallaby\n")
        wait_until((root / "memory/deep/.abstract").exists, "the new folder's")
        wait_until(lambda: abstracts.stale(Folder(root)) == [], "all fit")
        assert "wombat" in (root / "memory/.abstract").read_text()
        (root / "memory/2026-02-26.md").unlink()
        wait_until(lambda: abstracts.stale(Folder(root)) == [], "all fit")
        assert watcher.said().count("\n") == 1


@pytest.mark.parametrize("case", ["none", "theirs", "switched off", "wrong settings"])
def test_where_nobody_wants_them_none_are_written(
    root: Path, case: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """Who has not asked for abstracts, has their own, or has switched it off, gets none; what else
    is wrong with memfas.yaml does not matter to it."""
    if case in ("switched off", "wrong settings"):
        abstracts.run(Folder(root), [], datetime.now(timezone.utc))
        text = "abstracts: {auto: false}\n" if case == "switched off" else "nonsense: 1\n"
        (root / "memfas.yaml").write_text(text)
    if case == "theirs":
        (root / ".abstract").write_text("mine\n")
    before = {p: p.read_bytes() for p in root.rglob(".abstract")}
    (root / "memory/new.md").write_text("# Fresh\n")
    assert Refresh(str(root), None, lambda: None)()
    after = {p: p.read_bytes() for p in root.rglob(".abstract")}
    assert (after == before) is (case != "wrong settings")
    assert capsys.readouterr().err == ""


def test_what_goes_wrong_is_told_once(
    root: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The disk is full: I hear of it, and again only after it was well in between."""
    abstracts.run(Folder(root), [], datetime.now(timezone.utc))
    refresh = Refresh(str(root), None, lambda: None)
    real = abstracts.write_whole

    def refuse(path: Path, *_: Any) -> None:
        raise FileFault(f"{path}: No space left on device; nothing changed")

    said = []
    for n, write in enumerate((refuse, refuse, real, refuse)):
        monkeypatch.setattr(abstracts, "write_whole", write)
        (root / "memory/new.md").write_text(f"# Fresh {n}\n")
        assert refresh()
        said.append(capsys.readouterr().err)
    line = "memory/.abstract: No space left on device; nothing changed"
    assert [line in each for each in said] == [True, False, False, True]


def test_it_waits_for_nobody(root: Path) -> None:
    """While another process writes abstracts the watcher goes on, and comes back to it."""
    abstracts.run(Folder(root), [], datetime.now(timezone.utc))
    (root / "memory/new.md").write_text("# Fresh\n")
    refresh = Refresh(str(root), None, lambda: None)
    with exclusive(Folder(root), "abstracts.lock"):
        assert not refresh()
    assert refresh()
    assert abstracts.stale(Folder(root)) == []


def test_the_end_ends_it(root: Path) -> None:
    """While thousands of files are being read for it, the watcher can be stopped."""
    abstracts.run(Folder(root), [], datetime.now(timezone.utc))
    (root / "memory/new.md").write_text("# Fresh\n")
    mailbox = Mailbox()
    mailbox.stop()
    with pytest.raises(Stopped):
        Refresh(str(root), None, mailbox.check)()
