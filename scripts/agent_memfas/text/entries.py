"""The entry grammar: what an entry is, when it expires, and what its metadata says.

`SPEC` is its one description; the examples in it run as a test.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import date, timedelta

from agent_memfas.text.days import parse_day
from agent_memfas.text.documents import Block, Document, parse
from agent_memfas.text.marks import find_comments, without_comments

SPEC = """
# Entries

An entry is a top-level bullet of this exact form: a dash, one space, `[P0]`, `[P1]` or `[P2]`,
then for P1 and P2 at once the day it was written:

    - [P0] Timezone: US Eastern                -> P0, never expires
    - [P1][2026-02-24] Current project: acme   -> P1, kept through 2026-05-25
    - [P2][2026-02-24] Temp note               -> P2, kept through 2026-03-26
    - [P0][2020-01-01] written long ago        -> P0, never expires
    - [P2][2020-01-01]                         -> P2, kept through 2020-01-31
    - [P1][2026-02-24][2026-09-01] launch      -> P1, kept through 2026-05-25

P1 stays for 90 days, P2 for 30: the 90th and the 30th day are kept, the entry leaves on the next
one. An own term stands after the tags; both days are counted like that:

    - [P1][2026-02-24][ttl:14d] the short one  -> P1, kept through 2026-03-10
    - [P1][2026-02-24] [ttl:2w] the same       -> P1, kept through 2026-03-10
    - [P2][2026-02-24][until:2026-12-31] a day -> P2, kept through 2026-12-31
    - [P1][2026-02-24][superseded:2026-03-01] the old fact -> P1, kept through 2026-05-25

The entry is its bullet and everything indented under it (continuation lines, nested bullets,
fenced code), and moves as one. A nested bullet with a tag of its own that has not expired keeps
the whole entry. Comments in the entry carry what machines want to know:
`<!-- trigger: alice, acme -->`, `<!-- importance: 8 -->`,
`<!-- source: memory/2026-02-24.md#L3-L9 by scout -->`.

Not entries: anything in fenced or indented code, HTML comments, `<pre>`, `<details>`, block
quotes, front matter. Not quite entries, kept for ever and reported by `memfas lint`:

    * [P1][2026-02-24] another bullet          -> near miss: - [P1][2026-02-24] another bullet
    -[P1][2026-02-24] no space                 -> near miss: - [P1][2026-02-24] no space
    -  [P2][2026-02-24] two spaces             -> near miss: - [P2][2026-02-24] two spaces
    1. [P2][2026-02-24] numbered               -> near miss: - [P2][2026-02-24] numbered
    - [p1][2026-02-24] small letter            -> near miss: - [P1][2026-02-24] small letter
    - [P1] [2026-02-24] a space between        -> near miss: - [P1][2026-02-24] a space between
    - [P1][2026-2-4] short date                -> near miss: - [P1][2026-02-04] short date
    - [ ][P1][2026-02-24] a task               -> near miss: - [P1][2026-02-24] [ ] a task
    - **[P1]**[2026-02-24] bold                -> near miss: - [P1][2026-02-24] bold
    - [P1] no date                             -> near miss: - [P1][2026-03-01] no date
    - [P1][2026-02-30] no such day             -> near miss
    - [P3][2026-02-24] no such priority        -> near miss
    - [P1][2030-01-01] from the future         -> near miss
    - [P1][2026-02-24][ttl:soon] no such term  -> near miss

(The day of these examples is 2026-03-01.)
"""

_ENTRY = re.compile(
    r"(?P<indent>[ \t]*)- \[P(?P<priority>[012])\](?:\[(?P<date>[0-9]{4}-[0-9]{2}-[0-9]{2})\])?"
    r"(?P<marks>(?: ?\[(?:ttl|until|superseded):[^\]\n]*\])*)(?P<text>.*)"
)
_MARK = re.compile(r"\[(ttl|until|superseded):([^\]]*)\]")
_DURATION = re.compile(r"([0-9]{1,5})([dw])")
_META = re.compile(r"(trigger|importance|source):\s*(.*)", re.DOTALL)
TAGGED = re.compile(r"[ \t]*(?:[-*+]|[0-9]{1,9}[.)])[ \t]*(?:\[[ xX]\][ \t]*)?\**\[ ?[pP]-?\d")


Day = date


@dataclass(frozen=True)
class Terms:
    """How many days an entry stays, by priority. P0 stays for ever."""

    p1: int = 90
    p2: int = 30


@dataclass(frozen=True)
class Tag:
    """The tags at the head of a bullet, as read. sound is False where a term makes no sense."""

    line: int
    priority: str
    date: Day | None
    ttl: int | None = None
    until: Day | None = None
    superseded: Day | None = None
    sound: bool = True

    def last_day(self, terms: Terms) -> Day | None:
        """The last day on which it is kept, or None: never expires (or nobody can tell)."""
        if self.priority == "P0" or self.date is None or not self.sound:
            return None
        return self.until or _later(self.date, self._days(terms))

    def own_last_day(self) -> Day | None:
        """The last day where it has a term of its own, be it as far off as can be; else None."""
        if self.until is not None or self.ttl is None or self.date is None:
            return self.until
        return _later(self.date, self.ttl) or date.max

    def _days(self, terms: Terms) -> int:
        if self.ttl is not None:
            return self.ttl
        return terms.p1 if self.priority == "P1" else terms.p2

    def expired(self, today: Day, terms: Terms) -> bool:
        """Whether its last day lies before today. A date in the future never expires."""
        last = self.last_day(terms)
        return last is not None and last < today and self.date is not None and self.date <= today


@dataclass(frozen=True)
class Entry:
    """One entry. start, end: its lines, 0-based, end exclusive. text: its first line, bare.

    nested: the tags of bullets inside it; doubtful: lines inside it that look like tags and are
    not quite, indented ones behind prose that CommonMark takes into it, which would become entries
    of their own, and those on which a comment begins that ends behind it. triggers, importance (1
    to 10), source: from its comments.
    """

    start: int
    end: int
    tag: Tag
    text: str
    nested: tuple[Tag, ...] = ()
    doubtful: tuple[int, ...] = ()
    triggers: tuple[str, ...] = ()
    importance: int | None = None
    source: str | None = None

    def protected_by(self, today: date, terms: Terms) -> int | None:
        """The line of a nested bullet that keeps it although its own term is over, or None."""
        live = [t.line for t in self.nested if not t.expired(today, terms)]
        return min([*live, *self.doubtful], default=None)

    def leaves(self, today: date, terms: Terms) -> bool:
        """Whether the janitor moves it: expired, and nothing inside it is alive."""
        return self.tag.expired(today, terms) and self.protected_by(today, terms) is None


def _later(day: date, days: int) -> date | None:
    try:
        return day + timedelta(days=days)
    except OverflowError:
        return None


def parse_duration(text: str) -> int | None:
    """`14d` or `2w` -> days; anything else -> None."""
    match = _DURATION.fullmatch(text)
    return int(match[1]) * (7 if match[2] == "w" else 1) if match else None


def read_tag(text: str, line: int = 0) -> tuple[Tag, str] | None:
    """The tags at the head of one line (any indent) and the text after them, or None.

    None where the line is not of the exact form; a date or a term that makes no sense gives a
    tag with sound=False, which never expires.
    """
    match = _ENTRY.fullmatch(text)
    if match is None or match["text"][:1] == "(":
        return None
    day = parse_day(match["date"]) if match["date"] else None
    sound = (day is not None or match["date"] is None) and "\r" not in text
    found: dict[str, date | int | None] = {}
    for name, value in _MARK.findall(match["marks"]):
        found[name] = parse_duration(value) if name == "ttl" else parse_day(value)
        sound = sound and found[name] is not None
    ttl, until, superseded = found.get("ttl"), found.get("until"), found.get("superseded")
    tag = Tag(
        line,
        f"P{match['priority']}",
        day,
        ttl if isinstance(ttl, int) else None,
        until if isinstance(until, date) else None,
        superseded if isinstance(superseded, date) else None,
        sound,
    )
    return tag, match["text"].strip()


def entries(document: Document) -> list[Entry]:
    """The entries of a document in order. Linear in its size; never fails."""
    lines, opaque = document.text_lines, document.opaque
    out = []
    for item in document.blocks:
        if item.kind != "item" or item.depth != 1 or item.markup != "-" or item.start in opaque:
            continue
        head = read_tag(lines[item.start], item.start)
        if head is not None:
            out.append(_entry(document, item, *head))
    return out


def _entry(document: Document, item: Block, tag: Tag, text: str) -> Entry:
    lines, opaque = document.text_lines, document.opaque
    end = block_end(lines, item.start, item.end)
    nested, doubtful = [], []
    for n in range(item.start + 1, end):
        if n in opaque or not TAGGED.match(lines[n]):
            continue
        inner = read_tag(lines[n], n)
        if inner is None:
            doubtful.append(n)
        else:
            nested.append(inner[0])
    behind = (n for n in range(end, item.end) if lines[n][:1] in (" ", "\t") and n not in opaque)
    doubtful += [n for n in behind if TAGGED.match(lines[n])]
    # A comment that begins in it and ends behind it would let go of what it hides.
    doubtful += [
        r.start
        for r in document.regions
        if r.kind in ("comment", "html") and item.start <= r.start < end < r.end
    ]
    meta = metadata("\n".join(lines[item.start : end]))
    return Entry(
        item.start,
        end,
        tag,
        without_comments(text).strip(),
        tuple(nested),
        tuple(doubtful),
        tuple(filter(None, (t.strip() for t in meta.get("trigger", "").split(",")))),
        _importance(meta.get("importance", "")),
        meta.get("source"),
    )


def metadata(block: str) -> dict[str, str]:
    """What the comments of an entry say, by name; the first of a name counts."""
    if "<!--" not in block:
        return {}
    told = (_META.fullmatch(comment) for _, _, comment in find_comments(block))
    return dict(reversed([(match[1], match[2].strip()) for match in told if match]))


def one_line(text: str) -> str:
    """Text as one physical line: every kind of line break, NUL and tab becomes a space."""
    plain = " ".join(part.strip() for part in text.replace("\0", " ").splitlines())
    return plain.replace("\t", " ").strip()


def entry_text(text: str) -> str:
    """Text as one line that can stand in an entry: it opens no comment that would swallow what
    follows it."""
    plain = one_line(text)
    if "<" in plain and any(
        not region.closed for region in parse(f"- {plain}\n".encode("utf-8", "replace")).regions
    ):
        return plain.replace("<!--", "&lt;!--")
    return plain


def block_end(lines: tuple[str, ...], start: int, end: int) -> int:
    """Where a bullet's own lines end: before the first line that is not indented under it.

    CommonMark lets unindented prose continue the paragraph of a bullet; for an entry such prose
    is its neighbour, not a part of it. Trailing blank lines belong to nobody.
    """
    for n in range(start + 1, end):
        if lines[n].strip() and lines[n][0] not in " \t":
            end = n
            break
    while end > start + 1 and not lines[end - 1].strip():
        end -= 1
    return end


def _importance(text: str) -> int | None:
    return int(text) if re.fullmatch(r"[1-9]|10", text) else None
