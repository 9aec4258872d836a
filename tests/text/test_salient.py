"""Which lines of a log are kept when only a part of it can be kept, and what of each."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from agent_memfas.text.salient import chances, excerpt, frequencies, salient
from agent_memfas.text.tokens import estimate

TALK = """# 2026-02-24

## 10:00

- Alice: Hey Bob! Good to see you! How are you?
- Bob: Hey Alice! Good to see you too! I'm fine, thanks. What's new?
- Alice: I moved to Lisbon last week and started at Siemens on Monday.
- Bob: Wow, that's great! What do you do there?
- Alice: Compilers for turbines, with 12 other engineers.
- Bob: That sounds great! I'm glad for you.
- Alice: Thanks, Bob!
""".splitlines()

CHINESE = """# 2026-02-24

- 小明：你好！最近怎么样？
- 小红：很好，谢谢你！你呢？
- 小明：我昨天在上海参加了公司的马拉松比赛，跑了42公里。
- 小红：哇，太棒了！
""".splitlines()

texts = st.lists(st.one_of(st.sampled_from(TALK + CHINESE), st.text(max_size=60)), max_size=20)


def kept(lines: list[str], budget: int) -> list[str]:
    return [lines[n] for n in salient(lines, frequencies(lines), budget)]


def test_what_happened_is_kept_and_not_the_greetings() -> None:
    """With room for two lines of a talk, those remain that say where, when, who and how many."""
    assert kept(TALK, 28) == [TALK[6], TALK[8]]


def test_it_works_in_chinese() -> None:
    """Of a talk in Chinese the line with the event remains, too."""
    assert kept(CHINESE, 30) == [CHINESE[4]]


def test_the_excerpt_leaves_the_courtesies_out() -> None:
    """Of a long line the sentence with the news is kept, as it stands there, without the speaker."""
    line = "- 10:15 Alice: Thanks a lot, you too! I adopted a dog named Rex in May 2025. How nice!"
    assert excerpt(line, frequencies([*TALK, line])) == "I adopted a dog named Rex in May 2025."


def test_the_number_of_a_list_is_no_sentence() -> None:
    """What begins with `7. ` is not cut behind the number."""
    line = "7. Moved the heron database to Frankfurt. Fine."
    assert excerpt(line, frequencies([*TALK, line])) == "Moved the heron database to Frankfurt."


def test_what_is_said_everywhere_tells_little() -> None:
    """A line that stands in every log counts for less than one that stands in this log only."""
    daily = "- Ran the backup of the database on server 4"
    lines = [daily, "- Moved the database of server 4 to Frankfurt"]
    known = frequencies([daily] * 50 + lines)
    assert [lines[n] for n in salient(lines, known, 14)] == lines[1:]


def test_the_same_is_kept_once() -> None:
    """Two lines that say the same cost only one place, though time and bullet differ."""
    lines = ["- 10:00 Deployed build 42 to Lisbon", "* 11:00 Deployed build 42 to Lisbon"]
    assert kept(lines, 1000) == lines[:1]


def test_code_headings_and_marks_are_no_candidates() -> None:
    """Lines that the caller calls opaque, headings, rules and emoji alone are never chosen."""
    lines = [
        "# Lisbon 2026",
        "---",
        "🎉🎉",
        "secret = Lisbon()",
        "- Moved to Lisbon",
        "",
        "- 42",
        "- user:",
        "7.",
    ]
    known = frequencies(lines)
    assert salient(lines, known, 1000, opaque={3}) == [4]
    assert set(chances(lines, known, opaque={3})) == {4}


def test_a_chance_is_higher_for_the_line_with_the_news() -> None:
    """Each candidate has a chance between 0 and 1, the news a higher one than the thanks."""
    found = chances(TALK, frequencies(TALK))
    assert found[6] > 2 * found[10]
    assert all(0 < chance < 1 for chance in found.values())


@given(texts, st.integers(0, 200), st.integers(0, 20))
def test_the_budget_holds_for_any_text(lines: list[str], budget: int, each: int) -> None:
    """Whatever the lines are: in order, each once, the same each time, and within the budget (a
    single line excepted); every excerpt stands in its line."""
    known = frequencies(lines)
    chosen = salient(lines, known, budget, each=each)
    assert chosen == sorted(set(chosen)) == salient(lines, known, budget, each=each)
    parts = [excerpt(lines[n], known) for n in chosen]
    assert all(parts)
    assert len(parts) <= 1 or sum(estimate(part) + each for part in parts) <= budget
    assert budget or not chosen
    assert all(
        "<!--" in lines[n] or part in lines[n] for n, part in zip(chosen, parts, strict=True)
    )
