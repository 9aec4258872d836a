"""Keeping abstracts up beside other work: in folders that have them, as memfas.yaml wants it."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

from agent_memfas import config
from agent_memfas.cli import out
from agent_memfas.cli.brief import now_of
from agent_memfas.cli.session import Session
from agent_memfas.config.keys import DEFAULTS
from agent_memfas.errors import ConfigError, MemfasError, TryAgain
from agent_memfas.store.layout import Folder
from agent_memfas.store.overviews import ABSTRACT
from agent_memfas.tasks import abstracts

PATIENCE = 10.0  # seconds for another process that is writing abstracts
KEY = "abstracts.auto"


class Kept:
    """What became of it. written: paths of abstracts. notes: what could not be done, and why."""

    def __init__(self) -> None:
        self.written: list[str] = []
        self.notes: list[str] = []

    def take(self, report: abstracts.Report | None) -> None:
        """What a run says; of its problems only those that keep abstracts from being written."""
        if report is None:
            return
        self.written = report.written
        self.notes += [
            f"{p.path}: {p.reason}" for p in report.problems
            if p.path.rpartition("/")[2] == ABSTRACT
        ]  # fmt: skip


def keep_up(session: Session) -> Kept:
    """Refresh the abstracts after a command's own work. Failing is a note, never an error."""
    kept = Kept()
    if not is_wanted(session.settings):
        return kept
    try:
        wait = min(PATIENCE, session.settings.patience)
        kept.take(abstracts.keep_up(session.folder, session.now, as_of=time.time_ns(), wait=wait))
    except (MemfasError, OSError) as error:
        kept.notes.append(f"the abstracts are not refreshed: {error}")
    return kept


def is_wanted(settings: config.Settings) -> bool:
    """Whether memfas.yaml lets abstracts be kept up."""
    return bool(settings.values.get(KEY, DEFAULTS[KEY]))


class Refresh:
    """The same for a watcher, again and again. What goes wrong is told once."""

    def __init__(self, root: str, file: str | None, check: Callable[[], None]) -> None:
        self._folder = Folder(Path(root))
        self._file = Path(file) if file else None
        self._check = check
        self._told = frozenset[str]()

    def __call__(self) -> bool:
        """Refresh them. False: somebody else is at it, so it is to be done again."""
        kept, done = Kept(), True
        try:
            settings = self._settings()
            if is_wanted(settings):
                now = now_of(str(settings.timezone or ""), None)
                kept.take(
                    abstracts.keep_up(
                        self._folder, now, as_of=time.time_ns(), check=self._check, wait=0.0
                    )
                )
        except TryAgain:
            done = False
        except (MemfasError, OSError) as error:
            kept.notes.append(f"the abstracts are not refreshed: {error}")
        for note in kept.notes:
            if note not in self._told:
                out.tell(note)
        self._told = frozenset(kept.notes)
        return done

    def _settings(self) -> config.Settings:
        """As memfas.yaml is now; the defaults where it is at fault, which the watcher tells."""
        try:
            return config.load(self._file or config.beside(self._folder.root))
        except ConfigError:
            return config.Settings()
