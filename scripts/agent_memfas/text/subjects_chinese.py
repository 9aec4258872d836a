"""What a message in Chinese is about, without a dictionary: what is left of a sentence where words
of grammar, of every day and of asking are taken out, and verbs of one character at its ends.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from typing import NamedTuple

from agent_memfas.text.everyday_chinese import EDGES, KEPT, PARTING, is_plain
from agent_memfas.text.referring import relational_end
from agent_memfas.text.spoken import FAMILIES
from agent_memfas.text.stopwords import is_function_pair

LONGEST = 8  # characters of a piece
_HAN = re.compile("[\u3400-\u4dbf\u4e00-\u9fff]+")
_ABOUT = re.compile(
    r"(?:关于|關於|有关|聊聊|说说|講講|讲讲|谈谈|介绍|介紹|聊一下|说一下|讲一下|讨论一下?)$"
)
# One character that does something; words that begin or end so are none of these.
_VERBS = frozenset(
    "说问讲谈聊看查找去来做办买卖订叫住吃喝写修放付寄换改发回用跑帮请让打带拿加删跟离约见关开搬装"
    "好完新把和该会几多交忘丢存传借签选远贵"
)
_WORDS = tuple(
    """
    看板 买家 卖家 写作 改版 修复 修理 发布 发票 发货 发烧 付款 来源 做法 说明 聊天 讲座 谈判
    问卷 换货 用户 用药 加班 加密 开会 开关 打印 打车 搬家 装修 带宽 回归 回滚 关税 约会 办公
    订单 订阅 查询 住宿 住房 好友 新闻 新人 新加坡 新西兰 新疆 会议 多伦多 跑步 跑鞋 跑道 离婚
    离职 请假 改签 放假 吃饭 拿铁 打卡 打折 和平 开发 开源 发动机 好莱坞 跟进 寄存 住院 去重 找零
    修改 用电 加油 加湿器 帮手 完美 该死 约定 见面 喝水
    """.split()
)
_WORD_ENDS = tuple(
    """
    小说 传说 学问 访问 顾问 演讲 外卖 买卖 预订 未来 爱好 装修 维修 电视 收发 开发 研发 批发
    头发 理发 沙发 使用 费用 信用 应用 公用 租用 改换 交换 转换 更换 护照 相关 开关 海关 公开
    离开 停放 播放 存放 解放 快用 居住 付款 写完 偏好 友好 打包 背包 电话 约见 意见 预约 合约
    条约 公约 大会 晚会 聚会 年会 例会 开会 周会 社会 协会 展会 追加 参加 开幕 外交 社交 提交
    成交 库存 保存 内存 缓存 宣传 上传 房贷 挑选 书签 标签
    候选 首选 永远 长远 遥远 昂贵 宝贵 更新 创新 邀请 申请 安装
    服装 包装 古装 改装 皮带 磁带
    """.split()
)
# Said of anything, beside what is said everywhere (`everyday_chinese`).
_TITLES = frozenset("经理 主管 經理".split())
_SAID = tuple(
    """
    怎么样 怎麼樣 为什么 為什麼 什么时候 什麼時候 多少钱 这件事 那件事 件事 这个事 负责 同意 安排
    推荐 发生 到期 过期 出发 到达 值得 适合 存放 放在 住在 需不需要 有没有 是不是 能不能 可不可以
    好不好 对不对 怎样 请帮 帮忙 告诉我 跟我 给我 上次 下次 这次 哪天 哪位 哪家 哪种 哪一 几点
    几号 几月 多久 多大 多高 多远 多长 星期 礼拜 下周 上周 这周 本周 下个月 上个月 这个月 月底
    年底 真是 还是 或是 不太 一共 总共 忘记 忘了 记得 想知道 请问 麻烦 谢谢 好的 收到 明白 知道了
    没问题 可以吗 行吗 干什么 干嘛 坏了 宕机 挂了
    """.split()
)
_COUNTED = re.compile(
    "[一二三四五六七八九十两几数半每某]+[个個只张張封本条條件台辆輛家位份些种種次间間把杯瓶部篇首场場顿段]"
)
_PARTS = re.compile(
    f"(?!{'|'.join(KEPT)})(?<![绝相反面核配校])(?:对(?![话象接手比账]))|[{PARTING}]"
)


class Piece(NamedTuple):
    """text: the characters. place: of the first. named: a person's name by its form, or a known
    one. relational: it says something of another thing. about: `关于` and the like stand before it.
    held: it is somebody's or something's (的 stands before it).
    """

    text: str
    place: int
    named: bool
    relational: bool
    about: bool
    held: bool

    def pairs(self) -> frozenset[str]:
        """Its pairs of neighbours, by which it is compared."""
        return frozenset(self.text[at : at + 2] for at in range(len(self.text) - 1))


def pieces_of(text: str, known: Collection[str] = ()) -> Iterator[Piece]:
    """What is left of a text in Chinese, in order. text: normal (`characters.normal`)."""
    names = [name for name in known if not name.isascii()]
    for found in _HAN.finditer(text):
        for start, end in _cut(found[0], names):
            said = found[0][start:end]
            place = found.start() + start
            yield from _pieces(said, place, text, names)


def _cut(run: str, names: list[str]) -> Iterator[tuple[int, int]]:
    """Between the words of every day and of grammar in a run; a known name stands by itself."""
    start = at = 0
    while at < len(run):
        name = next((n for n in names if run.startswith(n, at)), "")
        size = len(name) or _everyday(run, at)
        if not size:
            at += 1
            continue
        if at - start > 1:
            yield start, at
        if name:
            yield at, at + size
        at += size
        start = at
    if at - start > 1:
        yield start, at


def _everyday(run: str, at: int) -> int:
    """How many characters from here on say nothing of their own."""
    said = next((word for word in _SAID if run.startswith(word, at)), "")
    if said:
        return len(said)
    kept = next((word for word in (*KEPT, *_WORDS) if run.startswith(word, at)), "")
    if kept:
        return 0
    pair = run[at : at + 2]
    if len(pair) == 2 and is_plain(pair):
        return 0 if relational_end(pair) else 2
    if run[at] in EDGES or _PARTS.match(run, at):
        return 1
    return 2 if len(pair) == 2 and is_function_pair(pair[0], pair[1]) else 0


def _pieces(said: str, place: int, text: str, names: list[str]) -> Iterator[Piece]:
    about = _ABOUT.search(text[max(0, place - 4) : place]) is not None
    held = text[place - 1 : place] == "的"
    if said in names:
        yield Piece(said, place, named=True, relational=False, about=about, held=held)
        return
    tail = relational_end(said)
    head = said[: len(said) - len(tail)]
    if len(head) == 1 and tail in _TITLES and head in FAMILIES:
        head, tail = said, ""
    bare, cut = _bare(head)
    if len(bare) > 1:
        whole = bare[-LONGEST:]
        at = place + cut + len(bare) - len(whole)
        yield Piece(whole, at, _is_person(whole), relational=False, about=about, held=held)
    elif tail:
        yield Piece(tail, place + len(head), named=False, relational=True, about=about, held=held)


def _bare(said: str) -> tuple[str, int]:
    """Without verbs of one character around it and numbers; how many were cut off before it."""
    start, end = 0, len(said)
    while end - start > 1 and said[start] in _VERBS and not said.startswith(_WORDS, start):
        start += 1
    if counted := _COUNTED.match(said, start):
        start = counted.end()
    while end - start > 2 and said[end - 1] in _VERBS and not said[:end].endswith(_WORD_ENDS):
        end -= 1
    return said[start:end], start


def _is_person(piece: str) -> bool:
    """Whether it has the form of a person's name: 张三, 李小明, 小王, 王经理."""
    return 2 <= len(piece) <= 3 and piece[0] in FAMILIES
