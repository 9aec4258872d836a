"""Terms of scripts without spaces: Chinese words of two to four characters, Japanese, Korean.

No dictionary: a run of characters is a word where it holds together (no way of parting it is
likely by chance) and is free (what stands before and behind it varies). Both after Matrix67,
"互联网时代的社会语言学：基于SNS的文本数据挖掘", 2012: cohesion by mutual information, freedom by
the entropy of the neighbours, the lower of both sides.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from math import log

from agent_memfas.text.everyday_chinese import (
    EDGES,
    KEPT,
    PARTING,
    is_everyday,
    is_plain,
    is_whole,
)
from agent_memfas.text.phrases import mutual
from agent_memfas.text.spans import Line

LONGEST = 4
LEAST_COHESION = {2: 0.4, 3: 0.5, 4: 0.5}  # by length; normalised mutual information
LEAST_FREEDOM = 0.6  # nats; two neighbours in equal parts have 0.69
_HAN = re.compile(f"(?:{'|'.join(KEPT)}|[\u3400-\u4dbf\u4e00-\u9fff](?<![{PARTING}]))+")
_KATAKANA = re.compile("[\u30a1-\u30fa\u30fc]{2,12}")
_HANGUL = re.compile("[\uac00-\ud7a3]{2,12}")
_PARTICLE = re.compile(
    "(?<=..)(?:은|는|이|가|을|를|의|에|에서|에게|께서|로|으로|와|과|랑|도|만|까지|부터|처럼|보다)$"
)
_KOREAN_VERB = re.compile(
    ".*(?:니다|어요|아요|세요|네요|지만|해서|하고|하는|했다|한다|이다|있다|없다|있는)$"
)


def coined_terms(lines: Sequence[Line], least: int) -> dict[str, int]:
    """The terms, with the number of lines on which each stands."""
    terms = _whole_words(lines, least)
    pieces = [[m[0] for run in line.runs for m in _HAN.finditer(run)] for line in lines]
    pieces = [held for held in pieces if held]
    counts = _count_grams(pieces, least)
    total = sum(n for gram, n in counts.items() if len(gram) == 1)
    held = {gram for gram in counts if len(gram) > 1 and _holds(gram, counts, total)}
    for gram, freedom in _freedom(pieces, held).items():
        if freedom >= LEAST_FREEDOM:
            terms[gram] = counts[gram]
    return terms


def _whole_words(lines: Sequence[Line], least: int) -> dict[str, int]:
    """Words of scripts that show their ends: katakana, and Korean without its particles."""
    counts = Counter[str]()
    for line in lines:
        counts.update({word for run in line.runs for word in words_in(run)})
    return {word: n for word, n in counts.items() if n >= least}


def words_in(run: str) -> Iterator[str]:
    """The katakana and Korean words of a run."""
    yield from _KATAKANA.findall(run)
    for word in _HANGUL.findall(run):
        bare = _PARTICLE.sub("", word)
        if len(bare) > 1 and not _KOREAN_VERB.fullmatch(bare):
            yield bare


def _count_grams(pieces: list[list[str]], least: int) -> Counter[str]:
    """On how many lines each run of one to four characters stands, those below `least` left out.

    Length by length, and a run only where both runs in it that are one shorter are often enough:
    so the rare ones, which are nearly all, take no memory.
    """
    counts = Counter[str]()
    for size in range(1, LONGEST + 1):
        found = Counter[str]()
        for held in pieces:
            found.update(
                {
                    piece[at : at + size]
                    for piece in held
                    for at in range(len(piece) - size + 1)
                    if size == 1
                    or (piece[at : at + size - 1] in counts and piece[at + 1 : at + size] in counts)
                }
            )
        counts.update({gram: n for gram, n in found.items() if n >= least})
    return counts


def _freedom(pieces: list[list[str]], grams: set[str]) -> dict[str, float]:
    """For each of these runs: the entropy of its neighbours, the lower of both sides.

    The end of a piece, a word of grammar and one of every day are neighbours that part; each
    counts as one of its own.
    """
    around: tuple[dict[str, Counter[str]], ...] = (defaultdict(Counter), defaultdict(Counter))
    for held in pieces:
        seen: set[str] = set()
        for piece in held:
            here = [
                (at, at + size)
                for size in range(2, LONGEST + 1)
                for at in range(len(piece) - size + 1)
                if piece[at : at + size] in grams
            ]
            ends, begins = _partings(piece) if here else (set[int](), set[int]())
            for at, end in here:
                gram = piece[at:end]
                if gram not in seen:
                    seen.add(gram)
                    around[0][gram]["" if at in ends else piece[at - 1]] += 1
                    around[1][gram]["" if end in begins else piece[end]] += 1
    return {g: min(_entropy(left), _entropy(around[1][g])) for g, left in around[0].items()}


def _partings(piece: str) -> tuple[set[int], set[int]]:
    """Where something that is certainly another word ends, and where one begins."""
    size = len(piece)
    plain = [at for at in range(size - 1) if is_plain(piece[at : at + 2])]
    grammar = [at for at in range(size) if piece[at] in EDGES]
    inside = {at + 1 for at in plain}
    ends = {0, *(at + 2 for at in plain), *(at + 1 for at in grammar)}
    return ends - inside, {size, *plain, *grammar} - inside


def _entropy(neighbours: Counter[str]) -> float:
    total = neighbours.total()
    told = sum(n * log(total / n) for side, n in neighbours.items() if side)
    return (told + neighbours[""] * log(total)) / total


def _holds(gram: str, counts: Counter[str], total: int) -> bool:
    """Whether it may be a word, and no way of parting it is likely by chance."""
    if is_everyday(gram) or not is_whole(gram):
        return False
    if len(gram) == 3 and is_plain(gram[1:]):  # a word of every day and what precedes it
        return False
    plain = len(gram) == LONGEST and (is_plain(gram[:2]) or is_plain(gram[2:]))
    cohesion = min(
        mutual(counts[gram], counts[gram[:at]], counts[gram[at:]], total)
        for at in range(1, len(gram))
    )
    return cohesion >= (0.7 if plain else LEAST_COHESION[len(gram)])
