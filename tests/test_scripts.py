"""The scripts are thin doors: each is the command of the same verb, from anywhere."""

from __future__ import annotations

import ast
import re
import sys
from pathlib import Path

import pytest

from commandline import REPO, Prompt, prompt

DOORS = {
    "recall.py": "recall",
    "memory-janitor.py": "janitor",
    "memory-compounding.py": "compound",
    "memory-abstract-gen.py": "abstract",
    "memory-compaction.py": "compact",
    "memory-index.py": "index",
}
LONGEST_DOOR = 12

MEMORY = """# Memory

- [P0] The staging host is called heron
- [P1][2026-02-24] Alice is the project manager
- [P2][2020-01-01] The old host was called egret
- [p2][2020-01-01] nearly an entry
"""

FORMS = {
    "recall.py": [
        ["--help"],
        ["which host is it?"],
        ["which", "host", "is", "it?"],
        ["--json", "host"],
        ["--limit", "1", "host"],
        ["--limit=1", "host"],
        ["-"],
        ["--", "--help"],
        ["host", "--in", "long-term", "--since", "2026-01-01"],
        ["nothing-like-this-is-here"],
        ["--json", "nothing-like-this-is-here"],
        [""],
        [],
        ["--no-such-option", "host"],
        ["--limit", "many", "host"],
        ["--in", "nowhere", "host"],
        ["--root", "no-such-folder", "host"],
        ["--json", "--root", "no-such-folder", "host"],
    ],
    "memory-janitor.py": [
        ["--help"],
        ["--dry-run", "--today", "2026-03-01"],
        ["--dry-run", "--today", "2026-03-01", "--json"],
        ["--dry-run", "--today", "2026-03-01", "MEMORY.md"],
        ["--dry-run", "no-such-file.md"],
        ["--dryrun"],
        ["--today", "yesterday"],
        ["--root", "no-such-folder", "--json"],
    ],
    "memory-abstract-gen.py": [
        ["--help"],
        ["--dry-run"],
        ["--dry-run", "--json", "."],
        ["--dry-run", "--force", "--dir", "er"],
        ["--dry-run", "no-such-folder"],
        ["--dryrun"],
        ["--root", "no-such-folder", "--json"],
    ],
    "memory-compounding.py": [
        ["--help"],
        ["--list"],
        ["--list", "--json"],
        ["--process", "--dry-run"],
        ["--mark-pending", "--dry-run", "--date", "2026-02-24"],
        ["--batch-mark", "3", "--dry-run", "--today", "2026-03-01"],
        ["--extract", "2020-01-01"],
        ["--done", "2020-01-01", "--json"],
        ["--dryrun"],
        ["--limit", "0"],
        ["--root", "no-such-folder", "--json"],
    ],
    "memory-compaction.py": [
        ["--help"],
        ["--dry-run", "talk.jsonl"],
        ["--now", "--dry-run", "--json", "talk.jsonl"],
        ["no-such-file.json"],
        ["MEMORY.md"],
        ["--trigger", "2", "talk.jsonl"],
        ["--root", "no-such-folder", "--json", "talk.jsonl"],
    ],
    "memory-index.py": [
        ["--help"],
        [],
        ["--json"],
        ["memory", "no-such-file.md"],
        ["--once", "memory"],
        ["--root", "no-such-folder", "--json"],
    ],
}


@pytest.fixture
def person(tmp_path: Path) -> Prompt:
    """Somebody with a small memory folder and no locale, as under cron."""
    me = prompt(tmp_path)
    (me.home / "agent/deep/er").mkdir(parents=True)
    (me.home / "agent/MEMORY.md").write_text(MEMORY, encoding="utf-8")
    talk = "".join(f'{{"role": "user", "content": "line {n}"}}\n' for n in range(9))
    (me.home / "agent/deep/er/talk.jsonl").write_text(talk, encoding="utf-8")
    return me


def timeless(output: str) -> str:
    """Output without what differs from run to run on purpose: the time, and the random boundary."""
    output = re.sub(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d(\.\d+)?\S\d\d:\d\d)?", "TIME", output)
    return re.sub(r"\b[0-9a-f]{16}\b", "BOUNDARY", output)


def test_every_script_is_a_known_door() -> None:
    """Each script is one of the commands; none has grown a life of its own."""
    assert {path.name for path in (REPO / "scripts").glob("*.py")} == {*DOORS, "memfas.py"}


@pytest.mark.parametrize("door", [*DOORS, "memfas.py"])
def test_a_door_is_thin(door: str) -> None:
    """A script is about ten lines: it finds the package and hands over, nothing else."""
    source = (REPO / "scripts" / door).read_text(encoding="utf-8")
    lines = [line for line in source.splitlines() if line.strip()]
    assert len(lines) <= LONGEST_DOOR
    defined = [n for n in ast.walk(ast.parse(source)) if isinstance(n, ast.FunctionDef)]
    assert defined == []


@pytest.mark.parametrize(
    ("door", "arguments"),
    [(door, form) for door, forms in FORMS.items() for form in forms],
    ids=lambda value: value if isinstance(value, str) else " ".join(value) or "nothing",
)
def test_a_door_and_its_command_answer_alike(
    person: Prompt, door: str, arguments: list[str]
) -> None:
    """Whichever of the two I use, I get the same output, the same messages, the same status."""
    here = person.home / "agent/deep/er"
    text = "which host is it?\n"
    if door == "memory-index.py":  # the first of the two would find something to read
        person.run(["memfas", "index"], here)
    by_door = person.run(["python", str(REPO / "scripts" / door), *arguments], here, text)
    by_command = person.run(["memfas", DOORS[door], *arguments], here, text)
    assert timeless(by_door.stdout) == timeless(by_command.stdout)
    assert by_door.stderr == by_command.stderr
    assert by_door.returncode == by_command.returncode
    assert "Traceback" not in by_door.stderr
    assert (person.home / "agent/MEMORY.md").read_text(encoding="utf-8") == MEMORY


@pytest.mark.parametrize("door", DOORS)
def test_help_names_the_command_and_changes_nothing(person: Prompt, door: str) -> None:
    """`--help` tells me how to call it, and `--dryrun` by mistake does not run the real thing."""
    shown = person.run(["python", str(REPO / "scripts" / door), "--help"], person.home / "agent")
    assert shown.returncode == 0
    assert f"memfas {DOORS[door]}" in shown.stdout
    wrong = person.run(["python", str(REPO / "scripts" / door), "--dryrun"], person.home / "agent")
    assert wrong.returncode == 2
    assert sorted(p.name for p in (person.home / "agent").iterdir()) == ["MEMORY.md", "deep"]


def test_a_door_opens_from_any_folder(person: Prompt) -> None:
    """From another folder I name mine with `--root` or MEMFAS_ROOT and get the same answer."""
    root = person.home / "agent"
    script = str(REPO / "scripts/recall.py")
    inside = person.run(["python", script, "which host is called heron?"], root)
    by_option = person.run(
        ["python", script, "--root", str(root), "which host is called heron?"], person.folder
    )
    assert inside.returncode == 0, inside.stderr
    assert "MEMORY.md" in inside.stdout
    assert by_option.returncode == 0, by_option.stderr
    person.settings["MEMFAS_ROOT"] = str(root)
    by_environment = person.run(["python", script, "which host is called heron?"], person.folder)
    assert by_environment.returncode == 0, by_environment.stderr
    for other in (by_option, by_environment):
        assert [line for line in other.stdout.splitlines() if "heron" in line]


def test_text_of_any_language_passes_without_a_locale(person: Prompt) -> None:
    """Under cron there is no locale; Chinese and emoji are still printed as they are."""
    root = person.home / "agent"
    with (root / "MEMORY.md").open("a", encoding="utf-8") as memory:
        memory.write("- [P0] 数据库部署在周五 🚀\n")
    found = person.run(["python", str(REPO / "scripts/recall.py"), "数据库"], root)
    assert "数据库部署在周五 🚀" in found.stdout, found.stderr


def test_the_whole_program_runs_from_a_checkout(person: Prompt) -> None:
    """`scripts/memfas.py` is `memfas`, with every command."""
    call = [sys.executable, str(REPO / "scripts/memfas.py")]
    done = person.run([*call, "blame", "MEMORY.md"], cwd=person.home / "agent/deep")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == person.run(
        ["memfas", "blame", "MEMORY.md"], cwd=person.home / "agent/deep").stdout  # fmt: skip
