"""How much a line of a log matters, 1 to 10, without a model.

The scale is that of Generative Agents (Park et al. 2023, section 4.1): 1 is mundane, 10 is what
one does not forget. They ask a model; here the words that people use decide, for it has to be
known each night what reflecting would bring, at no cost.
"""

from __future__ import annotations

import re

from agent_memfas.text.cues import DECISION, LESSON, OPEN
from agent_memfas.text.entries import Tag
from agent_memfas.text.named_files import files_in
from agent_memfas.text.tokens import estimate

PLAIN, LEAST, MOST = 3, 1, 10
BY_TAG = {"P0": 9, "P1": 6, "P2": 4}


GRAVE = re.compile(
    r"\b(?:outage|incident|data loss|security|leaked|breach|deadline|launch(?:ed)?|released?"
    r"|moved to|married|died|born|diagnosed|hired|fired|resigned|quit|bought|sold|won|accepted"
    r"|broke|crash(?:ed)?|failed|failure|lost|ausfall|vorfall|frist|veröffentlicht|gekündigt|umgezogen"
    r"|geheiratet|gestorben|geboren|abgestürzt|verloren)\b"
    r"|故障|事故|泄露|截止|上线|发布|搬到|结婚|去世|出生|确诊|辞职|入职|买了|失败|崩溃",
    re.IGNORECASE,
)  # fmt: skip
LONGEST = 20_000  # characters of a chunk that are looked at
SHORT = 10  # tokens: with fewer a passage says little
ERROR = re.compile(
    r"\b(?:\w*(?:Error|Exception)|error|exception|traceback|failed|failure|fatal|panic|denied"
    r"|refused|segfault|exit (?:code|status) [1-9]\d*|assertion failed|fehler|fehlgeschlagen)\b"
    r"|错误|异常|失败|报错",
    re.IGNORECASE,
)
FACT = re.compile(
    r"(?<![\w.])(?:[$€£¥]\s?\d[\d.,]*"
    r"|\d[\d.,]*\s?(?:[$€£¥%]|(?:ms|[kKMGT]i?B|km|kg|EUR|USD|GHz)\b)"
    r"|v?\d+(?:\.\d+)+|\d{3,}(?:[.,:-]\d+)*|\d{1,2}:\d{2})(?![\w])"
)  # amounts, versions, times, dates, ports, codes: not the 2 of "2 cups"
_TAGGED = re.compile(r"^\s*(?:[-*+]\s+)?\[P[01]\]", re.MULTILINE)
_NUMBER = re.compile(r"\d")
_TELLING = re.compile(r"[A-Za-z]{4}|[\u0e00-\U0002ffff]{2}")


def importance(text: str, tag: Tag | None = None, stated: int | None = None) -> int:
    """The importance of a passage. tag: of the entry it is; stated: what its own comment says."""
    if stated is not None:
        return stated
    if tag is not None:
        return BY_TAG[tag.priority]
    if not _TELLING.search(text):
        return LEAST
    score = PLAIN
    score += 4 * bool(DECISION.search(text)) + 4 * bool(LESSON.search(text))
    score += 2 * bool(OPEN.search(text)) + 2 * bool(GRAVE.search(text))
    score += bool(_NUMBER.search(text)) - (estimate(text) < SHORT)
    return max(LEAST, min(MOST, score))


def is_important(text: str) -> bool:
    """Whether a chunk of a conversation holds what must not get lost: a P0 or P1 tag, a decision or
    a lesson, an error, the path of a file, a number that is a fact.

    Looks at the first 20,000 characters.
    """
    seen = text[:LONGEST]
    told = (_TAGGED, DECISION, LESSON, ERROR, FACT)
    return any(one.search(seen) for one in told) or next(files_in(seen), None) is not None
