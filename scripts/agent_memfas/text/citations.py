"""Citations: `path#L3-L4` behind words that stand on these lines, and whether they still do.

Words are compared, nothing else: capitals, punctuation, markup, line breaks and bullets do not
count, so that a quotation may be written a little otherwise than its source and no word of it may.
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from agent_memfas.text.firing import read_link

LEAST_WORDS, LEAST_WIDE = 2, 4
LEAST_CHARACTERS = 8
_WORD = re.compile(r"[^\W_]+")
WIDE = "\u0e00"  # from here on, scripts that mostly write without spaces: each character counts
_ENTITIES = (("&lt;", "<"), ("&gt;", ">"), ("&amp;", "&"))
_CITED = re.compile(r" \((?P<cites>[^\s()]+#L\d+(?:-L?\d+)?(?:; [^\s()]+#L\d+(?:-L?\d+)?)*)\)")


class Citation(NamedTuple):
    """Lines of a file: 1-based, inclusive."""

    path: str
    start: int
    end: int

    def __str__(self) -> str:
        return f"{self.path}#L{self.start}-L{self.end}"


def read_citation(text: str) -> Citation | None:
    """`path#L3-L4` or `path#L3` -> Citation; anything else, or lines in no order -> None."""
    found = read_link(text)
    return Citation(*found) if found and 1 <= found[1] <= found[2] else None


def cited_at_end(line: str) -> tuple[str, tuple[Citation, ...], str] | None:
    """A line -> what it says, the citations behind that, and the rest; None where it has none.

    The last group of citations of the line counts.
    """
    last = None
    for match in _CITED.finditer(line):
        last = match
    if last is None:
        return None
    cites = tuple(map(read_citation, last["cites"].split("; ")))
    known = tuple(cite for cite in cites if cite is not None)
    if len(known) < len(cites):
        return None
    return line[: last.start()], known, line[last.end() :]


def words_of(text: str) -> list[str]:
    """The words of a text as they are compared; of scripts without spaces, the characters."""
    for entity, character in _ENTITIES:
        text = text.replace(entity, character)
    found = list[str]()
    for run in _WORD.findall(unicodedata.normalize("NFKC", text).casefold()):
        found += _apart(run) if any(c >= WIDE for c in run) else [run]
    return found


def _apart(run: str) -> Iterator[str]:
    narrow = ""
    for character in run:
        if character < WIDE:
            narrow += character
            continue
        if narrow:
            yield narrow
        narrow = ""
        yield character
    if narrow:
        yield narrow


def is_telling(words: Sequence[str]) -> bool:
    """Whether so many words can prove anything: `the` stands everywhere."""
    wide = sum(word >= WIDE for word in words)
    if wide >= LEAST_WIDE:
        return True
    return len(words) >= LEAST_WORDS and sum(map(len, words)) + len(words) > LEAST_CHARACTERS


class Quotable:
    """A text in which quotations are looked for. lines: its lines, without terminators."""

    def __init__(self, lines: Sequence[str]) -> None:
        pieces, starts, at = [" "], list[int](), 1
        for line in lines:
            starts.append(at)
            words = "".join(f"{word} " for word in words_of(line))
            pieces.append(words)
            at += len(words)
        self._text, self._starts = "".join(pieces), starts

    def find(self, quote: str) -> list[tuple[int, int]]:
        """Where the words of a quotation stand, one after the other: (first, last line), 1-based,
        in order. One that is too short to tell anything must be all that a line says.
        """
        words = words_of(quote)
        if not words:
            return []
        needle, found, at = f" {' '.join(words)} ", list[tuple[int, int]](), 0
        telling = is_telling(words)
        while (start := self._text.find(needle, at)) >= 0:
            at = start + 1
            end = start + len(needle) - 1
            first = bisect_right(self._starts, start + 1)
            last = bisect_right(self._starts, end - 1)
            if telling or self._is_whole(start + 1, end, first, last):
                found.append((first, last))
        return found

    def _is_whole(self, start: int, end: int, first: int, last: int) -> bool:
        after = self._starts[last] if last < len(self._starts) else len(self._text)
        return self._starts[first - 1] == start and end + 1 == after

    def stands(self, quote: str, start: int, end: int) -> bool:
        """Whether the quotation stands on these lines, 1-based, inclusive."""
        return any(start <= first and last <= end for first, last in self.find(quote))

    def place(self, quote: str, start: int, end: int) -> tuple[int, int] | None:
        """The lines of the quotation: those nearest to start..end, None for nowhere."""
        return nearest(self.find(quote), start, end)


def nearest(found: Sequence[tuple[int, int]], start: int, end: int) -> tuple[int, int] | None:
    """Of several places (first, last line) the one nearest to start..end, None of none."""

    def apart(at: tuple[int, int]) -> tuple[int, tuple[int, int]]:
        return max(at[0] - end, start - at[1], 0), at

    return min(found, key=apart, default=None)
