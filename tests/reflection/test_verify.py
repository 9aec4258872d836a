"""`memfas verify`: labels on insights whose words are gone, taken off again; nothing else is touched."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from inputs.memory import CONFIG, TODAY, Memory, Result
from reflection.support import INSIGHTS, LOG, MARK, NAME, compound, kept

LINE = "- 09:20 We chose Postgres over MySQL because of its JSON support.\n"
LATER = "2026-03-05"


def verify(memory: Memory, *arguments: str, today: str = TODAY) -> Result:
    """`memfas verify` on a fixed day."""
    return memory.run("verify", "--today", today, *arguments)


@pytest.fixture
def made(agent: Memory) -> Memory:
    """A memory folder whose one log has its insights."""
    agent.write(NAME, LOG)
    assert compound(agent).status == 0
    return agent


def edit(memory: Memory, old: str, new: str, name: str = NAME) -> None:
    """Change text of a file."""
    text = memory.read(name).decode()
    assert old in text
    memory.write(name, text.replace(old, new))


def test_what_stands_is_left_alone(made: Memory) -> None:
    """Status 0, counts in both forms, and no byte changes; the second time just the same."""
    before = made.truth()
    shown = verify(made)
    number = len(kept(made))
    assert shown.status == 0
    assert shown.text == f"{number} insights: {number} stands, 0 moved, 0 stale, 0 gone\n"
    data = verify(made, "--json").data
    assert data["counts"] == {"stands": number, "moved": 0, "stale": 0, "gone": 0}
    assert data["changed"] == 0
    first = data["insights"][0]
    assert set(first) == {"path", "line", "state", "cite", "now", "text"}
    assert first["cite"] == first["now"]
    assert made.truth() == before


def test_a_folder_without_insights(agent: Memory) -> None:
    """Nothing to check is no fault."""
    assert verify(agent).text == "0 insights: 0 stands, 0 moved, 0 stale, 0 gone\n"
    assert verify(agent, "--json").data["insights"] == []


def test_lines_that_moved_are_cited_where_they_are(made: Memory) -> None:
    """Two lines above them: every citation follows; undo brings the old ones back."""
    before = made.read(INSIGHTS)
    made.write(NAME, "\n\n" + made.read(NAME).decode())
    data = verify(made, "--json").data
    assert data["counts"]["moved"] == data["changed"] == len(kept(made))
    assert f"({NAME}#L6-L6)" in made.read(INSIGHTS).decode()
    assert verify(made).status == 0
    assert made.run("undo").status == 0
    assert made.read(INSIGHTS) == before


def test_words_that_are_gone_get_a_label_and_lose_it(made: Memory) -> None:
    """The label tells since when, stays as it is, and goes when the words are back."""
    before = made.read(INSIGHTS)
    edit(made, "Postgres over MySQL", "Postgres over Oracle")
    shown = verify(made)
    assert shown.status == 1
    assert "stale, its words are not there any more:" in shown.text
    (line,) = [n for n in kept(made) if "[stale:" in n]
    assert line.endswith(f"({NAME}#L4-L4) [stale:{TODAY}]")
    stale = made.read(INSIGHTS)
    assert verify(made, today=LATER).status == 1
    assert made.read(INSIGHTS) == stale
    edit(made, "Postgres over Oracle", "Postgres over MySQL")
    assert verify(made, today=LATER).status == 0
    assert made.read(INSIGHTS) == before


@pytest.mark.parametrize("way", ["deleted", "moved", "unreadable"])
def test_a_log_that_is_gone_proves_nothing(made: Memory, way: str) -> None:
    """It may be in another place: no label, and the insights stay; status 0 and a count."""
    path = made.root / NAME
    before = made.read(INSIGHTS)
    if way == "unreadable":
        path.unlink()
        path.mkdir()
    elif way == "moved":
        path.rename(made.root / "memory/old.txt")
    else:
        path.unlink()
    result = verify(made, "--json")
    assert result.data["counts"]["gone"] == len(kept(made))
    assert result.status == 0
    assert made.read(INSIGHTS) == before
    assert "its log is not there any more" in verify(made).text


def test_a_dry_run_labels_nothing(made: Memory) -> None:
    """It tells what it would do; no byte changes."""
    edit(made, LINE, "")
    before = made.truth()
    shown = verify(made, "--dry-run")
    assert "[DRY RUN] No changes made." in shown.text
    assert "stale" in shown.text
    data = verify(made, "--dry-run", "--json").data
    assert data["dry_run"] is True
    assert data["changed"] > 0
    assert made.truth() == before


OTHERS = [
    "- a bullet of mine without any citation\n",
    "- see (memory/2026-02-24.md) for more\n",
    "Prose that cites (memory/2026-02-24.md#L3-L3) in passing.\n",
    "```\n- We chose MySQL (memory/2026-02-24.md#L4-L4)\n```\n",
    "<!--\n- We chose MySQL (memory/2026-02-24.md#L4-L4)\n-->\n",
    "  - We chose MySQL (memory/2026-02-24.md#L4-L4)\n",
    "- ends with a label [stale:2020-01-01]\n",
    "> - We chose MySQL (memory/2026-02-24.md#L4-L4)\n",
]


@pytest.mark.parametrize("text", OTHERS)
def test_what_others_write_among_insights_is_theirs(made: Memory, text: str) -> None:
    """A bullet without citation, prose, code, comments, nested bullets: never labelled."""
    before = made.read(INSIGHTS).decode() + f"## My own notes\n\n{text}"
    made.write(INSIGHTS, before)
    assert verify(made).status == 0
    assert made.read(INSIGHTS).decode() == before


def test_an_insight_that_was_edited_by_hand_is_checked_as_it_is(made: Memory) -> None:
    """In my own words without a quotation it proves nothing: labelled. With the quotation it stands;
    a second citation, a comment and CRLF stay as they are."""
    edit(
        made,
        "We chose Postgres over MySQL because of its JSON support. (",
        "Postgres it is (",
        INSIGHTS,
    )
    assert verify(made).status == 1
    text = made.read(INSIGHTS).decode()
    good = f'- Postgres — JSON "chose Postgres over MySQL" ({NAME}#L4-L4; {NAME}#L1-L1) <!-- importance: 7 -->'
    made.write(INSIGHTS, text.replace(f"- Postgres it is ({NAME}#L4-L4) [stale:{TODAY}]", good)
               .replace("\n", "\r\n"))  # fmt: skip
    before = made.read(INSIGHTS)
    assert good.encode() in before
    assert verify(made).status == 0
    assert made.read(INSIGHTS) == before
    made.write(NAME, "\n" + made.read(NAME).decode())
    assert verify(made).status == 0
    moved = good.replace("#L4-L4;", "#L5-L5;").encode()
    assert moved in made.read(INSIGHTS)
    assert made.read(INSIGHTS).count(b"\r\n") == before.count(b"\r\n")


def test_one_bad_file_does_not_stop_the_others(made: Memory) -> None:
    """A conflict in one file is named, the other is checked and labelled; status 1."""
    conflict = made.read(INSIGHTS) + b"<<<<<<< HEAD\na\n=======\nb\n>>>>>>> x\n"
    made.write("insights/2026-01.md", conflict)
    edit(made, LINE, "")
    result = verify(made, "--json")
    assert result.status == 1
    assert "conflict" in result.data["errors"][0]["error"]
    assert made.read("insights/2026-01.md") == conflict
    assert b"[stale:" in made.read(INSIGHTS)


@settings(max_examples=30, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.permutations(LOG.splitlines(keepends=True)), st.sampled_from(["", "\r\n", "- x\n"]))
def test_verify_follows_lines_wherever_they_go(
    tmp_path_factory: pytest.TempPathFactory, lines: list[str], before: str
) -> None:
    """The lines of a log in any order: all insights stand after one run, and the second does nothing."""
    memory = Memory(tmp_path_factory.mktemp("any"))
    memory.write("memfas.yaml", CONFIG)
    memory.write(NAME, LOG)
    compound(memory)
    memory.write(NAME, before + "".join(lines) + MARK)
    assert verify(memory).status == 0
    counts = verify(memory, "--json").data["counts"]
    assert counts["stands"] == len(kept(memory))
