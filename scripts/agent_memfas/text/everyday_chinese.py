"""Chinese words of every day, and the characters at which words part or cannot begin or end."""

from __future__ import annotations

_PLAIN = frozenset(
    """
    今天 明天 昨天 前天 后天 今年 明年 去年 今晚 昨晚 早上 上午 中午 下午 晚上 凌晨 周末 星期
    时间 时候 现在 以前 以后 之前 之后 刚才 刚刚 最近 最后 最终 首先 其次 然后 接着 后来 将来
    未来 目前 当前 当时 第一 第二 第三 每天 每周 每月 每年 每次 一次 一天 一起 一直 一定 一般
    一边 一种 一些 一下 一点 几天 几次 两个 三个 多次 有时 有些 有点 有关 有人 有的 很多 许多
    大家 别人 人们 自己 本人 双方 觉得 知道 认为 以为 感到 感觉 喜欢 希望 想要 需要 应该 必须
    可以 可能 能够 能力 愿意 打算 准备 开始 继续 结束 完成 进行 参加 使用 通过 根据 关于 由于
    因此 所以 因为 虽然 但是 不过 而且 并且 或者 如果 除了 为了 包括 例如 比如 以及 还有 还是
    还要 就是 只是 都是 不是 没有 不要 不会 不能 不同 不错 非常 特别 十分 比较 更加 已经 曾经
    正在 终于 马上 立即 立刻 总是 经常 常常 往往 通常 突然 仍然 其实 真的 确实 当然 大概 大约
    左右 几乎 完全 全部 所有 一切 其他 其它 其中 之间 部分 另外 各种 各个 任何 这个 那个 这些
    那些 这样 那样 这里 那里 这种 那种 这次 那次 什么 怎么 怎样 为什么 如何 哪里 多少 东西 事情
    问题 情况 方面 方式 方法 地方 时刻 结果 原因 内容 样子 意思 机会 过程 关系 作用 影响 开心
    高兴 快乐 难过 伤心 生气 害怕 担心 紧张 兴奋 激动 愉快 幸福 失望 惊讶 满意 感动 感谢 谢谢
    你好 您好 对不起 没关系 再见 请问 是的 好的 可是 只有 只要 只能 无法 得到 得知 收到 看到
    看见 听到 遇到 找到 来到 回到 见到 想到 提到 达到 受到 做到 发现 出现 变成 成为 成功 失败
    决定 建议 告诉 表示 重要 主要 简单 复杂 困难 容易 好看 好吃 漂亮 美丽 美好 可爱 有趣 最好
    最大 新的 大的 小的 上面 下面 里面 外面 前面 后面 旁边 附近 左边 右边 中间 身边 期待 参与
    表现 尝试 分享 获得 取得 失落 观看 顺利 提出 提供 选择 保持 带来 打开 关闭 增加 减少 支持
    帮助 记录 备注 待办 注意 提醒 说明 总结 更新 修改 确认 讨论 处理 解决 检查 查看 了解 学习
    工作 生活 办法 想法 看法 消息 時間 現在 以後 之後 最後 然後 後來 已經 因為 雖然 沒有 應該
    覺得 感覺 喜歡 開始 繼續 結束 進行 參加 通過 問題 東西 這個 那個 這些 這樣 那樣
    我們 什麼 怎麼 時候
    """.split()
)
_CALENDAR = frozenset("年月日号天周时分秒点星期礼拜旬〇零一二三四五六七八九十百千万亿两半第几多每")

# Words of grammar wherever they stand, but in the words that follow.
PARTING = "的了吗呢吧啊呀哦嗯嘛啦哎哇我你您他她它们这那谁啥么很太是在和与就也被把著過們這誰與嗎麼"
KEPT = """
目的 了解 在线 在線 存在 潜在 和平 共和 总和 饱和 和解 参与 參與 与会 就业 就業 就诊 成就 把握
被子 么么
""".split()
# Whatever is next to one of these ends there.
EDGES = frozenset("不没有还再才又更最都让给从向到个些要将并")

_NO_START = frozenset(
    "不没有还再才又更最都让给从向跟个些着过到等于得地之一第几两每会要能可将为以所因对"
    "应说去来上下里中后并"
)
_NO_END = frozenset(
    "到着过个些之于得地不没有给一要将从向让还再才又更最都为以因上下里中后前时说来去看玩吃做并"
)
# Words that do begin or end so.
_STARTS = tuple(
    """
    会议 会员 会计 会话 会诊 要求 要点 要素 能量 能源 可视 可行 可靠 可用 将军 以太 因素 因果
    对话 对象 对接 上海 上线 上班 上课 上传 上游 上市 后端 后台 后勤 后果 后续 中国 中心 中文
    中医 中介 中学 下载 下单 下班 会議 会員 会計 会社 會議 會員 應用 對話 過程 說明 下游 下线
    来源 里程 去重 并发 并行 对账 对比 对手 应用 应急 应届 过程 过滤 过敏 过期 等级 等待 地图
    地址 地铁 地区 地点 地震 说明 为人
    """.split()
)
_ENDS = tuple(
    """
    需要 行为 摘要 纪要 线上 网上 后来 未来 到来 海上 线下 地下 手里 家里 心里 集中 高中 初中
    其中 售后 目前 提前 临时 实时 定时 按时 及时 小时 同时 统一 唯一 场地 基地 土地 工地 心得
    签到 以来 小说 听说 所得 观看 小吃 合并 出去 过去
    """.split()
)


def is_plain(pair: str) -> bool:
    """Whether two characters are a word said everywhere."""
    return pair in _PLAIN


def is_everyday(text: str) -> bool:
    """Whether it is a word said everywhere, two of them in a row, or a number or time."""
    if text in _PLAIN or all(character in _CALENDAR for character in text):
        return True
    return any(text[:at] in _PLAIN and text[at:] in _PLAIN for at in range(2, len(text) - 1))


def is_whole(text: str) -> bool:
    """Whether it begins and ends as a word may."""
    begins = text[0] not in _NO_START or text.startswith(_STARTS)
    return begins and (text[-1] not in _NO_END or text.endswith(_ENDS))
