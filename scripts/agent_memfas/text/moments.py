"""Times as other programs write them."""

from __future__ import annotations

import re
from datetime import datetime, timezone

_LONGEST_NUMBER = 1e11  # seconds: year 5138; larger ones are milliseconds


def moment(value: object) -> datetime | None:
    """A time, aware: seconds or milliseconds since 1970, or ISO (without an offset: UTC). None for
    what is none.
    """
    try:
        if isinstance(value, datetime):
            found = value
        elif isinstance(value, str):
            found = datetime.fromisoformat(_iso(value))
        elif isinstance(value, int | float) and not isinstance(value, bool) and value > 0:
            seconds = value / 1000 if value > _LONGEST_NUMBER else value
            found = datetime.fromtimestamp(seconds, timezone.utc)
        else:
            return None
        found = found if found.tzinfo else found.replace(tzinfo=timezone.utc)
        # A day's way to the ends of the calendar, so that no time zone leads out of it.
        return found if 1 < found.year < 9999 else None
    except (ValueError, OverflowError, OSError):
        return None


def _iso(text: str) -> str:
    """As Python 3.10 reads it: no `Z`, and six digits of a second."""
    plain = re.sub(r"[Zz]$", "+00:00", text.strip())
    return re.sub(r"\.([0-9]+)", lambda m: f".{m[1][:6]:0<6}", plain, count=1)
