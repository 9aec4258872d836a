"""PITFALLS D52 to D65: what the reference's context management got wrong, made right."""

from __future__ import annotations

import json
import re
import urllib.request
from collections.abc import Callable
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import pytest

from agent_memfas.context import (
    ColdStorage,
    ContextConfig,
    ContextManager,
    DroppedChunk,
    RelevanceScorer,
    create_memfas_scorer,
    create_summarizer,
)

CHATTER = ["Nice weather today, isn't it?", "I had lunch already", "The cat sleeps", "Music is fun",
           "Did you see the game last night", "I like tea", "The train was late again",
           "My chair squeaks", "Lovely garden", "Let us meet tomorrow"]  # fmt: skip
PLAN = "The database migration plan: dump Postgres, run the checksums, then switch over on Friday"
PROMPT = "what was the database migration plan"
NOW = datetime(2026, 3, 1, 12, tzinfo=timezone.utc)
Made = Callable[..., tuple[ContextManager, list[Any]]]


@pytest.fixture
def managed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Made:
    """A manager over a list, in an empty folder."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("MINIMAX_API_KEY", raising=False)

    def make(messages: list[Any], config: dict[str, Any] | None = None, **more: Any) -> Any:
        context = list(messages)
        manager = ContextManager(
            config=ContextConfig(**(config or {})), get_context=lambda: context,
            set_context=lambda new: context.__setitem__(slice(None), new), **more,
        )  # fmt: skip
        return manager, context

    return make


def stored(home: Path = Path()) -> str:
    return "".join(path.read_text() for path in sorted(home.glob("cold-storage/*.md")))


def logged(name: str) -> list[dict[str, Any]]:
    path = Path("logs/context") / name
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


@pytest.mark.parametrize("place", [0, 5, 10])
@pytest.mark.parametrize("memory", [None, "./memfas.yaml", "./nowhere/memfas.json"])
def test_d53_what_is_relevant_is_kept_and_chatter_goes(
    managed: Made, place: int, memory: str | None
) -> None:
    """With a memory and without: the chunk that the prompt is about stays, wherever it stands."""
    Path("memfas.yaml").write_text("timezone: UTC\n")
    chunks = [*CHATTER[:place], PLAN, *CHATTER[place:]]
    manager, context = managed(chunks, memfas_memory_path=memory)
    manager.set_current_prompt(PROMPT)
    result = manager.compact()
    assert PLAN in context
    assert result.chunks_dropped == 6
    assert len(context) == 5
    scores = manager.scorer.score_batch(chunks, PROMPT)
    assert scores[place] >= 0.7
    assert max(s for n, s in enumerate(scores) if n != place) <= 0.3


def test_d53_an_embedder_counts_where_there_is_one(managed: Made) -> None:
    """Words in common there are none: the vectors say what belongs together."""

    class Embedder:
        dimensions = 2

        def embed(self, text: str) -> list[float]:
            return [1.0, 0.0] if re.search("car|automobile", text) else [0.0, 1.0]

        def embed_batch(self, texts: list[str]) -> list[list[float]]:
            return [self.embed(text) for text in texts]

        def close(self) -> None: ...

    manager, context = managed([*CHATTER, "She bought an automobile"], embedder=Embedder())
    manager.set_current_prompt("tell me of her car")
    manager.pin("nothing")
    manager.compact()
    assert "She bought an automobile" in context
    assert manager.scorer.score("an automobile", "the car") == pytest.approx(0.8)


def test_d53_meaning_without_an_embedder_falls_back_to_words_and_says_so(managed: Made) -> None:
    """`memfas_backend="embedding"` where no embedder can be had."""
    Path("memfas.yaml").write_text(
        "search: {embedder_type: ollama, base_url: 'http://127.0.0.1:9'}\n"
    )
    manager, context = managed([*CHATTER, PLAN, "last"], memfas_memory_path="./memfas.yaml",
                               memfas_backend="embedding")  # fmt: skip
    manager.set_current_prompt(PROMPT)
    result = manager.compact()
    assert PLAN in context
    assert any("by words" in note for note in result.notes)


def test_d54_time_and_importance_count(managed: Made) -> None:
    """The formula with real times: now 0.2, after 6 hours 0.0736; 0.1 for what is important."""
    scorer = RelevanceScorer(ContextConfig())
    assert scorer.score("tea", "", 0.0) == pytest.approx(0.2)
    assert scorer.score("tea", "", 6.0) == pytest.approx(0.2 * 0.36788, abs=1e-4)
    assert scorer.score("tea", "", 24.0, True) == pytest.approx(0.1 + 0.2 * 0.0183, abs=1e-4)
    old, new = (NOW - timedelta(hours=h) for h in (48, 0))
    said = "We decided to deploy on port 8443, see src/app.py"
    messages = [{"role": "assistant", "content": text, "timestamp": at.isoformat()}
                for text, at in [(said, old), (said, new), (CHATTER[1], new), (CHATTER[2], old)]]  # fmt: skip
    manager, _ = managed([*messages, {"role": "user", "content": "hello?"}], clock=lambda: NOW)
    manager.compact()
    assert manager.last is not None
    assert manager.last.scores[:4] == pytest.approx((0.1, 0.3, 0.2, 0.0), abs=0.001)


def test_d54_a_message_without_a_time_is_as_old_as_the_manager_knows_it(managed: Made) -> None:
    """Seen first at noon, it is six hours old at six."""
    now = [NOW]
    manager, context = managed([{"role": "assistant", "content": "tea"}], clock=lambda: now[0])
    manager.before_response()
    context += [{"role": "assistant", "content": "milk"}, {"role": "user", "content": "hm"}]
    now[0] += timedelta(hours=6)
    manager.compact()
    assert manager.last is not None
    assert manager.last.scores[:2] == pytest.approx((0.0736, 0.2), abs=0.001)


def test_d55_what_must_stay_stays(managed: Made) -> None:
    """The system prompt, the latest turn, an open call, what the caller pins, and pairs whole."""
    system = {"role": "system", "content": "Be terse."}
    pinned = {"role": "assistant", "content": "Music is fun"}
    call = {"role": "assistant", "content": None, "tool_calls": [
        {"id": "c1", "function": {"name": "find", "arguments": '{"q": "migration plan"}'}}]}  # fmt: skip
    answer = {"role": "tool", "tool_call_id": "c1", "content": "nothing"}
    latest = {"role": "user", "content": "go on"}
    opened = {"role": "assistant", "content": "", "tool_calls": [
        {"id": "c2", "function": {"name": "ls", "arguments": "{}"}}]}  # fmt: skip
    chat = [{"role": ("user", "assistant")[n % 2], "content": text}
            for n, text in enumerate(CHATTER)]  # fmt: skip
    manager, context = managed(
        [system, pinned, call, answer, *chat, *chat, latest, opened], {"min_chunks_to_keep": 0}
    )
    manager.pin(pinned)
    manager.set_current_prompt("database migration plan")
    manager.compact()
    for message in (system, pinned, latest, opened):
        assert any(one is message for one in context)
    assert [m for m in context if m in (call, answer)] == [call, answer]
    manager.unpin(pinned)
    manager.set_current_prompt("something else entirely")
    manager.compact()
    assert pinned not in context
    assert (call in context) == (answer in context)


def test_d56_all_is_relevant_and_still_it_becomes_smaller(managed: Made) -> None:
    """Under the trigger, at once and for good; what is pinned alone is too much: it says so."""
    text = f"{PLAN}. " * 12
    messages = [{"role": "user", "content": f"{n} {text}"} for n in range(40)]
    manager, context = managed(messages)
    manager.set_current_prompt(PROMPT)
    size = manager.status().current_tokens
    status = manager.before_response(int(size / 1.74))
    assert status.pct_used < 0.5
    assert not status.needs_compaction
    count = len(context)
    assert manager.before_response(int(size / 1.74)).pct_used == status.pct_used
    assert len(context) == count
    for message in context:
        manager.pin(message)
    status = manager.before_response(100)
    assert status.needs_compaction
    assert len(context) == count
    assert any("max_context_pct" in note for note in status.notes)


def test_d58_two_compactions_in_one_second_lose_nothing(managed: Made) -> None:
    """Twenty chunks dropped are twenty chunks stored, each found by its own words."""
    manager, context = managed([f"apples are red, number {n}" for n in range(12)],
                               {"min_chunks_to_keep": 1}, clock=lambda: NOW)  # fmt: skip
    manager.set_current_prompt("zzz")
    first = manager.compact()
    context[:] = [f"oranges are round, number {n}" for n in range(12)]
    second = manager.compact()
    ids = [*first.stored, *second.stored]
    assert len(set(ids)) == len(ids) == 20
    assert manager.cold_storage.count() == 20
    assert all("apples" in one for one in manager.recover("apples"))
    assert len(manager.recover("oranges", limit=50)) == 10


@pytest.mark.parametrize(("text", "query"), [
    ("database migration, checksums.", "migration"), ("database migration, checksums.", "checksums"),
    (" ".join(f"word{n}" for n in range(300)) + " needle", "needle"),
    ("我们决定把数据库迁移到新机器", "数据库迁移"), ("重跑gen-itgc后", "gen-itgc"),
    ("see code_review notes", "code-review"), ("Ünïcödé naïve café", "cafe"),
])  # fmt: skip
def test_d59_every_word_is_found(managed: Made, text: str, query: str) -> None:
    """With punctuation, behind the 100th word, in Chinese, glued; long chunks are no worse."""
    manager, _ = managed([])
    for n, other in enumerate(CHATTER):
        manager.cold_storage.store_dropped(f"o{n}", other, 0.1, "p", "s")
    manager.cold_storage.store_dropped("x", text, 0.1, "p", "s")
    assert manager.recover(query)[:1] == [text]


def test_d60_what_is_over_takes_nobodys_place(managed: Made) -> None:
    """Five expired chunks and a valid one: the valid one is found; they go when asked to."""
    manager, _ = managed([], clock=lambda: NOW)
    for n in range(5):
        manager.cold_storage.store_dropped(f"e{n}", f"apples {n}", 0, "p", "s", 0, -1)
    manager.cold_storage.store_dropped("v", "apples, and much else besides", 0, "p", "s")
    assert manager.recover("apples") == ["apples, and much else besides"]
    assert manager.cold_storage.cleanup_expired() == 5
    assert manager.cold_storage.count() == 1
    assert manager.recover("apples") == ["apples, and much else besides"]


def test_d61_after_the_end_of_a_session_everything_works(managed: Made) -> None:
    """Short messages are kept, for 30 days, under ids of their own; stats and clean-up run."""
    manager, context = managed([{"role": "user", "content": "Door code is 4411."}, "ok"],
                               clock=lambda: NOW)  # fmt: skip
    session = manager.session_id
    assert manager.session_end() == 2
    assert manager.session_id != session
    assert manager.cold_storage.get_stats() == {
        "total_chunks": 2, "age_distribution": {"day": 2, "week": 0, "older": 0},
        "storage_path": str(Path("cold-storage").resolve()),
    }  # fmt: skip
    assert manager.cold_storage.cleanup_expired() == 0
    assert manager.recover("door code") == ["Door code is 4411."]
    later = ColdStorage("cold-storage", lambda: NOW + timedelta(days=30, seconds=1))
    assert later.search_recover("door code") == []
    assert later.cleanup_expired() == 2
    assert context


def test_d61_the_files_of_the_reference_are_read(managed: Made) -> None:
    """Chunks, messages of ended sessions and its index; what is over is left out and told apart."""
    home = Path("cold-storage/session_1706899000")
    home.mkdir(parents=True)
    chunk = {"chunk_id": "chunk_3_1706900000", "session_id": home.name, "content": "apples, red",
             "relevance_score": 0.18, "prompt_at_drop": "x", "timestamp": "2026-02-04T10:30:00",
             "tokens": 0, "recoverable_until": "2026-03-06T10:30:00"}  # fmt: skip
    (home / "chunk_3_1706900000.jsonl").write_text(json.dumps(chunk) + "\n")
    over = {**chunk, "chunk_id": "c4", "recoverable_until": "2026-02-06T10:30:00"}
    (home / "c4.jsonl").write_text(json.dumps(over) + "\n")
    (home / "messages.jsonl").write_text('{"role": "user", "content": "apples?"}\nnot json\n')
    Path("cold-storage/index.jsonl").write_text("{}\n")
    manager, _ = managed([], clock=lambda: NOW)
    assert sorted(manager.recover("apples")) == ["apples, red", "apples?"]
    assert manager.cold_storage.count() == 3
    assert manager.cold_storage.get("chunk_3_1706900000")
    assert DroppedChunk.from_dict(chunk).to_dict() == chunk
    assert manager.cold_storage.cleanup_expired() == 1
    assert not (home / "c4.jsonl").exists()
    assert (home / "messages.jsonl").exists()


def test_d62_everything_is_logged_and_comes_back(managed: Made) -> None:
    """A compaction by hand, each drop with its tokens, a recovery; recover puts back what it finds,
    and what is dropped again is not stored again."""
    manager, context = managed([{"role": "user", "content": text} for text in [PLAN, *CHATTER, "?"]],
                               {"min_chunks_to_keep": 1})  # fmt: skip
    manager.set_current_prompt("zebra stripes")
    result = manager.compact()
    assert [e["chunks_dropped"] for e in logged("compaction.jsonl")] == [result.chunks_dropped]
    drops = logged("drops.jsonl")
    assert len(drops) == result.chunks_dropped > 5
    assert all(one["tokens"] > 0 and one["reason"] for one in drops)
    assert {"chunk_id", "session_id", "relevance_score", "cold_storage_path"} <= drops[0].keys()
    assert {"role": "user", "content": PLAN} not in context
    assert manager.recover(PROMPT, limit=1, restore=True) == [PLAN]
    assert context[-2:] == [{"role": "user", "content": PLAN}, {"role": "user", "content": "?"}]
    assert logged("recovery.jsonl")[0]["chunks_recovered"] == 1
    context += [{"role": "user", "content": "!"}, {"role": "user", "content": "..."}]
    manager.set_current_prompt("zebra stripes")
    manager.compact()
    assert {"role": "user", "content": PLAN} not in context
    assert [block.text for block in manager.cold_storage.folder.blocks()].count(PLAN) == 1
    assert manager.recover(PROMPT)[:1] == [PLAN]


def test_d63_the_status_is_that_after_the_compaction(managed: Made) -> None:
    """Numbers of now; `status` compacts nothing and is never stale; `compact` alone counts."""
    text = " ".join(CHATTER)
    manager, context = managed([{"role": "user", "content": f"{n} {text}"} for n in range(30)])
    status = manager.status()
    assert (status.chunks_count, status.last_compaction) == (30, None)
    assert len(context) == 30
    result = manager.compact()
    assert result.tokens_before == status.current_tokens
    context.append({"role": "user", "content": text * 20})
    assert manager.status().current_tokens > result.tokens_after
    status = manager.before_response(1200)
    assert status.pct_used == status.current_tokens / 1200
    assert status.cold_storage_count == manager.cold_storage.count() > 0
    assert status.last_compaction is not None
    assert datetime.fromisoformat(status.last_compaction)


def test_d64_without_a_key_summaries_are_made_and_nothing_is_asked(
    managed: Made, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By extraction; what counts as summarized is shorter, and says where its source is."""

    def never(*_: object, **__: object) -> None:
        raise AssertionError("a request")

    monkeypatch.setattr(urllib.request, "urlopen", never)
    long = " ".join([PLAN, *CHATTER * 6])
    messages = [{"role": "assistant", "content": f"{n}. {long}", "id": f"m{n}"} for n in range(8)]
    manager, context = managed(
        [*messages, {"role": "user", "content": "hm"}], {"relevance_keep_threshold": 0.95}
    )
    manager.set_current_prompt(PROMPT)
    result = manager.compact()
    assert result.chunks_summarized > 0
    summaries = [m for m in context if "[memfas: shortened" in m["content"]]
    assert len(summaries) == result.chunks_summarized
    for summary in summaries:
        chunk_id = summary["content"].rsplit(" ", 1)[1].rstrip("]")
        block = manager.cold_storage.get(chunk_id)
        assert block is not None
        assert block.text in {m["content"] for m in messages}
        assert len(summary["content"]) < len(block.text)
        assert "migration" in summary["content"]
        assert summary["id"].startswith("m")
    assert any("MINIMAX_API_KEY" in note for note in manager.status().notes)
    assert create_summarizer("minimax").summarize(long) != long
    assert create_summarizer("none").summarize(long) == long


def test_exports_of_the_reference() -> None:
    """Every name of its module is there."""
    import agent_memfas.context as module

    for name in ("ContextManager ContextStatus CompactionResult ContextConfig RelevanceScorer "
                 "ColdStorage DroppedChunk ContextLogger MemfasIntegration create_memfas_scorer "
                 "Summarizer NoOpSummarizer MiniMaxSummarizer create_summarizer "
                 "create_minimax_summarizer").split():  # fmt: skip
        assert getattr(module, name)
        assert name in module.__all__
    client = create_memfas_scorer("./memfas.json", "fts5")
    assert client.find_relevant([*CHATTER, PLAN], PROMPT) == [10]
    assert client.score_chunks([], PROMPT) == []
    client.close()
