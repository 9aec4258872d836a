"""What the index holds of a passage, and what an answer rests on."""

from __future__ import annotations

from datetime import date, timedelta
from zlib import crc32

from agent_memfas.store.listing import Skipped
from agent_memfas.text.days import spoken
from agent_memfas.text.escapes import unescaped
from agent_memfas.text.record import Record

NEVER = "9999-12-31"


class Row(Record):
    """A passage. start, end: lines, 1-based, inclusive. heading: the headings above, outermost
    first, joined by " > ". day: ISO or "". priority, dated, superseded: of the entry it is, or "".
    expires: the last day it is kept, or "" where the configured term of its priority says so.
    speaker, opens, asks: as in passages.Passage and speakers.asks, for the ranking.
    """

    start: int
    end: int
    heading: str
    day: str
    priority: str
    dated: str
    expires: str
    superseded: str
    speaker: str
    opens: int
    asks: int
    text: str

    @property
    def indexed(self) -> str:
        """What is searched: the text, the headings it stands under, and its day in words."""
        return indexed(self.text, self.heading, self.day)

    def is_expired(self, today: date, p1: int, p2: int) -> bool:
        """Whether its last day lies before today. p1, p2: days that such an entry is kept."""
        if not self.dated or self.dated > today.isoformat():
            return False
        if self.expires:
            return self.expires < today.isoformat()
        days = p1 if self.priority == "P1" else p2
        try:
            return date.fromisoformat(self.dated) + timedelta(days=days) < today
        except OverflowError:
            return False


COLUMNS = ", ".join(Row._fields)  # as they stand in the table of passages


def indexed(text: str, heading: str, day: str) -> str:
    """What is searched of a passage; where it has JSON's escapes, what they stand for, too."""
    if "\\u" in text:
        text = f"{text}\n{unescaped(text)}"
    return f"{text}\n{heading}\n{spoken(day)}"


def number_of(digest: bytes) -> int:
    """A passage's number: the first 48 bits of the hash of its text, the same in every index."""
    return int.from_bytes(digest[:6], "big")


def seal(*values: object) -> int:
    """What changes with any of the values, or with their order or type: CRC-32, against bits that
    flip on a disk; nobody is to be kept out by it.
    """
    return crc32(repr(values).encode("ascii", "backslashreplace"))


class Found(Record):
    """A passage that shares a term with the question, or stands beside one that does. kind: of its
    file; score: 0 to 1. parts: what each feature of the ranking has given of it.
    """

    path: str
    kind: str
    row: Row
    score: float
    parts: dict[str, float] | None = None


class Freshness(Record):
    """What an answer rests on. as_of: when the files were looked at, ns since 1970.

    fresh: every file is in it as it was then; notes say why not, and whatever else went another
    way than usual. seen: files there are, indexed: files in the answer's reach, read: those that
    this call has read, behind: those known to have changed and not read yet. source: `index`, or
    `files` where they were searched themselves.
    """

    fresh: bool
    as_of: int
    seen: int
    indexed: int
    read: int = 0
    behind: int = 0
    skipped: tuple[Skipped, ...] = ()
    notes: tuple[str, ...] = ()
    source: str = "index"
