"""What a turn leaves in the day's log: what was asked and what was answered, in one line."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator
from hashlib import blake2b

from agent_memfas.store.places import tail
from agent_memfas.text.messages import ASSISTANT, USER, read_message
from agent_memfas.text.recalled import without_recalled
from agent_memfas.text.record import Record
from agent_memfas.text.secrets import mask

ASKED, ANSWERED = 200, 300  # characters
SHORTEST = 3  # words of a question that is worth a line
TAIL = 512 * 1024  # bytes of a transcript that are looked at
_REMINDER = re.compile(
    r"<(system-reminder|command-name|command-message|command-args|local-command-[\w-]+)>.*?</\1>",
    re.DOTALL,
)


class Exchange(Record):
    """asked, answered: one line each, "" where there is none."""

    asked: str
    answered: str

    @property
    def key(self) -> str:
        """Another one for another exchange."""
        text = f"{self.asked}\0{self.answered}".encode("utf-8", "replace")
        return blake2b(text, digest_size=8).hexdigest()

    @property
    def line(self) -> str:
        """As it stands in a log; "" where it is not worth one: a command, a word or two."""
        if self.asked.startswith("/") or len(self.asked.split()) < SHORTEST:
            return ""
        told = f' Answered: "{self.answered}"' if self.answered else ""
        return f'Asked: "{self.asked}".{told}'


def last_exchange(transcript: str, said: str = "") -> Exchange:
    """The last turn of a transcript: what the user typed, and the answer to it, or `said` where
    the host knows better (its file lags behind). Nothing that memfas put there comes back.
    """
    asked, answered = "", ""
    for role, text in _spoken(transcript):
        if role == USER:
            asked, answered = text, ""
        else:
            answered = text or answered
    return Exchange(_line(asked, ASKED), _line(said or answered, ANSWERED))


def _spoken(transcript: str) -> Iterator[tuple[str, str]]:
    """(role, text) of what was typed and answered, at the end of a transcript."""
    for raw in tail(transcript, TAIL).split(b"\n") if os.path.isabs(transcript) else ():
        try:
            line = json.loads(raw)
        except (ValueError, RecursionError):
            continue
        if not isinstance(line, dict) or any(
            line.get(name) is True for name in ("isSidechain", "isMeta", "isCompactSummary")
        ):
            continue
        payload = line.get("message") or line.get("payload") or line
        message = read_message(payload)
        if message.role not in (USER, ASSISTANT) or message.results:
            continue
        text = spoken_text(payload)
        if text:
            yield message.role, text


def spoken_text(payload: object) -> str:
    """The text of a message without its calls and thoughts, and without what a host or memfas has
    put around it.
    """
    content = payload.get("content") if isinstance(payload, dict) else None
    if isinstance(content, list):
        kinds = ("text", "input_text", "output_text")
        content = "\n".join(
            block["text"] for block in content
            if isinstance(block, dict) and block.get("type") in kinds
            and isinstance(block.get("text"), str)
        )  # fmt: skip
    if not isinstance(content, str):
        return ""
    return _REMINDER.sub("", without_recalled(content)).strip()


def _line(text: str, most: int) -> str:
    """One line of so many characters, without secrets and without what a log could misread."""
    plain = " ".join(mask(text).split()).replace("<!--", "<!- -").replace('"', "'")
    return plain if len(plain) <= most else f"{plain[: most - 1].rstrip()}…"
