"""One run of letters, digits and joiners: names as a whole and in parts, plain words as stems.

``src/app.py`` has the compounds ``src`` and ``app.py``; ``app.py`` has the parts ``app``, ``py``.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from agent_memfas.text.stems import stem
from agent_memfas.text.stopwords import is_stop_word

LONGEST_TERM = 64

_BETWEEN_COMPOUNDS = str.maketrans(dict.fromkeys("/\\@:", " "))
_BETWEEN_PARTS = str.maketrans(dict.fromkeys("._-+#&", " "))
_EDGES = "._-+#&'"
_OUTER_EDGES = "._-&'/\\@:"
_DIGITS = "0123456789"
_NAMING = frozenset("._@\\:#+" + _DIGITS)  # with none of these it is words in a row: and/or


def name_words(run: str) -> Iterator[str]:
    """The words of a run, case-folded; a sign at the end (``C++``, ``C#``) stays with its word."""
    for compound in run.translate(_BETWEEN_COMPOUNDS).split():
        for part in _dissect(compound)[1]:
            yield part.casefold()


def name_terms(run: str, asking: bool) -> Iterator[str]:
    """The terms of a run, wholes before parts; when `asking`, without parts that are stop words."""
    compounds = run.translate(_BETWEEN_COMPOUNDS).split()
    if len(compounds) > 1:
        whole = _without_possessive(run.strip(_OUTER_EDGES))
        if _is_name(whole):
            yield whole.casefold()
    for compound in compounds:
        whole, parts = _dissect(compound)
        named = parts[:1] != [whole] and _is_name(whole)
        if named and parts:
            yield whole.casefold()
        for part in parts:
            if not (asking and is_stop_word(part)) and not (named and _is_letter(part)):
                yield from _part_terms(part)


def _is_name(whole: str) -> bool:
    if len(whole) > LONGEST_TERM or ".." in whole:  # an ellipsis between two words
        return False
    return not _NAMING.isdisjoint(whole)


def _is_letter(part: str) -> bool:
    """A single letter says nothing once the whole is a term: the e of ``e.g``, the C of ``C-3``."""
    return len(part) == 1 and part.isalpha()


def _dissect(compound: str) -> tuple[str, list[str]]:
    """The compound without what only surrounds it, and its words.

    A dot before a letter (``.NET``) and a hash before a number (``#12``) belong to the whole;
    ``++`` and ``#`` behind a letter (``C++``, ``C#``) belong to the last word too.
    """
    ended = compound.rstrip("._-&'")
    if ended.endswith(("'s", "'S")):
        compound = ended[:-2]
    core = compound.strip(_EDGES)
    parts = [_without_possessive(raw) for raw in core.translate(_BETWEEN_PARTS).split()]
    parts = [part for part in parts if part]
    if not parts or len(core) == len(compound):
        return core, parts
    start = len(compound) - len(compound.lstrip(_EDGES))
    lead, tail = compound[:start], compound[start + len(core) :]
    sign = "++" if tail[:2] == "++" else "#" if tail[:1] == "#" and len(parts[-1]) == 1 else ""
    parts[-1] += sign
    dotted = lead[-1:] == "." and lead[-2:] != ".." and core[0].isalpha()
    numbered = lead[-1:] == "#" and core.isdigit()
    return (lead[-1] if dotted or numbered else "") + core + sign, parts


def _without_possessive(part: str) -> str:
    part = part.strip("'")
    return part[:-2] if part[-2:] in ("'s", "'S") else part


def _part_terms(part: str) -> Iterator[str]:
    """The stem of a word; of ``camelCase`` also its humps, of ``O'Brien`` also ``brien``."""
    folded = part.casefold()
    if not folded.isascii():
        yield folded[:LONGEST_TERM]
    elif "'" in folded:
        yield folded[:LONGEST_TERM]
        for bit in folded.split("'"):
            if len(bit) > 2:
                yield from _plain_terms(bit)
    else:
        yield from _plain_terms(folded)
        for hump in _humps(part):
            yield from _plain_terms(hump.casefold())


def _plain_terms(word: str) -> Iterator[str]:
    """The stem of a word of letters. A word with digits or signs stays as it is and gives its
    leading letters too: gpt4 and gpt.
    """
    word = word[:LONGEST_TERM]
    if word.isalpha():
        yield stem(word)
        return
    yield word
    letters = word.rstrip(_DIGITS + "+#")
    if len(letters) > 2 and letters.isalpha():
        yield stem(letters)


def _humps(part: str) -> list[str]:
    """``FastHTTPServer`` -> Fast, HTTP, Server.

    Nothing for ``redis``, ``Redis``, ``REDIS``, ``APIs``; nothing for a random key, whose humps are
    shorter than three letters on average.
    """
    if part.islower() or part.istitle() or part[:-1].isupper() or len(part) > LONGEST_TERM:
        return []
    starts = [at for at in range(1, len(part)) if _starts_hump(part, at)]
    humps = [part[start:end] for start, end in pairwise([0, *starts, len(part)])]
    return [hump for hump in humps if len(hump) > 1] if 1 < len(humps) <= len(part) / 3 else []


def _starts_hump(part: str, at: int) -> bool:
    """An upper-case letter after another kind, or before a lower-case one: S of ``HTTPServer``."""
    ends_capitals = part[at + 1 : at + 2].islower()
    return part[at].isupper() and (ends_capitals or not part[at - 1].isupper())
