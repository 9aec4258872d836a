"""A pass: one run of a command that changes memory files, from lock to log.

`hold` takes the folder's lock and finishes what a killed run left; `edit` changes one file by a
pure function from its document to a draft, as often as it takes until nobody saves in between.
"""

from __future__ import annotations

import os
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Generic, TypeVar

from agent_memfas.errors import Conflict, FileFault, SafetyStop, TryAgain
from agent_memfas.store import archive, history, limbo, redo, rewrite
from agent_memfas.store.archive import Moved
from agent_memfas.store.durable import sweep
from agent_memfas.store.files import Image, read
from agent_memfas.store.layout import Folder
from agent_memfas.store.locks import STEP, exclusive
from agent_memfas.store.redo import Changed, Redo
from agent_memfas.text.documents import BOM, Document, parse, split

T = TypeVar("T")


@dataclass(frozen=True)
class Pass:
    """Who changes files, when and how patiently.

    now: aware, in the user's time zone; its date is the run's day. quiet: seconds for which a
    file must not have been written; patience: how long to wait for that; lease_wait: how long to
    wait until others close it; lock_wait: how long for another run to end. wall: the clock when
    the pass was made, in seconds since 1970; None: unknown, so that a file counts as quiet only
    once it was seen so. notices: sentences for the person, gathered on the way.
    """

    command: str
    now: datetime
    quiet: float = 0.3
    patience: float = 3.0
    lease_wait: float = 2.0
    lock_wait: float = 3.0
    wall: float | None = None
    id: str = field(default="")
    notices: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        if not self.id:
            stamp = self.now.strftime("%Y%m%dT%H%M%S")
            object.__setattr__(self, "id", f"{stamp}-{os.urandom(3).hex()}")
        object.__setattr__(self, "_began", time.monotonic())

    def clock(self) -> float | None:
        """The time now, in seconds since 1970, if it is known at all."""
        began: float = getattr(self, "_began", 0.0)
        return None if self.wall is None else self.wall + time.monotonic() - began


@dataclass(frozen=True)
class Draft(Generic[T]):
    """A planned change: the file's new bytes, the entries that leave it, and what to tell."""

    new: bytes
    detail: T
    moved: tuple[Moved, ...] = ()


@contextmanager
def hold(folder: Folder, run: Pass) -> Iterator[None]:
    """The folder's lock for a whole pass; first what an earlier run left is put in order."""
    with exclusive(folder, "lock", run.lock_wait):
        sweep(*(folder.state / part for part in ("", "limbo", "history", "history/objects")))
        left = redo.load(folder)
        if sentence := rewrite.recover(folder, run.lease_wait):
            run.notices.append(sentence)
        if left is not None and sentence and sentence.startswith("finished"):
            _log(folder, run, left)
        run.notices.extend(limbo.drain(folder, run.clock()))
        yield


def edit(
    folder: Folder, name: str, plan: Callable[[Document], Draft[T] | None], run: Pass
) -> Draft[T] | None:
    """Change one file; the caller is inside `hold`. Returns the draft carried out, or None.

    plan: sees the file as it is, gives a draft or None (nothing to do); it may be called again
    when somebody saves meanwhile. FileFault, Conflict, TryAgain: the file is untouched.
    """
    path = folder.place(name)
    deadline = time.monotonic() + max(run.patience, 1.0) + run.lease_wait
    while True:
        image, quiet = steady(path, run)
        document = editable(name, image)
        draft = plan(document)
        if draft is None or (draft.new == image.data and not draft.moved):
            return draft
        record = _record(folder, name, image, draft, run)
        for data in (image.data, draft.new):
            history.keep(folder, data)
        try:
            done = rewrite.apply(folder, record, run.lease_wait, lease_only=not quiet)
        except Changed:
            if time.monotonic() > deadline:
                raise TryAgain(
                    f"{name}: it is being saved again and again", "run it again later"
                ) from None
            continue
        _log(folder, run, done)
        return draft


def _record(folder: Folder, name: str, image: Image, draft: Draft[T], run: Pass) -> Redo:
    real = folder.relative(folder.place(name))
    block, target = b"", ""
    if draft.moved:
        _conserved(name, image.data, draft)
        target = archive.file_name(run.now.date())
        folder.place(target)  # never through a link out of the folder
        block_id = archive.block_id(run.id, real)
        block = archive.block(block_id, run.now.date(), list(draft.moved))
    return Redo(run.id, real, image.data, draft.new, b"", target, block)


def _conserved(name: str, old: bytes, draft: Draft[T]) -> None:
    """Every line that was in the file is in the new text or among the moved ones; a byte order
    mark belongs to the file, not to its first line."""
    mark = BOM if old.startswith(BOM) else b""
    after = Counter(split(draft.new.removeprefix(mark)))
    after.update(line for moved in draft.moved for line in moved.lines)
    if Counter(split(old.removeprefix(mark))) != after:
        raise SafetyStop(f"{name}: the plan would lose or double a line; nothing was changed")


def _log(folder: Folder, run: Pass, record: Redo) -> None:
    names = history.digest(record.before), history.digest(record.after)
    version = history.Version(
        record.pass_id, run.now.isoformat(timespec="seconds"), run.command, record.path, *names,
        record.archive,
    )  # fmt: skip
    try:
        history.record(folder, version, record.before, record.after)
    except FileFault as error:
        run.notices.append(f"the change is made, but cannot be undone: {error.message}")


def editable(name: str, image: Image) -> Document:
    """A document that a program may change: UTF-8, no git conflict in it."""
    document = parse(image.data)
    if not document.decodable:
        raise FileFault(f"{name}: not UTF-8; it is left alone", "save it as UTF-8")
    marker = document.conflict_marker()
    if marker is not None:
        raise Conflict(
            f"{name}:{marker + 1}: an unresolved git conflict; it is left alone",
            "resolve the conflict, then run it again",
        )
    return document


def steady(path: Path, run: Pass) -> tuple[Image, bool]:
    """The file once it has not been written for `quiet` seconds and ends with a whole line.

    Waits at most `patience` seconds; the flag tells whether it became quiet. A file that is
    missing or empty may be one in the middle of being saved: it gets half a second.
    """
    began = seen_since = time.monotonic()
    seen: tuple[int, ...] = ()
    while True:
        image = read_patiently(path, began)
        info, clock = image.info, time.monotonic()
        identity = (info.st_ino, info.st_size, info.st_mtime_ns)
        if identity != seen:
            seen, seen_since = identity, clock
        age = max(clock - seen_since, (run.clock() or info.st_mtime) - info.st_mtime)
        if age >= (run.quiet if image.data[-1:] in (b"\n", b"") else run.patience):
            return image, True
        if clock - began >= run.patience:
            return image, False
        time.sleep(min(STEP, run.quiet or STEP))


def read_patiently(path: Path, began: float | None = None) -> Image:
    """A file's bytes; one that is missing or empty gets half a second (from began) to be saved."""
    began = time.monotonic() if began is None else began
    while True:
        late = time.monotonic() - began >= 0.5
        try:
            image = read(path)
        except FileFault:
            if late or path.is_dir():
                raise
        else:
            if image.data or late:
                return image
        time.sleep(2 * STEP)
