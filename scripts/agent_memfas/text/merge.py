"""Comparing versions of a file by lines: what vanished, and taking a change back."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from difflib import SequenceMatcher

from agent_memfas.text.entries import read_tag

LARGEST = 20_000_000
SIMILAR = 0.6

Lines = Sequence[bytes]


def vanished(before: Lines, after: Lines, elsewhere: Iterable[bytes]) -> list[bytes]:
    """Lines of before that are in after no more, nor elsewhere; blank and edited ones left out.

    Order does not count. A line counts as edited where a similar one is new in after.
    """
    gone = Counter(line for line in before if line.strip())
    gone.subtract(line for line in after if line.strip())
    known = set(elsewhere)
    lost = [line for line, count in gone.items() if count > 0 and line not in known]
    added = Counter(after)
    added.subtract(before)
    fresh = [line for line, count in added.items() if count > 0]
    if len(fresh) * len(lost) > 10_000:
        return lost
    edited = _pairs(lost, fresh)
    return [line for line in lost if line not in edited]


def _pairs(lost: list[bytes], fresh: list[bytes]) -> set[bytes]:
    """The lost lines that have a similar new one, each new one for one lost line only."""
    ratios = sorted(
        ((SequenceMatcher(None, _said(one), _said(other)).ratio(), n, m)
         for n, one in enumerate(lost) for m, other in enumerate(fresh)), reverse=True,
    )  # fmt: skip
    edited, taken = set[bytes](), set[int]()
    for ratio, n, m in ratios:
        if ratio >= SIMILAR and m not in taken and lost[n] not in edited:
            edited.add(lost[n])
            taken.add(m)
    return edited


def _said(line: bytes) -> str:
    """What a line says, without the tags that many have in common."""
    text = line.decode("utf-8", "replace").strip()
    read = read_tag(text)
    return read[1] if read else text


def take_back(before: Lines, after: Lines, current: Lines) -> list[bytes] | None:
    """The current lines without the change that made `after` of `before`.

    What others changed since stays; lines that they have put back themselves are not doubled. None
    where they changed the very lines of that change.
    """
    if list(current) == list(after):
        return list(before)
    if len(after) * max(len(before), len(current)) > LARGEST:
        return None
    where = _places(after, current)
    back_already = Counter(current)
    back_already.subtract(after)
    out, taken = list[bytes](), 0
    for _, i1, i2, j1, j2 in _changes(after, before):
        at = _position(where, current, i1, i2)
        if at is None or at < taken:
            return None
        out += current[taken:at]
        wanted = Counter(before[j1:j2])
        if i1 == i2 and all(back_already[line] >= count for line, count in wanted.items()):
            back_already.subtract(wanted)
        else:
            out += before[j1:j2]
        taken = at + (i2 - i1)
    return [*out, *current[taken:]]


def _changes(one: Lines, other: Lines) -> list[tuple[str, int, int, int, int]]:
    matcher = SequenceMatcher(None, list(one), list(other), autojunk=False)
    return [code for code in matcher.get_opcodes() if code[0] != "equal"]


def _places(after: Lines, current: Lines) -> dict[int, int]:
    """Line numbers of after -> line numbers of current, for the lines that are still there."""
    matcher = SequenceMatcher(None, list(after), list(current), autojunk=False)
    return {
        block.a + n: block.b + n
        for block in matcher.get_matching_blocks()
        for n in range(block.size)
    }


def _position(where: dict[int, int], current: Lines, start: int, end: int) -> int | None:
    """Where the lines start..end of after stand in current, whole; for none, where they would."""
    if start < end:
        places = [where.get(n) for n in range(start, end)]
        first = places[0]
        whole = first is not None and places == list(range(first, first + end - start))
        return first if whole else None
    for n in range(start - 1, -1, -1):
        if n in where:
            return where[n] + 1
    return where.get(start, 0 if start == 0 else len(current))


def place_in(older: Lines, start: int, current: Lines) -> int | None:
    """Where a line that stood at `start` in an older version belongs in the current one.

    Behind its nearest neighbour above that is still there, else before the one below; None where
    none of its neighbours is left (or the versions are too large to compare).
    """
    if len(older) * len(current) > LARGEST:
        return None
    where = _places(older, current)
    for n in range(start - 1, -1, -1):
        if n in where and older[n].strip():
            blank = n + 1  # the blank lines between the two stay between them
            while blank < start and where.get(blank) == where[n] + blank - n:
                blank += 1
            return where[n] + blank - n
    for n in range(start + 1, len(older)):
        if n in where and older[n].strip():
            return where[n]
    return None
