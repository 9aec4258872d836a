"""One change to one memory file, so that no line of anybody is lost.

The order: redo record; lease; verify; archive, synced; one write over the same inode; cut to
length; synced; redo record away. Whoever opens the file meanwhile sleeps in open() for some
milliseconds and then finds the new text; whoever appended before is kept behind it. Where there
is no lease, `exchange` does it another way. Measured and argued in the README ("How writing is
safe").
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from agent_memfas.errors import FileFault, TryAgain
from agent_memfas.store import archive, exchange, limbo, locks, redo
from agent_memfas.store.exchange import put_away
from agent_memfas.store.files import fault, is_at, read, read_all
from agent_memfas.store.layout import Folder
from agent_memfas.store.redo import Changed, Redo

Rewriter = Callable[[bytes], Redo | None]


def apply(folder: Folder, record: Redo, lease_wait: float, *, lease_only: bool = False) -> Redo:
    """Carry out a change; the caller holds the folder's lock. Returns it as it was carried out:
    with the lines that others had appended meanwhile.

    lease_wait: seconds to wait for others to close the file before the way without a lease is
    taken (with lease_only: before TryAgain). Changed, ArchiveFault, TryAgain: nothing was done;
    FileFault: nothing was done, or the redo record stays and `recover` finishes the change.
    """
    redo.save(folder, record)
    try:
        return _carry_out(
            folder, record.path, lambda now: _expected(record, now), lease_wait, lease_only
        )
    except (Changed, archive.ArchiveFault, TryAgain):
        redo.drop(folder)
        raise


def recover(folder: Folder, lease_wait: float) -> str | None:
    """Finish what a killed run left behind. Returns a sentence about it, or None.

    Untouched and torn files are written to the end, finished ones are left, and where somebody
    has saved something else since, theirs stays.
    """
    record = redo.load(folder)
    if record is None:
        if (folder.state / "redo").exists():
            redo.drop(folder)
        return None
    try:
        current = read(folder.place(record.path)).data
    except FileFault as error:
        raise FileFault(
            f"an unfinished change of {record.path} waits: {error.message}",
            "put the file back where it was, or remove .memfas/redo to give the change up",
        ) from error
    state, _ = redo.classify(record, current)
    limbo.settle_temporary(folder, record, state)
    if state == "pending":
        try:
            _carry_out(folder, record.path, lambda now: _pending(record, now), lease_wait, False)
        except Changed:
            state = "foreign"
    if state == "foreign":
        # Others saved since; entries that left the file must stand in the archive all the same.
        put_away(folder, record)
    redo.drop(folder)
    done = "finished" if state != "foreign" else "gave up (the file was saved by others since)"
    return f"{done} the change of {record.path} that pass {record.pass_id} left unfinished"


def _expected(record: Redo, current: bytes) -> Redo | None:
    """The record with what was appended meanwhile, or None when the file is another by now.

    Bytes behind an unfinished last line belong to that line: then the plan must be made anew.
    """
    if not current.startswith(record.old):
        return None
    late = current[len(record.old) :]
    if late and not record.old.endswith(b"\n"):
        return None
    return record if not late else replace(record, late=late)


def _pending(record: Redo, current: bytes) -> Redo | None:
    """For recovery: the record against the file as the crash left it."""
    state, tail = redo.classify(record, current)
    if state != "pending":
        return None
    return record if not tail else replace(record, late=record.late + tail)


def _carry_out(
    folder: Folder, name: str, fit: Rewriter, lease_wait: float, lease_only: bool
) -> Redo:
    """By lease if it is to be had in time, else by exchange. append.lock comes before the lease:
    a cooperating writer holds it while it opens the file.
    """
    path = folder.place(name)
    deadline = time.monotonic() + lease_wait
    while True:
        with locks.exclusive(folder, "append.lock", wait=5.0):
            descriptor = _open(path)
            try:
                if locks.take_lease(descriptor):
                    return _in_place(folder, path, descriptor, fit)
            except locks.LeaseUnavailable:
                break
            finally:
                os.close(descriptor)
        if time.monotonic() >= deadline:
            break
        time.sleep(locks.STEP)
    if lease_only:
        raise TryAgain(f"{name}: somebody is in the middle of writing it", "run it again later")
    with locks.exclusive(folder, "append.lock", wait=5.0):
        return exchange.replace(folder, path, fit)


def _open(path: Path) -> int:
    try:
        return os.open(path, os.O_RDWR | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except FileNotFoundError as error:
        raise Changed from error
    except OSError as error:
        raise fault(path, error) from error


def _in_place(folder: Folder, path: Path, descriptor: int, fit: Rewriter) -> Redo:
    """Under the lease: verify, archive, write, cut, sync. Milliseconds."""
    began = locks.since_boot()
    current = read_all(descriptor)
    record = fit(current) if is_at(path, descriptor) else None
    if record is None:
        raise Changed
    if record.late:
        redo.save(folder, record)
    put_away(folder, record)
    if locks.since_boot() - began > locks.lease_seconds():
        if record.block:
            archive.retract(folder.root / record.archive, record.block)
        raise Changed
    try:
        overwrite(descriptor, current, record.after)
    except OSError as error:
        raise FileFault(
            f"{path}: {os.strerror(error.errno or 0)} while writing; nothing is lost",
            "mend the disk, then run the command again: it finishes this change first",
        ) from error
    put_away(folder, record)
    redo.drop(folder)
    return record


def overwrite(descriptor: int, current: bytes, after: bytes) -> None:
    """Replace a file's bytes in place by one write that keeps its length, then cut it.

    A shorter text is filled up with line ends, a longer one first gets the room as line ends: in
    between, a reader of the disk finds whole lines of before and after and blank ones, no more.
    """
    width = max(len(current), len(after))
    if width > len(current):
        _fill(descriptor, len(current), width)
    view, at = memoryview(after.ljust(width, b"\n")), 0
    while at < width:
        at += os.pwrite(descriptor, view[at:], at)
    os.fsync(descriptor)
    if width > len(after):
        os.ftruncate(descriptor, len(after))
        os.fsync(descriptor)


def _fill(descriptor: int, size: int, width: int) -> None:
    try:
        at = size
        while at < width:
            at += os.pwrite(descriptor, b"\n" * (width - at), at)
    except OSError:
        os.ftruncate(descriptor, size)
        raise
