r"""Words of a text, index terms of a text, and the terms of a question.

One normal form serves all three: NFKC, case folded, accents stripped, invisible characters
dropped; control characters and lone surrogates only separate. A text is taken apart at white
space first and each piece by itself, so ``words(a + " " + b) == words(a) + words(b)``. The work is
linear in the text.

A term holds no white space, quotation mark or control character and has at most 64 characters. Of
ASCII it holds only letters, digits and ``._-+#&'/\@:``.

Nothing here uses regular expressions: every recall imports this module, and it loads in less time
than `re` alone.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from itertools import zip_longest

from agent_memfas.text.characters import EMOJI, UNSPACED, normal, runs
from agent_memfas.text.names import LONGEST_TERM, name_terms, name_words
from agent_memfas.text.stopwords import is_function_character, is_function_pair

_CACHED_LENGTH = 40  # characters; longer pieces hardly come twice


def words(text: str) -> list[str]:
    """The words of `text` in order, each in one form: for triggers, duplicates, contradictions.

    ``code-review`` and ``code_review`` are two words, ``Alice's`` is ``alice``, ``don't`` is one
    word, ``C++`` and ``C#`` keep their signs. Where a script has no spaces (Chinese, Japanese,
    Korean, Thai, Lao, Khmer, Myanmar) each character is a word. An emoji sequence is one word.
    """
    found: list[str] = []
    for piece in text.split():
        found += _known_words(piece) if len(piece) <= _CACHED_LENGTH else _words(piece)
    return found


def terms(text: str) -> list[str]:
    """The index terms of `text` in order, with repetitions.

    English words are stemmed; names stand whole and in parts (``node.js``: node.js, node, js);
    unspaced scripts give each character and each pair of neighbours; an emoji sequence is one term.
    """
    found: list[str] = []
    for piece in text.split():
        known = len(piece) <= _CACHED_LENGTH
        found += _known_terms(piece, False) if known else _terms(piece, False)
    return found


def joined_terms(text: str) -> str:
    """``" ".join(terms(text))``, in two thirds of the time: for whole folders."""
    return " ".join(filter(None, map(_JOINED.__getitem__, text.split())))


def query_terms(text: str, limit: int = 256) -> list[str]:
    """The first `limit` different terms of a question, each of them one of ``terms(text)``.

    English and Chinese stop words are left out unless nothing else is there. Unspaced scripts are
    asked for in pairs, Han in characters too. 256 terms are some 200 English words or 150 Chinese
    characters. A question without a word gives []. Operators of search languages are just words.
    """
    for asking in (True, False):
        found: dict[str, None] = {}
        for piece in text.split():
            for term in _terms(piece, asking):
                if len(found) >= limit:
                    return list(found)
                found[term] = None
        if found:
            return list(found)
    return []


def asked_pieces(text: str) -> list[str]:
    """The pieces of a question, cut at white space, that are more than stop words."""
    return [piece for piece in text.split() if next(_terms(piece, True), None) is not None]


@lru_cache(maxsize=1 << 15)
def _known_words(piece: str) -> tuple[str, ...]:
    return tuple(_words(piece))


@lru_cache(maxsize=1 << 15)
def _known_terms(piece: str, asking: bool) -> tuple[str, ...]:
    return tuple(_terms(piece, asking))


class _Joined(dict[str, str]):
    """Pieces of text -> their terms in one string; forgets all when it has grown too large."""

    def __missing__(self, piece: str) -> str:
        joined = " ".join(_terms(piece, False))
        if len(piece) <= _CACHED_LENGTH:
            if len(self) >= 1 << 15:
                self.clear()
            self[piece] = joined
        return joined


_JOINED = _Joined()


def _words(piece: str) -> Iterator[str]:
    for kind, run in runs(normal(piece)):
        if kind in (UNSPACED, EMOJI):
            yield from run
        else:
            yield from name_words(run[0])


def _terms(piece: str, asking: bool) -> Iterator[str]:
    for kind, run in runs(normal(piece)):
        if kind == UNSPACED:
            yield from _asked(run) if asking else _indexed(run)
        elif kind == EMOJI:
            yield run[0][:LONGEST_TERM]
        else:
            yield from name_terms(run[0], asking)


def _indexed(characters: list[str]) -> Iterator[str]:
    """Each character and each pair of neighbours."""
    for character, following in zip_longest(characters, characters[1:]):
        yield character[:LONGEST_TERM]
        if following:
            yield (character + following)[:LONGEST_TERM]


def _asked(characters: list[str]) -> Iterator[str]:
    """Each pair, each Han character, any character that stands alone; nothing that is grammar."""
    after_grammar = False
    for character, following in zip_longest(characters, characters[1:]):
        grammar = bool(following) and is_function_pair(character, following)
        alone = len(characters) == 1 or _is_han(character)
        if alone and not (grammar or after_grammar or is_function_character(character)):
            yield character[:LONGEST_TERM]
        if following and not grammar:
            yield (character + following)[:LONGEST_TERM]
        after_grammar = grammar


def _is_han(character: str) -> bool:
    return "\u3400" <= character[0] <= "\u9fff" or character[0] >= "\U00020000"
