"""What recurs from day to day in daily logs: names, phrases and terms, with the days of each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date

from agent_memfas.text.citations import words_of
from agent_memfas.text.documents import Document
from agent_memfas.text.suggest import suggest

LEAST_DAYS = 3
TOLD = frozenset((3, 5, 10, 20, 40, 80))  # on which of its days a theme is told of: not on each
MOST = 40
SHORTEST_TERM = 4  # letters of a word in small ones; two characters of a script without spaces


@dataclass(frozen=True)
class Theme:
    """term: as it is mostly written. days: ISO, in order. named: it is a name or a phrase."""

    term: str
    days: tuple[str, ...]
    named: bool = True

    def is_in(self, words: str) -> bool:
        """Whether a text speaks of it. words: of the text, with blanks around each."""
        return f" {' '.join(words_of(self.term))} " in words

    def is_due(self, day: str) -> int:
        """Which of its days this is, 1-based, if it is one to tell of it on; else 0."""
        number = self.days.index(day) + 1 if day in self.days else 0
        return number if number in TOLD else 0

    def before(self, day: str) -> str:
        """The last of its days before this one; "" for none."""
        return max((other for other in self.days if other < day), default="")


def themes(logs: Sequence[tuple[date, str, Document]]) -> list[Theme]:
    """The names, phrases and terms of some logs (day, path, document) that stand on LEAST_DAYS or
    more days, those on fewer days first. What is named on most days (who speaks, say) says nothing
    about any of them and is left out.
    """
    texts = [
        (day.isoformat(), f" {' '.join(words_of(chr(10).join(document.text_lines)))} ")
        for day, _, document in logs
    ]
    number = len({day for day, _ in texts})
    found = list[Theme]()
    for each in suggest([(path, doc) for _, path, doc in logs], (), LEAST_DAYS, MOST):
        if each.type == "term" and each.term.isascii() and len(each.term) < SHORTEST_TERM:
            continue
        key = f" {' '.join(words_of(each.term))} "
        days = sorted({day for day, text in texts if key in text})
        if LEAST_DAYS <= len(days) <= max(LEAST_DAYS, 2 * number // 3):
            found.append(Theme(each.term, tuple(days), each.type != "term"))
    return sorted(found, key=lambda theme: (len(theme.days), theme.term))
