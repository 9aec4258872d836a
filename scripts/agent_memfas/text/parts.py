"""One piece of text between blanks as the words in it: names whole, other compounds in parts.

What can be nobody's trigger is no word here: numbers, days, versions, hashes, file names, hosts.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from itertools import pairwise

from agent_memfas.text.characters import UNSPACED, WORD, runs

_LONGEST_WORD = 32
_NAME_ENDINGS = frozenset(("js", "io", "ai", "jl", "NET", "Net"))
_FILE_STEMS = frozenset("index main app config server test script bundle".split())
_LEVELS = "QPLVWDT"  # quarters, priorities, lines, versions, weeks, days, times


@lru_cache(maxsize=1 << 15)
def parts_of(token: str) -> tuple[tuple[str, str], ...]:
    """A token as (joint, word). joint: "-" or "_" where the two belong together, "run" before a
    run of an unspaced script, "." where a sentence ends, else "". word: "" for what is none.
    """
    if token.isascii():
        return tuple(_pieces(token))
    if "\ufffd" in token:
        return (("", ""),)
    found: list[tuple[str, str]] = []
    for kind, run in runs(token):
        if kind == UNSPACED:
            found.append(("run", "".join(run)))
        elif kind == WORD:
            found += _pieces(run[0])
    return tuple(found)


def _pieces(token: str) -> Iterator[tuple[str, str]]:
    core = token.strip("_'.&/+-") if not token.endswith("++") else token.strip("_'.&/-")
    core = core[:-2] if core.endswith(("'s", "'S")) else core
    if len(core) > 2 * _LONGEST_WORD or not any(map(str.isalpha, core)):
        yield "", ""
        return
    for sign in "/&":
        if sign in core:
            yield from _joined_by(sign, core)
            return
    if "." in core:
        yield from _dotted(core)
    elif "-" in core or "_" in core:
        yield from _hyphened(core)
    else:
        yield "", core if _is_word(core) else ""


def _joined_by(sign: str, core: str) -> Iterator[tuple[str, str]]:
    """``CI/CD``, ``R&D`` are one word, ``and/or`` two."""
    parts = core.split(sign)
    if len(parts) == 2 and all(p.isupper() and p.isalpha() and len(p) < 6 for p in parts):
        yield "", core
        return
    for part in parts:
        yield from _pieces(part) if part else ()


def _dotted(core: str) -> Iterator[tuple[str, str]]:
    """``node.js`` is a name; ``README.md``, ``example.com``, ``e.g`` are none."""
    parts = core.split(".")
    known = parts[-1] in _NAME_ENDINGS and parts[-2].lower() not in _FILE_STEMS
    if len(parts) == 2 and known and parts[0].isalpha():
        yield "", core
    elif len(parts) == 2 and parts[0].islower() and parts[1].istitle():
        yield from _pieces(parts[0])  # a blank is missing behind the full stop
        yield ".", parts[1] if _is_word(parts[1]) else ""
    else:
        yield "", ""


def _hyphened(core: str) -> Iterator[tuple[str, str]]:
    """``GPT-4``, ``Jean-Pierre``, ``e-mail`` are one word, ``code-review`` two in a row."""
    parts = [part for part in re.split("[-_]+", core) if part]
    digits = any(map(str.isdigit, core))
    whole = all(part[0].isupper() for part in parts) or (len(parts) == 2 and len(parts[0]) == 1)
    if not parts[0][0].isalpha() or len(core) > _LONGEST_WORD or _is_key(parts):
        yield "", ""
    elif (whole and not digits) or (digits and _is_numbered(parts)):
        yield "", core
    else:
        joint = ""
        for part in parts:
            yield joint, part if _is_word(part) else ""
            joint = "-" if "-" in core else "_"


def _is_numbered(parts: list[str]) -> bool:
    """``GPT-4``, ``DEC-0054``, ``us-east-1``; not ``mid-2024``, ``step-2-done``."""
    tail = parts[-1]
    return (
        tail[0].isdigit() and len(tail) < 6 and len(parts[0]) > 1 and tail[:2] not in ("19", "20")
    )


def _is_key(parts: list[str]) -> bool:
    """A UUID or the like."""
    return sum(any(map(str.isdigit, p)) and any(map(str.isalpha, p)) for p in parts) > 1


def _is_word(word: str) -> bool:
    """Whether it can be the name of something: no hash, version, clock, or priority."""
    if word.isalpha():
        return len(word) <= _LONGEST_WORD
    if word[0].isdigit() or len(word) > _LONGEST_WORD:
        return False
    digits = sum(map(str.isdigit, word))
    if not digits:
        return True
    if digits == len(word) - 1:
        return word[0].isupper() and digits < 4 and (word[0] not in _LEVELS or digits > 2)
    changes = sum(a.isdigit() != b.isdigit() for a, b in pairwise(word))
    hexadecimal = len(word) >= 7 and all(c in "0123456789abcdefABCDEF" for c in word)
    return digits <= 4 and changes <= 3 and not hexadecimal
