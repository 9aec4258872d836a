"""What every search backend does, and what it gives back."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class SearchResult:
    """One document that was found. score: 0 to 1. date: ISO or None. metadata: as it was indexed,
    with `doc_id`; of vectors also `distance`, 1 minus the cosine.
    """

    text: str
    score: float
    source: str
    section: str | None = None
    date: str | None = None
    metadata: dict[str, Any] = field(default_factory=dict)


class SearchBackend(ABC):
    """Documents that can be searched. Used in a `with` statement it is closed at the end.

    metadata: whatever is to be known of a document; `source`, `section` and `date` (ISO) come back
    as fields of the result.
    """

    @abstractmethod
    def index(self, doc_id: str, text: str, metadata: dict[str, Any]) -> None:
        """Put a document in, or in place of the one with this id."""

    @abstractmethod
    def search(self, query: str, limit: int = 5) -> list[SearchResult]:
        """The best documents for a query, best first."""

    @abstractmethod
    def delete(self, doc_id: str) -> None:
        """Take a document out, if it is there."""

    @abstractmethod
    def clear(self) -> None:
        """Take all documents out."""

    @abstractmethod
    def count(self) -> int:
        """How many documents there are."""

    def index_batch(self, documents: Iterable[tuple[str, str, dict[str, Any]]]) -> None:
        """Put several documents in: (id, text, metadata)."""
        for doc_id, text, metadata in documents:
            self.index(doc_id, text, metadata)

    def close(self) -> None:  # noqa: B027 - one that is only in memory has nothing to let go of
        """Let go of whatever is open."""

    def __enter__(self) -> SearchBackend:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
