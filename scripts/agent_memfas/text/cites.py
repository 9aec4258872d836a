"""What a line of insight rests on, and the passages that say no less than it does.

Read without regular expressions: every recall that finds an insight asks for it.
"""

from __future__ import annotations

from agent_memfas.text.firing import read_link
from agent_memfas.text.marks import OPENER, without_comments
from agent_memfas.text.record import Record
from agent_memfas.text.spoken import spoken_in

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

STALE = " [stale:"


class Placed(Record):
    """A passage and where it stands, lines 1-based, inclusive. words: what it says, in order.
    cites: the lines that it rests on, `path#L3-L4` each.
    """

    path: str
    start: int
    end: int
    words: tuple[str, ...]
    cites: tuple[str, ...] = ()


def insight(path: str, start: int, end: int, text: str) -> Placed:
    """A line of insight: its words are those before its citations."""
    told, cites = cited(text)
    return Placed(path, start, end, spoken_in(told).words, cites)


def cited(line: str) -> tuple[str, tuple[str, ...]]:
    """A line, without the places in brackets at its end, and these; all of it and () for none.

    Comments and the label `[stale:…]` behind the places do not count.
    """
    text = (without_comments(line) if OPENER in line else line).rstrip()
    if text.endswith("]"):
        text = text[: max(text.rfind(STALE), 0)].rstrip()
    start = text.rfind("(")
    if not text.endswith(")") or start < 0:
        return line, ()
    places = tuple(text[start + 1 : -1].split("; "))
    return (text[:start].rstrip(), places) if all(map(read_link, places)) else (line, ())


def together(groups: list[list[int]], passages: Sequence[Placed]) -> list[list[int]]:
    """Groups of passages that say the same, best first, each shown by its first: insights that only
    quote what is shown by another group go into that one, to the better place of the two.
    """
    quoting = [n for n, group in enumerate(groups) if passages[group[0]].cites]
    shown = dict[str, list[int]]()
    for n, group in enumerate(groups if quoting else ()):
        shown.setdefault(passages[group[0]].path, []).append(n)
    place, joined = list(range(len(groups))), [list(group) for group in groups]
    for n in quoting:
        one = passages[groups[n][0]]
        for m in _cited_groups(one, groups, passages, shown):
            if one.words and _holds(passages[groups[m][0]].words, one.words):
                joined[m] += groups[n]
                joined[n] = []
                place[m] = min(place[m], n)
                break
    order = sorted(range(len(groups)), key=lambda n: (place[n], n))
    return [joined[n] for n in order if joined[n]]


def _cited_groups(
    one: Placed, groups: list[list[int]], passages: Sequence[Placed], shown: dict[str, list[int]]
) -> Iterator[int]:
    """The groups whose first is a passage of the lines that an insight cites."""
    for path, start, end in filter(None, map(read_link, one.cites)):
        for m in shown.get(path, ()):
            other = passages[groups[m][0]]
            if not other.cites and start <= other.end and other.start <= end:
                yield m


def _holds(words: tuple[str, ...], part: tuple[str, ...]) -> bool:
    return f" {' '.join(part)} " in f" {' '.join(words)} "
