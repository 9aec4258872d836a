"""Near misses: lines that look like entries and are not, with the line they were meant to be.

Nothing here decides anything: such a line stays where it is for ever until a person, or
`memfas lint --fix`, puts the corrected line in its place.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from datetime import date, timedelta

from agent_memfas.text.days import parse_day
from agent_memfas.text.documents import Document
from agent_memfas.text.entries import Entry, Tag, entries, read_tag

_LOOSE = re.compile(
    r"(?P<bullet>[-*+•–—]|\d{1,9}[.)])?[ \t\u00a0\u3000]*"
    r"(?:(?P<box>\[[ xX]\])[ \t]*)?(?P<bold>\*{1,3}|_{1,3}|`)?"
    r"[\[［][ \t]{0,4}(?P<priority>[pPＰｐ][ \t]{0,4}[-+]?\d{1,3})[ \t]{0,4}[\]］](?P<rest>.*)"
)
_DATE = re.compile(r"[ \t]*(?:[\[［(][ \t]*(?P<date>[^\]\[］)(]{4,40}?)[ \t]*[\]］)])")
_LOOSE_MARK = re.compile(r"\s*\[\s*(ttl|until|superseded)\b[^\]]*\]", re.IGNORECASE)
_DATE_FORMS = (
    (re.compile(r"(\d{4})[-/.](\d{1,2})[-/.](\d{1,2})(?:[T ].*)?"), (1, 2, 3)),
    (re.compile(r"(\d{4})年(\d{1,2})月(\d{1,2})日?"), (1, 2, 3)),
    (re.compile(r"(\d{1,2})\.(\d{1,2})\.(\d{4})"), (3, 2, 1)),
    (re.compile(r"(\d{4})(\d{2})(\d{2})"), (1, 2, 3)),
)
_WEEK_DATE = re.compile(r"(\d{4})-?W(\d{2})-?(\d)")
_PLACEHOLDER = re.compile(r"[YMDymd]{1,4}([-/.])[YMDymd]{1,4}\1[YMDymd]{1,4}")


@dataclass(frozen=True)
class NearMiss:
    """line: 0-based. problem: one clause. fixed: the whole corrected line, None if unknown."""

    line: int
    problem: str
    fixed: str | None = None


def near_misses(document: Document, today: date) -> list[NearMiss]:
    """Every line of a document that is almost an entry, and marks left open, by line."""
    lines, opaque = document.text_lines, document.opaque
    known = entries(document)
    heads = {e.start: e for e in known}
    inside = {n: e for e in known for n in range(e.start + 1, e.end)}
    out = [
        NearMiss(r.start, f"{r.kind} opened at line {r.start + 1} is never closed: "
                 "nothing after it is an entry")
        for r in document.regions if not r.closed
    ]  # fmt: skip
    for n, line in enumerate(lines):
        if ("[" not in line and "［" not in line) or n in opaque:
            continue
        if n in heads:
            out += _inside_entry(heads[n], line, today)
        elif (read := read_tag(line, n)) is not None:
            out += _nested(read[0], line, inside.get(n), today)
        else:
            out += _loose(n, line, today)
    return sorted((_checked(miss) for miss in out), key=lambda miss: miss.line)


def _checked(miss: NearMiss) -> NearMiss:
    """A correction that would be no entry either (`[P1][2026-02-24](…)` is a link) is none."""
    if miss.fixed is None or read_tag(miss.fixed) is not None:
        return miss
    return NearMiss(miss.line, "`(` after the tags makes a link of them: it is not an entry")


def _inside_entry(entry: Entry, line: str, today: date) -> list[NearMiss]:
    problems = _tag_problems(entry.tag, line, today)
    live = [t.line for t in entry.nested if t.priority == "P0" and entry.tag.priority != "P0"]
    if live:
        problem = f"the P0 bullet at line {live[0] + 1} inside it keeps this entry for ever"
        problems.append(NearMiss(entry.start, problem))
    return problems


def _nested(tag: Tag, line: str, parent: Entry | None, today: date) -> list[NearMiss]:
    if parent is None:
        problem = "a tagged bullet inside another list never moves by itself: put it at top level"
        return [NearMiss(tag.line, problem)]
    return _tag_problems(tag, line, today)


def _tag_problems(tag: Tag, line: str, today: date) -> list[NearMiss]:
    """What is wrong with tags of the exact form: no date, no such day, a term without sense."""
    head, rest = re.fullmatch(r"([ \t]*- \[P[012]\])(.*)", line, re.DOTALL).groups()  # type: ignore[union-attr]
    n = tag.line
    dated = _DATE.match(rest)
    if tag.date is None and dated and _dateish(dated["date"]):
        return [_with_date(n, head, dated["date"], rest[dated.end() :], today)]
    if tag.date is None and tag.priority != "P0":
        fixed = f"{head}[{today.isoformat()}]{_spaced(rest)}"
        return [NearMiss(n, f"{tag.priority} without a date never expires", fixed)]
    if "\r" in line:
        return [
            NearMiss(n, "a carriage return stands inside the line: is this one line or several?")
        ]
    if not tag.sound:
        return [NearMiss(n, "a term or label after the tags makes no sense: it never expires")]
    if _LOOSE_MARK.match(read_text(line)):
        return [NearMiss(n, "a term or label is not of the form [ttl:14d], [until:YYYY-MM-DD]")]
    if tag.priority == "P0" and (tag.ttl is not None or tag.until is not None):
        return [NearMiss(n, "P0 never expires: its term has no effect")]
    if tag.date is not None and tag.date > today + timedelta(days=1):
        ahead = (tag.date - today).days
        return [NearMiss(n, f"the date lies {ahead} days in the future: it cannot expire")]
    return []


def read_text(line: str) -> str:
    """The text after the tags of a line of the exact form, else the line itself."""
    read = read_tag(line)
    return read[1] if read else line


def _loose(n: int, line: str, today: date) -> list[NearMiss]:
    bare = line.lstrip(" \t")
    indent = line[: len(line) - len(bare)]
    match = _LOOSE.fullmatch(bare)
    if match is None:
        return []
    rest = match["rest"]
    if match["bold"] and rest.startswith(match["bold"]):
        rest = rest[len(match["bold"]) :]
    dated = _DATE.match(rest)
    if dated and not _dateish(dated["date"]):
        dated = None
    if (match["bullet"] is None and dated is None) or rest.startswith("("):
        return []
    box = f" {match['box']}" if match["box"] else ""
    number = unicodedata.normalize("NFKC", match["priority"]).upper().replace(" ", "")
    if number not in ("P0", "P1", "P2"):
        return [NearMiss(n, f"[{match['priority']}] is no priority: there are P0, P1 and P2")]
    head = f"{indent}- [{number}]"
    problem = _form_problem(match, number)
    if dated:
        after = rest[dated.end() :]
        if match["bold"] and after.startswith(match["bold"]):
            after = after[len(match["bold"]) :]
        return [_with_date(n, head, dated["date"], f"{box}{_spaced(after)}", today, problem)]
    stamp = "" if number == "P0" else f"[{today.isoformat()}]"
    return [NearMiss(n, problem, f"{head}{stamp}{box}{_spaced(rest)}")]


def _form_problem(match: re.Match[str], number: str) -> str:
    if match["box"]:
        return "a task box stands before the tags"
    if match["bullet"] is None:
        return "there is no bullet: an entry starts with `- `"
    if match["bullet"] != "-":
        return f"the bullet is `{match['bullet']}`: an entry starts with `- `"
    if match["bold"]:
        return "the tags are not plain text"
    if match["priority"] != number:
        return f"[{match['priority']}] is written [{number}]"
    return "the tags are not of the exact form `- [P1][YYYY-MM-DD] text`"


def _with_date(
    n: int, head: str, written: str, after: str, today: date, problem: str = ""
) -> NearMiss:
    """A near miss with a date in it: corrected where the day is beyond doubt."""
    day = today if _PLACEHOLDER.fullmatch(written) else read_date(written)
    if day is None:
        return NearMiss(n, f"{written} is no day that exists")
    if parse_day(written) is None:
        problem = problem or f"{written} is not a date of the form YYYY-MM-DD"
    problem = problem or "a space or another sign stands between the tags"
    return NearMiss(n, problem, f"{head}[{day.isoformat()}]{_spaced(after)}")


def _spaced(text: str) -> str:
    return text if text.startswith("[") or not text.strip() else f" {text.lstrip()}"


def _dateish(text: str) -> bool:
    if _PLACEHOLDER.fullmatch(text):
        return True
    plain = unicodedata.normalize("NFKC", text)
    return sum(c.isdigit() for c in plain) >= 4 and not re.search(r"[^\d\-/.:TWZ+ 年月日]", plain)


def read_date(written: str) -> date | None:
    """A date in one of the forms that people and tools write -> date; in doubt None."""
    plain = unicodedata.normalize("NFKC", written).strip()
    week = _WEEK_DATE.fullmatch(plain)
    try:
        if week:
            return date.fromisocalendar(int(week[1]), int(week[2]), int(week[3]))
        for form, (year, month, day) in _DATE_FORMS:
            if match := form.fullmatch(plain):
                return date(int(match[year]), int(match[month]), int(match[day]))
    except ValueError:
        pass
    return None
