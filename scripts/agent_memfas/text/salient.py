"""Which lines of a log are worth keeping when only a part of it can be kept, and what of each.

A line is worth what its chance of answering a later question is, over the root of what it costs.
The chance is a logistic model of a few figures of the line, none of which needs to understand it,
fitted to the evidence of LoCoMo's questions. Of these, 62 % have evidence among the lines that are
kept in a tenth of the tokens, 84 % in a fifth; 24 % and 39 % where whole lines are kept by the
rarity of their words. To take away redundancy (MMR), to count what is new in a log and to count
questions against a line changed nothing.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from math import exp, fsum, log, log1p
from typing import NamedTuple

from agent_memfas.text.spoken import Spoken, is_unspaced, size, spoken_in
from agent_memfas.text.stopwords import is_stop_word
from agent_memfas.text.tokens import estimate
from agent_memfas.text.words import terms, words

LONGEST = 2000  # characters of a line that are looked at
COST = 0.6  # the power of a line's tokens that its worth is divided by
LEAST = 0.6  # of the log's average chance: with less a line is not kept, room or not
FEWEST_WORDS = 3  # of an excerpt
FEWEST = 100  # lines that are needed to tell what is rare
KEPT = 0.4  # of what a line tells: the excerpt holds at least so much

# What each figure adds to the logarithm of the odds; counts n are taken as log(1 + n).
_BASE = -4.3
_TELLS = 1.6  # sum over its different words of (rarity in 0..1) squared
_NAMES = 0.6  # capitals inside a sentence
_NUMBERS = 1.35
_TIMES = 1.0  # words that date something
_OWN = 0.35  # first person, outside questions
_ANSWERS = 0.8  # the line before is another's question
_SENTENCES = -0.8  # logarithm of their number

_END = re.compile(r"[.!?;][\"'”’)]*\s+|[。！？；][”’」』）]*\s*")
_QUESTION = re.compile(r"[?？][*_\"”’)）\s]*$")
_NAME = re.compile(r"(?<=[a-z0-9,;:)] )[\"'“(]?[A-Z][\w'-]")
_NUMBER = re.compile(r"\d+")
_FIRST_PERSON = frozenset("i my me i'm i've i'll i'd mine we our us 我 咱 俺".split())
_DATING = frozenset(
    """
    yesterday today tomorrow tonight last next ago since week weeks month months year years weekend
    recently monday tuesday wednesday thursday friday saturday sunday january february march april
    june july august september october november december morning evening night summer winter autumn
    年 月 周 昨 今
    """.split()
)


class Frequencies(NamedTuple):
    """In how many lines each index term stands (`words.terms`), and how many lines there are."""

    holding: Mapping[str, int]
    lines: int

    def rarity(self, term: str) -> float:
        """1.0 for a term of at most one line, 0.0 for a term of all of more than 100 lines."""
        return 1 - log(max(1, self.holding.get(term, 1))) / log(max(self.lines, FEWEST) + 1)


class _Candidate(NamedTuple):
    """A line that may be kept. chance: that it answers a question, 0..1. cost: in tokens."""

    number: int
    said: str
    chance: float
    cost: int

    @property
    def worth(self) -> float:
        return self.chance / exp(COST * log(self.cost))


def frequencies(lines: Iterable[str]) -> Frequencies:
    """Count the terms of lines, as many logs' as there are: what is rare in one may be common."""
    holding, number = Counter[str](), 0
    for line in lines:
        found = set(terms(line[:LONGEST]))
        holding.update(found)
        number += bool(found)
    return Frequencies(holding, number)


def salient(
    lines: Sequence[str], known: Frequencies, budget: int, *,
    opaque: Collection[int] = (), each: int = 0,
) -> list[int]:  # fmt: skip
    """The lines of one log that are most likely to answer a later question, in the text's order.

    budget: tokens, of the excerpts of the lines together, each of which costs `each` more; the
    best line is chosen even where it alone is over it. opaque: lines that are no candidates, such
    as code. Numbers are 0-based. Headings, lines without a word of content, courtesies and what
    says the same again are not chosen. Deterministic; takes as long as sorting the lines.
    """
    chosen, spent = dict[str, int](), 0
    candidates = [*_candidates(lines, known, frozenset(opaque), each)]
    least = LEAST * fsum(line.chance for line in candidates) / max(1, len(candidates))
    for line in sorted(candidates, key=lambda line: (-line.worth, line.number)):
        fits = spent + line.cost <= budget or (not chosen and budget > 0)
        if fits and line.chance >= least and line.said not in chosen:
            chosen[line.said] = line.number
            spent += line.cost
    return sorted(chosen.values())


def chances(
    lines: Sequence[str], known: Frequencies, *, opaque: Collection[int] = ()
) -> dict[int, float]:
    """How likely each line is to answer a question that LoCoMo would ask of such a log, 0..1.

    By 0-based number; as in `salient`, not every line is a candidate.
    """
    found = _candidates(lines, known, frozenset(opaque), 0)
    return {line.number: line.chance for line in found}


def excerpt(line: str, known: Frequencies) -> str:
    """The part of a line that tells most: sentences in a row, as they stand there.

    From the best sentence on it grows until it holds 40 % of what the line tells. Who speaks and
    when, the bullet, tags and comments are no part of it. "" for a line without words.
    """
    text = spoken_in(line[:LONGEST]).text
    spans = _sentences(text)
    if not spans:
        return ""
    tell = [_told(text[start:end], known) for start, end in spans]
    needed = KEPT * sum(tell)
    best = max(range(len(spans)), key=lambda n: (tell[n] / _cost(text, spans[n]) ** 0.3, -n))
    first, last = best, best
    while sum(tell[first : last + 1]) < needed and last - first + 1 < len(spans):
        before = tell[first - 1] if first else -1.0
        after = tell[last + 1] if last + 1 < len(spans) else -1.0
        first, last = (first - 1, last) if before >= after else (first, last + 1)
    return text[spans[first][0] : spans[last][1]].strip()


def _candidates(
    lines: Sequence[str], known: Frequencies, opaque: frozenset[int], each: int
) -> Iterator[_Candidate]:
    asked_by = None
    for number, line in enumerate(lines):
        if number in opaque or line.startswith("#"):
            continue
        spoken = spoken_in(line[:LONGEST])
        kept = excerpt(line, known)
        if size(tuple(words(kept))) >= FEWEST_WORDS and any(map(_is_word, spoken.words)):
            odds = _odds(spoken, known)
            odds += _ANSWERS * (asked_by is not None and asked_by != spoken.speaker)
            cost = max(1, estimate(kept)) + each
            yield _Candidate(number, spoken.text, 1 / (1 + exp(-odds)), cost)
        if spoken.words:
            asked_by = spoken.speaker if _QUESTION.search(spoken.text) else None


def _odds(spoken: Spoken, known: Frequencies) -> float:
    """What a line's own words say."""
    text = spoken.text
    sentences = [text[start:end] for start, end in _sentences(text)]
    stated = [one for one in sentences if not _QUESTION.search(one)]
    said = words(" ".join(stated))
    return (
        _BASE
        + _TELLS * log1p(sum(known.rarity(term) ** 2 for term in _content(text)))
        + _NAMES * log1p(len(_NAME.findall(text)))
        + _NUMBERS * log1p(len(_NUMBER.findall(text)))
        + _TIMES * log1p(sum(word in _DATING for word in said))
        + _OWN * log1p(sum(word in _FIRST_PERSON for word in said))
        + _SENTENCES * log(len(sentences))
    )


def _told(sentence: str, known: Frequencies) -> float:
    """How much one sentence tells; half of it where it only asks."""
    told = sum(known.rarity(term) ** 2 for term in _content(sentence))
    told += _NAMES * len(_NAME.findall(sentence)) + len(_NUMBER.findall(sentence))
    told += _TIMES * sum(word in _DATING for word in words(sentence))
    return told / 2 if _QUESTION.search(sentence) else told


def _sentences(text: str) -> list[tuple[int, int]]:
    """Where the sentences of a line begin and end, those without a word left out."""
    found, start = list[tuple[int, int]](), 0
    for end in [*(match.end() for match in _END.finditer(text)), len(text)]:
        if any(map(str.isalpha, text[start:end])):
            found.append((start, end))
        start = end
    return found


def _cost(text: str, span: tuple[int, int]) -> int:
    return max(1, estimate(text[span[0] : span[1]]))


def _content(text: str) -> set[str]:
    """The index terms of a text that are no stop words; of unspaced scripts the pairs."""
    return {term for term in terms(text) if not (is_stop_word(term) or is_unspaced(term))}


def _is_word(word: str) -> bool:
    return not (word.isdigit() or is_stop_word(word))
