"""The most valuable pieces that fit into a budget of tokens, counted on the text they make.

In order of value each candidate is taken whole where the text with it fits, else as an excerpt that
holds the terms of the question, else it gives way to those after it. What room is then left goes to
the excerpts. None of this relies on how tokens are counted or on how the pieces are put together:
whatever is taken, the text with it has been counted. So a larger budget never gives up a candidate,
or a longer form of one, for what comes after it.
"""

from __future__ import annotations

from agent_memfas.text.record import Record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from agent_memfas.text.counting import Counter
    from agent_memfas.text.excerpts import Excerpts

WHOLE = 2000  # tokens of a candidate; a longer one is shown in part, be the budget what it may
SURELY_LONGER = 10 * WHOLE  # characters: not worth counting
SHORT = 20  # tokens: a fact of fewer is given whole or not at all
LEAST = 8  # tokens: for fewer no excerpt is made
AT_ONCE = 64  # candidates that are tried together
NO_ROOM, ENOUGH, EMPTY = "no room", "enough", "empty"
# What of a candidate's own tokens, and of what the pieces around it cost beside theirs, the text
# will grow by at least: below that it is not tried.
_OWN, _AROUND = 0.9, 0.4


class Candidate(Record):
    """What may be given. key: its name, for the caller. text: as it stands. value: the more, the
    earlier it is taken; not a number counts as none. about: where it is from, for the caller's
    headers. terms: index terms of the question (`words.query_terms`), which excerpts are made for.
    """

    key: str
    text: str
    value: float
    about: str = ""
    terms: tuple[str, ...] = ()


class Chosen(Record):
    """A candidate as it is given. text: all of its text, or an excerpt with … in each gap. tokens:
    of this text alone.
    """

    candidate: Candidate
    text: str
    tokens: int

    @property
    def cut(self) -> bool:
        """Whether it is an excerpt."""
        return self.text != self.candidate.text


class Packed(Record):
    """text: what `compose` made of the chosen ones. tokens: of this text. chosen: by falling value.
    left: the others with the reason: NO_ROOM, ENOUGH (`most` are chosen) or EMPTY (a blank text).
    """

    text: str
    tokens: int
    chosen: tuple[Chosen, ...]
    left: tuple[tuple[Candidate, str], ...]


def pack(
    candidates: Sequence[Candidate],
    budget: int,
    compose: Callable[[Sequence[Chosen]], str],
    count: Counter,
    most: int,
) -> Packed:
    """The candidates that fit, at most `most` of them, the most valuable first, equal ones in the
    order in which they come.

    budget: tokens of the whole text, 0 or more. compose: makes the text of the chosen ones; it may
    add titles and headers, and is called some ten to a hundred times. count: tokens of a text, 0 of
    "". Where not even the text of nothing fits, it is "".
    """
    packing = _Packing(budget, compose, count, most)
    packing.take(sorted(candidates, key=_by_value))
    packing.grow()
    return Packed(packing.text, packing.tokens, tuple(packing.chosen), tuple(packing.left))


def _by_value(candidate: Candidate) -> float:
    return -candidate.value if candidate.value == candidate.value else float("inf")


class _Packing:
    """What is chosen so far, with the text that it makes."""

    def __init__(
        self,
        budget: int,
        compose: Callable[[Sequence[Chosen]], str],
        count: Counter,
        most: int,
    ) -> None:
        self._budget, self._compose, self._count, self._most = budget, compose, count, most
        self.chosen, self.left = list[Chosen](), list[tuple[Candidate, str]]()
        # By place among the chosen: its excerpts, the number of the one that is chosen, and of the
        # longest that it may grow to, for what did not fit once is not tried again.
        self._excerpts: dict[int, tuple[Excerpts, int, int]] = {}
        self.text = compose(())
        self.tokens = count(self.text)
        if self.tokens > budget:
            self.text, self.tokens = "", count("")

    def take(self, candidates: Sequence[Candidate]) -> None:
        """Choose from candidates in this order, and note the others."""
        self.left += [(one, EMPTY) for one in candidates if not one.text.strip()]
        waiting = [self._shown(one, one.text) for one in candidates if one.text.strip()]
        at = 0
        while at < len(waiting) and len(self.chosen) < self._most:
            at += self._take_whole(waiting[at : at + AT_ONCE])
            if at < len(waiting) and len(self.chosen) < self._most:
                if not self._take_part(waiting[at]):
                    self.left.append((waiting[at].candidate, NO_ROOM))
                at += 1
        self.left += [(one.candidate, ENOUGH) for one in waiting[at:]]

    def grow(self) -> None:
        """Give the room that is left to the excerpts, the most valuable first."""
        for place, (excerpts, low, high) in self._excerpts.items():
            self._grow(place, excerpts, low, high)

    def _grow(self, place: int, excerpts: Excerpts, low: int, high: int) -> None:
        """Find the longest that fits of the excerpts from `low`, which is chosen, to `high`."""
        candidate = self.chosen[place].candidate
        while low < high:
            middle = (low + high + 1) // 2
            longer = self._shown(candidate, excerpts.shown(middle))
            fits = self._try([*self.chosen[:place], longer, *self.chosen[place + 1 :]])
            low, high = (middle, high) if fits else (low, middle - 1)

    def _shown(self, candidate: Candidate, text: str) -> Chosen:
        long = len(text) > SURELY_LONGER
        return Chosen(candidate, text, WHOLE + 1 if long else self._count(text))

    def _take_whole(self, waiting: Sequence[Chosen]) -> int:
        """Choose as many from the front as fit together, and say how many."""
        before, low = list(self.chosen), 0
        high = min(len(waiting), self._most - len(before))
        while low < high:
            middle = (low + high + 1) // 2
            fits = self._try([*before, *waiting[:middle]])
            low, high = (middle, high) if fits else (low, middle - 1)
        return low

    def _take_part(self, whole: Chosen) -> bool:
        """Choose an excerpt with all terms of the question, else one with most of them."""
        least = Chosen(whole.candidate, "", LEAST)
        if whole.tokens < SHORT or self._least([*self.chosen, least]) > self._budget:
            return False
        from agent_memfas.text.excerpts import Excerpts

        candidate = whole.candidate
        excerpts = Excerpts(candidate.text, candidate.terms)
        covering = min(excerpts.covering, excerpts.steps)
        for step, high in ((covering, excerpts.steps), (1, covering - 1)):
            if 1 <= step <= high and self._try(
                [*self.chosen, self._shown(candidate, excerpts.shown(step))]
            ):
                self._excerpts[len(self.chosen) - 1] = (excerpts, step, high)
                return True
        return False

    def _try(self, pieces: list[Chosen]) -> bool:
        """Choose these pieces, if none is too long and their text fits."""
        if any(one.tokens > WHOLE for one in pieces) or self._least(pieces) > self._budget:
            return False
        text = self._compose(tuple(pieces))
        tokens = self._count(text)
        if tokens > self._budget:
            return False
        self.chosen, self.text, self.tokens = pieces, text, tokens
        return True

    def _least(self, pieces: Sequence[Chosen]) -> float:
        """Tokens that a text of these pieces has at least: most are turned away without a count."""
        own = sum(one.tokens for one in self.chosen)
        more = sum(one.tokens for one in pieces) - own
        around = max(0, self.tokens - own) / max(1, len(self.chosen))
        return self.tokens + _OWN * more + _AROUND * around * (len(pieces) - len(self.chosen))
