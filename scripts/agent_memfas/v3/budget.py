"""Fitting scored memories into a budget of tokens: the reference's objects over text/packing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from agent_memfas.errors import UsageError
from agent_memfas.remote.counting import counter
from agent_memfas.text.counting import Counter
from agent_memfas.text.packing import Candidate, Chosen, pack
from agent_memfas.v3.scoring import ScoredMemory

DEFAULT_BUDGET, LEAST_BUDGET = 8000, 100


@dataclass
class CuratedContext:
    """What fits. memories: best first. total_tokens: of the context that they make; never more than
    budget. utilization: its share of the budget. dropped: those that do not fit. text: the context.
    """

    memories: list[ScoredMemory]
    total_tokens: int
    budget: int
    utilization: float
    dropped: list[ScoredMemory] = field(default_factory=list)
    text: str = ""


class TokenBudget:
    """A budget of tokens. count: tokens of a text, None for the usual counter."""

    def __init__(self, budget: int = DEFAULT_BUDGET, count: Counter | None = None) -> None:
        self._count = count or counter()
        self.budget = LEAST_BUDGET
        self.set_budget(budget)

    def set_budget(self, budget: int) -> None:
        """Another budget, at least 100 tokens."""
        if type(budget) is not int:
            raise UsageError(f"budget {budget!r}: not a number of tokens", "at least 100")
        self.budget = max(LEAST_BUDGET, budget)

    def count_tokens(self, text: str) -> int:
        """Tokens of a text."""
        return self._count(text)

    def fit(self, scored: Sequence[ScoredMemory], max_results: int | None = None) -> CuratedContext:
        """The memories that fit, by falling score: short ones are never passed over, a long one is
        cut around its best sentences where the whole does not fit.
        """
        by_key = {str(n): one for n, one in enumerate(scored)}
        candidates = [
            Candidate(key, one.memory.text, one.score, one.memory.source)
            for key, one in by_key.items()
        ]
        most = len(by_key) if max_results is None else max_results
        packed = pack(candidates, self.budget, _composed, self._count, most)
        return CuratedContext(
            [by_key[one.candidate.key] for one in packed.chosen], packed.tokens, self.budget,
            packed.tokens / self.budget, [by_key[one.key] for one, _ in packed.left], packed.text,
        )  # fmt: skip


def _composed(chosen: Sequence[Chosen]) -> str:
    return "\n\n".join(f"[{one.candidate.about}]\n{one.text}" for one in chosen)
