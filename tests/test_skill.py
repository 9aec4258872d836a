"""SKILL.md is a valid skill, and every command that it tells an agent to run does run."""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import unicodedata
import zipfile
from datetime import date, timedelta
from pathlib import Path

import frontmatter
import pytest

import agent_memfas
from commandline import REPO, Prompt, checkout, code_blocks, help_of, inline_code, prompt

SKILL = REPO / "SKILL.md"
CHINESE = REPO / "references" / "zh.md"
COPY = ".claude/skills/memfas"  # in a home
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
    assert violations(page.metadata, "memfas") == []
    assert keys["license"] == "MIT"
    assert keys["metadata"]["version"] == agent_memfas.__version__
    # Names of hosts take no angle brackets in a description, and a body is read by an agent.
    assert not set("<>") & set(keys["description"])
    assert page.content.lstrip().startswith("# ")


def violations(keys: dict[str, object], folder: str) -> list[str]:
    """What of the front matter is not as https://agentskills.io/specification asks for."""
    wrong = [f"{key}: not a key of the specification" for key in set(keys) - KNOWN_KEYS]
    name, told = keys.get("name"), keys.get("description")
    if not (isinstance(name, str) and re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", name)):
        wrong.append("name: lower case letters, digits and single hyphens between them")
    elif len(name) > 64 or name != unicodedata.normalize("NFKC", folder):
        wrong.append("name: at most 64 characters, and that of the folder")
    if not (isinstance(told, str) and told.strip() and len(told) <= 1024):
        wrong.append("description: 1 to 1024 characters")
    for key, longest in (("license", 1024), ("compatibility", 500), ("allowed-tools", 1024)):
        value = keys.get(key, "x")
        if not (isinstance(value, str) and 0 < len(value) <= longest):
            wrong.append(f"{key}: 1 to {longest} characters")
    more = keys.get("metadata", {})
    if not (isinstance(more, dict) and all(isinstance(v, str) for v in [*more, *more.values()])):
        wrong.append("metadata: text by text")
    return wrong


@pytest.mark.parametrize("wrong", [
    {"name": "Memfas"}, {"name": "mem--fas"}, {"name": "-memfas"}, {"name": "agent-memfas"},
    {"name": ""}, {"description": ""}, {"description": "x" * 1025}, {"version": "1.0"},
    {"compatibility": "x" * 501}, {"metadata": {"version": 1.0}}, {"license": None},
    {"allowed-tools": ["Bash"]},
])  # fmt: skip
def test_the_check_of_the_front_matter_would_notice(wrong: dict[str, object]) -> None:
    """Each rule of the specification is one that the check above knows."""
    assert violations({**frontmatter.load(str(SKILL)).metadata, **wrong}, "memfas")


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


@pytest.fixture
def me(tmp_path: Path) -> Prompt:
    """A person with a memory folder, and no skills yet."""
    me = prompt(tmp_path)
    (me.home / "project/memory").mkdir(parents=True)
    (me.home / "project/memory/2026-02-20.md").write_text("- The host is heron\n", encoding="utf-8")
    return me


def files(folder: Path) -> dict[str, bytes]:
    """All files below a folder, with their bytes."""
    return {str(p.relative_to(folder)): p.read_bytes() for p in folder.rglob("*") if p.is_file()}


@pytest.mark.parametrize(("options", "place"), [
    ([], ".claude/skills/memfas"),
    (["--for", "codex"], ".agents/skills/memfas"),
    (["--for", "openclaw"], ".openclaw/skills/memfas"),
    (["--dir", "mine"], "mine/memfas"),
])  # fmt: skip
def test_the_skill_is_installed_and_taken_away(me: Prompt, options: list[str], place: str) -> None:
    """Its scripts run from there with what is in the copy alone; afterwards the home is as it was."""
    before = sorted(me.home.rglob("*"))
    dry = me.run(["memfas", "skill", "install", *options, "--dry-run"])
    assert "would be written" in dry.stdout, dry.stderr
    assert sorted(me.home.rglob("*")) == before
    done = me.run(["memfas", "skill", "install", *options, "--json"])
    assert json.loads(done.stdout)["path"] == str(me.home / place), done.stderr
    skill = me.home / place
    assert violations(frontmatter.load(str(skill / "SKILL.md")).metadata, skill.name) == []
    assert not list(skill.rglob("__pycache__"))
    for link in re.findall(r"\]\(([\w./-]+)\)", (skill / "SKILL.md").read_text("utf-8")):
        assert (skill / link).exists(), link
    found = me.run(["python", str(skill / "scripts/recall.py"), "which host?"], me.home / "project")
    assert "heron" in found.stdout, found.stderr
    made = me.run(["python", str(skill / "scripts/agent_memfas/cli/__main__.py"), "--version"])
    assert agent_memfas.__version__ in made.stdout, made.stderr
    gone = me.run(["memfas", "skill", "uninstall", *options])
    assert gone.returncode == 0, gone.stderr
    shutil.rmtree(me.home / "project/.memfas", ignore_errors=True)
    assert sorted(me.home.rglob("*")) == before
    assert me.run(["memfas", "skill", "uninstall", *options]).returncode == 1


def test_the_folder_of_claude_code_may_be_elsewhere(tmp_path: Path) -> None:
    """CLAUDE_CONFIG_DIR moves the skills, too."""
    me = prompt(tmp_path, CLAUDE_CONFIG_DIR=str(tmp_path / "cfg"))
    assert me.run(["memfas", "skill", "install"]).returncode == 0
    assert (tmp_path / "cfg/skills/memfas/SKILL.md").is_file()


def test_what_is_not_ours_stays(me: Prompt) -> None:
    """A skill of that name that memfas has not installed is not written over without --force, and
    then stands beside it; what was changed or added is left by uninstall, and named.
    """
    skill = me.home / COPY
    skill.mkdir(parents=True)
    (skill / "SKILL.md").write_text("mine")
    refused = me.run(["memfas", "skill", "install"])
    assert refused.returncode == 1
    assert "--force" in refused.stderr
    assert files(skill) == {"SKILL.md": b"mine"}
    assert me.run(["memfas", "skill", "install", "--force"]).returncode == 0
    assert (skill / "SKILL.md.1.bak").read_text() == "mine"
    (skill / "references/zh.md").write_text("changed")
    again = me.run(["memfas", "skill", "install"])
    assert "references/zh.md" in again.stderr
    assert again.returncode == 1
    gone = me.run(["memfas", "skill", "uninstall"])
    assert files(skill) == {"SKILL.md.1.bak": b"mine", "references/zh.md": b"changed"}
    assert "SKILL.md.1.bak" in gone.stderr
    assert "zh.md is not as memfas installed it" in gone.stderr


def test_installing_again_brings_the_newer_files(me: Prompt) -> None:
    """What an older version brought and this one does not have goes; a killed install is finished;
    a manifest cannot name what is outside the folder.
    """
    assert me.run(["memfas", "skill", "install"]).returncode == 0
    skill, whole = me.home / COPY, files(me.home / COPY)
    told = json.loads((skill / ".memfas-skill.json").read_text())
    (skill / "old.md").write_text("old")
    (me.home / "outside.md").write_text("old")
    (skill / "SKILL.md").write_text("old")
    (skill / "scripts/recall.py").unlink()
    digest = hashlib.sha256(b"old").hexdigest()
    for name in ("old.md", "SKILL.md", "../../../outside.md"):
        told["files"][name] = [digest]
    (skill / ".memfas-skill.json").write_text(json.dumps(told))
    done = json.loads(me.run(["memfas", "skill", "install", "--json"]).stdout)
    assert sorted(done["written"]) == ["SKILL.md", "scripts/recall.py"]
    assert done["removed"] == ["old.md"]
    assert files(skill) == whole
    assert (me.home / "outside.md").exists()


def test_the_skill_that_is_the_repository_needs_no_copy(me: Prompt) -> None:
    """I cloned it there: install says so and changes nothing."""
    (me.home / ".claude/skills").mkdir(parents=True)
    os.symlink(REPO, me.home / COPY)
    done = me.run(["memfas", "skill", "install"])
    assert done.returncode == 0, done.stderr
    assert "as it stands" in done.stdout


def test_a_wheel_brings_the_skill(tmp_path: Path) -> None:
    """The same files are installed from a wheel as from a checkout, and run from there."""
    me = prompt(tmp_path)
    build = [
        sys.executable,
        "-m",
        "hatchling",
        "build",
        "-t",
        "wheel",
        "-d",
        str(tmp_path / "dist"),
    ]
    subprocess.run(build, cwd=REPO, check=True, capture_output=True)
    (wheel,) = (tmp_path / "dist").glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(tmp_path / "site")
    run = "import sys; sys.path.insert(0, sys.argv[1]); from agent_memfas.cli import main; "
    run += "sys.exit(main(sys.argv[2:]))"
    for source, folder in ((tmp_path / "site", "wheel"), (REPO / "scripts", "checkout")):
        done = me.run(["python", "-c", run, str(source), "skill", "install", "--dir", folder])
        assert done.returncode == 0, done.stderr
    wheel_files, checkout_files = files(me.home / "wheel"), files(me.home / "checkout")
    assert wheel_files == checkout_files
    assert {"memfas/scripts/memory-janitor.py", "memfas/templates/MEMORY.md"} <= set(wheel_files)
    script = str(me.home / "wheel/memfas/scripts/recall.py")
    (me.home / "memory").mkdir()
    (me.home / "memory/2026-02-20.md").write_text("- The host is heron\n", encoding="utf-8")
    assert "heron" in me.run(["python", script, "which host?"]).stdout
