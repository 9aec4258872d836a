"""Words, index terms and the terms of a question."""

from __future__ import annotations

import sys
import unicodedata
from collections.abc import Callable
from types import FrameType
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from agent_memfas.text import characters
from agent_memfas.text.stems import stem
from agent_memfas.text.words import joined_terms, query_terms, terms, words

FAMILY = "\U0001f468\u200d\U0001f469\u200d\U0001f467"
GERMANY, FRANCE = "\U0001f1e9\U0001f1ea", "\U0001f1eb\U0001f1f7"
THUMB = "\U0001f44d\U0001f3fd"

NAMES = [
    *"node.js v1.2.3 DEC-0054 C++ C# .NET user@example.com FastEmbedEmbedder".split(),
    *"snake_case_name 38.101 src/app.py #123 redis Node.js/C++ GPT-4 gpt4 O'Brien".split(),
    *"don't AT&T std::vector --help .gitignore notepad++ x86_64 ça straße İstanbul".split(),
    *"C:\\Users\\me https://example.com/a/b?x=1#top @alice iPhone15 2024-05-07 10:30 1,200".split(),
    *["部署", "数据库", "重跑gen-itgc后", "게임", "ノート", "ก็ดี", FAMILY, GERMANY, THUMB],
]
ODDITIES = [
    *"\0\t\n\x1f\x7f\x85\xad.-_'+#@:/\\&,*\"()aBé9",
    *"\u0301\u0345\u05b0\u200b\u200d\u2028\u202e\u20e3\u3099\ud800\udfff\ufdfa\ufe0f\ufeff",
    *"ßİıſςᾳ½①ﷺ中の게ก็한½²",
    *"\u1100\u1161\U0001f1e9\U0001f3fd\U0001f600\U000e0067",
]
any_text = st.one_of(
    st.text(st.characters(exclude_categories=())),
    st.lists(st.sampled_from([*ODDITIES, *NAMES, " "])).map("".join),
)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Code Review", ["code", "review"]),
        ("code-review", ["code", "review"]),
        ("code_review", ["code", "review"]),
        ("I said so.", ["i", "said", "so"]),
        ("Alice's plan", ["alice", "plan"]),
        ("ALICE’S plan", ["alice", "plan"]),
        ("don't", ["don't"]),
        ("don’t", ["don't"]),
        ("'quoted'", ["quoted"]),
        ("the users' vote", ["the", "users", "vote"]),
        ("multi \n  word", ["multi", "word"]),
        ("naïve nai\u0308ve", ["naive", "naive"]),
        ("straße STRASSE", ["strasse", "strasse"]),
        ("İstanbul ıstanbul istanbul", ["istanbul"] * 3),
        ("ra\u200bdi\u00ador\u2060edis\ufeff", ["radioredis"]),
        ("ｒｅｄｉｓ ﬁle", ["redis", "file"]),
        ("a\0b\x1bc", ["a", "b", "c"]),
        ("a\ud800b", ["a", "b"]),
        ("C++ and C#, C++'s", ["c++", "and", "c#", "c++"]),
        ("$1,200 for 1,2,3", ["1200", "for", "1", "2", "3"]),
        ("数据库", ["数", "据", "库"]),
        ("重跑gen-itgc后", ["重", "跑", "gen", "itgc", "后"]),
        ("がコ\u3099 게임을", ["が", "ゴ", "게", "임", "을"]),
        ("हिन्दी", ["हिन्दी"]),
        ("ก็ดี", ["ก็", "ดี"]),
        (f"ok{FAMILY}{GERMANY}{FRANCE}{THUMB}", ["ok", FAMILY, GERMANY, FRANCE, THUMB]),
        ("❤\ufe0f ❤ 1\ufe0f\u20e32\ufe0f\u20e3", ["❤", "❤", "1\u20e3", "2\u20e3"]),
        (" \n\t --- * \" ' … ", []),
        ("", []),
    ],
)
def test_words_have_one_form(text: str, expected: list[str]) -> None:
    """However a word is written, with accents, capitals, hyphens or hidden characters, it is one
    and the same word; scripts without spaces give characters, an emoji stays whole.
    """
    assert words(text) == expected


def test_a_chinese_keyword_stands_as_a_run_inside_running_text() -> None:
    """服务器部署在 contains the words of 部署, one after the other."""
    text, keyword = words("服务器部署在上海"), words("部署")
    assert keyword in [text[at : at + len(keyword)] for at in range(len(text))]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("node.js", {"node.js", "node", "js"}),
        ("v1.2.3", {"v1.2.3", "v1", "2", "3"}),
        ("DEC-0054", {"dec-0054", "dec", "0054"}),
        ("38.101", {"38.101", "38", "101"}),
        ("C++", {"c++"}),
        ("C#", {"c#"}),
        ("(.NET)", {".net", "net"}),
        ("#123", {"#123", "123"}),
        ("src/app.py", {"src/app.py", "src", "app.py", "app", "py"}),
        ("C++/C#", {"c++/c#", "c++", "c#"}),
        ("snake_case_name", {"snake_case_name", "snake", "case", "name"}),
        ("__init__", {"init"}),
        ("FastHTTPServer", {stem("fasthttpserver"), "fast", "http", stem("server")}),
        ("APIs", {"api"}),
        ("gpt4", {"gpt4", "gpt"}),
        ("O'Brien", {"o'brien", "brien"}),
        ("Alice's", {stem("alice")}),
        ("and/or", {"and", "or"}),
        ("the end...then", {"the", "end", "then"}),
        ("xKaBcDeFgHijKl", {stem("xkabcdefghijkl")}),
        ("数据库", {"数", "据", "库", "数据", "据库"}),
        ("重跑gen-itgc后", {"重", "跑", "重跑", "gen", "itgc", "后"}),
        (FAMILY + GERMANY + THUMB, {FAMILY, GERMANY, THUMB}),
    ],
)
def test_names_are_indexed_whole_and_in_parts(text: str, expected: set[str]) -> None:
    """A name is found by the whole and by its parts, Chinese by one character and by two."""
    assert set(terms(text)) == expected


def test_user_names_and_addresses_are_found() -> None:
    """The whole address, the host and the user each find it."""
    assert {"user@example.com", "example.com", "user"} <= set(terms("Mail user@example.com!"))


@pytest.mark.parametrize(
    ("question", "line"),
    [
        ("deploying", "We deploy on Fridays"),
        ("how do I deploy", "deployed by hand"),
        ("deployments", "It deploys itself"),
        ("node", "Runs on node.js 20"),
        ("node.js", "Use Node.js, please"),
        ("redis, cluster", "The redis cluster"),
        ("#deploy", "deploy!"),
        ("100%", "load was at 100 percent"),
        ("$40", "It cost 40 dollars"),
        ("what's redis", "redis is a cache"),
        ("don't", "I don’t know"),
        ("python", "needs python3"),
        ("embed", "embedded embeddings"),
        ("Where did Alice go?", "Alice went to Rome"),
        ("children", "her child"),
        ("1200", "rent is $1,200"),
        ("DEC‑0054", "see DEC-0054."),
        ("部署", "服务器部署在上海"),
        ("王小明是谁？", "项目经理：王小明"),
        ("库", "数据库"),
        ("게임", "게임을 했다"),
        ("café", "cafe\u0301"),
        ("GetUserName", "get_user_name()"),
        ("ＧＰＴ", "gpt"),
        (THUMB, f"great{THUMB}work"),
    ],
)
def test_a_question_finds_the_line(question: str, line: str) -> None:
    """What a user asks for shares a term with the line that says it."""
    assert set(query_terms(question)) & set(terms(line))


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("What did Alice say about the deadline?", ["alic", "say", "deadlin"]),
        ("what is the", ["what", "is", "the"]),
        ("What did Will say?", ["will", "say"]),
        ("redis AND redis NOT cluster", ["redi", "cluster"]),
        ('NEAR("redis" cach*)', ["near", "redi", "cach"]),
        ("what-if we go", ["go"]),
        ("什么时候", ["什", "什么", "么", "么时", "时", "时候", "候"]),
        ("", []),
        (" \t\n", []),
        ('?! "" ** () -- ^:', []),
    ],
)
def test_a_question_is_reduced_to_what_it_asks_for(question: str, expected: list[str]) -> None:
    """Question words and grammar go, unless nothing else is there; operators are just words."""
    assert query_terms(question) == expected


def test_a_chinese_question_is_reduced_to_what_it_asks_for() -> None:
    """我们什么时候部署数据库 asks for 部署 and 数据库, not for 我们 and 什么时候."""
    found = set(query_terms("我们什么时候部署数据库？"))
    assert {"部署", "部", "署", "数据", "据库"} <= found
    assert found.isdisjoint({"我们", "什么", "时候", "我", "什", "么", "时", "候"})


def test_a_long_question_is_cut() -> None:
    """Of 20,000 words the first 256 terms are asked for, or as many as the caller wants."""
    question = " ".join(f"w{n}" for n in range(20_000))
    assert query_terms(question) == [f"w{n}" for n in range(256)]
    assert query_terms(question, limit=3) == ["w0", "w1", "w2"]
    assert query_terms("部署" * 50_000, limit=2) == ["部", "部署"]
    assert query_terms(question, limit=0) == []


@pytest.mark.parametrize(
    ("word", "expected"),
    [
        # examples of Porter's paper
        *[("caresses", "caress"), ("ponies", "poni"), ("cry", "cri"), ("cats", "cat")],
        *[("feed", "feed"), ("agreed", "agre"), ("plastered", "plaster"), ("bled", "bled")],
        *[("motoring", "motor"), ("conflated", "conflat"), ("hopping", "hop"), ("hissing", "hiss")],
        *[("fizzed", "fizz"), ("failing", "fail"), ("filing", "file"), ("happy", "happi")],
        *[("relational", "relat"), ("conditional", "condit"), ("digitizer", "digit")],
        *[("radically", "radic"), ("vietnamization", "vietnam"), ("operator", "oper")],
        *[("hopefulness", "hope"), ("sensibiliti", "sensibl"), ("triplicate", "triplic")],
        *[("electrical", "electr"), ("goodness", "good"), ("revival", "reviv")],
        *[("replacement", "replac"), ("adoption", "adopt"), ("effective", "effect")],
        *[("probate", "probat"), ("rate", "rate"), ("cease", "ceas"), ("controll", "control")],
        *[("roll", "roll"), ("sky", "sky"), ("by", "by"), ("is", "is")],
        # ours
        *[("deploy", "deploy"), ("deployments", "deploy"), ("cries", "cri"), ("skies", "sky")],
        *[("went", "go"), ("goes", "go"), ("women", "woman"), ("evenings", "evening")],
        *[("died", "die"), ("dies", "die"), ("die", "die"), ("embeds", "embed")],
    ],
)
def test_english_words_of_one_kind_share_a_stem(word: str, expected: str) -> None:
    """The stem is what Porter's publication says; irregular forms are led to their base."""
    assert stem(word) == expected


@pytest.mark.parametrize("text", ["utf8s", "v2ing", "страницы", "data-3ies"])
def test_what_is_not_plain_english_is_not_stemmed(text: str) -> None:
    """Names with digits and words of other alphabets keep their endings."""
    assert terms(text)[0] == text


@given(any_text)
def test_no_text_is_too_odd(text: str) -> None:
    """Whatever stands in a file, broken surrogates too, has words, and terms of a safe shape."""
    assert all(words(text))
    for term in terms(text):
        assert 1 <= len(term) <= 64
        term.encode()
        for char in term:
            category = unicodedata.category(char)
            assert char in "._-+#&'/\\@:" or category[0] not in "PZ"
            assert category not in ("Cc", "Cs")


@given(any_text)
def test_terms_as_one_string_are_the_terms(text: str) -> None:
    """The quick way of a whole folder gives what the plain way gives, also from its cache."""
    for _ in range(2):
        assert joined_terms(text).split(" ") == (terms(text) or [""])


@given(any_text, any_text)
def test_texts_joined_by_a_space_have_the_words_of_both(first: str, second: str) -> None:
    """No word depends on what stands before or after the white space around it."""
    assert words(first + " " + second) == words(first) + words(second)
    assert terms(first + " " + second) == terms(first) + terms(second)


@given(any_text)
@example("한글 は\u3099 ᾳ ǖ")
def test_composed_and_decomposed_texts_are_equal(text: str) -> None:
    """A file from macOS, decomposed, is found by what is typed elsewhere."""
    forms = [unicodedata.normalize(form, text) for form in ("NFC", "NFD")]
    assert words(forms[0]) == words(forms[1])
    assert terms(forms[0]) == terms(forms[1])


@given(any_text)
def test_words_of_words_are_the_same(text: str) -> None:
    """What was normalised once does not change again."""
    once = words(text)
    assert words(" ".join(once)) == once


@given(any_text, any_text, any_text)
def test_a_question_is_found_in_a_text_that_holds_it(before: str, text: str, after: str) -> None:
    """Every term of a question is a term of any text that has the question in it."""
    asked = query_terms(text, limit=10**6)
    assert len(set(asked)) == len(asked)
    assert set(asked) <= set(terms(f"{before} {text} {after}"))


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("frame", ["{}", "({}),", "“{}”.", "**{}**!", "[{}](x)", "- {};", "`{}`:"])
def test_a_name_is_found_whatever_punctuation_stands_around_it(name: str, frame: str) -> None:
    """Brackets, quotes, emphasis and full stops do not hide a name."""
    assert set(query_terms(name)) <= set(terms("see " + frame.format(name) + " there"))


def lines_run(function: Callable[[str], Any], text: str) -> int:
    """How many lines of Python `function` runs for `text`."""
    count = 0

    def step(frame: FrameType, event: str, arg: object) -> Any:
        nonlocal count
        count += event == "line"
        return step

    before = sys.gettrace()
    sys.settrace(step)
    try:
        function(text)
    finally:
        sys.settrace(before)
    return count


@pytest.mark.parametrize("function", [words, terms, query_terms])
@pytest.mark.parametrize(
    "unit",
    [
        *["a", " ", " -", "-", "a-", "a'", "'s", "1,", "111,", "aB", "/", "a/", "C++", "#", "_."],
        *["e\u0315\u0300", "部署", "\u200d", "👩\u200d", GERMANY, "1\u20e3", "\ud800", "\ufdfa"],
    ],
)
def test_the_work_grows_with_the_text_and_no_faster(
    function: Callable[[str], list[str]], unit: str
) -> None:
    """A line of ten megabytes costs a thousand times a line of ten kilobytes."""
    small, large = (lines_run(function, unit * count) for count in (2_000, 6_000))
    assert large <= 3.3 * small + 200


def test_long_runs_of_accents_are_normalised_in_slices(monkeypatch: pytest.MonkeyPatch) -> None:
    """Normalising is quadratic in a run of marks, so it is never given a long one."""
    sizes, original = [], unicodedata.normalize

    def normalize(form: Any, text: str) -> str:
        sizes.append(len(text))
        return original(form, text)

    monkeypatch.setattr(unicodedata, "normalize", normalize)
    characters.normal("e" + "\u0315\u0300\u05b0" * 10_000)
    assert sum(sizes) <= 100_000
    assert max(sizes) <= 1_024
