"""Which triggers are suggested from one's own notes."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent_memfas.text.documents import parse
from agent_memfas.text.firing import key_of
from agent_memfas.text.suggest import Suggestion, suggest


def of(text: str, least: int = 3, limit: int = 60, have: tuple[str, ...] = ()) -> list[Suggestion]:
    return suggest([("MEMORY.md", parse(text.encode()))], have, least, limit)


def terms(text: str, kind: str = "", least: int = 3) -> list[str]:
    return [s.term for s in of(text, least) if kind in (s.type, "")]


def lines(*texts: str) -> str:
    return "".join(f"- {text}\n" for text in texts)


WORK = """# Work

- Talked to Alice Smith about React Native
- Alice Smith moved the staging host to AWS
- The old app in React Native needs PostgreSQL, said Alice Smith
- PostgreSQL on the staging host is slow, AWS has a ticket
- Alice called. The code review waits
- Alice wants iPhone builds from the staging host
- Let the code review be done on AWS, asked Alice
- Deploy React Native with PostgreSQL and node.js
- Deploy the iPhone build, then node.js
- Code review of the iPhone build: node.js is too old
"""


def test_names_of_people_and_products_stand_whole() -> None:
    """Alice Smith and React Native are one suggestion each; Alice is another, for I often say just
    that; Smith, React and Native, which never stand alone, are none.
    """
    assert terms(WORK, "entity") == [
        "Alice", "AWS", "Alice Smith", "PostgreSQL", "React Native", "iPhone", "node.js",
    ]  # fmt: skip


def test_phrases_are_words_that_belong_together() -> None:
    """Words that keep coming together are suggested together, in the spelling I use most."""
    assert terms(WORK, "phrase") == ["code review", "staging host"]


def test_every_suggestion_says_how_often_and_shows_a_place() -> None:
    """I see on how many lines it stands, and where: file, line, and what is written there."""
    found = {s.term: s for s in of(WORK)}
    assert found["staging host"] == Suggestion(
        "staging host", 3, "phrase", "MEMORY.md", 4, "Alice Smith moved the staging host to AWS"
    )
    assert found["Alice"].count == 6
    assert found["Alice"].example == "Alice called. The code review waits"


@pytest.mark.parametrize(
    "name",
    ["CI/CD", "AWS", "GPT4", "GPT-4", "iPhone", "PostgreSQL", "node.js", "C++", "C#", "k8s", "R&D",
     "DATABASE_URL", "OpenSSL3", "H100", "DEC-0054", "us-east-1"],
)  # fmt: skip
def test_some_names_are_known_by_their_form_alone(name: str) -> None:
    """An acronym, a product with a capital or digit inside, a dotted name, a ticket: also where it
    only ever begins my bullets.
    """
    text = lines(f"{name} broke", f"{name} works again", f"{name}: renewed")
    found = of(text)
    assert [(s.term, s.count, s.type) for s in found] == [(name, 3, "entity")]


@pytest.mark.parametrize(
    "name",
    ["O'Brien", "Jean-Pierre", "José", "Müller", "Москва", "Van Gogh", "Bank of Utopia", "Los Robles",
     "Lord of the Kings", "Mary Jane Watson", "Mark"],
)  # fmt: skip
def test_a_capital_inside_a_sentence_makes_a_name(name: str) -> None:
    """People and places are found as they are written, with accents, links and apostrophes."""
    text = lines(f"met {name} in the park", f"dinner with {name}", f"the letter from {name}'s aunt")
    assert [(s.term, s.count, s.type) for s in of(text)] == [(name, 3, "entity")]


def test_a_capital_that_only_begins_sentences_makes_no_name() -> None:
    """The, This, Let and Deploy begin my bullets; none of them is taken for a name. Somebody who
    does so all the time is.
    """
    text = lines(
        "The worker waits. This is new", "The worker sleeps. This is old", "The end. This too",
        "Let it run", "Let it stop", "Let us see", "Deploy the worker", "Deploy it again",
        "Deploy both", "However, it works", "However, it fails", "However, it is", "Fixed it",
        "Fixed both", "Fixed all", "Decision: yes", "Decision: no", "Decision: maybe",
        "Zeynep likes tea", "Zeynep is away", "Zeynep: call back",
    )  # fmt: skip
    assert terms(text, "entity") == ["Zeynep"]
    assert terms(text, "term") == ["deploy", "worker"]


def test_titles_tell_nothing_about_names() -> None:
    """Headings and labels have capitals everywhere; their words count, but not as names."""
    text = """
## Weekly Garden Report
- **Garden Report**: the fence in the garden is done
- the report about the garden
## Garden Fence
- a new fence for the garden
## Open Fence Questions
"""
    assert terms(text, "entity") == []
    assert {"garden", "fence"} <= {*terms(text, "term")}


def test_words_of_every_day_are_no_suggestions() -> None:
    """What I say in any note, in English or Chinese, is no trigger: it would fire all the time."""
    text = lines(
        "I have really decided to go there today, because it is good and the people want it",
        "She said that we should do this next week, maybe on Monday, in March or in 2026",
        "Thanks! You know, there are many things that they could have done with their time",
        "今天我们觉得这个问题非常重要，因为大家都没有时间", "我昨天已经知道了这件事情，但是没有办法",
    )  # fmt: skip
    assert of(text * 3) == []


def test_chinese_words_are_found_without_a_dictionary() -> None:
    """数据库, 部署 and 项目经理 are suggested whole: not 数据, not 据库, not 项目, and no grammar."""
    text = lines(
        "数据库需要备份，张伟负责", "今天迁移了数据库", "数据库连接又超时了", "部署之前先检查数据库",
        "周五不要部署", "项目经理说部署要延期", "和项目经理开会，讨论怎么部署", "张伟找项目经理谈了预算",
        "我们让张伟去看服务器",
    )  # fmt: skip
    assert [(s.term, s.count) for s in of(text)] == [
        ("数据库", 4), ("部署", 4), ("张伟", 3), ("项目经理", 3),
    ]  # fmt: skip


def test_japanese_and_korean_words_are_found() -> None:
    """データベース stays whole, and a Korean word is known with any particle."""
    text = lines(
        "データベースの移行", "データベースが遅い", "新しいデータベース",
        "데이터베이스를 백업", "데이터베이스가 느림", "새 데이터베이스",
    )  # fmt: skip
    assert terms(text, "term") == ["データベース", "데이터베이스"]


def test_a_name_inside_chinese_text_is_a_name() -> None:
    """Latin names in Chinese sentences are found."""
    text = lines("昨天和Zeynep吃饭", "我问了Zeynep", "给Zeynep写信")
    assert [(s.term, s.type) for s in of(text)] == [("Zeynep", "entity")]


def test_a_line_counts_once() -> None:
    """A line that says a word forty times counts once, so it does not push itself up."""
    assert of("- " + "zebra " * 40 + "\n- zebra\n") == []
    assert [(s.term, s.count) for s in of("- zebra zebra\n- a zebra\n# Zebra\n")] == [("zebra", 3)]


def test_what_exists_is_not_suggested_again() -> None:
    """A trigger that I have is not suggested, however it is written there; nor its plural."""
    text = lines(*["the code-review of zebras with Alice Smith on GPT4"] * 3)
    assert terms(text) == ["Alice Smith", "GPT4", "code-review", "zebras"]
    have = tuple(map(key_of, ("Code_Review", "zebra", "alice smith", "gpt4")))
    assert of(text, have=have) == []


def test_of_several_forms_of_a_word_the_most_frequent_is_suggested() -> None:
    """I am not asked about deploys, deployed and Deploying one by one."""
    text = lines(*["deploys"] * 3, *["deployed"] * 4, *["Deploying"] * 3)
    assert [(s.term, s.count) for s in of(text)] == [("deployed", 4)]


def test_what_is_no_prose_does_not_count() -> None:
    """Front matter, code, comments, paths, URLs, mail addresses, hashes, days and times are none."""
    text = (
        """---
title: Zebra
tags: [zebra, Zebra]
---
"""
        + """
<!-- trigger: zebra -->
```
zebra = Zebra()
```

    zebra --indented

- see memory/zebra/2026-02-24.md#L3 and ~/zebra/x.txt or ./zebra <!-- zebra -->
- https://zebra.example.com/zebra?q=zebra www.zebra.example zebra@example.com
- at 10:30, 3pm, on 2026-02-24, Mon 12th, v1.2.3, 3f2a9bc1d4e, 123e4567-e89b-12d3-a456-426614174000
- `zebra --run this`, README.md, [notes](zebra.md), C:\\zebra\\x, <b class="zebra">bold</b>
"""
        * 3
    )
    assert [s for s in of(text) if s.term.lower() not in ("notes", "bold")] == []


def test_secrets_are_neither_suggested_nor_shown() -> None:
    """A key that stands in my notes stays out of the suggestions and out of their examples."""
    secret = "sk-ant-abcdefGH12345678abcdefGH"
    text = lines(*[f"the gateway key is {secret}, api_key={secret}"] * 3)
    assert "gateway key" in terms(text)
    assert all("abcdef" not in s.term + s.example for s in of(text))
    key = (
        "-----BEGIN PRIVATE KEY-----\n"
        + "Zebra1Zebra2Zebra3Zebra\n" * 5
        + "-----END PRIVATE KEY-----\n"
    )
    assert of(key) == []


def test_the_kinds_share_the_limit() -> None:
    """Of twenty I get seven names, five phrases and eight words; what is not used goes to others."""
    names = [f"met {n} here" for n in ("Ada Bo Cy Dov Eva Fay Gus Hal Ivo Jan2").split()]
    text = lines(*names * 3, *[f"some {w} again" for w in ("zebra yak gnu emu ibex lynx puma boar "
                 "stoat otter").split()] * 3)  # fmt: skip
    kinds = [s.type for s in of(text, limit=20)]
    assert len(kinds) == 20
    assert kinds == sorted(kinds, key=["entity", "phrase", "term"].index)
    assert [s.type for s in of(text, limit=1)] == ["entity"]
    assert of(text, limit=0) == of(text, limit=-1) == []


def test_the_order_is_always_the_same() -> None:
    """Names before phrases before words, each by count, then by letters; whatever file is first."""
    notes = [
        ("a.md", parse(WORK.encode())),
        ("b.md", parse(lines("about AWS", "more AWS").encode())),
    ]
    there, back = suggest(notes), suggest(notes[::-1])
    assert [(s.term, s.count, s.type) for s in there] == [(s.term, s.count, s.type) for s in back]
    assert [s.term for s in there[:2]] == ["Alice", "AWS"]


def test_fewer_or_more_occurrences_can_be_asked_for() -> None:
    """With a lower bound also what is rare is suggested, with a higher one only what is frequent."""
    text = lines("a zebra", "the zebra and a gnu", "one gnu", "no zebra")
    assert terms(text, least=2) == ["zebra", "gnu"]
    assert terms(text, least=3) == ["zebra"]
    assert terms(text, least=4) == []
    assert terms(text, least=0) == ["zebra", "gnu"]


def test_plain_lines_and_lessons_of_jsonl_are_read_too() -> None:
    """Lines without a parsed document do; of a JSON line the texts count, not the field names."""
    assert [s.term for s in suggest([("x", ["a zebra", "two zebras", "zebra", "zebra"])])] == [
        "zebra"
    ]
    lesson = '{"fieldname": "zebra", "more": [{"deep": "of gnus"}], "n": 3}'
    found = suggest([("lessons/x.jsonl", parse(f"{lesson}\n".encode() * 3))])
    assert [s.term for s in found] == ["gnus", "zebra"]
    assert found[0].example == "zebra | of gnus"


def test_a_long_example_is_cut_around_the_term() -> None:
    """The example shows the term even where it stands far inside a long line."""
    text = lines(
        *["so it goes on and on " * 40 + "until the zebra comes " + "and on and on " * 40] * 3
    )
    (found,) = of(text)
    assert "zebra" in found.example
    assert len(found.example) <= 160


@pytest.mark.parametrize(
    "data",
    [b"", b"\0\1\2zebra\0" * 99, b"a" * 2_000_000, b"zebra " * 400_000, "😀👩‍👩‍👧🇩🇪 ".encode() * 9_000,
     b"[" * 100_000, b"<a " * 30_000, b"](" * 50_000, b"` " * 50_000, b"a-" * 50_000,
     ("e" + "\u0301" * 20_000).encode(), "数据库".encode() * 30_000, b"\xff\xfe" * 9_000],
    ids=range(13),
)  # fmt: skip
def test_hostile_files_do_no_harm(data: bytes) -> None:
    """Binary files, one endless line, only emoji: nothing is suggested and nothing fails."""
    assert suggest([("x.md", parse(data)), ("x.jsonl", parse(data))]) == []


@settings(max_examples=60, deadline=None)
@given(
    st.text(st.sampled_from("aAbB zé数据库的か데#-*`<>!.:/_'&+1\n\t\u0301😀")), st.integers(1, 3)
)
def test_any_text_gives_sound_suggestions(text: str, least: int) -> None:
    """Whatever I write, each suggestion is a trigger that can fire and stands where it says."""
    texts = text.split("\n")
    found = suggest([("x", texts)], (), least, 30)
    assert len({key_of(s.term) for s in found}) == len(found) <= 30
    for s in found:
        assert key_of(s.term)
        assert least <= s.count <= len(texts)
        assert 1 <= s.line <= len(texts)
        assert s.type in ("entity", "phrase", "term")
