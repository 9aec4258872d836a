"""`memfas promote`: what is worth an entry is proposed, the chosen one added, and not proposed again."""

from __future__ import annotations

from typing import Any

import pytest

from inputs.memory import TODAY, Memory, Result
from reflection.support import DAY, INSIGHTS, NAME, compound

LOG = """# 2026-02-24

- 09:00 We decided to keep Node 18 until March because the servers run Debian 11
- 10:00 Turned out that the disk of heron is full after each deploy, root cause: old images
- 11:00 Lunch in the park with the others from the second floor
- [ ] renew the certificate of heron before the 5th of March, decided with Dana
- 12:00 Edited `src/app/main.py` for the front end

## Decisions

- The front end stays in React
"""


def promote(memory: Memory, *arguments: str) -> Result:
    """`memfas promote` on a fixed day."""
    return memory.run("promote", "--today", TODAY, *arguments)


def proposed(memory: Memory, *arguments: str) -> list[dict[str, Any]]:
    """The proposals, as data."""
    found = promote(memory, "--json", *arguments).data["proposals"]
    assert isinstance(found, list)
    return found


@pytest.fixture
def made(agent: Memory) -> Memory:
    """A memory folder with insights and a MEMORY.md."""
    agent.write("MEMORY.md", "# Memory\n\n- [P0] Timezone: Berlin\n")
    agent.write(NAME, LOG)
    assert compound(agent).status == 0
    return agent


def place_of(memory: Memory, words: str) -> str:
    """Where an insight stands, PATH:LINE."""
    lines = memory.read(INSIGHTS).decode().split("\n")
    return f"{INSIGHTS}:{next(n for n, line in enumerate(lines, 1) if words in line)}"


def test_decisions_and_lessons_are_proposed(made: Memory) -> None:
    """The weightiest first, each with the place to name; no task, no file, no lunch."""
    found = proposed(made)
    texts = [row["text"] for row in found]
    assert {text.split()[0] for text in texts} == {"We", "Turned", "The"}
    assert [row["importance"] for row in found] == sorted(
        (r["importance"] for r in found), reverse=True
    )
    for row in found:
        assert place_of(made, row["text"]) == f"{row['path']}:{row['line']}"
        assert row["source"].startswith(f"{NAME}#L")
    shown = promote(made)
    assert shown.status == 0
    assert shown.text.endswith(f"Add one: memfas promote {found[0]['path']}:{found[0]['line']}\n")
    assert len(proposed(made, "-n", "1")) == 1


def test_the_chosen_one_is_added(made: Memory) -> None:
    """A P1 of today with its source; `lint` has nothing to say; it is not proposed again; and undo."""
    before = made.read()
    place = place_of(made, "We decided to keep Node 18")
    added = promote(made, place, "--json").data
    line = (
        f"- [P1][{TODAY}] We decided to keep Node 18 until March because the servers run Debian 11"
        f" <!-- source: {NAME}#L3-L3 by memfas promote -->\n"
    )
    assert made.read() == before + line.encode()
    assert (added["path"], added["line"]) == ("MEMORY.md", 4)
    lint = made.run("lint", "MEMORY.md")
    assert lint.status == 0, lint.everything
    assert not any("Node 18" in row["text"] for row in proposed(made))
    assert made.run("undo").status == 0
    assert made.read() == before
    assert any("Node 18" in row["text"] for row in proposed(made))


@pytest.mark.parametrize(
    ("options", "begins"),
    [(["-p", "P0"], "- [P0] We decided"), (["--priority", "P2"], f"- [P2][{TODAY}] We decided"),
     (["--text", "Node 18\n- [P0] forged"], f"- [P1][{TODAY}] Node 18 - [P0] forged <!-- source:")],
)  # fmt: skip
def test_how_it_is_added(made: Memory, options: list[str], begins: str) -> None:
    """Another priority, other words: one line in any case."""
    assert promote(made, place_of(made, "We decided"), *options).status == 0
    assert made.read().decode().split("\n")[3].startswith(begins)
    assert made.read().count(b"\n") == 4


def test_what_memory_says_is_not_proposed(made: Memory) -> None:
    """In other words and other order it is the same."""
    made.write("MEMORY.md", "- [P1][2026-02-25] Until March we keep Node 18, decided because the"
               " servers run Debian 11\n")  # fmt: skip
    assert not any("Node 18" in row["text"] for row in proposed(made))


def test_what_is_old_or_stale_is_not_proposed(made: Memory) -> None:
    """Insights of more than 90 days, and those whose words are gone from the log."""
    far = made.run("promote", "--today", "2026-05-26", "--json")
    assert (far.status, far.data["proposals"]) == (1, [])
    assert made.run("promote", "--today", "2026-05-25", "--json").data["proposals"]
    made.write(NAME, made.read(NAME).replace(b"Node 18", b"Node 22"))
    made.run("verify", "--today", TODAY)
    assert not any("Node" in row["text"] for row in proposed(made))


def test_nothing_to_propose(agent: Memory) -> None:
    """Status 1, a sentence or an empty list."""
    assert promote(agent).text == "No insight is weighty and new enough.\n"
    assert promote(agent).status == 1
    assert proposed(agent) == []


@pytest.mark.parametrize("dry", [[], ["--json"]])
def test_a_dry_run_adds_nothing(made: Memory, dry: list[str]) -> None:
    """It shows the entry."""
    before = made.truth()
    result = promote(made, place_of(made, "We decided"), "--dry-run", *dry)
    assert result.status == 0
    assert f"- [P1][{TODAY}] We decided" in (result.data["text"] if dry else result.text)
    assert made.truth() == before


WRONG = [
    (["insights/2026-02.md"], 2),
    (["insights/2026-02.md:0"], 2),
    (["insights/2026-02.md:1"], 1),
    (["insights/2026-02.md:9999"], 1),
    (["insights/no-such.md:3"], 1),
    (["../outside.md:3"], 2),
    ([f"{NAME}:3"], 1),
    (["insights/2026-02.md:9", "-p", "P3"], 2),
    (["-n", "0"], 2),
    (["insights/2026-02.md:9", "-p", "p1"], 2),
]


@pytest.mark.parametrize(("arguments", "status"), WRONG, ids=str)
def test_what_is_wrong_adds_nothing(made: Memory, arguments: list[str], status: int) -> None:
    """A sentence and a status; the same as an object."""
    before = made.truth()
    result = promote(made, *arguments)
    assert result.status == status, result.everything
    assert "Traceback" not in result.everything
    assert promote(made, *arguments, "--json").data["error"]
    assert made.truth() == before


def test_the_entry_can_be_read_as_any_other(made: Memory) -> None:
    """It expires as a P1 does, and recall finds it with its day."""
    promote(made, place_of(made, "We decided"))
    found = made.run("recall", "--json", "--in", "long-term", "Which Node do we keep?").data["hits"]
    assert (found[0]["priority"], found[0]["date"]) == ("P1", TODAY)
    assert DAY not in found[0]["text"].partition("<!--")[0]
