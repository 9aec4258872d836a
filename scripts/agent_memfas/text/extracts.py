"""Reflection without a model: the lines of a log that are worth keeping, in their own words."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

from agent_memfas.text.citations import WIDE, Citation, words_of
from agent_memfas.text.documents import Document
from agent_memfas.text.entries import read_tag
from agent_memfas.text.importance import DECISION, INTENT, LESSON, OPEN
from agent_memfas.text.insights import Insight, harmless, write_line
from agent_memfas.text.logs import Unit, day_of, units
from agent_memfas.text.marks import without_comments
from agent_memfas.text.salient import Frequencies, excerpt, salient
from agent_memfas.text.secrets import find as find_secrets
from agent_memfas.text.speakers import speaker_of
from agent_memfas.text.themes import LEAST_DAYS, Theme
from agent_memfas.text.tokens import estimate

FLOOR = 160  # tokens that the insights of any log may have
MOST = {"Session Intent": 6, "Files Modified": 12, "Decisions Made": 12, "Lessons Learned": 12,
        "Open Items": 12}  # fmt: skip
WHOLE = 240  # characters of a passage that is taken whole
_BULLET = re.compile(r"^\s*(?:[-*+]|[0-9]{1,9}[.)])\s+(?:[0-9]{1,2}:[0-9]{2}(?::[0-9]{2})?\s+)?")
_DONE = re.compile(r"^\s*[-*+] \[[xX]\] ")
_TASK = re.compile(r"^\[ \] ")
_SENTENCE = re.compile(r"(?<=[.!?])\s+|(?<=[。！？；])")
_FILE = re.compile(
    r"(?<![\w/:@.~-])(?:~?\.{0,2}/)?(?:[\w.@+-]+/)*[\w@+-][\w.@+-]*\.[A-Za-z][A-Za-z0-9]{0,7}(?![\w/@-])"
)
_SUFFIXES = frozenset(
    """
    py pyi js jsx ts tsx mjs cjs go rs c h cc cpp hpp java kt swift rb php cs scala lua pl r jl sh
    bash zsh fish ps1 sql md markdown rst txt json jsonl yaml yml toml ini cfg conf env xml html css
    scss vue svelte ipynb csv tsv lock dockerfile tf proto gradle make mk service plist patch diff
    png jpg jpeg svg pdf docx xlsx pptx log db sqlite
    """.split()
)


@dataclass(frozen=True)
class Piece:
    """Lines of a log to reflect on. document: the whole log, known: how rare words are
    in the logs around it. themes: what recurs, found over several logs.
    """

    document: Document
    where: Citation
    known: Frequencies
    themes: Sequence[Theme] = ()


def extract(piece: Piece, ratio: int) -> list[Insight]:
    """The insights of a piece of a log: quotations all, the weightiest first to get a place.

    ratio: tokens of the log for each of insight; the insights of any log have room for FLOOR.
    """
    where = piece.where
    found = [unit for unit in units(piece.document, where.start, where.end)
             if not find_secrets(unit.text)]  # fmt: skip
    text = "\n".join(piece.document.text_lines[where.start - 1 : where.end])
    room = max(FLOOR, estimate(text) // ratio)
    chosen = _Chosen(room)
    cued = [(unit.importance, insight) for unit in found
            for insight in _by_cue(where.path, unit)]  # fmt: skip
    for _, insight in sorted(cued, key=lambda i: (-i[0], i[1].cites[0].start)):
        chosen.take(insight)
    recurring = list(_patterns(where.path, found, piece.themes))
    for insight in [*recurring[:2], *_files(where.path, found), *_headings(piece), *recurring[2:]]:
        chosen.take(insight)
    for insight in _telling(piece, chosen.lines, chosen.left):
        chosen.take(insight, limited=False)
    return sorted(chosen.insights, key=lambda i: (i.section, i.cites[0].start))


class _Chosen:
    """Insights as they are taken, each text once, as long as there is room."""

    def __init__(self, room: int) -> None:
        self.left, self.insights, self.lines = room, list[Insight](), set[int]()
        self._texts, self._counts = set[str](), dict[str, int]()

    def take(self, insight: Insight | None, *, limited: bool = True) -> None:
        if insight is None or not insight.text:
            return
        key = f"{insight.text} {insight.quote}".casefold().removeprefix("[ ] ")
        cost = estimate(write_line(insight)) + 1
        count = self._counts.get(insight.section, 0)
        full = limited and count >= MOST.get(insight.section, 8)
        if key in self._texts or full or cost > self.left:
            return
        self._texts.add(key)
        self._counts[insight.section] = count + 1
        self.left -= cost
        self.insights.append(insight)
        self.lines.add(insight.cites[0].start)


def bare(text: str) -> str:
    """A passage without its bullet, the time and the tags at its head."""
    tagged = read_tag(text.partition("\n")[0])
    rest = text.partition("\n")[2]
    first = tagged[1] if tagged else _BULLET.sub("", text.partition("\n")[0], count=1)
    return without_comments(f"{first}\n{rest}" if rest else first).strip()


def _by_cue(path: str, unit: Unit) -> Iterator[Insight]:
    """What a passage is by the words in it: an open item, a decision, a lesson, an aim."""
    if _DONE.match(unit.text):
        return
    cues = [("Decisions Made", DECISION), ("Lessons Learned", LESSON), ("Open Items", OPEN),
            ("Session Intent", INTENT)]  # fmt: skip
    for section, cue in cues if not _TASK.match(bare(unit.text)) else cues[2:3]:
        if cue.search(unit.text):
            insight = _said(section, path, unit, cue)
            if insight is not None:
                yield insight
                return


def _telling(piece: Piece, taken: Collection[int], room: int) -> Iterator[Insight]:
    """The lines that are most likely to be asked for, and of each the part that tells most."""
    where, lines = piece.where, piece.document.text_lines
    hidden = piece.document.opaque | {line - 1 for line in taken}
    for n in salient(
        lines[where.start - 1 : where.end], piece.known, room, each=estimate(str(where)) + 4,
        opaque={line - where.start + 1 for line in hidden},
    ):  # fmt: skip
        at = where.start + n
        words = harmless(excerpt(lines[at - 1], piece.known))
        cites = (Citation(where.path, at, at),)
        if not words or find_secrets(lines[at - 1]):
            continue
        speaker = harmless(speaker_of(lines[at - 1]))
        if speaker and not words.startswith(speaker):
            yield Insight("Session Intent", f"{speaker}:", cites, words)
        else:
            yield Insight("Session Intent", words, cites)


def _said(section: str, path: str, unit: Unit, cue: re.Pattern[str]) -> Insight | None:
    """A passage, of a long one the sentences around the cue."""
    text = _TASK.sub("", bare(unit.text))
    sentences = [s for s in _SENTENCE.split(text) if s.strip()]
    start, speaker = 0, ""
    if len(text) > WHOLE and len(sentences) > 1:
        start = next((n for n, s in enumerate(sentences) if cue.search(s)), 0)
        end = start + 1
        while end < len(sentences) and len(" ".join(sentences[start : end + 1])) <= WHOLE:
            end += 1
        text = " ".join(sentences[start:end])
        speaker = harmless(unit.speaker) if start or not unit.opens else ""
    words = harmless(text)
    if not words:
        return None
    cites = (Citation(path, unit.start, unit.end),)
    if speaker:
        return Insight(section, f"{speaker}:", cites, words)
    head = "[ ] " if section == "Open Items" else ""
    return Insight(section, head + words, cites)


def _patterns(path: str, found: Sequence[Unit], themes: Sequence[Theme]) -> Iterator[Insight]:
    """What recurs over days and is spoken of here, too: with what is said of it here."""
    own = str(day_of(path) or "")
    for theme in themes:
        before = [day for day in theme.days if day < own]
        unit = next((u for u in found if theme.is_in(u.text)), None)
        if unit is None or len(before) < LEAST_DAYS - 1:
            continue
        words = harmless(_beginning(bare(unit.text), 120))
        more = f"on {len(before)} days before, last {before[-1]}"
        yield Insight("Patterns", f"{harmless(theme.term)}, {more}:",
                      (Citation(path, unit.start, unit.end),), words)  # fmt: skip


def _beginning(text: str, most: int) -> str:
    """The text, or its beginning up to the end of a word."""
    if len(text) <= most:
        return text
    space = text.rfind(" ", most // 2, most)
    return text[: space if space > 0 else most]


def _files(path: str, found: Sequence[Unit]) -> Iterator[Insight]:
    """The files that are named, each where it stands first."""
    seen = set[str]()
    for unit in found:
        for match in _FILE.finditer(unit.text):
            name = match[0].rstrip(".")
            if name.rpartition(".")[2].lower() in _SUFFIXES and name not in seen:
                seen.add(name)
                line = unit.start + unit.text.count("\n", 0, match.start())
                end = max(line, min(line, unit.end))
                yield Insight("Files Modified", harmless(name), (Citation(path, line, end),))


def _headings(piece: Piece) -> Iterator[Insight]:
    """What the sections of the piece are called."""
    where = piece.where
    for heading in piece.document.headings:
        line = heading.start + 1
        text = harmless(heading.text)
        told = any((word.isalpha() and len(word) > 2) or word >= WIDE for word in words_of(text))
        if heading.level > 1 and where.start <= line <= where.end and told:
            yield Insight("Session Intent", text, (Citation(where.path, line, line),))
