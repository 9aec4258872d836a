"""Answers whose candidates come from a backend that many machines share.

The index of this machine stays in step with the files, for it says what a passage is and where it
stands. The backend ranks only while it holds just that state of the files; where it does not, or
does not answer, this machine's own index ranks, and a note of the answer says so.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, TypeVar

from agent_memfas.errors import MemfasError
from agent_memfas.index.backends import Differences
from agent_memfas.index.backends.collection import Address, Collection, Gone
from agent_memfas.index.backends.milvus import MilvusBackend
from agent_memfas.index.feeding import Noted, Unranked, ours_as_unranked
from agent_memfas.index.keeper import BUDGET, Keeper
from agent_memfas.index.priors import PLAIN, Leaning
from agent_memfas.index.probes import PROBE
from agent_memfas.index.rows import Found
from agent_memfas.index.semantic import SECONDS, Backed, Listening, Semantic
from agent_memfas.index.unit import embed, name_of

if TYPE_CHECKING:
    from array import array

    from agent_memfas.embedders.base import Embedder
    from agent_memfas.index.database import Database
    from agent_memfas.index.keeper import Source
    from agent_memfas.index.ranking import Cosines

T = TypeVar("T")
HERE = "ranked by the index of this machine"
ROUNDS = 10  # times to push what was written meanwhile


class Shared(Semantic):
    """A keeper whose candidates come from Milvus, by words and, with an embedder, by meaning."""

    _address: Address

    def rank_at(self, address: Address, embedder: Embedder | None) -> None:
        """From now on, this collection gives the candidates."""
        self._address = address
        self._has_model = embedder is not None
        if embedder is not None:
            self.lean_on(embedder, alone=False)
        self._backend: MilvusBackend | None = None

    def answer(self, asked: Callable[[Source], T], as_of: int, budget: float | None = BUDGET) -> T:
        """As of any keeper; see the module."""
        listening = Listening(self._heard)
        found = Keeper.answer(self, lambda s: asked(listening.to(s)), as_of, budget)
        if listening.question is None:
            return found
        try:
            if listening.apart:
                raise Unranked("the index cannot be used")
            with ours_as_unranked():
                vector, backend = self._vector(listening), self._opened()

                def cosines(database: Database, question: str) -> Cosines | None:
                    if vector is None:
                        return None
                    return self.cosines(database, question, vector, backend)

                with backend.collection.opened():
                    self._in_step(backend, time.monotonic() + SECONDS)
                    return Keeper.answer(
                        self, lambda s: asked(_Shown(s, backend, cosines)), as_of, budget
                    )
        except Unranked as why:
            note = f"{HERE}: {why}"
        if self._has_model and self._address.push:
            return Semantic.answer(self, lambda s: asked(Noted(s, note)), as_of, budget)
        return Keeper.answer(self, lambda s: asked(Noted(s, note)), as_of, budget)

    def feed(self, as_of: int) -> int:
        """Make the vectors that are missing, and bring the collection in step, however long it
        takes. Returns how many passages there are. Gone; the embedder's own errors.
        """
        if self._has_model and self._address.push:
            super().feed(as_of)
        database = self.source(as_of).database
        backend = self._opened()
        with backend.collection.opened():
            for _ in range(ROUNDS):
                if not self._sync(backend, None):
                    break
                database = self.source(as_of).database
        return database.count("passages")

    def withdraw(self, as_of: int) -> int:
        """Take this folder out of the collection. Returns how many passages that were. Gone; Apart
        where this machine does not push.
        """
        database = self.source(as_of).database
        backend = self._opened()
        with backend.collection.opened():
            return backend.forget(database)

    def differences(self) -> tuple[Differences, int]:
        """How the collection differs from the index as it is, and how many passages it has. Gone,
        NoIndex.
        """
        database = self._open()
        backend = self._opened()
        with backend.collection.opened():
            return backend.check(database), backend.collection.count()

    def close(self) -> None:
        """Let go of the index, of the collection, and of what this machine knows of it."""
        super().close()
        if self._backend is not None:
            self._backend.close()
            self._backend = None

    # Inside

    def _heard(self, database: Any) -> list[tuple[bytes, str]]:
        return self._learn(database) if self._has_model else []

    def _vector(self, listening: Listening) -> array[float] | None:
        """Of the question, where there is a model; then all passages have theirs."""
        if not self._has_model or listening.question is None:
            return None
        if self._address.push and (left := self._make_up_for(listening.missing, SECONDS)):
            raise Unranked(f"{left} passages have no vector yet: `memfas index` makes them")
        if self._model is None:
            self._is_other_model()
        return self.of_question(listening.question)

    def _opened(self) -> MilvusBackend:
        """The backend for this model; its collection is not connected yet."""
        if self._backend is None:
            model, dimension = "", 0
            if self._has_model:
                if self._probe is None:
                    self._probe = embed(self._embedder, [PROBE])[0]
                model, dimension = name_of(self._embedder), len(self._probe)
            self._backend = MilvusBackend(Collection(self._address, model, dimension))
        return self._backend

    def _in_step(self, backend: MilvusBackend, deadline: float) -> None:
        if left := self._sync(backend, deadline):
            raise Unranked(
                f"{left} passages are not in the shared index yet: `memfas index` puts them there"
            )

    def _sync(self, backend: MilvusBackend, deadline: float | None) -> int:
        database = self._database or self._copy
        if database is None:
            raise Gone("there is no index to bring it in step with")
        return backend.sync(database, deadline, self._tell if deadline is None else None)


class _Shown(Backed):
    """The same of a backend that may go while it is asked, and that does not give all there is."""

    def ranked(self, question: str, leaning: Leaning = PLAIN) -> Iterator[Found]:
        """Passages, best first; after those of the backend what the index has besides. Unranked."""
        given, least = set[tuple[str, int]](), 1.0
        try:
            first = super().ranked(question, leaning)
        except MemfasError as error:
            raise Unranked(error.message) from error
        for found in first:
            given.add((found.path, found.row.start))
            least = min(least, found.score)
            yield found
        for found in self._source.ranked(question, leaning):
            if (found.path, found.row.start) not in given:
                yield Found(found.path, found.kind, found.row, min(found.score, least))


def shared(address: Address, embedder: Embedder | None) -> Callable[..., Keeper]:
    """What makes the keeper for a collection, with the arguments of `Keeper`."""

    def make(*places: Any, **options: Any) -> Shared:
        keeper = Shared(*places, **options)
        keeper.rank_at(address, embedder)
        return keeper

    return make
