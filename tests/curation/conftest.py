"""A memory folder, and curators that are closed after the test."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from agent_memfas.v3 import ContextCurator
from curation.support import Agent


@pytest.fixture(autouse=True)
def _alone(nothing_of_this_machine: None) -> None:
    """No variable of this machine counts."""


@pytest.fixture
def agent(tmp_path: Path) -> Agent:
    """An empty memory folder."""
    (tmp_path / "agent").mkdir()
    return Agent(tmp_path / "agent")


@pytest.fixture
def curator(agent: Agent) -> Iterator[Callable[..., ContextCurator]]:
    """Makes curators of the folder; arguments are those of ContextCurator."""
    with ExitStack() as stack:

        def made(**options: Any) -> ContextCurator:
            return stack.enter_context(ContextCurator(agent.root, **options))

        yield made
