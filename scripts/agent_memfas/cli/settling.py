"""Reading memfas.yaml for a question, and keeping what it says for the next one."""

from __future__ import annotations

import os
from pathlib import Path

from agent_memfas import config
from agent_memfas.cli.brief import FILE, Brief, shown
from agent_memfas.errors import MemfasError
from agent_memfas.store.durable import write_whole
from agent_memfas.store.files import READ_CAP, read
from agent_memfas.store.places import STATE, TRIGGERS
from agent_memfas.text.documents import parse
from agent_memfas.text.firing import Trigger
from agent_memfas.text.triggers import listed


def load(file: str) -> Brief:
    """Parse a memfas.yaml. ConfigError where it is wrong."""
    settings = config.load(Path(file))
    return Brief(
        str(settings.values.get("timezone", "")).replace("local", ""), settings.terms.p1,
        settings.terms.p2, tuple(source.path for source in settings.sources),
        settings.max_results, settings.min_score, settings.db_path, settings.budget,
        config.token_of(settings),
        settings.triggers_file, _real(file),
        tuple(source.path for source in settings.sources if source.always_load),
        settings.recency_weight,
    )  # fmt: skip


def _real(file: str) -> str:
    """The absolute path of a file in its real folder; a link keeps its own name."""
    head, tail = os.path.split(os.path.abspath(file))
    return os.path.join(os.path.realpath(head), tail)


def triggers(brief: Brief, root: str) -> list[Trigger]:
    """The triggers of the settings file, then those of its triggers_file; what cannot be read has
    none. root: of the memory folder."""
    found: list[Trigger] = []
    try:
        settings = config.load(Path(brief.file))
        found += [
            Trigger(t.keyword, t.hint, shown(root, brief.file), t.line, t.links)
            for t in settings.triggers
        ]
        if brief.triggers_file and shown(root, brief.triggers_file) != TRIGGERS:
            data = read(Path(brief.triggers_file), READ_CAP, cut=True).data
            found += listed(parse(data), shown(root, brief.triggers_file))
    except MemfasError:
        return found
    return found


def keep(root: str, head: bytes, raw: bytes, found: Brief) -> None:
    """Keep it for the next run, where the state folder is there and can be written."""
    fields = [found.zone, found.p1, found.p2, found.limit, found.min_score, found.db_path,
              found.budget, found.token, found.triggers_file, found.file, found.recency_weight,
              len(found.sources), *found.sources, *found.always]  # fmt: skip
    texts = [str(field) for field in fields]
    state = Path(root) / STATE
    if any("\n" in text for text in texts) or state.is_symlink() or not state.is_dir():
        return
    try:
        write_whole(state / FILE, head + "\n".join(texts).encode() + b"\n\n" + raw)
    except (MemfasError, UnicodeEncodeError):
        return
