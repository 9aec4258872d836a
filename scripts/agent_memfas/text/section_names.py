"""The names of sections, as people write them above lists and before the first colon of a line."""

from __future__ import annotations

import re

DECISIONS, LESSONS, OPEN_ITEMS = "Decisions Made", "Lessons Learned", "Open Items"
INTENT, FILES, PATTERNS = "Session Intent", "Files Modified", "Patterns"
LONGEST = 40  # characters of a name

_NAMES = {
    DECISIONS: r"""
        decisions?|decided|conclusions?|resolutions?|agreements?|agreed|entscheidung(?:en)?
        beschl(?:uss|üsse)|vereinbarung(?:en)?|fazit|决策|决定|结论|决议|共识|(?:技术)?选型
    """,
    LESSONS: r"""
        lessons?|learnings?|takeaways?|root causes?|post-?mortems?|gotchas?|pitfalls?|til|insights?
        note to self|what (?:i|we) learned|what went wrong|erkenntnis(?:se)?|gelernt(?:es)?|lehren
        lektion(?:en)?|ursachen?|教训|经验|经验教训|踩坑|踩坑记录|复盘|反思|心得
    """,
    OPEN_ITEMS: r"""
        to-?dos?|to do|fixme|open|open (?:items?|questions?|issues?|points?|tasks?|threads?|ends)
        next|next (?:steps?|actions?|up|session|time)|up next|follow[- ]?ups?|action items?|actions
        tasks?|pending|blockers?|blocked|remaining|tomorrow|outstanding|questions?|unresolved|tbd
        offen|offene (?:punkte?|fragen?|aufgaben?)|nächste schritte|aufgaben?|zu klären|zu erledigen
        noch zu tun|morgen|待办|待办事项|待确认|待定|待解决|待跟进|下一步|下一步计划|后续|后续计划
        未完成|未解决|明天|明日计划|遗留问题|未决问题|疑问
    """,
    FILES: r"""
        files?|files? (?:changed|modified|touched|edited|created)
        (?:changed|modified|touched|edited|new) files?|geänderte dateien|dateien
        修改文件|修改的文件|文件改动|改动文件|文件变更|变更文件
    """,
    INTENT: r"""
        session intent|intent|goals?|objectives?|aims?|plan|agenda|focus|today|request|user request
        ziele?|heute|目标|今日目标|任务|今日任务|计划|今日计划|需求
    """,
    PATTERNS: r"""
        patterns?|preferences?|habits|muster|vorlieben|偏好|习惯|规律
    """,
}
_BEFORE = (
    r"(?:(?:key|main|important|final|new|other|design|architecture|technical|session|remaining"
    r"|wichtige|getroffene|关键|重要|主要|今日) ?)?"
)
_BEHIND = (
    r"(?: (?:made|taken|learned|learnt|today|for (?:today|tomorrow)|of the day|(?:für )?heute))?"
)
_NAMED = [
    (section, re.compile(f"{_BEFORE}(?:{'|'.join(names.split(chr(10)))}){_BEHIND}"))
    for section, names in ((s, re.sub(r"\n\s+", "\n", n.strip())) for s, n in _NAMES.items())
]
_DRESS = " \t*_`#:：.-–—>"
_PAREN = re.compile(r"\s*[(（][^)）]*[)）]\s*$|\s*\[[^\]]*\]\s*$")
_NUMBER = re.compile(r"^[0-9]{1,2}[.)、]\s*|^[一二三四五六七八九十]、\s*")
_LABEL = re.compile(r"^[*_]{0,3}([^:：\n]{2,40}?)[*_]{0,3}\s?(?::(?=\s|\*|$)|：)[*_]{0,3}\s*")
_MARK = re.compile(r"^(?:TO-?DO|FIX-?ME|TBD)\b(?:\s*[:：]\s*|(?=[\s(]))")


def section_named(text: str) -> str | None:
    """The section that a heading or a label asks for: `## Next steps`, `Lessons learned:`."""
    name = _NUMBER.sub("", _PAREN.sub("", text[: 2 * LONGEST]).strip(_DRESS))
    while name and not name[0].isalnum():
        name = name[1:].lstrip(_DRESS)
    if not name or len(name) > LONGEST:
        return None
    folded = name.casefold()
    return next((section for section, names in _NAMED if names.fullmatch(folded)), None)


def label_of(text: str) -> tuple[str | None, str]:
    """What a passage's own label asks for, and the passage behind it: `Decision: we keep it`.

    The whole passage where the label asks for nothing.
    """
    if match := _MARK.match(text):
        return OPEN_ITEMS, text[match.end() :] or text
    match = _LABEL.match(text)
    section = section_named(match[1]) if match else None
    return (section, text[match.end() :]) if match and section else (None, text)
