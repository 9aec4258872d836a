"""A folder with memories in it, and what a response must be whatever it was asked for."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date, timedelta
from typing import Any

from agent_memfas.v3 import ContextCurator, ContextResponse
from inputs.memory import Memory, Result

TAGS = ("triggered_context", "relevant_memory")


def days_ago(days: int) -> str:
    """The day of an entry that is so old."""
    return (date.today() - timedelta(days=days)).isoformat()


class Agent(Memory):
    """A memory folder that is asked for contexts."""

    def keep(self, *texts: str) -> None:
        """A MEMORY.md of entries that never expire."""
        self.write("MEMORY.md", "".join(f"- [P0] {text}\n" for text in texts))

    def curate(self, *arguments: str) -> Result:
        """`memfas curate --root HERE ARGUMENTS`; whatever goes wrong, it is said in a sentence."""
        result = self.run("curate", *arguments)
        assert "Traceback" not in result.everything, result
        assert "a fault of memfas" not in result.everything, result
        return result

    def data(self, *arguments: str) -> dict[str, Any]:
        """The same as data."""
        return self.curate(*arguments, "--json").data


def check(response: ContextResponse, curator: ContextCurator, count: Callable[[str], int]) -> None:
    """What holds for every response: within the budget, counted on what is returned, each tag
    once, each memory with one fate."""
    context, account = response.context, curator.last
    assert response.tokens_used == response.curated_tokens == count(context)
    assert response.tokens_used <= response.budget
    for tag in TAGS:
        assert context.count(f"<{tag}") == context.count(f"</{tag}") <= 1
    assert account is not None
    fates = [kept.memory.id for kept in account.kept]
    fates += [left.memory.id for left in (*account.dropped, *account.filtered)]
    assert sorted(fates) == sorted(one.id for one in account.rated)
    assert len(set(fates)) == len(fates)
    numbers = (
        response.memories_included, response.memories_dropped, response.memories_filtered,
    )  # fmt: skip
    assert numbers == (len(account.kept), len(account.dropped), len(account.filtered))
    assert (f"<{TAGS[1]}>" in context) == bool(account.kept)
    assert (f"<{TAGS[0]}>" in context) == bool(response.triggers_matched)
