"""What telemetry keeps of the words of a question: all but its secrets, a hash, or nothing."""

from __future__ import annotations

from collections.abc import Callable
from hashlib import blake2b

from agent_memfas.text.secrets import mask

FULL, NONE = "full", "none"
_LOOK = 2  # a secret is found in so many times the characters that are kept


def hider(content: str, key: Callable[[], bytes]) -> Callable[[str, int], str]:
    """(text, most characters) -> what is kept of it.

    content: `full` keeps the text with its secrets masked; `hashed` keeps `#` and 16 hexadecimal
    digits, the same for the same text and key (BLAKE2b, keyed: who has the telemetry and not the
    key cannot try words out), and "" of ""; `none` keeps "". key: asked for once, and only for
    hashes.
    """
    if content == FULL:
        return lambda text, most: mask(text[: _LOOK * most])[:most]
    if content == NONE:
        return lambda _text, _most: ""
    known: list[bytes] = []

    def hashed(text: str, most: int) -> str:
        if not known:
            known.append(key())
        data = text[:most].encode("utf-8", "surrogatepass")
        return f"#{blake2b(data, key=known[0], digest_size=8).hexdigest()}" if text else ""

    return hashed
