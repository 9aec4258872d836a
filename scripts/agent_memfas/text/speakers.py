"""Who says a passage, and whether it asks something: read from its text when it is indexed."""

from __future__ import annotations

import re

# "- Alice: …", "- [P1][2026-02-01] 小明：…": 31 characters at most; no sentence, link, code. Before
# the name a time may stand, as `memfas log` writes it.
_SPEAKER = re.compile(
    r"^\s{0,3}(?:[-*+]|\d{1,3}[.)])\s+(?:\[[^\]]*\]\s*)*(?:\d{1,2}:\d{2}(?::\d{2})?\s+)?"
    r"([^\s:：\[\]()`*<>\"“”，。！？,.!?/\\=][^:：\[\]`<>\"“”，。！？,!?/\\=]{0,30}?)"
    r"\s?[:：](?=\s|[^\s/\d\\])"
)
_ASKS = re.compile(r"[?？][*_\"”’)）\s]*$")
SHORT = 160  # characters: a question in a longer text is not all that it says


def speaker_of(text: str) -> str:
    """The name before the first colon of a bullet, "" for none."""
    found = _SPEAKER.match(text[:120])
    return found[1].strip() if found else ""


def asks(text: str) -> int:
    """2 for a short text that ends with a question mark, 1 for a longer one, 0 for any other."""
    if not _ASKS.search(text[-20:]):
        return 0
    return 2 if len(text) < SHORT else 1
