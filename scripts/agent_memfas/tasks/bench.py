"""Bench: how much of what was expected stands in the first tokens of what recall gives.

The figures, means over questions in percent. E@N: the share of the expected places that N tokens
of returned text reach, a token being four characters; a hit reaches a place that it shares a line
with, so the size of passages does not matter. ALL@N: the questions whose places are all reached.
MRR: the mean reciprocal rank (Voorhees, TREC-8, 1999) of the first hit that reaches any.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate
from math import ceil
from posixpath import normpath
from statistics import fmean
from typing import Any, Protocol

from agent_memfas.errors import FileFault

BUDGETS = (250, 500, 1000, 2000)  # tokens
ENOUGH = 1000  # tokens within which a question counts as answered
CHARACTERS = 4  # in a token
SHAPE = '{"question": "…", "expected": ["MEMORY.md:12", "memory/2026-02-24.md:3-5"]}'
_PLACE = re.compile(r"(.+?)(?:#L(\d{1,9})(?:-L?(\d{1,9}))?|:(\d{1,9})(?:-(\d{1,9}))?)", re.ASCII)


@dataclass(frozen=True)
class Place:
    """Lines of a file, 1-based, inclusive. path: relative to the memory folder."""

    path: str
    first: int
    last: int

    def __str__(self) -> str:
        return f"{self.path}:{self.first}{f'-{self.last}' if self.last > self.first else ''}"


@dataclass(frozen=True)
class Question:
    """What is asked, and where the answer stands. line: of the file of questions, 1-based."""

    text: str
    expected: tuple[Place, ...]
    category: str = ""
    line: int = 0


class Passage(Protocol):
    """What is looked at of a hit."""

    @property
    def path(self) -> str:
        """Relative to the memory folder."""

    @property
    def start_line(self) -> int:
        """1-based."""

    @property
    def end_line(self) -> int:
        """1-based, inclusive."""

    @property
    def text(self) -> str:
        """What is returned, and so what costs tokens."""


@dataclass(frozen=True)
class Judged:
    """An answer. shares: of the expected places, 0 to 1, within each of BUDGETS. rank: of the first
    hit that reaches one, 0 where none does. first: the best hit.
    """

    question: Question
    shares: tuple[float, ...]
    rank: int
    first: Passage | None

    @property
    def is_missed(self) -> bool:
        """Whether no expected place is reached within ENOUGH tokens."""
        return not self.shares[BUDGETS.index(ENOUGH)]


def questions(data: bytes, name: str) -> list[Question]:
    """The questions of JSON lines; blank lines are none. name: of the file, for what is wrong.

    FileFault names file and line of the first that cannot be used.
    """
    found = []
    for number, raw in enumerate(data.removeprefix(b"\xef\xbb\xbf").split(b"\n"), 1):
        if not raw.strip():
            continue
        try:
            found.append(_question(raw, number))
        except ValueError as error:
            raise FileFault(f"{name}:{number}: {error}", f"a line is {SHAPE}") from error
    return found


def _question(raw: bytes, line: int) -> Question:
    """One line. ValueError says what is wrong with it."""
    try:
        given = json.loads(raw.decode("utf-8"))
    except UnicodeDecodeError as error:
        raise ValueError("not UTF-8") from error
    except (json.JSONDecodeError, RecursionError) as error:
        raise ValueError("not JSON") from error
    if not isinstance(given, dict):
        raise ValueError("not an object")
    text, expected = given.get("question"), given.get("expected")
    category = given.get("category")
    if not isinstance(text, str) or not text.strip():
        raise ValueError('"question" is missing or no text')
    places = [expected] if isinstance(expected, str) else expected
    if not isinstance(places, list) or not places:
        raise ValueError('"expected" is missing or names no place')
    if not isinstance(category, str | int | None):
        raise ValueError('"category" is no text')
    known = dict.fromkeys(map(_place, places))
    return Question(text, tuple(known), "" if category is None else str(category), line)


def _place(given: Any) -> Place:
    """`path:12`, `path:3-5`, `path#L3` or `path#L3-L5` as a place."""
    match = _PLACE.fullmatch(given) if isinstance(given, str) else None
    if match is None:
        raise ValueError(f"{json.dumps(given, ensure_ascii=False)} is not PATH:LINE")
    first = int(match[2] or match[4])
    last = int(match[3] or match[5] or first)
    if not 1 <= first <= last:
        raise ValueError(f"{given}: lines count from 1, and the first comes first")
    return Place(normpath(match[1]), first, last)


def judged(question: Question, hits: Sequence[Passage]) -> Judged:
    """What hits, best first, are worth as the answer to a question."""
    spent = accumulate(ceil(len(hit.text) / CHARACTERS) for hit in hits)
    reached = dict[Place, tuple[int, int]]()  # rank and tokens of the first hit that does
    for rank, (hit, tokens) in enumerate(zip(hits, spent, strict=True), 1):
        for place in question.expected:
            if _reaches(hit, place):
                reached.setdefault(place, (rank, tokens))
    shares = tuple(
        sum(tokens <= budget for _, tokens in reached.values()) / len(question.expected)
        for budget in BUDGETS
    )
    rank = min((rank for rank, _ in reached.values()), default=0)
    return Judged(question, shares, rank, hits[0] if hits else None)


def _reaches(hit: Passage, place: Place) -> bool:
    lines_meet = hit.start_line <= place.last and place.first <= hit.end_line
    return hit.path == place.path and lines_meet


def figures(rows: Sequence[Judged]) -> dict[str, float]:
    """The figures of some answers (at least one), in percent with one decimal."""
    shares = dict(zip(BUDGETS, zip(*(row.shares for row in rows), strict=True), strict=True))
    parts: dict[str, list[float]] = {
        **{f"E@{budget}": list(some) for budget, some in shares.items()},
        **{f"ALL@{budget}": [float(share == 1) for share in some]
           for budget, some in shares.items()},
        "MRR": [1 / row.rank if row.rank else 0.0 for row in rows],
    }  # fmt: skip
    return {name: round(100 * fmean(some), 1) for name, some in parts.items()}


def by_category(rows: Sequence[Judged]) -> dict[str, list[Judged]]:
    """The answers of each category, by its name; {} where no question has one."""
    found = dict[str, list[Judged]]()
    for row in rows:
        found.setdefault(row.question.category, []).append(row)
    return {name: found[name] for name in sorted(found)} if found.keys() - {""} else {}
