"""Nobody has a key, nothing of this machine is asked, and pauses are short."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from llm.server import Server, serving

VARIABLES = ("OPENAI_API_KEY", "OPENAI_BASE_URL", "OLLAMA_HOST", "MINIMAX_API_KEY", "MINE")


@pytest.fixture(autouse=True)
def _alone(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in VARIABLES:
        monkeypatch.delenv(name, raising=False)
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    monkeypatch.setattr("agent_memfas.remote.waiting.FIRST_PAUSE", 0.001)


@pytest.fixture
def server() -> Iterator[Server]:
    with serving() as state:
        yield state
