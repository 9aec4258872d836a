"""Statements: what one bullet, one paragraph of a log says, and under which section it belongs."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from agent_memfas.text.cues import MARKED, STRONG, Cue, cue_of
from agent_memfas.text.entries import read_tag
from agent_memfas.text.marks import find_comments, safe_cut
from agent_memfas.text.section_names import (
    DECISIONS,
    FILES,
    INTENT,
    LESSONS,
    OPEN_ITEMS,
    PATTERNS,
    label_of,
    section_named,
)

WHOLE = 240  # characters of a statement that is taken whole
LONGEST = 500  # of one sentence; a longer one is cut between words
_LEAD = re.compile(r"^\s*(?:>\s*)*(?:(?:[-*+•]|[0-9]{1,9}[.)])\s+)?")
_ITEM = re.compile(r"^\s*(?:[-*+•]|[0-9]{1,9}[.)])\s+")
_TIME = re.compile(
    r"^[*_\[(]{0,3}[0-9]{1,2}:[0-9]{2}(?::[0-9]{2})?(?: ?[AaPp][Mm])?[*_\])]{0,3}\s*[-–—:|,]?\s+"
)
_TASK = re.compile(r"^(?:\[ \]|[☐⬜🔲])\s*")
_DONE = re.compile(r"^(?:\[[xX]\]|[☑✅✔]\ufe0f?)\s*|^~~.*~~$", re.DOTALL)
_SENTENCE = re.compile(r"(?<=[.!?])[\"'”’)]?\s+|(?<=[。！？；])[”’」』）]?")
_ABBREVIATED = re.compile(
    r"(?:\b(?:e\.g|i\.e|etc|vs|cf|approx|dr|mr|mrs|ms|prof|st|no|nr|ca|bzw|usw|z\. ?b|d\. ?h"
    r"|inkl|ggf)"
    r"|\b[A-Z])\.$", re.IGNORECASE,
)  # fmt: skip
_CONFLICT = re.compile(r"(?:<{7}|={7}|>{7})(?:\s|$)")
_LABELLED = re.compile(r"[:：]\s*[*_]{0,3}$|^(?:\*\*|__)[^*_]+(?:\*\*|__)$")


@dataclass(frozen=True)
class Statement:
    """start, end: its lines, 1-based, inclusive. text: without bullet, time, box and label. label:
    the section that a heading, a label or a task box asks for. done: its box is ticked. opens: it
    begins what its speaker says.
    """

    start: int
    end: int
    text: str
    label: str | None = None
    done: bool = False
    opens: bool = True


@dataclass(frozen=True)
class Said:
    """A part of a statement that belongs under a section. opens: as of the statement."""

    cue: Cue
    text: str
    opens: bool


def statements(text: str, start: int, label: str | None, *, opens: bool) -> Iterator[Statement]:
    """A passage as statements: nested bullets are statements of their own.

    start: its first line, 1-based. label: the section that stands above it. opens: it is no later
    piece of a long line. A label alone (`Next steps:`) is none, and says what follows it is.
    """
    lines = _commentless(text).split("\n")
    first, held = 0, list[str]()
    own = label
    for n, line in enumerate([*lines, "- "]):
        prose = _ITEM.match(held[0]) is not None and line[:1].strip() != "" if held else False
        if held and (prose or _ITEM.match(line)):
            found = _statement(held, start + first, own, opens=opens or first > 0)
            if found is not None and is_label(found.text) and not found.done:
                own = section_named(found.text) or own
            elif found is not None:
                yield found
            held, first = [], n
        held.append("" if _CONFLICT.match(line) else line)


def _commentless(text: str) -> str:
    """A text without the comments at the ends of its lines; line ends are kept. One in the middle
    stays, for what is told must stand there word for word.
    """
    kept, at = list[str](), 0
    for start, end, _ in find_comments(text):
        if not text[end:].partition("\n")[0].strip():
            kept += [text[at:start].rstrip(" \t"), "\n" * text.count("\n", start, end)]
            at = end
    return "".join([*kept, text[at:]])


def _statement(
    lines: Sequence[str], start: int, label: str | None, *, opens: bool
) -> Statement | None:
    text, done, box = _bare(lines)
    if not any(map(str.isalnum, text)):
        return None
    own, rest = label_of(text)
    if own is not None and any(map(str.isalnum, rest)):
        label, text = own, rest
    end = start + len(lines) - 1
    return Statement(start, end, text, OPEN_ITEMS if box else label, done, opens)


def _bare(lines: Sequence[str]) -> tuple[str, bool, bool]:
    """Lines as one text without what stands before it; whether it is a done task, an open one."""
    tagged = read_tag(lines[0])
    first = tagged[1] if tagged else lines[0]
    first, done, box = _LEAD.sub("", first, count=1), False, False
    for _ in range(3):  # a box before the time or behind it
        if match := _TASK.match(first):
            first, box = first[match.end() :], True
        elif match := _DONE.match(first):
            first, done = (first[match.end() :] or first.strip("~")), True
        elif match := _TIME.match(first):
            first = first[match.end() :]
    rest = (line.strip() for line in lines[1:])
    return " ".join(filter(None, [first.strip(), *rest])), done, box


def is_label(text: str) -> bool:
    """Whether a text only says what follows: `Next steps:`."""
    return len(text) <= 60 and _LABELLED.search(text) is not None


def bare(text: str) -> str:
    """A line or more without bullet, time, box, tags and comments."""
    return _bare(_commentless(text).split("\n"))[0]


def said_in(statement: Statement, *, talk: bool) -> list[Said]:
    """What a statement says under which sections. talk: it was said to somebody."""
    sentences = sentences_of(statement.text)
    if statement.label in (DECISIONS, LESSONS, OPEN_ITEMS, INTENT, PATTERNS):
        if statement.done:
            return []
        cue = Cue(statement.label, MARKED)
        return [Said(cue, _joined(sentences, 0, len(sentences))[0], statement.opens)]
    if statement.label == FILES:
        return []
    cues = [cue_of(sentence, talk=talk) for sentence in sentences]
    if statement.done:
        kept = (DECISIONS, LESSONS)
        cues = [c if c and c.section in kept and c.strength >= STRONG else None for c in cues]
    return list(_grouped(statement, sentences, cues))


def _grouped(
    statement: Statement, sentences: Sequence[str], cues: Sequence[Cue | None]
) -> Iterator[Said]:
    """Sentences with a cue, each with those around it that have none, as long as there is room."""
    at = 0
    marked = [n for n, cue in enumerate(cues) if cue]
    if marked and sum(map(len, sentences[: marked[0] + 1])) > WHOLE:
        at = marked[0]
    while at < len(sentences):
        first = next((n for n in marked if n >= at), None)
        if first is None:
            return
        cue = cues[first]
        assert cue is not None
        stop = next((n for n in marked if n > first and not _is_like(cues[n], cue)), len(sentences))
        text, end = _joined(sentences, at, stop)
        best = max((c.strength for c in cues[at:end] if c), default=cue.strength)
        yield Said(Cue(cue.section, best), text, statement.opens and at == 0)
        at = end
        while at < len(sentences) and cues[at] is None:
            at += 1


def _is_like(other: Cue | None, cue: Cue) -> bool:
    return other is not None and other.section == cue.section


def _joined(sentences: Sequence[str], start: int, stop: int) -> tuple[str, int]:
    """Sentences from start on, as many as have room, one at least; and where the next begins."""
    end, size = start + 1, len(sentences[start])
    while end < stop and size + len(sentences[end]) <= WHOLE:
        size += len(sentences[end])
        end += 1
    return beginning("".join(sentences[start:end]).strip(), LONGEST), end


def sentences_of(text: str) -> list[str]:
    """The sentences of a text, with the blanks behind them: joined they are the text."""
    found, start = list[str](), 0
    for match in _SENTENCE.finditer(text):
        piece = text[start : match.end()]
        follows = text[match.end() : match.end() + 1]
        if follows.islower() or _ABBREVIATED.search(piece.rstrip()[-8:]):
            continue
        found.append(piece)
        start = match.end()
    if text[start:].strip():
        found.append(text[start:])
    return found or [text]


def beginning(text: str, most: int) -> str:
    """The text, or its beginning up to the end of a word."""
    if len(text) <= most:
        return text
    space = text.rfind(" ", most // 2, most)
    return text[: space if space > 0 else safe_cut(text, most)]
