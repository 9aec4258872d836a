"""SKILL.md is a valid skill, and every command that it tells an agent to run does run."""

from __future__ import annotations

import re
from datetime import date, timedelta
from pathlib import Path

import frontmatter
import pytest

import agent_memfas
from commandline import REPO, Prompt, checkout, code_blocks, help_of, inline_code, prompt

SKILL = REPO / "SKILL.md"
CHINESE = REPO / "references" / "zh.md"
KNOWN_KEYS = {"name", "description", "license", "compatibility", "metadata", "allowed-tools"}


@pytest.fixture
def agent(tmp_path: Path) -> Prompt:
    """An agent in a memory folder of some months; paths of scripts are those of the skill."""
    me = prompt(tmp_path)
    root = me.home / "agent"
    (root / "memory").mkdir(parents=True)
    (root / "scripts").symlink_to(REPO / "scripts")
    (root / "archive").mkdir()
    (root / "lessons").mkdir()
    today = date.today()
    (root / "memory/2026-02-20.md").write_text(
        "# 2026-02-20\n\n- Alice said the deadline is Friday; 截止日期是周五\n"
        "- Decided why we left MongoDB: no transactions\n",
        encoding="utf-8",
    )
    (root / "lessons/database.md").write_text(
        "# Database\n\nBefore a migration of the database take a dump.\n", encoding="utf-8"
    )
    (root / "archive/expired-2026-01.md").write_text(
        "## Archived 2026-01-03 by memory-janitor\n\n- [P2][2025-11-01] Old staging host: egret\n",
        encoding="utf-8",
    )
    (root / "MEMORY.md").write_text(
        f"# Memory\n\n- [P1][{today - timedelta(days=80)}] The staging host is called heron\n",
        encoding="utf-8",
    )
    return me


def test_the_front_matter_is_that_of_an_agent_skill() -> None:
    """A host that reads skills by the specification accepts this one."""
    page = frontmatter.load(str(SKILL))
    keys = page.metadata
    assert set(keys) <= KNOWN_KEYS
    assert keys["name"] == "memfas"
    assert re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", keys["name"])
    assert 0 < len(keys["description"]) <= 1024
    assert keys["license"] == "MIT"
    assert 0 < len(keys["compatibility"]) <= 500
    assert all(isinstance(v, str) for v in keys["metadata"].values())
    assert keys["metadata"]["version"] == agent_memfas.__version__


def test_the_body_is_short_enough_to_be_read() -> None:
    """The body of the skill stays under 500 lines, whatever is added to it."""
    assert len(frontmatter.load(str(SKILL)).content.splitlines()) < 500


@pytest.mark.parametrize("page", [SKILL, CHINESE], ids=["english", "chinese"])
def test_every_command_shown_runs(agent: Prompt, page: Path) -> None:
    """I am an agent and run each line of the `sh` blocks, in order, in my memory folder."""
    lines = [line for block in code_blocks(page, "sh") for line in block.splitlines()]
    assert len(lines) >= 8
    for line in lines:
        done = agent.shell(line, cwd=agent.home / "agent")
        assert done.returncode == 0, f"{line}\n{done.stdout}{done.stderr}"
        assert "Traceback" not in done.stderr
    written = (agent.home / "agent/MEMORY.md").read_text(encoding="utf-8")
    assert f"- [P1][{date.today()}]" in written


@pytest.mark.parametrize("page", [SKILL, CHINESE], ids=["english", "chinese"])
def test_every_command_named_exists(page: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A command or an option named in the text is one that memfas knows."""
    named: dict[str, set[str]] = {}
    for code in inline_code(page):
        if match := re.match(r"memfas (\w+)(.*)", code):
            named.setdefault(match[1], set()).update(re.findall(r"(?<!\S)--?[a-z-]+", match[2]))
    assert {"supersede", "renew", "restore", "undo"} <= set(named)
    for command, options in named.items():
        shown = help_of(command, capsys)
        for option in options:
            assert option in shown, f"memfas {command} has no {option}"


def test_every_script_is_shown_with_an_example() -> None:
    """Each script beside the skill stands in it with one line that runs it."""
    shown = "".join(code_blocks(SKILL, "sh"))
    for script in (REPO / "scripts").glob("*.py"):
        assert f"python scripts/{script.name} " in shown


def test_the_repository_is_the_skill(tmp_path: Path) -> None:
    """I clone the repository as ~/.claude/skills/memfas, and its scripts run from anywhere."""
    me = prompt(tmp_path)
    (me.home / ".claude/skills").mkdir(parents=True)
    skill = checkout(me.home / ".claude/skills/memfas")
    assert skill.name == frontmatter.load(str(skill / "SKILL.md"))["name"]
    (me.home / "project/memory").mkdir(parents=True)
    (me.home / "project/memory/2026-02-20.md").write_text("- The host is heron\n", encoding="utf-8")
    script = str(skill / "scripts/recall.py")
    found = me.run(["python", script, "which host?"], cwd=me.home / "project")
    assert "heron" in found.stdout, found.stderr
