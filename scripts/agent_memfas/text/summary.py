"""What one file says, in one line, and the figures of an overview: extracted, never invented."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from pathlib import PurePosixPath

from agent_memfas.text.days import parse_day
from agent_memfas.text.documents import Document, parse
from agent_memfas.text.entries import Tag, entries
from agent_memfas.text.gist import describe, read_titles
from agent_memfas.text.keywords import MOST_CHARACTERS, keywords
from agent_memfas.text.lines import plain, shorten
from agent_memfas.text.marks import without_comments
from agent_memfas.text.secrets import mask
from agent_memfas.text.tokens import estimate
from agent_memfas.text.topics import Topics, speakers_in, topics_of

MOST_CATEGORIES = 5
SMALL = 40  # tokens: a line has room for all of it
_DAY = re.compile(r"(?<![0-9])[0-9]{4}-[0-9]{2}-[0-9]{2}(?![0-9])")
_MONTH = re.compile(r"(?<![0-9])[0-9]{4}-(?:0[1-9]|1[0-2])(?![0-9-])")


@dataclass(frozen=True)
class Summary:
    """One file. says: one line, safe inside markdown, "" where the file says nothing.

    first, last: the earliest and latest day it speaks of, ISO (a month where only that is known),
    or "". counts: entries of P0, P1, P2. tokens: estimated. sections: headings that have something
    under them. terms: (word, weight). topics: what it is about beside what it says; none where it
    says it all. is_talk: it is a conversation, and says who talks.
    """

    says: str
    first: str = ""
    last: str = ""
    counts: tuple[int, int, int] = (0, 0, 0)
    tokens: int = 0
    sections: tuple[str, ...] = ()
    terms: tuple[tuple[str, int], ...] = ()
    topics: Topics = ()
    is_talk: bool = False


def summarize(name: str, data: bytes) -> Summary | None:
    """The summary of a text file, by its name's ending. None: it is not UTF-8.

    name: the file's own name, without a folder. Never fails on what the file holds.
    """
    document = parse(data)
    if not document.decodable:
        return None
    stem, ending = PurePosixPath(name).stem, PurePosixPath(name).suffix.lower()
    if ending == ".jsonl":
        return _records(stem, document)
    if ending == ".json":
        text = "\n".join(document.text_lines)
        return Summary(_json(text), *_span(stem, []), tokens=estimate(text))
    return _markdown(stem, document)


def _markdown(stem: str, document: Document) -> Summary:
    found = [entry.tag for entry in entries(document)]
    titles, sections = read_titles(stem, document)
    days = [tag.date.isoformat() for tag in found if tag.date and tag.sound]
    visible = [h.text for h in document.headings if h.start not in document.opaque]
    days += [day for text in visible for day in _days(text)]
    text = "\n".join(document.text_lines)
    prose = [line for n, line in enumerate(document.text_lines) if n not in document.opaque]
    tokens = estimate(text)
    talking = speakers_in(prose)
    says = describe(document, titles, sections)
    if talking:
        who = ", ".join(map(plain, talking))
        says = f"{shorten(titles[0], 12)} ({who})" if titles else who
    return Summary(
        shorten(says) if text.strip() else "empty",
        *_span(stem, days),
        counts=(_count(found, "P0"), _count(found, "P1"), _count(found, "P2")),
        tokens=tokens,
        sections=tuple(sections),
        terms=_terms(prose),
        topics=_topics(prose, talking) if tokens > SMALL or talking else (),
        is_talk=bool(talking),
    )


def _count(tags: list[Tag], priority: str) -> int:
    return sum(tag.priority == priority for tag in tags)


def _span(stem: str, days: list[str]) -> tuple[str, str]:
    """The first and the last day; a month in the name counts where no day is known."""
    known = [*_days(stem), *(day for day in days if parse_day(day))] or _MONTH.findall(stem)
    return min(known, default=""), max(known, default="")


def _days(text: str) -> list[str]:
    return [day for day in _DAY.findall(text) if parse_day(day)]


def _records(stem: str, document: Document) -> Summary:
    """A JSONL file: its records by category. The schema line is none of them."""
    number, broken = 0, 0
    categories, days, texts = dict[str, None](), list[str](), list[str]()
    for line in filter(str.strip, document.text_lines):
        try:
            record = json.loads(line)
        except (ValueError, RecursionError):
            broken += 1
            continue
        if isinstance(record, dict):
            if "_schema" in record:
                continue
            if isinstance(category := record.get("category"), str) and category.strip():
                categories[plain(category)] = None
            days += _days(str(record.get("date", ""))[:10])
            texts += [value for value in record.values() if isinstance(value, str)]
        number += 1
    says = f"{_number(number, 'entry', 'entries')}{_in_brackets(list(categories))}"
    says += f", {_number(broken, 'broken line', 'broken lines')}" if broken else ""
    tokens = estimate("\n".join(document.text_lines))
    return Summary(shorten(says), *_span(stem, days), tokens=tokens, terms=_terms(texts))


def _terms(texts: list[str]) -> tuple[tuple[str, int], ...]:
    return keywords(mask("\n".join(texts)[:MOST_CHARACTERS]))


def _topics(prose: list[str], talking: list[str]) -> Topics:
    masked = mask("\n".join(line for line in prose if not line.startswith("#"))[:MOST_CHARACTERS])
    return topics_of(without_comments(masked).split("\n"), talking)


def _json(text: str) -> str:
    """What a JSON file holds at its top: its keys, or how many entries."""
    if not text.strip():
        return "empty"
    try:
        tree = json.loads(text)
    except (ValueError, RecursionError):
        return "not valid JSON"
    if isinstance(tree, dict):
        keys = _in_brackets([plain(key) for key in tree])
        return shorten(f"{_number(len(tree), 'key', 'keys')}{keys}")
    return _number(len(tree), "entry", "entries") if isinstance(tree, list) else "one value"


def _number(count: int, one: str, many: str) -> str:
    return f"{count:,} {one if count == 1 else many}"


def _in_brackets(names: list[str]) -> str:
    if not names:
        return ""
    more = ", …" if len(names) > MOST_CATEGORIES else ""
    return f" ({', '.join(shorten(name, 12) for name in names[:MOST_CATEGORIES])}{more})"
