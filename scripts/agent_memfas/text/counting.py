"""How many tokens of cl100k_base a text has, estimated without its vocabulary.

The text is cut into pieces as cl100k_base cuts it before anything else (words with the blank before
them, up to three digits, runs of signs, white space; the pattern is that of tiktoken,
github.com/openai/tiktoken, tiktoken_ext/openai_public.py). What a piece costs on average is known
by its letters. `tests/benchmarks/tokens.py` measures it against tiktoken.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from math import ceil
from operator import add

from agent_memfas.text.token_costs import (
    AFTER_SIGN,
    BARE,
    BASE,
    CAPITAL,
    CAPITALS,
    FAR_LETTER,
    LETTER,
    PART,
    WHOLE,
    CharacterCosts,
    PairCosts,
)

Counter = Callable[[str], int]

UPWARDS = 1.055  # so that hardly one passage in twenty is estimated too low
_CACHED, _CACHED_LENGTH = 1 << 15, 40  # pieces; longer ones hardly come twice
_LATIN = "A-Za-z\u00c0-\u024f"
_PIECE = re.compile(
    r"'(?i:[sdmt]|ll|ve|re)|(?:[^\r\n\w]|_)?[^\W\d_]+|\d{1,3}"
    r"| ?(?:[^\s\w]|_)+[\r\n]*|\s*[\r\n]|\s+(?!\S)|\s"
)
_WORD = re.compile(f"([^{_LATIN}]?)([{_LATIN}]+)")
_RUN = re.compile(f"[{_LATIN}]+|[^{_LATIN}]+")
_PART = re.compile(
    "[A-Z][a-z\u00df-\u024f]+|[a-z\u00df-\u024f]+|[A-Z\u00c0-\u00de]+|[^A-Za-z\u00c0-\u024f]"
)
_SAME = re.compile(r"(.)\1{3,}", re.DOTALL)
_CLIPPED = frozenset(("'s", "'d", "'m", "'t", "'ll", "'ve", "'re"))
_RULES, _RARE = "-=*#_/.%~+", '"&'  # signs of which long, or not even short, runs are one token
_PAIR_COSTS, _CHARACTER_COSTS = PairCosts(), CharacterCosts()


def estimate_cl100k(text: str) -> int:
    """Tokens of a text in cl100k_base, an estimate that errs upwards.

    Linear in the text; some microseconds for 100 characters.
    """
    return ceil(UPWARDS * sum(map(_COSTS.__getitem__, _PIECE.findall(text))))


class _Costs(dict[str, float]):
    """Pieces -> tokens; forgets all when it has grown too large."""

    def __missing__(self, piece: str) -> float:
        cost = _cost(piece)
        if len(piece) <= _CACHED_LENGTH:
            if len(self) >= _CACHED:
                self.clear()
            self[piece] = cost
        return cost


_COSTS = _Costs()


def _cost(piece: str) -> float:
    if piece.lower() in _CLIPPED:
        return 1.0
    if word := _WORD.fullmatch(piece):
        return _word(word[1], word[2])
    if piece.isdecimal():
        return 1.0
    if piece.isspace():
        return _blanks(piece)
    if piece.isascii():
        return _signs(piece.strip())
    runs = _RUN.findall(piece.strip())
    return sum(
        _word("", run) if run[0].isalpha() and _WORD.fullmatch(run)
        else sum(map(_CHARACTER_COSTS.__getitem__, run)) for run in runs
    )  # fmt: skip


def _word(before: str, letters: str) -> float:
    """A word of Latin letters. before: the character before it that belongs to it, "" for none."""
    if letters.lower() in WHOLE:
        return 1.0 if before == " " else 1 + BARE
    parts = _PART.findall(letters)
    more = BASE + PART * (len(parts) - 1)
    more += (AFTER_SIGN if before else BARE) if before != " " else 0.0
    for part in parts:
        if len(part) > 1 and part.isupper():
            more += CAPITALS * (len(part) - 1)
            continue
        lower = part.lower()
        more += CAPITAL * part[0].isupper() + LETTER * len(lower)
        more += FAR_LETTER * max(0, len(lower) - 4)
        more += sum(map(_PAIR_COSTS.__getitem__, map(add, lower, lower[1:])))
    return min(1 + max(0.0, more), float(len((before + letters).encode())))


def _signs(signs: str) -> float:
    """A run of signs: common pairs are one token, and long lines of one sign are few."""
    long = max(0, len(signs) - 3)
    if len(set(signs)) > 1:
        long = max(0, len(_SAME.sub(r"\1\1", signs)) - 3)
        return 1.0 + 0.1 * (len(signs) > 2) + (0.4 + 0.5 * long if long else 0)
    if signs[0] in _RULES:
        return 1 + len(signs) / 40
    return max(1.0, len(signs) / (2 if signs[0] in _RARE else 4))


def _blanks(blanks: str) -> float:
    mixed = "\n" in blanks and len(set(blanks)) > 1
    return 1.0 + len(blanks) // (6 if mixed else 32)
