"""After any history one look makes the index what a fresh one would be, row for row."""

from __future__ import annotations

import fcntl
import os
import shutil
import signal
import sys
import tempfile
import time
import warnings
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, rule, run_state_machine_as_test

from .support import INDEX, closed, coarse, counted_time, fresh, keeper_of, unequal

SCRATCH = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
HOUR = 3_600_000_000_000
FOLDERS = ["", "memory", "lessons", "lessons/deep", "shared", ".hidden", "node_modules"]
NAMES = ["MEMORY.md", "TRIGGERS.md", "2026-02-24.md", "a.md", "b.txt", "c.jsonl", "部署.md",
         "a (copy).md", ".dot.md", "picture.png", "~"]  # fmt: skip
FILES = st.builds(os.path.join, st.sampled_from(FOLDERS), st.sampled_from(NAMES))
PIECES = ["- the heron host\n", "- the egret host\n", "- [P1][2026-02-20] staging: heron\n", "\n",
          "- [P0][superseded:2026-02-01] office: Berlin\n", "# Heading\n", "# 2026-02-03\n\n",
          "- [P0] the host <!-- trigger: heron, standup -->\n", "- alice -> prefers async\n", "de\xe9\n",
          "服务器部署在上海\n", '{"date": "2026-01-05", "text": "heron \\ud800"}\n', "a\0b\n", "---\n",
          "word " * 90 + "\n", "```\nheron\n", "\r\n", "💾 node.js v1.2.3\n"]  # fmt: skip
TEXTS = st.lists(st.sampled_from(PIECES), max_size=4).map("".join)
IGNORED = ["", "a.md\n", "memory/\n", "*.md\n!MEMORY.md\n", "lessons/*\n!lessons/deep/\n", "b.*\n"]
SOURCES = [(), ("memory",), ("*.md", "lessons/**/*.md"), ("./MEMORY.md", "shared/")]


class Machine(RuleBasedStateMachine):
    """Two processes with an index, and everything that people, tools and disks do to the files."""

    tick = 0  # ns, of file times

    def __init__(self) -> None:
        super().__init__()
        self.base = Path(tempfile.mkdtemp(prefix="memfas-machine-", dir=SCRATCH))
        self.root = self.base / "agent"
        self.root.mkdir()
        self.sources: tuple[str, ...] = ()
        self.keepers = [keeper_of(self.root), keeper_of(self.root)]
        self.saved: list[tuple[str, bytes, tuple[int, int]]] = []

    def teardown(self) -> None:
        try:
            self.ask(0)
        finally:
            for keeper in self.keepers:
                keeper.close()
            shutil.rmtree(self.base)

    @initialize(texts=st.lists(st.tuples(FILES, TEXTS), max_size=6))
    def begin(self, texts: list[tuple[str, str]]) -> None:
        for path, text in texts:
            self.write(path, text)

    def place(self, path: str) -> Path | None:
        """Where to write; None where a folder or a link is in the way."""
        place = self.root / path
        try:
            place.parent.mkdir(parents=True, exist_ok=True)
        except OSError:
            return None
        return None if place.is_symlink() or place.is_dir() else place

    @rule(path=FILES, text=TEXTS)
    def write(self, path: str, text: str) -> None:
        """In place, as an editor that truncates."""
        if place := self.place(path):
            place.write_bytes(text.encode("latin-1" if text.isascii() else "utf-8"))

    @rule(path=FILES, text=TEXTS)
    def append(self, path: str, text: str) -> None:
        if place := self.place(path):
            with place.open("ab") as file:
                file.write(text.encode("latin-1", "replace"))

    @rule(path=FILES, piece=st.sampled_from(PIECES), at=st.integers(0, 4), instead=st.booleans())
    def edit_a_line(self, path: str, piece: str, at: int, instead: bool) -> None:
        """A line more somewhere, or another one in its place."""
        place = self.root / path
        if place.is_file():
            lines = place.read_bytes().splitlines(keepends=True)
            lines[at : at + instead] = [piece.encode("utf-8", "replace")]
            place.write_bytes(b"".join(lines))

    @rule(path=FILES, put_back=st.booleans())
    def change_one_byte(self, path: str, put_back: bool) -> None:
        """The same size, and if wanted the same mtime."""
        place = self.root / path
        if place.is_file() and (data := place.read_bytes()):
            info = place.stat()
            at = len(data) // 2
            place.write_bytes(data[:at] + b"%c" % (97 + data[at] % 26) + data[at + 1 :])
            if put_back:
                os.utime(place, ns=(info.st_atime_ns, info.st_mtime_ns))

    @rule(path=FILES, text=TEXTS)
    def save_by_rename(self, path: str, text: str) -> None:
        if place := self.place(path):
            beside = place.with_name(".4913.tmp")
            beside.write_text(text, "utf-8")
            beside.replace(place)

    @rule(path=FILES, to=FILES)
    def move(self, path: str, to: str) -> None:
        if (self.root / path).is_file() and (place := self.place(to)):
            (self.root / path).rename(place)

    @rule(folder=st.sampled_from(FOLDERS[1:]), to=st.sampled_from([*FOLDERS[1:], "../out"]))
    def move_folder(self, folder: str, to: str) -> None:
        source, target = self.root / folder, self.root / to
        if source.is_dir() and not target.exists() and source not in target.parents:
            target.parent.mkdir(parents=True, exist_ok=True)
            source.rename(target)

    @rule(folder=st.sampled_from(FOLDERS[1:]))
    def bring_folder_back(self, folder: str) -> None:
        """What was moved out comes in again, with the times that it had."""
        target = self.root / folder
        if (self.base / "out").is_dir() and not target.exists():
            target.parent.mkdir(parents=True, exist_ok=True)
            (self.base / "out").rename(target)

    @rule(path=FILES)
    def delete(self, path: str) -> None:
        if (place := self.root / path).is_file() or place.is_symlink():
            place.unlink()

    @rule(folder=st.sampled_from(FOLDERS[1:]))
    def delete_folder(self, folder: str) -> None:
        shutil.rmtree(self.root / folder, ignore_errors=True)

    @rule(path=FILES)
    def keep_for_later(self, path: str) -> None:
        if (place := self.root / path).is_file():
            info = place.stat()
            self.saved.append((path, place.read_bytes(), (info.st_atime_ns, info.st_mtime_ns)))

    @rule(n=st.integers(0, 3))
    def restore(self, n: int) -> None:
        """A backup comes back with its old times."""
        if self.saved:
            path, data, times = self.saved[n % len(self.saved)]
            if place := self.place(path):
                place.write_bytes(data)
                os.utime(place, ns=times)

    @rule(path=FILES, mode=st.sampled_from([0o600, 0o644, 0o700]))
    def chmod(self, path: str, mode: int) -> None:
        if (self.root / path).is_file():
            (self.root / path).chmod(mode)

    @rule(path=FILES, to=FILES, hard=st.booleans())
    def link(self, path: str, to: str, hard: bool) -> None:
        place = self.place(path)
        if place is None or (hard and not (self.root / to).is_file()):
            return
        place.unlink(missing_ok=True)
        if hard and (self.root / to).is_file():
            os.link(self.root / to, place, follow_symlinks=False)
        elif not hard:
            place.symlink_to(os.path.relpath(self.root / to, place.parent))

    @rule(path=FILES, to=st.sampled_from(["/etc/hostname", "..", ".memfas", "loop.md"]))
    def link_elsewhere(self, path: str, to: str) -> None:
        if place := self.place(path):
            place.unlink(missing_ok=True)
            place.symlink_to(to)

    @rule(text=st.sampled_from(IGNORED))
    def ignore(self, text: str) -> None:
        (self.root / ".memfasignore").write_text(text)

    @rule(sources=st.sampled_from(SOURCES))
    def configure(self, sources: tuple[str, ...]) -> None:
        self.sources = sources
        for n in (0, 1):
            self.begin_anew(n)

    @rule(n=st.integers(0, 1))
    def begin_anew(self, n: int) -> None:
        """One of the two processes ends, another one starts."""
        self.keepers[n].close()
        self.keepers[n] = keeper_of(self.root, self.sources)

    @rule(whole=st.booleans())
    def delete_index(self, whole: bool) -> None:
        if whole:
            shutil.rmtree(self.root / ".memfas", ignore_errors=True)
        else:
            (self.root / INDEX).unlink(missing_ok=True)

    @rule()
    def copy_index(self) -> None:
        if (self.root / INDEX).is_file():
            shutil.copyfile(self.root / INDEX, self.base / "older.db")

    @rule()
    def put_older_index_back(self) -> None:
        if (self.base / "older.db").is_file() and (self.root / ".memfas").is_dir():
            shutil.copyfile(self.base / "older.db", self.root / ".memfas/index.db.new")
            (self.root / ".memfas/index.db.new").replace(self.root / INDEX)

    @rule(n=st.integers(0, 1), looks=st.integers(0, 12))
    def ask_in_a_hurry(self, n: int, looks: int) -> None:
        """Time runs out at some point of the sweep or of the reading."""
        with counted_time():
            self.keepers[n].source(time.time_ns(), float(looks))

    @rule(n=st.integers(0, 1), folders=st.sets(st.sampled_from(FOLDERS), max_size=3))
    def look_only_at(self, n: int, folders: set[str]) -> None:
        self.keepers[n].source(time.time_ns(), None, only=folders)

    @rule(n=st.integers(0, 1), folder=st.sampled_from(FOLDERS[1:5]))
    def ask_while_a_folder_is_closed(self, n: int, folder: str) -> None:
        with closed(self.root, folder):
            self.keepers[n].source(time.time_ns())

    @rule(n=st.integers(0, 1))
    def ask_before_the_clock_was_put_right(self, n: int) -> None:
        """The wall clock is an hour behind the times of the files."""
        self.keepers[n].source(time.time_ns() - HOUR)

    @rule(calls=st.integers(0, 4000), hurry=st.booleans())
    def die_while_asking(self, calls: int, hurry: bool) -> None:
        """A process is killed at some call that it makes."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)  # a fork beside threads
            child = os.fork()
        if child == 0:
            try:
                sys.setprofile(dying_after(calls))
                keeper_of(self.root, self.sources).source(time.time_ns(), 0.0 if hurry else None)
            finally:
                os._exit(0)
        os.waitpid(child, 0)

    @rule(n=st.integers(0, 1))
    def ask_while_another_writes(self, n: int) -> None:
        """The lock is held: the answer comes of a copy in memory, and is right."""
        if not (self.root / INDEX).is_file():
            return
        with (self.root / f"{INDEX}.lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            self.check(n)

    @rule(n=st.integers(0, 1), deep=st.booleans())
    def ask(self, n: int, deep: bool = False) -> None:
        self.check(n, deep=deep)

    def check(self, n: int, *, deep: bool = False) -> None:
        """One look, then equal to a fresh index; and what it says of itself is true."""
        source = self.keepers[n].source(time.time_ns(), None, deep=deep)
        assert unequal(source, self.root, self.sources) == []
        state = source.freshness
        assert (state.fresh, state.behind) == (True, 0)
        assert state.indexed == source.database.count("files") <= state.seen
        files = fresh(self.root, self.sources).files
        noted = {path for path, (_, _, note) in files.items() if note}
        assert noted <= {skipped.path for skipped in state.skipped}


def dying_after(calls: int):  # type: ignore[no-untyped-def]
    """A profile function that kills the process at its call of that number."""
    left = [calls]

    def profile(frame: object, event: str, argument: object) -> None:
        left[0] -= 1
        if left[0] < 0:
            os.kill(os.getpid(), signal.SIGKILL)

    return profile


@pytest.mark.parametrize("tick", [0, 10_000_000, 1_000_000_000], ids=["fine", "10 ms", "1 s"])
def test_after_any_history_one_look_is_enough(tick: int) -> None:
    """Whatever was done to files, index, clock and processes: the next ordinary look makes the
    index equal to a fresh one in every row, also where file times are coarse."""
    if tick:
        with coarse(tick):
            explore(25)
    else:
        explore(50)


def explore(examples: int) -> None:
    run_state_machine_as_test(
        Machine,
        settings=settings(
            max_examples=int(os.environ.get("MEMFAS_EXAMPLES", examples)), stateful_step_count=30, deadline=None, database=None, report_multiple_bugs=False,
            suppress_health_check=list(HealthCheck),
        ),
    )  # fmt: skip
