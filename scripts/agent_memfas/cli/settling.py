"""Reading memfas.yaml for a question, and keeping what it says for the next one."""

from __future__ import annotations

import os
from pathlib import Path

from agent_memfas import config
from agent_memfas.cli.brief import FILE, Brief
from agent_memfas.errors import MemfasError
from agent_memfas.store.durable import write_whole
from agent_memfas.store.places import STATE
from agent_memfas.text.firing import Trigger


def load(file: str, root: str) -> Brief:
    """Parse a memfas.yaml. ConfigError where it is wrong. root: of the memory folder."""
    return brief_from(config.load(Path(file)), root)


def brief_from(settings: config.Settings, root: str) -> Brief:
    """What a question needs of the settings. ConfigError for a source outside the root."""
    sources = [
        (config.inside(root, source.path), source.always_load) for source in settings.sources
    ]
    return Brief(
        str(settings.values.get("timezone", "")).replace("local", ""), settings.terms.p1,
        settings.terms.p2, tuple(path for path, _ in sources),
        settings.max_results, settings.min_score, settings.db_path, settings.budget,
        config.token_of(settings),
        settings.triggers_file, _real(str(settings.file)) if settings.file else "",
        tuple(path for path, always in sources if always),
        settings.recency_weight, settings.backend, settings.rights.private,
        settings.hooks.prompt_tokens,
    )  # fmt: skip


def _real(file: str) -> str:
    """The absolute path of a file in its real folder; a link keeps its own name."""
    head, tail = os.path.split(os.path.abspath(file))
    return os.path.join(os.path.realpath(head), tail)


def triggers(brief: Brief, root: str) -> list[Trigger]:
    """The triggers of the settings file and of its triggers_file; none where it cannot be read.
    root: of the memory folder."""
    try:
        return config.triggers_of(config.load(Path(brief.file)), root)
    except MemfasError:
        return []


def keep(root: str, head: bytes, raw: bytes, found: Brief) -> None:
    """Keep it for the next run, where the state folder is there and can be written."""
    fields = [found.zone, found.p1, found.p2, found.limit, found.min_score, found.db_path,
              found.budget, found.token, found.triggers_file, found.file, found.recency_weight,
              found.backend, found.prompt_tokens, len(found.sources), len(found.always),
              *found.sources, *found.always, *found.private]  # fmt: skip
    texts = [str(field) for field in fields]
    state = Path(root) / STATE
    if any("\n" in text for text in texts) or state.is_symlink() or not state.is_dir():
        return
    try:
        write_whole(state / FILE, head + "\n".join(texts).encode() + b"\n\n" + raw)
    except (MemfasError, UnicodeEncodeError):
        return
