"""Suggested triggers: what one's own notes keep coming back to.

Names first (people, products, acronyms), then phrases, then single words. Everything is counted
in lines, so that a line which says a word forty times counts once.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

from agent_memfas.text.coined import coined_terms, words_in
from agent_memfas.text.documents import Document
from agent_memfas.text.entries import read_tag
from agent_memfas.text.everyday import is_everyday
from agent_memfas.text.firing import key_of
from agent_memfas.text.lines import plain
from agent_memfas.text.marks import clip, without_comments
from agent_memfas.text.phrases import LONGEST_NAME, count_runs, is_name_run, is_phrase
from agent_memfas.text.proper_names import Tally, count_words, form_of
from agent_memfas.text.spans import Line, Span, read_lines
from agent_memfas.text.stems import stem

KINDS = ("entity", "phrase", "term")
_SHARES = (7, 5, 8)  # of twenty
_SHORTEST_TERM = 3
_EXAMPLE = 160
_LEAD = re.compile(r"[ \t]*(?:(?:[-*+>]|#{1,6}|[0-9]{1,9}[.)])[ \t]+)*(?:\[[ xX]\][ \t]+)?")


@dataclass(frozen=True)
class Suggestion:
    """term: as it is mostly written. count: on how many lines. type: entity, phrase or term.
    path, line (1-based), example: a place where it stands, and what is written there.
    """

    term: str
    count: int
    type: str
    path: str
    line: int
    example: str


class _Candidate(NamedTuple):
    kind: str
    lines: int
    term: str
    key: str


class _Sighting:
    """By itself, not inside a longer candidate: on how many lines, how written, where first."""

    def __init__(self, example: Line) -> None:
        self.example = example
        self.lines = 0
        self.written = Counter[str]()


def suggest(
    documents: Iterable[tuple[str, Document | Sequence[str]]],
    existing: Collection[str] = (),
    min_occurrences: int = 3,
    limit: int = 20,
) -> list[Suggestion]:
    """What could be a trigger: names by count, then phrases, then terms; at most `limit`.

    documents: (path, parsed document or its lines). existing: keys (`firing.key_of`) of triggers
    that there are; none of them is suggested, nor another form of the same word. Of the limit 7, 5
    and 8 parts of twenty go to the kinds; what one does not use goes to the others. What stands
    nearly always inside a longer suggestion (`Smith` in `Alice Smith`) is none of its own.
    """
    least = max(1, min_occurrences)
    lines = list(read_lines(documents))
    tally = count_words(lines)
    kinds, counts = _candidates(lines, tally, least)
    coined = coined_terms(lines, least)
    kinds.update(dict.fromkeys(coined, "term"))
    counts.update(coined)
    seen = {key: s for key, s in _look(lines, kinds).items() if s.lines >= least}
    found = [
        _Candidate(kinds[key], counts[key], _display(sighting.written, kinds[key]), key)
        for key, sighting in seen.items()
    ]
    chosen = _chosen(found, {key_of(key) for key in existing}, max(0, limit))
    return [_suggestion(candidate, seen[candidate.key].example) for candidate in chosen]


def _candidates(
    lines: list[Line], tally: Tally, least: int
) -> tuple[dict[str, str], dict[str, int]]:
    """Keys of all that may be suggested -> their kind, and on how many lines they stand."""
    runs = count_runs(lines, tally, least)
    kinds: dict[str, str] = {}
    for key, count in tally.lines.items():
        if count >= least and len(key) > 1:
            if tally.is_name(key):
                kinds[key] = "entity"
            elif len(key) >= _SHORTEST_TERM and not is_everyday(key):
                kinds[key] = "term"
    for key, count in runs.lines.items():
        if count >= least:
            if is_name_run(key, runs, tally):
                kinds[key] = "entity"
            elif is_phrase(key, runs, tally):
                kinds[key] = "phrase"
    return kinds, {key: max(runs.lines[key], tally.lines[key]) for key in kinds}


def _look(lines: list[Line], kinds: dict[str, str]) -> dict[str, _Sighting]:
    """Where each candidate stands by itself; where several could, the longest of the first."""
    seen: dict[str, _Sighting] = {}
    heads = frozenset(key[:at] for key in kinds for at, c in enumerate(key) if c == " ")
    for line in lines:
        here: dict[str, str] = {}
        for span in line.spans:
            here.update(_in_span(span, kinds, heads))
        for run in line.runs:
            here.update((word, word) for word in _in_run(run, kinds))
        for key, written in here.items():
            sighting = seen.setdefault(key, _Sighting(line))
            sighting.lines += 1
            sighting.written[written] += 1
            if sighting.example.heading and not line.heading:
                sighting.example = line
    return seen


def _in_span(span: Span, kinds: dict[str, str], heads: frozenset[str]) -> Iterator[tuple[str, str]]:
    """The candidates in a span, by their keys and as they are written. heads: words with which
    those of several words begin."""
    keys = [form_of(word).key for word in span.words]
    at = 0
    while at < len(keys):
        most = LONGEST_NAME if keys[at] in heads else 1
        for end in range(min(at + most, len(keys)), at, -1):
            key = " ".join(keys[at:end]) if end > at + 1 else keys[at]
            if key in kinds:
                yield key, _written(span, at, end) if end > at + 1 else span.words[at]
                at = end
                break
        else:
            at += 1


def _written(span: Span, start: int, end: int) -> str:
    joints = (" " if joint == "_" else joint for joint in span.joints[start + 1 : end])
    rest = zip(joints, span.words[start + 1 : end], strict=True)
    return span.words[start] + "".join(joint + word for joint, word in rest)


def _in_run(run: str, kinds: dict[str, str]) -> Iterator[str]:
    yield from (word for word in words_in(run) if word in kinds)
    at = 0
    while at < len(run):
        size = next((n for n in (4, 3, 2) if run[at : at + n] in kinds), 0)
        if size:
            yield run[at : at + size]
        at += size or 1


def _display(written: Counter[str], kind: str) -> str:
    """How it is mostly written; a term or phrase without the capitals of titles, if it can be."""

    def rank(text: str) -> tuple[bool, int, str]:
        fits = form_of(text).capital == (kind == "entity")
        return not fits, -written[text], text

    best = min(written, key=rank)
    return best.lower() if kind == "term" and not form_of(best).shaped else best


def _chosen(found: list[_Candidate], taken: set[str], limit: int) -> list[_Candidate]:
    """Those that are suggested, in their order; of several forms of a word the most frequent."""
    stems = {_stems(key) for key in taken}
    ranked: dict[str, list[_Candidate]] = {kind: [] for kind in KINDS}
    for candidate in sorted(found, key=lambda c: (KINDS.index(c.kind), -c.lines, c.term)):
        stemmed = _stems(key_of(candidate.key))
        if stemmed not in stems:
            stems.add(stemmed)
            ranked[candidate.kind].append(candidate)
    shares = _shares([*map(len, ranked.values())], limit)
    return [c for kind, share in zip(KINDS, shares, strict=True) for c in ranked[kind][:share]]


def _shares(there: list[int], limit: int) -> list[int]:
    """How many of each kind: by the shares of twenty, what is not used going to the first."""
    shares = [min(n, limit * part // 20) for n, part in zip(there, _SHARES, strict=True)]
    for n, count in enumerate(there):
        shares[n] += min(count - shares[n], limit - sum(shares))
    return shares


@lru_cache(maxsize=1 << 14)
def _stems(key: str) -> str:
    return " ".join(stem(word) for word in key.split())


def _suggestion(chosen: _Candidate, line: Line) -> Suggestion:
    example = _excerpt(line.text, chosen.term)
    return Suggestion(chosen.term, chosen.lines, chosen.kind, line.path, line.number, example)


def _excerpt(line: str, term: str) -> str:
    """What a line says; of a long one the part around the term."""
    tagged = read_tag(line)
    text = without_comments(tagged[1] if tagged else _LEAD.sub("", line, count=1))
    start = 0
    if len(text) > _EXAMPLE:
        at = max(0, text.lower().find(term.lower()))
        start = max(0, at - _EXAMPLE // 2)
        start = text.find(" ", start, at) + 1 or start if start else 0
    return clip(plain(text[start : start + 4 * _EXAMPLE]), _EXAMPLE)
