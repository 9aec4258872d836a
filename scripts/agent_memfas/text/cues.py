"""What words make of a sentence in a log: a decision, a lesson, an open item, an aim, a preference.

Cues are English, German and Chinese. Strong ones hold wherever they stand; weak ones only in notes,
for in a conversation people say `never` and `tomorrow` all the time. What the writer marks himself,
by a heading, a label or a task box, needs no cue.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from agent_memfas.text.section_names import DECISIONS, INTENT, LESSONS, OPEN_ITEMS, PATTERNS

WEAK, STRONG, MARKED = 0, 1, 2


class Cue(NamedTuple):
    """What a sentence is. strength: WEAK, STRONG, or MARKED by the writer."""

    section: str
    strength: int


def _any(words: str, others: str = "") -> re.Pattern[str]:
    """Whole words, one alternative a line (what ends with a colon, as it stands), or characters."""
    lines = [line.strip() for line in words.strip().split("\n")]
    found = "|".join(line if line.endswith(":") else rf"(?:{line})\b" for line in lines)
    return re.compile(rf"\b(?:{found})" + (f"|{others}" if others else ""), re.IGNORECASE)


_UNDECIDED = _any(
    r"""
    (?:not|n't|never) (?:been )?(?:yet )?(?:decided|agreed|settled|approved)|undecided
    no decision|to be (?:decided|confirmed|discussed|determined)|decide (?:whether|if|between|later)
    (?:yet|need|needs|have|has|must) to (?:decide|agree)
    (?:noch )?(?:nicht|nichts|unent)\s?(?:entschieden|beschlossen|geklärt)
    """,
    r"(?:还没有?|尚未|没有?|未)(?:最终)?(?:决定|确定|定下|敲定|商定)|(?:待|等)(?:定|决定)",
)
DECISION = _any(
    r"""
    decided|decision|we (?:have )?agreed|agreed (?:to|on|that|with)|settled on|chose|opted for
    approved|rejected|signed off|ruled out|concluded|conclusion|consensus
    we(?:'ll| will| are going to)? (?:go|went) with|switch(?:ed|ing)? (?:to|from)|instead of
    in favou?r of|we (?:will |'ll )?(?:keep|stay with|stick with|stick to)
    entschieden|beschlossen|entscheidung|beschluss|vereinbart|geeinigt|einigten uns|festgelegt
    genehmigt|abgelehnt|wir (?:bleiben|nehmen|behalten|setzen auf|verzichten)
    """,
    "决定|决策|决议|选用|选定|选择了|最终选|改用|改为|采用|敲定|商定|确定用|定为|否决|拍板|达成一致"
    "|统一用|不再使用|弃用|批准",
)
_DECISION_WEAK = _any(
    r"""
    rather than|going with|stick(?:ing)? (?:with|to)|stay(?:ing|s)? (?:with|on)|let's (?:use|go)
    (?:i|we)(?:'ll| will) use|so [\w .-]{1,30} it is|from now on|no longer|insists? on|freeze|agreed
    deprecat(?:e|es|ed|ing)|postponed?|(?:deadline|release|launch|meeting|demo)\b.{0,40}\bmoves?
    moved to|rescheduled|migrat(?:e|ed|ing) (?:to|from)|will be (?:used|dropped|replaced)
    bleibt bei|bleiben bei|statt|stattdessen|ab jetzt|ab sofort|besteht auf|verschoben|umgestellt
    """,
    "继续用|继续使用|保留|坚持用|推迟|改到|改期|以后都用|统一|约定|同意|放弃|换成|改成",
)
LESSON = _any(
    r"""
    lessons?|learned|learnt|root cause|turned out|turns out|caused by|the fix|workaround|never again
    note to self|next time|should have|mistake|gotcha|pitfall|don't forget|beware|takeaways?
    cause:
    reason:
    fix:
    solution:
    gelernt|ursache|behoben|nie wieder|nächstes mal|beim nächsten mal|lag daran|lag an|erkenntnis
    grund:
    lösung:
    """,
    "教训|原因是|原因[:：]|根因|修复|踩坑|踩了|学到|失误|注意事项|千万|务必|解决办法|解决方法|解决方案"
    "|问题出在|原来是|下次(?:要|记得|不)|以后(?:要|不要|别)|不要再|经验",
)
_LESSON_WEAK = _any(
    r"""
    fixed|because of|due to|the (?:problem|issue|bug|culprit|reason|trick) (?:was|is)|resolved
    solved|works now|realised|realized|found out|discovered|figured out|don't|do not|never|always
    avoid|make sure|careful|watch out|failed|failing|fails|rolled back|rollback|regression|leak
    leaked|crash|crashed|crashes|broke|broken|outage|incident|warning:
    weil|wegen|fehler|fehlgeschlagen|abgestürzt|kaputt|niemals|nie|immer|vermeiden|gelöst|achtung:
    """,
    "导致|由于|因为|排查发现|发现是|解决了|避免|记住|失败|崩溃|故障|事故|回滚|泄漏|泄露|报错|不要|切记",
)
OPEN = _any(
    r"""
    todo|to-do|fixme|open question|to confirm|tbd|tbc|follow[- ]?up|blocked|blocker|awaiting
    waiting (?:for|on)|still (?:need|needs|to|open|missing|unclear|unsolved)|needs? to|unresolved
    action items?|remember to|remind|next steps?|left to do|pending
    open:
    offen:
    to do:
    noch zu|noch offen|noch klären|(?:muss|müssen|sollten?) (?:\w+ )?noch|fehlt noch|offene frage
    zu klären|ausstehend|wart(?:e|en|et|ete|eten) (?:noch )?auf|blockiert|nicht vergessen
    """,
    "待办|待确认|待处理|待解决|待跟进|待完善|未完成|未解决|还需要?|还没|尚未|需要跟进|要跟进|等待|等.{1,8}"
    "(?:处理|回复|确认|审批)|下一步|后续|需要确认|遗留",
)
_OPEN_WEAK = _any(
    r"""
    should (?:we|i)|unclear|not sure|not yet|tomorrow|have to|has to|must
    will (?:\w+ )?(?:look|check|ask|try|do|follow|continue|investigate|send|write|fix|add|renew)
    will (?:\w+ )?(?:call|prepare|review|update|test|get back)|\w+'ll (?:look|check|ask|try|fix)
    check (?:whether|if)|investigate|ask \w+ (?:about|whether|if)|in progress|wip|need to
    morgen|unklar|muss|müssen|nachfragen|wird noch|prüfen ob
    """,
    "明天|要确认|需要|计划|打算|准备|是否",
)
_INTENT = _any(
    r"""
    working on|worked on|focus(?:ed|ing)? on|asked (?:me |us |\w+ )?to|wants? (?:us |me )?to
    wants? an?|requested|started on|goal:
    arbeite(?:n|te)? an|möchte|gebeten|ziel:
    """,
    "目标|要求|想要|希望|任务|今天要",
)
_PATTERN = _any(
    r"""
    again|once more|recurring|every (?:time|day|week|night)|as usual|keeps? \w+ing
    immer wieder|schon wieder|erneut|jedes mal
    prefers?|preference|preferred|dislikes?|hates|favou?rite|allergic|always wants|can't stand
    bevorzugt|bevorzugen|lieber|vorliebe
    """,
    "喜欢|偏好|习惯|讨厌|偏爱|过敏|又|再次|总是|每次|经常",
)
_IN_TALK = (
    (DECISIONS, _any(
        r"""
        (?:i|we)(?:'ve| have)?(?: \w+)? (?:decided|agreed|settled on|opted|chose)|decided (?:to|on)
        (?:habe|haben) (?:\w+ ){0,4}(?:entschieden|beschlossen|vereinbart)
        """, "决定了?|改用|敲定|商定")),
    (LESSONS, _any(
        r"""
        lessons? learned|(?:i|we)(?:'ve| have)? (?:learned|learnt)|root cause|turned out|turns out
        never again|note to self|caused by
        habe (?:\w+ ){0,3}gelernt|lag daran
        """, "教训|原因是|根因|踩坑|学到")),
    (OPEN_ITEMS, _any(
        r"""
        todo|to-do|open question|tbd|follow[- ]up|blocked|waiting (?:for|on)|remind me|remember to
        (?:i|we) still (?:need|have) to
        noch offen|warten auf
        """, "待办|待确认|待定|未完成|未解决|尚未|需要跟进")),
    (INTENT, _any(
        r"""
        working on|asked (?:me |us )to
        """, "要求我")),
)  # fmt: skip
_IN_NOTES = (
    (DECISIONS, STRONG, DECISION), (LESSONS, STRONG, LESSON), (OPEN_ITEMS, STRONG, OPEN),
    (DECISIONS, WEAK, _DECISION_WEAK), (LESSONS, WEAK, _LESSON_WEAK),
    (OPEN_ITEMS, WEAK, _OPEN_WEAK), (PATTERNS, WEAK, _PATTERN), (INTENT, WEAK, _INTENT),
)  # fmt: skip
_ASKS = re.compile(r"[?？][*_\"'”’)）\s]*$")


def cue_of(sentence: str, *, talk: bool) -> Cue | None:
    """What a sentence is by its words, None for nothing of these. talk: it was said to somebody."""
    asks = _ASKS.search(sentence) is not None
    if talk:
        found = (section for section, cue in _IN_TALK if not asks and cue.search(sentence))
        return next((Cue(section, STRONG) for section in found), None)
    if _UNDECIDED.search(sentence):
        return Cue(OPEN_ITEMS, STRONG)
    if asks:
        return Cue(OPEN_ITEMS, STRONG if OPEN.search(sentence) else WEAK)
    return next((Cue(section, strength) for section, strength, cue in _IN_NOTES
                 if cue.search(sentence)), None)  # fmt: skip
