"""The templates and the shared folder are valid memory, and hold no memory that nobody wrote."""

from __future__ import annotations

import json
import re
import shutil
from datetime import date
from pathlib import Path

import pytest
import yaml

from agent_memfas.text.documents import parse
from agent_memfas.text.entries import entries
from agent_memfas.text.nearmiss import near_misses
from commandline import REPO, prompt

TEMPLATES = REPO / "templates"
DEMO = TEMPLATES / "demo"  # an example memory, full of entries on purpose
SHARED = REPO / "shared"
PAGES = sorted([*TEMPLATES.rglob("*.md"), *SHARED.rglob("*.md")])
LESSONS = sorted([*TEMPLATES.rglob("*.jsonl"), *SHARED.rglob("*.jsonl")])


def _name(path: Path) -> str:
    return path.relative_to(REPO).as_posix()


@pytest.mark.parametrize("path", PAGES, ids=_name)
def test_every_page_is_a_valid_memory_file(path: Path) -> None:
    """A file that I start from has no entry that is nearly right, and nothing left open."""
    data = path.read_bytes()
    document = parse(data)
    assert near_misses(document, date.today()) == []
    assert all(region.closed for region in document.regions)
    assert data.decode("utf-8").endswith("\n")
    assert b"\r" not in data
    assert b"\t" not in data


@pytest.mark.parametrize(
    "path", [p for p in PAGES if TEMPLATES in p.parents and DEMO not in p.parents], ids=_name
)
def test_a_template_holds_no_entries(path: Path) -> None:
    """The examples of a template are not memories: recall and janitor never take them for mine."""
    assert entries(parse(path.read_bytes())) == []


def test_the_memory_template_has_the_known_sections() -> None:
    """MEMORY.md starts with the sections that users of the reference know."""
    headings = [h.text for h in parse((TEMPLATES / "MEMORY.md").read_bytes()).headings[1:]]
    assert headings == [
        "About You [P0]",
        "Preferences [P0]",
        "Active Projects [P1]",
        "Tools & Systems [P0]",
        "Temp Notes [P2]",
        "Unsorted",
    ]


@pytest.mark.parametrize("folder", [TEMPLATES, SHARED], ids=_name)
def test_the_soul_has_its_sections(folder: Path) -> None:
    """SOUL-BASE.md says what the user sees, what is never done, and what is checked at the end."""
    headings = [h.text for h in parse((folder / "SOUL-BASE.md").read_bytes()).headings]
    assert {"Communication Rules", "Safety Rules", "Output Self-Check"} <= set(headings)


def test_the_shared_folder_is_a_real_one() -> None:
    """shared/ holds conventions to follow from the first day, and they never expire."""
    found = entries(parse((SHARED / "MEMORY.md").read_bytes()))
    assert len(found) >= 10
    assert {entry.tag.priority for entry in found} == {"P0"}
    assert (SHARED / "inbox").is_dir()


@pytest.mark.parametrize("path", LESSONS, ids=_name)
def test_lessons_keep_to_their_schema(path: Path) -> None:
    """The first line is the schema; every lesson has what it requires and nothing it lacks."""
    schema, *records = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    assert schema["_schema"] == "operational-lesson"
    assert schema["fields"] == ["date", "category", "lesson", "severity", "trigger", "fix"]
    assert schema["required"] == ["category", "lesson"]
    for record in records:
        assert set(record) <= set(schema["fields"])
        assert set(record) >= set(schema["required"])
        assert date.fromisoformat(record["date"]) <= date.today()


def test_the_configuration_template_changes_nothing() -> None:
    """memfas.yaml as it is laid down sets no key at all."""
    assert yaml.safe_load((TEMPLATES / "memfas.yaml").read_text(encoding="utf-8")) is None


def test_the_configuration_template_shows_the_defaults(tmp_path: Path) -> None:
    """With every key of the template uncommented, nothing behaves differently."""
    text = (TEMPLATES / "memfas.yaml").read_text(encoding="utf-8")
    keys = re.compile(r"# ( *[a-z_0-9]+:(?: .*)?| *- .*)")
    uncommented = "\n".join(m[1] for line in text.splitlines() if (m := keys.fullmatch(line)))
    answers = []
    for name, configuration in (("plain", ""), ("shown", uncommented)):
        (tmp_path / name).mkdir()
        me = prompt(tmp_path / name)
        (me.home / "MEMORY.md").write_text("- [P2][2026-01-01] a\n- [P1][2026-01-01] b\n")
        (me.home / "memfas.yaml").write_text(configuration, encoding="utf-8")
        done = me.run(["memfas", "janitor", "--dry-run", "--today", "2026-03-01", "--json"])
        assert done.returncode == 0, done.stdout + done.stderr
        answers.append(json.loads(done.stdout))
    assert answers[0] == answers[1]
    assert len(yaml.safe_load(uncommented)) >= 3


def test_lint_has_nothing_to_say(tmp_path: Path) -> None:
    """`memfas lint` is content with a folder of templates and the shared folder inside it."""
    me = prompt(tmp_path)
    root = shutil.copytree(TEMPLATES, me.home / "agent", ignore=shutil.ignore_patterns("demo"))
    shutil.copytree(SHARED, root / "shared")
    done = me.run(["memfas", "lint", "--root", str(root), "--json"])
    assert json.loads(done.stdout)["problems"] == []
    assert done.returncode == 0, done.stderr


def test_a_new_folder_is_in_order(tmp_path: Path) -> None:
    """After `memfas init`, lint and janitor find nothing; a second init changes nothing."""
    me = prompt(tmp_path)
    assert me.run(["memfas", "init"]).returncode == 0
    before = {p: p.read_bytes() for p in me.home.rglob("*") if p.is_file()}
    for command in (["lint"], ["janitor"], ["init"]):
        done = me.run(["memfas", *command])
        assert done.returncode == 0, done.stdout + done.stderr
    unchanged = {p: p.read_bytes() for p in before if ".memfas" not in p.parts}
    assert unchanged == {p: data for p, data in before.items() if ".memfas" not in p.parts}
