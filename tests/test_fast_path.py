"""Recall is answered before typer is loaded, and nobody can tell by the answer."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import typer
from hypothesis import given, settings
from hypothesis import strategies as st

from agent_memfas.cli import asking, fast, finding, options, program
from agent_memfas.cli.typed import as_command
from commandline import REPO

HEAVY = {
    "asyncio", "click", "dataclasses", "frontmatter", "inspect", "json", "logging", "markdown_it",
    "numpy", "openai", "pathlib", "pydantic", "rank_bm25", "re", "rich", "typer", "typing",
    "watchdog", "yaml",
}  # fmt: skip
SETTINGS = "timezone: Europe/Berlin\nsearch: {max_results: 2}\njanitor: {ttl_p1: 10}\n"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "memory").mkdir()
    (tmp_path / "MEMORY.md").write_text("- [P1][2026-02-24] the staging host is heron\n")
    (tmp_path / "memory/2026-02-24.md").write_text("- Alice: the heron deadline is Friday\n")
    (tmp_path / "TRIGGERS.md").write_text("- alice -> Project manager\n")
    return tmp_path


WORDS = ["heron", "-", "--", "what is", "", "-x", "--json", "--limit", "--limit=2", "-n", "3", "-n3",
         "--in", "memory", "--in=memory", "long-term", "--since", "2026-01-01", "--since=", "--help",
         "--archive", "--archive=1", "--no-index", "--within", "50", "--root", "/x", "--root=/x",
         "-c", "m.yaml", "-cm.yaml", "--config=m.yaml", "--today", "2026-03-01", "--lim", "-1", "x=y",
         "--limit=", "٣", "1_0", " 4", "+5"]  # fmt: skip


def by_typer(arguments: list[str]) -> dict[str, Any] | None:
    """The values that typer gives to the command, or None where it does not call it."""
    seen: list[dict[str, Any]] = []

    def record(values: dict[str, Any]) -> int:
        seen.append(values)
        return 0

    app = typer.Typer()
    app.callback()(lambda: None)
    app.command("recall")(as_command(asking.TABLE, record))
    try:
        app(["recall", *arguments], standalone_mode=False)
    except (typer.TyperException, typer.Exit):
        return None
    return seen[0] if seen else None


@settings(deadline=None)
@given(st.lists(st.sampled_from(WORDS), max_size=6))
def test_both_readers_of_the_options_agree(arguments: list[str]) -> None:
    """Whatever form the small parser takes, typer takes it too, and reads the same values."""
    quick = options.read(asking.TABLE, arguments)
    if quick is not None:
        assert quick == by_typer(arguments)


@pytest.mark.parametrize(
    "arguments",
    [
        ["heron"], ["what", "is", "heron"], ["--json", "heron"], ["heron", "--limit=1"],
        ["-n", "1", "heron"], ["--", "--json"], ["heron", "--in", "memory", "--in", "insights"],
        ["--since", "2026-02-24", "--until", "2026-02-25", "heron"], ["heron", "--archive"],
        ["--no-index", "--today", "2026-03-20", "heron"], ["--within", "0", "heron"],
    ],
    ids=" ".join,
)  # fmt: skip
def test_plain_forms_need_no_typer(arguments: list[str]) -> None:
    """The forms that are used all day are taken by the small parser."""
    assert options.read(asking.TABLE, arguments) is not None


@pytest.mark.parametrize(
    "arguments",
    [
        ["heron"], ["--json", "heron"], ["alice"], ["nothing-like-this"], ["--limit", "0", "heron"],
        ["--limit", "many", "heron"], ["--in", "nowhere", "heron"], ["--since", "now", "heron"],
        ["--nonsense", "heron"], ["--help"], [], [""], ["--json", "--limit", "9999", "heron"],
        ["--today", "2027-01-01", "heron"],
    ],
    ids=lambda a: " ".join(a) or "nothing",
)  # fmt: skip
def test_the_answer_is_the_same_either_way(
    root: Path, capsys: pytest.CaptureFixture[str], arguments: list[str]
) -> None:
    """Output, messages and status do not tell which of the two read the command line."""

    def told(run: Any) -> tuple[int | None, str, str]:
        status = run(["recall", "--root", str(root), *arguments])
        out, err = capsys.readouterr()
        if out.startswith("{"):
            answer = {key: v for key, v in json.loads(out).items() if key != "as_of"}
            return status, json.dumps(answer), err
        lines = [
            line for line in out.splitlines() if len(line) != 16 and "Memory Context" not in line
        ]
        return status, "\n".join(lines), err

    slow = told(program.run)
    quick = told(fast.run)
    assert quick[0] is None or quick == slow


def loaded(root: Path, *arguments: str) -> set[str]:
    """The heavy libraries that a recall in a process of its own has loaded."""
    program = (
        "import sys; sys.argv = ['recall.py', *sys.argv[1:]];"
        "from agent_memfas.cli import door; status = door('recall');"
        f"print(*sorted(set(sys.modules) & {HEAVY!r}), file=sys.stderr)"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, "--root", str(root), *arguments],
        env={"PYTHONPATH": str(REPO / "scripts"), "HOME": str(root)},
        capture_output=True, encoding="utf-8", check=True,
    )  # fmt: skip
    assert "heron" in done.stdout
    return set(done.stderr.split())


@pytest.mark.parametrize("settings", ["", SETTINGS], ids=["no settings", "memfas.yaml"])
def test_a_question_to_a_fresh_index_loads_nothing_heavy(root: Path, settings: str) -> None:
    """Once the index is in step a recall costs little more than Python itself: no YAML, no typer,
    no regular expressions; memfas.yaml is remembered as long as its bytes are the same."""
    if settings:
        (root / "memfas.yaml").write_text(settings)
    loaded(root, "heron")  # makes the index
    loaded(root, "heron")  # remembers the settings beside it
    allowed = {"re", "typing", "pathlib"} if settings else set()  # what zoneinfo brings
    assert loaded(root, "heron") <= allowed


def test_a_change_of_the_settings_is_seen_at_once(
    root: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """What is remembered of memfas.yaml is forgotten with the first other byte in it."""
    for limit in (1, 2, 1):
        (root / "memfas.yaml").write_text(f"search: {{max_results: {limit}}}\n")
        fast.run(["recall", "heron", "--root", str(root), "--json"])
        assert len(json.loads(capsys.readouterr().out)["hits"]) == limit


def test_settings_remembered_by_another_version_are_not_read(
    root: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A watcher of yesterday and a command of today share the folder: neither takes what the other
    has remembered of memfas.yaml for its own."""
    (root / "memfas.yaml").write_text("search: {max_results: 2}\n")
    for _ in range(2):
        fast.run(["recall", "heron", "--root", str(root)])
    kept = root / ".memfas/settings"
    head, _, rest = kept.read_text().partition("\n")
    assert str(root / "memfas.yaml") in head
    kept.write_text(f"{root / 'memfas.yaml'}\n{rest}")
    capsys.readouterr()
    fast.run(["recall", "heron", "--root", str(root), "--json"])
    answer = json.loads(capsys.readouterr().out)
    assert (len(answer["hits"]), answer["files_indexed"]) == (2, 3)


def test_the_commands_answered_early_are_in_the_table() -> None:
    """What is answered early is a command of memfas, with a help page of its own."""
    assert set(fast.COMMANDS) <= program._names() | {"recall"}
    assert finding.PANEL == "Recall"
