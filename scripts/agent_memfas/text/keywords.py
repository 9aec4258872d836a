"""The words that a text comes back to: names first, in any script; never grammar, never numbers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator

from agent_memfas.text.characters import UNSPACED, WORD, normal, runs
from agent_memfas.text.everyday_chinese import is_plain
from agent_memfas.text.names import name_words
from agent_memfas.text.stopwords import is_function_character, is_function_pair, is_stop_word

MOST_CHARACTERS = 100_000
LONGEST_WORD = 30
LONGEST_GRAM = 6
NAME_WEIGHT = 3
_SENTENCE_ENDS = (".", "!", "?", ":", "。", "！", "？")
_PLAIN = frozenset(
    """
    said say says told tell ask asked think thought know knew like want wanted need needed make
    made get got getting give gave take took come came goes going gone went done use used using
    see saw seen look looked let new old good bad first last next one two three many much lot
    way thing things today tomorrow yesterday day days week weeks month months time now still
    really maybe always never every already later soon yes not new our out via per etc todo note
    notes also well back around since until however memory log logs file files http https www com
    trigger importance source superseded ttl
    """.split()
)


def keywords(text: str, most: int = 12) -> tuple[tuple[str, int], ...]:
    """(word, weight) of what a text speaks of, weightiest first, in lower case.

    A word weighs as often as it occurs; one that is written as a name (a capital inside a
    sentence) three times that. Words that occur once and are no name are left out. Scripts
    without spaces give runs of two to six characters. Looks at the first 100,000 characters.
    """
    counts, named, grams = Counter[str](), Counter[str](), Counter[str]()
    for line in text[:MOST_CHARACTERS].split("\n"):
        inside = False
        title = line.startswith("#")  # every word of a title may have a capital
        for piece in line.split():
            for kind, run in runs(normal(piece)):
                if kind == UNSPACED:
                    grams.update(_grams(run))
                elif kind == WORD:
                    _count(run[0], counts, named, inside=inside)
            begun = inside or piece[0].isalpha()
            inside = begun and not title and not piece.endswith(_SENTENCE_ENDS)
    weights = Counter({word: n for word, n in counts.items() if n > 1 or word in named})
    for word, times in named.items():
        if 2 * times >= counts[word]:
            weights[word] *= NAME_WEIGHT
    weights.update(_longest(grams, most))
    return tuple(sorted(weights.items(), key=lambda pair: (-pair[1], pair[0]))[:most])


def _count(run: str, counts: Counter[str], named: Counter[str], *, inside: bool) -> None:
    """Count the words of a run; inside: whether a capital here makes a name."""
    capital = inside and run.lstrip("._-+#&'/\\@:")[:1].isupper()
    for word in name_words(run):
        if 3 <= len(word) <= LONGEST_WORD and word.isalpha() and not _says_nothing(word):
            counts[word] += 1
            if capital:
                named[word] += 1


def _says_nothing(word: str) -> bool:
    return word in _PLAIN or is_stop_word(word)


def _grams(characters: list[str]) -> Iterator[str]:
    """Runs of two to six characters that begin and end neither with grammar nor with an everyday
    word."""
    plain = [is_function_character(c[0]) for c in characters]
    for start in range(len(characters) - 1):
        for end in range(start + 2, min(start + LONGEST_GRAM, len(characters)) + 1):
            pair = end - start == 2 and is_function_pair(characters[start], characters[start + 1])
            if plain[start] or plain[end - 1] or pair:
                continue
            gram = "".join(characters[start:end])
            if not (is_plain(gram[:2]) or is_plain(gram[-2:])):
                yield gram


def recurring_runs(pieces: Iterable[list[str]], most: int) -> dict[str, int]:
    """Runs of characters of unspaced scripts that come at least twice: run -> how often.

    pieces: the characters between two breaks.
    """
    grams = Counter[str]()
    for piece in pieces:
        grams.update(_grams(piece))
    return _longest(grams, most)


def _longest(grams: Counter[str], most: int) -> dict[str, int]:
    """The heaviest runs that occur twice, no two of which share a pair of characters, and
    none that is only ever part of the same longer one."""
    fragments = {
        part for gram, n in grams.items() if n > 1
        for part in (gram[1:], gram[:-1]) if grams[part] == n
    }  # fmt: skip
    often = [(gram, n) for gram, n in grams.items() if n > 1 and gram not in fragments]
    often.sort(key=lambda pair: (-pair[1] * (len(pair[0]) - 1), pair[0]))
    chosen: dict[str, int] = {}
    taken: set[str] = set()
    for gram, times in often:
        pairs = {gram[at : at + 2] for at in range(len(gram) - 1)}
        if taken.isdisjoint(pairs):
            chosen[gram] = times
            taken |= pairs
        if len(chosen) == most:
            break
    return chosen
