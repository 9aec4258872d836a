"""What a compaction does with each chunk of a context: the formula and thresholds of agent-memfas
0.4, then the sizes that the result must keep to. Pure: no text is looked at here.

score = similarity * memfas_weight + exp(-hours / 6) * recency_bonus + importance_bonus where it is
important (agent_memfas.context, README and source of 0.4.0; REFERENCE, "Scoring"). With the default
weights 0.9 is the most; 6 hours leave 37 % of the recency, a day 2 %.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import exp

from agent_memfas.text.record import Record

KEEP, SUMMARIZE, DROP = "keep", "summarize", "drop"
PINNED, NEAR, FREE = "pinned", "near", "free"
DECAY = 6.0  # hours
SPARE = 0.8  # of the trigger: a context that has to become smaller becomes so small
SHORTEST = 50  # words: a chunk of fewer is not worth a summary (the reference's figure)
SHARE = 0.4  # of its tokens that a summary has at most
LEAST = 24  # tokens of a summary, at least


def score(
    similarity: float, hours: float, important: bool, weights: tuple[float, float, float]
) -> float:
    """The score of a chunk. similarity: 0..1. hours: since it was said; what lies ahead counts as
    now. weights: of similarity, recency and importance.
    """
    recency = exp(-max(0.0, hours) / DECAY)
    return similarity * weights[0] + recency * weights[1] + weights[2] * important


def classify(value: float, cutoff: float, keep: float) -> str:
    """KEEP from `keep` on, DROP up to `cutoff`, else SUMMARIZE."""
    return KEEP if value >= keep else DROP if value <= cutoff else SUMMARIZE


def summary_target(tokens: int, most: int) -> int:
    """Tokens that the summary of a chunk may have."""
    return max(min(most, int(tokens * SHARE)), min(LEAST, tokens))


class Chunk(Record):
    """A chunk as a compaction sees it. tokens: as it is. short: of its summary, the same where
    there is none to be had. standing: PINNED, never touched; NEAR, shortened at the very end; FREE.
    """

    tokens: int
    score: float
    short: int
    standing: str = FREE


class Bounds(Record):
    """What decides. cutoff, keep: thresholds. floor: chunks that are left at least. trigger: tokens
    that the result is under; most: that it is never over, whatever it costs, if it can be.
    may_drop: False where what is dropped would be kept nowhere: then only the sizes drop.
    """

    cutoff: float
    keep: float
    floor: int
    trigger: int
    most: int
    may_drop: bool = True
    may_shorten: bool = True


class Plan(Record):
    """actions: KEEP, SUMMARIZE or DROP, by chunk. pressed: which of them the sizes decided, not the
    scores. tokens: of the result as it was reckoned.
    """

    actions: tuple[str, ...]
    pressed: frozenset[int]
    tokens: int


def plan(chunks: Sequence[Chunk], groups: Sequence[tuple[int, ...]], bounds: Bounds) -> Plan:
    """What becomes of each chunk. groups: positions that are dropped together or not at all; each
    is as good as its best. Deterministic; n log n.
    """
    planning = _Planning(chunks, groups, bounds)
    planning.by_scores()
    planning.by_floor()
    planning.by_size()
    actions = tuple(planning.actions)
    return Plan(actions, frozenset(planning.pressed), planning.tokens)


class _Planning:
    def __init__(
        self, chunks: Sequence[Chunk], groups: Sequence[tuple[int, ...]], bounds: Bounds
    ) -> None:
        self._chunks, self._groups, self._bounds = chunks, groups, bounds
        self.actions = [KEEP] * len(chunks)
        self.pressed = set[int]()
        self.tokens = sum(chunk.tokens for chunk in chunks)
        self._was_over = self.tokens >= bounds.trigger
        self._left = len(chunks)

    def by_scores(self) -> None:
        """Thresholds, for what is free."""
        for group in self._free():
            action = classify(self._best(group), self._bounds.cutoff, self._bounds.keep)
            lost = action == DROP and not self._bounds.may_drop
            self._set(group, SUMMARIZE if lost else action)

    def by_floor(self) -> None:
        """While too few are left, the best of those to be dropped are shortened instead."""
        dropped = [group for group in self._free() if self.actions[group[0]] == DROP]
        for group in sorted(dropped, key=lambda group: (-self._best(group), -group[0])):
            if self._left >= self._bounds.floor:
                return
            self._set(group, SUMMARIZE)

    def by_size(self) -> None:
        """While it is too large: what costs least first. The floor gives way last but for what is
        near, which goes only where the window is full.

        A context that was over the trigger is too large until some of it is to spare: else it would
        be compacted again with each turn.
        """
        low = int(self._bounds.trigger * SPARE)
        if self.tokens < (low if self._was_over else self._bounds.trigger):
            return
        free = sorted(self._free(), key=self._cheapest)
        near = self._of(NEAR)
        self._press(free, KEEP, SUMMARIZE, low)
        self._press(free, SUMMARIZE, DROP, low, floor=self._bounds.floor)
        self._press(near, KEEP, SUMMARIZE, low)
        self._press(free, SUMMARIZE, DROP, low)
        self._press(near, SUMMARIZE, DROP, self._bounds.most)

    def _press(
        self, groups: Sequence[tuple[int, ...]], was: str, action: str, most: int, floor: int = 0
    ) -> None:
        for group in groups:
            if self.tokens <= most:
                return
            if self.actions[group[0]] != was:
                continue
            if action == DROP and self._left - len(group) < floor:
                continue
            self._set(group, action)
            self.pressed.update(group)

    def _set(self, group: tuple[int, ...], action: str) -> None:
        for n in group:
            was = self.actions[n]
            self.tokens += self._size(n, action) - self._size(n, was)
            self._left += (was == DROP) - (action == DROP)
            self.actions[n] = action

    def _size(self, n: int, action: str) -> int:
        chunk = self._chunks[n]
        if action == DROP:
            return 0
        shortened = action == SUMMARIZE and self._bounds.may_shorten
        return chunk.short if shortened else chunk.tokens

    def _best(self, group: tuple[int, ...]) -> float:
        return max(self._chunks[n].score for n in group)

    def _cheapest(self, group: tuple[int, ...]) -> tuple[float, int, int]:
        """By score in tenths, then the longest, then the oldest."""
        tokens = sum(self._chunks[n].tokens for n in group)
        return round(self._best(group), 1), -tokens, group[0]

    def _free(self) -> Iterator[tuple[int, ...]]:
        return iter(self._of(FREE))

    def _of(self, standing: str) -> list[tuple[int, ...]]:
        """The groups of that standing: of the highest of its chunks'."""
        order = (FREE, NEAR, PINNED)
        return [
            group for group in self._groups
            if max(order.index(self._chunks[n].standing) for n in group) == order.index(standing)
        ]  # fmt: skip
