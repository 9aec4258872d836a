"""Feeding a search backend with the passages of a memory folder, and answering from it.

What it was fed is compared with the index before each question, and the difference is fed: so a
backend of any kind is as fresh as the index, and what it finds is checked like any other hit.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from hashlib import blake2b
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from agent_memfas.index.corpus import Corpus
from agent_memfas.index.keeper import BUDGET, IndexSource, Keeper
from agent_memfas.index.rows import Found, Freshness
from agent_memfas.index.search import PASSAGES, SUPERSEDED_SHARE, sound
from agent_memfas.store.places import PUT_AWAY
from agent_memfas.text.firing import Trigger

if TYPE_CHECKING:
    from collections.abc import Mapping

    from agent_memfas.index.keeper import Source

T = TypeVar("T")
MARK = "passage-"
FIRST = 40  # results that a backend is asked for at first; more where they are filtered out
MOST = 5_000


class Result(Protocol):
    """What a backend gives back, as far as it is looked at."""

    @property
    def score(self) -> float:
        """0 to 1."""

    @property
    def metadata(self) -> Mapping[str, Any]:
        """Has `doc_id`."""


class Backend(Protocol):
    """What is needed of a search backend. It may have an `index_batch`, too."""

    def index(self, doc_id: str, text: str, metadata: dict[str, Any], /) -> None:
        """Put a document in, or in place of the one with this id."""

    def search(self, query: str, limit: int, /) -> Iterable[Result]:
        """The best documents for a query, best first."""

    def delete(self, doc_id: str, /) -> Any:
        """Take a document out, if it is there."""


class Fed(Keeper):
    """A keeper whose answers are ranked by a backend."""

    backend: Backend
    _fed: dict[str, Found]
    _token: object

    def feed_into(self, backend: Backend) -> None:
        """From now on, this backend ranks."""
        self.backend, self._fed, self._token = backend, {}, None

    def answer(self, asked: Callable[[Source], T], as_of: int, budget: float | None = BUDGET) -> T:
        """As of any keeper; passages come from the backend, which is fed beforehand.

        The index is not held while it is fed, for that may take long.
        """
        there = super().answer(self._there, as_of, budget)
        if there is not None:
            self._feed(there)
        return super().answer(
            lambda source: asked(_Ranked(source, self.backend, self._fed)), as_of, budget
        )

    def _there(self, source: Source) -> dict[str, Found] | None:
        """The passages that there are, by id; None where they are those that were fed."""
        token = None
        if isinstance(source, IndexSource):
            token = (source.database.path, tuple(sorted(source.database.meta.items())))
            if token == self._token:
                return None
        self._token = token
        return {
            _id(found): found for found in everything(source) if found.kind not in PUT_AWAY
        }  # fmt: skip

    def _feed(self, there: dict[str, Found]) -> None:
        gone, new = self._fed.keys() - there.keys(), there.keys() - self._fed.keys()
        token, self._token = self._token, None  # half fed, should the backend fail
        for doc_id in gone:
            self.backend.delete(doc_id)
            del self._fed[doc_id]
        documents = [(doc_id, there[doc_id].row.text, _metadata(there[doc_id])) for doc_id in new]
        batch = getattr(self.backend, "index_batch", None)
        if batch is not None:
            batch(documents)
        else:
            for document in documents:
                self.backend.index(*document)
        self._fed, self._token = there, token


class _Ranked:
    """A source whose passages come from a backend."""

    def __init__(self, source: Source, backend: Backend, fed: dict[str, Found]) -> None:
        self._source, self._backend, self._fed = source, backend, fed
        self.freshness: Freshness = source.freshness

    def ranked(self, question: str) -> Iterator[Found]:
        """Passages that the backend finds, best first; of superseded ones half the score counts.

        What it holds besides is left out, and left in it: documents of somebody else, and passages
        that another process has fed.
        """
        given = set[str]()
        limit = FIRST
        while question.strip():
            results = list(self._backend.search(question, limit))
            yield from self._hits(results, given)
            if len(results) < limit or limit >= MOST:
                return
            limit *= 5

    def _hits(self, results: list[Result], given: set[str]) -> list[Found]:
        hits = []
        for result in results:
            doc_id = str(result.metadata.get("doc_id", ""))
            if doc_id in given:
                continue
            given.add(doc_id)
            if (found := self._fed.get(doc_id)) is not None:
                share = SUPERSEDED_SHARE if found.row.superseded else 1.0
                score = min(max(float(result.score), 0.0), 1.0) * share
                hits.append(Found(found.path, found.kind, found.row, score))
        return sorted(hits, key=lambda found: -found.score)

    def triggers(self, question: str) -> list[Trigger]:
        """The triggers in the question, in its order."""
        return self._source.triggers(question)

    def paths(self, patterns: tuple[str, ...]) -> list[str]:
        """The files that are meant by files, folders and globs, by path."""
        return self._source.paths(patterns)

    def all_triggers(self) -> list[Trigger]:
        """Every trigger, by keyword."""
        return self._source.all_triggers()

    def numbered(self, number: int) -> list[Found]:
        """The passages with that number (see rows.number_of)."""
        return self._source.numbered(number)


def everything(source: Source) -> Iterator[Found]:
    """Every passage, by path and line. score: 0."""
    if isinstance(source, Corpus):
        for path, kind, row in source.passages():
            yield Found(path, kind, row, 0.0)
        return
    assert isinstance(source, IndexSource)
    yield from sound(source.database.connection.execute(PASSAGES).fetchall(), 0.0)


def _id(found: Found) -> str:
    """Another one for whatever is to be searched or shown in another way."""
    row = found.row
    what = repr((found.path, row.start, row.end, row.heading, row.day, row.superseded, row.text))
    return MARK + blake2b(what.encode("ascii", "backslashreplace"), digest_size=12).hexdigest()


def _metadata(found: Found) -> dict[str, Any]:
    row = found.row
    return {"source": found.path, "section": row.heading or None, "date": row.day or None,
            "start_line": row.start, "end_line": row.end}  # fmt: skip
