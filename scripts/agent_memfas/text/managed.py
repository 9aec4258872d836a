"""Blocks that another program replaces as a whole, as OpenClaw's dreaming does in daily notes."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence

_MARK = re.compile(r"\s*<!--\s*openclaw:dreaming:([\w:-]+?):(start|end)\s*-->\s*", re.IGNORECASE)


def managed_blocks(lines: Sequence[str], headings: Collection[int]) -> list[tuple[int, int]]:
    """(start, end) of each, 0-based, end exclusive: from its start mark to its end mark, or to the
    next heading where that is missing. headings: the lines on which headings begin.
    """
    found, opened, name = list[tuple[int, int]](), -1, ""
    for n, line in enumerate(lines):
        match = _MARK.fullmatch(line) if "<!--" in line else None
        if opened < 0 and match and match[2].lower() == "start":
            opened, name = n, match[1]
        elif opened >= 0 and ((match and match[1] == name) or n in headings):
            found.append((opened, n + 1 if match else n))
            opened = -1
    if opened >= 0:
        found.append((opened, len(lines)))
    return found
