"""Passages: the pieces of a file that recall returns, cut at block borders.

A passage is a top-level bullet with everything under it, a paragraph, a fence, a quote or a front
matter, always with the headings it stands under. Longer ones are cut between lines, a long line
between sentences: pieces of nearly equal length rank fairly against each other.
"""

from __future__ import annotations

import json
import re
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass, replace

from agent_memfas.text.days import parse_day
from agent_memfas.text.documents import Block, Document
from agent_memfas.text.entries import Tag, entries
from agent_memfas.text.marks import safe_cut, without_comments
from agent_memfas.text.speakers import speaker_of

LONGEST = 360
_DAY_IN_HEADING = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
_SENTENCE_ENDS = ("。", "！", "？", "；", ". ", "! ", "? ", "; ", ", ", "，", " ")


@dataclass(frozen=True)
class Passage:
    """start, end: lines, 0-based, end exclusive (pieces of one long line share it). heading: the
    headings above, outermost first. day: ISO, the entry's own or its heading's, else "". tag: of
    the entry it is (or is a piece of). opens: it is the first piece of its bullet or paragraph.
    speaker: who says it, see text/speakers.
    """

    start: int
    end: int
    heading: tuple[str, ...]
    day: str
    tag: Tag | None
    text: str
    opens: bool = True
    speaker: str = ""


def passages(document: Document) -> list[Passage]:
    """The passages of a markdown document, in order. Linear; never fails.

    What OpenClaw's dreaming keeps in a daily note repeats other lines: it is left out.
    """
    lines, found, managed = document.text_lines, list[Passage](), document.managed
    tags = {entry.start: entry.tag for entry in entries(document)}
    covered = 0
    if front := document.front_matter:
        found += _under(document, front.start + 1, front.end - 1, None)
        covered = front.end
    for block in document.blocks:
        if block.start < covered or block.start in managed or not _starts_passage(block, document):
            continue
        covered = block.end
        text = "\n".join(lines[block.start : block.end])
        if "<!--" not in text or without_comments(text).strip():
            found += _under(document, block.start, block.end, tags.get(block.start))
    return found


def _starts_passage(block: Block, document: Document) -> bool:
    if block.kind == "item":
        return block.depth == 1
    if block.kind == "heading":
        return block.depth == 0 and _is_bare(block, document)
    return block.depth == 0 and block.kind not in ("list", "rule")


def _is_bare(heading: Block, document: Document) -> bool:
    """A heading with nothing under it is all there is to find of its section. One with a deeper
    heading under it is not: it stands above all that follows there.
    """
    after = next((n for n in range(heading.end, len(document.lines))
                  if document.text_lines[n].strip()), None)  # fmt: skip
    if after is None:
        return True
    following = bisect_left(document.headings, after, key=lambda h: h.start)
    return any(
        h.start == after and h.level <= heading.level
        for h in document.headings[following : following + 1]
    )


def records(document: Document) -> list[Passage]:
    """The lines of a JSONL file, one passage each: its values as text. Broken lines as they are."""
    found = []
    for n, line in enumerate(document.text_lines):
        if not line.strip():
            continue
        try:
            record = json.loads(line)
        except (ValueError, RecursionError):
            record = None
        if isinstance(record, dict) and "_schema" in record:
            continue
        day = str(record.get("date", ""))[:10] if isinstance(record, dict) else ""
        day = day if parse_day(day) else ""
        found += [
            Passage(n, n + 1, (), day, None, piece, opens=not part)
            for part, piece in enumerate(cut_line(line))
        ]  # fmt: skip
    return found


def plain(document: Document) -> list[Passage]:
    """The paragraphs of a file that is no markdown (JSON, a log), under no heading. Linear."""
    lines, found, first = document.text_lines, list[Passage](), 0
    for n, line in enumerate((*lines, "")):
        if not line.strip():
            found += _pieces(lines, first, n, Passage(first, n, (), "", None, ""))
            first = n + 1
    return found


def _under(document: Document, start: int, end: int, tag: Tag | None) -> list[Passage]:
    """Lines start..end of a markdown document, under their headings."""
    heading = document.heading_path(start)
    day = tag.date.isoformat() if tag and tag.date else _heading_day(heading)
    whole = Passage(start, end, heading, day, tag, "", True, speaker_of(document.text_lines[start]))
    return _pieces(document.text_lines, start, end, whole)


def _pieces(lines: Sequence[str], start: int, end: int, whole: Passage) -> list[Passage]:
    """Lines start..end as passages of at most LONGEST characters; the rest is as of the whole."""
    found, first, size = list[Passage](), start, 0

    def close(last: int) -> None:
        text = "\n".join(lines[first:last]).strip("\n")
        if text.strip():
            found.append(replace(whole, start=first, end=last, text=text, opens=not found))

    for n in range(start, end):
        length = len(lines[n]) + 1
        if size and size + length > LONGEST:
            close(n)
            first, size = n, 0
        if length > LONGEST:
            if size:
                close(n)
            for piece in cut_line(lines[n]):
                found.append(replace(whole, start=n, end=n + 1, text=piece, opens=not found))
            first, size = n + 1, 0
        else:
            size += length
    if first < end:
        close(end)
    return found


def _heading_day(heading: tuple[str, ...]) -> str:
    for text in reversed(heading):
        match = _DAY_IN_HEADING.search(text)
        if match and parse_day(match[0]):
            return match[0]
    return ""


def cut_line(line: str, longest: int = LONGEST) -> list[str]:
    """A line as pieces of at most `longest` characters, cut at the ends of sentences, else words;
    without those that are blank.
    """
    pieces, at = [], 0
    while len(line) - at > longest:
        window = line[at : at + longest]
        cut = next(
            (place + len(end) for end in _SENTENCE_ENDS
             if (place := window.rfind(end)) >= longest // 3), longest,
        )  # fmt: skip
        cut = safe_cut(window + line[at + longest : at + longest + 1], cut)
        pieces.append(line[at : at + cut])
        at += cut
    pieces.append(line[at:])
    return [piece for piece in pieces if piece.strip()]
