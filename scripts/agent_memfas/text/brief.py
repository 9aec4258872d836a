"""A memory in brief: who says it, and the sentences that hold most of it."""

from __future__ import annotations

from collections.abc import Iterable

from agent_memfas.text.excerpts import CUT, Excerpts
from agent_memfas.text.speakers import speaker_of

HALF = 0.55  # of the words; an excerpt has more
WORTH_IT = 0.85  # of the characters; an excerpt that is longer saves too little


def shortened(text: str, asked: Iterable[str]) -> str:
    """The shortest excerpt with the terms asked for and a good half of the words, behind the
    name of who says it; "" where that is hardly shorter. asked: see `Excerpts`.
    """
    excerpts = Excerpts(text, asked)
    for step in range(excerpts.covering, excerpts.steps):
        found = excerpts.shown(step)
        if _words(found) > HALF * _words(text):
            who = speaker_of(f"- {text}") if found.startswith(CUT) else ""
            told = f"{who}: {found}" if who else found
            return told if len(told) <= WORTH_IT * len(text) else ""
    return ""


def _words(text: str) -> int:
    """Words; of a script without blanks, characters."""
    return len(text.split()) if text.isascii() else len(text)
