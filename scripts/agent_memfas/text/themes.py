"""What recurs from day to day in daily logs: names and phrases, with the days they stand on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date

from agent_memfas.text.citations import words_of
from agent_memfas.text.documents import Document
from agent_memfas.text.suggest import suggest

LEAST_DAYS = 3
MOST = 40


@dataclass(frozen=True)
class Theme:
    """term: as it is mostly written. days: ISO, in order."""

    term: str
    days: tuple[str, ...]

    def is_in(self, text: str) -> bool:
        """Whether a text speaks of it."""
        return f" {' '.join(words_of(self.term))} " in f" {' '.join(words_of(text))} "


def themes(logs: Sequence[tuple[date, str, Document]]) -> list[Theme]:
    """The names and phrases of some logs (day, path, document) that stand on LEAST_DAYS or more
    days, those on fewer days first. What is named on most days (who speaks, say) says nothing
    about any of them and is left out.
    """
    texts = [
        (day.isoformat(), f" {' '.join(words_of(chr(10).join(document.text_lines)))} ")
        for day, _, document in logs
    ]
    found = list[Theme]()
    for each in suggest([(path, doc) for _, path, doc in logs], (), LEAST_DAYS, MOST):
        if each.type == "term":
            continue
        key = f" {' '.join(words_of(each.term))} "
        days = sorted({day for day, text in texts if key in text})
        if LEAST_DAYS <= len(days) <= max(LEAST_DAYS, len(texts) // 2):
            found.append(Theme(each.term, tuple(days)))
    return sorted(found, key=lambda theme: (len(theme.days), theme.term))
