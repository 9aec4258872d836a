"""Answers that go by meaning, too: a keeper with an embedder.

What is asked is found out first, without an answer, so that nothing is embedded while the index is
held: an endpoint may be slow, and others want to write. Whatever has no vector yet is found by
words; a question spends a second on making vectors, `feed` as long as it takes.
"""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

from agent_memfas.errors import FileFault, TryAgain, UsageError
from agent_memfas.index import embedded, fusion, search
from agent_memfas.index.backends import Backend
from agent_memfas.index.backends.sqlite import SqliteBackend
from agent_memfas.index.feeding import BY_WORDS, Noted, Unranked, ours_as_unranked
from agent_memfas.index.keeper import BUDGET, IndexSource, Keeper
from agent_memfas.index.priors import PLAIN, Leaning
from agent_memfas.index.probes import LATIN, OTHER, PROBE
from agent_memfas.index.ranking import Cosines
from agent_memfas.index.rebuild import hold_index
from agent_memfas.index.rows import Found
from agent_memfas.index.unit import are_alike, embed, embed_question, name_of
from agent_memfas.text.asked import is_assistant, is_named

if TYPE_CHECKING:
    from array import array

    from agent_memfas.embedders.base import Embedder
    from agent_memfas.index.database import Database
    from agent_memfas.index.fusion import Measure
    from agent_memfas.index.keeper import Source

T = TypeVar("T")
SECONDS = 1.0  # that a question may spend on vectors of what is new
AT_ONCE = 32  # texts between two looks at the clock


class Semantic(Keeper):
    """A keeper whose answers a model ranks, with the words or alone.

    Where the model fails with one of our errors words rank, and a note of the answer says so.
    """

    _embedder: Embedder
    _alone: bool

    def lean_on(self, embedder: Embedder, *, alone: bool) -> None:
        """From now on, this model ranks. alone: words do not count."""
        if not hasattr(embedder, "embed"):
            raise UsageError(f"embedder: {embedder!r} is no embedder", "see Embedder")
        self._embedder, self._alone = embedder, alone
        self._model: tuple[str, array[float], list[Measure]] | None = None
        self._probe: array[float] | None = None
        self._measures: list[Measure] | None = None
        self._ours = SqliteBackend()
        self._people: list[str] = []
        self._known: object = None
        self._left = 0

    def answer(self, asked: Callable[[Source], T], as_of: int, budget: float | None = BUDGET) -> T:
        """As of any keeper; passages come in the order of words and meaning."""
        listening = Listening(self._learn)
        found = super().answer(lambda s: asked(listening.to(s)), as_of, budget)
        if listening.question is None:
            return found
        try:
            if listening.apart:
                raise Unranked("the index cannot be used, and vectors are kept in it")
            left = self._make_up_for(listening.missing, SECONDS)
            vector = self.of_question(listening.question)
        except Unranked as why:
            note = f"{BY_WORDS}: {why}"
            return super().answer(lambda s: asked(Noted(s, note)), as_of, budget)
        note = f"{left} passages have no vector yet: `memfas index` makes them" if left else ""

        def cosines(database: Database, question: str) -> Cosines:
            return self.cosines(database, question, vector)

        return super().answer(lambda s: asked(Backed(s, self._ours, cosines, note)), as_of, budget)

    def feed(self, as_of: int) -> int:
        """Make every vector that is missing. Returns how many passages there are.

        The embedder's own errors, as they come.
        """
        database = self.source(as_of).database
        self._model = embedded.known_model(database.meta)
        try:
            if self._make_up_for(embedded.missing(database.connection), None):
                raise TryAgain("another process is writing the index", "run it again in a moment")
        except Unranked as why:
            raise why.__cause__ or why from None
        return self._ours.count(database)

    def of_question(self, question: str) -> array[float]:
        """The vector of a question, as it is compared. Unranked where the model fails."""
        with ours_as_unranked():
            return embed_question(self._embedder, without_names(question, self._people))

    def cosines(
        self, database: Database, question: str, vector: array[float],
        backend: Backend | None = None,
    ) -> Cosines:  # fmt: skip
        """What the model makes of a question, by the vectors of a backend, else of the index."""
        assert self._model is not None
        model = self._model[2][0 if fusion.is_latin(question) else 1]
        where = backend or self._ours
        return where.cosines(database, question, vector, model, alone=self._alone)

    # Inside

    def _learn(self, database: Database) -> list[tuple[bytes, str]]:
        """The texts that have no vector; on the way, who there is and whose vectors there are."""
        token = database.token()
        self._model = embedded.known_model(database.meta)
        if token == self._known and not self._left:
            return []
        self._known = token
        self._people = embedded.speakers(database.connection)
        return embedded.missing(database.connection)

    def _make_up_for(self, missing: list[tuple[bytes, str]], seconds: float | None) -> int:
        """Make vectors for so many seconds, not counting those in which the model loads. Returns
        how many are left.
        """
        with ours_as_unranked():
            if self._is_other_model():
                missing = self._start_anew()
            deadline = None if seconds is None else time.monotonic() + seconds
            self._left = len(missing)
            for at in range(0, len(missing), AT_ONCE):
                if deadline is not None and time.monotonic() > deadline:
                    break
                some = missing[at : at + AT_ONCE]
                texts = [embedded.embedded(text) for _, text in some]
                vectors = embed(self._embedder, texts)
                packed = [
                    (key, embedded.packed(v)) for (key, _), v in zip(some, vectors, strict=True)
                ]
                if not self._store(partial(embedded.put, vectors=packed)):
                    break
                self._left -= len(some)
                if self._tell:
                    self._tell(at + len(some), len(missing))
        return self._left

    def _is_other_model(self) -> bool:
        """Whether the vectors that are there are not of this model; then it is measured."""
        name = name_of(self._embedder)
        if self._probe is None:
            self._probe = embed(self._embedder, [PROBE])[0]
        known = self._model
        if known is not None and known[0] == name and are_alike(known[1], self._probe):
            return False
        if self._measures is None:
            self._measures = [self._measured(pairs) for pairs in (LATIN, OTHER)]
        self._model = name, self._probe, self._measures
        return True

    def _measured(self, pairs: tuple[tuple[str, str], ...]) -> Measure:
        questions = [embed_question(self._embedder, asked) for asked, _ in pairs]
        return fusion.measure(questions, embed(self._embedder, [a for _, a in pairs]))

    def _start_anew(self) -> list[tuple[bytes, str]]:
        """Throw away the vectors of another model. Returns the texts, which have none now."""
        model = self._model
        assert model is not None
        if not self._store(lambda connection: embedded.set_model(connection, *model)):
            raise Unranked("the index cannot be written, and vectors are kept in it")
        assert self._database is not None
        return embedded.missing(self._database.connection)

    def _store(self, write: Callable[[Any], None]) -> bool:
        """Write vectors, all or nothing. Returns whether that was possible."""
        database = self._database or self._copy
        if database is None:
            return False
        connection = database.connection
        try:
            with (
                hold_index(database.path, self._wait or BUDGET) if database.path else nullcontext()
            ):
                connection.execute("begin immediate")
                try:
                    write(connection)
                    connection.execute("commit")
                except BaseException:
                    connection.execute("rollback")
                    raise
                database.reload()
        except (sqlite3.Error, TryAgain, FileFault):
            return False
        self._known = database.token()
        self._ours.changed()
        return True


def semantic(embedder: Embedder, *, alone: bool) -> Callable[..., Keeper]:
    """What makes the keeper for a model, with the arguments of `Keeper`."""

    def make(*places: Any, **options: Any) -> Semantic:
        keeper = Semantic(*places, **options)
        keeper.lean_on(embedder, alone=alone)
        return keeper

    return make


def without_names(question: str, people: list[str]) -> str:
    """A question without the names of those who speak in the memory: a model takes whatever is
    said TO somebody for what is about them. Where nothing else is left, the question as it is.
    """
    named = {p.split()[0] for p in people if is_named(p, question) and not is_assistant(p)}
    if not named:
        return question
    kept = []
    for word in question.split():
        bare = word.strip('.,;:!?"()“”').removesuffix("'s").removesuffix("’s")
        if bare not in named:
            kept.append(word)
    text = " ".join(kept)
    for name in named:
        text = text if name.isascii() else text.replace(name, "")
    return text if any(map(str.isalnum, text)) else question


class Listening:
    """Hears what is asked. missing: texts without a vector. apart: whether there is no index."""

    def __init__(self, learn: Callable[[Database], list[tuple[bytes, str]]]) -> None:
        self.question: str | None = None
        self.missing: list[tuple[bytes, str]] = []
        self.apart = False
        self._learn = learn

    def to(self, source: Source) -> Noted:
        """The source, which gives nothing when it is asked for passages."""
        return _Mute(source, self)

    def hear(self, source: Source, question: str) -> None:
        """That this was asked."""
        self.question = question
        self.apart = not isinstance(source, IndexSource)
        if isinstance(source, IndexSource):
            self.missing = self._learn(source.database)


class _Mute(Noted):
    def __init__(self, source: Source, listening: Listening) -> None:
        super().__init__(source)
        self._listening = listening

    def ranked(self, question: str, leaning: Leaning = PLAIN) -> Iterator[Found]:  # noqa: ARG002
        """Nothing; what was asked is noted."""
        self._listening.hear(self._source, question)
        return iter(())


class Backed(Noted):
    """A source whose candidates come from a backend. cosines: makes of an index and a question what
    a model makes of it, None for words alone.
    """

    def __init__(
        self, source: Source, backend: Backend,
        cosines: Callable[[Database, str], Cosines | None], note: str = "",
    ) -> None:  # fmt: skip
        super().__init__(source, note)
        self._backend, self._cosines = backend, cosines

    def ranked(self, question: str, leaning: Leaning = PLAIN) -> Iterator[Found]:
        """Passages, best first."""
        if not isinstance(self._source, IndexSource):  # the index went just now
            return self._source.ranked(question, leaning)
        database = self._source.database
        cosines = self._cosines(database, question)
        alone = cosines is not None and cosines.alone
        parts = [] if alone else self._backend.parts(database, question)
        return search.ranked(database, question, leaning, cosines, parts)
