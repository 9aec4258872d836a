"""Reading memfas.yaml for a question, and keeping what it says for the next one."""

from __future__ import annotations

from pathlib import Path

from agent_memfas import config
from agent_memfas.cli.brief import FILE, Brief
from agent_memfas.errors import MemfasError
from agent_memfas.store.durable import write_whole
from agent_memfas.store.places import STATE


def load(file: str) -> Brief:
    """Parse a memfas.yaml. ConfigError where it is wrong."""
    settings = config.load(Path(file))
    return Brief(
        str(settings.values.get("timezone", "")).replace("local", ""), settings.terms.p1,
        settings.terms.p2, tuple(source.path for source in settings.sources),
        settings.max_results, settings.min_score, settings.db_path, settings.budget,
    )  # fmt: skip


def keep(root: str, head: bytes, raw: bytes, found: Brief) -> None:
    """Keep it for the next run, where the state folder is there and can be written."""
    fields = [found.zone, found.p1, found.p2, found.limit, found.min_score, found.db_path,
              found.budget, *found.sources]  # fmt: skip
    texts = [str(field) for field in fields]
    state = Path(root) / STATE
    if any("\n" in text for text in texts) or state.is_symlink() or not state.is_dir():
        return
    try:
        write_whole(state / FILE, head + "\n".join(texts).encode() + b"\n\n" + raw)
    except (MemfasError, UnicodeEncodeError):
        return
