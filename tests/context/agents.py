"""A manager around a list of messages, for tests that play an agent."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from agent_memfas.context import ContextConfig, ContextManager
from agent_memfas.text.cold import parse

Made = Callable[..., tuple[ContextManager, list[Any]]]


@pytest.fixture
def managed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Made:
    """A manager over a list, in an empty folder; it keeps nothing that need not be kept."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("MINIMAX_API_KEY", raising=False)

    def make(messages: list[Any], **more: Any) -> Any:
        context = list(messages)
        more = {"config": ContextConfig(min_chunks_to_keep=0), **more}
        callbacks = {"get_context": lambda: context,
                     "set_context": lambda new: context.__setitem__(slice(None), new)}  # fmt: skip
        return ContextManager(**{**callbacks, **more}), context

    return make


def chat(number: int) -> list[dict[str, Any]]:
    return [{"role": ("user", "assistant")[n % 2], "content": f"message {n} about nothing"}
            for n in range(number)]  # fmt: skip


def stored(home: Path = Path("cold-storage")) -> set[str]:
    return {block.text for path in home.glob("*.md") for block in parse(path.read_bytes())[0]}
