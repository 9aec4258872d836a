"""Printing: results on stdout, messages on stderr, nothing in a text that a terminal would obey."""

from __future__ import annotations

import errno
import io
import os
import sys
from datetime import date

from agent_memfas.errors import MemfasError
from agent_memfas.text.record import Record

TYPE_CHECKING = False
if TYPE_CHECKING:
    import re
    from collections.abc import Callable
    from typing import Any

SCHEMA = 1
_UNSAFE_IN_JSON = "\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff"
_UNSAFE = "\x00-\x08\x0a-\x1f" + _UNSAFE_IN_JSON


class _Closed(io.StringIO):
    """Standard output that was closed before we started: the result has no place to go."""

    def flush(self) -> None:
        """Fail, if anything was to be printed."""
        if self.getvalue():
            raise OSError(errno.EBADF, os.strerror(errno.EBADF))


def prepare() -> None:
    """UTF-8 whatever the locale. A closed stdout becomes one that fails when it is flushed."""
    if sys.stdout is None:
        sys.stdout = _Closed()
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(encoding="utf-8", errors="backslashreplace")


def finish(status: int) -> int:
    """Push out everything printed. Returns the status, or 1 where it did not reach its place."""
    try:
        sys.stdout.flush()
    except BrokenPipeError:
        silence()
        return 0
    except OSError as error:
        silence()
        tell(f"standard output: {os.strerror(error.errno or 0)}")
        return status or 1
    return status


def silence() -> None:
    """Nobody reads any more: what is left in the buffer goes nowhere."""
    if isinstance(sys.stdout, _Closed):
        sys.stdout = io.StringIO()
    else:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def shown(text: str) -> str:
    """Text with control characters, escapes and direction marks made visible."""
    if text.isprintable():
        return text
    import re

    return re.sub(f"[{_UNSAFE}]", _visible, text)


def _visible(match: re.Match[str]) -> str:
    code = ord(match[0])
    return chr(0x2400 + code) if code < 0x20 else f"\\u{code:04x}"


def say(text: str = "") -> None:
    """One line of a result: a line end inside it, from a file's name say, is shown as one."""
    print(shown(text))


def text(value: str) -> None:
    """Lines of a result that have been made safe already."""
    print(value)


def count(number: int, noun: str) -> str:
    """`1 line`, `2 lines`."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def block(text: str) -> None:
    """Several lines of a result that are our own words."""
    for line in text.split("\n"):
        say(line)


def tell(text: str) -> None:
    """One message to the person, beside the result."""
    print(f"memfas: {shown(text)}", file=sys.stderr)


def data(value: Any) -> None:
    """A result for a program: one JSON object with its schema number."""
    import json
    import re

    fields = {"schema": SCHEMA, **(value if isinstance(value, dict) else _fields(value))}
    text = json.dumps(fields, ensure_ascii=False, default=_plain)
    print(re.sub(f"[{_UNSAFE_IN_JSON}]", lambda m: f"\\u{ord(m[0]):04x}", text))


def _fields(value: Any) -> dict[str, Any]:
    """A record or a dataclass as a dictionary."""
    if isinstance(value, Record):
        return vars(value)
    from dataclasses import asdict

    return asdict(value)


def _plain(value: Any) -> Any:
    if isinstance(value, date):
        return value.isoformat()
    return vars(value) if isinstance(value, Record) else str(value)


def progress(label: str) -> Callable[[int, int], None] | None:
    """Something that is told how many of how many are done: a bar on a terminal, else None."""
    if sys.stderr is None or not sys.stderr.isatty():
        return None
    from agent_memfas.cli.progress import Bar

    return Bar(label)


def error(problem: MemfasError, *, as_data: bool) -> None:
    """An error as a sentence and its remedy on stderr, or as an object on stdout."""
    if as_data:
        data({"error": problem.message, "remedy": problem.remedy})
        return
    tell(problem.message)
    if problem.remedy:
        print(f"  {shown(problem.remedy)}", file=sys.stderr)


FAULT_OF_OURS = 70


def confess(problem: Exception) -> int:
    """An exception that nobody foresaw: one line about it, and how to see more."""
    at = problem.__traceback__
    while at is not None and at.tb_next is not None:
        at = at.tb_next
    where = f"{os.path.basename(at.tb_frame.f_code.co_filename)}:{at.tb_lineno}" if at else "?"
    tell(f"a fault of memfas itself at {where}: {type(problem).__name__}: {problem}")
    print("  run it again with MEMFAS_TRACEBACK=1 and report what it prints", file=sys.stderr)
    return FAULT_OF_OURS
