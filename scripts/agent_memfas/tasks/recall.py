"""Recall: the lines of the memory files that answer a question, each with its place."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date

from agent_memfas.index.corpus import Corpus
from agent_memfas.store.files import Skipped
from agent_memfas.store.layout import log_day
from agent_memfas.text.entries import Terms
from agent_memfas.text.passages import Passage
from agent_memfas.text.triggers import Matcher, Trigger


@dataclass(frozen=True)
class Filters:
    """What may answer. kinds: of layout.KINDS, empty for all but archive and cold storage."""

    limit: int = 5
    since: date | None = None
    until: date | None = None
    kinds: tuple[str, ...] = ()
    archive: bool = False
    min_score: float = 0.0


@dataclass(frozen=True)
class Hit:
    """One passage. Lines 1-based, inclusive; heading: the path, joined by " > "; date: ISO or
    None; labels: expired, superseded; score: 0 to 1.
    """

    path: str
    start_line: int
    end_line: int
    heading: str
    date: str | None
    priority: str | None
    kind: str
    score: float
    text: str
    labels: tuple[str, ...] = ()


@dataclass(frozen=True)
class Answer:
    """hits: best first. triggers: those in the question. files_seen, files_read: of the sweep."""

    query: str
    hits: tuple[Hit, ...]
    triggers: tuple[Trigger, ...]
    files_seen: int
    files_read: int
    skipped: tuple[Skipped, ...]


def ask(corpus: Corpus, question: str, filters: Filters, today: date, terms: Terms) -> Answer:
    """The best passages for a question, as the files stand now; refresh the corpus before."""
    hits: list[Hit] = []
    for path, passage, score in corpus.ranked(question):
        if len(hits) >= filters.limit:
            break
        if score < filters.min_score:
            continue
        hit = _hit(path, passage, score, today, terms, corpus.files[path].kind)
        if _passes(hit, filters):
            hits.append(hit)
    fired = tuple(Matcher(corpus.triggers()).match(question))
    return Answer(
        question, tuple(hits), fired, len(corpus.files) + len(corpus.skipped), len(corpus.files),
        tuple(corpus.skipped),
    )  # fmt: skip


def _hit(path: str, passage: Passage, score: float, today: date, terms: Terms, kind: str) -> Hit:
    tag, labels = passage.tag, list[str]()
    if kind == "archive" or (tag is not None and tag.expired(today, terms)):
        labels.append("expired")
    if tag is not None and tag.superseded is not None:
        labels.append("superseded")
    return Hit(
        path, passage.start + 1, passage.end, " > ".join(passage.heading),
        passage.day or log_day(path), tag.priority if tag else None, kind, round(score, 4),
        passage.text, tuple(labels),
    )  # fmt: skip


def _passes(hit: Hit, filters: Filters) -> bool:
    if filters.kinds and hit.kind not in filters.kinds:
        return False
    if filters.since is None and filters.until is None:
        return True
    if hit.date is None:
        return False
    since, until = filters.since or date.min, filters.until or date.max
    return since.isoformat() <= hit.date <= until.isoformat()
