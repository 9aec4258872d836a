"""Search backends: keyword search and vectors, each over documents of its own."""

from __future__ import annotations

from agent_memfas.search.base import SearchBackend, SearchResult
from agent_memfas.search.embedding import EmbeddingBackend
from agent_memfas.search.fts5 import FTS5Backend

__all__ = ["EmbeddingBackend", "FTS5Backend", "SearchBackend", "SearchResult"]
