"""The lines that a compaction leaves in a context: where a summary's source is, what has left.

A line counts only where it stands as it was written: a pointer carries a digest of the summary that
it ends, so that one in a person's words, or below words that were changed since, is theirs.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from hashlib import blake2b

MARK = "[memfas: "
_POINTER = re.compile(
    r"(?:\A|\n)\[memfas: shortened ([0-9a-f]{8}); "
    r"the whole (?:in cold storage: ([^\]\s]+)|is kept nowhere)\]\s*\Z"
)
_ANY_POINTER = re.compile(r"\n?\[memfas: shortened [0-9a-f]{8}; the whole [^\]\n]*\]")
_NOTICE = re.compile(
    r"\[memfas: (\d+) earlier messages? (?:is|are) in cold storage \([^\n]*\)(?:; about: [^\n]*)?"
    r'\. To see them again: memfas recover "…"\]\s*'
)


def pointer(summary: str, chunk_id: str = "") -> str:
    """The line below a summary that says where its source is. chunk_id: "" where it is nowhere."""
    place = f"in cold storage: {chunk_id}" if chunk_id else "is kept nowhere"
    return f"[memfas: shortened {_digest(summary)}; the whole {place}]"


def pointed(text: str) -> str | None:
    """The chunk that a summary with its pointer was made of, "" where that is kept nowhere; None
    where a text is no such summary.
    """
    found = _POINTER.search(text) if MARK in text else None
    if found is None or found[1] != _digest(text[: found.start()]):
        return None
    return found[2] or ""


def without_pointers(text: str) -> str:
    """A text without such lines, for one who is to compare it with others."""
    return _ANY_POINTER.sub("", text) if MARK in text else text


def notice(number: int, place: str, about: Sequence[str]) -> str:
    """What stands in a context where messages were taken out of it. place: of the files."""
    verb = "message is" if number == 1 else "messages are"
    topics = f"; about: {', '.join(about)}" if about else ""
    return (
        f"[memfas: {number} earlier {verb} in cold storage ({place}){topics}. "
        'To see them again: memfas recover "…"]'
    )


def number_in_notice(text: str) -> int:
    """How many messages a notice speaks of; 0 where a text is none, or more than that."""
    found = _NOTICE.fullmatch(text) if text.startswith(MARK) else None
    return int(found[1]) if found else 0


def _digest(summary: str) -> str:
    """The same however a host changes spaces and line ends."""
    plain = " ".join(summary.split()).encode("utf-8", "surrogatepass")
    return blake2b(plain, digest_size=4).hexdigest()
