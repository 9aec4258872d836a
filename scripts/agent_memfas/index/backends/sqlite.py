"""The index file of this machine as a backend: nothing to bring in step, for it is the index."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from agent_memfas.index import embedded, fusion
from agent_memfas.index.backends import Differences
from agent_memfas.index.postings import postings
from agent_memfas.index.ranking import POOL, Cosines

if TYPE_CHECKING:
    from array import array
    from collections.abc import Callable

    from agent_memfas.index.database import Database
    from agent_memfas.index.fusion import Measure
    from agent_memfas.index.ranking import Part

ALONE = 0.5  # spreads above the ordinary from which a passage is near; 1 beside words


class SqliteBackend:
    """Postings of FTS5, and all vectors in memory, compared one by one."""

    def __init__(self) -> None:
        self._loaded: tuple[object, embedded.Matrix] | None = None
        self._stored = 0

    def sync(
        self,
        database: Database,  # noqa: ARG002
        deadline: float | None,  # noqa: ARG002
        tell: Callable[[int, int], None] | None,  # noqa: ARG002
    ) -> int:
        """Nothing to do."""
        return 0

    def parts(self, database: Database, question: str) -> list[Part]:
        """See postings."""
        return postings(database.connection, database.count("passages"), question)

    def cosines(
        self, database: Database, question: str, vector: array[float], model: Measure, *,
        alone: bool,
    ) -> Cosines:  # fmt: skip
        """What the model makes of a question, against all passages of the index."""
        import numpy

        matrix = self._matrix(database)
        latin = fusion.is_latin(question)
        if not matrix.numbers or len(vector) != matrix.rows.shape[1]:
            return Cosines([], lambda _: None, model.ordinary, model.spread, 0.0, latin)
        found = matrix.rows @ numpy.asarray(vector, dtype=numpy.float32)
        listed = found.tolist()
        ordinary, spread = fusion.standard(
            len(found), float(found.mean()), float(found.std()), model
        )
        trust = 1.0 if alone else model.trust
        most = min(POOL, len(found))
        best: Any = numpy.argpartition(-found, most - 1)[:most] if trust else []
        least = ordinary + (ALONE if alone else 1.0) * spread
        best = [int(n) for n in best if found[n] > least]
        position = matrix.position

        def of(passage: int) -> float | None:
            at = position(passage)
            return None if at is None else listed[at]

        nearest = [matrix.numbers[n] for n in best]
        return Cosines(nearest, of, ordinary, spread, trust, latin, alone)

    def count(self, database: Database) -> int:
        """All of them."""
        return database.count("passages")

    def check(self, database: Database) -> Differences:  # noqa: ARG002
        """None: `index.audit` compares the index with the files."""
        return Differences()

    def changed(self) -> None:
        """Vectors were stored."""
        self._stored += 1

    def close(self) -> None:
        """Let go of the vectors."""
        self._loaded = None

    def _matrix(self, database: Database) -> embedded.Matrix:
        """The vectors that there are, loaded when they or the passages have changed."""
        token = (database.token(), self._stored)
        if self._loaded is None or self._loaded[0] != token:
            self._loaded = token, embedded.load(database.connection)
        return self._loaded[1]
