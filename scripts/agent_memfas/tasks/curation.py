"""Curation: of what recall finds for a turn, the most valuable that fits a budget, and an account
of all the rest.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from typing import Protocol

from agent_memfas.text.days import parse_day
from agent_memfas.text.marks import without_comments
from agent_memfas.text.packing import ENOUGH, NO_ROOM, Candidate, Chosen, pack
from agent_memfas.text.tokens import estimate
from agent_memfas.text.valuing import Weights, Worth, similarity, worth
from agent_memfas.text.words import query_terms, terms

TRIGGERED, RELEVANT = "triggered_context", "relevant_memory"
FIRST = 2.0  # value of a trigger: it is in the question, so it comes before whatever is found
GIVEN = "given in this session already"
FAINT = "under the level's min_score"
_TAG = re.compile(rf"<(?=\s*/?\s*(?:{TRIGGERED}|{RELEVANT}))", re.IGNORECASE)
REASONS = {NO_ROOM: "does not fit into the budget", ENOUGH: "over the level's max_results"}


class Hit(Protocol):
    """What is looked at of a hit of recall."""

    @property
    def path(self) -> str:
        """Relative to the root."""

    @property
    def start_line(self) -> int:
        """1-based."""

    @property
    def end_line(self) -> int:
        """Inclusive."""

    @property
    def heading(self) -> str:
        """The headings above, joined."""

    @property
    def date(self) -> str | None:
        """ISO, or None."""

    @property
    def score(self) -> float:
        """0 to 1."""

    @property
    def text(self) -> str:
        """Its lines."""

    @property
    def labels(self) -> tuple[str, ...]:
        """expired, superseded."""

    @property
    def seals(self) -> tuple[int, ...]:
        """What it is known by, itself first."""


@dataclass(frozen=True)
class Wish:
    """What a turn asks for. budget: tokens of the whole context; most: memories at most; least:
    what one must score. topic: of the turn, as words. accesses, included: by memory id, how often
    each was given at all and in this session. given: ids that are not to come again.
    timeless: what is worth a place is chosen by all but its age: for a budget of one's own, which
    holds far more than what is recent (16 % of LoCoMo's tokens: 84 % of the evidence, else 77 %).
    """

    query: str
    today: date
    budget: int
    least: float
    most: int
    weights: Weights = field(default_factory=Weights)
    topic: str = ""
    accesses: Mapping[str, int] = field(default_factory=dict)
    included: Mapping[str, int] = field(default_factory=dict)
    given: frozenset[str] = frozenset()
    timeless: bool = False
    count: Callable[[str], int] = estimate


@dataclass(frozen=True)
class Rated:
    """A memory with its value for a turn. id: of its text and file, stays while these do."""

    id: str
    hit: Hit
    worth: Worth

    @property
    def source(self) -> str:
        """Its file, and its lines there."""
        hit = self.hit
        lines = str(hit.start_line)
        if hit.end_line > hit.start_line:
            lines += f"-{hit.end_line}"
        return f"{hit.path}:{lines}"


@dataclass(frozen=True)
class Kept:
    """A memory in the context. text: as it stands there, of so many tokens; cut: it is only a part
    of the memory.
    """

    memory: Rated
    text: str
    cut: bool
    tokens: int


@dataclass(frozen=True)
class Left:
    """A memory that is not in the context, and why."""

    memory: Rated
    reason: str


@dataclass(frozen=True)
class Curation:
    """The context and its account. rated: all that was scored, best first. filtered: under
    min_score. dropped: the others that are not in it. triggers: how many are in it, of how many.
    """

    text: str
    tokens: int
    kept: tuple[Kept, ...]
    dropped: tuple[Left, ...]
    filtered: tuple[Left, ...]
    rated: tuple[Rated, ...]
    triggers: int
    triggers_found: int
    count: Callable[[str], int]

    def cost(self, one: Rated) -> int:
        """Tokens of a memory as it would be given, whole."""
        return self.count(_shown(one.hit))


def rate(hits: Sequence[Hit], wish: Wish) -> list[Rated]:
    """The hits with their values, in the order in which they are chosen; of equal ones that comes
    first which recall had first. What a file says twice word for word counts once.
    """
    topic, length = set(terms(wish.topic)), len(query_terms(wish.query))
    rated = [_rated(hit, wish, topic, length) for hit in hits]
    first = dict[str, Rated]()
    for one in sorted(rated, key=lambda one: -_rank(one, wish)):
        first.setdefault(one.id, one)
    return list(first.values())


def _rank(one: Rated, wish: Wish) -> float:
    value = one.worth.value
    return value - wish.weights.recency * one.worth.recency if wish.timeless else value


def _rated(hit: Hit, wish: Wish, topic: set[str], length: int) -> Rated:
    known = ids_of(hit)
    day = parse_day(hit.date or "")
    age = (wish.today - day).days if day else None
    shared = None
    if topic:
        here = set(terms(f"{hit.path} {hit.heading} {hit.text}"))
        shared = len(topic & here) / len(topic)
    value = worth(
        similarity(hit.score, length), age, _times(wish.accesses, known), shared, wish.weights,
        included=_times(wish.included, known),
    )  # fmt: skip
    return Rated(known[0], hit, value)


def ids_of(hit: Hit) -> list[str]:
    """What a memory is known by from turn to turn, its file and its words; then those of the other
    places that say the same.
    """
    return [f"{seal:08x}" for seal in hit.seals] or [f"{hit.path}:{hit.start_line}"]


def _times(counts: Mapping[str, int], known: Sequence[str]) -> int:
    return max(counts.get(one, 0) for one in known)


def curate(hits: Sequence[Hit], triggers: Sequence[tuple[str, str]], wish: Wish) -> Curation:
    """Choose among hits, and among triggers, each (keyword, hint). The text has at most
    wish.budget tokens, tags, sources and triggers included, whatever that is.
    """
    rated = rate(hits, wish)
    filtered = [Left(one, FAINT) for one in rated if one.worth.value < wish.least]
    fit = [one for one in rated if one.worth.value >= wish.least]
    wanted = [one for one in fit if wish.given.isdisjoint(ids_of(one.hit))]
    dropped = [Left(one, GIVEN) for one in fit if not wish.given.isdisjoint(ids_of(one.hit))]
    query = tuple(query_terms(wish.query))
    candidates = [
        Candidate(f"t{n}", _one_line(f"[{keyword}] {hint}"), FIRST, "", query)
        for n, (keyword, hint) in enumerate(triggers)
    ]
    by_key = {one.id: one for one in wanted}
    candidates += [
        Candidate(one.id, _shown(one.hit), _rank(one, wish), one.hit.path, query)
        for one in by_key.values()
    ]
    numbers = {one.id: one.hit.start_line for one in wanted}
    labels = {one.id: f"({', '.join(one.hit.labels)}) " for one in wanted if one.hit.labels}

    def compose(chosen: Sequence[Chosen]) -> str:
        return composed(chosen, numbers, labels)

    packed = pack(candidates, wish.budget, compose, wish.count, wish.most + len(triggers))
    kept = [
        Kept(by_key[c.candidate.key], c.text, c.cut, c.tokens) for c in packed.chosen
        if c.candidate.key in by_key
    ]  # fmt: skip
    dropped += [
        Left(by_key[candidate.key], REASONS.get(reason, reason))
        for candidate, reason in packed.left if candidate.key in by_key
    ]  # fmt: skip
    return Curation(
        packed.text, packed.tokens, tuple(kept), tuple(dropped), tuple(filtered), tuple(rated),
        len(packed.chosen) - len(kept), len(triggers), wish.count,
    )  # fmt: skip


def composed(
    chosen: Sequence[Chosen], numbers: Mapping[str, int], labels: Mapping[str, str]
) -> str:
    """The context: triggers, then memories under their files, each file once, the best first, each
    memory with the number of its first line, and with its labels, whatever is cut away of it. ""
    for nothing.
    """
    hints = [one.text for one in chosen if not one.candidate.about]
    files = dict[str, list[Chosen]]()
    for one in chosen:
        if one.candidate.about:
            files.setdefault(one.candidate.about, []).append(one)
    lines = [f"<{TRIGGERED}>", *hints, f"</{TRIGGERED}>"] if hints else []
    if files:
        lines.append(f"<{RELEVANT}>")
        for path, found in files.items():
            lines.append(_one_line(f"[{path}]"))
            found.sort(key=lambda one: numbers[one.candidate.key])
            keys = [(one.candidate.key, one.text) for one in found]
            lines += [f"{numbers[key]}: {labels.get(key, '')}{text}" for key, text in keys]
        lines.append(f"</{RELEVANT}>")
    return "\n".join(lines)


def _shown(hit: Hit) -> str:
    """A memory as it is given: without its bullet, comments and what would close our tags."""
    text = without_comments(hit.text).strip()
    return _harmless(text.removeprefix("- ").strip() or hit.text.strip())


def _one_line(text: str) -> str:
    return _harmless(" ".join(text.split()))


def _harmless(text: str) -> str:
    """Text in which neither of our tags can begin or end."""
    return _TAG.sub("‹", text)
