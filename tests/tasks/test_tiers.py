"""`recall --tier`: overviews and distilled lines first, logs only where those show too little."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from inputs.memory import Memory

pytestmark = pytest.mark.usefixtures("nothing_of_this_machine")

HEAD = (
    "<!-- compounded: memory/2026-02-24.md#L1-L6 sha256:0123456789abcdef by none on 2026-02-25 -->"
)
LOG = """# 2026-02-24

- Alice: Good morning, everybody! Did you sleep well?
- Alice: I moved the heron database to Frankfurt last week. Nice, isn't it?
- Bob: Great! What about the backups of the pelican server?
- Alice: The pelican backups run at 3 am now, on the second disk.
"""
INSIGHT = (
    '- Alice: "I moved the heron database to Frankfurt last week." (memory/2026-02-24.md#L4-L4)'
)
LESSON = "- Never restart the osprey gateway on a Friday\n"


@pytest.fixture
def memory(tmp_path: Path) -> Memory:
    """One log with an insight, a lesson, long-term memory and abstracts."""
    memory = Memory(tmp_path / "agent")
    memory.write("MEMORY.md", "# Memory\n\n- [P0] The kestrel account belongs to finance\n")
    memory.write("memory/2026-02-24.md", LOG)
    memory.write("memory/2026-02-20.md", "# 2026-02-20\n\n- Bob: Lunch was cold again\n")
    memory.write("insights/2026-02.md", "# Insights - February 2026\n\n## 2026-02-24 Insights\n"
                 f"{HEAD}\n\n### Session Intent\n\n{INSIGHT} <!-- importance: 7 -->\n\n---\n")  # fmt: skip
    memory.write("lessons/deploys.md", f"# Deploys\n\n{LESSON}")
    memory.write("memory/.abstract", "# memory/\n\nThe daily logs.\n\n"
                 "- 2026-02-24.md: moving databases, backups of the pelican server\n"
                 "- `2026-02-20.md` - lunch\n")  # fmt: skip
    return memory


def asked(memory: Memory, tier: str, question: str, *more: str) -> dict[str, Any]:
    """The answer of `recall --tier TIER --json`."""
    given = ("--tier", tier) if tier else ()
    return memory.run(
        "recall", "--json", "--within", "0", "--today", "2026-03-01", *given, *more, question
    ).data


def places(answer: dict[str, Any]) -> list[str]:
    """Where its hits stand."""
    return [f"{hit['path']}:{hit['start_line']}" for hit in answer["hits"]]


def test_l0_answers_from_overviews_and_long_term_memory(memory: Memory) -> None:
    """A line of an abstract is a hit of its own kind: its place, its day, and the file that it is
    about; no insight, lesson or log is read."""
    answer = asked(memory, "l0", "the pelican backups")
    (hit,) = answer["hits"]
    assert (hit["path"], hit["start_line"], hit["kind"]) == ("memory/.abstract", 5, "abstract")
    assert (hit["heading"], hit["date"]) == ("memory/2026-02-24.md", "2026-02-24")
    assert hit["cites"] == ["memory/2026-02-24.md"]
    assert 0 < hit["score"] < 1
    assert places(asked(memory, "l0", "kestrel")) == ["MEMORY.md:3"]
    assert places(asked(memory, "l0", "osprey gateway")) == []


def test_l1_adds_insights_and_lessons(memory: Memory) -> None:
    """An insight names the lines that it rests on, so that just these can be opened."""
    hit = asked(memory, "l1", "the heron database in Frankfurt")["hits"][0]
    assert (hit["path"], hit["kind"]) == ("insights/2026-02.md", "insights")
    assert hit["cites"] == ["memory/2026-02-24.md#L4-L4"]
    assert places(asked(memory, "l1", "osprey gateway")) == ["lessons/deploys.md:3"]
    assert places(asked(memory, "l1", "Lunch was cold")) == ["memory/.abstract:6"]


def test_l2_is_what_recall_does_without_a_tier(memory: Memory) -> None:
    """The hits are the same; the tiers are told only where one was asked for."""
    for question in ("heron database", "pelican", "kestrel", "osprey", "nothing of that"):
        plain, deep = asked(memory, "", question), asked(memory, "l2", question)
        assert plain["hits"] == deep["hits"]
        assert plain["tiers"] == []
        assert [tier["tier"] for tier in deep["tiers"]] == ["l0", "l1", "l2"]
        assert all(not place.partition(":")[0].endswith(".abstract") for place in places(plain))


def test_auto_stops_where_an_insight_says_what_the_log_would(memory: Memory) -> None:
    """The best line of the logs is the one that the insight cites: it need not be read."""
    answer = asked(memory, "auto", "Where is the heron database since last week?")
    assert places(answer)[0] == "insights/2026-02.md:8"
    assert all(hit["kind"] != "memory" for hit in answer["hits"])
    assert [tier["tier"] for tier in answer["tiers"]] == ["l0", "l1"]


def test_auto_stops_at_an_entry_that_no_log_outdoes(memory: Memory) -> None:
    """What long-term memory or a lesson says by itself is an answer."""
    for question, place in (
        ("Who owns the kestrel account of finance?", "MEMORY.md:3"),
        ("osprey gateway restart on Friday", "lessons/deploys.md:3"),
    ):
        answer = asked(memory, "auto", question)
        assert places(answer)[0] == place
        assert len(answer["tiers"]) == 2


def test_auto_goes_deeper_where_the_evidence_is_weak(memory: Memory) -> None:
    """No insight speaks of the backups, and the overview only names the file: the logs are read,
    as without a tier."""
    question = "When do the pelican backups run?"
    answer = asked(memory, "auto", question)
    assert answer["hits"] == asked(memory, "", question)["hits"]
    assert places(answer)[0] == "memory/2026-02-24.md:6"
    assert [tier["tier"] for tier in answer["tiers"]] == ["l0", "l1", "l2"]


def test_auto_without_insights_and_abstracts_is_plain_recall(memory: Memory) -> None:
    """Where nothing was distilled there is nothing to stop at."""
    (memory.root / "insights/2026-02.md").unlink()
    (memory.root / "memory/.abstract").unlink()
    for question in ("heron database", "Who owns the kestrel account of finance?", "osprey"):
        answer = asked(memory, "auto", question)
        assert answer["hits"] == asked(memory, "", question)["hits"]
        assert len(answer["tiers"]) == 3


def test_the_tokens_of_each_tier_are_told(memory: Memory) -> None:
    """In the object by tier, within what the whole costs; for a person in one line beside the
    answer; the budget holds over all."""
    answer = asked(memory, "l1", "heron database backups of the pelican server")
    l0, l1 = answer["tiers"]
    assert (l0["hits"], l1["hits"]) == (1, 1)
    assert 0 < l0["tokens"] + l1["tokens"] <= answer["tokens"]
    text = memory.run("recall", "--tier", "l1", "heron database backups of the pelican server")
    told = f"l0 1 hit, {l0['tokens']} tokens; l1 1 hit, {l1['tokens']} tokens"
    assert text.errors == f"memfas: tiers read: {told}\n"
    less = str(answer["tokens"] - 1)
    small = asked(memory, "l1", "heron database backups of the pelican server", "--budget", less)
    assert small["tokens"] <= int(less)
    assert len(small["hits"]) == 1


def test_an_insight_is_printed_without_what_its_place_says(memory: Memory) -> None:
    """Of the headings above it only the last is new beside the file's name and the day."""
    text = memory.run("recall", "--tier", "l1", "heron database in Frankfurt").text
    assert "[insights/2026-02.md:8] Session Intent | 2026-02-24 (score: " in text


def test_foreign_overviews_are_read_too(memory: Memory) -> None:
    """OpenViking's files are lines about their folder; nothing of them is in a plain recall."""
    memory.write("projects/.overview.md", "# Projects\n\nEverything about the albatross rollout\n")
    memory.write("projects/plan.md", "# Plan\n\n- step one\n")
    (hit,) = asked(memory, "l0", "albatross rollout")["hits"]
    assert (hit["path"], hit["cites"]) == ("projects/.overview.md", ["projects/"])
    assert places(asked(memory, "", "albatross rollout")) == []


def test_an_overview_that_names_what_is_elsewhere_is_about_its_folder(memory: Memory) -> None:
    """A line cannot send an agent out of the memory folder, or to a file that is not there."""
    memory.write("notes/.abstract", "# Notes\n\n- ../../etc/passwd: toucan\n- /etc/hosts: toucan\n"
                 "- gone.md: toucan\n")  # fmt: skip
    memory.write("notes/a.md", "# A\n\n- text\n")
    found = asked(memory, "l0", "toucan")["hits"]
    assert [hit["cites"] for hit in found] == [["notes/"]] * 3


def test_archived_and_ignored_overviews_are_left_out(memory: Memory) -> None:
    """What .memfasignore leaves out, and what is put away, has no overview in an answer."""
    for folder in ("archive", "private"):
        memory.write(f"{folder}/.abstract", f"# {folder}\n\nAll about the puffin\n")
    assert places(asked(memory, "l0", "puffin")) == ["private/.abstract:3"]
    memory.write(".memfasignore", "private/\n")
    assert asked(memory, "l0", "puffin")["hits"] == []


def test_an_insight_that_only_quotes_a_line_comes_once_with_it(memory: Memory) -> None:
    """Where the logs are read, the line stands for its quotation, which is named beside it; an
    insight that says more is a hit of its own."""
    (hit,) = asked(memory, "", "heron database Frankfurt", "--limit", "1")["hits"]
    assert hit["path"] == "memory/2026-02-24.md"
    assert hit["also"] == ["insights/2026-02.md:8"]
    more = INSIGHT.replace("- Alice", "- The heron database left Berlin, Alice")
    memory.write("insights/2026-02.md", f"# Insights\n\n{more}\n")
    found = asked(memory, "", "heron database Frankfurt", "--limit", "2")["hits"]
    assert {hit["kind"] for hit in found} == {"memory", "insights"}


def test_an_unknown_tier_is_a_mistake(memory: Memory) -> None:
    """Status 2, with the names that there are."""
    result = memory.run("recall", "--tier", "L3", "heron")
    assert result.status == 2
    assert "l0, l1, l2, auto" in result.errors


def test_nothing_found_in_a_tier_is_nothing_found(memory: Memory) -> None:
    """Status 1, as ever, though a deeper tier would have something."""
    assert memory.run("recall", "--tier", "l1", "cold").status == 1
    assert memory.run("recall", "--tier", "l2", "cold").status == 0


def test_the_files_themselves_can_be_asked_in_tiers(memory: Memory) -> None:
    """Without an index the hits are the same."""
    for tier in ("l0", "l1", "auto"):
        question = "heron database backups"
        assert places(asked(memory, tier, question, "--no-index")) == places(
            asked(memory, tier, question)
        )
