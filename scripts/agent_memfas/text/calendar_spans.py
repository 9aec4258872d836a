"""Dates in a few dozen spans of the calendar: days, weeks, months or years, as many as fit."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import date
from typing import NamedTuple

from agent_memfas.text.days import MONTHS

MOST = 62  # spans that can be told apart on a page


class Spans(NamedTuple):
    """Consecutive spans. unit: `day`, `week`, `month` or `year`; a span of many years counts as
    one of years. first: number of the first span.
    """

    unit: str
    number: Callable[[date], int]
    first: int
    labels: tuple[str, ...]

    def place(self, day: date) -> int:
        """Which span a date is in, from 0."""
        return self.number(day) - self.first


def spans_of(days: Sequence[date]) -> Spans:
    """The finest spans that cover all dates in MOST or fewer; without dates there are none."""
    if not days:
        return Spans("day", date.toordinal, 0, ())
    first, last = min(days), max(days)
    fitting = (ruler for ruler in _RULERS if ruler[1](last) - ruler[1](first) < MOST)
    unit, number, label = next(fitting)
    low = number(first)
    return Spans(unit, number, low, tuple(label(n) for n in range(low, number(last) + 1)))


def written(day: date) -> str:
    """A date as people read it: `1 Mar 2026`."""
    return f"{day.day} {_month(day.month)} {day.year}"


def _month(number: int) -> str:
    return MONTHS[number - 1][:3].capitalize()


def _years(step: int) -> tuple[str, Callable[[date], int], Callable[[int], str]]:
    def label(number: int) -> str:
        return str(number) if step == 1 else f"from {number * step}"

    return "year", lambda day: day.year // step, label


def _of_day(number: int) -> str:
    return written(date.fromordinal(number))


def _of_week(number: int) -> str:
    return written(date.fromordinal(max(number * 7 + 1, 1)))  # the Monday: day 1 was one


def _of_month(number: int) -> str:
    return f"{_month(number % 12 + 1)} {number // 12}"


_RULERS: tuple[tuple[str, Callable[[date], int], Callable[[int], str]], ...] = (
    ("day", date.toordinal, _of_day),
    ("week", lambda day: (day.toordinal() - 1) // 7, _of_week),
    ("month", lambda day: day.year * 12 + day.month - 1, _of_month),
    _years(1),
    _years(10),
    _years(200),
)
