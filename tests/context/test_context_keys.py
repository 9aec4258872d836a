"""Every key of `context:` does what it says, and a wrong one is an error that names it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from agent_memfas.context import ContextConfig, ContextManager
from agent_memfas.errors import ConfigError
from inputs.memory import call

LONG = ("We decided to use PostgreSQL for the billing service. The port is 5433. Alice prefers it. "
        "Nothing else was said of it that day, and the rain went on until the evening came. ") * 3  # fmt: skip
TALK = [f"{word}, nothing more" for word in "tea rain cat lamp game sun hat song road".split()]


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("MINIMAX_API_KEY", raising=False)


def play(
    prompt: str = "billing service port", window: int = 450, **keys: Any
) -> tuple[Any, list[Any], Any]:
    """A conversation over half full, looked at once: (manager, context, status)."""
    Path("memfas.yaml").write_text(json.dumps({"context": keys}))
    context: list[Any] = [
        {"role": "assistant", "content": LONG},
        *({"role": ("user", "assistant")[n % 2], "content": text} for n, text in enumerate(TALK)),
        {"role": "user", "content": "and now?"},
    ]
    manager = ContextManager(
        config_path="memfas.yaml", get_context=lambda: context,
        set_context=lambda new: context.__setitem__(slice(None), new),
    )  # fmt: skip
    manager.set_current_prompt(prompt)
    return manager, context, manager.before_response(window)


def lines(name: str, home: str = "logs/context") -> int:
    path = Path(home) / f"{name}.jsonl"
    return len(path.read_text().splitlines()) if path.exists() else 0


def test_compaction_trigger_pct() -> None:
    """Below it nothing happens."""
    assert play()[0].cold_storage.count() > 0
    _manager, context, status = play(compaction_trigger_pct=0.84)
    assert (len(context), status.needs_compaction) == (11, False)


def test_max_context_pct() -> None:
    """What is near goes only where the window would be over it."""
    long = {"role": "assistant", "content": "one two three four five. " * 60}
    for most, expected in ((0.95, 3), (0.1, 1)):
        context: list[Any] = [
            {"role": "user", "content": "?"},
            long,
            {"role": "user", "content": "!"},
        ]
        manager = ContextManager(
            config=ContextConfig(max_context_pct=most, compaction_trigger_pct=0.1,
                                 summarize_medium_chunks=False, drop_notice=False),
            get_context=lambda: context,  # noqa: B023 - used in this turn only
            set_context=lambda new: context.__setitem__(slice(None), new),  # noqa: B023
        )  # fmt: skip
        manager.before_response(1000)
        assert len(context) == expected


def test_auto_compact() -> None:
    """Off: the status says that it is time, and nothing is done."""
    _manager, context, status = play(auto_compact=False)
    assert (len(context), status.needs_compaction) == (11, True)


def test_relevance_cutoff_and_keep_threshold() -> None:
    """What is between them is shortened; at 0 nothing is dropped for its score."""
    manager = play("zebra", 9000, relevance_cutoff=0.0, min_chunks_to_keep=0)[0]
    manager.compact()
    assert manager.last.dropped == ()
    manager = play("zebra", 9000, min_chunks_to_keep=0)[0]
    manager.compact()
    assert len(manager.last.dropped) == 9
    manager = play(relevance_keep_threshold=0.95)[0]
    assert manager.last.shortened == (0,)
    manager = play(window=9000, relevance_keep_threshold=0.3, relevance_cutoff=0.3)[0]
    manager.compact()
    assert manager.last.shortened == ()


def test_weights() -> None:
    """Each part of the score is multiplied by its weight."""
    assert play()[0].last.scores[0] > 0.85
    assert play(importance_bonus=0.0)[0].last.scores[0] < 0.81
    assert play(memfas_weight=0.0)[0].last.scores[0] == pytest.approx(0.3, abs=0.01)
    assert play(memfas_weight=0.0, recency_bonus=0.5)[0].last.scores[0] == pytest.approx(
        0.6, abs=0.01
    )


def test_memfas_min_score() -> None:
    """A similarity below it counts as none."""
    weak = "billing of other things and of the many matters that nobody knows"
    assert play(weak)[0].last.scores[0] > 0.35
    assert play(weak, memfas_min_score=0.99)[0].last.scores[0] == pytest.approx(0.3, abs=0.01)


def test_min_chunks_to_keep() -> None:
    """So many are left, at least."""
    for least in (2, 6, 9):
        _manager, context, _ = play("zebra", min_chunks_to_keep=least, drop_notice=False)
        assert len(context) == least


def test_cold_storage_enabled() -> None:
    """Off: nothing is written, scores drop nothing, and what the size takes is told."""
    manager, _, status = play(cold_storage_enabled=False)
    assert not Path("cold-storage").exists()
    assert manager.session_end() == 0
    assert not Path("cold-storage").exists()
    assert status.pct_used < 0.5
    manager, _context, status = play(
        cold_storage_enabled=False, summarize_medium_chunks=False, compaction_trigger_pct=0.1
    )
    assert any("kept nowhere" in note for note in status.notes)


def test_cold_storage_path_and_log_path(tmp_path: Path) -> None:
    """Relative to the file, with `~`, or absolute; arguments go before."""
    play(cold_storage_path="put/away", log_path=str(tmp_path / "elsewhere"))
    assert list((tmp_path / "put/away").glob("*.md"))
    assert lines("health", "elsewhere")
    manager = ContextManager(config_path="memfas.yaml", cold_storage_path="mine", log_path="logged")
    manager.cold_storage.store_dropped("a", "b", 0, "c")
    manager.on_message("x", [])
    assert list((tmp_path / "mine").glob("*.md"))
    assert lines("health", "logged")


def test_recoverable_days() -> None:
    """How long a chunk is found."""
    from datetime import timedelta

    manager, _, _ = play(recoverable_days=3)
    block = manager.cold_storage.folder.blocks()[0]
    assert block.until[:10] == (manager._clock() + timedelta(days=3)).date().isoformat()


def test_summarize_medium_chunks_and_target() -> None:
    """Off: nothing is shortened. The target is that of each summary."""
    manager, context, _ = play(relevance_keep_threshold=0.95, summarize_medium_chunks=False)
    assert manager.last.shortened == ()
    sizes = []
    for target in (20, 500):
        _, context, _ = play(relevance_keep_threshold=0.95, summary_target_tokens=target)
        summary = next(m["content"] for m in context if "[memfas: shortened" in m["content"])
        sizes.append(len(summary))
    assert sizes[0] < sizes[1] < len(LONG)


def test_summary_model() -> None:
    """`none` leaves chunks as they are; a model that cannot be asked is told, once."""
    manager = play(relevance_keep_threshold=0.95, summary_model="none")[0]
    assert manager.last.shortened == ()
    manager, _context, status = play(relevance_keep_threshold=0.95, summary_model="openai/gpt-x")
    assert manager.last.shortened == (0,)
    assert any("extraction" in note for note in status.notes)


def test_curation_trigger_pct() -> None:
    """From there on what stands in the context twice is taken out, and logged; not below."""
    curated = (
        "<relevant_memory>\n[MEMORY.md]\n3: the port is 5433\n</relevant_memory>\nand the port?"
    )
    result = {"role": "tool", "tool_call_id": "c1", "content": "line of a listing\n" * 30}
    again = {**result, "tool_call_id": "c2"}
    calls = [{"role": "assistant", "content": None, "tool_calls": [
        {"id": i, "function": {"name": "ls", "arguments": "{}"}}]} for i in ("c1", "c2")]  # fmt: skip
    for trigger, changed in ((0.4, True), (0.99, False), (0.0, False)):
        context: list[Any] = [{"role": "user", "content": curated}, calls[0], result, calls[1],
                              again, {"role": "user", "content": "thanks"}]  # fmt: skip
        before = list(context)
        manager = ContextManager(
            config=ContextConfig(curation_trigger_pct=trigger, auto_compact=False),
            get_context=lambda: context,  # noqa: B023 - used in this turn only
            set_context=lambda new: context.__setitem__(slice(None), new),  # noqa: B023
        )  # fmt: skip
        logged = lines("curation")
        manager.before_response(700)
        assert (context != before) is changed
        if changed:
            assert context[0]["content"] == "and the port?"
            assert context[2]["tool_call_id"] == "c1"
            assert "below" in context[2]["content"]
            assert context[1:2] + context[3:] == before[1:2] + before[3:]
            assert lines("curation") == logged + 1


@pytest.mark.parametrize("name", ["compaction", "drops", "health", "recovery"])
def test_logs(name: str) -> None:
    """Each is written, and is not where its key says so; no message is in any of them."""
    manager, _, _ = play(**{f"log_{name}": False})
    manager.recover("billing")
    assert not lines(name)
    manager, _, _ = play()
    manager.recover("billing")
    assert lines(name)
    for path in Path("logs/context").glob("*.jsonl"):
        assert "nothing more" not in path.read_text()
        assert "PostgreSQL" not in path.read_text()


def test_drop_notice() -> None:
    """One line stands for all that left, and says where it is; or none."""
    _, context, _ = play("zebra")
    notices = [m for m in context if m["content"].startswith("[memfas: ")]
    assert len(notices) == 1
    assert notices[0]["role"] == "user"
    assert "in cold storage (cold-storage/)" in notices[0]["content"]
    _, context, _ = play("zebra", drop_notice=False)
    assert not any(m["content"].startswith("[memfas: ") for m in context)


@pytest.mark.parametrize(("key", "value"), [
    ("compaction_trigger_pct", 1.5), ("compaction_trigger_pct", "half"), ("auto_compact", "yes"),
    ("min_chunks_to_keep", -1), ("recoverable_days", 2.5), ("cold_storage_path", ""),
    ("summary_target_tokens", 0), ("relevance_cutoff", True), ("log_drops", 1),
])  # fmt: skip
def test_a_wrong_value_is_named(key: str, value: object) -> None:
    """File, line, key, and what it must be; for the object and for the command line."""
    Path("memfas.yaml").write_text(f"timezone: UTC\ncontext:\n  {key}: {json.dumps(value)}\n")
    with pytest.raises(ConfigError, match=rf"memfas.yaml:3: context\.{key} must be "):
        ContextConfig.load("memfas.yaml")
    ended = call("config", "--root", ".")
    assert f"context.{key}" in ended.everything
    with pytest.raises(ConfigError, match=key):
        ContextConfig(**{key: value})


def test_thresholds_in_the_wrong_order() -> None:
    """Nothing could be kept, or shortened."""
    with pytest.raises(
        ConfigError, match=r"relevance_cutoff 0[.]8 is above relevance_keep_threshold"
    ):
        ContextConfig(relevance_cutoff=0.8)


def test_unknown_keys_are_passed_over() -> None:
    """As the reference does; the commands of memfas, too."""
    Path("memfas.yaml").write_text("context:\n  brand_new: 1\n  recoverable_days: 4\n")
    assert ContextConfig.load("memfas.yaml").recoverable_days == 4
    assert call("stats", "--root", ".").status == 0


def test_save_keeps_what_others_wrote() -> None:
    """Comments, order and keys of other sections; a new file has all keys."""
    text = "# mine\ntimezone: UTC\ncontext:\n  # early\n  compaction_trigger_pct: 0.4\n"
    Path("memfas.yaml").write_text(text)
    config = ContextConfig.load("memfas.yaml")
    config.save("memfas.yaml")
    assert Path("memfas.yaml").read_text() == text
    config.recoverable_days = 7
    config.save("memfas.yaml")
    assert Path("memfas.yaml").read_text() == text + "  recoverable_days: 7\n"
    assert ContextConfig.load("memfas.yaml") == config
    config.save("new.yaml")
    assert ContextConfig.load("new.yaml") == config
