"""Triggers: a word in the question brings its hint at once.

They stand in TRIGGERS.md, one bullet each (`- alice, alicia -> Project manager`), and in comments
of entries (`<!-- trigger: alice -->`), whose own text is the hint then.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from agent_memfas.text.documents import Document
from agent_memfas.text.entries import entries
from agent_memfas.text.marks import without_comments
from agent_memfas.text.words import words

_BULLET = re.compile(r"[ \t]{0,3}[-*+][ \t]+")


@dataclass(frozen=True)
class Trigger:
    """keyword: as written. hint: what it brings. path, line (1-based): where it stands."""

    keyword: str
    hint: str
    path: str
    line: int


def listed(document: Document, path: str) -> list[Trigger]:
    """The triggers of a TRIGGERS.md. Bullets without an arrow are not triggers."""
    found: list[Trigger] = []
    for block in document.blocks:
        if block.kind != "item" or block.start in document.opaque:
            continue
        line = document.text_lines[block.start]
        bullet = _BULLET.match(line)
        left, arrow, right = (
            line[bullet.end() if bullet else 0 :].replace("→", "->").partition("->")
        )
        if bullet is None or not arrow:
            continue
        hint = without_comments(right).strip()
        keys = (key.strip().strip("`*\"'") for key in left.split(","))
        found += [Trigger(key, hint, path, block.start + 1) for key in keys]
    return [t for t in found if words(t.keyword) and t.hint]


def commented(document: Document, path: str) -> list[Trigger]:
    """The triggers in the comments of a file's entries; superseded entries have none."""
    return [
        Trigger(key, entry.text, path, entry.start + 1)
        for entry in entries(document)
        for key in entry.triggers
        if words(key) and entry.tag.superseded is None
    ]  # fmt: skip


class Matcher:
    """Finds triggers in a question by its runs of words: the cost is that of the question."""

    def __init__(self, triggers: Iterable[Trigger]) -> None:
        self._by_words: dict[tuple[str, ...], list[Trigger]] = {}
        for trigger in triggers:
            self._by_words.setdefault(tuple(words(trigger.keyword)), []).append(trigger)
        self._lengths = sorted({len(key) for key in self._by_words})

    def match(self, question: str) -> list[Trigger]:
        """The triggers whose keyword stands in the question as whole words, in its order."""
        asked = words(question)
        found: dict[Trigger, None] = {}
        for at in range(len(asked)):
            for length in self._lengths:
                for trigger in self._by_words.get(tuple(asked[at : at + length]), ()):
                    found[trigger] = None
        return list(found)
