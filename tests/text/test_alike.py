"""Which passages say the same: never two that differ in what counts."""

from __future__ import annotations

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from agent_memfas.text.alike import EXPIRED, LIVE, SUPERSEDED, Said, alike, fold, said

LONG = "we have agreed to deploy the billing service with docker compose on the new host"

PLAIN = ["the", "deadline", "moves", "service", "deploys", "team", "meets", "room", "a", "has",
         "billing", "server", "also", "agreed"]  # fmt: skip
TELLING = ["not", "don't", "never", "5", "-5", "6", "2026-02-24", "2026-02-25", "Alice", "Bob",
           "src/app.py", "src/api.py", "user_id", "v1.2", "v12", "5%", "AWS", "--force", "<"]  # fmt: skip
HAN = ["截止", "日期", "周五", "周六", "不", "没有", "部署", "服务器", "五", "六"]
HEADS = ["", "- ", "- [P0] ", "- [P1][2026-02-24] ", "- [P2][2026-01-01][ttl:14d] ", "# ",
         "> - ", "* ", "- 10:32 ", "- **09:15** ", "- [14:00] Dana: ", "- Dana: "]  # fmt: skip
TAILS = ["", ".", "!", " <!-- trigger: x -->", "  "]

bodies = st.lists(st.sampled_from([*PLAIN, *PLAIN, *TELLING]), min_size=1, max_size=24).map(
    " ".join
)
passages = st.builds(
    lambda head, body, tail, **known: said(head + body + tail, **known),
    st.sampled_from(HEADS), st.one_of(bodies, st.lists(st.sampled_from(HAN), min_size=1).map("".join)),
    st.sampled_from(TAILS), about=st.sampled_from(["", "Acme", "Heron", "2026-02-24"]),
    day=st.sampled_from(["", "2026-02-24", "2026-02-25"]), kind=st.sampled_from(["memory", "other"]),
    standing=st.sampled_from([SUPERSEDED, EXPIRED, LIVE, LIVE]),
    score=st.sampled_from([0.9, 0.85, 0.5]),
)  # fmt: skip


@st.composite
def stores(draw: st.DrawFn) -> list[Said]:
    """Passages, many of which say nearly the same."""
    found = draw(st.lists(passages, max_size=8))
    for one in list(found):
        said_again = one.spoken.text.split(" ")
        at = draw(st.integers(0, len(said_again)))
        extra = draw(st.sampled_from(["", "also", "team", "not", "7", "Bob"]))
        text = " ".join([*said_again[:at], *extra.split(), *said_again[at:]])
        found.append(draw(st.just(said(text, day="2026-02-26", score=one.score))))
    return draw(st.permutations(found))


@settings(deadline=None)
@given(stores())
def test_nothing_is_lost_and_what_is_shown_stays(found: list[Said]) -> None:
    """Every passage is in one group; each says the same as the one that is shown for it; no live
    one is hidden behind one that is not; what is shown, folded again, stays as it is."""
    groups = fold(found)
    assert sorted(n for group in groups for n in group) == list(range(len(found)))
    for shown, *doubles in groups:
        assert doubles == sorted(doubles)
        for double in doubles:
            assert alike(found[shown], found[double])
            assert found[double].standing <= found[shown].standing
    leads = [found[group[0]] for group in groups]
    assert fold(leads) == [[n] for n in range(len(leads))]
    assert fold(found) == groups


@settings(deadline=None)
@given(passages, passages)
def test_saying_the_same_is_mutual(one: Said, other: Said) -> None:
    """Neither order of two passages changes whether they are alike; each is alike to itself."""
    assert alike(one, other) == alike(other, one)
    assert alike(one, one)


@settings(deadline=None)
@example(["team", "meets", "room"] * 4, 3, "not")
@example(["a"] * 12, 0, "Alice")
@given(
    st.lists(st.sampled_from([*PLAIN, *TELLING]), min_size=1, max_size=40),
    st.integers(0, 40),
    st.sampled_from(TELLING),
)
def test_a_number_a_name_or_a_negation_more_is_another_text(
    body: list[str], at: int, telling: str
) -> None:
    """Put in anywhere, or put in the place of another word, it makes two texts of any length."""
    at %= len(body) + 1
    first = said(" ".join(["so", *body]))
    assert not alike(first, said(" ".join(["so", *body[:at], telling, *body[at:]])))
    replaced = ["so", *body[:at], telling, *body[at + 1 :]]
    if body[at : at + 1] != [telling]:
        assert not alike(first, said(" ".join(replaced)))


@settings(deadline=None)
@given(
    st.lists(st.sampled_from(HAN), min_size=1, max_size=30),
    st.integers(0, 30),
    st.sampled_from(HAN),
)
def test_a_chinese_word_more_is_another_text(body: list[str], at: int, extra: str) -> None:
    """Each character may turn the sense."""
    text = "".join([*body[:at], extra, *body[at:]])
    assert not alike(said("".join(body)), said(text))


SAME = [
    ("- [P1][2026-02-24] deadline is Friday", "- Alice: deadline is Friday."),
    ("- [P1][2026-02-24] deadline is Friday", "- 10:32 Alice: **Deadline** is Friday!"),
    ("# Deadline is Friday", "> deadline is Friday <!-- source: a.md -->"),
    ("- [P0][superseded:2026-02-01] office: Berlin", "- office: Berlin"),
    ("- [P2][2026-01-01][ttl:14d] 截止日期是周五。", "- 小明：截止日期是周五"),
    (LONG, LONG.replace("we have", "we")),
    (LONG, LONG.replace("service", "service also")),
    ("- [09:15] the heron host is down", "- **10:32** the heron host is down"),
]
OTHER = [
    ("deadline is Friday", "deadline is Monday"),
    ("- Alice: I like tea best", "- Bob: I like tea best"),
    ("- Rejected: use Redis for the cache", "- use Redis for the cache"),
    ("- Monday: review of the plan", "- review of the plan"),
    ("- [x] send the report to Dana", "- [ ] send the report to Dana"),
    ("the limit is -5 degrees", "the limit is 5 degrees"),
    ("version 1.5 is out", "version 1 5 is out"),
    ("costs $40 a month", "costs 40 a month"),
    ("~~deadline is Friday~~", "deadline is Friday"),
    ("is the deadline Friday?", "is the deadline Friday"),
    ("run it with --force here", "run it with force here"),
    ("see src/app_a.py", "see src/app/a.py"),
    (LONG, LONG.replace("agreed", "not agreed")),
    (LONG, LONG.replace("agreed", "refused")),
    (LONG, LONG.replace("the new host", "the new Hetzner host")),
    (LONG, LONG.replace("we have", "we would have")),
    ("alice will pay the rent for bob until the end of june", "bob will pay the rent for alice until the end of june"),
    ("the heron host", "the heron host is down"),
    ("他喜欢在周末的时候去公园里散步和看书", "他不喜欢在周末的时候去公园里散步和看书"),
]  # fmt: skip


@pytest.mark.parametrize(("one", "other"), SAME)
def test_the_same_in_another_dress(one: str, other: str) -> None:
    """Tags, marks, comments, case, a leading time and speaker make no difference; to a long text a
    plain word may be added."""
    assert alike(said(one, day="2026-02-24"), said(other, day="2026-02-25"))


@pytest.mark.parametrize(("one", "other"), OTHER)
def test_what_differs_in_what_counts_is_not_the_same(one: str, other: str) -> None:
    """Another day, speaker, sign, identifier, order or turn of the sense is another text."""
    assert not alike(said(one, day="2026-02-24"), said(other, day="2026-02-25"))


def test_a_short_line_is_about_what_it_stands_under() -> None:
    """`Status: done` of two projects is said of two things; days above it are none, and in another
    kind of file the same words are the same."""
    line = "- Status: done"
    acme, heron = said(line, "Projects > Acme"), said(line, "Projects > Heron")
    assert not alike(acme, heron)
    assert alike(said(line, "2026-02-24 > Acme"), said(line, "2026-02-25 > Acme"))
    assert alike(said(line, "Acme", kind="memory"), said(line, "Facts", kind="long-term"))
    assert alike(said(LONG, "Acme"), said(LONG, "Heron"))


def test_two_times_of_one_day_are_an_agenda() -> None:
    """The same words at another time of the same day are another appointment."""
    at_ten, at_two = "- 10:00 dentist with the kids", "- 14:00 dentist with the kids"
    assert not alike(said(at_ten, day="2026-02-24"), said(at_two, day="2026-02-24"))
    assert alike(said(at_ten, day="2026-02-24"), said(at_two, day="2026-02-25"))


def test_the_newer_of_two_is_shown_where_it_is_found_as_well() -> None:
    """Up to a quarter of the score is given for the newer day, and no more."""
    found = [said("deadline is Friday", day=day, score=score)
             for day, score in (("2026-02-24", 0.8), ("2026-02-26", 0.55), ("2026-02-25", 0.65))]  # fmt: skip
    assert fold(found) == [[2, 0, 1]]


def test_a_successor_is_never_hidden() -> None:
    """However much better the superseded or expired one is found, the live one is shown."""
    found = [said("office: Berlin", standing=kind, score=score)
             for kind, score in ((SUPERSEDED, 0.9), (EXPIRED, 0.5), (LIVE, 0.1))]  # fmt: skip
    assert fold(found) == [[2, 0, 1]]


def test_lines_that_begin_alike_may_go_on_otherwise() -> None:
    """Pieces of long lines say the same only where the whole lines do."""
    piece = "- the heron host is"
    a, b = (said(piece, "", f"{piece} {end}") for end in ("up", "down"))
    assert not alike(a, b)
    assert alike(a, said(piece, "", f"- [P0] {piece[2:]} up"))
