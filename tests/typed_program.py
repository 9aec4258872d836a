"""A program as a user writes it; .ci/run checks it by mypy --strict against the wheel, and runs it."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from agent_memfas import Config, Memory, MemoryResult, SearchBackend, SearchResult
from agent_memfas.config import SearchConfig, SourceConfig, TriggerConfig
from agent_memfas.embedders import Embedder
from agent_memfas.search import EmbeddingBackend, FTS5Backend


class Letters(Embedder):
    """Counts letters."""

    @property
    def dimensions(self) -> int:
        return 26

    def embed(self, text: str) -> Sequence[float]:
        return [float(text.lower().count(chr(97 + n))) for n in range(26)]


class Newest(SearchBackend):
    """Finds whatever was put in last."""

    def __init__(self) -> None:
        self.documents: dict[str, tuple[str, dict[str, Any]]] = {}

    def index(self, doc_id: str, text: str, metadata: dict[str, Any]) -> None:
        self.documents[doc_id] = (text, metadata)

    def search(self, query: str, limit: int = 5) -> list[SearchResult]:
        newest = list(self.documents.items())[-limit:]
        return [
            SearchResult(text, 1.0, str(data["source"]), metadata={"doc_id": doc_id})
            for doc_id, (text, data) in reversed(newest)
        ]

    def delete(self, doc_id: str) -> None:
        self.documents.pop(doc_id, None)

    def clear(self) -> None:
        self.documents.clear()

    def count(self) -> int:
        return len(self.documents)


def run(folder: Path) -> str:
    """Ask in every way there is; the answer with the last one."""
    (folder / "MEMORY.md").write_text("- [P0] Alice keeps the keys\n")
    config = Config(
        db_path=str(folder / "memfas.db"),
        sources=[SourceConfig(path=str(folder / "*.md"), type="markdown", always_load=False)],
        triggers=[TriggerConfig(keyword="alice", hint="PM")],
        search=SearchConfig(max_results=3),
    )
    with Memory(config) as memory:
        results: list[MemoryResult] = memory.search("keys", limit=5)
        first = results[0]
        line: int | None = first.start_line
        source: str = first.source
        stats: dict[str, Any] = memory.stats()
        hints: list[str] = [trigger["hint"] for trigger in memory.list_triggers()]
        backend: SearchBackend = memory.backend
        assert (line, source, backend.count(), hints) == (1, "MEMORY.md", 1, ["PM"]), stats
    backends: list[SearchBackend] = [
        Newest(), FTS5Backend(":memory:"), EmbeddingBackend(":memory:", Letters()),
    ]  # fmt: skip
    for each in backends:
        with Memory(config, search_backend=each) as memory:
            assert memory.search("keys")[0].text == first.text
    with Memory(config, embedder=Letters()) as memory:
        return memory.recall("Who is Alice?", include_always_load=True)


if __name__ == "__main__":
    print(run(Path(sys.argv[1])))
