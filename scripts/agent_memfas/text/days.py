"""Days as memory files write them."""

from __future__ import annotations

from datetime import date

MONTHS = (
    "january february march april may june july august september october november december"
).split()


def parse_day(text: str) -> date | None:
    """`YYYY-MM-DD` in ASCII digits, a day that exists -> date; anything else -> None."""
    digits = text[:4] + text[5:7] + text[8:]
    if len(text) != 10 or text[4] != "-" or text[7] != "-":
        return None
    if len(digits) != 8 or not (digits.isascii() and digits.isdigit()):
        return None
    try:
        return date(int(text[:4]), int(text[5:7]), int(text[8:]))
    except ValueError:
        return None


def aging(day: str, today: date, weight: float) -> float:
    """What a score is divided by for its age: 1 + days * weight / 100, as agent-memfas 0.4 has it.

    day: ISO, or whatever else: then it is of today.
    """
    written = parse_day(day)
    return 1 + max((today - written).days if written else 0, 0) * weight / 100


def spoken(day: str) -> str:
    """A day (ISO, or "") as it is asked for: `2026-02-24 february 2026`."""
    return f"{day} {MONTHS[int(day[5:7]) - 1]} {day[:4]}" if day else ""
