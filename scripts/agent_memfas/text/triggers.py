"""Triggers: a word in the question brings its hint at once.

They stand in TRIGGERS.md, one bullet each (`- alice, alicia -> Project manager`), and in comments
of entries (`<!-- trigger: alice -->`), whose own text is the hint then.
"""

from __future__ import annotations

import re

from agent_memfas.text.documents import Document
from agent_memfas.text.entries import entries
from agent_memfas.text.firing import Trigger
from agent_memfas.text.marks import without_comments
from agent_memfas.text.words import words

_BULLET = re.compile(r"[ \t]{0,3}[-*+][ \t]+")


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
