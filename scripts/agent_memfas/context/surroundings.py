"""Where a context manager keeps its things: paths, the time zone, the model for summaries."""

from __future__ import annotations

import os
from collections.abc import Callable
from datetime import datetime, tzinfo
from pathlib import Path

from agent_memfas import config as settings_files
from agent_memfas.config import Settings
from agent_memfas.context.config import ContextConfig
from agent_memfas.context.summarizers import ExtractiveSummarizer, Summarizer, create_summarizer
from agent_memfas.errors import MemfasError
from agent_memfas.store.layout import Folder
from agent_memfas.store.places import STATE

NO_KEY = "summary_model {}: MINIMAX_API_KEY is not set, so summaries are made by extraction"


def root_of(config: ContextConfig, *paths: str | Path | None) -> Path:
    """The folder that relative paths are relative to: that of the file that the configuration came
    from, else of the first of these paths that is given.
    """
    if config.file is not None:
        return config.file.parent
    for path in paths:
        if path is not None:
            place = Path(os.path.abspath(os.path.expanduser(path)))
            return place if place.is_dir() else place.parent
    return Path(os.path.abspath("."))


def inside(root: Path, path: str | Path) -> Path:
    """A path, relative to the root where it is no absolute one."""
    return Path(os.path.normpath(root / os.path.expanduser(path)))


def settings_of(root: Path, config: ContextConfig) -> Settings:
    """What memfas.yaml says besides, the defaults where it is not for memfas or makes no sense."""
    return settings_files.load_or_defaults(config.file or settings_files.beside(root))


def clock_of(zone: tzinfo | None) -> Callable[[], datetime]:
    """The time in a zone, None for the local one."""
    return lambda: datetime.now(zone).astimezone(zone)


def memory_folder(root: Path) -> Folder | None:
    """The memory folder at the root, None where there is none that is in use."""
    real = Path(os.path.realpath(root))
    return Folder(real) if (real / STATE).is_dir() else None


def summarizer_of(
    given: str | Summarizer | Callable[..., str] | None, config: ContextConfig, settings: Settings,
    notes: list[str],
) -> Summarizer | None:  # fmt: skip
    """The summarizer in force, None where chunks are not summarized. What is not as configured goes
    into notes. given: before that of the configuration.
    """
    if not config.summarize_medium_chunks:
        return None
    target = config.summary_target_tokens
    wanted = given if given is not None else config.summary_model or "extractive"
    is_minimax = isinstance(wanted, str) and wanted.lower().startswith("minimax")
    if is_minimax and not os.environ.get("MINIMAX_API_KEY", "").strip():
        notes.append(NO_KEY.format(wanted))
        return ExtractiveSummarizer(target)
    try:
        return create_summarizer(wanted, choice=settings.llm, target_tokens=target)
    except MemfasError as error:
        if given is not None:
            raise
        notes.append(f"summary_model: {error.message}; summaries are made by extraction")
        return ExtractiveSummarizer(target)
