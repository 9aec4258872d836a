"""A table of ours in a TOML settings file, between two marks: put in, and taken out again; pure.

Nothing else in the file is touched, and no file leaves here that could be read before and cannot
any more (Python 3.10 has no TOML: what would be doubtful there is refused).
"""

from __future__ import annotations

import json
import re
import sys
from typing import Any

from agent_memfas.errors import Conflict

if sys.version_info >= (3, 11):
    import tomllib

TABLE = "mcp_servers"
_HEADER = re.compile(r"\s*\[")
_UNSURE = re.compile(
    r"^\s*\[?\s*[\"']?mcp_servers[\"']?\s*(?:=|\]|\.\s*[\"']?memfas\b)", re.MULTILINE
)


def table(name: str, begin: str, finish: str, command: str, args: list[str]) -> str:
    """The lines of a server, between their marks."""
    shown = [json.dumps(value, ensure_ascii=False) for value in (command, args)]
    return "\n".join([
        begin, f"[{TABLE}.{name}]", f"command = {shown[0]}", f"args = {shown[1]}", finish, "",
    ])  # fmt: skip


def with_table(text: str, lines: str, name: str, file: str) -> str:
    """The text with those lines at its end. Conflict where it is no TOML, where there is a server
    of that name, and where it has its servers in a form that nothing can be added to.
    """
    there = _read(text, file)
    servers = there.get(TABLE) if there is not None else None
    if isinstance(servers, dict) and name in servers:
        raise Conflict(
            f"{file} has a server {name} already", "take it out, or leave it as it is"
        )  # fmt: skip
    end = "\r\n" if "\r\n" in text else "\n"
    joint = "" if not text or text.endswith("\n") else end
    new = f"{text}{joint}{lines.replace(chr(10), end)}"
    if not _UNSURE.search(text) if there is None else _is_toml(new):
        return new
    raise Conflict(
        f"{file}: a table [{TABLE}.{name}] cannot be added to what it has of {TABLE}",
        f"write its servers as tables of their own, [{TABLE}.NAME], or add {name} by hand",
    )


def without_table(text: str, name: str, begin: str, finish: str, file: str) -> str:
    """The text without what `table` has put in, and without what was added to that server since;
    tables of others that stand between the marks stay. Conflict where the rest would be no TOML.
    """
    lines = text.splitlines(keepends=True)
    bare = [line.strip() for line in lines]
    if begin not in bare or finish not in bare[bare.index(begin) :]:
        return text
    own = re.compile(rf"\s*\[\s*{TABLE}\s*\.\s*[\"']?{re.escape(name)}[\"']?\s*[\].]")
    kept, ours = list[str](), False
    for line, said in zip(lines, bare, strict=True):
        if said in (begin, finish):
            ours = False
            continue
        if _HEADER.match(line):
            ours = own.match(line) is not None
        if not ours:
            kept.append(line)
    new = "".join(kept)
    if _is_toml(text) and not _is_toml(new):
        raise Conflict(f"{file}: what is between {begin!r} and {finish!r} cannot be taken out",
                       "take it out by hand")  # fmt: skip
    return new


def _is_toml(text: str) -> bool:
    try:
        return _read(text, "") is not None
    except Conflict:
        return False


def _read(text: str, file: str) -> dict[str, Any] | None:
    """What a text says; None where nobody can tell. Conflict where it is no TOML."""
    if sys.version_info < (3, 11):
        return None
    try:
        return tomllib.loads(text.replace("\r\n", "\n"))
    except tomllib.TOMLDecodeError as error:
        raise Conflict(f"{file} is no TOML: {error}", "mend it first") from error
