"""Blame: who wrote each entry and list item of a file, and by what."""

from __future__ import annotations

from agent_memfas.errors import NothingFound
from agent_memfas.store import history
from agent_memfas.store.layout import Folder
from agent_memfas.store.passes import read_patiently
from agent_memfas.text.documents import parse
from agent_memfas.text.record import Record
from agent_memfas.text.said import statements


class Blamed(Record):
    """start_line, end_line: 1-based, inclusive. author: as it is signed, "" where it is not.
    command, time: what appended it and when, where memfas did and still knows; "" else.
    """

    start_line: int
    end_line: int
    text: str
    author: str
    command: str
    time: str


def run(folder: Folder, name: str, line: int = 0) -> list[Blamed]:
    """Each entry and item of a file, or the one at a line. NothingFound where none stands there."""
    path = folder.place(name)
    document = parse(read_patiently(path).data)
    appended = {
        one: version for version in history.versions(folder, folder.relative(path))
        for one in version.line.splitlines()
    }  # fmt: skip
    found = [
        Blamed(
            one.start + 1, one.end, one.text, one.author,
            appended[one.text].command if one.text in appended else "",
            appended[one.text].time if one.text in appended else "",
        )
        for one in statements(document) if not line or one.start < line <= one.end
    ]  # fmt: skip
    if line and not found:
        raise NothingFound(f"{name}:{line}: no entry or item stands there")
    return found
