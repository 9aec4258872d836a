"""The level `auto`: how much context a question needs, by its kind and by how scores fall off."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from agent_memfas.text.words import words

STRONG, WEAK = 0.9, 0.5  # similarity of the best: one in three such is evidence; one in thirty
NEAR = 0.8  # of the best similarity: what comes so near competes with it
_BROAD = re.compile(
    r"\b(?:all|every(?:thing|one|body)?|each|list|overview|summar\w+|recap|history|so far"
    r"|catch me up|what (?:do|did) (?:we|you|i) know|tell me about|compare|difference between"
    r"|timeline|status of everything|how many|which (?:of|ones)|what are|who are)\b"
    r"|所有|全部|总结|概述|列出|哪些|历史|回顾|比较|多少",
    re.IGNORECASE,
)
_EXACT = re.compile(
    r"\b(?:what(?:'s| is) the|when (?:did|is|was|does)|what (?:time|date|day|port|number|version)"
    r"|who is|where is|which (?:port|version|host|file|day))\b|什么时候|哪天|哪个|几点|多大|是谁",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class Choice:
    """A level, 1 to 5, and why, in a few words."""

    level: int
    why: str


def choose_level(question: str, similarities: Sequence[float]) -> Choice:
    """The level for a question. similarities: of what was found, 0 to 1, best first.

    One that asks for one thing and finds it clearly needs little; one that asks for many things, or
    finds nothing that stands out, needs more to hold the answer.
    """
    if not similarities:
        return Choice(3, "nothing was found")
    best = similarities[0]
    rivals = sum(one >= NEAR * best for one in similarities)
    if _BROAD.search(question):
        return Choice(5 if rivals > 12 else 4, f"it asks for several things, {rivals} come near")
    if best < WEAK:
        return Choice(4, f"nothing stands out (best {best:.2f}), so more is given")
    if best >= STRONG and rivals <= 3:
        few = _EXACT.search(question) is not None or len(words(question)) <= 3
        return Choice(2 if few else 3, f"the best ({best:.2f}) stands alone but for {rivals - 1}")
    return Choice(3 if rivals <= 8 else 4, f"{rivals} come near the best ({best:.2f})")
