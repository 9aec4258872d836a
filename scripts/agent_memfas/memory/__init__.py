"""The public object of the reference: `Memory`, over the files of a memory folder."""

from __future__ import annotations

import os
import time
import warnings
from collections.abc import Callable, Iterable
from datetime import datetime
from pathlib import Path
from threading import RLock
from typing import TYPE_CHECKING, Any, TypeVar

from agent_memfas.config import NO_FILE, beside, inside
from agent_memfas.config.family import Config, config_of
from agent_memfas.embedders.base import Embedder
from agent_memfas.errors import ConfigError, NothingFound, UsageError
from agent_memfas.index.extract import documents, is_partly_read
from agent_memfas.index.feeding import BY_WORDS
from agent_memfas.index.keeper import Keeper
from agent_memfas.index.places import Place, cache_home, places_of
from agent_memfas.memory import folders
from agent_memfas.memory.backing import chosen
from agent_memfas.memory.opening import Opening, named_agent, opened, reopened
from agent_memfas.memory.results import MemoryResult, result_of
from agent_memfas.memory.writing import Writing
from agent_memfas.search.base import SearchBackend, SearchResult
from agent_memfas.store.passes import Pass
from agent_memfas.store.places import stamp
from agent_memfas.tasks import settings as changing
from agent_memfas.tasks import triggers
from agent_memfas.tasks.recall import Answer, Filters, ask
from agent_memfas.text.firing import Trigger, key_of, read_link
from agent_memfas.text.rights import Rights
from agent_memfas.text.suggest import suggest

if TYPE_CHECKING:
    from agent_memfas.config import Settings
    from agent_memfas.index.keeper import Source
    from agent_memfas.store.layout import Folder

__all__ = ["Memory", "MemoryResult", "SearchBackend", "SearchResult"]

T = TypeVar("T")
WAIT = 10.0  # seconds to wait for another process that writes the index, where nobody asks


class Memory(Writing):
    """A memory folder as an object. Its files are what it knows: each question is answered from
    them as they are at that moment, so that nothing has to be indexed by hand.

    config: the path of a memfas.yaml (its folder is the memory folder), of a folder, a Config, or
    None for the current folder. search_backend: "fts5", "embedding", "hybrid", "auto" or a
    SearchBackend, which is then fed with the folder's passages. embedder: for vectors; given alone
    it is used, too. agent: who asks, as in `named_agent`; it sees what it may see.

    May be used by several threads, one after the other. ConfigError where config makes no sense.
    """

    def __init__(
        self,
        config: str | Path | Config | Opening | None = None,
        search_backend: str | SearchBackend | None = None,
        embedder: Embedder | None = None,
        *,
        agent: str | None = None,
    ) -> None:
        self._agent = named_agent(agent)
        self._lock = RLock()
        self._added: tuple[str, ...] = ()
        self._closed = False
        self._config = config
        self._opening = opened(config)
        self._signature = self._file_signature()
        settings = self._opening.settings
        self._choice = chosen(search_backend, embedder, settings)
        self._keeper = self._make_keeper()

    # Fast memory: triggers

    def add_trigger(
        self, keyword: str, hint: str, memory_ids: Iterable[int | str] | None = None
    ) -> None:
        """Keep a hint for a keyword, in TRIGGERS.md; a hint that is there is exchanged.

        memory_ids: results that belong to it (`MemoryResult.id`, or `path#L12-L15`): they are
        quoted with it. NothingFound where there is no memory with such a number.
        """
        with self._lock:
            links = tuple(self._link(one) for one in memory_ids or ())
            run = self._run("add_trigger")
            triggers.remember(self._opened().folder, keyword.lower(), hint, links, run)
            self._tell(run)

    def remove_trigger(self, keyword: str) -> None:
        """Take a keyword away wherever it stands; nothing happens where there is none."""
        with self._lock:
            opening, key = self._opened(), key_of(keyword)
            known = [t for t in self._every_trigger() if key_of(t.keyword) == key]
            if isinstance(self._config, Config):
                kept = [t for t in self._config.triggers if key_of(t.keyword) != key]
                self._config.triggers[:] = kept
            known = [t for t in known if t.path != NO_FILE]
            if known:
                run = self._run("remove_trigger")
                triggers.forget(opening.folder, keyword, known, run)
                self._tell(run)

    def list_triggers(self) -> list[dict[str, str]]:
        """Every trigger as {"keyword", "hint", "memory_ids"}, by keyword.

        memory_ids: comma-separated; of lines without a number of their own `path#L12-L15`.
        """
        with self._lock:
            return self._ask(folders.listed_triggers)

    # Slow memory: search

    def search(self, query: str, limit: int | None = None) -> list[MemoryResult]:
        """The best passages for a query, from the files as they are now; best first.

        limit: search.max_results where it is None.
        """
        if limit is not None and limit <= 0:
            return []
        with self._lock:
            return [result_of(hit) for hit in self._answer(query, limit).hits]

    def recall(self, context: str, include_always_load: bool = True) -> str:
        """What is known about a text, ready for a prompt: its triggers first, then the best
        passages, each with its place; "" for nothing. Every line of memory stands behind `> `.

        include_always_load: begin with the sources that have `always_load`.
        """
        with self._lock:
            return folders.as_text(self._answer(context, always=include_always_load))

    def index_file(self, path: str | Path, file_type: str = "markdown") -> None:
        """Make sure that a file is searched. Text files in the folder are anyway; one that
        `sources` of memfas.yaml leave out, or with another suffix (.json), is added to them.

        path: relative to the current folder, else to the memory folder. file_type: markdown, json
        or text. FileNotFoundError; UsageError where it is no text file or lies elsewhere.
        """
        if file_type not in folders.TYPES:
            raise UsageError(f"file_type {file_type!r}", f"one of {', '.join(folders.TYPES)}")
        with self._lock:
            opening = self._opened()
            name = folders.name_of(opening, path)
            if not folders.scope(opening, self._added).wants(name):
                self._add_source(opening, name, file_type)
            self._keeper.suspect({name})
            reasons = folders.skipped(self._refreshed())
        reason = reasons.get(name, "")
        if reason and not is_partly_read(reason):
            raise UsageError(f"{path}: {reason}")

    def index_sources(self) -> None:
        """Read whatever has changed. What cannot be read is told in warnings."""
        with self._lock:
            opening = self._opened()
            scope = folders.scope(opening, self._added)
            for path, reason in folders.skipped(self._refreshed()).items():
                if scope.wants(path):
                    told = "Indexed only in part" if is_partly_read(reason) else "Failed to index"
                    warnings.warn(f"{told} {path}: {reason}", stacklevel=2)

    def clear(self) -> None:
        """Delete the index; files and triggers stay, and the next question reads them again."""
        with self._lock:
            self._opened()
            self._keeper.close()
            folders.throw_away(self._places(), self._opening.root)
            if self._choice.backend is not None:
                self._choice.backend.clear()
            self._keeper = self._make_keeper()

    def stats(self) -> dict[str, Any]:
        """{"memories": passages, "triggers", "backend": name of its class, "db_path"}."""
        with self._lock:
            memories, count, path = self._ask(folders.counts)
            name = self._choice.class_name
            return {"memories": memories, "triggers": count, "backend": name,
                    "db_path": path or self._places()[0].path}  # fmt: skip

    def suggest_triggers(
        self, min_occurrences: int = 3, limit: int = 20
    ) -> list[dict[str, str | int]]:
        """Names, phrases and terms that come up often and are no triggers yet, as {"term",
        "count", "type"}; type: entity, phrase or term.
        """
        with self._lock:
            existing = {key_of(trigger.keyword) for trigger in self._every_trigger()}
            opening = self._opened()
            parsed = list(documents(opening.folder, folders.scope(opening, self._added)))
        found = suggest(parsed, existing, min_occurrences, limit)
        return [{"term": s.term, "count": s.count, "type": s.type} for s in found]

    @property
    def config(self) -> Config:
        """The settings: the Config that was given (what is changed in it counts from then on), else
        a copy of what memfas.yaml says.
        """
        if isinstance(self._config, Config):
            return self._config
        with self._lock:
            return config_of(self._opened().settings)

    @property
    def backend(self) -> SearchBackend:
        """What ranks: the backend that was given, or the folder's own index."""
        return self._choice.backend or folders.FolderBackend(self)

    def reindex(
        self, new_backend: str | SearchBackend | None = None, embedder: Embedder | None = None
    ) -> int:
        """Make everything anew from the files, for another backend if one is named.

        Returns the number of memories.
        """
        with self._lock:
            opening = self._opened()
            if new_backend is not None or embedder is not None:
                choice = chosen(new_backend, embedder, opening.settings)
                self._choice.close()
                self._choice = choice
            elif self._choice.backend is not None:
                self._choice.backend.clear()
            self._keeper.close()
            self._keeper = self._make_keeper()
            self._keeper.anew(time.time_ns())
            memories, _, _ = self._ask(folders.counts)
            return int(memories)

    def close(self) -> None:
        """Let go of the index; a backend or embedder that was given stays open."""
        with self._lock:
            self._keeper.close()
            self._choice.close()
            self._closed = True

    def __enter__(self) -> Memory:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def answer(self, query: str, limit: int | None = None, **filters: Any) -> Answer:
        """Everything that recall knows of a query: hits with their places, triggers, how fresh it
        is. limit: None for search.max_results; min_score does not count. filters: of Filters.
        """
        with self._lock:
            return self._answer(query, limit, all_scores=True, **filters)

    @property
    def rights(self) -> Rights:
        """What the agent that this memory was opened for may read and write."""
        return self.settings.rights.of(self._agent)

    def hints(self, text: str) -> list[str]:
        """The hints of the keywords in a text, of TRIGGERS.md and settings; nothing is indexed."""
        with self._lock:
            return folders.hints(self._opened(), text)

    @property
    def embedder(self) -> Embedder | None:
        """What compares by meaning, None where words alone count."""
        return self._choice.embedder

    @property
    def folder(self) -> Folder:
        """The memory folder."""
        return self._opening.folder

    @property
    def settings(self) -> Settings:
        """The settings in force."""
        with self._lock:
            return self._opened().settings

    @property
    def now(self) -> datetime:
        """The time in the user's zone."""
        return self._now()

    def let_go(self) -> None:
        """Close the index; the next question opens it anew."""
        with self._lock:
            self._keeper.close()
            self._keeper = self._make_keeper()

    # Inside

    def _opened(self) -> Opening:
        """The folder with its settings, as memfas.yaml or the Config has them now."""
        if self._closed:
            raise UsageError("this Memory is closed", "make another one")
        if self._is_changed():
            try:
                opening = reopened(self._opening, self._config)
            except ConfigError as error:
                if isinstance(self._config, Config):
                    raise
                warnings.warn(f"{error.message}; the settings before it hold", stacklevel=4)
                return self._opening
            self._opening, self._signature = opening, self._file_signature()
            self._keeper.close()
            self._keeper = self._make_keeper()
        return self._opening

    def _is_changed(self) -> bool:
        """Whether memfas.yaml is another one now; while it is being replaced the old one holds."""
        if self._opening.file is None and not isinstance(self._config, Config):
            return os.path.isdir(self._opening.root) and bool(beside(self._opening.folder.root))
        return self._file_signature() not in (self._signature, "none")

    def _file_signature(self) -> str:
        if isinstance(self._config, Config):
            return repr(self._config)
        return stamp(str(self._opening.file)) if self._opening.file else ""

    def _places(self) -> tuple[Place, ...]:
        opening = self._opening
        return places_of(opening.root, opening.settings.db_path, cache_home(os.environ))

    def _make_keeper(self) -> Keeper:
        opening, made = self._opening, self._choice.maker()
        sources = folders.scope(opening, self._added).sources
        return made(opening.root, self._places(), sources, wait=WAIT, extra=opening.extra())

    def _refreshed(self) -> Keeper:
        """The keeper, with the triggers of a triggers_file as they are now."""
        opening = self._opened()
        if opening.settings.triggers_file:
            self._keeper.take(opening.extra())
        return self._keeper

    def _ask(self, asked: Callable[[Source], T]) -> T:
        """Ask the index itself, whatever backend ranks."""
        return Keeper.answer(self._refreshed(), asked, time.time_ns(), None)

    def _every_trigger(self) -> list[Trigger]:
        return self._ask(folders.all_triggers)

    def _answer(
        self, query: str, limit: int | None = None, *, always: bool = False,
        all_scores: bool = False, **more: Any,
    ) -> Answer:  # fmt: skip
        keeper, settings = self._refreshed(), self._opening.settings
        filters = Filters(
            limit=settings.max_results if limit is None else limit,
            min_score=0.0 if all_scores else settings.min_score,
            p1=settings.terms.p1,
            p2=settings.terms.p2,
            recency_weight=settings.recency_weight,
            always=self._opening.always if always else (),
            hidden=settings.rights.of(self._agent).hidden,
            **more,
        )
        budget = settings.budget / 1000 or None
        answer = ask(keeper, query, filters, self._now().date(), time.time_ns(), budget)
        for note in answer.freshness.notes:
            if note.startswith(BY_WORDS):
                warnings.warn(note, stacklevel=4)
        return answer

    def _now(self) -> datetime:
        zone = self._opening.settings.timezone
        return datetime.now(zone) if zone else datetime.now().astimezone()

    def _run(self, name: str) -> Pass:
        return Pass(f"Memory.{name}", self._now(), wall=time.time())

    def _tell(self, run: Pass) -> None:
        for notice in run.notices:
            warnings.warn(notice, stacklevel=3)

    def _link(self, given: int | str) -> str:
        """Where a memory stands, as a trigger links it."""
        if isinstance(given, str) and not given.isdecimal():
            if read_link(given) is None:
                raise UsageError(f"{given!r} is no memory", "a number, or path#L12-L15")
            return given
        found = self._ask(lambda source: source.numbered(int(given)))
        if not found:
            raise NothingFound(f"there is no memory with the number {given}")
        return folders.place_of(found[0])

    def _add_source(self, opening: Opening, name: str, file_type: str) -> None:
        """Take a file into the scope: in memfas.yaml, or for as long as this object lives."""
        if opening.file is None:
            self._added = (*self._added, inside(opening.root, name))
        else:
            run = self._run("index_file")
            changing.add_source(opening.folder, opening.file, name, file_type, run)
            self._tell(run)
            self._opened()
        self._keeper.close()
        self._keeper = self._make_keeper()
