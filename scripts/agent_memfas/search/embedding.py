"""Search by meaning: the exact cosine between vectors."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from threading import RLock
from typing import Any

from agent_memfas.embedders.base import Embedder
from agent_memfas.index.vectors import Vectors
from agent_memfas.search.base import SearchBackend, SearchResult


class EmbeddingBackend(SearchBackend):
    """Finds by vectors. The score is the cosine; what points another way (0 or less) is no hit.

    db_path: a SQLite file (made where it is missing), or ":memory:". A text is embedded once, as
    long as the embedder stays the same. table_prefix: of the tables in it.
    """

    def __init__(
        self,
        db_path: str | Path,
        embedder: Embedder,
        table_prefix: str = "vec",
    ) -> None:
        self.db_path = str(db_path)
        self.embedder = embedder
        self._lock = RLock()
        self._vectors = Vectors(self.db_path, embedder, table_prefix)

    def index(self, doc_id: str, text: str, metadata: dict[str, Any] | None = None) -> None:
        """Put a document in, or in place of the one with this id."""
        self.index_batch([(doc_id, text, metadata or {})])

    def index_batch(self, documents: Iterable[tuple[str, str, dict[str, Any]]]) -> None:
        """Put several documents in; those that are new are embedded together."""
        with self._lock:
            self._vectors.put(list(documents))

    def search(self, query: str, limit: int = 5) -> list[SearchResult]:
        """The best documents for a query, best first."""
        if limit <= 0 or not query.strip():
            return []
        with self._lock:
            found = self._vectors.nearest(query, limit)
        return [
            SearchResult(
                text, round(cosine, 4), str(metadata.get("source", "")), metadata.get("section"),
                metadata.get("date"),
                {**metadata, "doc_id": doc_id, "distance": round(1 - cosine, 6)},
            )
            for doc_id, text, metadata, cosine in found
        ]  # fmt: skip

    def delete(self, doc_id: str) -> None:
        """Take a document out, if it is there."""
        with self._lock:
            self._vectors.remove([doc_id])

    def clear(self) -> None:
        """Take all documents out; vectors of texts are kept."""
        with self._lock:
            self._vectors.clear()

    def count(self) -> int:
        """How many documents there are."""
        with self._lock:
            return self._vectors.count()

    def close(self) -> None:
        """Let go of the file; the embedder belongs to whoever made it."""
        with self._lock:
            self._vectors.close()
