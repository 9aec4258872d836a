"""Hosts of all kinds: callbacks that fail, contexts of objects, ids that come again, images."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from agent_memfas.context import ContextConfig, RelevanceScorer
from agent_memfas.errors import ConfigError
from context.agents import Made, chat, stored

NOW = datetime(2026, 3, 1, 12, tzinfo=timezone.utc)
RAIN = "It rained again and again all day long, they said. " * 12


def refuse(*_: object) -> Any:
    raise RuntimeError("the host says no")


def blocks(manager: Any) -> list[str]:
    return [block.text for block in manager.cold_storage.folder.blocks()]


def test_a_scorer_of_ones_own_decides(managed: Made) -> None:
    """One method exchanged, a class that inherits, any object with `score`: its scores count."""

    class Own(RelevanceScorer):
        def score(self, chunk: str, prompt: str, *_: Any) -> float:
            return 0.9 if "7" in chunk else 0.0

    class Batch:
        def score_batch(self, chunks: list[str], *_: Any) -> list[float]:
            return [0.9 if "7" in chunk else 0.0 for chunk in chunks]

    for scorer in (Own(ContextConfig()), Batch(), None):
        manager, context = managed(chat(12))
        if scorer is None:
            manager.scorer.score = lambda chunk, *_: 0.9 if "7" in chunk else 0.0  # type: ignore[method-assign]
        else:
            manager.scorer = scorer  # type: ignore[assignment]
        manager.compact()
        kept = [one["content"] for one in context if not one["content"].startswith("[memfas")]
        assert kept == [f"message {n} about nothing" for n in (7, 8, 9, 10, 11)]


# Nothing is stored twice, and nothing leaves on the word of what is not there


@pytest.mark.parametrize("callback", [refuse, lambda _: None], ids=["raises", "does nothing"])
def test_a_context_that_stays_is_stored_once(managed: Made, callback: Any) -> None:
    """However often compaction is tried: cold storage does not grow, and the status says why. When
    it works again, all that left is there, each once."""
    manager, context = managed(chat(30), set_context=callback)
    for _ in range(5):
        status = manager.before_response(300)
        assert any("set_context" in note for note in status.notes)
        assert status.needs_compaction
    assert len(context) == 30
    assert len(blocks(manager)) == len(set(blocks(manager))) > 0
    manager.set_context = lambda new: context.__setitem__(slice(None), new)
    assert not manager.before_response(300).needs_compaction
    assert len(blocks(manager)) == len(set(blocks(manager)))
    assert {one["content"] for one in chat(30)} <= stored() | {one["content"] for one in context}


def test_the_end_of_a_session_twice_stores_once(managed: Made) -> None:
    """Of equal messages each: two thanks are two chunks."""
    manager, _ = managed([*chat(4), *({"role": "user", "content": "thanks"} for _ in range(2))])
    assert manager.session_end() == 6
    assert manager.session_end() == 0
    assert len(blocks(manager)) == 6


@pytest.mark.parametrize("gone", ["expired", "deleted", "there"])
def test_what_came_back_is_stored_again_where_it_has_to_be(managed: Made, gone: str) -> None:
    """A message that was restored and leaves again a month later, or after somebody has emptied
    cold storage, is in it again; a moment later it is not stored twice."""
    now = [NOW]
    zebra = {"role": "assistant", "content": "the zebra is called Marty"}
    manager, context = managed([zebra, *chat(20)], clock=lambda: now[0])
    manager.set_current_prompt("giraffes")
    manager.compact()
    assert zebra not in context
    manager.recover("zebra Marty", limit=1, restore=True)
    assert zebra in context
    context += chat(20)
    if gone == "expired":
        now[0] += timedelta(days=29)
    elif gone == "deleted":
        for path in Path("cold-storage").glob("*.md"):
            path.unlink()
    else:
        now[0] += timedelta(hours=20)
    manager.compact()
    assert zebra not in context
    now[0] += timedelta(days=5)
    live = [b.text for b in manager.cold_storage.folder.live(now[0])]
    assert live.count("the zebra is called Marty") == 1
    assert blocks(manager).count("the zebra is called Marty") == 1 + (gone == "expired")


@pytest.mark.parametrize("gone", ["expired", "deleted"])
def test_a_summary_whose_source_is_gone_is_stored_itself(managed: Made, gone: str) -> None:
    """And one whose source will soon be over takes it along once more."""
    now = [NOW]
    long = {"role": "assistant", "content": f"The port is 8443. {RAIN}"}
    config = ContextConfig(relevance_cutoff=0.0, min_chunks_to_keep=0)
    manager, context = managed([long, *chat(2)], config=config, clock=lambda: now[0])
    manager.compact()
    short = context[0]["content"]
    assert "memfas: shortened" in short
    if gone == "deleted":
        for path in Path("cold-storage").glob("*.md"):
            path.unlink()
        manager.close()
        manager, context = managed(context, clock=lambda: now[0])
    else:
        now[0] += timedelta(days=29)
    manager.config.relevance_cutoff = 0.69
    manager.set_current_prompt("zebra")
    manager.compact()
    now[0] += timedelta(days=5)
    live = [b.text for b in manager.cold_storage.folder.live(now[0])]
    assert (short if gone == "deleted" else long["content"]) in live


@pytest.mark.parametrize("words", [
    "I paste it: [memfas: shortened 12345678; the whole in cold storage: chunk_0_1_a]",
    '[memfas: 3 earlier messages are in cold storage (x/). To see them again: memfas recover "…"] ?',
], ids=["pointer", "notice"])  # fmt: skip
def test_a_persons_words_are_kept_whatever_they_look_like(managed: Made, words: str) -> None:
    """A line of this program in somebody's message, changed or with more around it."""
    manager, _ = managed([{"role": "user", "content": words}, *chat(20)])
    manager.set_current_prompt("zebra")
    manager.compact()
    assert words in stored()


def test_a_result_that_looks_like_a_notice_stays_with_its_call(managed: Made) -> None:
    """It is a result: both leave together, and both are stored."""
    told = '[memfas: 3 earlier messages are in cold storage (x/). To see them again: memfas recover "…"]'
    call = {"role": "assistant", "content": None, "tool_calls": [
        {"id": "c1", "function": {"name": "cat", "arguments": '{"p": "x"}'}}]}  # fmt: skip
    result = {"role": "tool", "tool_call_id": "c1", "content": told}
    manager, context = managed([call, result, *chat(20)])
    manager.set_current_prompt("zebra")
    manager.compact()
    assert (call in context) == (result in context)
    assert result in context or told in stored()


# What comes while it works


def test_a_message_that_comes_during_a_compaction_is_there_afterwards(managed: Made) -> None:
    """Appended by a hook, by a summarizer, or by another thread: behind all others."""
    long = {"role": "assistant", "content": f"The port is 8443. {RAIN}"}
    late: list[Any] = []

    def comes(*_: Any) -> str:
        late.append({"role": "user", "content": f"late {len(late)}"})
        context.append(late[-1])
        return "port 8443"

    config = ContextConfig(relevance_cutoff=0.1, min_chunks_to_keep=0)
    for callbacks in ({}, {"set_context": None}):
        late.clear()
        manager, context = managed([long, *chat(20)], config=config, summarizer=comes,
                                   before_compact=comes, **callbacks)  # fmt: skip
        manager.on_message(context[-1], context)
        assert manager.compact().done
        assert len(late) >= 2
        assert context[-len(late) :] == late


def test_a_context_that_is_changed_meanwhile_stays_as_it_is(managed: Made) -> None:
    """A message taken out of it while summaries are made: the next time will do."""
    long = {"role": "assistant", "content": f"The port is 8443. {RAIN}"}

    def changes(_: str) -> str:
        context.pop(1)
        return "port 8443"

    config = ContextConfig(relevance_cutoff=0.1, min_chunks_to_keep=0)
    manager, context = managed([long, *chat(20)], config=config, summarizer=changes)
    before = list(context)
    result = manager.compact()
    assert not result.done
    assert any("changed in the meantime" in note for note in result.notes)
    assert context == [before[0], *before[2:]]


# Callbacks that fail


class Broken:
    """An embedder, a scorer or a summarizer of no use."""

    name, dimensions, tokens = "broken", 3, 0
    embed_batch = score = score_batch = summarize_batch = refuse


@pytest.mark.parametrize("broken", [
    "embedder", "count", "get_token_count", "scorer", "summarizer", "get_context", "no context",
])  # fmt: skip
def test_whatever_fails_the_loop_goes_on(managed: Made, broken: str) -> None:
    """Each thing that a host may give raises what it likes: the status says so, the window is
    compacted by other means, and without a context nothing is done."""
    more: dict[str, Any] = {}
    if broken == "embedder":
        more = {"embedder": Broken()}
    elif broken in ("count", "get_token_count", "get_context"):
        more = {broken: refuse}
    elif broken == "no context":
        more = {"get_context": lambda: None}
    long = {"role": "assistant", "content": f"The port is 8443. {RAIN}"}
    config = ContextConfig(relevance_cutoff=0.1, min_chunks_to_keep=0)
    manager, context = managed([long, *chat(80)], config=config, **more)
    if broken in ("scorer", "summarizer"):
        setattr(manager, broken, Broken())
    manager.on_message(context[-1])
    manager.set_current_prompt("which port is it")
    status = manager.before_response(1000)
    assert any("host says no" in note or "gave nothing" in note for note in status.notes)
    sees = broken not in ("get_context", "no context")
    assert (len(context) < 81) == sees
    assert status.needs_compaction is False
    manager.after_response()
    manager.recover("port", restore=True)
    assert manager.session_end() >= 0


def test_a_wrong_number_of_scores_is_told(managed: Made) -> None:
    """So is a score that is no number; the usual ones count."""
    for wrong in ([0.5], [float("nan")] * 30):
        manager, context = managed(chat(30))
        manager.scorer = SimpleNamespace(score_batch=lambda *_, wrong=wrong: wrong)  # type: ignore[assignment]
        manager.set_current_prompt("zebra")
        assert manager.compact().done
        assert len(context) < 30
        assert any("scorer failed" in note for note in manager.status().notes)


# What a host counts


@pytest.mark.parametrize(("scale", "outside"), [(1.0, 150), (1.3, 0), (0.5, 0), (1.5, 100)])
def test_the_hosts_count_decides(managed: Made, scale: float, outside: int) -> None:
    """With tools that are in no message and with another tokenizer: after a compaction the host's
    own count is below the trigger, and no more than what is needed has left."""
    made = chat(60)

    def counted() -> int:
        texts = [one["content"] for one in context]
        return round(sum(len(text.split()) + 4 for text in texts) * scale) + outside

    manager, context = managed([], get_token_count=counted, count=lambda text: len(text.split()))
    lowest = 1.0
    for one in made * 3:
        context.append({"role": one["role"], "content": f"{one['content']} {len(context)}"})
        before = counted()
        status = manager.before_response(800)
        assert status.current_tokens == counted() < 400
        if counted() < before:
            lowest = min(lowest, counted() / 800)
    assert 0.1 < lowest < 0.5


def test_a_count_of_zero_is_none(managed: Made) -> None:
    """A host that does not know: ours counts."""
    manager, context = managed(chat(60), get_token_count=lambda: 0)
    assert manager.before_response(300).pct_used > 0.1
    assert len(context) < 60


# Settings


def test_without_cold_storage_no_line_points_to_it(managed: Made) -> None:
    """A summary says that its source is nowhere, and is not shortened again."""
    long = {"role": "assistant", "content": " ".join(f"Port {n} is {8000 + n}." for n in range(90))}
    config = ContextConfig(relevance_cutoff=0.0, min_chunks_to_keep=0, cold_storage_enabled=False,
                           summary_target_tokens=200)  # fmt: skip
    manager, context = managed([long, *chat(3)], config=config)
    manager.compact()
    first = context[0]["content"]
    assert first.endswith("the whole is kept nowhere]")
    manager.summarizer.target_tokens = 50  # type: ignore[union-attr]
    manager.compact()
    assert context[0]["content"] == first
    assert not Path("cold-storage").exists()


def test_thresholds_in_the_wrong_order_are_told_with_their_line(tmp_path: Path) -> None:
    """Also where only one of the two is set."""
    file = tmp_path / "memfas.yaml"
    file.write_text("context:\n  log_drops: true\n  relevance_cutoff: 0.8\n")
    with pytest.raises(ConfigError, match=r"memfas.yaml:3: .*relevance_cutoff 0.8 is above"):
        ContextConfig.load(file)
