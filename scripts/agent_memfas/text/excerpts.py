"""A text that can be shown in part: its sentences around the words of a question."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property

from agent_memfas.text.documents import Document, parse
from agent_memfas.text.passages import cut_line
from agent_memfas.text.record import Record
from agent_memfas.text.statements import sentences_of
from agent_memfas.text.words import terms

CUT = "…"
LONGEST = 200  # characters of a piece: a longer sentence is cut between clauses, else words
LONGEST_LINE = 1000  # characters of a line of code or of a table; a longer one is cut as prose
_ROW = re.compile(r"\s*\|")
_RULE = re.compile(r"\s*\|[\s|:-]*-[\s|:-]*$")


class Piece(Record):
    """A sentence, or a line of code or of a table. line: where it stands, 0-based. text: with the
    blanks behind it, without a line end. needs: pieces that it makes no sense without: the marks
    around code, the head of a table. solid: it is such a line.
    """

    text: str
    line: int
    needs: tuple[int, ...] = ()
    solid: bool = False


class Excerpts:
    """The excerpts of a text, from the shortest on, each with all that the one before it has:
    `shown(1)` is the piece with most of the terms, what comes after `shown(steps)` the text itself.

    terms: index terms of the question (`words.query_terms`). From the best piece on come those that
    have further terms, then all others with terms, then what stands next to these.
    """

    def __init__(self, text: str, asked: Iterable[str]) -> None:
        self.text = text
        self._pieces = pieces_of(text)
        wanted = frozenset(asked)
        self._hits = [frozenset(terms(piece.text)) & wanted for piece in self._pieces]

    @cached_property
    def steps(self) -> int:
        """How many excerpts there are that are less than the text."""
        steps = len(self._order)
        while steps and self.shown(steps) == self.text:
            steps -= 1
        return steps

    @cached_property
    def covering(self) -> int:
        """The number of the first excerpt that holds every term that the text holds; at least 1."""
        return max(1, len(self._best_first))

    def shown(self, step: int) -> str:
        """The excerpt of that number, 1-based, with … where something is left out."""
        chosen = set(self._order[:step])
        chosen |= {need for n in chosen for need in self._pieces[n].needs}
        if len(chosen) == len(self._pieces):
            return self.text
        return "".join(joined(self._pieces, sorted(chosen)))

    @cached_property
    def _best_first(self) -> list[int]:
        """Pieces, each with the most terms that those before it do not have."""
        found, missing = list[int](), frozenset[str]().union(*self._hits)
        while missing:
            best = max(range(len(self._hits)), key=lambda n: (len(self._hits[n] & missing), -n))
            found.append(best)
            missing -= self._hits[best]
        return found

    @cached_property
    def _order(self) -> list[int]:
        numbers = range(len(self._pieces))
        hit = sorted((n for n in numbers if self._hits[n]), key=lambda n: (-len(self._hits[n]), n))
        near = _distances([bool(terms_here) for terms_here in self._hits])
        rest = sorted(numbers, key=lambda n: (near[n], n))
        return list(dict.fromkeys([*self._best_first, *hit, *rest]))


def _distances(marked: Sequence[bool]) -> list[int]:
    """How far each place is from the nearest marked one, itself 0; from the start if none is."""
    if not any(marked):
        return list(range(len(marked)))
    found = [len(marked)] * len(marked)
    for places in (range(len(marked)), range(len(marked) - 1, -1, -1)):
        far = len(marked)
        for n in places:
            far = 0 if marked[n] else far + 1
            found[n] = min(found[n], far)
    return found


def pieces_of(text: str) -> list[Piece]:
    """The pieces of a text in order; blank lines are none."""
    lines = text.split("\n")
    frames, found = _frames(lines, parse(text.encode("utf-8", "replace"))), list[Piece]()
    at = dict[int, int]()  # of a solid line: the number of its piece
    for n, line in enumerate(lines):
        needs = frames.get(n)
        if needs is not None and len(line) <= LONGEST_LINE:
            at[n] = len(found)
            found.append(Piece(line, n, needs, solid=True))
        elif line.strip():
            parts = (part for one in sentences_of(line) for part in cut_line(one, LONGEST))
            found += [Piece(part, n, needs or ()) for part in parts]
    return [_with_needs(piece, at) for piece in found]


def _with_needs(piece: Piece, at: Mapping[int, int]) -> Piece:
    """A piece that needs lines, as one that needs the pieces they are."""
    needs = tuple(at[line] for line in piece.needs if line in at)
    return Piece(piece.text, piece.line, needs, piece.solid)


def _frames(lines: Sequence[str], document: Document) -> dict[int, tuple[int, ...]]:
    """The lines that are never cut inside, each with the lines that it needs."""
    found = dict[int, tuple[int, ...]]()
    for region in document.regions:
        if region.kind in ("fence", "code"):
            last = region.end - 1
            marks = {region.start, *([last] if region.closed else [])}
            needs = tuple(sorted(marks)) if region.kind == "fence" else ()
            found.update(dict.fromkeys(range(region.start, region.end), needs))
    head = tuple[int, ...]()
    for n, line in enumerate(lines):
        if n in found or not _ROW.match(line):
            head = ()
            continue
        if n + 1 < len(lines) and _RULE.match(lines[n + 1]):
            head = (n, n + 1)
        found[n] = head
    return found


def joined(pieces: Sequence[Piece], chosen: Sequence[int]) -> Iterator[str]:
    """The texts of the chosen pieces, as they stand, and a mark in each gap."""
    if chosen[0] > 0:
        yield f"{CUT}\n" if pieces[chosen[0]].solid else f"{CUT} "
    for n, following in zip(chosen, (*chosen[1:], len(pieces)), strict=True):
        piece = pieces[n]
        after = pieces[following] if following < len(pieces) else None
        cut = following > n + 1 or (after is None and n + 1 < len(pieces))
        same = after is not None and after.line == piece.line
        if same and not cut:
            yield piece.text
            continue
        yield piece.text.rstrip()
        if cut:
            solid = piece.solid or (after is not None and after.solid)
            yield f"\n{CUT}" if solid else f" {CUT}"
        if after is not None:
            yield " " if same else "\n"
