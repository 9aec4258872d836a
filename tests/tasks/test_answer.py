"""How much an answer of recall holds: a budget of tokens, a session, what is always loaded."""

from __future__ import annotations

import re
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from agent_memfas.text.tokens import estimate
from inputs.memory import Memory

WORDS = ("heron", "alice", "deadline", "部署", "服务器", "naïve", "code review", "🚀", "x" * 30)


pytestmark = pytest.mark.usefixtures("nothing_of_this_machine")


@pytest.fixture
def memory(tmp_path: Path) -> Memory:
    memory = Memory(tmp_path / "agent")
    memory.write("MEMORY.md", "".join(f"- [P0] heron number {n}\n" for n in range(8)))
    memory.write("TRIGGERS.md", "- alice -> PM -> MEMORY.md#L2\n- stork -> a bird\n")
    return memory


def ask(memory: Memory, *words: str) -> dict[str, Any]:
    """What `recall WORDS --json` says, with all the time that it needs."""
    return memory.run("recall", "--json", "--within", "0", *words).data


def given_in(answer: dict[str, Any]) -> set[str]:
    """What an answer holds: the places of hits and triggers, and of what is always loaded."""
    hits = {f"{hit['path']}:{hit['start_line']}" for hit in answer["hits"]}
    loaded = {f"always {quote['path']}" for quote in answer["always"]}
    return hits | loaded | {f"[{trigger['keyword']}]" for trigger in answer["triggers"]}


# A budget of tokens

sentences = st.lists(st.sampled_from(WORDS), min_size=1, max_size=12).map(" ".join)
folders = st.tuples(
    st.lists(sentences, max_size=12), st.lists(sentences, max_size=4), st.lists(sentences, max_size=4)
)  # fmt: skip


def lay(root: str, parts: tuple[list[str], list[str], list[str]]) -> Memory:
    """A folder of entries, triggers with links, and a file that is always loaded."""
    memory = Memory(Path(root))
    entries, hints, loaded = parts
    memory.write("MEMORY.md", "".join(f"## {e[:9]}\n\n- [P0] {e}\n  {e}\n" for e in entries))
    keys = ("heron", "alice", "部署", "code review")
    lines = [f"- {k} -> {h} -> MEMORY.md#L3-L4\n" for k, h in zip(keys, hints, strict=False)]
    memory.write("TRIGGERS.md", "".join(lines))
    memory.write("intuition.md", "".join(f"{line}\n" for line in loaded))
    memory.write("memfas.yaml", "sources:\n  - path: MEMORY.md\n"
                 "  - {path: intuition.md, always_load: true}\n")  # fmt: skip
    return memory


@settings(max_examples=40, deadline=None)
@example(
    (
        [],
        [],
        [
            "heron " * 7 + "deadline " * 2 + "服务器 code review " + "x" * 30,
            "deadline naïve code review " + "x" * 30,
        ],
    ),
    80,
    "heron",
)
@given(folders, st.integers(0, 400), sentences)
def test_what_is_printed_never_costs_more_than_the_budget(
    parts: tuple[list[str], list[str], list[str]], budget: int, question: str
) -> None:
    """Whatever the folder and the question: headings, places and the last line are counted too;
    what does not fit is named on the other stream, with how much of it there is."""
    with TemporaryDirectory() as root:
        memory = lay(root, parts)
        result = memory.run("recall", "--budget", str(budget), "--within", "0", question)
        if result.status == 0:
            assert estimate(result.text) <= budget
        else:
            assert result.text.startswith("No memories")
        whole = ask(memory, "--limit", "60", question)
        cut = ask(memory, "--budget", str(budget), question)
        assert cut["tokens"] <= budget
        assert given_in(cut) <= given_in(whole)
        for kind in ("hits", "triggers"):
            left = len(whole[kind]) - len(cut[kind])
            assert cut["left_out"][kind] == left
            if left:
                assert re.search(rf"do not fit into {budget} tokens: .*{kind[:-1]}", result.errors)


def test_a_large_budget_leaves_nothing_out(memory: Memory) -> None:
    """The answer is the one without a budget, and all of it: the usual five hits are for those who
    name neither a limit nor a budget."""
    whole = ask(memory, "alice heron", "--limit", "60")
    cut = ask(memory, "alice heron", "--budget", "100000")
    assert given_in(cut) == given_in(whole)
    assert not any(cut["left_out"].values())


def test_a_limit_counts_what_fits_into_the_budget(memory: Memory) -> None:
    """Two hits that fit are given although three longer ones rank above them; no third one is
    looked for, and only what had to give way is told."""
    long = "".join(f"- [P0] {'stork ' * 20}{'heron ' * 30}{n}\n" for n in range(3))
    memory.write("MEMORY.md", long + "".join(f"- [P0] a stork of {n}\n" for n in "abcd"))
    answer = ask(memory, "stork", "--budget", "110", "--limit", "2")
    assert [hit["text"] for hit in answer["hits"]] == ["- [P0] a stork of a", "- [P0] a stork of b"]
    assert answer["left_out"]["hits"] == 3


def test_a_long_block_gives_way_to_shorter_ones(memory: Memory) -> None:
    """One entry of many words is left out, and the short line comes."""
    memory.write("MEMORY.md", f"- [P0] stork {'stork ' * 50}\n- [P0] a stork\n")
    answer = ask(memory, "stork", "--budget", "120")
    assert [hit["text"] for hit in answer["hits"]] == ["- [P0] a stork"]
    assert answer["left_out"]["hits"] == 1


@pytest.mark.parametrize("option", ["--budget", "--within"])
@pytest.mark.parametrize("number", ["-1", "many", "1.5", "1e3"])
def test_a_budget_that_is_no_number_is_a_mistake(memory: Memory, option: str, number: str) -> None:
    """A usage error, with nothing on standard output."""
    result = memory.run("recall", "heron", option, number)
    assert (result.status, result.raw) == (2, b"")
    assert option in result.errors


def test_a_budget_of_nothing_gets_nothing_and_is_told_why(memory: Memory) -> None:
    """Status 1: there is no answer, but there would be one."""
    result = memory.run("recall", "heron", "--budget", "0")
    assert result.status == 1
    assert result.text == "No memories that are new and fit.\n"
    assert "8 hits" in result.errors


# A session

IDS = ("one", "../../x", "/etc/passwd", "", "a b", "x" * 5000, "会话", ".", "..", "a/b", "new\nline",
       "-", "%s", "con", "\udc80")  # fmt: skip


def test_a_session_is_never_given_the_same_twice(memory: Memory) -> None:
    """Asked again and again it gets the next best, then nothing and the reason; the trigger and
    the lines that it links come once."""
    seen: set[str] = set()
    for expected in (5, 3, 0):
        answer = ask(memory, "alice heron", "--session", "s")
        assert not seen & given_in(answer)
        assert len(answer["hits"]) == expected
        seen |= given_in(answer)
    assert "[alice]" in seen
    result = memory.run("recall", "alice heron", "--session", "s")
    assert (result.status, result.text) == (1, "No memories that are new and fit.\n")
    assert "this session was given them before: 9" in result.errors


def test_another_session_and_no_session_see_all(memory: Memory) -> None:
    """What one was given is kept from nobody else."""
    first = given_in(ask(memory, "alice heron", "--session", "a"))
    assert given_in(ask(memory, "alice heron", "--session", "b")) == first
    assert given_in(ask(memory, "alice heron")) == first


def test_what_has_changed_is_new_to_the_session(memory: Memory) -> None:
    """An edited line and an edited hint come again; the same line on another number does not."""
    ask(memory, "alice stork heron", "--session", "s", "--limit", "50")
    memory.write(
        "MEMORY.md",
        "# Else\n\n- [P0] a new line\n\n# Mine\n\n"
        + memory.read().decode().replace("number 3", "no 3"),
    )
    memory.write("TRIGGERS.md", "- alice -> CEO\n- stork -> a bird\n")
    answer = ask(memory, "alice stork heron", "--session", "s", "--limit", "50")
    assert [hit["text"] for hit in answer["hits"]] == ["- [P0] heron no 3"]
    assert [trigger["hint"] for trigger in answer["triggers"]] == ["CEO"]


def test_what_did_not_fit_comes_the_next_time(memory: Memory) -> None:
    """Only what was printed counts as given."""
    first = ask(memory, "heron", "--session", "s", "--budget", "90")
    assert 0 < len(first["hits"]) < 5
    second = ask(memory, "heron", "--session", "s", "--limit", "50")
    assert len(second["hits"]) == 8 - len(first["hits"])


@pytest.mark.parametrize("session", IDS[1:3] + IDS[4:])
def test_any_text_is_a_session(memory: Memory, session: str) -> None:
    """Whatever its id is, it is remembered, and nothing is written outside the state folder."""
    before = memory.truth()
    around = sorted(memory.root.parent.rglob("*"))
    first = given_in(ask(memory, "heron", "--session", session))
    assert first
    assert not first & given_in(ask(memory, "heron", "--session", session))
    assert given_in(ask(memory, "heron", "--session", "another")) == first
    assert memory.truth() == before
    new = set(memory.root.parent.rglob("*")) - set(around)
    assert all(memory.root / ".memfas" in (path, *path.parents) for path in new)


def test_a_damaged_session_is_a_new_one(memory: Memory) -> None:
    """Its file filled with anything: the answer comes."""
    first = given_in(ask(memory, "heron", "--session", "s"))
    (file,) = (memory.root / ".memfas/sessions").iterdir()
    for data in (b"", b"\xff\x00" * 500, b"zz\n-1\n99999999999999999999\n"):
        file.write_bytes(data)
        assert given_in(ask(memory, "heron", "--session", "s")) == first


# What is always loaded


def test_a_source_that_is_always_loaded_is_in_every_answer(memory: Memory) -> None:
    """First, with its place; as it is now; and not in the answer of search."""
    memory.write("intuition.md", "# Intuition\n\nask before you deploy\n")
    memory.write("memfas.yaml", "sources:\n  - MEMORY.md\n"
                 "  - path: ./intuition.md\n    always_load: true\n")  # fmt: skip
    result = memory.run("recall", "hello there")
    assert result.status == 0
    lines = result.text.splitlines()
    assert lines[2:4] == ["**Always Loaded:**", "[intuition.md:1-3]"]
    assert "  > ask before you deploy" in lines
    memory.write("intuition.md", "never on Friday\n")
    answer = ask(memory, "heron")
    assert [quote["text"] for quote in answer["always"]] == ["never on Friday"]
    assert len(answer["hits"]) == 5
    assert memory.run("search", "hello there").status == 1


def test_patterns_of_what_is_always_loaded_name_files(memory: Memory) -> None:
    """A glob brings each file that it means, by name; one that is gone brings nothing."""
    for name in ("b", "a"):
        memory.write(f"core/{name}.md", f"the {name} rule\n")
    memory.write("memfas.yaml", "sources:\n  - {path: ./core/*.md, always_load: true}\n"
                 "  - {path: gone.md, always_load: true}\n")  # fmt: skip
    found = ask(memory, "anything")["always"]
    assert [quote["path"] for quote in found] == ["core/a.md", "core/b.md"]
