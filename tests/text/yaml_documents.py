"""Random memfas.yaml files as people write them: every style, comments and blank lines anywhere.

Each comment is `#c` and a number that occurs once, so that a lost one is noticed.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import count
from typing import Any

from hypothesis import strategies as st

SCALARS = ["fts5", "5", "0.3", "true", "null", "~", "", "two words", "it's", "'it''s: #1'",
           '"a: \\"b\\""', "2026-01-01", "1:30", "名前 🙂", "'multi\n\n   line'", "plain\n   goes on",
           "|\n   block\n\n   text", ">-  \n   folded\n   text", "|+\n   kept\n\n"]  # fmt: skip
INLINE = [text for text in SCALARS if "\n" not in text and text]
NAMES = ["triggers", "sources", "search", "janitor", "context", "foreign", "'a: b'", "Größe"]
FIELDS = ["keyword", "hint", "memory_ids", "backend", "max_results"]
KINDS = ("scalar", "list", "map", "block list", "block map")
Draw = Callable[[st.SearchStrategy[Any]], Any]


class Writer:
    """Draws one document, line by line."""

    def __init__(self, draw: Draw) -> None:
        self.draw, self.numbers, self.lines = draw, count(), list[str]()
        self.block_end = -1

    def chance(self, of: int = 3) -> bool:
        return self.draw(st.integers(0, of)) == of

    def comment(self) -> str:
        return f"#c{next(self.numbers)}."

    def behind(self) -> str:
        """A comment at the end of a line, or none."""
        return f"  {self.comment()}" if self.chance() else ""

    def between(self, column: int) -> None:
        """Comments and blank lines before the next entry."""
        while self.chance():
            kind = self.draw(st.sampled_from(["at", "less", "more", "blank", "out"]))
            shift = {"less": max(column - 1, 0), "more": column + 3}.get(kind, column)
            out = "# - out " if kind == "out" else ""
            self.lines.append("" if kind == "blank" else " " * shift + out + self.comment())

    def scalar(self, lead: str, column: int) -> None:
        """A scalar behind its key or dash, indented deeper than column where it has many lines."""
        text = self.draw(st.sampled_from(SCALARS))
        first, *more = text.split("\n")
        tail = "" if more and first[:1] not in ("|", ">") else self.behind()
        self.lines.append(f"{lead} {first}{tail}" if first else f"{lead}{tail}")
        self.lines += [" " * (column + 1) + line if line.strip() else "" for line in more]
        if more and first[:1] not in ("|", ">"):
            self.lines[-1] += self.behind()
        elif more:
            self.block_end = len(self.lines)

    def flow(self, lead: str, pieces: list[str], brackets: str) -> None:
        """Pieces between brackets, on one line or on many."""
        if self.chance(1) or not pieces:
            end = ", " if pieces and self.chance() else ""
            self.lines.append(
                f"{lead} {brackets[0]}{', '.join(pieces)}{end}{brackets[1]}{self.behind()}"
            )
            return
        self.lines.append(f"{lead} {brackets[0]}{self.behind()}")
        for n, piece in enumerate(pieces):
            if self.chance():
                self.lines.append(f"      {self.comment()}")
            comma = "," if n + 1 < len(pieces) or self.chance() else ""
            self.lines.append(f"    {piece}{comma}{self.behind()}")
        self.lines.append(f"  {brackets[1]}{self.behind()}")

    def inline(self) -> str:
        return self.draw(st.sampled_from([t for t in INLINE if ":" not in t or t[0] in "'\""]))

    def inline_map(self) -> str:
        return "{" + ", ".join(f"{key}: {self.inline()}" for key in self.keys(1)) + "}"

    def keys(self, least: int) -> list[str]:
        return self.draw(st.lists(st.sampled_from(FIELDS), min_size=least, max_size=3, unique=True))

    def fields(self, column: int, lead: str = "") -> None:
        """A block mapping; lead: what stands before its first key on the same line."""
        for n, key in enumerate(self.keys(1)):
            if n or not lead:
                self.between(column)
            start = lead if n == 0 and lead else " " * column
            self.scalar(f"{start}{key}:", column)

    def elements(self, column: int) -> None:
        """A block list."""
        for _ in range(self.draw(st.integers(1, 4))):
            self.between(column)
            dash, kind = " " * column + "-", self.draw(st.integers(0, 4))
            if kind == 0:
                self.scalar(dash, column)
            elif kind == 1:
                self.lines.append(f"{dash} {self.inline_map()}{self.behind()}")
            elif kind == 2:
                self.lines.append(f"{dash}{self.behind()}")
                self.fields(column + 2)
            else:
                wide = self.draw(st.integers(1, 3))
                self.fields(column + 1 + wide, f"{dash}{' ' * wide}")

    def entry(self, name: str, kinds: tuple[str, ...] = KINDS) -> None:
        """A key of the outermost mapping and its value."""
        kind = self.draw(st.sampled_from(kinds))
        if kind == "scalar":
            self.scalar(f"{name}:", 0)
        elif kind == "list":
            size = self.draw(st.integers(0 if len(kinds) > 2 else 1, 3))
            pieces = [self.inline_map() if self.chance(1) else self.inline() for _ in range(size)]
            self.flow(f"{name}:", pieces, "[]")
        elif kind == "map":
            self.flow(f"{name}:", [f"{key}: {self.inline()}" for key in self.keys(0)], "{}")
        else:
            self.lines.append(f"{name}:{self.behind()}")
            if kind == "block list":
                self.elements(self.draw(st.integers(0, 4)))
            else:
                self.fields(self.draw(st.integers(1, 4)))


@st.composite
def documents(draw: Draw, kinds: tuple[str, ...] = ()) -> str:
    """The text of a memfas.yaml: with LF or CRLF, a byte order mark, a missing last newline.

    kinds: what `triggers` is, which then stands there and is not empty.
    """
    writer = Writer(draw)
    if writer.chance(5):
        writer.lines.append("---")
    names = draw(st.lists(st.sampled_from(NAMES[bool(kinds) :]), max_size=4, unique=True))
    if kinds:
        names.insert(draw(st.integers(0, len(names))), "triggers")
    for name in names:
        writer.between(0)
        writer.entry(name, kinds if kinds and name == "triggers" else KINDS)
    writer.between(0)
    newline = draw(st.sampled_from(["\n", "\r\n"]))
    text = newline.join(line for part in writer.lines for line in part.split("\n"))
    # Where the last lines are a block scalar, a missing line end is a matter of its text.
    bare = [newline] if writer.block_end == len(writer.lines) else ["", newline]
    return draw(st.sampled_from(["", "\ufeff"])) + text + draw(st.sampled_from(bare))
