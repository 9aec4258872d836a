"""A folder of cold storage: `DAY-SESSION.md`, in which a block is a chunk, and the reference's
`SESSION/CHUNK.jsonl`, which is only read.

It may lie in a memory folder or anywhere else; nothing is made beside it. Blocks are added in one
write that is synced before `add` returns, so that a context may then become smaller.
"""

from __future__ import annotations

import fcntl
import json
import os
import re
import stat
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from datetime import date, datetime
from hashlib import blake2b
from pathlib import Path
from typing import Any

from agent_memfas.errors import FileFault, TryAgain
from agent_memfas.store.durable import sync_folder, write_all, write_whole
from agent_memfas.store.files import fault, is_at, read
from agent_memfas.text.cold import (
    ARCHIVED,
    ColdBlock,
    Damage,
    find_block,
    header,
    is_empty,
    is_expired,
    parse,
    render,
)
from agent_memfas.text.record import Record

WAIT = 5.0  # seconds for another process that writes the same file
LARGEST = 256 * 1024 * 1024  # bytes of a file that are read
_PAUSE = 0.01
_FLAGS = os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_PLAIN = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
_ODD = re.compile(r"[^A-Za-z0-9._-]+")
_INDEX, _MESSAGES = "index.jsonl", "messages.jsonl"


Signature = tuple[int, int, int]  # of a file: inode, bytes, time of its last change in ns


class _Known(Record):
    """A file as it was read."""

    signature: Signature
    blocks: tuple[ColdBlock, ...]
    damages: tuple[Damage, ...]


class ColdFolder:
    """The cold storage at a path, which need not be there yet."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._known: dict[str, _Known] = {}
        self._counts: dict[str, tuple[Signature, int]] = {}
        self._left: dict[str, tuple[int, Signature | None]] = {}  # see `mark`
        self._bytes: dict[str, tuple[Signature, bytes]] = {}  # until the next `add`

    def add(self, blocks: Sequence[ColdBlock], session: str, day: date) -> Path:
        """Add blocks to the file of a session and day, all or none, and sync them. FileFault where
        that is not possible, TryAgain where others write to it all the time.
        """
        path = self.path / f"{day.isoformat()}-{_name(session)}.md"
        try:
            os.makedirs(self.path, 0o700, exist_ok=True)
        except OSError as error:
            raise fault(self.path, error) from error
        data = b"".join(map(render, blocks))
        self._bytes.clear()
        before = self._signature(path)
        deadline = time.monotonic() + WAIT
        while not (written := _append(path, data, header(session, day.isoformat()))):
            if time.monotonic() > deadline:
                raise TryAgain(f"{path}: others write to it all the time", "run it again")
            time.sleep(_PAUSE)
        self._count_more(path, before, written, len(blocks))
        self._leave(path, before, written)
        return path

    def mark(self, path: Path) -> tuple[str, int]:
        """What `is_as_left` wants to know of the blocks that were just added to a file."""
        return path.name, self._left.get(path.name, (0, None))[0]

    def is_as_left(self, mark: tuple[str, int]) -> bool:
        """Whether nobody but this object has changed a file since then, so that nothing of it need
        be read to know that its blocks are there.
        """
        name, times = mark
        changed, signature = self._left.get(name, (-1, None))
        return changed == times and signature == self._signature(self.path / name) is not None

    def _leave(self, path: Path, before: Signature | None, written: int) -> None:
        """Remember a file as an `add` leaves it, and how often others had changed it before."""
        times, left = self._left.get(path.name, (0, before))
        after, size = self._signature(path), before[1] if before else 0
        same_file = after is not None and (before is None or after[0] == before[0])
        ours = same_file and after is not None and after[1] == size + written
        self._left[path.name] = (times + (left != before), after if ours else None)

    def blocks(self) -> list[ColdBlock]:
        """All blocks, file by file, expired ones too; their paths are relative to the folder.

        Files that cannot be read are passed over; `damages` names them.
        """
        return [block for known in self._read_all() for block in known.blocks]

    def damages(self) -> list[str]:
        """What could not be read: `PATH:LINE: why`."""
        self._read_all()
        return [
            f"{name}:{damage.line}: {damage.why}"
            for name, known in sorted(self._known.items()) for damage in known.damages
        ]  # fmt: skip

    def find(self, chunk_id: str) -> ColdBlock | None:
        """The block with that id; the one that was written last, where there are several. Blocks
        that were not asked for are not read, so that many may be looked for in a long storage.
        """
        for name, path in reversed(self._files()):
            if (signature := self._signature(path)) is None:
                continue
            if name.endswith(".md"):
                block = find_block(self._data(name, path, signature), chunk_id, name)
            else:
                there = self._one(name, path, signature).blocks
                block = next((one for one in reversed(there) if one.chunk_id == chunk_id), None)
            if block is not None:
                return block
        return None

    def count(self) -> int:
        """How many blocks there are. Files that did not change are not read again."""
        total = 0
        for name, path in self._files():
            signature = self._signature(path)
            counted = self._counts.get(name)
            if signature is None:
                continue
            if counted is None or counted[0] != signature:
                counted = (signature, len(self._one(name, path, signature).blocks))
                self._counts[name] = counted
            total += counted[1]
        return total

    def live(self, now: datetime) -> list[ColdBlock]:
        """The blocks whose time is not over. now: aware, in the user's time zone."""
        return [b for b in self.blocks() if b.pinned or not is_expired(b.until, now)]

    def remove_reference_expired(self, now: datetime) -> int:
        """Delete the reference's files of chunks whose time is over. Returns how many."""
        gone = 0
        for name, path in self._files():
            if not name.endswith(".jsonl") or path.name == _MESSAGES:
                continue
            signature = self._signature(path)
            blocks = self._one(name, path, signature).blocks if signature else ()
            if blocks and all(is_expired(block.until, now) for block in blocks):
                with suppress(OSError):
                    path.unlink()
                    gone += len(blocks)
        return gone

    def _read_all(self) -> Iterator[_Known]:
        there = {}
        for name, path in self._files():
            if (signature := self._signature(path)) is not None:
                there[name] = self._one(name, path, signature)
        self._known = there
        return iter(list(there.values()))

    def _data(self, name: str, path: Path, signature: Signature) -> bytes:
        """A file's bytes, b"" where it cannot be read."""
        if (known := self._bytes.get(name)) is not None and known[0] == signature:
            return known[1]
        try:
            data = read(path, LARGEST).data
        except FileFault:
            data = b""
        self._bytes[name] = (signature, data)
        return data

    def _one(self, name: str, path: Path, signature: Signature) -> _Known:
        known = self._known.get(name)
        if known is None or known.signature != signature:
            known = _Known(signature, *_read(name, path))
            self._known[name] = known
        return known

    def _count_more(self, path: Path, before: Signature | None, written: int, more: int) -> None:
        """Remember how many blocks a file has after an `add`, if nobody else wrote to it."""
        known = self._counts.get(path.name) if before else (None, 0)
        after, size = self._signature(path), before[1] if before else 0
        if known and known[0] == before and after is not None and after[1] == size + written:
            self._counts[path.name] = (after, known[1] + more)

    def _files(self) -> list[tuple[str, Path]]:
        """(name relative to the folder, path) of all files of cold storage, in order."""
        found = list[tuple[str, Path]]()
        for entry in _scan(self.path):
            if entry.name.endswith(".md") and entry.is_file(follow_symlinks=False):
                found.append((entry.name, self.path / entry.name))
            elif entry.is_dir(follow_symlinks=False) and not entry.name.startswith("."):
                found += [
                    (f"{entry.name}/{inner.name}", self.path / entry.name / inner.name)
                    for inner in _scan(self.path / entry.name)
                    if inner.name.endswith(".jsonl") and inner.name != _INDEX
                    and inner.is_file(follow_symlinks=False)
                ]  # fmt: skip
        return sorted(found)

    @staticmethod
    def _signature(path: Path) -> Signature | None:
        try:
            info = os.stat(path, follow_symlinks=False)
        except OSError:
            return None
        return (info.st_ino, info.st_size, info.st_mtime_ns) if stat.S_ISREG(info.st_mode) else None


def exchange(path: Path, data: bytes, mode: int) -> None:
    """Put other bytes in the place of a file of cold storage, or nothing where no more than its
    header is left. The caller holds the file. FileFault.
    """
    if not is_empty(data):
        write_whole(path, data, mode)
        return
    try:
        path.unlink()
    except OSError as error:
        raise fault(path, error) from error


def remove_emptied(path: Path, now: datetime) -> None:
    """Remove a file of which all blocks have gone on an earlier day: until then it can be undone.

    Nothing happens where it was written today, or cannot be removed. now: aware.
    """
    with suppress(OSError):
        written = datetime.fromtimestamp(os.stat(path, follow_symlinks=False).st_mtime, now.tzinfo)
        if written.date() < now.date():
            path.unlink()


def new_id(number: int, now: datetime) -> str:
    """An id that no other chunk has. number: of the chunk in its context."""
    return f"chunk_{number}_{int(now.timestamp())}_{os.urandom(4).hex()}"


def _name(session: str) -> str:
    """A session's name as part of a file's name, another one for each session."""
    if _PLAIN.fullmatch(session):
        return session
    salt = blake2b(session.encode("utf-8", "surrogatepass"), digest_size=4).hexdigest()
    return f"{_ODD.sub('-', session).strip('-.')[:40] or 'session'}-{salt}"


def _scan(path: Path) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(path) as entries:
            return list(entries)
    except OSError:
        return []


def _append(path: Path, data: bytes, head: bytes) -> int:
    """Append in one write, whole or not at all, synced. Returns the bytes that were written; 0:
    another process has the file, or has just put another in its place.
    """
    made = not os.path.lexists(path)
    try:
        descriptor = os.open(path, _FLAGS, 0o600)
    except OSError as error:
        raise fault(path, error) from error
    try:
        info = os.fstat(descriptor)
        if not stat.S_ISREG(info.st_mode):
            raise FileFault(f"{path}: not a regular file")
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return 0
        if not is_at(path, descriptor):
            return 0
        written = _write(descriptor, data, head)
        if made:
            sync_folder(path.parent)
        return written if is_at(path, descriptor) else 0
    except OSError as error:
        raise fault(path, error) from error
    finally:
        os.close(descriptor)


def _write(descriptor: int, data: bytes, head: bytes) -> int:
    """Write at the end; what a full disk leaves of it is taken back. OSError."""
    size = os.fstat(descriptor).st_size
    torn = size and os.pread(descriptor, 1, size - 1) != b"\n"
    start = b"\n" if torn else b"" if size else head
    try:
        write_all(descriptor, start + data)
        os.fsync(descriptor)
    except OSError:
        with suppress(OSError):
            os.ftruncate(descriptor, size)
        raise
    return len(start) + len(data)


def _read(name: str, path: Path) -> tuple[tuple[ColdBlock, ...], tuple[Damage, ...]]:
    try:
        data = read(path, LARGEST).data
    except FileFault as error:
        return (), (Damage(1, error.message),)
    if name.endswith(".md"):
        blocks, damages = parse(data, name)
        return tuple(blocks), tuple(damages)
    found, wrong = list[ColdBlock](), list[Damage]()
    for number, line in enumerate(data.split(b"\n"), 1):
        if not line.strip():
            continue
        try:
            found.append(_of_reference(json.loads(line), name, number))
        except (ValueError, TypeError, LookupError, RecursionError) as error:
            wrong.append(Damage(number, f"not a chunk of agent-memfas: {error}"))
    return tuple(found), tuple(wrong)


def _of_reference(fields: dict[str, Any], name: str, number: int) -> ColdBlock:
    """A line of the reference's cold storage: a chunk, or a message of a session that ended."""
    session, _, file = name.partition("/")
    if file == _MESSAGES:
        content = fields["content"]
        text = content if isinstance(content, str) else json.dumps(content, ensure_ascii=False)
        raw = "" if isinstance(content, str) and fields.keys() == {"role", "content"} else (
            json.dumps(fields, ensure_ascii=False)
        )  # fmt: skip
        return ColdBlock(
            f"{session}/{_MESSAGES}:{number}", session, str(fields.get("role", "")), text, raw,
            at=str(fields.get("timestamp", "")), reason=ARCHIVED, path=name, start_line=number,
            end_line=number,
        )  # fmt: skip
    return ColdBlock(
        str(fields["chunk_id"]), str(fields.get("session_id", session)), "",
        str(fields["content"]), "", float(fields.get("relevance_score", 0.0)),
        str(fields.get("prompt_at_drop", "")), str(fields.get("timestamp", "")),
        str(fields.get("recoverable_until", "")), int(fields.get("tokens", 0)),
        path=name, start_line=number, end_line=number,
    )  # fmt: skip
