"""What a turn leaves in the day's log: what was asked and what was answered, in one line."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator

from agent_memfas.store.places import tail
from agent_memfas.text import imports_claude
from agent_memfas.text.imports import SPOKEN, text_of
from agent_memfas.text.marks import clip
from agent_memfas.text.messages import USER
from agent_memfas.text.recalled import without_recalled
from agent_memfas.text.record import Record
from agent_memfas.text.secrets import mask
from agent_memfas.text.words import words

ASKED, ANSWERED = 200, 300  # characters
SHORTEST = 3  # words of a question that is worth a line
TAIL = 512 * 1024  # bytes of a transcript that are looked at
FURTHER = 16  # times as many where the question of a long turn lies before them


class Exchange(Record):
    """asked, answered: as they were said, "" where there is none."""

    asked: str
    answered: str

    @property
    def line(self) -> str:
        """As it stands in a log; "" where it is not worth one: a command, a word or two."""
        asked, answered = _line(self.asked, ASKED), _line(self.answered, ANSWERED)
        if len(words(asked)) < SHORTEST:
            return ""
        told = f' Answered: "{answered}"' if answered else ""
        return f'Asked: "{asked}".{told}'


def last_exchange(transcript: str, said: str = "") -> Exchange:
    """The last turn of a transcript: what the user typed, and the answer to it, or `said` where
    the host knows better (its file lags behind). Nothing that memfas put there comes back.
    """
    asked, answered = "", ""
    for most in (TAIL, FURTHER * TAIL):
        for role, text in _spoken(transcript, most):
            if role == USER:
                asked, answered = text, ""
            else:
                answered = text or answered
        if asked:
            break
    return Exchange(asked, said or answered)


def _spoken(transcript: str, most: int) -> Iterator[tuple[str, str]]:
    """(role, text) of what was typed and answered, in the last bytes of a transcript."""
    for raw in tail(transcript, most).split(b"\n") if os.path.isabs(transcript) else ():
        try:
            row = json.loads(raw)
        except (ValueError, RecursionError):
            continue
        if not isinstance(row, dict):
            continue
        if "message" in row:
            yield from ((said.who, said.text) for said in imports_claude.messages([row]))
            continue
        plain = row.get("payload", row)  # Codex', or a bare message
        role = plain.get("role") if isinstance(plain, dict) else None
        if role in SPOKEN and (text := without_recalled(text_of(plain.get("content"))).strip()):
            yield role, text


def _line(text: str, most: int) -> str:
    """One line of so many characters, without secrets and without what a log could misread."""
    plain = " ".join(mask(text).split()).replace("<!--", "<!- -").replace('"', "'")
    return clip(plain, most)
