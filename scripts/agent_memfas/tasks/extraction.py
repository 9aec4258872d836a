"""Extraction: the reflection on a log without a model, which knows the logs around it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from functools import lru_cache

from agent_memfas.errors import FileFault
from agent_memfas.llm.evidence import Evidence
from agent_memfas.llm.redaction import redact
from agent_memfas.store.daily import logs
from agent_memfas.store.files import READ_CAP, read
from agent_memfas.store.layout import Folder
from agent_memfas.text.documents import Document, parse
from agent_memfas.text.extracts import Piece, extract
from agent_memfas.text.insights import Insight
from agent_memfas.text.logs import Waiting
from agent_memfas.text.reflection import Judged
from agent_memfas.text.salient import Frequencies, frequencies
from agent_memfas.text.themes import Theme, themes

BEFORE, TOGETHER = 30, 30  # logs before those that are looked at together, and how many these are


@dataclass(frozen=True)
class _Surroundings:
    """How rare words are in some logs, and what recurs in them."""

    known: Frequencies
    themes: Sequence[Theme]


class Extractor:
    """Reflects on the logs of a folder in their own words. todo: those that will be asked for.

    ratio: tokens of log for one of insight.
    """

    def __init__(self, folder: Folder, todo: Sequence[Waiting], ratio: int) -> None:
        self._folder, self._ratio = folder, ratio
        self._documents = {each.where.path: each.document for each in todo}
        self._logs = logs(folder)
        self._place = {path: n for n, (_, path) in enumerate(self._logs)}
        self._surroundings = lru_cache(maxsize=1)(self._look_around)

    def reflect(self, each: Waiting) -> Judged:
        """The insights of one of them; all stand in the log, as a model would be shown it."""
        around = self._surroundings(self._place.get(each.where.path, 0) // TOGETHER)
        document = _without_secrets(each.document)
        piece = Piece(document, each.where, around.known, around.themes)
        evidence = Evidence(each.document.text_lines)
        found = extract(piece, self._ratio)
        return Judged(tuple(one for one in found if _stands(one, evidence)), ())

    def _look_around(self, part: int) -> _Surroundings:
        """What is known of the logs of a part, and of those before: the same for all of the part,
        so that a thousand logs take a thousand times as long as one.
        """
        first, last = part * TOGETHER, (part + 1) * TOGETHER
        found = list[tuple[date, str, Document]]()
        for day, path in self._logs[max(0, first - BEFORE) : last]:
            document = self._documents.get(path) or self._read(path)
            if document is not None:
                found.append((day, path, _without_secrets(document)))
        lines = (line for _, _, document in found for line in document.text_lines)
        return _Surroundings(frequencies(lines), themes(found))

    def _read(self, path: str) -> Document | None:
        try:
            return parse(read(self._folder.place(path), READ_CAP, cut=True).data)
        except FileFault:
            return None


def _stands(insight: Insight, evidence: Evidence) -> bool:
    cite = insight.cites[0]
    return evidence.place(insight.shown, cite.start, cite.end) is not None


def _without_secrets(document: Document) -> Document:
    """A log without its secrets, of as many lines: insights are read and passed on more often."""
    redacted = redact("\n".join(document.text_lines))
    return parse(redacted.text.encode("utf-8", "replace")) if redacted.found else document
