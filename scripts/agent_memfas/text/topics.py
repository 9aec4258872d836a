"""What one file is about among its neighbours, in a few words: its names and subjects.

A word weighs as often as the file has it, and more the fewer files beside it do (term frequency
times 1 + inverse document frequency). Measured on conversations laid out as logs: the right file
of some twenty is told by such a line for 39 questions of 100 (one of the best three: 60), by its
first sentences for 18 (30), by its whole text for 69 (86).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from itertools import pairwise
from math import log

from agent_memfas.text.characters import UNSPACED, WORD, normal, runs
from agent_memfas.text.everyday import is_everyday, looks_derived
from agent_memfas.text.keywords import LONGEST_WORD, MOST_CHARACTERS, recurring_runs
from agent_memfas.text.names import name_words
from agent_memfas.text.speakers import speaker_of
from agent_memfas.text.spoken import spoken_in
from agent_memfas.text.stems import stem
from agent_memfas.text.tokens import estimate

MOST = 30  # topics of a file that are kept
_ENDS = (".", "!", "?", ":", ",", ";", ")", "。", "！", "？", "，")
Topics = tuple[tuple[str, int], ...]


def topics_of(lines: Iterable[str], speakers: Iterable[str] = ()) -> Topics:
    """(word or phrase, how often), the most frequent ones first, those that come first before
    others. Names are written as the text has them, everyday words and numbers are left out.

    speakers: names that are not topics. Looks at the first 100,000 characters.
    """
    counts, pairs, spelt = Counter[str](), Counter[tuple[str, str]](), dict[str, Counter[str]]()
    unspaced: list[list[str]] = []
    left = MOST_CHARACTERS
    for line in lines:
        if (left := left - len(line)) < 0:
            break
        chain: list[str] = []
        for piece in line.split():
            chain += _words_of(piece, spelt, unspaced)
            if piece.endswith(_ENDS):
                _count(chain, counts, pairs)
                chain = []
        _count(chain, counts, pairs)
    for word in (w for name in speakers for w in name_words(name)):
        counts.pop(stem(word), None)
    found = _joined(counts, pairs, {key: _form(forms) for key, forms in spelt.items()})
    found.update(recurring_runs(unspaced, MOST))
    return tuple(found.most_common(MOST))


def _words_of(piece: str, spelt: dict[str, Counter[str]], unspaced: list[list[str]]) -> list[str]:
    """The stems of the words of a piece that say something, "" for each that does not."""
    found = []
    for key, written in (_known_parts if len(piece) <= LONGEST_WORD else _parts)(piece):
        if key is None:
            unspaced.append(written.split())
            continue
        if key:
            spelt.setdefault(key, Counter())[written] += 1
        found.append(key)
    return found


def _parts(piece: str) -> tuple[tuple[str | None, str], ...]:
    """The words of a piece: (stem, as it is written), with stem "" for what says nothing, and with
    None the characters of an unspaced script, parted by spaces."""
    found = list[tuple[str | None, str]]()
    for kind, run in runs(normal(piece)):
        if kind == UNSPACED:
            found.append((None, " ".join(run)))
        for word in name_words(run[0]) if kind == WORD else ():
            if 3 <= len(word) <= LONGEST_WORD and word.isalpha() and not is_everyday(word):
                at = run[0].casefold().find(word)
                found.append((stem(word), run[0][at : at + len(word)] if at >= 0 else word))
            else:
                found.append(("", ""))
    return tuple(found)


_known_parts = lru_cache(maxsize=1 << 14)(_parts)


def _count(chain: list[str], counts: Counter[str], pairs: Counter[tuple[str, str]]) -> None:
    counts.update(filter(None, chain))
    pairs.update((a, b) for a, b in pairwise(chain) if a and b and a != b)


def _form(forms: Counter[str]) -> str:
    """How a word is written: with capitals only where it always is."""
    written, _ = forms.most_common(1)[0]
    small = [form for form in forms if form.islower()]
    if small and not written.islower():
        return small[0]
    begins = written.istitle() and looks_derived(written)  # `Interviewed Ann`: where a line begins
    return written.casefold() if begins else written


def _joined(
    counts: Counter[str], pairs: Counter[tuple[str, str]], forms: Mapping[str, str]
) -> Counter[str]:
    """The words by their forms; two that mostly stand together, at least twice, as one phrase."""
    found = Counter[str]()
    gone = set[str]()
    for (first, second), times in pairs.most_common():
        if times < 2:
            break
        apart = {w for w in (first, second) if counts[w] <= 2 * times}
        if apart and not gone & {first, second} and counts[first] and counts[second]:
            found[f"{forms[first]} {forms[second]}"] = times
            gone |= apart
    for word, times in counts.items():
        if word not in gone:
            found[forms[word]] += times
    return found


def spread(files: Iterable[Topics]) -> Counter[str]:
    """In how many of these files each topic is, by `key_of`."""
    return Counter(key for topics in files for key in {key_of(word) for word, _ in topics})


def key_of(topic: str) -> str:
    """The same for all forms of a topic."""
    return topic.casefold() if " " in topic else stem(topic.casefold())


def choose(
    topics: Topics, among: Mapping[str, int], files: int, said: str, tokens: int
) -> list[str]:
    """The topics that tell a file from its neighbours, as many as fit into so many tokens.

    among: their `spread` over that many files. said: text beside which nothing is repeated.
    """

    def weight(pair: tuple[str, int]) -> float:
        return pair[1] * (1 + log((files + 1) / max(1, among.get(key_of(pair[0]), 1))))

    heard = said.casefold()
    kept: list[str] = []
    for word, _ in sorted(topics, key=weight, reverse=True):
        if word.casefold() in heard:
            continue
        if estimate(", ".join([*kept, word])) > tokens:
            break
        kept.append(word)
    return kept


def speakers_in(lines: Sequence[str]) -> list[str]:
    """Who talks in a text that is a conversation, whoever says most first; [] where it is none."""
    said = [line for line in lines if line.strip() and not line.startswith(("#", "  ", "\t"))]
    names = Counter(
        name for line in said
        if (name := speaker_of(line if line.lstrip()[:2] in ("- ", "* ", "+ ") else f"- {line}"))
    )  # fmt: skip
    often = [
        name for name, times in names.most_common()
        if times > 1 and spoken_in(f"- {name}: what was said").speaker  # and no `Decision:`
    ]  # fmt: skip
    lines_of_talk = sum(names[name] for name in often)
    is_talk = lines_of_talk >= 4 and 3 * lines_of_talk >= 2 * len(said) and len(often) < 8
    return often if is_talk else []
