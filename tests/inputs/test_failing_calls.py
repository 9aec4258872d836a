"""The disk is full, the disk is broken, somebody saves in between, the power switch is near.

The calls to the system are made to fail inside this process; tests/faults does the same for real,
from outside. What holds after any of them: each line stands in MEMORY.md or in the archive, none
is torn or doubled once the janitor has run again, and a failure has a status and a sentence.
"""

from __future__ import annotations

import builtins
import errno
import os
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from agent_memfas.tasks import janitor as cleaning

from .memory import CONTROL, HEAD, Memory

LIVING = b"- [P0] the heron host\n- [P1][2026-02-20] alive\n"
OLD = b"- [P1][2020-01-01] parent\n  - child\n"
BEFORE = HEAD + CONTROL + LIVING + OLD + b"\nThe end.\n"
AFTER = HEAD + LIVING + b"\nThe end.\n"
CHANGING = ["write", "pwrite", "ftruncate", "fsync", "rename", "replace", "mkdir", "unlink"]


def where(descriptor_or_path: Any) -> str:
    """The path of a call's first argument."""
    if isinstance(descriptor_or_path, int):
        return os.readlink(f"/proc/self/fd/{descriptor_or_path}")
    return os.fsdecode(descriptor_or_path)


def whole(memory: Memory) -> None:
    """All is done, and nothing is lost, doubled or torn."""
    assert memory.read() == AFTER
    assert Counter(memory.archive_entries.splitlines()) == Counter((CONTROL + OLD).splitlines())


class Broken:
    """Calls of os that fail with an error where a condition on their first argument holds."""

    def __init__(self, patch: pytest.MonkeyPatch, names: list[str], number: int, part: str) -> None:
        self.left = -1  # how often it fails yet; -1: always
        self.failed = 0
        for name in names:
            patch.setattr(os, name, self._failing(getattr(os, name), number, part))

    def _failing(self, call: Callable[..., Any], number: int, part: str) -> Callable[..., Any]:
        def failing(first: Any, *rest: Any, **options: Any) -> Any:
            if self.left and part in where(first):
                self.left -= 1
                self.failed += 1
                raise OSError(number, os.strerror(number))
            return call(first, *rest, **options)

        return failing


ERRORS = [errno.ENOSPC, errno.EDQUOT, errno.EIO]


@pytest.mark.parametrize("number", ERRORS, ids=errno.errorcode.get)
@pytest.mark.parametrize("part", ["/archive/", "/MEMORY.md", "/.memfas/", "/.memfas/history"])
def test_a_disk_that_takes_nothing_costs_nothing(memory: Memory, number: int, part: str) -> None:
    """Full, over quota or broken while archive, memory or state is written: status 1 and a
    sentence, or done with one; the next run finishes it."""
    memory.write("MEMORY.md", BEFORE)
    with pytest.MonkeyPatch.context() as patch:
        broken = Broken(patch, ["write", "pwrite"], number, part)
        result = memory.janitor()
    assert broken.failed
    assert result.status == 1 or (result.status == 0 and memory.read() == AFTER)
    assert os.strerror(number) in result.everything
    if result.status == 1 and part != "/MEMORY.md":
        assert memory.read() == BEFORE
    assert memory.janitor().status == 0
    whole(memory)


@pytest.mark.parametrize("name", CHANGING)
@pytest.mark.parametrize("number", [errno.EIO, errno.EACCES], ids=errno.errorcode.get)
def test_a_call_that_fails_once_costs_nothing(memory: Memory, name: str, number: int) -> None:
    """The first, the second, ... of the calls that change the disk fails, each in a run of its
    own: never a line lost or doubled, never an unknown status."""
    for skip in range(12):
        memory.write("MEMORY.md", BEFORE)
        for path in memory.root.glob("archive/*"):
            path.unlink()
        with pytest.MonkeyPatch.context() as patch:
            count = fail_at(patch, name, skip, number)
            result = memory.janitor()
        assert result.status in (0, 1)
        assert "a fault of memfas itself" not in result.everything
        assert memory.janitor("--force").status == 0
        whole(memory)
        if count[0] <= skip:
            return


def fail_at(patch: pytest.MonkeyPatch, name: str, skip: int, number: int) -> list[int]:
    """Let the call pass so many times, fail once, and pass again; the count of calls grows."""
    call, count = getattr(os, name), [0]

    def failing(*arguments: Any, **options: Any) -> Any:
        count[0] += 1
        if count[0] == skip + 1:
            raise OSError(number, os.strerror(number))
        return call(*arguments, **options)

    patch.setattr(os, name, failing)
    return count


def test_no_moment_is_bad_for_being_killed(memory: Memory) -> None:
    """The process dies at each single call that changes the disk: then MEMORY.md is the old text
    or the new one, and one more run makes all of it right."""
    memory.write("MEMORY.md", BEFORE)
    died, number = True, 0
    while died:
        for path in [memory.root / ".memfas/redo", *memory.root.glob("archive/*")]:
            path.unlink(missing_ok=True)
        memory.write("MEMORY.md", BEFORE)
        died = dies_at(number, lambda: memory.janitor("--force"))
        assert memory.read().rstrip(b"\n") in (BEFORE.rstrip(b"\n"), AFTER.rstrip(b"\n"))
        assert memory.janitor("--force").status == 0
        whole(memory)
        number += 1
    assert number > 15


def dies_at(number: int, action: Callable[[], Any]) -> bool:
    """Do it in a child that dies instead of making its call with this number; whether it did."""
    child = os.fork()
    if child == 0:
        count = [0]
        for name in CHANGING:
            setattr(os, name, dying(getattr(os, name), number, count))
        action()
        os._exit(0)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 9


def dying(call: Callable[..., Any], number: int, count: list[int]) -> Callable[..., Any]:
    def instead(*arguments: Any, **options: Any) -> Any:
        if count[0] == number:
            os._exit(9)
        count[0] += 1
        return call(*arguments, **options)

    return instead


@pytest.mark.parametrize("times", [1, -1])
def test_an_error_of_reading_wipes_nothing(memory: Memory, times: int) -> None:
    """The disk cannot read MEMORY.md, once or for ever: what cannot be read is not empty."""
    memory.write("MEMORY.md", BEFORE)
    with pytest.MonkeyPatch.context() as patch:
        broken = Broken(patch, ["read", "pread"], errno.EIO, "/MEMORY.md")
        broken.left = times
        result = memory.janitor()
        added = memory.run("add", "-p", "P0", "new") if times < 0 else None
    assert broken.failed
    if times < 0 or result.status:
        assert result.status == 1
        assert memory.read().removesuffix(b"- [P0] new\n") == BEFORE
        assert memory.archived == b""
    else:
        whole(memory)
    assert added is None or (added.status == 0) == memory.read().endswith(b"- [P0] new\n")


@pytest.mark.parametrize("number", [errno.EMFILE, errno.ENFILE, errno.ENAMETOOLONG])
@pytest.mark.parametrize("part", ["/MEMORY.md", "/archive", "/.memfas/"])
def test_a_file_that_cannot_be_opened_costs_nothing(memory: Memory, number: int, part: str) -> None:
    """Too many open files, too long a name: one sentence, status 1, and the next run does it."""
    memory.write("MEMORY.md", BEFORE)
    with pytest.MonkeyPatch.context() as patch:
        Broken(patch, ["open"], number, part)
        result = memory.janitor()
    assert result.status == 1
    assert os.strerror(number) in result.everything
    assert memory.read() == BEFORE
    assert memory.janitor().status == 0
    whole(memory)


def test_recall_keeps_no_file_open(memory: Memory) -> None:
    """Two hundred logs and room for a few dozen open files: all are read."""
    for number in range(200):
        memory.write(f"memory/n{number}.md", b"- [P0] the heron host number %d\n" % number)
    done = memory.process("recall", "--json", "heron", preexec_fn=few_files)
    assert done.returncode == 0, done.stderr
    assert b'"files_indexed": 200' in done.stdout


def few_files() -> None:
    import resource

    resource.setrlimit(resource.RLIMIT_NOFILE, (40, 40))


CHANGES: dict[str, Callable[[Path], None]] = {
    "append": lambda path: append(path, b"- [P0] written meanwhile\n"),
    "rename-saver": lambda path: save(path, path.read_bytes() + b"- [P0] written meanwhile\n"),
    "in-place-saver": lambda path: edit(path, b"- [P0] written meanwhile\n"),
    "other-text": lambda path: save(path, HEAD + CONTROL + b"- [P0] written meanwhile\n"),
}


def append(path: Path, data: bytes) -> None:
    with path.open("ab") as file:
        file.write(data)


def save(path: Path, data: bytes) -> None:
    beside = path.with_name("4913")
    beside.write_bytes(data)
    beside.replace(path)


def edit(path: Path, data: bytes) -> None:
    path.write_bytes(data + path.read_bytes())


@pytest.mark.parametrize("name", CHANGES)
@pytest.mark.parametrize("held", [False, True])
def test_what_is_saved_between_reading_and_writing_lives(
    memory: Memory, monkeypatch: pytest.MonkeyPatch, name: str, held: bool
) -> None:
    """I write to MEMORY.md just when the janitor has worked out its change from the old text: my
    line is there afterwards, and so is everything else."""
    path = memory.write("MEMORY.md", BEFORE)
    monkeypatch.setattr(cleaning, "plan", then(cleaning.plan, lambda: CHANGES[name](path), 2))
    with path.open("rb") if held else builtins.open(os.devnull, "rb"):
        result = memory.janitor()
    assert result.status in (0, 75)
    monkeypatch.undo()
    monkeypatch.setattr(os, "fsync", lambda descriptor: None)
    assert memory.janitor().status == 0
    text = memory.read()
    assert text.count(b"- [P0] written meanwhile\n") == 1
    if name == "other-text":
        assert text == HEAD + b"- [P0] written meanwhile\n"
    else:
        assert text.replace(b"- [P0] written meanwhile\n", b"") == AFTER
    assert Counter(memory.archive_entries.splitlines()) >= Counter(CONTROL.splitlines())


def then(call: Callable[..., Any], action: Callable[[], None], at: int) -> Callable[..., Any]:
    """The call, and after its call number `at` (from 1) something else happens once."""
    count = [0]

    def both(*arguments: Any, **options: Any) -> Any:
        result = call(*arguments, **options)
        count[0] += 1
        if count[0] == at:
            action()
        return result

    return both


@pytest.mark.parametrize("what", ["deleted", "emptied", "a folder"])
def test_a_file_that_goes_between_reading_and_writing_is_not_made_anew(
    memory: Memory, monkeypatch: pytest.MonkeyPatch, what: str
) -> None:
    """MEMORY.md is deleted, emptied, or a folder by the time it should be changed: it stays so,
    nothing is archived from memory, and it is said."""
    path = memory.write("MEMORY.md", BEFORE)

    def action() -> None:
        if what == "emptied":
            path.write_bytes(b"")
        else:
            path.unlink()
            _ = what == "a folder" and path.mkdir()

    monkeypatch.setattr(cleaning, "plan", then(cleaning.plan, action, 2))
    result = memory.janitor()
    assert result.status in ((0, 1) if what == "emptied" else (1,)), result
    assert path.is_dir() if what == "a folder" else path.exists() == (what == "emptied")
    assert path.is_dir() or not path.exists() or path.read_bytes() == b""
    assert memory.archive_entries == b""


@pytest.mark.parametrize("what", ["deleted", "a folder", "shorter", "a pipe"])
def test_recall_survives_what_changes_under_it(
    memory: Memory, monkeypatch: pytest.MonkeyPatch, what: str
) -> None:
    """A log goes, or becomes another thing, between being seen and being read: the others
    answer."""
    memory.write("memory/2026-02-01.md", b"- the heron host\n")
    path = memory.write("memory/2026-02-02.md", b"- the heron nest\n" * 100)
    real, done = os.open, []

    def late(name: Any, *rest: Any, **options: Any) -> int:
        if "2026-02-02" in os.fsdecode(name) and not done:
            done.append(name)
            if what == "shorter":
                path.write_bytes(b"- the heron nest\n")
            else:
                path.unlink()
                _ = what == "a folder" and path.mkdir()
                _ = what == "a pipe" and os.mkfifo(path)
        return real(name, *rest, **options)

    monkeypatch.setattr(os, "open", late)
    answer = memory.run("recall", "--json", "heron host")
    assert done
    assert answer.status == 0
    assert answer.data["hits"][0]["path"] == "memory/2026-02-01.md"
    assert (what == "shorter") == any("nest" in hit["text"] for hit in answer.data["hits"])
