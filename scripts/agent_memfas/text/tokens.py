"""How many tokens a text costs, estimated without a vocabulary."""

from __future__ import annotations

from math import ceil


def estimate(text: str) -> int:
    """Tokens of a text, an estimate that errs upwards on prose.

    A quarter of its ASCII characters, and one for each other character that is a letter of a
    script without spaces; the rule of thumb that hosts themselves use for their limits.
    """
    plain = sum(1 for c in text if c < "\x80")
    wide = sum(1 for c in text if c >= "\u0e00")
    return ceil(plain / 4 + wide + (len(text) - plain - wide) / 2)
