"""Where the candidates of a question come from: the index file of this machine, or Milvus.

A backend gives shares of words and nearness by meaning; what a passage is, where it stands, how all
of that is weighed and whether it may be shown is ours, whatever the backend.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from agent_memfas.text.record import Record

if TYPE_CHECKING:
    from array import array
    from collections.abc import Callable

    from agent_memfas.index.database import Database
    from agent_memfas.index.fusion import Measure
    from agent_memfas.index.ranking import Cosines, Part


class Differences(Record):
    """How a backend differs from the index: passages that it lacks, and that it has besides, each
    by the path of its file (once for each passage).
    """

    missing: tuple[str, ...] = ()
    beside: tuple[str, ...] = ()


class Backend(Protocol):
    """What sync, questions, counting and checking need. Passages are told by their number in the
    index. MemfasError where it cannot be reached.
    """

    def sync(
        self, database: Database, deadline: float | None, tell: Callable[[int, int], None] | None
    ) -> int:
        """Bring it in step with the index, until a time of the monotonic clock. Returns how many
        passages are still to come; what was done so far stays done.
        """

    def parts(self, database: Database, question: str) -> list[Part]:
        """For each term of a question the share of the ideal that passages get (see postings)."""

    def cosines(
        self, database: Database, question: str, vector: array[float], model: Measure, *,
        alone: bool,
    ) -> Cosines:  # fmt: skip
        """What a model makes of a question. vector: of length 1. alone: words do not count."""

    def count(self, database: Database) -> int:
        """How many passages of this folder it has."""

    def check(self, database: Database) -> Differences:
        """How it differs from the index, passage by passage."""

    def close(self) -> None:
        """Let go of it, until it is needed again."""
