"""What makes a line an answer beside its words: who says it, when, and what stands around it."""

from __future__ import annotations

from datetime import date
from pathlib import Path
from typing import Any

import pytest

from agent_memfas.text.asked import is_lookup, is_named, may_name_time, quotations
from agent_memfas.text.asked_times import asks_assistant, named_spans, named_times, nearness
from agent_memfas.text.documents import parse
from agent_memfas.text.passages import passages
from agent_memfas.text.speakers import asks, speaker_of
from inputs.memory import Memory

pytestmark = pytest.mark.usefixtures("nothing_of_this_machine")


@pytest.fixture
def memory(tmp_path: Path) -> Memory:
    memory = Memory(tmp_path / "agent")
    memory.write("MEMORY.md", "")
    return memory


def hits(memory: Memory, *words: str) -> list[dict[str, Any]]:
    """The hits of a search, best first, with and without an index the same."""
    found = []
    for more in ((), ("--no-index",)):
        result = memory.run("search", *words, "--explain", "--json", "--within", "0", *more)
        found.append(result.data["hits"])
    assert [hit["text"] for hit in found[0]] == [hit["text"] for hit in found[1]]
    return found[0]


def test_the_answer_to_a_question_is_found_though_it_has_none_of_its_words(memory: Memory) -> None:
    """Somebody is asked, and says it in the next line: that line is among the hits, for the words
    of the line before it, and says so."""
    memory.write("memory/2026-02-24.md", "- Bob: where did you spend your holiday in Norway?\n"
                 "- Alice: on a farm near Bergen\n- Bob: nice\n\n# Later\n\n- Carl: lunch\n")  # fmt: skip
    found = hits(memory, "Where was the holiday in Norway spent?")
    by_line = {hit["start_line"]: hit for hit in found}
    assert 2 in by_line
    assert "own" not in by_line[2]["features"]
    assert by_line[2]["features"]["window"] > 0
    assert by_line[2]["features"]["answers"] > 0
    assert 7 not in by_line


@pytest.mark.parametrize("question", ["Norway", "holiday Norway", "数据库", "上海机房"])
def test_one_or_two_words_are_looked_up(memory: Memory, question: str) -> None:
    """Then nothing is meant by what stands beside a line that has them."""
    memory.write("memory/a.md", "- a holiday in Norway\n- lunch\n\n- 上海机房的数据库\n- 午饭\n")
    assert all(hit["features"]["own"] > 0 for hit in hits(memory, question))


def test_who_is_named_in_the_question_is_heard_first(memory: Memory) -> None:
    """The same words of two people: the one who is asked about, by name or with 's."""
    memory.write("memory/a.md", "- Alice: the plan is to move in May\n\n# B\n\n"
                 "- Carol: the plan is to move in June\n")  # fmt: skip
    for question in ("What is the plan of Carol?", "What is Carol's plan?"):
        first, second = hits(memory, question)[:2]
        assert first["text"].startswith("- Carol")
        assert first["features"]["speaker"] > 0
        assert "speaker" not in second["features"]


def test_a_speaker_of_the_daily_log_is_known(memory: Memory) -> None:
    """`memfas log` puts the time first: who stands behind it is who speaks."""
    memory.run("log", "Alice: the plan is to move in May")
    memory.run("log", "Carol: the plan is to move in June")
    first = hits(memory, "What is Carol's plan for the move?")[0]
    assert first["text"].endswith("Carol: the plan is to move in June")
    assert first["features"]["speaker"] > 0


def test_a_person_is_heard_before_an_assistant(memory: Memory) -> None:
    """Unless the question asks what the assistant said."""
    memory.write("memory/a.md", "- assistant: the best budget for a trip is 900 euros\n\n# B\n\n"
                 "- user: my budget for the trip is 700 euros\n")  # fmt: skip
    assert hits(memory, "How large is the budget for the trip?")[0]["text"].startswith("- user")
    said = hits(memory, "Which budget for the trip did you suggest?")
    assert all("assistant" not in hit["features"] for hit in said)


def test_a_time_that_is_named_counts(memory: Memory) -> None:
    """A month, a day, last week: of two logs the one of that time comes first."""
    memory.write("memory/2026-02-24.md", "- dinner with the whole team was fun\n")
    memory.write("memory/2026-01-12.md", "- dinner with the whole team was loud\n")
    today = ("--today", "2026-03-05")
    for when, text in (("in January", "loud"), ("on 24 February", "fun"), ("last week", "fun"),
                       ("in 2026-01", "loud"), ("last month", "fun")):  # fmt: skip
        found = hits(memory, f"How was the dinner with the team {when}?", *today)
        assert found[0]["text"].endswith(text), when
        assert found[0]["features"]["time"] > 0


def test_what_stands_in_quotation_marks_is_wanted_as_it_stands(memory: Memory) -> None:
    """The words in that order come before the same words apart."""
    memory.write("memory/a.md", "- a big sky and the blue sea\n- the big blue\n")
    for question in ('"big blue"', "who wrote “Big  Blue”?"):
        first = hits(memory, question)[0]
        assert (first["text"], first["features"]["quoted"] > 0) == ("- the big blue", True)


def test_the_features_add_up(memory: Memory) -> None:
    """A higher score has a larger sum; the text form shows the same parts."""
    memory.write("memory/a.md", "- Alice: heron stork crow\n- heron stork\n- heron\n")
    found = hits(memory, "heron stork crow ibis")
    sums = [sum(hit["features"].values()) for hit in found]
    assert len(found) >= 3
    assert sums == sorted(sums, reverse=True)
    shown = memory.run("search", "--explain", "heron", "stork", "crow", "ibis").text
    assert f"= own {found[0]['features']['own']:+.2f}" in shown
    plain = memory.run("search", "heron", "--json").data["hits"][0]
    assert "features" not in plain


@pytest.mark.parametrize(("text", "name"), [
    ("- Alice: hello", "Alice"), ("- [P1][2026-02-01] Bob Smith: hi", "Bob Smith"), ("* 小明：你好", "小明"),
    ("- 01:52 Bob: hi", "Bob"), ("- 01:52:03 小明：好", "小明"), ("1. user: hi", "user"), ("- 10:30 lunch", ""), ("- see https://x.y: z", ""), ("Alice: hi", ""),
    ("- a sentence, and then: more", ""), ("- `code`: x", ""), ("- " + "x" * 40 + ": y", ""), ("", ""),
])  # fmt: skip
def test_a_speaker_is_who_stands_before_the_colon(text: str, name: str) -> None:
    """Of a bullet; times, addresses, code and sentences are nobody."""
    assert speaker_of(text) == name


def test_pieces_of_a_long_bullet_have_its_speaker_and_only_the_first_opens_it() -> None:
    """So that a long turn is known as somebody's to its end."""
    found = passages(parse(("- Alice: " + "a long story. " * 60 + "\n").encode()))
    assert len(found) > 1
    assert {passage.speaker for passage in found} == {"Alice"}
    assert [passage.opens for passage in found] == [True] + [False] * (len(found) - 1)


def test_a_heading_above_a_deeper_one_is_no_passage() -> None:
    """It stands above all that follows there; one with nothing under it is all there is."""
    found = passages(parse(b"# 2026-02-24\n\n## 10:00\n\n- a line\n\n## Empty\n\n## End\n"))
    assert [passage.text for passage in found] == ["- a line", "## Empty", "## End"]


@pytest.mark.parametrize(("question", "times"), [
    ("on 2026-02-24?", [(2026, 2, 24)]), ("7 May 2023", [(2023, 5, 7)]), ("May 7th, 2023", [(2023, 5, 7)]),
    ("in march", [(0, 3, 0)]), ("march on", []), ("may I ask", []), ("2023年5月7日", [(2023, 5, 7)]),
    ("五月的事", [(0, 5, 0)]), ("in 2024", [(2024, 0, 0)]), ("version 1.2", []), ("2026-13-77", [(2026, 13, 77)]),
])  # fmt: skip
def test_times_that_a_question_names(question: str, times: list[tuple[int, int, int]]) -> None:
    """Dates, months, years, in English and Chinese; `may` and `march` only behind a preposition."""
    assert named_times(question) == times
    assert may_name_time(question) or not times
    assert 0 <= nearness("2026-02-24", named_times(question), []) <= 1


def test_spans_that_a_question_names_relative_to_today() -> None:
    """Weeks begin on Monday; at the ends of the calendar nothing breaks."""
    today = date(2026, 3, 5)  # a Thursday
    assert named_spans("last week", today) == [(date(2026, 2, 23), date(2026, 3, 1))]
    assert named_spans("上周", today) == named_spans("last week", today)
    assert named_spans("yesterday", today) == [(date(2026, 3, 4), date(2026, 3, 4))]
    assert named_spans("3 days ago", today) == [(date(2026, 3, 2), date(2026, 3, 2))]
    assert named_spans("last month", today) == [(date(2026, 2, 1), date(2026, 2, 28))]
    assert named_spans("last year, last week, 999 weeks ago", date.min) == []
    assert nearness("", [(2026, 0, 0)], []) == 0


def test_small_questions_about_a_question() -> None:
    """Names, quotations, look-ups, and whether it is the assistant that is meant."""
    assert is_named("Alice Smith", "What did Alice's dog do?")
    assert not is_named("Al", "What did Alice do?")
    assert not is_named("user", "what did the user say")
    assert is_named("小明", "小明说了什么")
    assert quotations("say \"Big  Blue\" and 「你好」, 'no'") == ["big blue", "你好"]
    assert is_lookup("what is the IP?")
    assert not is_lookup("who spends holidays in Norway")
    assert asks_assistant("What did you suggest?")
    assert not asks_assistant("What did Bob suggest?")
    assert (asks("why?"), asks("x" * 200 + "?"), asks("so.")) == (2, 1, 0)
