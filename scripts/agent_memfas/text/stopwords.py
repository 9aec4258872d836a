"""Words that say nothing about the content of a question: English, Chinese, a few Japanese."""

from __future__ import annotations

# I, me, my are no stop words: in one's own notes they tell who said it. Measured on conversations
# with an assistant: evidence found within 1,000 tokens rises from 17 to 20-22 %, elsewhere no loss.
_ENGLISH = frozenset(
    """
    a an the this that these those
    we us our ours you your yours he him his she her hers it its they them their theirs
    am is are was were be been being do does did done doing have has had having
    can could will would shall should might must
    what when where which who whom whose why how
    and or but nor if then than so as because while not no only own same too very just also
    of at by for from in into on onto to with without about up down out off over under again
    during before after between there here now
    all any both each few more most other some such ever
    """.split()
)
_NAMES = frozenset(("IT", "US", "WHO", "Will"))  # stop words in another spelling only

_FUNCTION_CHARACTERS = frozenset(
    "的了着过是在有我你您他她它们这那哪谁啥什和与及或而但且也都就才又再还很太更最不没别吗呢吧啊呀哦嗯嘛啦哎哇么个些"
    "之于以为因所把被让给从到对向跟比等能会要想可应该将已"
    "著過們這誰與嗎麼個於為讓給從對會應該將還沒別"
)
_FUNCTION_PAIRS = frozenset(
    """
    什么 怎么 怎样 么样 哪里 哪个 哪些 哪儿 多少 几个 如何 是否 么时 时候 可以 可能
    应该 因为 所以 但是 而且 或者 如果 虽然 不过 然后 还是 就是 只是 这个 那个
    这些 那些 这样 那样 这里 那里 这么 那么 我们 你们 他们 她们 它们 自己 已经
    一个 一下 一些 一样 没有 非常 真的 什麼 怎麼 怎樣 麼樣 哪裡 哪個 幾個 麼時 時候
    應該 因為 雖然 不過 然後 還是 這個 那個 這樣 那樣 這裡 那裡 已經 一個 一樣
    です ます した でし まし には では とは
    """.split()
)


def is_stop_word(word: str) -> bool:
    """Whether an English word says nothing about the content.

    ``don't`` and ``we'll`` are such words, ``IT`` and the name ``Will`` are not.
    """
    folded = word.casefold()
    if folded in _ENGLISH:
        return word not in _NAMES
    head, _, _ = folded.partition("'")
    return head != folded and (head in _ENGLISH or folded.endswith("n't"))


def is_function_character(character: str) -> bool:
    """Whether a Chinese character is mostly grammar: a particle, a pronoun, a conjunction."""
    return character in _FUNCTION_CHARACTERS


def is_function_pair(first: str, second: str) -> bool:
    """Whether two neighbours stand for grammar: ``什么``, ``我的``."""
    if first in _FUNCTION_CHARACTERS and second in _FUNCTION_CHARACTERS:
        return True
    return first + second in _FUNCTION_PAIRS
