"""The queue and the options of `memfas compound`, without a model: each does what its help says."""

from __future__ import annotations

import json
import shutil
from datetime import date, timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from commandline import help_of
from inputs.memory import CONFIG, TODAY, Memory, Result
from reflection.support import INSIGHTS, LOG, MARK, compound, kept, pending

SHORT = "- 09:00 nothing to tell\n"


def day(back: int) -> str:
    """A day so many days before the day of these tests."""
    return (date.fromisoformat(TODAY) - timedelta(days=back)).isoformat()


def write_days(memory: Memory, *back: int) -> None:
    """A log on each of these days."""
    for n in back:
        memory.write(f"memory/{day(n)}.md", LOG.replace("2026-02-24", day(n)))


def files(rows: list[dict[str, Any]]) -> list[str]:
    """The days of rows of logs."""
    return [row["file"].removeprefix("memory/").removesuffix(".md") for row in rows]


def done(result: Result) -> list[str]:
    """The logs that a run has compounded, with their lines."""
    assert result.status == 0, result.everything
    return [one["log"].removeprefix("memory/") for one in result.data["compounded"]]


def test_help_names_each_option(capsys: pytest.CaptureFixture[str]) -> None:
    """All ways of the reference, and ours."""
    text = help_of("compound", capsys)
    for option in ("--mark-pending", "--batch-mark", "--list", "--process", "--extract", "--done", "--date",
                   "--if-due", "--limit", "--no-model", "--print-prompt", "--accept", "--show-payload",
                   "--dry-run", "--today", "--json", "--root"):  # fmt: skip
        assert option in text


def test_compounding_takes_what_waits_and_nothing_twice(agent: Memory) -> None:
    """The oldest first; today's log is still being written; the second run has nothing to do."""
    write_days(agent, 0, 1, 2, 5)
    assert files(pending(agent)) == [day(5), day(2), day(1)]
    shown = compound(agent, "--process")
    assert shown.status == 0
    assert shown.text.count("✓") == 3
    assert compound(agent).text == "Nothing to compound.\n"
    assert compound(agent, "--list").text == "Every log before today has its insights.\n"
    assert compound(agent, "--json").data["compounded"] == []
    assert agent.read(f"memory/{day(0)}.md").decode() == LOG.replace("2026-02-24", day(0))


def test_the_mark_follows_the_insights(agent: Memory) -> None:
    """A log is marked behind its last line, once its block stands in the file of its month."""
    write_days(agent, 5)
    assert done(compound(agent, "--json")) == [f"{day(5)}.md#L1-L8"]
    assert agent.read(f"memory/{day(5)}.md").decode() == LOG + MARK
    text = agent.read(INSIGHTS).decode()
    assert text.startswith(
        "# Insights - February 2026\n\n## 2026-02-24 Insights\n<!-- compounded: "
    )


def test_no_insights_no_mark(agent: Memory) -> None:
    """`--done` refuses a day that has none, and leaves its log as it is; a second one adds none."""
    write_days(agent, 5, 4)
    refused = compound(agent, "--done", day(5), "--json")
    assert refused.status == 1
    assert "no insights yet" in refused.data["error"]
    assert agent.read(f"memory/{day(5)}.md").decode() == LOG
    compound(agent, "--date", day(5))
    agent.write(f"memory/{day(5)}.md", LOG)
    assert compound(agent, "--done", day(5), "--dry-run").status == 0
    assert agent.read(f"memory/{day(5)}.md").decode() == LOG
    for _ in range(2):
        assert compound(agent, "--done", day(5), "--json").data["done"] == [f"memory/{day(5)}.md"]
        assert agent.read(f"memory/{day(5)}.md").decode() == LOG + MARK


@pytest.mark.parametrize("way", ["none", "after", "no folder"])
def test_nothing_is_done_twice_without_the_state_folder(agent: Memory, way: str) -> None:
    """What is done stands in the insights: `.memfas` may go, the marks may go, too."""
    write_days(agent, 5, 4)
    compound(agent)
    before = agent.read(INSIGHTS)
    if way != "none":
        shutil.rmtree(agent.root / ".memfas")
    if way == "after":
        write_days(agent, 5, 4)  # without marks
    assert done(compound(agent, "--json")) == []
    assert agent.read(INSIGHTS) == before


def test_a_log_that_was_edited_is_seen_again(agent: Memory) -> None:
    """New lines alone are reflected on; a changed line brings all of its piece, but no line twice."""
    write_days(agent, 5)
    compound(agent)
    with (agent.root / f"memory/{day(5)}.md").open("a") as log:
        log.write(
            "- 18:00 We decided to move the front end to another host on Monday, with Bob\n" * 2
        )
    (row,) = pending(agent)
    assert (row["start_line"], row["end_line"]) == (10, 11)
    assert done(compound(agent, "--json")) == [f"{day(5)}.md#L10-L11"]
    assert pending(agent) == []
    text = agent.read(f"memory/{day(5)}.md").decode()
    agent.write(f"memory/{day(5)}.md", text.replace("Postgres over MySQL", "Postgres over Oracle"))
    (one,) = compound(agent, "--json").data["compounded"]
    assert one["known"] > 0
    assert any("Oracle" in insight["text"] for insight in one["insights"])
    told = [line.partition(" (")[0] for line in kept(agent)]
    assert len(told) == len(set(told))


def test_a_short_log_waits_for_more(agent: Memory) -> None:
    """Under 100 characters it is not worth a page, but where its day is named it gets one."""
    agent.write(f"memory/{day(3)}.md", SHORT)
    assert [row["short"] for row in pending(agent)] == [True]
    assert "waits for more" in compound(agent, "--list").text
    assert done(compound(agent, "--json")) == []
    assert done(compound(agent, "--date", day(3), "--json")) == [f"{day(3)}.md#L1-L1"]


def test_mark_pending_notes_yesterday(agent: Memory) -> None:
    """As the reference: one that is missing, too short or done is skipped; a named one never."""
    write_days(agent, 1, 3)
    marked = compound(agent, "--mark-pending", "--json")
    assert files(marked.data["marked"]) == [day(1)]
    note = json.loads((agent.root / f".memfas/pending/{day(1)}.pending").read_text())
    assert (note["date"], note["file"]) == (day(1), f"memory/{day(1)}.md")
    assert note["chars"] == len(LOG.strip())
    assert [row["queued"] for row in pending(agent)] == [False, True]
    compound(agent)
    assert not (agent.root / f".memfas/pending/{day(1)}.pending").exists()
    again = compound(agent, "--mark-pending")
    assert again.status == 1
    assert "has its insights" in again.errors
    assert pending(agent) == []
    assert compound(agent, "--mark-pending", "--date", day(3)).status == 0
    assert [row["queued"] for row in pending(agent)] == [True]
    missing = compound(agent, "--mark-pending", "--date", day(9), "--json")
    assert missing.status == 1
    agent.write(f"memory/{day(9)}.md", SHORT)
    short = compound(agent, "--mark-pending", "--date", day(9))
    assert short.status == 1
    assert "under 100 characters" in short.errors


def test_batch_mark_notes_the_last_days(agent: Memory) -> None:
    """N days back from yesterday, today not among them."""
    write_days(agent, 0, 1, 2, 4, 5)
    assert files(compound(agent, "--batch-mark", "4", "--json").data["marked"]) == [
        day(4),
        day(2),
        day(1),
    ]
    assert [row["queued"] for row in pending(agent)] == [False, True, True, True]


def test_only_named_days_and_only_so_many(agent: Memory) -> None:
    """`--date` may be given again; `--limit` takes the oldest; today goes if it is named."""
    write_days(agent, 0, 1, 2, 3, 4)
    assert done(compound(agent, "--limit", "1", "--json")) == [f"{day(4)}.md#L1-L8"]
    found = done(compound(agent, "--date", day(0), "--date", day(2), "--json"))
    assert found == [f"{day(2)}.md#L1-L8", f"{day(0)}.md#L1-L8"]
    assert files(pending(agent)) == [day(3), day(1)]


@pytest.mark.parametrize(
    ("setting", "due"),
    [("threshold: 1", True), ("threshold: 1000", False), ("threshold: 1000, after_days: 5", True),
     ("threshold: 1000, after_days: 6", False)],
)  # fmt: skip
def test_if_due(agent: Memory, setting: str, due: bool) -> None:
    """Enough of importance, or old enough: else nothing is done, and it is said how far it is."""
    agent.write("memfas.yaml", f"{CONFIG}compounding: {{{setting}}}\n")
    write_days(agent, 5)
    listed = compound(agent, "--list", "--json").data
    assert listed["due"] is due
    assert 20 < listed["importance"] < 60
    result = compound(agent, "--if-due")
    assert result.status == 0
    assert ("✓" in result.text) is due
    assert ("Not due: importance" in result.text) is not due
    assert (agent.root / "insights").exists() is due
    again = compound(agent, "--if-due", "--json")
    assert (again.status, again.data["compounded"]) == (0, [])


WRONG = [
    (["--date", "yesterday"], 2),
    (["--date", "2026-02-30"], 2),
    (["--limit", "0"], 2),
    (["--batch-mark", "0"], 2),
    (["--batch-mark", "many"], 2),
    (["--done", "../../etc"], 2),
    (["--extract", "24.02.2026"], 2),
    (["--list", "--done", "2026-02-24"], 2),
    (["--process", "--mark-pending"], 2),
    (["--accept", "no-such-file.md", "--date", "2026-02-24"], 1),
    (["--show-payload"], 2),
    (["--dryrun"], 2),
    (["--done", "2020-01-01"], 1),
    (["--extract", "2020-01-01"], 1),
    (["2026-02-24"], 2),
]


@pytest.mark.parametrize("json_", [False, True], ids=["text", "json"])
@pytest.mark.parametrize(("arguments", "status"), WRONG, ids=str)
def test_what_is_wrong_changes_nothing(
    agent: Memory, arguments: list[str], status: int, json_: bool
) -> None:
    """A sentence says so, as an object with --json; no file is written."""
    write_days(agent, 5)
    before = agent.truth()
    result = compound(agent, *arguments, *["--json"] * json_)
    assert result.status == status, result.everything
    if json_ and "--dryrun" not in arguments and arguments != ["2026-02-24"]:
        assert result.data["error"]
    else:
        assert "Traceback" not in result.everything
        assert result.everything.strip()
    assert agent.truth() == before


def test_a_dry_run_changes_no_byte(agent: Memory) -> None:
    """It shows the block that would be appended; nor does marking write anything."""
    write_days(agent, 5, 4)
    before = agent.truth()
    shown = compound(agent, "--dry-run")
    assert shown.text.count("would be appended to insights/2026-02.md:") == 2
    assert "## 2026-02-24 Insights" in shown.text
    assert "[DRY RUN]" in shown.text
    data = compound(agent, "--dry-run", "--json").data
    assert data["dry_run"] is True
    assert len(data["compounded"]) == 2
    assert compound(agent, "--batch-mark", "9", "--dry-run").text.count("would be pending") == 2
    assert agent.truth() == before
    assert files(pending(agent)) == [day(5), day(4)]
    assert not any(row["queued"] for row in pending(agent))


def test_one_undo_takes_the_whole_run_back(agent: Memory) -> None:
    """Blocks in several months and all marks, of more logs than versions are kept of a file."""
    write_days(agent, *range(1, 45))
    before = agent.truth()
    compound(agent)
    assert len(list(agent.root.glob("insights/*.md"))) == 2
    undone = agent.run("undo")
    assert undone.status == 0, undone.everything
    after = agent.truth()
    assert {name: after[name] for name in before} == before
    assert kept(agent) == []
    assert len(pending(agent)) == 44
    compound(agent)
    assert pending(agent) == []


def test_undo_leaves_what_was_written_since(agent: Memory) -> None:
    """A line that somebody put behind the mark, and one in the insights, stay."""
    write_days(agent, 5)
    compound(agent)
    for name, line in ((f"memory/{day(5)}.md", "- 20:00 a late line\n"), (INSIGHTS, "Mine.\n")):
        with (agent.root / name).open("a") as file:
            file.write(line)
    assert agent.run("undo").status == 0
    assert agent.read(f"memory/{day(5)}.md").decode() == LOG + "- 20:00 a late line\n"
    assert agent.read(INSIGHTS).decode() == "# Insights - February 2026\n\nMine.\n"


def test_memory_dir_of_the_reference(
    agent: Memory, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """MEMORY_DIR names the folder of logs where nothing else names a memory folder."""
    from inputs.memory import call

    write_days(agent, 5)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MEMORY_DIR", str(agent.root / "memory"))
    listed = call("compound", "--list", "--today", TODAY, "--json")
    assert files(listed.data["pending"]) == [day(5)]
    other = Memory(tmp_path / "other")
    other.write("memfas.yaml", CONFIG)
    assert pending(other) == []


def test_logs_of_one_day_and_slugs_of_openclaw(agent: Memory) -> None:
    """2026-02-24-vendor-call.md is a log of that day, beside 2026-02-24.md; other files are none."""
    write_days(agent, 5)
    agent.write(f"memory/{day(5)}-vendor-call.md", "# Call\n\n" + LOG.replace("Alice", "Carol"))
    agent.write("memory/notes.md", LOG)
    assert done(compound(agent, "--json")) == [
        f"{day(5)}-vendor-call.md#L1-L10",
        f"{day(5)}.md#L1-L8",
    ]
    assert agent.read("memory/notes.md").decode() == LOG
    assert agent.read(INSIGHTS).decode().count("## 2026-02-24 Insights") == 2


STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("append"), st.binary(max_size=120)),
        st.tuples(st.just("edit"), st.binary(max_size=60)),
        st.tuples(st.sampled_from(["compound", "verify", "undo", "forget"]), st.just(b"")),
    ),
    max_size=9,
)


@settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))
@given(STEPS)
def test_a_log_is_untouched_but_for_marks_at_its_end(
    tmp_path_factory: pytest.TempPathFactory, steps: list[tuple[str, bytes]]
) -> None:
    """Whatever is written, edited, compounded, verified and undone: its bytes are those that people
    wrote, with nothing but marks (on lines of their own) between."""
    memory = Memory(tmp_path_factory.mktemp("any"))
    memory.write("memfas.yaml", CONFIG)
    log = memory.root / f"memory/{day(5)}.md"
    memory.write(f"memory/{day(5)}.md", LOG)
    written = LOG.encode()
    for step, data in steps:
        if step == "append":
            with log.open("ab") as file:
                file.write(data)
            written += data
        elif step == "edit":
            written = data + b"\n" + LOG.encode()
            log.write_bytes(written)
        elif step == "forget":
            shutil.rmtree(memory.root / ".memfas", ignore_errors=True)
        else:
            before = log.read_bytes()
            extra = ["--today", TODAY] if step != "undo" else []
            result = memory.run(step, *extra)
            assert result.status in (0, 1), result.everything
            if step == "compound":
                assert log.read_bytes().startswith(before)
                assert log.read_bytes()[len(before) :] in (
                    b"",
                    MARK.encode(),
                    b"\n" + MARK.encode(),
                )
            if step == "verify":
                assert log.read_bytes() == before
        assert _without_marks(log.read_bytes()) == _without_marks(written)


def _without_marks(data: bytes) -> bytes:
    """A log without marks and line ends: a mark brings one where the last line has none."""
    return data.replace(MARK.strip().encode(), b"").replace(b"\n", b"")
