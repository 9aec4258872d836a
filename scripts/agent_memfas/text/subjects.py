"""What a message is about: the names and things in it, each with how likely a person would file
the message under it.

No grammar of a language is parsed: nouns are told by what stands around them (articles, `about`,
possessives) and verbs by what they follow (`to`, `we`, `can you`), and words said everywhere count
little. The weights are set by hand on the dialogues of tests/text/test_turns.py.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from typing import NamedTuple

from agent_memfas.text.characters import WORD, normal, runs
from agent_memfas.text.everyday import is_everyday, is_grammar, is_order, is_thing
from agent_memfas.text.proper_names import form_of
from agent_memfas.text.referring import is_relational
from agent_memfas.text.stems import stem
from agent_memfas.text.stopwords import is_stop_word
from agent_memfas.text.subjects_chinese import Piece, pieces_of

LONGEST = 2000  # characters of a message that are looked at
MOST_WORDS = 3  # of a subject
ACT, NOUN, RELATIONAL, THING, SPECIFIC, NAME = 0.5, 0.7, 0.8, 1.0, 2.0, 3.0
_ABOUT, _SOME, _HELD, _BESIDE, _OF = 1.0, 0.4, 0.3, -0.6, 1.0
_STARTS_VERB = frozenset(
    """
    to who i we you they he she it let's lets please not don't can could will would should must
    shall may might i'll we'll you'll gonna wanna didn't doesn't can't won't couldn't cannot just
    """.split()
)
_AUXILIARIES = frozenset("do does did has have had can could will would should".split())
_IS = frozenset("is are was were".split())
_ABOUT_WORDS = frozenset("about regarding concerning re".split())
_SOME_WORDS = frozenset("on of to for".split())
_BESIDE_WORDS = frozenset(
    """
    with by from at in before after during until since near via into without next
    """.split()
)
_HOLDERS = frozenset(
    """
    a an the my our your his her their its this that these those any another some each every
    """.split()
)
_OBJECTS = _HOLDERS | {"me", "us", "it", "them", "him"}
_EMPTY = frozenset(
    """
    anyone anybody anything someone somebody something everyone everybody everything nobody
    please kindly
    """.split()
)
_NOUN_ENDS = ("tion", "sion", "ment", "ness", "ity", "ance", "ence", "ship", "er", "or", "ist")
_ENDS = tuple('.!?:;,()"”“…。！？，；')


class Subject(NamedTuple):
    """name: in lower case. weight: how likely it is what the message is about; of SPECIFIC and
    more without doubt. named: whether it is a proper name. terms: stems of its words, pairs of its
    characters. place: of its first word (or character, `chinese`) in the message.
    """

    name: str
    weight: float
    kind: float
    terms: frozenset[str]
    place: int
    chinese: bool = False

    @property
    def named(self) -> bool:
        """Whether it is a proper name, or one that was said to be known."""
        return self.kind == NAME


class Word(NamedTuple):
    """A word of a message. folded: without a possessive. first: of a sentence. ends: a break
    follows, or it is a possessive (`owns`).
    """

    text: str
    folded: str
    first: bool
    ends: bool
    owns: bool


def words_of(message: str) -> list[Word]:
    """The words of a message that are written with spaces between them."""
    found, first = list[Word](), True
    for piece in message[:LONGEST].split():
        opens = piece[0] in '("“['
        if opens and found:
            found[-1] = found[-1]._replace(ends=True)
        spaced = [run[0] for kind, run in runs(normal(piece)) if kind == WORD]
        for n, run in enumerate(spaced):
            text = run.rstrip("._-&'/\\@:").lstrip("._-&'/\\@:+")
            owns = text[-2:] in ("'s", "'S")
            bare = text[:-2] if owns and not is_grammar(text) else text
            if bare:
                last = n == len(spaced) - 1
                ends = owns or (last and (piece.endswith(_ENDS) or run[-1] == ":"))
                found.append(Word(bare, bare.casefold(), first or opens, ends, owns))
                first = last and piece.endswith((".", "!", "?", ":"))
    return found


def subjects(message: str, known: Collection[str] = ()) -> list[Subject]:
    """All that a message could be filed under, likeliest first; of the same weight in order.

    known: names, folded, that count as such however they are written (keywords of triggers).
    """
    if "```" in message:
        message = " ".join(message[: 2 * LONGEST].split("```")[::2])  # without code
    found = _english(words_of(message), known)
    text = normal(message[:LONGEST])
    if not text.isascii():
        found += [_of_piece(piece) for piece in pieces_of(text, known)]
    return sorted(found, key=lambda subject: -subject.weight)


def _of_piece(piece: Piece) -> Subject:
    """Chinese counts as English does, by the same weights."""
    kind = RELATIONAL if piece.relational else NAME if piece.named else SPECIFIC
    weight = kind + _ABOUT * piece.about + _HELD * piece.held - _later(piece.place / 2)
    return Subject(piece.text, weight, kind, piece.pairs(), piece.place, chinese=True)


def _english(words: list[Word], known: Collection[str]) -> list[Subject]:
    shouted = sum(w.text.isupper() for w in words) > len(words) / 2
    kinds = [_kind(word, known, shouted=shouted) for word in words]
    for at in _known_runs(words, known):
        kinds[at] = NAME
    kinds = [_in_place(words, at, kinds) for at in range(len(words))]
    for at, word in enumerate(words):
        if word.folded in _AUXILIARIES and not word.ends:
            _part_verb(words, kinds, at + 1)
        elif word.folded in _IS and not word.ends:
            _part_predicate(words, kinds, at + 1)
    return [_subject(words, kinds, start, end) for start, end in _runs(words, kinds)]


def _kind(word: Word, known: Collection[str], *, shouted: bool) -> float:
    """What one word is by itself; 0 for grammar, numbers and what is said everywhere."""
    form = form_of(word.text)
    if word.folded in known:
        return NAME
    if word.folded.replace(".", "").isdigit():
        return 0
    if form.shaped and not shouted and not is_everyday(word.folded):
        return NAME
    if is_grammar(word.text) or word.folded in _EMPTY:
        return 0
    if is_relational(word.folded):
        return RELATIONAL
    if is_everyday(word.folded):
        return THING if is_thing(word.folded) else 0
    if form.capital and not shouted and not (word.first and _may_be_plain(word.folded)):
        return NAME
    return SPECIFIC


def _known_runs(words: list[Word], known: Collection[str]) -> Iterator[int]:
    """The places of words that together are a name that is known."""
    for size in (2, 3) if known else ():
        for at in range(len(words) - size + 1):
            if " ".join(word.folded for word in words[at : at + size]) in known:
                yield from range(at, at + size)


def _may_be_plain(folded: str) -> bool:
    """Whether a sentence could begin with it for another reason than that it is a name."""
    return is_order(folded) or folded.endswith((*_NOUN_ENDS, "ing", "ed", "s", "ly"))


def _in_place(words: list[Word], at: int, kinds: list[float]) -> float:
    """What a word is where it stands: a name beside a name, a verb, a noun by its article."""
    word, kind = words[at], kinds[at]
    before = words[at - 1] if at and not words[at - 1].ends else None
    follows = not word.ends and at + 1 < len(words)
    if not kind and not is_grammar(word.text):
        return _raised(word, at, kinds, (before, follows))
    if kind == NAME or word.owns or not _acts(words, at, before):
        return kind
    return 0 if is_everyday(word.folded) or is_order(word.folded) else ACT


def _raised(word: Word, at: int, kinds: list[float], around: tuple[Word | None, bool]) -> float:
    """What a word that is said everywhere is beside these: Big Sur, my reading list, the build."""
    before, follows = around
    beside = [kinds[at - 1]] * bool(before) + kinds[at + 1 : at + 2] * follows
    if word.text.istitle() and not word.first and NAME in beside:
        return NAME
    if not before or before.folded not in _HOLDERS:
        return 0
    if follows and kinds[at + 1]:
        return THING if word.folded.endswith("ing") else 0
    return NOUN


def _acts(words: list[Word], at: int, before: Word | None) -> bool:
    """Whether a word stands where a verb does."""
    word = words[at]
    follows = words[at + 1].folded if at + 1 < len(words) and not word.ends else ""
    if before is None:
        return bool(follows) and (is_order(word.folded) or follows in _OBJECTS)
    if before.folded == "to":  # to buy milk; allergic to peanuts
        return bool(follows)
    if before.folded in _STARTS_VERB and follows != "of":
        return True
    return word.folded.endswith(("ing", "ed")) and before.folded not in _HOLDERS and not follows


def _part_verb(words: list[Word], kinds: list[float], start: int) -> None:
    """`does my passport expire`: behind an auxiliary the subject is followed by a verb."""
    while start < len(words) and (words[start].folded in _HOLDERS or words[start].owns):
        start += 1
    end = start
    while end < len(words) and kinds[end] and (end == start or not words[end - 1].ends):
        end += 1
    stops = end == len(words) or words[end - 1].ends or _is_between(words[end])
    if end - start > 1 and stops and kinds[end - 1] < NAME:
        kinds[end - 1] = 0


def _part_predicate(words: list[Word], kinds: list[float], start: int) -> None:
    """`is Redis persistent`: behind a name without an article stands what it is."""
    at = start
    while at < len(words) and kinds[at] == NAME and (at == start or not words[at - 1].ends):
        at += 1
    if start < at < len(words) and not words[at - 1].ends and kinds[at] != RELATIONAL:
        kinds[at] = 0


def _is_between(word: Word) -> bool:
    """Whether it is one of the words between two nouns: the verb stands before it."""
    return is_stop_word(word.text) or word.folded in _HOLDERS or word.folded in _BESIDE_WORDS


def _runs(words: list[Word], kinds: list[float]) -> Iterator[tuple[int, int]]:
    """Where words that belong together begin and end."""
    start = 0
    for at, word in enumerate(words):
        if not kinds[at]:
            start = at + 1
        elif word.ends or kinds[at] == ACT or not any(kinds[at + 1 : at + 2]):
            yield start, at + 1
            start = at + 1


def _subject(words: list[Word], kinds: list[float], start: int, end: int) -> Subject:
    kind = max(kinds[start:end])
    first, last = _trimmed(kinds, start, end, kind)
    last = min(last, first + MOST_WORDS) if kind == NAME else last
    first = max(first, last - MOST_WORDS)
    kept = words[first:last]
    weight = kind + _setting(words, start, kinds) - _later(start)
    if last < end < len(words) and words[end].folded in _ABOUT_WORDS | _SOME_WORDS:
        weight -= _OF  # `a comprehensive summary of`
    if words[start - 1].owns and start and kind >= THING:
        weight += _HELD
    if kept[-1].owns and kind != NAME:
        weight -= 0.5
    name = " ".join(word.folded for word in kept)
    terms = frozenset(stem(w.folded) for w, k in zip(kept, kinds[first:last], strict=True)
                      if k >= NOUN and k != RELATIONAL)  # fmt: skip
    return Subject(name, weight, kind, terms, start)


def _later(place: float) -> float:
    """What is said late in a long message is less what it is about."""
    return min(place, 100) / 100


def _trimmed(kinds: list[float], start: int, end: int, kind: float) -> tuple[int, int]:
    """The run without what is said of it: `acme deadline`, `project status`."""
    last = end
    least = SPECIFIC if kind == NAME else min(kind, THING)
    while kinds[last - 1] < least or (kinds[last - 1] == RELATIONAL and kind > RELATIONAL):
        last -= 1
    return start, last


def _setting(words: list[Word], start: int, kinds: list[float]) -> float:
    """What stands before a run says of it."""
    at, held = start - 1, False
    while at >= 0 and words[at].folded in _HOLDERS and not words[at].ends:
        held, at = True, at - 1
    before = words[at].folded if at >= 0 and not (words[at].ends and not words[at].owns) else ""
    weight = _HELD if held else 0.0
    if before in _ABOUT_WORDS:
        return weight + _ABOUT
    if before in _SOME_WORDS:
        destination = before == "to" and kinds[start] == NAME
        part = before == "of" and at > 0 and kinds[at - 1] >= SPECIFIC  # `the sidebar of the site`
        return weight + (0.0 if destination or part else _SOME)
    if before in _BESIDE_WORDS:
        return weight + _BESIDE
    return weight


def terms_of(found: Iterable[Subject], least: float = NOUN) -> frozenset[str]:
    """The terms of those that are more than relational and plain."""
    return frozenset(
        term for s in found if s.kind >= least and s.kind != RELATIONAL for term in s.terms
    )
