"""The public object of the reference: `Memory`, over the files of a memory folder."""

from __future__ import annotations

import os
import time
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from agent_memfas import config as configuration
from agent_memfas.index.keeper import Keeper
from agent_memfas.index.places import cache_home, places_of
from agent_memfas.store.layout import open_folder
from agent_memfas.tasks import recall


@dataclass(frozen=True)
class MemoryResult:
    """One hit. source: path relative to the folder; lines 1-based, inclusive; score: 0 to 1."""

    source: str
    text: str
    score: float
    trigger: str | None = None
    hint: str | None = None
    date: str | None = None
    start_line: int | None = None
    end_line: int | None = None
    heading: str | None = None

    def __str__(self) -> str:
        head = f"[{self.trigger}] {self.hint}" if self.trigger else f"[{self.source}]"
        more = "..." if len(self.text) > 200 else ""
        return f"{head}\n  > {self.text[:200]}{more}"


class Memory:
    """A memory folder as an object.

    config: the path of a memfas.yaml (its folder is the memory folder), of a folder, or None for
    the current folder. ConfigError where it makes no sense.
    """

    def __init__(self, config: str | Path | None = None) -> None:
        path = Path(config if config is not None else ".").absolute()
        self._folder = open_folder(path if path.is_dir() else path.parent)
        root = str(self._folder.root)
        file = configuration.beside(self._folder.root) if path.is_dir() else path
        self._settings = configuration.load(file if file and file.exists() else None)
        sources = tuple(source.path for source in self._settings.sources)
        self._keeper = Keeper(
            root, places_of(root, self._settings.db_path, cache_home(os.environ)), sources
        )  # fmt: skip

    def search(self, query: str, limit: int | None = None) -> list[MemoryResult]:
        """The best passages for a query, from the files as they are now; best first."""
        zone = self._settings.timezone
        today = datetime.now(zone).date() if zone else datetime.now().astimezone().date()
        filters = recall.Filters(
            limit=self._settings.max_results if limit is None else max(limit, 0),
            min_score=self._settings.min_score,
            p1=self._settings.terms.p1,
            p2=self._settings.terms.p2,
        )
        budget = self._settings.budget / 1000 or None
        answer = recall.ask(self._keeper, query, filters, today, time.time_ns(), budget)
        return [
            MemoryResult(
                hit.path, hit.text, hit.score, date=hit.date, start_line=hit.start_line,
                end_line=hit.end_line, heading=hit.heading,
            )
            for hit in answer.hits
        ]  # fmt: skip
