"""Running a program to its end, or to the deadline: nothing of it goes on after that."""

from __future__ import annotations

import os
import selectors
import signal
import subprocess
from collections.abc import Sequence
from contextlib import suppress
from typing import IO, Any

from agent_memfas.remote.surroundings import for_programs
from agent_memfas.remote.waiting import Deadline
from agent_memfas.text.record import Record

PIECE = 1 << 16
LOOK = 0.05  # seconds between two looks whether it has ended and left its output to a child
LAST = 4096  # bytes of standard error that are kept, the last ones


class TooLate(Exception):
    """The deadline has come."""


class TooMuch(Exception):
    """It printed more than was agreed."""


class Ended(Record):
    """status: as subprocess has it, negative for a signal. last_words: the last line that it wrote
    to standard error, "" for none.
    """

    status: int
    output: bytes
    last_words: str


def run(arguments: Sequence[str], text: bytes, deadline: Deadline, most: int) -> Ended:
    """Run a program in a process group of its own with a text as its input. OSError where it cannot
    be started, TooLate, TooMuch (over `most` bytes of output).

    What it has started ends with it, so that nothing stays behind.
    """
    process = subprocess.Popen(
        arguments, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        bufsize=0, start_new_session=True, env=for_programs(),
    )  # fmt: skip
    output, errors = bytearray(), bytearray()
    try:
        _talk(process, text, deadline, most, output, errors)
    finally:
        with suppress(ProcessLookupError, PermissionError):  # it is not waited for yet: its own
            os.killpg(process.pid, signal.SIGKILL)
        status = process.wait()
        for stream in (process.stdin, process.stdout, process.stderr):
            if stream is not None:
                with suppress(OSError):
                    stream.close()
    lines = errors.decode("utf-8", "replace").strip().splitlines()
    return Ended(status, bytes(output), lines[-1] if lines else "")


def _talk(
    process: subprocess.Popen[bytes], text: bytes, deadline: Deadline, most: int,
    output: bytearray, errors: bytearray,
) -> None:  # fmt: skip
    """Write the text and gather what comes, until the program has ended and nothing more comes."""
    rest = memoryview(text)
    with selectors.DefaultSelector() as selector:
        for stream, into in ((process.stdout, output), (process.stderr, errors)):
            _watch(selector, stream, selectors.EVENT_READ, into)
        _watch(selector, process.stdin, selectors.EVENT_WRITE, None)
        while True:
            ended = _has_ended(process)
            ready = selector.select(min(LOOK, deadline.left))
            for key, _ in ready:
                if key.data is None:
                    rest = _write(selector, key.fileobj, rest)
                else:
                    _read(selector, key.fileobj, key.data)
            if len(output) > most:
                raise TooMuch
            del errors[:-LAST]
            if ended and not ready:
                return
            if not deadline.left:
                raise TooLate


def _watch(
    selector: selectors.BaseSelector, stream: IO[bytes] | None, event: int, into: bytearray | None
) -> None:
    assert stream is not None
    os.set_blocking(stream.fileno(), False)
    selector.register(stream, event, into)


def _read(selector: selectors.BaseSelector, stream: Any, into: bytearray) -> None:
    piece = stream.read(PIECE)
    if piece:
        into += piece
    elif piece is not None:
        selector.unregister(stream)


def _write(selector: selectors.BaseSelector, stream: Any, rest: memoryview) -> memoryview:
    """Write what the pipe takes; a program that does not want to read is no fault."""
    try:
        taken = stream.write(rest[:PIECE]) if rest else 0
    except OSError:
        rest, taken = rest[:0], 0
    rest = rest[taken or 0 :]
    if not rest:
        selector.unregister(stream)
        with suppress(OSError):
            stream.close()
    return rest


def _has_ended(process: subprocess.Popen[bytes]) -> bool:
    """Whether it is over; it stays as it is, so that its number is not another's."""
    flags = os.WEXITED | os.WNOHANG | os.WNOWAIT
    return os.waitid(os.P_PID, process.pid, flags) is not None
