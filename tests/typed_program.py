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
from agent_memfas.v3 import (
    DEFAULT_LEVEL,
    LEVEL_NAMES,
    LEVEL_PRESETS,
    ContextCurator,
    ContextResponse,
    CuratedContext,
    LevelPreset,
    MemoryChunk,
    RelevanceScorer,
    ScoredMemory,
    SessionMetrics,
    SessionState,
    TelemetryLogger,
    TokenBudget,
    Topic,
    TopicDetector,
    TurnMetrics,
    describe_levels,
    get_preset,
    resolve_level,
)


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


def curate(folder: Path) -> str:
    """A conversation of one turn, and every part of curation by itself; the context."""
    preset: LevelPreset = get_preset("lean")
    assert LEVEL_PRESETS[LEVEL_NAMES["lean"]] is preset
    assert resolve_level() == DEFAULT_LEVEL
    assert preset.description in describe_levels()
    log = folder / "telemetry.jsonl"
    with ContextCurator(folder, "auto", 200, log, Letters(), count=len) as curator:
        answer: ContextResponse = curator.get_context("Who has the keys?", "s", 1000, level=5)
        tokens: int = answer.curated_tokens
        share: float = answer.compression_ratio
        ids: list[Any] = [one["id"] for one in answer.top_memories]
        assert tokens == len(answer.context) <= answer.budget
        assert 0 < share < 1
        assert ids
        stats: dict[str, Any] = curator.get_session_stats("s")
        level: int = curator.get_level()
        metrics: SessionMetrics | None = curator.end_session("s")
        assert stats["turn_count"] == 1
        assert level == DEFAULT_LEVEL
        assert metrics is not None
        summary: dict[str, Any] = curator.get_telemetry_summary()
        assert summary["status"] == "ok"
    parts(log)
    return answer.context


def parts(log: Path) -> None:
    """Scorer, budget, topics, session and telemetry, without a curator."""
    chunk = MemoryChunk("1", "Alice keeps the keys", "MEMORY.md")
    scored: list[ScoredMemory] = RelevanceScorer().score_all([chunk], "keys")
    fitted: CuratedContext = TokenBudget(100, count=len).fit(scored)
    assert [one.memory.id for one in fitted.memories] == ["1"]
    assert fitted.utilization <= 1
    topic: Topic = TopicDetector(Letters()).detect("Where are the keys?")
    state = SessionState("s")
    state.on_turn("Where are the keys?", topic, ["1"])
    hot: set[str] = state.get_boost_ids(min_access=1)
    assert hot == {"1"}
    turn = TurnMetrics("2026-03-01T12:00:00", "t", 1, "keys", 1, topic.name, False, 0, 9, 1, 1, 0)
    logger = TelemetryLogger(log)
    logger.log_turn(turn)
    assert "Performance" in logger.format_summary()


if __name__ == "__main__":
    print(run(Path(sys.argv[1])))
    print(curate(Path(sys.argv[1])))
