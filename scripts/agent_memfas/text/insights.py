"""Insights: what a reflection keeps of a log, a line each, with the lines that it rests on.

A file of insights is made of blocks, one for each piece of a log that was reflected on. The head
of a block names the piece and the hash of its lines, so the text itself says what is done.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import date

from agent_memfas.text.citations import Citation, cited_at_end, read_citation, words_of
from agent_memfas.text.days import MONTHS, parse_day
from agent_memfas.text.entries import entry_text
from agent_memfas.text.lines import safe
from agent_memfas.text.marks import clip, find_comments

SECTIONS = (
    "Session Intent", "Files Modified", "Decisions Made", "Lessons Learned", "Patterns",
    "Open Items", "Statistics",
)  # fmt: skip
STATISTICS = SECTIONS[-1]
LONGEST = 600  # characters of an insight
MARKER = re.compile(r"\s*<!--\s*compounded\b.*-->\s*")
_HEAD = re.compile(
    r"<!-- compounded: (?P<cite>\S+) sha256:(?P<hash>[0-9a-f]{16}) by (?P<by>.*) on "
    r"(?P<on>[0-9]{4}-[0-9]{2}-[0-9]{2}) -->"
)
_STALE = re.compile(r" ?\[stale:([0-9]{4}-[0-9]{2}-[0-9]{2})\]")
_QUOTED = re.compile(r'^(?P<text>.*?)(?: ?— ?| )?"(?P<quote>[^"]+)"$')
_TASK = re.compile(r"\[[ xX]\] ")
_PLACE = re.compile(r"#(?=L\d)")  # a citation of the text's own would be taken for the insight's
_PRIORITY = re.compile(r"(?:\[[ ]?)+([pP]-?[0-9])(?:[ ]?\])+")
_BLOCK_MARK = re.compile(r"(?:#{1,6}(?=\s|$)|[-*+](?=\s|$)|>+|[0-9]{1,9}[.)](?=\s)|={2,}|-{2,})\s*")
_TASK_OR_MARK = re.compile(rf"^(?:\[[ xX]\](?=\s|$)\s*|{_BLOCK_MARK.pattern})+")
_FENCE = re.compile(r"`{3,}|~{3,}")
_TAG = re.compile(r"<(?=[A-Za-z/!?])")


@dataclass(frozen=True)
class Insight:
    """One line. text: what it says. quote: words of the log that show it; "" where the text is
    itself such words. cites: where they stand. importance: 1 to 10, 0 for not given.
    """

    section: str
    text: str
    cites: tuple[Citation, ...]
    quote: str = ""
    importance: int = 0

    @property
    def shown(self) -> str:
        """The words that must stand on the cited lines."""
        return self.quote or _TASK.sub("", self.text, count=1)


@dataclass(frozen=True)
class Head:
    """What a block rests on. piece: the lines of a log. hash: of these lines. by: who reflected,
    on: the day, ISO.
    """

    piece: Citation
    hash: str
    by: str
    on: str

    def __str__(self) -> str:
        by = safe(self.by.replace(">", "")).replace(" on ", " ")[:80].strip() or "unknown"
        return f"<!-- compounded: {self.piece} sha256:{self.hash} by {by} on {self.on} -->"


@dataclass(frozen=True)
class Standing:
    """An insight as it stands in a file. line: 0-based. stale: the day of its label, or ""."""

    line: int
    day: str
    insight: Insight
    stale: str = ""


def file_name(day: date) -> str:
    """The file for a day's insights."""
    return f"insights/{day:%Y-%m}.md"


def file_title(day: date) -> str:
    """What a new file of insights begins with."""
    return f"# Insights - {MONTHS[day.month - 1].capitalize()} {day.year}\n\n"


def hash_of(lines: Iterable[str]) -> str:
    """16 hex digits over lines of text, without their terminators.

    A carriage return at the end is a part of one as soon as another line is appended.
    """
    text = "\n".join(line.rstrip("\r") for line in lines)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]


def is_marker(line: str) -> bool:
    """Whether a line of a log is a mark that it was compounded, and nothing else."""
    return MARKER.fullmatch(line) is not None


def marker(day: date) -> str:
    """The line that is appended to a log behind what was compounded."""
    return f"<!-- compounded: {day.isoformat()} -->"


def write_block(day: date, head: Head, insights: Sequence[Insight], statistics: str) -> str:
    """A block: heading, head, those of the seven sections that say something, a rule. Ends with a
    line end. Empty sections would cost every reader more than most insights do.
    """
    lines = [f"## {day.isoformat()} Insights", str(head)]
    for section in SECTIONS:
        said = [write_line(i) for i in insights if i.section == section]
        if section == STATISTICS:
            said = [f"- {statistics} ({head.piece})"]
        if said:
            lines += ["", f"### {section}", "", *said]
    return "\n".join([*lines, "", "---", "", ""])


def write_line(insight: Insight) -> str:
    """An insight as one line of a file."""
    quote = f' "{insight.quote}"' if insight.quote else ""
    cites = "; ".join(map(str, insight.cites))
    score = f" <!-- importance: {insight.importance} -->" if insight.importance else ""
    return f"- {insight.text}{quote} ({cites}){score}"


def heads(lines: Iterable[str]) -> Iterator[Head]:
    """The heads of all blocks of a file."""
    for line in lines:
        match = _HEAD.fullmatch(line.strip())
        piece = read_citation(match["cite"]) if match else None
        if match and piece:
            yield Head(piece, match["hash"], match["by"], match["on"])


def standing(lines: Sequence[str]) -> Iterator[Standing]:
    """The insights of a file: bullets that cite lines, in order. Statistics are none."""
    day = section = ""
    for n, line in enumerate(lines):
        if line.startswith("## "):
            day = line[3:13] if parse_day(line[3:13]) else ""
        elif line.startswith("### "):
            section = line[4:].strip()
        elif line.startswith("- ") and section != STATISTICS and (found := _read(line, section)):
            yield Standing(n, day, *found)


def _read(line: str, section: str) -> tuple[Insight, str] | None:
    parted = cited_at_end(line[2:])
    if parted is None:
        return None
    body, cites, rest = parted
    label = _STALE.search(rest)
    told = (text for _, _, text in find_comments(rest) if text.startswith("importance:"))
    score = next(told, "").removeprefix("importance:").strip()
    importance = int(score) if re.fullmatch("[1-9]|10", score) else 0
    match = _QUOTED.fullmatch(body)
    text, quote = (match["text"], match["quote"]) if match and match["text"] else (body, "")
    return Insight(section, text, cites, quote, importance), label[1] if label else ""


def label(line: str, day: str) -> str:
    """A line of insight with the label that it is stale since a day (ISO), "" for none."""
    bare = _STALE.sub("", line)
    return f"{bare} [stale:{day}]" if day else bare


def recite(line: str, cites: Sequence[Citation]) -> str:
    """A line of insight with other citations."""
    parted = cited_at_end(line)
    assert parted is not None
    return f"{parted[0]} ({'; '.join(map(str, cites))}){parted[2]}"


def harmless(text: str) -> str:
    """Text of any origin as one line that can be nothing but the text of a bullet: no heading,
    list, task, fence, comment, tag of HTML, citation or priority. Its words stay (those of
    marks at its head but for numbers), so that they are still found where they come from.
    """
    before, line = "", text
    while before != line:  # what is taken out may have stood between the halves of another
        before, line = line, _less_harmful(line)
    return entry_text(clip(line, LONGEST))


def _less_harmful(text: str) -> str:
    line = _PLACE.sub(" ", _PRIORITY.sub(_apart, safe(text)))
    line = _FENCE.sub(lambda m: m[0][:2], line)
    line = _TAG.sub("&lt;", line).replace('"', "'")
    return _TASK_OR_MARK.sub("", line).strip()


def _apart(match: re.Match[str]) -> str:
    """A priority without its brackets, which may be all that parts it from a word beside it."""
    before, behind = match.string[: match.start()][-1:], match.string[match.end() :][:1]
    return f"{' ' * before.isalnum()}{match[1]}{' ' * behind.isalnum()}"


def same(one: str, other: str) -> bool:
    """Whether two lines say the same words."""
    return words_of(one) == words_of(other)
