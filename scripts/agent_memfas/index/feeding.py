"""Feeding a search backend with the passages of a memory folder, and answering from it.

What it was fed is compared with the index before each question, and the difference is fed: so a
backend of any kind is as fresh as the index, and what it finds is checked like any other hit.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from hashlib import blake2b
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from agent_memfas.errors import MemfasError
from agent_memfas.index import weights
from agent_memfas.index.corpus import Corpus
from agent_memfas.index.keeper import BUDGET, IndexSource, Keeper
from agent_memfas.index.priors import PLAIN, Leaning
from agent_memfas.index.rows import Found, Freshness
from agent_memfas.index.search import PASSAGES, sound
from agent_memfas.store.places import PUT_AWAY
from agent_memfas.text.firing import Trigger

if TYPE_CHECKING:
    from collections.abc import Mapping

    from agent_memfas.index.keeper import Source

T = TypeVar("T")
MARK = "passage-"
BY_WORDS = "ranked by words, for the backend failed"
FIRST = 40  # results that a backend is asked for at first; more where they are filtered out
MOST = 5_000
BATCH = 256  # passages that are given to a backend at once


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


class Unranked(Exception):
    """The backend cannot rank; str() says why."""


class Fed(Keeper):
    """A keeper whose answers are ranked by a backend, or by words where that fails with one of our
    errors: then a note of the answer says so.
    """

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
        try:
            if there is not None:
                self._feed(there)
            return super().answer(
                lambda source: asked(_Ranked(source, self.backend, self._fed)), as_of, budget
            )
        except Unranked as why:
            note = f"{BY_WORDS}: {why}"
            return super().answer(lambda source: asked(Noted(source, note)), as_of, budget)

    def _there(self, source: Source) -> dict[str, Found] | None:
        """The passages that there are, by id; None where they are those that were fed."""
        token: object = None
        if isinstance(source, IndexSource):
            token = source.database.token()
            if token == self._token:
                return None
        self._token = token
        return {
            _id(found): found for found in everything(source) if found.kind not in PUT_AWAY
        }  # fmt: skip

    def _feed(self, there: dict[str, Found]) -> None:
        gone = self._fed.keys() - there.keys()
        new = [doc_id for doc_id in there if doc_id not in self._fed]
        token, self._token = self._token, None  # half fed, should the backend fail
        with ours_as_unranked():
            for doc_id in gone:
                self.backend.delete(doc_id)
                del self._fed[doc_id]
            for at in range(0, len(new), BATCH):
                some = new[at : at + BATCH]
                self._index([(i, there[i].row.text, _metadata(there[i])) for i in some])
                self._fed.update((i, there[i]) for i in some)
                if self._tell:
                    self._tell(at + len(some), len(new))
        self._fed, self._token = there, token

    def _index(self, documents: list[tuple[str, str, dict[str, Any]]]) -> None:
        batch = getattr(self.backend, "index_batch", None)
        if batch is not None:
            batch(documents)
            return
        for document in documents:
            self.backend.index(*document)


def fed(backend: Backend | None) -> Callable[..., Keeper]:
    """What makes the keeper for a backend, with the arguments of `Keeper`; None: for words."""
    if backend is None:
        return Keeper

    def make(*places: Any, **options: Any) -> Fed:
        keeper = Fed(*places, **options)
        keeper.feed_into(backend)
        return keeper

    return make


@contextmanager
def ours_as_unranked() -> Iterator[None]:
    """One of our errors, from an embedder, say, means that there is no ranking."""
    try:
        yield
    except MemfasError as error:
        remedy = f" ({error.remedy})" if error.remedy else ""
        raise Unranked(f"{error.message}{remedy}") from error


class Noted:
    """A source with a note on its freshness."""

    def __init__(self, source: Source, note: str = "") -> None:
        self._source = source
        state = source.freshness
        notes = (*state.notes, note) if note else state.notes
        self.freshness: Freshness = Freshness(**{**vars(state), "notes": notes})

    def ranked(self, question: str, leaning: Leaning = PLAIN) -> Iterator[Found]:
        """Passages that share a term with the question, best first."""
        return self._source.ranked(question, leaning)

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


class _Ranked(Noted):
    """A source whose passages come from a backend."""

    def __init__(self, source: Source, backend: Backend, fed: dict[str, Found]) -> None:
        super().__init__(source)
        self._backend, self._fed = backend, fed

    def ranked(
        self,
        question: str,
        leaning: Leaning = PLAIN,  # noqa: ARG002 - backends have their own
    ) -> Iterator[Found]:
        """Passages that the backend finds, best first; of superseded ones half the score counts.

        What it holds besides is left out, and left in it: documents of somebody else, and passages
        that another process has fed.
        """
        given = set[str]()
        limit = FIRST
        while question.strip():
            with ours_as_unranked():
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
                share = weights.SUPERSEDED if found.row.superseded else 1.0
                score = min(max(float(result.score), 0.0), 1.0) * share
                hits.append(Found(found.path, found.kind, found.row, score))
        return sorted(hits, key=lambda found: -found.score)


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
