"""What of a file is one writer's: its entries and list items, each with who wrote it."""

from __future__ import annotations

from collections.abc import Iterator

from agent_memfas.text.documents import Document
from agent_memfas.text.entries import entries
from agent_memfas.text.record import Record
from agent_memfas.text.rights import author_of


class Statement(Record):
    """An entry or a top-level list item. start, end: lines, 0-based, end exclusive. text: its first
    line. author: "" where it does not say. is_entry: whether it has the tags of one.
    """

    start: int
    end: int
    text: str
    author: str
    is_entry: bool


def statements(document: Document) -> Iterator[Statement]:
    """The entries of a file, and the other top-level items that are no part of code or quotes, in
    order.
    """
    known = {entry.start: entry for entry in entries(document)}
    spans = {(entry.start, entry.end) for entry in known.values()}
    spans |= {
        (block.start, block.end)
        for block in document.blocks
        if block.kind == "item" and block.depth == 1 and block.start not in document.opaque
        and block.start not in known
    }  # fmt: skip
    for start, end in sorted(spans):
        lines = document.text_lines[start:end]
        yield Statement(start, end, lines[0], author_of(lines), start in known)
