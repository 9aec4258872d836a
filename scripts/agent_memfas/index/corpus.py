"""The passages of a memory folder held in memory: what answers where there is no index."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field

from agent_memfas.errors import FileFault, UsageError
from agent_memfas.index import ranking, weights
from agent_memfas.index.bare import BareRanking
from agent_memfas.index.diff import path_of
from agent_memfas.index.extract import Extract, extract, load
from agent_memfas.index.postings import summed
from agent_memfas.index.priors import PLAIN, Leaning
from agent_memfas.index.records import digest
from agent_memfas.index.rows import Found, Freshness, Row, number_of
from agent_memfas.index.scope import Extra, Scope
from agent_memfas.index.sync import TICK
from agent_memfas.store.listing import Listed, Signature, Skipped
from agent_memfas.store.places import TRIGGERS
from agent_memfas.store.sweep import sweep
from agent_memfas.text.firing import Trigger, fired, key_of


@dataclass(frozen=True)
class _File:
    signature: Signature
    note: str
    extract: Extract


@dataclass
class Corpus:
    """The passages of a memory folder as they stand in its files right now.

    `refresh` sweeps the folder and reads what has changed since (size, times, inode); a file that
    is younger than the last sweep is read again, for it may change within one tick of the clock.
    """

    root: str
    freshness: Freshness = field(default_factory=lambda: Freshness(False, 0, 0, 0, source="files"))
    _files: dict[str, _File] = field(default_factory=dict)
    _extra: tuple[Trigger, ...] = ()
    _swept: int = 0
    _ranking: BareRanking | None = None
    _rows: list[tuple[str, str, Row]] = field(default_factory=list)

    def refresh(
        self, now_ns: int, scope: Scope, notes: tuple[str, ...] = (), extra: Extra | None = None
    ) -> None:
        """Bring everything in step with the files. now_ns: the wall clock, in nanoseconds."""
        self._extra = tuple(extra.load()) if extra and extra.token else ()
        swept = sweep(self.root, {}, scope.enters, suffixes=scope.suffixes)
        if reason := swept.failed.get(""):
            raise FileFault(f"{self.root}: {reason}")
        skipped, found, read = list(swept.skipped), dict[str, _File](), 0
        for path, signature in _files_of(swept.changed):
            if not scope.wants(path):
                continue
            old = self._files.get(path)
            if old is not None and old.signature == signature and signature[3] < self._swept:
                found[path] = old
            elif (file := self._load(path, signature, skipped)) is not None:
                found[path], read = file, read + 1
        skipped += [Skipped(path, file.note) for path, file in found.items() if file.note]
        if found != self._files:
            self._files, self._ranking = found, None
        self._swept = now_ns - TICK
        self.freshness = Freshness(
            True, now_ns, max(swept.seen, len(found)), len(found), read, 0,
            tuple(sorted(skipped, key=lambda s: s.path)), notes, "files",
        )  # fmt: skip

    def _load(self, path: str, signature: Signature, skipped: list[Skipped]) -> _File | None:
        try:
            content = load(self.root, path)
        except (FileFault, UsageError) as error:
            skipped.append(Skipped(path, error.message))
            return None
        return _File(signature, content.note, extract(path, content.data))

    def _by_key(self) -> dict[str, list[Trigger]]:
        """The triggers by the words of their keywords; those of TRIGGERS.md before others."""
        known: dict[str, list[Trigger]] = {}
        for path in sorted(self._files, key=lambda path: (path != TRIGGERS, path)):
            for trigger in self._files[path].extract.triggers:
                known.setdefault(key_of(trigger.keyword), []).append(trigger)
        for trigger in self._extra:
            known.setdefault(key_of(trigger.keyword), []).append(trigger)
        return known

    def triggers(self, question: str) -> list[Trigger]:
        """The triggers in a question, in its order."""
        known = self._by_key()

        def find(_: list[str]) -> Mapping[str, list[Trigger]]:
            return known

        return fired(question, sorted({key.count(" ") + 1 for key in known}), find)

    def passages(self) -> list[tuple[str, str, Row]]:
        """Every passage, by path and line: (path, kind of the file, row)."""
        return [
            (path, file.extract.kind, row) for path, file in sorted(self._files.items())
            for row in file.extract.rows
        ]  # fmt: skip

    def paths(self, patterns: tuple[str, ...]) -> list[str]:
        """The files that are meant by files, folders and globs, by path."""
        return sorted(filter(Scope(patterns).means, self._files)) if patterns else []

    def all_triggers(self) -> list[Trigger]:
        """Every trigger, by keyword."""
        return [trigger for _, found in sorted(self._by_key().items()) for trigger in found]

    def numbered(self, number: int) -> list[Found]:
        """The passages with that number (see rows.number_of)."""
        return [
            Found(path, file.extract.kind, row, 1.0)
            for path, file in sorted(self._files.items()) for row in file.extract.rows
            if number_of(digest(row.text)) == number
        ]  # fmt: skip

    def ranked(self, question: str, leaning: Leaning = PLAIN) -> Iterator[Found]:
        """As `search.ranked`, of the files."""
        if self._ranking is None:
            self._rows = self.passages()
            self._ranking = BareRanking([(path, row) for path, _, row in self._rows])
        parts = self._ranking.parts(question)
        if not parts:
            return
        order = ranking.rank(question, parts, self._ranking, leaning)
        for r in order.pool:
            path, kind, row = self._rows[r.passage]
            yield Found(path, kind, row, order.score(r), order.parts(r))
        yield from self._rest(summed(parts), {r.passage for r in order.pool}, order.score_of)

    def _rest(
        self, own: dict[int, float], given: set[int], share: Callable[[float], float]
    ) -> Iterator[Found]:
        """What words alone find beside those that were given."""
        found = []
        for n in own.keys() - given:
            path, kind, row = self._rows[n]
            score = share(own[n] * (weights.SUPERSEDED if row.superseded else 1.0))
            found.append((-round(score, 9), bool(row.superseded), n, Found(path, kind, row, score)))
        yield from (hit for *_, hit in sorted(found, key=lambda f: f[:3]))


def _files_of(changed: Mapping[str, Listed]) -> Iterator[tuple[str, Signature]]:
    for folder, listed in changed.items():
        for name, signature in listed.signatures().items():
            yield path_of(folder, name), signature
