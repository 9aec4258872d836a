"""Extraction: the reflection on a log without a model, which knows the logs around it."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date
from functools import cached_property

from agent_memfas.errors import FileFault
from agent_memfas.llm.redaction import redact
from agent_memfas.store.files import READ_CAP, read, walk
from agent_memfas.store.layout import Folder
from agent_memfas.text.documents import Document, parse
from agent_memfas.text.extracts import Piece, extract
from agent_memfas.text.logs import Waiting, day_of
from agent_memfas.text.reflection import Judged
from agent_memfas.text.salient import Frequencies, frequencies
from agent_memfas.text.themes import Theme, themes

BEFORE, MOST = 30, 120  # logs before the first that waits; logs in all


class Extractor:
    """Reflects on the logs of a folder in their own words. todo: those that will be asked for.

    ratio: tokens of log for one of insight.
    """

    def __init__(self, folder: Folder, todo: Sequence[Waiting], ratio: int) -> None:
        self._folder, self._todo, self._ratio = folder, todo, ratio

    def reflect(self, each: Waiting) -> Judged:
        """The insights of one of them; all stand in the log, as a model would be shown it."""
        document = _without_secrets(each.document)
        piece = Piece(document, each.where, self._frequencies, self._themes)
        return Judged(tuple(extract(piece, self._ratio)), ())

    @cached_property
    def _around(self) -> list[tuple[date, str, Document]]:
        """The logs that are to be done, and those before them, the newest MOST."""
        paths = sorted((day, path) for path in walk(self._folder).files if (day := day_of(path)))
        wanted = [n for n, (_, path) in enumerate(paths) if path in self._paths]
        first, last = (wanted[0], wanted[-1] + 1) if wanted else (0, 0)
        found = list[tuple[date, str, Document]]()
        for day, path in paths[max(0, first - BEFORE, last - MOST) : last]:
            try:
                data = read(self._folder.place(path), READ_CAP, cut=True).data
            except FileFault:
                continue
            found.append((day, path, parse(data)))
        return found

    @cached_property
    def _paths(self) -> set[str]:
        return {each.where.path for each in self._todo}

    @cached_property
    def _themes(self) -> list[Theme]:
        return themes(self._around)

    @cached_property
    def _frequencies(self) -> Frequencies:
        return frequencies(line for _, _, document in self._around for line in document.text_lines)


def _without_secrets(document: Document) -> Document:
    """A log without its secrets, of as many lines: insights are read and passed on more often."""
    redacted = redact("\n".join(document.text_lines))
    return parse(redacted.text.encode("utf-8", "replace")) if redacted.found else document
