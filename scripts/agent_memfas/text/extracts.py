"""Reflection without a model: the lines of a log that are worth keeping, in their own words."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from agent_memfas.text.citations import WIDE, Citation, is_telling, words_of
from agent_memfas.text.cues import MARKED, STRONG, WEAK, cue_of
from agent_memfas.text.documents import Document
from agent_memfas.text.gist import is_formal
from agent_memfas.text.importance import importance
from agent_memfas.text.insights import Insight, harmless, write_line
from agent_memfas.text.logs import Unit, code_lines, day_of, units
from agent_memfas.text.named_files import files_in, is_change_by_git, says_changed
from agent_memfas.text.salient import Frequencies, excerpt, salient
from agent_memfas.text.secrets import find as find_secrets
from agent_memfas.text.section_names import (
    DECISIONS,
    FILES,
    INTENT,
    LESSONS,
    OPEN_ITEMS,
    PATTERNS,
    section_named,
)
from agent_memfas.text.speakers import speaker_of
from agent_memfas.text.statements import (
    LONGEST,
    WHOLE,
    Statement,
    bare,
    beginning,
    is_label,
    said_in,
    sentences_of,
    statements,
)
from agent_memfas.text.themes import Theme
from agent_memfas.text.tokens import estimate

FLOOR = 160  # tokens that the insights of a log may have, be it short
LEAST = 2  # of a tiny one so many for each of its own: citations are longer than its lines
FIRST, DENSE = 1000, 3  # of the first so many tokens one in so many
MOST = 12  # insights of a section
MOST_FILES = 12
STATED = 7  # the least importance of what the writer calls a decision or a lesson
SHORT = 160  # characters of a note that is told whole
QUOTE = 80  # characters that show a theme


@dataclass(frozen=True)
class Piece:
    """Lines of a log to reflect on. document: the whole log, known: how rare words are
    in the logs around it. themes: what recurs, found over several logs.
    """

    document: Document
    where: Citation
    known: Frequencies
    themes: Sequence[Theme] = ()

    @cached_property
    def code(self) -> set[int]:
        """Its lines of code, 1-based."""
        return {n + 1 for n in code_lines(self.document)}

    @cached_property
    def units(self) -> list[Unit]:
        """Its passages, without those that hold a secret and without headings."""
        headings = {heading.start + 1 for heading in self.document.headings}
        found = units(self.document, self.where.start, self.where.end)
        return [u for u in found if u.start not in headings and not find_secrets(u.text)]

    @cached_property
    def statements(self) -> list[tuple[Unit, Statement]]:
        """What its passages say; nothing of code."""
        found = list[tuple[Unit, Statement]]()
        for unit in self.units:
            if unit.code:
                continue
            lines = unit.text.split("\n")
            kept = ["" if unit.start + n in self.code else line for n, line in enumerate(lines)]
            text = "\n".join(kept)
            found += [
                (unit, one) for one in statements(text, unit.start, unit.label, opens=unit.opens)
            ]
        return found


def extract(piece: Piece, ratio: int) -> list[Insight]:
    """The insights of a piece of a log: quotations all, the weightiest first to get a place.

    ratio: see `room_for`. What the writer marked himself (headings, labels, open tasks) and changed
    files are no question of room.
    """
    where = piece.where
    size = estimate("\n".join(piece.document.text_lines[where.start - 1 : where.end]))
    chosen = _Chosen(room_for(size, ratio))
    cued = sorted(_cued(piece), key=lambda c: (-c.importance, c.insight.cites[0].start))
    marked, strong, weak = (
        [one.insight for one in cued if one.strength == strength]
        for strength in (MARKED, STRONG, WEAK)
    )
    chosen.take_all([*marked, *_changed_files(piece)], free=True)
    chosen.take_all(strong)
    chosen.take_all([*_recurring(piece, chosen), *_headings(piece), *weak])
    chosen.take_all(_mentioned_files(piece, chosen))
    chosen.take_all(_telling(piece, chosen))
    return sorted(chosen.insights, key=lambda i: (i.section, i.cites[0].start))


def room_for(size: int, ratio: int) -> int:
    """Tokens of insight for a log of so many: a third of the first 1,000 and one for each `ratio`
    of the rest; a short log has FLOOR, a tiny one LEAST times its own.

    A short day says little that is not asked for later, a long one repeats itself: of LoCoMo's
    logs (1,000 tokens) a third holds evidence for 84 % of the questions, a tenth for 62 %; of
    BEAM's (7,000) a fifth did for 96 %.
    """
    share = min(size, FIRST) // min(DENSE, ratio) + max(size - FIRST, 0) // ratio
    return max(share, min(FLOOR, LEAST * size))


class _Chosen:
    """Insights as they are taken, each text once, as long as there is room."""

    def __init__(self, room: int) -> None:
        self.room = self.left = room
        self.insights, self.lines = list[Insight](), set[int]()
        self._texts, self._counts = set[str](), dict[str, int]()

    def take_all(self, insights: Iterable[Insight], *, free: bool = False) -> None:
        """Take them one after the other."""
        for insight in insights:
            self.take(insight, free=free)

    def take(self, insight: Insight, *, free: bool = False) -> None:
        """Take one, if there is room. What is free leaves half of the room to the others.

        Its words are made harmless here. What is too short to prove anything is not taken.
        """
        count = self._counts.get(insight.section, 0)
        if count >= self._most(insight.section) or (self._cost(insight) > self.left and not free):
            return
        insight = replace(insight, text=self._harmless(insight), quote=harmless(insight.quote))
        words = words_of(insight.shown)
        key, cost = " ".join(words_of(f"{insight.text} {insight.quote}")), self._cost(insight)
        if key in self._texts or not (is_telling(words) and any(map(_is_word, words))):
            return
        self._texts.add(key)
        self._counts[insight.section] = count + 1
        left = self.left - cost
        self.left = max(left, min(self.left, self.room // 2)) if free else left
        self.insights.append(insight)
        self.lines.update(range(insight.cites[0].start, insight.cites[0].end + 1))

    def _cost(self, insight: Insight) -> int:
        return estimate(write_line(insight)) + 1

    def _harmless(self, insight: Insight) -> str:
        box = "[ ] " if insight.section == OPEN_ITEMS and not insight.quote else ""
        return box + harmless(insight.text)

    def _most(self, section: str) -> float:
        return {FILES: MOST_FILES, INTENT: float("inf")}.get(section, MOST)

    def says(self, words: str) -> bool:
        """Whether an insight holds these words already."""
        return any(words in f"{insight.text} {insight.quote}" for insight in self.insights)


@dataclass(frozen=True)
class _Cued:
    insight: Insight
    strength: int
    importance: int


def _cued(piece: Piece) -> Iterator[_Cued]:
    """What statements are by their words, or by the marks of the writer."""
    for unit, statement in piece.statements:
        for said in said_in(statement, talk=bool(unit.speaker)):
            cite = Citation(piece.where.path, statement.start, statement.end)
            speaker = "" if said.opens else unit.speaker
            insight = _insight(said.cue.section, said.text, cite, speaker)
            stated = said.cue.strength == MARKED and said.cue.section in (DECISIONS, LESSONS)
            if stated and importance(said.text) < STATED:
                insight = replace(insight, importance=STATED)
            yield _Cued(insight, said.cue.strength, unit.importance)


def _insight(section: str, words: str, cite: Citation, speaker: str) -> Insight:
    """Words under a section; behind who says them, where they do not begin with that."""
    if speaker and not words.startswith(speaker):
        return Insight(section, f"{speaker}:", (cite,), words)
    return Insight(section, words, (cite,))


def _is_word(word: str) -> bool:
    return not word.isdigit()


def _telling(piece: Piece, chosen: _Chosen) -> Iterator[Insight]:
    """The lines that are most likely to be asked for, and of each the part that tells most."""
    where, lines = piece.where, piece.document.text_lines
    listed = {one.start - 1 for _, one in piece.statements if one.label == FILES}
    hidden = piece.document.opaque | {line - 1 for line in chosen.lines} | listed
    talking = {
        line for unit in piece.units if unit.speaker for line in range(unit.start, unit.end + 1)
    }
    for n in salient(
        lines[where.start - 1 : where.end], piece.known, chosen.left, each=estimate(str(where)) + 4,
        opaque={line - where.start + 1 for line in hidden},
    ):  # fmt: skip
        at = where.start + n
        line = lines[at - 1]
        whole = bare(line)
        if is_label(whole) or find_secrets(line):
            continue
        short = at not in talking and len(whole) <= SHORT
        words = whole if short else beginning(excerpt(line, piece.known), LONGEST)
        speaker = speaker_of(line) if at in talking else ""
        yield _insight(INTENT, words, Citation(where.path, at, at), speaker)


def _recurring(piece: Piece, chosen: _Chosen) -> Iterator[Insight]:
    """What recurs over days and is spoken of here, too: with what is said of it here."""
    own = str(day_of(piece.where.path) or "")
    said = [
        (unit, statement, f" {' '.join(words_of(statement.text))} ")
        for unit, statement in piece.statements
    ]
    found = list[tuple[bool, int, Theme, Statement]]()
    for theme in piece.themes if said else ():
        about = [
            (unit.importance, -one.start, one) for unit, one, words in said
            if (theme.named or not unit.speaker) and theme.is_in(words)
        ] if theme.is_due(own) else []  # fmt: skip
        if about:
            best, _, statement = max(about, key=lambda a: (a[2].start not in chosen.lines, *a[:2]))
            found.append((theme.named, best, theme, statement))
    found.sort(key=lambda f: (-f[0], -f[1]))
    for _, _, theme, statement in found[: max(1, chosen.room // FLOOR)]:
        cites = (Citation(piece.where.path, statement.start, statement.end),)
        more = f"on {theme.is_due(own) - 1} days before, last {theme.before(own)}"
        yield Insight(
            PATTERNS, f"{theme.term}, {more}:", cites, _around(statement.text, theme.term)
        )


def _around(text: str, term: str) -> str:
    """The words of a text around a term, cut between words."""
    if len(text) <= QUOTE:
        return text
    at = max(0, text.casefold().find(term.casefold()))
    start = 0 if at + len(term) <= QUOTE else text.rfind(" ", 0, max(0, at - QUOTE // 3)) + 1
    if start == 0 and at + len(term) > QUOTE:
        start = max(0, at - QUOTE // 3)
    return beginning(text[start:], max(QUOTE, at + len(term) - start))


def _changed_files(piece: Piece) -> Iterator[Insight]:
    """Sentences that say which files were changed, and what git has printed of that."""
    seen = set[str]()
    listed = [one for _, one in piece.statements if one.label == FILES]
    others = [one for _, one in piece.statements if one.label != FILES]
    said = [(one, one.text, True) for one in listed]
    said += [(one, sentence, False) for one in others for sentence in sentences_of(one.text)]
    for one, text, sure in said:
        files = {named.name for named in files_in(text)}
        if not files <= seen and (sure or (says_changed(text) and not _is_weighty(text))):
            seen |= files
            yield _insight(FILES, beginning(text.strip(), WHOLE),
                           Citation(piece.where.path, one.start, one.end), "")  # fmt: skip
    for n, line in _lines(piece):
        for named in files_in(line) if n in piece.code and is_change_by_git(line) else ():
            if named.name not in seen:
                seen.add(named.name)
                yield _insight(FILES, named.name, Citation(piece.where.path, n, n), "")


def _lines(piece: Piece) -> Iterator[tuple[int, str]]:
    """The lines of the passages, with their numbers; of a long line the pieces."""
    for unit in piece.units:
        for n, line in enumerate(unit.text.split("\n"), start=unit.start):
            yield min(n, unit.end), line


def _is_weighty(sentence: str) -> bool:
    """Whether it is a decision or a lesson before all."""
    cue = cue_of(sentence, talk=False)
    return cue is not None and cue.strength > WEAK and cue.section in (DECISIONS, LESSONS)


def _mentioned_files(piece: Piece, chosen: _Chosen) -> Iterator[Insight]:
    """The other files that are named, each where it stands first."""
    seen = set[str]()
    for n, line in _lines(piece):
        for named in files_in(line):
            if named.name not in seen and not chosen.says(named.name):
                # `Makefile` alone would prove nothing: with the words beside it.
                alone = is_telling(words_of(named.name))
                words = named.name if alone else _around(bare(line), named.name)
                yield _insight(FILES, words, Citation(piece.where.path, n, n), "")
            seen.add(named.name)


def _headings(piece: Piece) -> Iterator[Insight]:
    """What the sections of the piece are called, if that says what is inside."""
    where = piece.where
    for heading in piece.document.headings:
        line = heading.start + 1
        text = bare(heading.text)
        told = any((word.isalpha() and len(word) > 2) or word >= WIDE for word in words_of(text))
        formal = is_formal(text, str(day_of(where.path) or "")) or section_named(text)
        if heading.level > 1 and where.start <= line <= where.end and told and not formal:
            yield Insight(INTENT, text, (Citation(where.path, line, line),))
