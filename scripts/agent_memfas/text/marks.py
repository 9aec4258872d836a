"""Marks inside lines: HTML comments and code spans, found in one pass whatever the text holds.

Plain searches instead of patterns: a line of a million openers without an end costs no more than
any other line of its length.
"""

from __future__ import annotations

OPENER, CLOSER = "<!--", "-->"


def find_comments(text: str) -> list[tuple[int, int, str]]:
    """The closed comments of a text: (start, end, what stands in it), in order."""
    found, at = [], 0
    while (start := text.find(OPENER, at)) >= 0:
        end = text.find(CLOSER, start + 2)
        if end < 0:
            break
        found.append((start, end + 3, text[start + 4 : max(end, start + 4)].strip()))
        at = end + 3
    return found


def without_comments(text: str) -> str:
    """The text without its closed comments and the blanks before each of them."""
    kept, at = [], 0
    for start, end, _ in find_comments(text):
        kept.append(text[at:start].rstrip(" \t"))
        at = end
    kept.append(text[at:])
    return "".join(kept)


def hide_code(line: str) -> str:
    """A line with its code spans as blanks, by CommonMark's rule: a run of backticks opens one that
    the next run of the same length closes."""
    if "`" not in line:
        return line
    runs, at = [], 0
    while (start := line.find("`", at)) >= 0:
        at = start
        while at < len(line) and line[at] == "`":
            at += 1
        runs.append((start, at))
    later: dict[int, list[int]] = {}
    for n in range(len(runs) - 1, -1, -1):
        later.setdefault(runs[n][1] - runs[n][0], []).append(n)
    kept, shown, n = [], 0, 0
    while n < len(runs):
        start, end = runs[n]
        same = later[end - start]
        while same and same[-1] <= n:
            same.pop()
        if same:
            closing = same[-1]
            kept.append(line[shown:start] + " " * (runs[closing][1] - start))
            shown, n = runs[closing][1], closing
        n += 1
    kept.append(line[shown:])
    return "".join(kept)


def safe_cut(text: str, at: int) -> int:
    """The nearest place at or before `at` where a text may be cut without breaking a character that
    a person sees as one: accents, emoji with modifiers, joined families, flags."""
    cut = min(at, len(text))
    while 0 < cut < len(text) and _joined(text, cut):
        cut -= 1
    return cut or min(at, len(text))


def clip(text: str, most: int) -> str:
    """The text, or its beginning with an ellipsis where it is longer than `most` characters."""
    return text if len(text) <= most else f"{text[: safe_cut(text, most - 1)]}…"


def _joined(text: str, at: int) -> bool:
    before, after = text[at - 1], text[at]
    if before == "\u200d" or after in "\u200d\ufe0e\ufe0f\u20e3":
        return True
    if "\u0300" <= after <= "\u036f" or "\U0001f3fb" <= after <= "\U0001f3ff":
        return True
    if "\U0001f1e6" <= after <= "\U0001f1ff" and "\U0001f1e6" <= before <= "\U0001f1ff":
        run = at - 1
        while run > 0 and "\U0001f1e6" <= text[run - 1] <= "\U0001f1ff":
            run -= 1
        return (at - run) % 2 == 1
    return False
