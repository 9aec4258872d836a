"""A file as units: what a merge keeps or drops as one, with the blank lines before each.

A unit of markdown is an entry or a list item with all that is indented under it, a heading, a
closed fence, comment, HTML block or front matter, what one pass of the janitor archived, a chunk
of cold storage, or else a line. From a fence or comment on that is not closed each line is one.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from agent_memfas.text.documents import Document, parse
from agent_memfas.text.record import Record
from agent_memfas.text.said import statements

ENTRY, ITEM, HEADING, BLOCK = "entry", "item", "heading", "block"
LINE, OPEN = "line", "open"
ARCHIVED = re.compile(rb"<!-- janitor (?P<id>[0-9A-Za-z-]+) -->\r?\n?")
_COLD = b"<!-- cold: "
_ABOVE = 3  # lines from the heading of a chunk to its fields, at most
_WHOLE = ("fence", "comment", "html", "code", "front matter")

Spans = dict[int, tuple[int, str]]  # first line -> (end, kind)


class Unit(Record):
    r"""raw: its lines as they are; gap: the blank lines before it. key: what makes it the same as
    another: its lines with `\n` at the end of each. path: the headings it stands under (a heading
    under itself); level: of a heading, else 0. after: the kind of the unit before it. kind: OPEN is
    a line in a fence or comment that is not closed.
    """

    kind: str
    key: bytes
    raw: bytes
    gap: bytes
    path: tuple[str, ...]
    level: int
    after: str

    @property
    def says(self) -> bool:
        """Whether there is a letter or a digit in it: it is more than a rule or a bracket."""
        return any(c.isalnum() for c in self.key.decode("utf-8", "replace"))


class Units(Record):
    """The units of a file in order, and the blank lines behind the last one."""

    units: tuple[Unit, ...]
    tail: bytes


def units(data: bytes, *, markdown: bool = True) -> Units:
    """The units of a file (without a byte order mark): joined with their gaps and the tail, the
    same bytes. Where it is no markdown each line is a unit.
    """
    document = parse(data)
    cut = _cut(document) if markdown else len(document.lines)
    spans = _spans(document, cut) if markdown else {}
    headings = {b.start: b.level for b in document.headings} if markdown else {}
    out, gap, n, after = list[Unit](), b"", 0, ""
    lines = document.lines
    while n < len(lines):
        end, kind = spans.get(n, (n + 1, LINE if n < cut else OPEN))
        raw = b"".join(lines[n:end])
        if kind in (LINE, OPEN) and not raw.strip():
            gap += raw
        else:
            path = document.heading_path(n) if markdown else ()
            out.append(Unit(kind, key_of(raw), raw, gap, path, headings.get(n, 0), after))
            gap, after = b"", kind
        n = end
    return Units(tuple(out), gap)


def key_of(raw: bytes) -> bytes:
    r"""Lines with `\n` at the end of each, the last one too."""
    plain = raw.replace(b"\r\n", b"\n")
    return plain if plain.endswith(b"\n") else plain + b"\n"


def _cut(document: Document) -> int:
    """The first line in a fence or comment that is not closed; the end where all are."""
    never = (r.start for r in document.regions if not r.closed or _runs_out(document, r.start))
    return min(never, default=len(document.lines))


def _spans(document: Document, cut: int) -> Spans:
    """The units of more than a plain line, by their first line; none overlaps another."""
    wanted = [*_archived(document), *_chunks(document, cut)]
    wanted += [(r.start, r.end, BLOCK) for r in document.regions
               if r.kind in _WHOLE and r.start < cut]  # fmt: skip
    wanted += [(s.start, s.end, ENTRY if s.is_entry else ITEM) for s in statements(document)]
    wanted += [(b.start, b.end, HEADING) for b in document.headings]
    spans: Spans = {}
    reach = 0
    for start, end, kind in sorted(wanted, key=lambda one: (one[0], -one[1])):
        if start >= reach:
            spans[start] = (end, kind)
            reach, last = end, start
        elif end > reach:  # what begins in a unit and ends behind it makes it longer
            spans[last] = (end, BLOCK)
            reach = end
    return spans


def _runs_out(document: Document, start: int) -> bool:
    """Whether a comment that begins on a line never ends."""
    line = document.lines[start]
    rest = b"".join(document.lines[start:]) if line.lstrip().startswith(b"<!--") else b"-->"
    return b"-->" not in rest


def _archived(document: Document) -> Iterator[tuple[int, int, str]]:
    lines, n = document.lines, 0
    while n < len(lines):
        begun = ARCHIVED.fullmatch(lines[n])
        end = _end_of(lines, n, begun["id"]) if begun else None
        if end is not None:
            yield n, end, BLOCK
        n = end or n + 1


def _end_of(lines: tuple[bytes, ...], start: int, pass_id: bytes) -> int | None:
    wanted = b"<!-- /janitor " + pass_id + b" -->"
    for n in range(start + 1, len(lines)):
        if lines[n].startswith(b"<!-- janitor "):
            return None
        if lines[n].rstrip() == wanted:
            return n + 1
    return None


def _chunks(document: Document, cut: int) -> Iterator[tuple[int, int, str]]:
    """The chunks of cold storage: heading, comment with the fields, one fence or two."""
    fences = {r.start: r.end for r in document.regions if r.kind == "fence"}
    inside = {n for start, end in fences.items() for n in range(start, end)}
    headings = {b.start for b in document.headings}
    lines = document.lines
    for n, line in enumerate(lines[:cut]):
        if not line.startswith(_COLD) or n in inside:
            continue
        above = (k for k in range(n - 1, max(n - 1 - _ABOVE, -1), -1) if lines[k].strip())
        start = next((k for k in above if k in headings), n)
        end = n + 1
        for _ in range(2):
            at = next((k for k in range(end, len(lines)) if lines[k].strip()), None)
            if at is not None and fences.get(at, cut + 1) <= cut:
                end = fences[at]
        yield start, end, BLOCK
