"""Names and phrases of several words: runs that come together far more often than by chance."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import pairwise
from math import log

from agent_memfas.text.everyday import is_everyday, is_grammar, is_thing, needed_cohesion
from agent_memfas.text.proper_names import LINKS, Tally, form_of, is_written_as_name
from agent_memfas.text.spans import Line, Span

LONGEST_NAME = 4
LONGEST_PHRASE = 3
LEAST_COHESION = 0.4  # normalised mutual information; 0: by chance, 1: never apart
LEAST_OF_EVERYDAY = 0.85  # where all words are said everywhere: `edge cases`, `front end`
LEAST_LIKELIHOOD = 10.83  # the 0.1 % point of chi-square with one degree of freedom
_ARTICLES = (LINKS - {"of", "the"}) | {"los", "las", "les"}


@dataclass(frozen=True)
class Runs:
    """Runs of words by their keys. words: theirs; solid: where all but the links stand among them.

    On how many lines each stands, lines: at all; capital: with every word written as a name;
    named: and such that the first capital tells; tied: with nothing but hyphens between.
    """

    words: dict[str, tuple[str, ...]] = field(default_factory=dict)
    solid: dict[str, tuple[int, ...]] = field(default_factory=dict)
    lines: Counter[str] = field(default_factory=Counter)
    capital: Counter[str] = field(default_factory=Counter)
    named: Counter[str] = field(default_factory=Counter)
    tied: Counter[str] = field(default_factory=Counter)


class _Chain:
    """A span on its way through the lengths. keys: of its words. after: for each the place of the
    next word that may go on a run, or -1. alive: start -> (last place, key) of its runs.
    """

    def __init__(self, span: Span) -> None:
        self.span = span
        self.keys = [form_of(word).key for word in span.words]
        self.after = [-1] * len(self.keys)
        self.alive: dict[int, tuple[int, str]] = {}

    def lengthen(self) -> None:
        """Make each run one word longer, if both runs in it that are as long as now are alive."""
        runs, self.alive = self.alive, {}
        for start, (last, _) in runs.items():
            end = self.after[last]
            if end >= 0 and end - start < LONGEST_NAME and self.after[start] in runs:
                self.alive[start] = end, " ".join(self.keys[start : end + 1])


def count_runs(lines: Iterable[Line], tally: Tally, least: int) -> Runs:
    """The runs of two to four words that stand on at least `least` lines.

    Length by length, and a run only where both runs in it that are one word shorter are often
    enough: so the rare ones, which are nearly all, take no memory.
    """
    held = [[_chain(span, tally, least) for span in line.spans if len(span.words) > 1]
            for line in lines]  # fmt: skip
    runs = Runs()
    while held:
        found = Counter[str]()
        for chains in held:
            found.update({key for chain in chains for _, key in chain.alive.values()})
        for chains in held:
            for chain in chains:
                chain.alive = {at: run for at, run in chain.alive.items() if found[run[1]] >= least}
            _note(chains, runs)
            for chain in chains:
                chain.lengthen()
        held = [[c for c in chains if c.alive] for chains in held]
        held = [chains for chains in held if chains]
    return runs


def _chain(span: Span, tally: Tally, least: int) -> _Chain:
    chain, following = _Chain(span), -1
    for at in range(len(chain.keys) - 1, -1, -1):
        key = chain.keys[at]
        if tally.lines[key] >= least and len(key) > 1 and (_is_solid(key) or _is_article(span, at)):
            chain.after[at] = following
            if 0 <= following < at + LONGEST_NAME:
                chain.alive[at] = following, " ".join(chain.keys[at : following + 1])
            following = at
        elif key not in LINKS:
            following = -1
    return chain


def _note(chains: list[_Chain], runs: Runs) -> None:
    """Enter the runs of one line, all of one length."""
    seen: dict[str, tuple[bool, bool, bool]] = {}
    for chain in chains:
        span = chain.span
        for start, (last, key) in chain.alive.items():
            capital = is_written_as_name(span, start, last + 1)
            tied = " " not in span.joints[start + 1 : last + 1]
            was = seen.get(key, (False, False, False))
            named = capital and span.named[start]
            seen[key] = was[0] or capital, was[1] or named, was[2] or tied
            if key not in runs.words:
                runs.words[key] = tuple(chain.keys[start : last + 1])
                runs.solid[key] = tuple(at - start for at in _walk(chain.after, start, last))
    for key, (capital, named, tied) in seen.items():
        runs.lines[key] += 1
        runs.capital[key] += capital
        runs.named[key] += named
        runs.tied[key] += tied


def _walk(after: list[int], start: int, last: int) -> Iterator[int]:
    while 0 <= start <= last:
        yield start
        start = after[start]


def _is_solid(key: str) -> bool:
    return not (key in LINKS or is_grammar(key))


def _is_article(span: Span, at: int) -> bool:
    """``Van Gogh``, ``Los Angeles``: words of grammar elsewhere, with a capital before another."""
    if not (span.words[at].istitle() and span.words[at].lower() in _ARTICLES):
        return False
    return span.words[at + 1 : at + 2] != () and span.words[at + 1].istitle()


def is_name_run(key: str, runs: Runs, tally: Tally) -> bool:
    """Whether a run is a name: mostly in capitals, and some place shows that it must be."""
    if 2 * runs.capital[key] < runs.lines[key]:
        return False
    words = [runs.words[key][at] for at in runs.solid[key]]
    if not runs.named[key] and not all(map(tally.is_name, words)):
        return False
    return _cohesion(key, runs, tally)[0] > 0.1


def is_phrase(key: str, runs: Runs, tally: Tally) -> bool:
    """Whether a run is a phrase of its own."""
    words = [runs.words[key][at] for at in runs.solid[key]]
    links = len(runs.words[key]) - len(words)
    if len(words) + links > LONGEST_PHRASE or (links and not _is_pair_of(runs.words[key])):
        return False
    needed = [needed_cohesion(word, last=at == len(words) - 1) for at, word in enumerate(words)]
    if max(needed) > (0.5 if len(words) > 2 else 1):
        return False
    own = min(needed) == 0  # a word that is not said everywhere
    if not own and not is_thing(words[-1]):
        return False
    if own and 2 * runs.tied[key] >= runs.lines[key]:
        return True
    least = max(LEAST_COHESION, *needed) if own else LEAST_OF_EVERYDAY
    cohesion, sure = _cohesion(key, runs, tally)
    return cohesion >= least and sure >= LEAST_LIKELIHOOD


def _is_pair_of(words: tuple[str, ...]) -> bool:
    """``proof of work``; not ``lots of work``."""
    return words[1:-1] == ("of",) and not is_everyday(words[0])


def _cohesion(key: str, runs: Runs, tally: Tally) -> tuple[float, float]:
    """How tightly a run holds together, and how surely, where it could be parted most easily."""
    words, solid, total = runs.words[key], runs.solid[key], tally.total
    mutuals, likelihoods = [], []
    for before, at in pairwise(solid):
        left, right = (
            runs.lines[" ".join(part)] if len(part) > 1 else tally.lines[part[0]]
            for part in (words[: before + 1], words[at:])
        )
        mutuals.append(mutual(runs.lines[key], left, right, total))
        likelihoods.append(likelihood(runs.lines[key], left, right, total))
    return min(mutuals), min(likelihoods)


def mutual(both: int, first: int, second: int, total: int) -> float:
    """Normalised pointwise mutual information, -1 (never together) to 1 (never apart).

    ln(p(xy) / (p(x) p(y))) / -ln p(xy): G. Bouma, "Normalized (pointwise) mutual information in
    collocation extraction", Proceedings of GSCL 2009, pp. 31-40.
    """
    if both >= total:
        return 1.0
    return log(both * total / (first * second)) / -log(both / total)


def likelihood(both: int, first: int, second: int, total: int) -> float:
    """-2 log lambda of the two-by-two table: how sure it is that two words attract each other.

    T. Dunning, "Accurate methods for the statistics of surprise and coincidence", Computational
    Linguistics 19(1), 1993, pp. 61-74, as 2 * sum(observed * ln(observed / expected)).
    """
    table = (
        (both, first * second),
        (first - both, first * (total - second)),
        (second - both, (total - first) * second),
        (total - first - second + both, (total - first) * (total - second)),
    )
    return 2 * sum(n * log(n * total / margins) for n, margins in table if n > 0 and margins > 0)
