"""The normal form of a text, and its runs of one kind: words, unspaced scripts, emoji.

This is the part for ASCII; `beyond_ascii`, with Python's tables of all characters, is loaded when
the first text needs it.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

WORD, UNSPACED, EMOJI, MARK, BREAK = range(5)

# What may stand inside a name: node.js, DEC-0054, src/app.py, C++, #12, AT&T.
JOINERS = "._-+#&'/\\@:"

_ASCII_BREAKS = str.maketrans(
    {chr(code): " " for code in range(128) if not (chr(code).isalnum() or chr(code) in JOINERS)}
)


def normal(text: str) -> str:
    """`text` in NFKC without accents and invisible characters; case is kept.

    Thousands are closed up (``1,200`` is ``1200``), every other comma becomes a space. The work is
    linear in the text.
    """
    if not text.isascii():
        from agent_memfas.text.beyond_ascii import normal_form

        text = normal_form(text)
    return _close_thousands(text) if "," in text else text


def _close_thousands(text: str) -> str:
    groups = text.split(",")
    out = groups[:1]
    for before, group in pairwise(groups):
        head, tail = before[-4:], group[:4]
        starts = head[-1:].isdigit() and not (len(head) == 4 and head.isdigit())
        goes_on = len(tail) >= 3 and tail[:3].isdigit() and not tail[3:].isdigit()
        out.append(group if starts and goes_on else " " + group)
    return "".join(out)


def runs(text: str) -> Iterator[tuple[int, list[str]]]:
    """The runs of a normal text in order, what separates them left out.

    They come as (WORD, [letters, digits and JOINERS]), (UNSPACED, [characters with their marks])
    and (EMOJI, [one sequence]).
    """
    if text.isascii():
        for run in text.translate(_ASCII_BREAKS).split():
            yield WORD, [run]
        return
    from agent_memfas.text.beyond_ascii import runs_of

    yield from runs_of(text)
