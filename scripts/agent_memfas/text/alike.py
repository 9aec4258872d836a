"""Which passages say the same, and which of them is shown for the others.

Two are alike where the same words stand in the same order, tags, marks and who says it when aside;
longer ones also where words were only added, few and of no weight. Numbers, dates inside the text,
names, negations and identifiers are never among those, nor is the order of the rest. Candidates
are found by their rarest words (prefix filtering: Chaudhuri, Ganti and Kaushik, "A Primitive
Operator for Similarity Joins in Data Cleaning", 2006), so that nothing is compared with everything.
"""

from __future__ import annotations

from functools import lru_cache

from agent_memfas.text.characters import normal
from agent_memfas.text.days import MONTHS
from agent_memfas.text.record import Record
from agent_memfas.text.spoken import WEEKDAYS, Spoken, bare, is_unspaced, size, spoken_in
from agent_memfas.text.stopwords import is_stop_word
from agent_memfas.text.words import words

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import Any

ENOUGH = 8  # words of a text that tells by itself what it is about
SHARED, OF = 9, 10  # near duplicates have so much of their words, with repetitions, in common
LONGEST_LINE = 4_000  # characters of a line that is compared by what it says, not by its bytes
CLOSE = 0.75  # of the best score: a newer passage with so much is shown for it
SUPERSEDED, EXPIRED, LIVE = range(3)  # of two that say the same, the higher one is shown

_OPERATORS = "<>=~%$€£¥₹‰±≤≥≠+×÷→←↔⇒⇐°^"
_JOINERS = "._-'&/\\@:#!*"
_INNER = frozenset("_/\\@.:")
_CALENDAR = frozenset((*MONTHS, *WEEKDAYS, *"年月日周星期礼拜一二三四五六天"))
# Words that weigh nothing, whoever adds them.
_LIGHT = frozenset(
    "a an the that also just very really please 的 地 得 也 呢 吧 啊 呀 哦 嗯 嘛 啦".split()
)
# Words that turn what they stand with.
_TURNING = frozenset(
    """
    not no never none nor neither nobody nothing nowhere cannot without except unless hardly barely
    almost nearly fails failed refuses refused stops stopped former formerly previously once longer
    less false wrong cancelled canceled rejected declined denied avoid instead if maybe perhaps
    should could would might may must can will used was were until before after only
    some few most all any every both half
    nicht kein keine nie non ne pas jamais nunca jamas nao niet geen inte ikke не нет никогда ни
    """.split()
)  # fmt: skip


class Said(Record):
    """A passage to be folded. day: ISO or "". kind: of its file. topic: the words that it stands
    under, where it is too short to tell by itself what it is about. line: the whole line that it
    is a piece of, or "". standing: SUPERSEDED, EXPIRED or LIVE. score: 0 to 1.
    """

    spoken: Spoken
    day: str = ""
    kind: str = ""
    topic: tuple[str, ...] = ()
    line: str = ""
    standing: int = LIVE
    score: float = 0.0


def said(text: str, about: str = "", lines: str = "", **known: Any) -> Said:
    """A passage as it is compared. about: what it stands under, its headings, say; days in that
    are none of it. lines: those that it is only a piece of, or "". known: the other fields of Said.
    """
    spoken = spoken_in(text)
    short = len(lines) <= LONGEST_LINE
    line = bare(lines).casefold() if short else f"{len(lines)} {hash(lines)}"
    topic = tuple(_topic(about)) if about and size(spoken.words) < ENOUGH else ()
    return Said(spoken, topic=topic, line=line, **known)


def fold(passages: Sequence[Said]) -> list[list[int]]:
    """Passages, best first, as groups of their numbers: first the one that is shown, then those
    that say the same as it does, in order. Each number is in one group.

    Shown is the best; of one that is live and one that is not the live one; of live ones whose
    scores differ by less than 1 - CLOSE the newest. No two that are shown are alike.
    """
    likely = _Candidates(passages)
    left = dict.fromkeys(range(len(passages)))
    groups = list[list[int]]()

    def members(one: int) -> list[int]:
        return [
            n for n in sorted(likely.of(one)) if n in left and alike(passages[one], passages[n])
        ]

    for first in range(len(passages)):
        while first in left:
            shown, doubles = first, members(first)
            while (better := _livelier(passages, shown, doubles)) is not None:
                shown, doubles = better, members(better)
            if (newest := _newest(passages, shown, doubles)) is not None:
                shown, doubles = newest, members(newest)
            for n in (shown, *doubles):
                del left[n]
            groups.append([shown, *doubles])
    return groups


def _livelier(passages: Sequence[Said], shown: int, doubles: list[int]) -> int | None:
    """The first of its doubles that stand above it, or None."""
    best = max((passages[n].standing for n in doubles), default=SUPERSEDED)
    if best <= passages[shown].standing:
        return None
    return next(n for n in doubles if passages[n].standing == best)


def _newest(passages: Sequence[Said], shown: int, doubles: list[int]) -> int | None:
    """The newest of its doubles that is newer and found about as well, or None."""
    one = passages[shown]
    if one.standing < LIVE or not one.day:
        return None
    newer = [
        n for n in doubles
        if passages[n].standing == LIVE and passages[n].day > one.day
        and passages[n].score >= CLOSE * one.score
    ]  # fmt: skip
    return max(newer, key=lambda n: (passages[n].day, -n), default=None)


def alike(one: Said, other: Said) -> bool:
    """Whether two passages say the same (see above). Symmetric."""
    first, second = one.spoken, other.spoken
    if one.line != other.line:
        return False  # two lines that begin alike need not go on alike
    if first.speaker != second.speaker and first.speaker and second.speaker:
        return False
    if one.day == other.day and first.time and second.time and first.time != second.time:
        return False  # an agenda, not one note taken twice
    same = first.words == second.words
    if not same and not _nearly(first, second):
        return False
    if one.kind == other.kind and one.topic and other.topic and one.topic != other.topic:
        return False  # "Status: done" of two projects
    if not same and not _is_light(first, second):
        return False
    return first.text == second.text or signs(first.text) == signs(second.text)


def _topic(about: str) -> Iterator[str]:
    return (w for w in words(about) if w not in _CALENDAR and not any(map(str.isdigit, w)))


def _numbered(found: tuple[str, ...]) -> list[str]:
    """The words, each repetition as another one: a multiset as a set."""
    counts = dict[str, int]()
    out = []
    for word in found:
        counts[word] = counts.get(word, 0) + 1
        out.append(word if counts[word] == 1 else f"{word} {counts[word]}")
    return out


def _nearly(first: Spoken, second: Spoken) -> bool:
    """Whether two longer texts share nearly all their words."""
    least, most = sorted((len(first.words), len(second.words)))
    if OF * least < SHARED * most or min(size(first.words), size(second.words)) < ENOUGH:
        return False
    one, two = set(_numbered(first.words)), set(_numbered(second.words))
    return OF * len(one & two) >= SHARED * len(one | two)


def _is_light(first: Spoken, second: Spoken) -> bool:
    """Whether what two texts do not share weighs nothing: light words, or plain ones that one of
    them only adds; the others stand in the same order.
    """
    one, two = set(_numbered(first.words)), set(_numbered(second.words))
    added = [{element.partition(" ")[0] for element in extra} for extra in (one - two, two - one)]
    apart = added[0] | added[1]
    rest = [[word for word in text.words if word not in apart] for text in (first, second)]
    heavy = [extra - _LIGHT for extra in added]
    if rest[0] != rest[1] or (heavy[0] and heavy[1]):
        return False
    named = _names(first.text) | _names(second.text)
    return not any(_tells(word) or word in named for word in heavy[0] | heavy[1])


def _tells(word: str) -> bool:
    """Whether the sense may hang on one word, as far as can be told without reading it."""
    turning = word in _TURNING or word.endswith("n't")
    return turning or is_unspaced(word) or not word.isalpha()


def _names(text: str) -> set[str]:
    """The words of a text that are written with a capital, or as code, but for stop words."""
    found = set[str]()
    for piece in text.split():
        if piece != piece.lower() or "`" in piece:
            found.update(words(piece) if "`" in piece or not is_stop_word(_core(piece)) else ())
    return found


def _core(piece: str) -> str:
    return piece.strip(".,;:!?()[]{}\"'*_“”‘’")


@lru_cache(maxsize=1 << 10)
def signs(text: str) -> tuple[str, ...]:
    """What the words of a text do not tell of it although the sense hangs on it, in order: numbers
    with their signs, operators, identifiers as they are written, question marks. Linear.
    """
    found = list[str]()
    for piece in normal(text).split():
        if piece.isalpha() and piece.isascii():
            continue
        run = ""
        for sign in f"{piece} ":
            if (sign.isalnum() and not is_unspaced(sign)) or sign in _OPERATORS or sign in _JOINERS:
                run += sign
                continue
            if run and (told := _told(run)):
                found.append(told)
            run = ""
            if sign == "?" and found[-1:] != ["?"]:
                found.append("?")
    return tuple(found)


def _told(run: str) -> str:
    """A run of letters, digits and signs where it is more than a word with marks around it."""
    core = run.rstrip("._-'&/\\:!*#")
    start = 0
    while core[start : start + 1] in tuple("._-'&:!*#/\\") and not _binds(core, start):
        start += 1
    core = core[start:]
    special = any(sign.isdigit() or sign in _OPERATORS or sign in _INNER for sign in core)
    return core.casefold() if special or core[:1] == "-" else ""


def _binds(run: str, at: int) -> bool:
    """Whether a mark belongs to what follows: -5, .5, #12, !=, -f."""
    mark, after = run[at], run[at + 1 : at + 2]
    return after.isdigit() or (mark == "!" and after == "=") or (mark == "-" and after.isalpha())


class _Candidates:
    """Finds the passages that can be alike: with the same words, or longer ones that share one of
    the rarest words of both.
    """

    def __init__(self, passages: Sequence[Said]) -> None:
        self._words = [passage.spoken.words for passage in passages]
        elements = [_numbered(found) for found in self._words]
        holding = dict[str, int]()
        for some in elements:
            for element in some:
                holding[element] = holding.get(element, 0) + 1
        self._rare = [_rarest(some, holding) for some in elements]
        self._same, self._sharing = dict[tuple[str, ...], list[int]](), dict[str, list[int]]()
        for n, found in enumerate(self._words):
            self._same.setdefault(found, []).append(n)
            for element in self._rare[n]:
                self._sharing.setdefault(element, []).append(n)

    def of(self, one: int) -> set[int]:
        """The numbers of those that can be alike with this one."""
        return set(self._same[self._words[one]]).union(
            *(self._sharing[element] for element in self._rare[one])
        ) - {one}


def _rarest(elements: list[str], holding: dict[str, int]) -> list[str]:
    """So many of the rarest that a text that shares SHARED of OF with these has one of them."""
    if len(elements) < ENOUGH:
        return []
    ordered = sorted(elements, key=lambda element: (holding[element], element))
    return ordered[: len(ordered) - -(-SHARED * len(ordered) // OF) + 1]
