"""The agent loops of the README that users were promised, as they stand there."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest

from agent_memfas.context import (
    CompactionResult,
    ContextConfig,
    ContextManager,
    ContextStatus,
)

CONFIG = """\
context:
  compaction_trigger_pct: 0.50    # Trigger early at 50%
  relevance_cutoff: 0.3           # DROP below this score
  relevance_keep_threshold: 0.7   # KEEP above this score
  min_chunks_to_keep: 5           # Safety floor

  # Scoring weights
  memfas_weight: 0.6              # Embedding similarity weight
  recency_bonus: 0.2              # Max recency boost (decays over ~4h)
  importance_bonus: 0.1           # Flat boost for important chunks

  # Cold storage
  cold_storage_enabled: true
  cold_storage_path: "./cold-storage/"
  recoverable_days: 30

  # Summarization (optional)
  summarize_medium_chunks: true
  summary_model: "minimax/MiniMax-M2.1"  # Set MINIMAX_API_KEY env var

  # Logging
  log_path: "./logs/context/"
  log_compaction: true
  log_drops: true
"""
WORDS = ("river stone lamp garden window copper violin harbour paper meadow engine silver curtain "
         "basket thunder pillow marble orchard ladder feather").split()  # fmt: skip


class Agent:
    """As in the README, but for what answers."""

    def __init__(self) -> None:
        self.messages: list[dict[str, Any]] = []
        self.ctx = ContextManager(
            config_path="./memfas.yaml",
            memfas_memory_path="./memfas.yaml",
            get_context=lambda: self.messages,
            set_context=lambda m: setattr(self, 'messages', m),
            get_token_count=lambda: sum(len(m['content'])//4 for m in self.messages),
            get_messages=lambda n: self.messages[-n:],
        )  # fmt: skip
        self.status: list[ContextStatus] = []

    def handle_message(self, user_input: str) -> str:
        self.messages.append({"role": "user", "content": user_input})

        # Pre-response: check health, auto-compact if needed
        self.ctx.set_current_prompt(user_input)
        status = self.ctx.before_response(max_tokens=4000)
        self.status.append(status)

        # Generate response (your LLM call here)
        response = self.generate(self.messages)
        self.messages.append({"role": "assistant", "content": response})

        self.ctx.after_response()
        return response

    def end_session(self) -> None:
        self.ctx.session_end()  # Archives to cold storage

    def generate(self, messages: list[dict[str, Any]]) -> str:
        source = random.Random(len(messages))
        return " ".join(source.choices(WORDS, k=60))


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with the README's configuration, and no key of a model."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("MINIMAX_API_KEY", raising=False)
    (tmp_path / "memfas.yaml").write_text(CONFIG)
    return tmp_path


def test_the_full_agent_loop_runs_for_days(here: Path) -> None:
    """D52: messages are dicts. The window never gets to the trigger, the system prompt and the
    current question stay, and what was said at the beginning comes back."""
    agent = Agent()
    system = {"role": "system", "content": "You are terse."}
    agent.messages.append(system)
    plan = "The database migration plan: dump Postgres, verify checksums, switch over on Friday"
    agent.handle_message(plan)
    source = random.Random(1)
    for turn in range(150):
        question = f"{' '.join(source.choices(WORDS, k=40))} {turn}"
        agent.handle_message(question)
        assert agent.status[-1].pct_used < 0.5
        assert not agent.status[-1].needs_compaction
        assert agent.messages[0] is system
        assert agent.messages[-2]["content"] == question
    assert agent.status[-1].cold_storage_count > 100
    assert not any(plan in message["content"] for message in agent.messages)
    assert agent.ctx.recover("what was the database migration plan")[0] == plan
    left = [message["content"] for message in agent.messages if message is not system]
    agent.end_session()
    stored = "".join(path.read_text() for path in (here / "cold-storage").glob("*.md"))
    for text in left:
        assert text in stored or text.startswith("[memfas: ") or "[memfas: shortened" in text


@pytest.mark.usefixtures("here")
def test_the_quick_start_runs_verbatim() -> None:
    """The calls of the README, in their order, print what it prints."""
    current_messages = [{"role": "user", "content": f"{word} " * 60} for word in WORDS]
    user_message = "what was the database migration plan"

    def replace_messages(msgs: list[Any]) -> None:
        current_messages[:] = msgs

    def count_tokens(messages: list[Any]) -> int:
        return sum(len(m["content"]) // 4 for m in messages)

    ctx = ContextManager(
        config_path="./memfas.yaml",
        memfas_memory_path="./memfas.yaml",   # enables embedding-based scoring
        get_context=lambda: current_messages,
        set_context=replace_messages,
        get_token_count=lambda: count_tokens(current_messages),
        get_messages=lambda n: current_messages[-n:],
    )  # fmt: skip
    ctx.on_message(user_message, current_messages)
    ctx.set_current_prompt(user_message)
    status = ctx.before_response(max_tokens=100000)
    shown = f"Context: {status.pct_used:.0%} used, compaction: {status.needs_compaction}"
    assert shown == "Context: 2% used, compaction: False"
    ctx.after_response()
    ctx.session_end()
    recovered = ctx.recover("violin")
    assert recovered == ["violin " * 60]


@pytest.mark.usefixtures("here")
def test_context_management_by_hand() -> None:
    """The section "Context Management" of the README: each call gives what it says."""
    messages = [f"note {n}: {word} {word}" for n, word in enumerate(WORDS)]
    ctx = ContextManager(config_path="memfas.yaml", get_context=lambda: messages,
                         set_context=lambda m: messages.__setitem__(slice(None), m))  # fmt: skip
    status = ctx.status()
    assert isinstance(status, ContextStatus)
    assert (status.chunks_count, status.max_tokens) == (20, 100_000)
    ctx.set_current_prompt("where is the violin")
    result = ctx.compact()
    assert isinstance(result, CompactionResult)
    assert result.chunks_dropped == 15
    assert result.tokens_before - result.tokens_after == result.token_savings > 0
    assert "note 6: violin violin" in messages
    assert ctx.recover("harbour") == ["note 7: harbour harbour"]
    assert ctx.health_check() == {
        "tokens": result.tokens_after, "cold_storage_count": 15,
        "config": {"compaction_trigger_pct": 0.5, "relevance_cutoff": 0.3},
    }  # fmt: skip


def test_the_configuration_of_the_readme_is_what_holds(here: Path) -> None:
    """Every key is read, from the section and from a file without it; unknown ones are ignored."""
    loaded = ContextConfig.load("memfas.yaml")
    assert loaded.to_dict() == ContextConfig().to_dict()
    (here / "memfas.yaml").write_text(CONFIG.replace("0.50", "0.4").replace("days: 30", "days: 3"))
    loaded = ContextConfig.load()
    assert (loaded.compaction_trigger_pct, loaded.recoverable_days) == (0.4, 3)
    (here / "top.yaml").write_text("compaction_trigger_pct: 0.3\nwhatever: 1\n")
    assert ContextConfig.load("top.yaml").compaction_trigger_pct == 0.3
    assert ContextConfig.load("missing.yaml") == ContextConfig()
