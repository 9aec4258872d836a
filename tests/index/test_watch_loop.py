"""When a watcher looks, at what, and what it does when something is wrong: by a clock of our own."""

from __future__ import annotations

import errno
import threading
from collections.abc import Callable, Collection
from datetime import timezone
from pathlib import Path
from typing import Any

import pytest

from agent_memfas.errors import FileFault, MemfasError, TryAgain
from agent_memfas.index.upkeep import Step
from agent_memfas.store.events import MOST, Hints, Mailbox, Stopped
from agent_memfas.store.observing import NoEvents
from agent_memfas.tasks import watch
from agent_memfas.tasks.watch import Charge, Watcher

from .watchers import wait_until


class World:
    """A watcher whose clock, index, events and lock are ours. looks: (time, deep, only)."""

    def __init__(self, root: Path, *, poll: bool = False) -> None:
        self.home = root / ".memfas"
        self.home.mkdir(exist_ok=True)
        self.time = 0.0
        self.steps = 0
        self.looks: list[tuple[float, bool, Collection[str] | None]] = []
        self.told: list[str] = []
        self.beats: list[Any] = []
        self.files = 10
        self.took = 0.0
        self.error: Exception | None = None
        self.started = 0
        self.limit: Exception | None = None
        self.no_events: NoEvents | None = None
        self.covered: set[str] = set()
        self.alive = self.in_place = self.taken = True
        self.short = False
        self.merged = 0
        self.mailbox = Mailbox(self.clock)
        self.watcher = Watcher(
            Charge(
                str(root), lambda: self, self, lambda: int(self.time * 1e9), timezone.utc,  # type: ignore[arg-type, return-value]
                lambda text, _: self.told.append(text), poll=poll, observe=self.observe,
                monotonic=self.clock,
            ),
            self.mailbox,
        )  # fmt: skip

    def clock(self) -> float:
        return self.time

    def pass_time(self, seconds: float, *hints: tuple[float, str]) -> None:
        """Let time pass; at the given times from now files in the given folders change."""
        end = self.time + seconds
        waiting = sorted((self.time + at, folder) for at, folder in hints)
        while True:
            self.steps += 1
            assert self.steps < 20_000, "a busy loop"
            wake = self.time + self.watcher.step()
            if waiting and waiting[0][0] <= min(wake, end):
                at, folder = waiting.pop(0)
                self.time = max(self.time, at)
                self.mailbox.file(folder, f"{at}.md")
            elif wake > end:
                self.time = max(self.time, end)
                return
            else:
                self.time = wake

    def since(self, time: float) -> list[tuple[float, bool, Collection[str] | None]]:
        return [look for look in self.looks if look[0] > time]

    def bring(self, as_of: int, *, deep: bool, only: Collection[str] | None) -> Step:
        self.looks.append((round(self.time, 3), deep, only))
        if self.error:
            raise self.error
        self.time += self.took
        return Step(self.files, 0, ("", "memory"), ())

    def merge(self) -> None:
        self.merged += 1

    def is_in_place(self) -> bool:
        return self.in_place

    def observe(self, root: str, mailbox: Mailbox) -> Any:
        if self.no_events:
            raise self.no_events
        self.started += 1
        self.alive = True
        return self

    def cover(self, folders: Collection[str]) -> bool:
        if self.limit:
            raise self.limit
        before, self.covered = self.covered, set(folders)
        return not self.covered <= before

    def is_alive(self) -> bool:
        return self.alive

    def is_short(self) -> bool:
        return self.short

    def close(self) -> None:
        self.covered = set()

    def take(self) -> None:
        self.taken = True

    def leave(self) -> None:
        self.taken = False

    def is_taken(self) -> bool:
        return self.taken

    def say(self, beat: Any) -> None:
        self.beats.append(beat)


@pytest.fixture
def world(tmp_path: Path) -> World:
    """A watcher that has begun, some time ago."""
    found = World(tmp_path)
    found.pass_time(10)
    return found


def test_it_begins_with_every_file(tmp_path: Path) -> None:
    """First everything is compared, then all is watched, then it is looked once more: whatever
    happened before the watch began is found."""
    world = World(tmp_path)
    world.pass_time(30)
    assert [look[1:] for look in world.looks] == [(True, None), (False, None)]
    assert world.covered == {"", "memory"}
    assert len(world.told) == 1
    assert world.told[0].endswith("10 files in 2 folders, by file events")


def test_a_burst_is_one_look(world: World) -> None:
    """Ten saves within a second are read once, when there was quiet for 300 ms."""
    start = world.time
    world.pass_time(5, *((n / 10, "memory") for n in range(10)))
    assert world.since(start) == [(start + 1.2, False, None)]


def test_a_stream_is_read_now_and_then(world: World) -> None:
    """Where writing never pauses, it is read every two seconds all the same."""
    start = world.time
    world.pass_time(20, *((n / 10, "memory") for n in range(200)))
    assert 9 <= len(world.since(start)) <= 11


def test_an_idle_hour_costs_little(world: World) -> None:
    """With nothing to do there is a look a minute, a comparison every ten, and hardly a wake-up."""
    start, steps = world.time, world.steps
    world.pass_time(3600)
    looks = world.since(start)
    assert [deep for _, deep, _ in looks].count(True) in (5, 6)
    assert 55 <= len(looks) <= 65
    assert world.steps - steps < 900
    assert world.merged in (6, 7)


def test_looking_never_takes_much_of_the_time(tmp_path: Path) -> None:
    """Where a look takes a second, it is not looked every two without events, nor at each event."""
    world = World(tmp_path, poll=True)
    world.took = 1.0
    world.pass_time(600)
    assert len(world.looks) <= 32
    world = World(tmp_path)
    world.took = 1.0
    world.pass_time(600, *((n / 2, "memory") for n in range(1200)))
    assert len(world.looks) < 200


def test_in_a_large_store_only_what_changed_is_looked_at(world: World) -> None:
    """Among many thousands of files only the folders with changes are looked at, unless anything
    could have happened or a folder is gone."""
    world.files = watch.LARGE + 1
    (world.home.parent / "memory").mkdir()
    world.pass_time(60)
    start = world.time
    world.pass_time(1, (0.0, "memory"), (0.0, ""))
    assert [only for _, _, only in world.since(start)] == [{"memory", ""}]
    start = world.time
    world.pass_time(1, (0.0, "gone"))
    assert [only for _, _, only in world.since(start)] == [None]
    start = world.time
    world.mailbox.everywhere()
    world.pass_time(1, (0.0, "memory"))
    assert [only for _, _, only in world.since(start)] == [None]


def test_lost_events_mean_that_every_file_is_compared(world: World) -> None:
    """After an overflow everything is compared by its bytes at once; not all the time, though,
    where events are lost again and again."""
    world.took = 1.0
    start = world.time
    world.mailbox.everywhere(lost="the queue overflowed")
    world.pass_time(3)
    assert [deep for _, deep, _ in world.since(start)] == [True]
    assert "the queue overflowed: every file is compared" in world.told
    for _ in range(60):
        world.mailbox.everywhere(lost="the queue overflowed")
        world.pass_time(1)
    assert [deep for _, deep, _ in world.since(start)].count(True) <= 7


@pytest.mark.parametrize("error", [TryAgain("busy"), FileFault("bad"), OSError(errno.EIO, "x")])
def test_what_fails_is_tried_again(world: World, error: Exception) -> None:
    """A problem is told once, noted with how much is behind, and tried again, ever more rarely;
    when it is over that is told, and nothing that was hinted at is forgotten."""
    world.error, start = error, world.time
    world.pass_time(1800, (0.0, "memory"), (1.0, "memory"))
    tries = [look[0] for look in world.since(start)]
    assert 20 <= len(tries) <= 40
    assert tries[1] - tries[0] < 2
    assert 59 < tries[-1] - tries[-2] < 61
    assert len(world.told) == 2
    assert world.beats[-1].problem == world.told[-1]
    assert world.beats[-1].behind == 2
    world.error = None
    world.pass_time(61)
    assert world.told[2:] == ["in step again"]
    assert (world.beats[-1].problem, world.beats[-1].behind) == ("", 0)


def test_dead_events_are_begun_anew(world: World) -> None:
    """Where watchdog's thread has died, a new one is there within seconds, and all is compared."""
    start = world.time
    world.alive = False
    world.pass_time(6)
    assert world.started == 2
    assert world.covered == {"", "memory"}
    assert world.since(start)[0][1] is True


def test_at_a_limit_it_does_without_events_for_a_while(world: World) -> None:
    """Where no more folders can be watched it looks every two seconds, and asks for events again
    with the next comparison."""
    world.limit = OSError(errno.ENOSPC, "no space")
    world.covered.clear()
    world.mailbox.everywhere()
    world.pass_time(2)
    start = world.time
    world.pass_time(60)
    assert 28 <= len(world.since(start)) <= 32
    assert "max_user_watches" in world.told[-1]
    assert world.beats[-1].how == "polling"
    world.limit = None
    world.pass_time(600)
    assert world.beats[-1].how == "events"


def test_folders_that_are_not_watched_are_noticed(world: World) -> None:
    """Where the system has fewer watches than it was asked for and does not say so, events are not
    relied on; a folder that was just being removed is no reason."""
    world.short = True
    world.covered.clear()
    world.mailbox.everywhere()
    world.pass_time(0.5)
    world.short = False
    world.pass_time(5)
    assert world.beats[-1].how == "events"
    world.short = True
    world.covered.clear()
    world.mailbox.everywhere()
    world.pass_time(5)
    assert world.beats[-1].how == "polling"


def test_where_there_are_no_events_none_are_asked_for_again(tmp_path: Path) -> None:
    """On a network drive it looks every two seconds, and says why."""
    world = World(tmp_path)
    world.no_events = NoEvents("nfs does not tell", lasting=True)
    world.pass_time(1300)
    assert len(world.looks) > 600
    assert world.told[0].endswith("by looking again and again (nfs does not tell)")
    world.no_events = None
    world.pass_time(1300)
    assert world.started == 0


def test_a_root_that_seems_not_to_be_mounted_is_left_alone(world: World) -> None:
    """An empty folder on another device is no empty memory: nothing is read, and it is said."""
    world.home.rmdir()
    world.watcher._device = -1
    start = world.time
    world.pass_time(130)
    assert world.since(start) == []
    assert "mounted?" in world.told[-1]
    (world.home.parent / "MEMORY.md").write_text("- back\n")
    world.pass_time(70)
    assert world.since(start)[0][1] is True


def test_what_is_being_taken_apart_is_not_built_up_meanwhile(world: World) -> None:
    """While somebody deletes the whole folder, nothing is made in it until they have finished."""
    world.home.rmdir()
    world.taken = False
    start = world.time
    world.pass_time(19.6, *((n / 2, "memory") for n in range(40)))
    assert (world.since(start), world.taken) == ([], False)
    world.pass_time(10)
    assert len(world.since(start)) == 1
    assert world.taken


def test_a_deleted_lock_or_index_comes_back(world: World) -> None:
    """Within seconds the lock is taken again, and an index that is not there is made."""
    start = world.time
    world.taken = world.in_place = False
    world.pass_time(5.5)
    assert world.taken
    assert len(world.since(start)) >= 1


def test_another_watcher_ends_this_one(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where another process has taken the lock after it was deleted, this one gives way."""

    def take() -> None:
        raise TryAgain("another process is watching")

    monkeypatch.setattr(world, "take", take)
    world.taken = False
    with pytest.raises(MemfasError, match="another process"):
        world.pass_time(6)


def test_hints_are_gathered_until_they_are_taken() -> None:
    """Doubled hints count once, too many become "everywhere", and what is put back is there."""
    mailbox = Mailbox(lambda: 1.0)
    for _ in range(3):
        mailbox.file("memory", "a.md")
    mailbox.file("", "a.md")
    taken = mailbox.take()
    assert taken == Hints(frozenset({("memory", "a.md"), ("", "a.md")}))
    assert taken.folders() == {"memory", ""}
    assert mailbox.take() == Hints()
    assert mailbox.first is None
    mailbox.put_back(taken)
    assert mailbox.behind() == 2
    for n in range(MOST):
        mailbox.file("memory", f"{n}.md")
    assert mailbox.take().everywhere
    mailbox.check()
    mailbox.stop()
    with pytest.raises(Stopped):
        mailbox.check()


@pytest.mark.parametrize("call", [Mailbox.everywhere, Mailbox.stop])
def test_whoever_waits_is_woken(call: Callable[[Mailbox], None]) -> None:
    """A hint, or the end, wakes the watcher at once, however long it would have slept."""
    mailbox = Mailbox()
    sleeper = threading.Thread(target=mailbox.wait, args=(3600.0,), daemon=True)
    sleeper.start()
    call(mailbox)
    wait_until(lambda: not sleeper.is_alive(), "it is awake")
