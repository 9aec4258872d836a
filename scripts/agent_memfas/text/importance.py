"""How much a line of a log matters, 1 to 10, without a model.

The scale is that of Generative Agents (Park et al. 2023, section 4.1): 1 is mundane, 10 is what
one does not forget. They ask a model; here the words that people use decide, for it has to be
known each night what reflecting would bring, at no cost.
"""

from __future__ import annotations

import re

from agent_memfas.text.entries import Tag

PLAIN, LEAST, MOST = 3, 1, 10
BY_TAG = {"P0": 9, "P1": 6, "P2": 4}


def _words(english: str, others: str = "") -> re.Pattern[str]:
    """A pattern of whole words (of one that ends with a colon, as it stands), or of characters."""
    words = "|".join(rf"{w}" if w.endswith(":") else rf"{w}\b" for w in english.split("\n"))
    return re.compile(rf"\b(?:{words})" + (f"|{others}" if others else ""), re.IGNORECASE)


DECISION = _words(
    """\
decided|decision|decide|agreed (?:to|on|that|with)|settled on|chose|opted for|approved|rejected
we(?:'ll| will| are going to)? (?:go|went) with|switch(?:ed|ing)? (?:to|from)|instead of
entschieden|beschlossen|entscheidung|vereinbart""",
    "决定|决策|选用|选择了|改用|采用|敲定|商定|确定用|定为|否决",
)
LESSON = _words(
    """\
lessons?|learned|learnt|root cause|turned out|turns out|caused by|because of|the fix|fixed
workaround|never again|next time|should have|mistake|gotcha|pitfall|don't forget|beware
always (?:check|use|run)|never (?:use|run|deploy)|gelernt|ursache|fehler|behoben""",
    "教训|原因是|根因|修复|踩坑|学到|下次|失误|注意事项|千万|务必|解决办法",
)
OPEN = _words(
    """\
open:
offen:
to do:
todo|to-do|open question|to confirm|tbd|follow[- ]up|blocked|waiting (?:for|on)|pending
still (?:need|to|open|missing)|needs? to|noch zu""",
    r"^(?:[-*+] )?\[ \] |待办|待确认|待定|未完成|未解决|还需要|还没|尚未|需要跟进|等待",
)
GRAVE = _words(
    """\
outage|incident|data loss|security|leaked|breach|deadline|launch(?:ed)?|released?|moved to
married|died|born|diagnosed|hired|fired|resigned|quit|bought|sold|won|accepted|broke|crash(?:ed)?
failed|failure|lost""",
    "故障|事故|泄露|截止|上线|发布|搬到|结婚|去世|出生|确诊|辞职|入职|买了|失败|崩溃",
)
INTENT = _words(
    """\
today:
goals?:
aim:
plan:
task:
heute:
ziel:
working on|asked (?:me |us )to""",
    "目标[:：]|计划[:：]|任务[:：]|今天要|要求我",
)
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
    score += bool(_NUMBER.search(text)) - (len(text) < 40)
    return max(LEAST, min(MOST, score))
