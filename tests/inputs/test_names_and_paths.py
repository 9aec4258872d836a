"""Names that no one expects, and paths that an agent should not be able to name."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from .memory import CONTROL, HEAD, PROGRAM, TODAY, Memory, start

NAMES = [
    pytest.param("two\nlines.md", id="newline"),
    pytest.param("-rf.md", id="hyphen-first"),
    pytest.param("--help.md", id="like-an-option"),
    pytest.param("*.md", id="star"),
    pytest.param("'\"`$(x).md", id="quotes"),
    pytest.param(" a  b .md", id="spaces"),
    pytest.param("🦩.md", id="emoji"),
    pytest.param("部署.md", id="chinese"),
    pytest.param("a\x1b[31mred.md", id="escape"),
    pytest.param("a\u202egnp.md", id="right-to-left"),
    pytest.param("a--b.md", id="two-hyphens"),
    pytest.param("a | b.md", id="bar"),
    pytest.param("a:12.md", id="colon"),
    pytest.param("a..b.md", id="dots"),
    pytest.param("%2e%2e.md", id="percent"),
    pytest.param("back\\slash.md", id="backslash"),
    pytest.param("x" * 252 + ".md", id="255-bytes"),
    pytest.param(os.fsdecode(b"caf\xe9.md"), id="not-utf-8"),
]


@pytest.mark.parametrize("name", NAMES)
def test_files_of_any_name_are_found(memory: Memory, name: str) -> None:
    """Recall finds it, prints it without a crash, a control character or a broken line, and says
    in JSON where it is."""
    memory.write(f"notes/{name}", b"the heron host\n")
    answer = memory.run("recall", "--json", "heron")
    assert answer.status == 0
    assert answer.raw.count(b"\n") == 1
    (hit,) = answer.data["hits"]
    assert hit["path"] == f"notes/{name}"
    shown = memory.run("recall", "heron")
    assert shown.status == 0
    assert not set("\x1b\u202e\r") & set(shown.everything)
    assert sum("heron host" in line for line in shown.text.splitlines()) == 1


@pytest.mark.parametrize("name", NAMES)
def test_files_of_any_name_are_tended_and_restored(memory: Memory, name: str) -> None:
    """The janitor moves what has expired in a file that I name, and restore brings it back into
    that very file."""
    before = HEAD + CONTROL + b"- [P0] stays\n"
    path = memory.write(f"notes/{name}", before)
    result = memory.janitor("--", f"notes/{name}")
    assert (result.status, path.read_bytes()) == (0, HEAD + b"- [P0] stays\n")
    assert [moved["path"] for moved in result.data["moved"]] == [f"notes/{name}"]
    line = memory.archived.split(b"\n").index(CONTROL.strip()) + 1
    assert memory.run("restore", f"archive/expired-{TODAY[:7]}.md:{line}").status == 0
    assert path.read_bytes() == before
    assert sorted(p.name for p in path.parent.iterdir()) == [name]


def test_any_name_is_printed_without_a_locale(memory: Memory) -> None:
    """For real, as under cron: no locale, and a name of every kind."""
    for number, param in enumerate(NAMES):
        memory.write(f"memory/{number}/{param.values[0]}", f"the heron host {number}\n")
    done = memory.process("recall", "--limit", "50", "heron")
    assert done.returncode == 0, done.stderr
    assert done.stdout.decode("utf-8").count("> the heron host") == len(NAMES)
    done = memory.process("recall", "--limit", "50", "--json", "heron")
    assert len(json.loads(done.stdout)["hits"]) == len(NAMES)


PLACES = [
    "../secret.md",
    "notes/../../secret.md",
    "shared/up/secret.md",
    "/etc/passwd",
    "{outside}",
    "~/secret.md",
    "..",
    ".",
    "",
    "\0",
    "MEMORY.md\0.txt",
    ".memfas/lock",
    ".memfas/../.memfas/history/log.jsonl",
]


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize(
    "command",
    [
        ["janitor", "{}"],
        ["lint", "--fix", "{}"],
        ["renew", "{}:3"],
        ["supersede", "{}:3", "new"],
        ["restore", "{}:3"],
        ["history", "{}"],
    ],
    ids=lambda command: command[0],
)
def test_no_path_leads_out_of_the_folder(
    memory: Memory, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: list[str], place: str
) -> None:
    """Whatever an agent names, by dots, links, an absolute path, a home: nothing outside the
    folder (or in memfas' own state) is read or changed, and that is said."""
    monkeypatch.setenv("HOME", str(tmp_path))
    secret = tmp_path / "secret.md"
    secret.write_bytes(HEAD + CONTROL)
    memory.write("MEMORY.md", b"- [P0] the heron host\n")
    (memory.root / "shared").mkdir()
    (memory.root / "shared" / "up").symlink_to(tmp_path)
    (memory.root / "notes").mkdir()
    before = memory.truth()
    name = place.replace("{outside}", str(secret))
    verb, *rest = (word.replace("{}", name) for word in command)
    result = memory.run(verb, *rest)
    whole_folder = (verb, name) in (("lint", "."), ("history", ""))
    assert result.status in ({0, 1, 2} if whole_folder else {1, 2}), result
    assert "the control" not in result.everything
    assert "root:" not in result.everything
    assert (secret.read_bytes(), memory.truth()) == (HEAD + CONTROL, before)


@pytest.mark.parametrize("name", ["..foo.md", "a..b.md", "%2e%2e/x.md", "C:\\x.md", "...", "~x.md"])
def test_names_that_only_look_dangerous_are_names(memory: Memory, name: str) -> None:
    """A path is judged by where it leads, not by its letters."""
    path = memory.write(f"notes/{name}", HEAD + CONTROL)
    assert memory.janitor(f"notes/{name}").status == 0
    assert path.read_bytes() == HEAD


@pytest.mark.parametrize("day", ["../../x", "/etc/passwd", "2026-02-24/../x", "%2e%2e", "\0"])
def test_no_day_is_a_path(memory: Memory, day: str) -> None:
    """A day given by an agent is a day or an error."""
    memory.write("memory/2026-02-24.md", b"the heron host\n")
    for command in (["recall", "--since", day, "heron"], ["recall", "--until", day, "heron"],
                    ["janitor", "--today", day], ["expiring", "--within", day]):  # fmt: skip
        result = memory.run(*command)
        assert result.status == 2, result
        assert "not a " in result.errors


@pytest.mark.parametrize("identity", ["../../MEMORY.md", "/etc/passwd", "*", "undo", "\0", "-1"])
def test_no_pass_is_a_path(memory: Memory, identity: str) -> None:
    """A pass that there is not cannot be undone or shown, whatever it is called."""
    memory.write("MEMORY.md", HEAD + CONTROL)
    memory.janitor()
    before = memory.truth()
    for command in (["undo", "--", identity], ["history", "MEMORY.md", f"--show={identity}"]):
        assert memory.run(*command).status in (1, 2)
    assert memory.truth() == before


@pytest.mark.parametrize("place", ["MEMORY.md", "MEMORY.md:", "MEMORY.md:0", ":3", "MEMORY.md:-1",
                                   "MEMORY.md:1.5", "MEMORY.md:٣", "MEMORY.md:" + "9" * 5000])  # fmt: skip
def test_a_place_is_a_path_and_a_line(memory: Memory, place: str) -> None:
    """PATH:LINE with a line from 1; anything else is told, and changes nothing."""
    memory.write("MEMORY.md", HEAD + CONTROL)
    for command in (["renew", place], ["supersede", place, "new"], ["restore", place]):
        result = memory.run(*command)
        assert result.status in (1, 2), result
        assert len(result.errors) < 6000
    assert memory.read() == HEAD + CONTROL


def test_a_folder_may_have_any_name(tmp_path: Path) -> None:
    """A root with spaces, quotes, a newline and bytes that are no UTF-8 works, from inside it."""
    root = tmp_path / os.fsdecode(b'my agent\'s\n"files" caf\xe9')
    root.mkdir()
    memory = Memory(root)
    memory.write("memfas.yaml", "writing: {quiet: 0, patience: 0.2}\n")
    memory.write("MEMORY.md", HEAD + CONTROL + b"- [P0] the heron host\n")
    done = start([*PROGRAM, "janitor", "--today", TODAY], cwd=root)
    assert done.returncode == 0, done.stderr
    assert memory.read() == HEAD + b"- [P0] the heron host\n"
    done = start([*PROGRAM, "recall", "heron"], cwd=root)
    assert b"MEMORY.md:3" in done.stdout
    assert start([*PROGRAM, "recall", "--root", os.fsencode(root), "heron"]).returncode == 0
