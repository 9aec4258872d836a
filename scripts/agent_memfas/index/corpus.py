"""The passages of a memory folder held in memory, in step with its files at every question."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from fnmatch import fnmatchcase

from agent_memfas.errors import MemfasError
from agent_memfas.index.bare import BareRanking
from agent_memfas.store.files import READ_CAP, Listing, Skipped, read, walk
from agent_memfas.store.layout import Folder, kind_of, log_day
from agent_memfas.text.documents import parse
from agent_memfas.text.passages import Passage, passages, records
from agent_memfas.text.triggers import Trigger, commented, listed

TRIGGERS_FILE = "TRIGGERS.md"
SUPERSEDED_SHARE = 0.5
MONTHS = (
    "january february march april may june july august september october november december"
).split()


@dataclass(frozen=True)
class _File:
    signature: tuple[int, ...]
    kind: str
    passages: tuple[Passage, ...]
    triggers: tuple[Trigger, ...]


@dataclass
class Corpus:
    """The passages of a memory folder as they stand in its files right now.

    `refresh` sweeps the folder and reads what has changed since (size, times, inode); a file that
    is younger than the last sweep is read again, for it may change within one tick of the clock.
    """

    folder: Folder
    sources: tuple[str, ...] = ()
    archive: bool = False
    files: dict[str, _File] = field(default_factory=dict)
    skipped: list[Skipped] = field(default_factory=list)
    _swept: int = 0
    _ranking: BareRanking | None = None
    _rows: list[tuple[str, Passage]] = field(default_factory=list)

    def refresh(self, now_ns: int) -> None:
        """Bring everything in step with the files. now_ns: the wall clock, in nanoseconds."""
        listing = walk(self.folder)
        self.skipped = list(listing.skipped)
        found: dict[str, _File] = {}
        for path in _chosen(listing, self.sources, archive=self.archive):
            info = listing.files[path]
            signature = (info.st_ino, info.st_size, info.st_mtime_ns, info.st_ctime_ns)
            old = self.files.get(path)
            young = max(info.st_mtime_ns, info.st_ctime_ns) >= self._swept
            if old is not None and old.signature == signature and not young:
                found[path] = old
            elif (file := self._load(path, signature)) is not None:
                found[path] = file
        if found != self.files:
            self.files, self._ranking = found, None
        self._swept = now_ns - 20_000_000

    def _load(self, path: str, signature: tuple[int, ...]) -> _File | None:
        try:
            image = read(self.folder.place(path), READ_CAP, cut=True)
        except MemfasError as error:
            self.skipped.append(Skipped(path, error.message.rpartition(": ")[2]))
            return None
        if image.cut:
            self.skipped.append(Skipped(path, f"only the first {READ_CAP >> 20} MB are read"))
        document = parse(image.data)
        if not document.decodable:
            self.skipped.append(Skipped(path, "not UTF-8: read with replacement characters"))
        if path == TRIGGERS_FILE:
            return _File(signature, "triggers", (), tuple(listed(document, path)))
        cut = records if path.lower().endswith(".jsonl") else passages
        found = tuple(cut(document))
        return _File(signature, kind_of(path), found, tuple(commented(document, path)))

    def triggers(self) -> Iterable[Trigger]:
        """All triggers, TRIGGERS.md first."""
        files = sorted(self.files, key=lambda path: (path != TRIGGERS_FILE, path))
        return [trigger for path in files for trigger in self.files[path].triggers]

    def ranked(self, question: str) -> list[tuple[str, Passage, float]]:
        """Every passage that shares a term with the question, best first.

        Those with all its words come before the others; a superseded one counts half, and as one
        of the others, so that its successor stands above it.
        """
        if self._ranking is None:
            self._rows = [
                (path, passage) for path, file in sorted(self.files.items())
                for passage in file.passages
            ]  # fmt: skip
            self._ranking = BareRanking([_indexed(path, passage) for path, passage in self._rows])
        found = []
        for n, score, whole in self._ranking.rank(question):
            path, passage = self._rows[n]
            old = passage.tag is not None and passage.tag.superseded is not None
            share = SUPERSEDED_SHARE if old else 1.0
            found.append((not whole or old, -score * share, path, passage))
        found.sort(key=lambda row: row[:2])
        return [(path, passage, -minus) for _, minus, path, passage in found]


def _chosen(listing: Listing, sources: tuple[str, ...], *, archive: bool) -> list[str]:
    hidden = ("cold",) if archive else ("cold", "archive")
    wanted = [source.removeprefix("./") for source in sources]
    return [
        path for path in listing.files
        if kind_of(path) not in hidden
        and (not wanted or path == TRIGGERS_FILE or any(_matches(path, w) for w in wanted))
    ]  # fmt: skip


def _matches(path: str, pattern: str) -> bool:
    """Whether a path is that file, lies in that folder, or fits that glob (`**` spans folders)."""
    pattern = pattern.rstrip("/")
    if path == pattern or path.startswith(f"{pattern}/"):
        return True
    if "**" in pattern:
        return fnmatchcase(path, pattern.replace("**/", "*"))
    return path.count("/") == pattern.count("/") and fnmatchcase(path, pattern)


def _indexed(path: str, passage: Passage) -> str:
    """What is searched: the text, the headings it stands under, and its day in words."""
    day = passage.day or log_day(path) or ""
    spoken = f"{day} {MONTHS[int(day[5:7]) - 1]} {day[:4]}" if day else ""
    return f"{passage.text}\n{' '.join(passage.heading)}\n{spoken}"
