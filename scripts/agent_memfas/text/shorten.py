"""The extractive summary: the sentences of a text that tell most, in its own words and order.

A piece is a sentence, or a line of code, of output, of a table. What it tells is the rarity of its
words in the text, more for what the prompt asks, for decisions, open items and lessons, errors,
paths, numbers that are facts, names, and for the first and last lines of an output; its worth is
that over the root of what it costs. What is left out leaves `…`.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from math import exp, log

from agent_memfas.text.counting import Counter
from agent_memfas.text.cues import WEAK, cue_of
from agent_memfas.text.excerpts import CUT, Piece, joined, pieces_of
from agent_memfas.text.importance import ERROR, FACT
from agent_memfas.text.named_files import files_in
from agent_memfas.text.record import Record
from agent_memfas.text.salient import Frequencies, frequencies
from agent_memfas.text.stopwords import is_stop_word
from agent_memfas.text.words import terms, words

COST = 0.6  # the power of a piece's tokens that what it tells is divided by
LONGEST = 400_000  # characters of a text that are looked at; of a longer one, its two ends
_ASKED, _CUED, _ERROR, _PATH, _FACT, _NAME, _FIRST, _KEEP = 3.0, 2.5, 3.0, 1.5, 1.2, 0.6, 1.0, 50.0
_ASKS = 0.5  # of what is told by a piece that only asks
_NAMED = re.compile(r"(?<=[a-z0-9,;:)] )[\"'“(]?[A-Z][\w'-]")
_QUESTION = re.compile(r"[?？][*_\"”’)）\s]*$")
_GAP = 3  # tokens that a gap costs, about


class _Weighed(Record):
    """A piece that may be taken. places: with what it needs. cost: in tokens."""

    places: tuple[int, ...]
    told: float
    cost: int

    @property
    def worth(self) -> float:
        return self.told / exp(COST * log(self.cost))


def shorten(
    text: str, target: int, count: Counter, asked: Collection[str] = (),
    keep: Collection[str] = (),
) -> str:  # fmt: skip
    """At most `target` tokens of a text, and never more than all of it.

    count: tokens of a text. asked: index terms of the prompt (`words.query_terms`). keep: words of
    which the pieces that hold one come first. "" for a blank text and for a target of 0. Linear in
    the text. Advice: 40 % of the tokens of a chunk; with less than 20 % facts begin to go.
    """
    if target <= 0 or not text.strip():
        return ""
    if len(text) <= LONGEST and count(text) <= target:
        return text
    pieces = pieces_of(_ends(text))
    weighed = sorted(_weighed(pieces, count, asked, keep), key=lambda one: (-one.worth, one.places))
    chosen = _fill(weighed, target)
    while chosen:
        found = "".join(joined(pieces, sorted({n for one in chosen for n in one.places})))
        if count(found) <= target:
            return found
        chosen.pop()
    best = pieces[weighed[0].places[-1]].text if weighed else text
    return _cut(best.strip() or text.strip(), target, count)


def _ends(text: str) -> str:
    """The text, or both ends of one that is too long to look at."""
    if len(text) <= LONGEST:
        return text
    half = LONGEST // 2
    return f"{text[:half]}\n{CUT}\n{text[-half:]}"


def _fill(weighed: Sequence[_Weighed], target: int) -> list[_Weighed]:
    """Those that fit together, in order of worth."""
    chosen, taken, spent = list[_Weighed](), set[int](), 0
    for one in weighed:
        cost = one.cost if not set(one.places) <= taken else 0
        if spent + cost <= target:
            chosen.append(one)
            taken.update(one.places)
            spent += cost
    return chosen


def _weighed(
    pieces: Sequence[Piece], count: Counter, asked: Collection[str], keep: Collection[str]
) -> Iterator[_Weighed]:
    known = frequencies(piece.text for piece in pieces)
    wanted, kept = frozenset(asked), [word.casefold() for word in keep if word.strip()]
    costs = [max(1, count(piece.text)) for piece in pieces]
    for n, piece in enumerate(pieces):
        told = _told(piece.text, known, wanted)
        at_end = piece.solid and n in (0, len(pieces) - 1)
        told += _FIRST * (n == 0 or at_end)
        folded = piece.text.casefold() if kept else ""
        told += _KEEP * sum(word in folded for word in kept)
        if told > 0:
            places = tuple(sorted({n, *piece.needs}))
            yield _Weighed((*[p for p in places if p != n], n), told,
                           sum(costs[p] for p in places) + _GAP)  # fmt: skip


def _told(text: str, known: Frequencies, wanted: frozenset[str]) -> float:
    """What a piece tells, 0 where it has no word."""
    found = {term for term in terms(text) if not is_stop_word(term)}
    if not found and not FACT.search(text):
        return 0.0
    told = sum(known.rarity(term) ** 2 for term in found)
    told += _NAME * len(_NAMED.findall(text)) + _FACT * len(FACT.findall(text))
    cue = cue_of(text, talk=False)
    told += _CUED * (cue is not None and cue.strength > WEAK)
    if _QUESTION.search(text):
        told *= _ASKS
    told += _ERROR * (ERROR.search(text) is not None)
    told += _PATH * len({one.name for one in files_in(text)})
    return told + _ASKED * len(found & wanted)


def _cut(text: str, target: int, count: Counter) -> str:
    """The beginning of a piece that is too long by itself, cut between words, else characters."""
    parts = text.split(" ") if " " in text and not _is_wide(text) else list(text)
    glue = " " if " " in text and not _is_wide(text) else ""
    low, high = 0, len(parts)
    while low < high:
        middle = (low + high + 1) // 2
        fits = count(f"{glue.join(parts[:middle])} {CUT}") <= target
        low, high = (middle, high) if fits else (low, middle - 1)
    if low:
        return f"{glue.join(parts[:low])} {CUT}"
    return "" if glue == "" else _cut(text.replace(" ", "\u00a0"), target, count)


def _is_wide(text: str) -> bool:
    return len(words(text)) > 2 * len(text.split())
