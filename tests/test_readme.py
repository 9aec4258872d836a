"""The README tells the truth: what it shows runs, what it names exists."""

from __future__ import annotations

import json
import re
from datetime import date
from pathlib import Path

import pytest

from agent_memfas import errors
from agent_memfas.cli.out import FAULT_OF_OURS
from agent_memfas.text.cold import parse as blocks_of
from agent_memfas.text.documents import parse
from agent_memfas.text.entries import Terms, entries
from agent_memfas.text.nearmiss import near_misses
from commandline import (
    REPO,
    checkout,
    code_blocks,
    help_of,
    inline_code,
    links,
    prompt,
    section_blocks,
)

README = REPO / "README.md"
# These show nothing, or work in no memory folder of their own.
APART = ("demo", "mcp", "hook", "uninstall")


def test_the_quick_start_runs_in_order(tmp_path: Path) -> None:
    """I copy the `sh` blocks one after the other into a shell, and each of them works."""
    me = prompt(tmp_path)
    blocks = code_blocks(README, "sh")
    done = me.shell("set -x\n" + "\n".join(blocks), cwd=checkout(tmp_path / "memfas"))
    assert done.returncode == 0, done.stdout + done.stderr
    assert "Traceback" not in done.stderr
    assert "Friday" in done.stdout
    assert f"memory/{date.today().isoformat()}.md" in done.stdout
    entry_texts = [e.text for e in entries(parse((me.home / "my-agent/MEMORY.md").read_bytes()))]
    assert entry_texts == [
        "Timezone: US Eastern",
        "Alice: project manager, prefers async communication",
        "Staging database is read-only this month",
        "Deploys happen at noon",
        "The staging host is called heron",
    ]


def test_the_quick_start_of_agent_memfas_works(tmp_path: Path) -> None:
    """Shell and Python of its README, one after the other: triggers first, then what was found."""
    me = prompt(tmp_path)
    (start,) = code_blocks(README, "shell")
    program, _ = code_blocks(README, "python")
    (me.home / "quick.py").write_text(program)
    done = me.shell(f"{start}\npython ~/quick.py\n", cwd=checkout(tmp_path / "memfas"))
    assert done.returncode == 0, done.stdout + done.stderr
    by_command, _, by_program = done.stdout.rpartition("📚 Memory Context:")
    assert "[alice] Project manager, prefers async communication" in by_command
    assert "Alice said the deadline moves to Friday" in by_command
    assert "[alice] Project manager, prefers async" in by_program
    assert "Alice said the deadline moves to Friday" in by_program


def test_the_agent_loop_of_context_management_works(tmp_path: Path) -> None:
    """It runs as it stands: the window stays under its trigger, what left is on disk and found."""
    me = prompt(tmp_path)
    _, program = code_blocks(README, "python")
    (me.home / "loop.py").write_text(program)
    done = me.shell("python loop.py\n", cwd=me.home)
    assert done.returncode == 0, done.stdout + done.stderr
    status, found = done.stdout.strip().splitlines()
    assert "needs_compaction=False" in status
    assert "copy the orders at night" in found
    (stored,) = (me.home / "cold-storage").glob("*.md")
    texts = [block.text for block in blocks_of(stored.read_bytes())[0]]
    assert sorted(text for text in texts if text.startswith("What about")) == sorted(
        f"What about page {n}?" for n in range(100)
    )


def test_the_two_commands_are_one_line_each() -> None:
    """I need exactly two lines: one shows it, one tests it; CI runs the same two."""
    commands = code_blocks(README, "bash")
    assert len(commands) == 2
    assert all(command.count("\n") == 1 for command in commands)
    assert commands[0].startswith("python3 -m venv .venv ")
    assert commands[0].rstrip().endswith("memfas demo")
    assert commands[1].startswith("python3 -m venv .venv-test ")
    assert "pytest" in commands[1]
    ci = (REPO / ".ci/run").read_text(encoding="utf-8")
    assert "readme_line .venv)" in ci
    assert "readme_line .venv-test)" in ci


def test_every_option_in_the_command_table_exists(capsys: pytest.CaptureFixture[str]) -> None:
    """A command or an option that the README names is one that memfas knows."""
    rows = [
        line
        for line in README.read_text(encoding="utf-8").splitlines()
        if line.startswith("| `memfas ")
    ]
    assert len(rows) >= 13
    for row in rows:
        command = re.match(r"\| `memfas (\w[\w-]*)", row)
        assert command, row
        shown = help_of(command[1], capsys)
        for option in re.findall(r"(?<![\w-])--?[a-z][a-z-]*", row):
            assert option in shown, f"memfas {command[1]} has no {option}"
        for option in ("--root", "--json") if command[1] not in APART else ():
            assert option in shown, f"memfas {command[1]} has no {option}"


def test_every_command_stands_in_the_table(tmp_path: Path) -> None:
    """A command that `memfas --help` lists is described in the README."""
    me = prompt(tmp_path, COLUMNS="200")
    shown = me.run(["memfas", "--help"])
    assert shown.returncode == 0, shown.stderr
    listed = set(
        re.findall(r"^[\s│|]+([a-z][a-z-]+)(?:\s{2,}|\s*[│|])", shown.stdout, re.MULTILINE)
    )
    assert {"init", "recall", "janitor"} <= listed
    named = {m[1] for code in inline_code(README) if (m := re.match(r"memfas (\w[\w-]*)", code))}
    assert listed <= named


def test_every_exit_status_stands_in_the_table() -> None:
    """A script of mine can tell from the README what each exit status means."""
    text = README.read_text(encoding="utf-8")
    table = {int(n) for n in re.findall(r"^\| (\d+) \|", text, re.MULTILINE)}
    known = {
        thing.status
        for thing in vars(errors).values()
        if isinstance(thing, type) and issubclass(thing, errors.MemfasError)
    }
    assert known | {0, FAULT_OF_OURS} == table


def test_the_entries_shown_are_entries() -> None:
    """I can copy an example entry, and it is read as the README says."""
    (example,) = section_blocks(README, "text", "Entries")
    document = parse(example.encode())
    found = [(e.tag.priority, e.tag.last_day(Terms())) for e in entries(document)]
    assert near_misses(document, date(2026, 3, 1)) == []
    assert found == [
        ("P0", None),
        ("P1", date(2026, 5, 25)),
        ("P2", date(2026, 3, 26)),
        ("P1", date(2026, 3, 10)),
        ("P2", date(2026, 12, 31)),
        ("P1", date(2026, 5, 25)),
    ]


@pytest.mark.parametrize("page", ["README.md", ".github/CONTRIBUTING.md", "SKILL.md"])
def test_links_lead_somewhere(page: str) -> None:
    """A relative link of the documentation points to a file that is there."""
    path = REPO / page
    missing = [
        target
        for target in links(path)
        if "://" not in target and not (path.parent / target.split("#")[0]).exists()
    ]
    assert missing == []


def test_the_folder_shown_is_what_init_makes(tmp_path: Path) -> None:
    """What `memfas init` lays down is what the README's picture of a memory folder shows."""
    me = prompt(tmp_path)
    assert me.run(["memfas", "init", "--root", str(me.home)]).returncode == 0
    (picture,) = section_blocks(README, "text", "The files")
    for made in me.home.iterdir():
        assert made.name in picture, f"init makes {made.name}, which the README does not show"


def test_the_crontab_line_is_the_one_that_init_prints(tmp_path: Path) -> None:
    """What the README puts into crontab is what `memfas init` tells me to put there."""
    me = prompt(tmp_path)
    printed = me.run(["memfas", "init", "--root", str(me.home)]).stdout
    (line,) = [text for text in printed.splitlines() if text.lstrip().startswith("0 4 * * * ")]
    program, _, rest = line.strip().removeprefix("0 4 * * * ").partition(" ")
    shown = section_blocks(README, "text", "Quick start")[0]
    told = f"0 4 * * * {program} {rest}\n"
    told = told.replace(program, "/home/me/memfas/.venv/bin/memfas")
    assert shown == told.replace(str(me.home), "/home/me/my-agent")


def test_machine_readable_answers_are_objects(tmp_path: Path) -> None:
    """`--json` after any command that only reads gives one object with a schema number."""
    me = prompt(tmp_path)
    assert me.run(["memfas", "init", "--root", str(me.home)]).returncode == 0
    for line in (
        "recall deadline",
        "janitor --dry-run",
        "expiring",
        "lint",
        "history MEMORY.md",
        "init",
    ):
        done = me.run(["memfas", *line.split(), "--json", "--root", str(me.home)])
        assert json.loads(done.stdout)["schema"] == 1, line
