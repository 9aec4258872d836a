"""`memfas curate`, as it is typed and as a program reads it."""

from __future__ import annotations

import os
import re
import subprocess

import pytest

from commandline import REPO
from curation.support import Agent, days_ago
from inputs.memory import PROGRAM, call, start

# All fields of a response but top_memories, as agent-memfas prints them.
KEYS = """context tokens_used budget memories_included memories_dropped memories_filtered
triggers_matched topic topic_shifted baseline_tokens tokens_saved compression_ratio latency_ms
curation_level curation_level_name""".split()
OURS = ["curation_why", "curated_tokens", "fresh", "as_of", "files_seen", "files_indexed", "notes"]


@pytest.fixture(autouse=True)
def _known(agent: Agent) -> None:
    agent.keep("The heron nests at the pond", "Door code is 4411.")
    agent.write("TRIGGERS.md", "- acme -> Client project\n")


def test_a_person_sees_the_context_and_its_figures(agent: Agent) -> None:
    """Head, context, topic, memories, triggers, and with a baseline what was saved."""
    result = agent.curate("-l", "3", "--baseline", "1000", "acme and the door code")
    assert (result.status, result.errors) == (0, "")
    lines = result.text.splitlines()
    assert re.fullmatch(r"📚 Curated Context \(\d+ tokens, level 3 \(balanced\), \d+ms\)", lines[0])
    assert "[acme] Client project" in lines
    assert "2: [P0] Door code is 4411." in lines
    assert "Triggers: 1" in lines
    assert any(re.fullmatch(r"Memories: \d+ included, \d+ dropped, \d+ filtered", n) for n in lines)
    assert any(re.fullmatch(r"Savings: 9\d\d tokens \(9\d%\)", line) for line in lines)
    assert any(line.startswith("Topic: ") for line in lines)


def test_a_program_gets_every_figure(agent: Agent) -> None:
    """`--json` has the 15 keys of the reference and ours, also where nothing is found."""
    found = agent.data("door code", "--baseline", "1000")
    nothing = agent.data("submarine")
    for data in (found, nothing):
        assert list(data) == ["schema", *KEYS, *OURS]
    assert "Door code is 4411." in found["context"]
    assert found["tokens_used"] == found["curated_tokens"] <= found["budget"]
    assert found["tokens_saved"] == 1000 - found["tokens_used"]
    assert (found["fresh"], found["files_seen"]) == (True, 2)
    assert (nothing["context"], nothing["tokens_used"]) == ("", 0)


def test_auto_is_the_level_of_the_command(agent: Agent) -> None:
    """Without `-l` the level is chosen by the question, and the answer says why."""
    data = agent.data("What is the door code?")
    assert data["curation_why"]
    assert f"Level: {data['curation_why']}" in agent.curate("What is the door code?").text
    assert agent.data("-l", "rich", "door code")["curation_why"] == ""
    for level, number in (("1", 1), ("FULL", 5), ("99", 5)):
        assert agent.data("-l", level, "door code")["curation_level"] == number


def test_the_account_names_each_candidate(agent: Agent) -> None:
    """`--explain`: value, cost and parts of each memory, and whether it is in, cut, dropped or
    filtered, and why."""
    agent.keep("The heron nests at the pond", "The heron eats frogs", "A heron flew over the house",
               "heron heron heron " + "and more of it. " * 60)  # fmt: skip
    data = agent.data("where does the heron nest", "-b", "60", "-l", "5", "--explain")
    rows = data["kept"] + data["dropped"] + data["filtered"]
    assert len({row["id"] for row in rows}) == len(rows) == 4
    assert len(data["kept"]) == data["memories_included"] > 0
    assert len(data["dropped"]) == data["memories_dropped"] > 0
    for row in rows:
        assert row["cost"] > 0
        assert 0 <= row["value"] <= 1
        parts = ["semantic", "recency", "access", "topic", "boosted"]
        assert list(row["breakdown"]) == parts
    assert {row["reason"] for row in data["dropped"]} == {"does not fit into the budget"}
    assert all(row["text"] in data["context"] for row in data["kept"])
    strict = agent.data("where does the heron nest", "-l", "1", "--explain")
    assert {row["reason"] for row in strict["filtered"]} == {"under the level's min_score"}
    shown = agent.curate("where does the heron nest", "-b", "60", "-l", "5", "--explain").text
    for row in rows:
        line = rf"^ *[01]\.\d\d +{row['cost']} .*{row['source']}: "
        assert re.search(line, shown, re.MULTILINE)


def test_the_levels_are_described(agent: Agent) -> None:
    """`--describe-levels` needs no question; as data they are five rows."""
    result = agent.curate("--describe-levels")
    assert result.status == 0
    for name in ("minimal", "lean", "balanced", "rich", "full", "auto"):
        assert name in result.text
    rows = agent.data("--describe-levels")["levels"]
    assert [(row["level"], row["token_budget"]) for row in rows] == [
        (1, 300), (2, 800), (3, 1500), (4, 3000), (5, 5000),
    ]  # fmt: skip


def test_a_named_session_lasts_from_call_to_call(agent: Agent) -> None:
    """`-s`: what an earlier call gave is left out, and said; `--resend` gives it again; calls
    without a session are given it each time."""
    assert agent.data("-s", "chat", "door code")["memories_included"] == 1
    again = agent.curate("-s", "chat", "door code")
    assert again.status == 1
    assert "No memories that are new and fit." in again.text
    explained = agent.data("-s", "chat", "door code", "--explain")
    assert explained["dropped"][0]["reason"] == "given in this session already"
    assert agent.data("-s", "chat", "door code", "--resend")["memories_included"] == 1
    for _ in range(2):
        assert agent.data("door code")["memories_included"] == 1


def test_topics_shift_from_call_to_call(agent: Agent) -> None:
    """The command line has sessions, too: a new topic is marked as one."""
    assert agent.data("-s", "t", "What is the status of acme?")["topic_shifted"] is False
    moved = agent.data("-s", "t", "Where is my passport?")
    assert (moved["topic"], moved["topic_shifted"]) == ("passport", True)
    assert agent.data("-s", "u", "Where is my passport?")["topic_shifted"] is False


def test_the_budget_is_exact(agent: Agent) -> None:
    """`-b 25` is 25, not the least that a library would take; `-b 0` gives nothing."""
    for budget in (0, 1, 25, 40):
        data = agent.data("-b", str(budget), "door code", "-l", "5")
        assert data["budget"] == budget >= data["tokens_used"]
    assert agent.curate("-b", "0", "door code").status == 1


@pytest.mark.parametrize(
    ("arguments", "status", "said"),
    [
        (["door code"], 0, "4411"),
        (["submarine"], 1, "No memories found."),
        ([""], 1, "the question is empty"),
        ([], 2, "Missing argument"),
        (["x", "-l", "maximum"], 2, "is no level"),
        (["x", "-b", "-3"], 2, "--budget"),
        (["x", "-b", "many"], 2, "--budget"),
        (["x", "--baseline", "-1"], 2, "--baseline"),
        (["x", "--bogus"], 2, "bogus"),
        (["x", "-c", "nowhere.yaml"], 3, "nowhere.yaml"),
    ],
)
def test_the_status_says_how_it_went(
    agent: Agent, arguments: list[str], status: int, said: str
) -> None:
    """0 found, 1 nothing, 2 wrong usage, 3 configuration; as data, an error is an object."""
    result = agent.curate(*arguments)
    assert result.status == status
    assert said in result.everything
    data = agent.curate(*arguments, "--json").data
    assert ("error" in data) == (status >= 2)


def test_the_question_may_come_from_stdin(agent: Agent) -> None:
    """`-` reads it, whatever bytes there are; several words need no quotes."""
    done = start([*PROGRAM, "curate", "--root", str(agent.root), "-"], input=b"door \xff code\n")
    assert (done.returncode, b"4411" in done.stdout) == (0, True)
    assert "4411" in agent.curate("what", "is", "the", "door", "code").text
    assert "heron" in agent.curate("--", "heron", "--json").text


def test_the_configuration_may_be_named_anywhere(agent: Agent) -> None:
    """`-c` before or after the command; its folder counts only where no root is named."""
    other = agent.root.parent / "other"
    other.mkdir()
    (other / "my.yaml").write_text("search: {max_results: 3}\n")
    (other / "MEMORY.md").write_text("- [P0] Door code is 9999.\n")
    file = str(other / "my.yaml")
    assert "9999" in call("-c", file, "curate", "door code").text
    assert "9999" in call("curate", "-c", file, "door code").text
    assert "4411" in agent.curate("-c", file, "door code").text


def test_a_workspace_of_openclaw_is_a_memory_folder(agent: Agent) -> None:
    """As it stands: nothing but `.memfas` is added to it."""
    work = Agent(agent.root.parent / "workspace")
    work.write("AGENTS.md", "# Agents\n\nBe kind.\n")
    work.write("MEMORY.md", "# Long-term memory\n\n- Backups go to the heron host\n")
    work.write(f"memory/{days_ago(1)}.md", "# Yesterday\n\nWe decided: backups run at four.\n")
    before = work.truth()
    result = work.curate("what did we decide about backups?")
    assert result.status == 0
    assert "We decided: backups run at four." in result.text
    assert work.truth() == before
    assert sorted(os.listdir(work.root)) == [".memfas", "AGENTS.md", "MEMORY.md", "memory"]


def test_nothing_in_a_memory_steers_the_terminal(agent: Agent) -> None:
    """Escapes and direction marks in memories are shown, not obeyed."""
    agent.write("MEMORY.md", b"- [P0] heron \x1b[31mred\x1b[0m \xe2\x80\xae backwards\n")
    result = agent.curate("heron", "--explain")
    assert "heron" in result.text
    assert "\x1b" not in result.everything
    assert "\u202e" not in result.everything


def test_a_reader_that_goes_away_is_no_error(agent: Agent) -> None:
    """`memfas curate … | head -1` ends quietly."""
    command = " ".join([*PROGRAM, "curate", "--root", str(agent.root), "heron", "--explain"])
    done = subprocess.run(
        ["bash", "-c", f"set -o pipefail; {command} | head -1"], capture_output=True, check=False,
        env={"PATH": os.environ["PATH"], "PYTHONPATH": str(REPO / "scripts")},
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, b"")
