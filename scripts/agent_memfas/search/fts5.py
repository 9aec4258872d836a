"""Keyword search: BM25 over documents in a SQLite file."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import date, datetime
from pathlib import Path
from threading import RLock
from typing import Any

from agent_memfas.index.documents import Documents
from agent_memfas.search.base import SearchBackend, SearchResult
from agent_memfas.text.days import aging


class FTS5Backend(SearchBackend):
    """Finds by words: those of the question need not all be there, but those with all come first.

    db_path: a file of its own (made where it is missing), or ":memory:". recency_weight: a document
    of n days ago counts 1 / (1 + n * recency_weight / 100). min_score: those below are left out.
    """

    def __init__(
        self, db_path: str | Path, recency_weight: float = 0.1, min_score: float = 0.0
    ) -> None:
        self.db_path = str(db_path)
        self.recency_weight = recency_weight
        self.min_score = min_score
        self._lock = RLock()
        self._documents = Documents(self.db_path)

    def index(self, doc_id: str, text: str, metadata: dict[str, Any] | None = None) -> None:
        """Put a document in, or in place of the one with this id."""
        self.index_batch([(doc_id, text, metadata or {})])

    def index_batch(self, documents: Iterable[tuple[str, str, dict[str, Any]]]) -> None:
        """Put several documents in, in one transaction."""
        with self._lock:
            self._documents.put(documents)

    def search(self, query: str, limit: int = 5) -> list[SearchResult]:
        """The best documents for a query, best first."""
        if limit <= 0:
            return []
        today = datetime.now().astimezone().date()
        with self._lock:
            found = self._documents.ranked(query, limit * 4)
        results = [
            SearchResult(
                text, round(score / self._aging(metadata, today), 4),
                str(metadata.get("source", "")), metadata.get("section"), metadata.get("date"),
                {**metadata, "doc_id": doc_id},
            )
            for doc_id, text, metadata, score in found
        ]  # fmt: skip
        kept = [result for result in results if result.score >= self.min_score]
        return sorted(kept, key=lambda result: -result.score)[:limit]

    def delete(self, doc_id: str) -> None:
        """Take a document out, if it is there."""
        with self._lock:
            self._documents.remove([doc_id])

    def clear(self) -> None:
        """Take all documents out."""
        with self._lock:
            self._documents.clear()

    def count(self) -> int:
        """How many documents there are."""
        with self._lock:
            return self._documents.count()

    def close(self) -> None:
        """Let go of the file."""
        with self._lock:
            self._documents.close()

    def _aging(self, metadata: dict[str, Any], today: date) -> float:
        return aging(str(metadata.get("date") or "")[:10], today, self.recency_weight)
