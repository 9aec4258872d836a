"""What says the same comes once, and the other places are named beside it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from agent_memfas import Memory as Library
from inputs.memory import Memory

pytestmark = pytest.mark.usefixtures("nothing_of_this_machine")


@pytest.fixture
def memory(tmp_path: Path) -> Memory:
    memory = Memory(tmp_path / "agent")
    memory.write("MEMORY.md", "# Memory\n\n- [P1][2026-02-24] the Acme deadline is Friday\n")
    memory.write("memory/2026-02-24.md", "# 2026-02-24\n\n- Alice: the Acme deadline is Friday\n"
                 "- the Acme deadline is Monday\n")  # fmt: skip
    return memory


def hits(memory: Memory, *words: str) -> list[dict[str, Any]]:
    """The hits of `recall WORDS --json`."""
    found = memory.run("recall", "--json", "--within", "0", "--today", "2026-03-01", *words).data
    return list(found["hits"])


def places(hit: dict[str, Any]) -> list[str]:
    """Where a hit stands, and where else."""
    return [f"{hit['path']}:{hit['start_line']}", *hit["also"]]


def test_a_line_in_memory_and_in_a_log_comes_once(memory: Memory) -> None:
    """The best is shown and the other place named beside it; another day is another hit."""
    same, other = sorted(hits(memory, "Acme deadline"), key=lambda hit: -len(hit["also"]))
    assert sorted(places(same)) == ["MEMORY.md:3", "memory/2026-02-24.md:3"]
    assert (other["text"], other["also"]) == ("- the Acme deadline is Monday", [])
    assert "seals" not in same


def test_every_form_of_an_answer_names_the_other_places(memory: Memory) -> None:
    """recall, search and the Python object."""
    (other,) = next(hit["also"] for hit in hits(memory, "Acme deadline") if hit["also"])
    assert f"| also {other} (score: " in memory.run("recall", "Acme deadline").text
    assert f"\n  (also {other})\n" in memory.run("search", "Acme deadline").text
    with Library(memory.root) as library:
        found = library.search("Acme deadline")
        assert [result.also for result in found if result.also] == [(other,)]
        assert f"also {other}" in library.recall("Acme deadline")


def test_the_limit_counts_what_is_shown(memory: Memory) -> None:
    """However many doubles there are, as many different hits come as were asked for."""
    for day in range(1, 10):
        memory.write(f"memory/2026-01-0{day}.md", "- the Acme deadline is Friday\n")
    texts = [hit["text"] for hit in hits(memory, "Acme deadline", "--limit", "2")]
    assert len(texts) == 2
    assert any("Monday" in text for text in texts)
    (hit, _) = hits(memory, "Acme deadline is Friday", "--limit", "2")
    assert len(places(hit)) == 11
    shown = memory.run("recall", "Acme deadline is Friday", "--limit", "2").text
    assert "and 5 more (score: " in shown


def test_of_two_logs_the_newer_one_is_shown(memory: Memory) -> None:
    """Also where only one hit is wanted."""
    memory.write("MEMORY.md", "")
    memory.write("memory/2026-02-24.md", "- the heron host is down\n")
    memory.write("memory/2026-02-26.md", "- 10:32 the heron host is down\n")
    memory.write("memory/2026-02-25.md", "- the heron host is down\n")
    (hit,) = hits(memory, "heron", "--limit", "1")
    assert places(hit)[0] == "memory/2026-02-26.md:1"
    assert len(hit["also"]) == 2


def test_a_successor_is_shown_for_what_is_superseded(memory: Memory) -> None:
    """A fact that holds again is shown as live, with the superseded line named beside it; what
    replaced it meanwhile is a hit of its own."""
    memory.write("MEMORY.md", "- [P0][superseded:2026-01-01] office: Berlin office office\n"
                 "- [P0] office: Potsdam\n- [P0] office: Berlin office office\n")  # fmt: skip
    found = hits(memory, "office Berlin")
    assert [(places(hit), hit["labels"]) for hit in found] == [
        (["MEMORY.md:3", "MEMORY.md:1"], []),
        (["MEMORY.md:2"], []),
    ]


def test_supersede_never_hides_the_new_line(memory: Memory) -> None:
    """Whatever `memfas supersede` puts in the place of a line is shown, though it be the same."""
    for text in ("the Acme deadline is Friday", "the Acme deadline is Sunday"):
        line = memory.read().decode().splitlines()
        at = next(
            n for n, known in enumerate(line, 1) if known and "superseded" not in known and n > 2
        )
        assert memory.run("supersede", f"MEMORY.md:{at}", text, "--today", "2026-03-01").status == 0
        found = [hit for hit in hits(memory, text) if text in hit["text"]]
        assert found[0]["labels"] == []


def test_a_session_is_not_given_the_doubles_of_what_it_has(memory: Memory) -> None:
    """Neither those that were named, nor one that is written later."""
    assert len(hits(memory, "Acme deadline", "--session", "s")) == 2
    assert hits(memory, "Acme deadline", "--session", "s") == []
    memory.write("memory/2026-02-28.md", "- 09:00 the Acme deadline is Friday!\n")
    assert hits(memory, "Acme deadline", "--session", "s") == []
    memory.write("MEMORY.md", "")
    memory.write("memory/2026-02-28.md", "")
    assert hits(memory, "Acme deadline", "--session", "s") == []
    assert len(hits(memory, "Acme deadline", "--session", "another")) == 2


def test_a_live_fact_is_news_to_a_session_that_had_the_superseded_one(memory: Memory) -> None:
    """What holds again is given, although the old line with the same words was."""
    memory.write("MEMORY.md", "- [P0][superseded:2026-01-01] office: Berlin\n")
    assert len(hits(memory, "office", "--session", "s")) == 1
    memory.write("lessons/office.md", "- office: Berlin\n")
    (hit,) = hits(memory, "office", "--session", "s")
    assert hit["labels"] == []


def test_long_lines_fold_where_they_are_the_same_to_the_end(memory: Memory) -> None:
    """A line that is found in pieces, in another file with another end: both are shown."""
    start = "the stork nests on the roof of the town hall " * 9
    memory.write("MEMORY.md", f"- [P0] {start}since May\n")
    memory.write("lessons/a.md", f"- {start}since June\n")
    assert all(not hit["also"] or hit["also"] == [places(hit)[0]] for hit in hits(memory, "stork"))
    memory.write("lessons/a.md", f"- {start}since May\n")
    assert any(hit["also"] for hit in hits(memory, "stork"))


def test_a_line_said_a_thousand_times_is_one_hit(memory: Memory) -> None:
    """Only so many doubles are looked through; the answer comes, with one hit for them."""
    memory.write("memory/2026-02-20.md", "- heartbeat ok\n" * 1000)
    (hit,) = hits(memory, "heartbeat")
    assert len(hit["also"]) >= 200
