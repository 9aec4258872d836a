"""Words that lead a turn of a conversation back to what was said before, or away from it.

English and Chinese. What is relational says something of another thing (`the deadline` of what?),
so that a question with nothing else goes on with the topic: the "bridging" of H. H. Clark,
"Bridging", Theoretical Issues in Natural Language Processing, 1975, pp. 169-174.
"""

from __future__ import annotations

import re

# Of something: roles, properties, parts. Speech is about something, too.
_RELATIONAL = frozenset(
    """
    status progress update deadline manager owner lead boss contact maintainer assignee supervisor
    price cost fee budget rate total address phone telephone number email e-mail mail name nickname
    location place time date schedule hour duration start end beginning reason cause result outcome
    plan size color colour age version link url detail detailed info information summary overview
    step role member part author maker brand model length weight height width opinion view
    answer option pro con alternative example difference issue problem risk blocker state situation
    news latest rest remainder discussion conversation chat talk topic thread subject question
    history background context purpose meaning title colleague teammate attendee
    participant requirement limit estimate priority stakeholder timeline milestone eta effect impact
    consequence advantage disadvantage drawback benefit error log duty
    """.split()
)
_RELATIONAL_CHINESE = """
    状态 状况 进度 进展 情况 负责人 经理 主管 截止日期 截止时间 截止 日期 期限 预算 价格 价钱
    费用 成本 多少钱 地址 电话号码 电话 号码 密码 邮箱 名字 名称 时间 地点 位置 原因 理由 版本
    链接 详情 细节 计划 结果 更新 下一步 步骤 问题 颜色 大小 尺寸 成员 意见 看法 讨论 话题 对话
    沟通 优先级 风险 影响 区别 例子 部分 作者 品牌 型号 要求 目标 作用 意义 好处 坏处 缺点 优点
    联系方式 联系人
    狀態 進度 進展 負責人 經理 預算 價格 費用 電話 時間 問題 計畫 結果
""".split()
_ELLIPTIC = re.compile(
    r"(?:ok(?:ay)?[,.! ]+|well[,. ]+|so[, ]+|then[, ]+)?"
    r"(?:and|but|or|what about|how about|what of|what else|who else|anything else|where else"
    r"|why not|same for|go on|tell me more|more about (?:it|that|this))\b"
    r"|那|还有|還有|然后|然後|而且|但是|可是|以及|或者|同样|继续|接着|还|也|并且|此外",
    re.IGNORECASE,
)
_LEADS_AWAY = re.compile(
    r"\b(?:by the way|btw|off[- ]topic|moving on"
    r"|on (?:another|a different) (?:note|topic|subject)"
    r"|(?:another|different|unrelated|chang(?:e|ing)(?: of)?(?: the)?|switch(?:ing)?)"
    r" (?:questions?|topics?|subjects?|gears|matter|thing)"
    r"|(?:about|ask|discuss|for|to) something (?:else|different|completely different))\b"
    r"|^(?:new|next) (?:question|topic|subject)[,:.]|\bunrelated(?:ly)?[,:]"
    r"|顺便(?:问|说|提)|順便(?:問|說)|换个话题|換個話題|另一件事|另外一件事|另一个问题|另外一个问题"
    r"|别的(?:事|话题)|说点别的|聊点别的|题外话|对了[，,]",
    re.IGNORECASE,
)
_BACK = frozenset("it its he him his she her hers they them their theirs itself".split())
_DEMONSTRATIVE = frozenset("this that these those".split())
_BEHIND_DEMONSTRATIVE = frozenset(
    "is was are were be been again happen happened mean means work works one ones thing too one's"
    " do does did done for so as about on in to of with by from at exactly project feature".split()
)
_BACK_CHINESE = re.compile(
    "他们|她们|它们|[他她它](?!人)|(?<!除)(?:这|那)(?!么|天|周|个月|年|时|儿|里|边)|其(?!实|他|它|中|余)"
)
_WEATHER = re.compile(
    r"\bit (?:rain|snow|freez|be (?:sunny|hot|cold|warm)|get dark)", re.IGNORECASE
)
LONGEST_ELLIPSIS = 8  # words; longer sentences say themselves what they are about


def is_relational(word: str) -> bool:
    """Whether an English word, in either number, is said of something else."""
    folded = word.casefold()
    return folded in _RELATIONAL or (folded[-1:] == "s" and folded[:-1] in _RELATIONAL)


def relational_end(piece: str) -> str:
    """The relational word that a piece of Chinese ends with, "" for none."""
    return max((w for w in _RELATIONAL_CHINESE if piece.endswith(w)), key=len, default="")


def leads_away(message: str) -> bool:
    """Whether it says itself that something else comes: `by the way`, 换个话题."""
    return _LEADS_AWAY.search(message) is not None


def is_elliptic(message: str, words: int) -> bool:
    """Whether it is the rest of a sentence whose beginning was said before: `and the manager?`,
    `what about Bob?`, 预算呢？ words: how many it has.
    """
    text = message.strip()
    if words > LONGEST_ELLIPSIS:
        return False
    return bool(_ELLIPTIC.match(text)) or text.rstrip("？?。.!！ ").endswith("呢")


def refers_back(words: list[str], before: int | None) -> bool:
    """Whether one of these English words stands for something that was said before.

    words: folded, in order. before: the place of the first that names something; what comes behind
    it may stand for that.
    """
    for at, word in enumerate(words[:before]):
        following = words[at + 1] if at + 1 < len(words) else ""
        if word in _BACK and not _WEATHER.search(" ".join(words[at : at + 3])):
            return True
        if word in _DEMONSTRATIVE and (not following or following in _BEHIND_DEMONSTRATIVE):
            return True
    return words[-1:] == ["there"] and before is None


def back_in_chinese(text: str) -> int:
    """Where a text in Chinese first has what stands for something said before; -1 for nowhere."""
    found = _BACK_CHINESE.search(text)
    return found.start() if found else -1
