"""Asking by another backend than words: loaded where memfas.yaml names one."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from agent_memfas import config
from agent_memfas.cli import out
from agent_memfas.cli.brief import Brief
from agent_memfas.errors import MemfasError
from agent_memfas.index.feeding import BY_WORDS
from agent_memfas.index.keeper import Keeper
from agent_memfas.memory.backing import WORDS, chosen

PATIENCE = 5.0  # seconds that a question waits for a server


def keeper_maker(brief: Brief) -> Callable[..., Keeper]:
    """What makes the keeper for the backend that the settings name; where its library, its model or
    its server is missing that is said, and words rank. A question waits for no model to be fetched.
    """
    if brief.backend == WORDS:
        return Keeper
    try:
        settings = config.load(Path(brief.file))
        choice = chosen(None, None, settings, fetch=False)
        embedder: Any = choice.embedder
        if hasattr(embedder, "timeout"):
            embedder.timeout = min(embedder.timeout, PATIENCE)
        return choice.maker()
    except MemfasError as error:
        more = f" ({error.remedy})" if error.remedy else ""
        out.tell(f"{BY_WORDS}: {error.message}{more}")
        return Keeper
