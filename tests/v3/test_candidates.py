"""What a turn is chosen from: by meaning too where there is a model, and never only what was given."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from agent_memfas.v3 import ContextCurator


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A hundred notes about the same thing, and one in other words."""
    (tmp_path / "MEMORY.md").write_text("# Memory\n", encoding="utf-8")
    lines = [f"- The zebra of stable {n} weighs {200 + n} kilos.\n" for n in range(100)]
    (tmp_path / "notes.md").write_text("".join(["# Zebras\n\n", *lines]), encoding="utf-8")
    return tmp_path


class Blind:
    """An embedder for which every text is the same."""

    def embed(self, text: str) -> Sequence[float]:
        return [1.0, 0.0]


def test_a_session_is_given_something_new_each_turn(root: Path) -> None:
    """What was given does not come again and does not keep back what is next: a question that is
    asked six times gets six times ten others."""
    seen = set[str]()
    with ContextCurator(root) as curator:
        for _ in range(6):
            curator.get_context("What does the zebra weigh?", "s", level=3)
            assert curator.last is not None
            given = {kept.memory.source for kept in curator.last.kept}
            assert len(given) == 10
            assert not given & seen
            seen |= given


def test_an_embedder_does_not_replace_words(root: Path) -> None:
    """With a model that tells nothing apart the note with the very words is still the first."""
    with ContextCurator(root, embedder=Blind()) as curator:
        curator.get_context("How many kilos does the zebra of stable 42 weigh?", level=5)
        assert curator.last is not None
        assert "stable 42 " in curator.last.rated[0].hit.text


def test_an_own_budget_prefers_the_answer_to_what_is_new(tmp_path: Path) -> None:
    """With a budget of its own a turn holds the old line that answers rather than today's chat."""
    (tmp_path / "memory").mkdir()
    log = tmp_path / "memory/2020-01-05.md"
    log.write_text("# Log\n\n- The vault of acme opens with the code 7731.\n", encoding="utf-8")
    with ContextCurator(tmp_path, token_budget=60) as curator:
        today = curator._memory.now.date().isoformat()
        chat = "".join(f"- We had a word on acme, round {n}.\n" for n in range(9))
        (tmp_path / f"memory/{today}.md").write_text(f"# Log\n\n{chat}", encoding="utf-8")
        response = curator.get_context("Which code opens the vault of acme?")
        assert "7731" in response.context
        assert response.tokens_used <= 60
