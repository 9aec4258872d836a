"""What fits into a budget of tokens: the most valuable first, cut where it must be, never over."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent_memfas.text.excerpts import Excerpts
from agent_memfas.text.packing import (
    EMPTY,
    ENOUGH,
    NO_ROOM,
    WHOLE,
    Candidate,
    Chosen,
    Packed,
    pack,
)
from agent_memfas.text.tokens import estimate
from agent_memfas.text.words import query_terms

MANY = 1000
STORY = (
    "We met at noon in the old harbour. The weather was fine and the coffee was good. "
    "Alice moved the deadline of the acme project to Friday. Everybody agreed at once. "
    "After that we talked about holidays for an hour. Bob wants to see the fjords."
)
CHINESE = (
    "我们中午在老港口见面。天气很好，咖啡也不错。小红把项目的截止日期改到了星期五。"
    "大家都同意了。然后我们聊了一个小时的假期。小明想去看峡湾。"
)
TABLE = """| Host | Port |
| --- | --- |
| db1 | 5432 |
| db2 | 5433 |
| cache | 6379 |
| queue | 5672 |"""
CODE = """Start it so:

```sh
export MODE=fast
cd /srv/heron. && ls. Then
./heron --port 8080
echo done
```
Then wait."""


def listed(chosen: Sequence[Chosen]) -> str:
    """A text with a title, and a header for each source."""
    lines, about = ["# Memory"] if chosen else [], ""
    for one in chosen:
        if one.candidate.about != about:
            about = one.candidate.about
            lines.append(f"[{about}]")
        lines.append(one.text)
    return "\n".join(lines)


def tagged(chosen: Sequence[Chosen]) -> str:
    """A text that is never empty, and in which each piece costs more than its words."""
    pieces = (f'<memory from="{c.candidate.about}">{c.text}</memory>' for c in chosen)
    return f"<context n={len(chosen)}>{''.join(pieces)}</context>"


def bare(chosen: Sequence[Chosen]) -> str:
    return " ".join(one.text for one in reversed(chosen))


def odd(text: str) -> int:
    """A counter by which a longer text may cost less."""
    return sum(map(ord, text)) % 97 if text else 0


COUNTERS: list[Callable[[str], int]] = [
    estimate,
    len,
    lambda text: len(text.split()),
    lambda text: int(len(text) ** 1.3),
    lambda text: int(len(text) ** 0.5),
    lambda text: len(set(text)),
    odd,
]

texts = st.one_of(
    st.sampled_from([STORY, CHINESE, TABLE, CODE, "Door code is 4411.", "x" * 900, "", " \n"]),
    st.text(max_size=80),
    st.text(alphabet="ab. \n|-`。", max_size=60),
)
candidates = st.lists(
    st.builds(
        Candidate,
        key=st.text(alphabet="abc", max_size=2),
        text=texts,
        value=st.one_of(st.sampled_from([0.0, 0.5, 1.0]), st.floats()),
        about=st.sampled_from(["MEMORY.md", "memory/2026-02-24.md"]),
        terms=st.sampled_from([(), tuple(query_terms("acme deadline")), ("ab", "星期")]),
    ),
    max_size=12,
)
ways = st.sampled_from([listed, tagged, bare])
counters = st.sampled_from(COUNTERS)


def one(text: str, value: float = 1.0, asked: str = "", key: str = "") -> Candidate:
    return Candidate(key or text[:9], text, value, "MEMORY.md", tuple(query_terms(asked)))


def given_of(packed: Packed) -> list[str]:
    return [chosen.text for chosen in packed.chosen]


@given(candidates, st.integers(0, 400), ways, counters, st.integers(0, 8))
@settings(max_examples=300, deadline=None)
def test_never_over_budget_and_all_accounted_for(
    given: list[Candidate],
    budget: int,
    compose: Callable[[Sequence[Chosen]], str],
    count: Callable[[str], int],
    most: int,
) -> None:
    """Whatever is packed, by whatever count: the text is within the budget, it is what is said to
    be in it, and each candidate is given once or left with a reason."""
    packed = pack(given, budget, compose, count, most)
    assert count(packed.text) == packed.tokens <= budget
    assert packed.text == compose(packed.chosen) or (packed.text == "" and not packed.chosen)
    assert len(packed.chosen) <= most
    known = [chosen.candidate for chosen in packed.chosen] + [left for left, _ in packed.left]
    assert sorted(map(id, known)) == sorted(map(id, given))
    for chosen in packed.chosen:
        assert chosen.tokens == count(chosen.text) <= WHOLE
        assert chosen.text.strip()
        assert chosen.cut == (chosen.text != chosen.candidate.text)
    for left, reason in packed.left:
        assert (reason == EMPTY) == (not left.text.strip())
        assert reason != ENOUGH or len(packed.chosen) == most


@given(candidates, st.integers(0, 400), ways, counters)
@settings(deadline=None)
def test_the_more_valuable_come_first(
    given: list[Candidate],
    budget: int,
    compose: Callable[[Sequence[Chosen]], str],
    count: Callable[[str], int],
) -> None:
    """What is given comes by falling value, what is worth the same in the order it came in."""
    place = {id(candidate): n for n, candidate in enumerate(given)}
    order = [
        (-c.candidate.value if c.candidate.value == c.candidate.value else float("inf"),
         place[id(c.candidate)])
        for c in pack(given, budget, compose, count, MANY).chosen
    ]  # fmt: skip
    assert all(a < b for a, b in pairwise(order))


@given(candidates, st.integers(0, 300), st.integers(0, 300), ways, counters)
@settings(max_examples=300, deadline=None)
def test_a_larger_budget_gives_no_less(
    given: list[Candidate],
    budget: int,
    more: int,
    compose: Callable[[Sequence[Chosen]], str],
    count: Callable[[str], int],
) -> None:
    """With more room no candidate is given up, or cut, or robbed of the words that were asked for,
    for one that is worth less."""

    def form(chosen: Chosen) -> int:
        if not chosen.cut:
            return 3
        excerpts = Excerpts(chosen.candidate.text, chosen.candidate.terms)
        short = [excerpts.shown(step) for step in range(1, min(excerpts.covering, excerpts.steps))]
        return 1 if chosen.text in short else 2

    def forms(packed: Packed) -> list[int]:
        found = {id(chosen.candidate): form(chosen) for chosen in packed.chosen}
        order = sorted(given, key=lambda c: -c.value if c.value == c.value else float("inf"))
        return [found.get(id(candidate), 0) for candidate in order]

    small = pack(given, budget, compose, count, MANY)
    large = pack(given, budget + more, compose, count, MANY)
    assert forms(large) >= forms(small)


def test_a_short_fact_is_given() -> None:
    """A fact of a few words is worth as much as any: it is given beside long ones."""
    packed = pack([one(STORY, 0.9), one("Door code is 4411.", 0.3)], 200, listed, estimate, 10)
    assert given_of(packed) == [STORY, "Door code is 4411."]


def test_what_is_too_long_gives_way() -> None:
    """A piece that does not fit, not even in part, does not stop the shorter ones after it."""
    long = one("word" * 45, 0.9)
    packed = pack([long, one("Door code is 4411.", 0.3)], 15, listed, estimate, 10)
    assert given_of(packed) == ["Door code is 4411."]
    assert packed.left == ((long, NO_ROOM),)


def test_a_long_piece_is_cut_around_what_was_asked() -> None:
    """Of a story that does not fit, the sentence with the answer is given, and … for the rest."""
    packed = pack([one(STORY, asked="When is the deadline for acme?")], 25, listed, estimate, 10)
    assert given_of(packed) == ["… Alice moved the deadline of the acme project to Friday. …"]
    assert packed.chosen[0].cut


def test_a_cut_piece_grows_into_the_room_that_is_left() -> None:
    """Once everything has had its turn, an excerpt gets the sentences around it, too."""
    asked = "When is the deadline for acme?"
    packed = pack([one(STORY, 0.9, asked), one("Door code is 4411.", 0.3)], 50, listed, estimate, 9)
    assert given_of(packed) == [
        f"… {STORY[35:-78]} …",
        "Door code is 4411.",
    ]


def test_a_chinese_text_is_cut_between_its_sentences() -> None:
    """Where sentences end without a blank, they are cut there all the same."""
    packed = pack([one(CHINESE, asked="截止日期是什么时候？")], 30, listed, estimate, 10)
    assert given_of(packed) == ["… 小红把项目的截止日期改到了星期五。 …"]


def test_a_table_keeps_its_head() -> None:
    """A table is cut between its rows, and the row asked for comes with the names of the columns."""
    shown = Excerpts(TABLE, query_terms("port of the cache")).shown
    assert Excerpts(TABLE, query_terms("cache")).shown(1) == (
        "| Host | Port |\n| --- | --- |\n…\n| cache | 6379 |\n…"
    )
    assert shown(99) == TABLE


def test_code_stays_code() -> None:
    """Code is cut between its lines, and the marks around it stay."""
    assert Excerpts(CODE, query_terms("heron port 8080")).shown(1) == (
        "…\n```sh\n…\n./heron --port 8080\n…\n```\n…"
    )


def test_without_a_match_a_text_begins_at_its_beginning() -> None:
    """A long text that has none of the words is given from its first sentence on."""
    assert Excerpts(STORY, ()).shown(1) == "We met at noon in the old harbour. …"


@pytest.mark.parametrize("text", [STORY * 40, CHINESE * 60, "a1b2 " * 5000, "字" * 9000])
def test_a_huge_piece_is_given_in_part(text: str) -> None:
    """What is over 2,000 tokens is never given whole and never dropped."""
    packed = pack([one(text, asked="deadline 截止")], 5000, listed, estimate, 10)
    assert [chosen.cut for chosen in packed.chosen] == [True]
    assert 1500 < packed.chosen[0].tokens <= WHOLE


def test_no_more_than_asked_for() -> None:
    """With room for all, no more come than are wanted; the others are named."""
    known = [one(f"Fact {n}.", 1 / n) for n in (3, 1, 2)]
    packed = pack(known, 500, listed, estimate, 2)
    assert given_of(packed) == ["Fact 1.", "Fact 2."]
    assert packed.left == ((known[0], ENOUGH),)


def test_few_counts_are_enough() -> None:
    """60 candidates are packed with a dozen or two counts of the whole text, not with hundreds."""
    calls = list[int]()

    def compose(chosen: Sequence[Chosen]) -> str:
        calls.append(len(chosen))
        return listed(chosen)

    known = [one(f"{STORY[: 60 + 7 * (n * 13 % 37)]} {n}", 1 / (n + 1)) for n in range(60)]
    for budget in (300, 800, 1500, 3000, 5000):
        calls.clear()
        packed = pack(known, budget, compose, estimate, 60)
        assert len(calls) <= 40, (budget, calls)
        assert packed.tokens > 0.9 * min(budget, estimate(listed([
            Chosen(c, c.text, 0) for c in known])))  # fmt: skip


@settings(deadline=None)
@given(texts, st.lists(st.sampled_from(["acme", "deadlin", "friday", "星期", "db2", "ab"])))
def test_each_longer_excerpt_is_of_the_same_text(text: str, asked: list[str]) -> None:
    """Excerpts hold nothing but what the text holds, in its order; after the longest comes the
    text itself."""
    excerpts = Excerpts(text, asked)
    assert excerpts.shown(excerpts.steps + 1) == text or not text.strip()
    for step in range(1, excerpts.steps + 1):
        at = 0
        for part in excerpts.shown(step).replace("…", "\n").split("\n"):
            if part.strip() and "…" not in text:
                found = text.find(part.strip(), at)
                assert found >= at
                at = found
