"""Days and spans of days that a question names, and whether it asks what an assistant said."""

from __future__ import annotations

import re
from datetime import date, timedelta

from agent_memfas.text.days import MONTHS, parse_day

Time = tuple[int, int, int]  # year, month, day as far as named, 0 for what is not
Span = tuple[date, date]  # first and last day
EARLIEST = 100  # before that year nobody asks, and some days before it are none

_NUMBER = {month: n for n, month in enumerate(MONTHS, 1)}
_NUMBER |= {month[:3]: n for month, n in _NUMBER.items()} | {"sept": 9}
_M = "|".join(sorted(_NUMBER, key=len, reverse=True))
_ORDINAL = r"(?:st|nd|rd|th)?"
# "may" and "march" are verbs, too: a month alone counts behind one of these.
_BEFORE = (
    r"(?:in|of|since|until|till|by|during|before|after|from|to|last|this|next|early|late|mid"
    r"|around|between|and)"
)
_DATES = (  # (pattern, number of the group of year, month and day; 0 where it is not named)
    (re.compile(r"\b(\d{4})-(\d{1,2})(?:-(\d{1,2}))?\b"), (1, 2, 3)),
    (re.compile(r"(?:(\d{4})年)?(\d{1,2})月(?:(\d{1,2})[日号])?"), (1, 2, 3)),
    (
        re.compile(rf"\b({_M})\.? (\d{{1,2}}){_ORDINAL}\b(?:,? (\d{{4}}))?", re.IGNORECASE),
        (3, 1, 2),
    ),
    (
        re.compile(rf"\b(\d{{1,2}}){_ORDINAL}(?: of)? ({_M})\b(?:,? (\d{{4}}))?", re.IGNORECASE),
        (3, 2, 1),
    ),
    (re.compile(rf"\b({_M})\b,? (\d{{4}})", re.IGNORECASE), (2, 1, 0)),
    (re.compile(rf"\b{_BEFORE} ({_M})\b", re.IGNORECASE), (0, 1, 0)),
    (re.compile(r"(?<!\d)((?:19|20)\d\d)(?:年|\b)"), (1, 0, 0)),
    (re.compile(r"(十[一二]|[一二三四五六七八九十])月"), (0, 1, 0)),
)
_CHINESE = {name: n for n, name in enumerate("一 二 三 四 五 六 七 八 九 十 十一 十二".split(), 1)}
_DAYS = (  # (pattern, how many days ago)
    (re.compile(r"\btoday\b|今天", re.IGNORECASE), 0),
    (re.compile(r"\byesterday\b|昨天", re.IGNORECASE), 1),
    (re.compile(r"前天"), 2),
)
_LAST_WEEK = re.compile(r"\blast week\b|上周|上星期|上个星期", re.IGNORECASE)
_THIS_WEEK = re.compile(r"\bthis week\b|这周|本周|这个?星期", re.IGNORECASE)
_LAST_MONTH = re.compile(r"\blast month\b|上个?月", re.IGNORECASE)
_THIS_MONTH = re.compile(r"\bthis month\b|这个?月|本月", re.IGNORECASE)
_LAST_YEAR = re.compile(r"\blast year\b|去年", re.IGNORECASE)
_AGO = re.compile(r"\b(\d{1,3}) (day|week)s? ago\b|(\d{1,3})天前", re.IGNORECASE)
_TO_ASSISTANT = re.compile(
    r"\b(?:did|have|had) you\b"
    r"|\byou(?:'ve| have| had)? (?:also |already )?(?:suggested|recommended|advised|told|said"
    r"|proposed|mentioned|explained|provided|gave|listed|described|wrote|showed|outlined)\b"
    r"|\byour (?:suggestions?|recommendations?|advice|answers?|explanations?|tips|list|guidance)\b"
    r"|\bassistant\b|[你您](?:说|建议|推荐|提到|告诉|给)",
    re.IGNORECASE,
)


def asks_assistant(question: str) -> bool:
    """Whether it is about what the assistant said: "what did you suggest?"."""
    return bool(_TO_ASSISTANT.search(question))


def named_times(question: str) -> list[Time]:
    """The dates, months and years that a question names."""
    found, taken = list[Time](), list[tuple[int, int]]()
    for pattern, groups in _DATES:
        for match in pattern.finditer(question):
            if any(a < match.end() and match.start() < b for a, b in taken):
                continue
            taken.append(match.span())
            year, month, day = ((match[g] or "") if g else "" for g in groups)
            found.append((int(year or 0), _month(month), int(day or 0)))
    return found


def _month(name: str) -> int:
    if name.isdecimal():
        return int(name)
    return _NUMBER.get(name.lower(), 0) or _CHINESE.get(name, 0)


def named_spans(question: str, today: date) -> list[Span]:
    """The days that it names relative to today; weeks begin on Monday, months are whole."""
    if today.year < EARLIEST:
        return []
    found = [
        (day, day) for pattern, ago in _DAYS if pattern.search(question)
        for day in [today - timedelta(ago)]
    ]  # fmt: skip
    for match in _AGO.finditer(question):
        days = int(match[1] or match[3]) * (7 if (match[2] or "").lower() == "week" else 1)
        day = today - timedelta(days)
        slack = timedelta(3 if days > 6 else 0)
        found.append((day - slack, day + slack))
    monday, first = today - timedelta(today.weekday()), today.replace(day=1)
    before = first - timedelta(1)
    spans = (
        (_LAST_WEEK, monday - timedelta(7), monday - timedelta(1)),
        (_THIS_WEEK, monday, today),
        (_LAST_MONTH, before.replace(day=1), before),
        (_THIS_MONTH, first, today),
        (_LAST_YEAR, date(today.year - 1, 1, 1), date(today.year - 1, 12, 31)),
    )
    return found + [(a, b) for pattern, a, b in spans if pattern.search(question)]


def nearness(day: str, times: list[Time], spans: list[Span]) -> float:
    """How well a day (ISO, or "") fits the times named, 0 to 1: the day itself 1, one within three
    days 0.5, its month 0.6 (0.25 where another day of it is meant), its year 0.3."""
    written = parse_day(day)
    if written is None:
        return 0.0
    return max((*(_fit(written, time) for time in times), *(_inside(written, s) for s in spans)),
               default=0.0)  # fmt: skip


def _fit(written: date, time: Time) -> float:
    year, month, day = time
    if (not year or year == written.year) and (not month or month == written.month):
        if not day:
            return 0.6 if month else 0.3
        gap = abs(day - written.day)
        return 1.0 if not gap else 0.5 if gap <= 3 else 0.25
    named = parse_day(f"{year:04}-{month:02}-{day:02}")
    return 0.5 if named and abs((written - named).days) <= 3 else 0.0


def _inside(written: date, span: Span) -> float:
    first, last = span
    if not first <= written <= last:
        return 0.0
    length = (last - first).days
    return 1.0 if length < 8 else 0.6 if length < 32 else 0.3
