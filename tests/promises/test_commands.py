"""The commands themselves: what is shown to a newcomer, completion, init, clear, limits."""

from __future__ import annotations

import os
import pty
import re
import select
import subprocess
import sys
from pathlib import Path

import pytest

from agent_memfas import __version__
from commandline import prompt
from inputs.memory import PROGRAM
from promises.prompt import Here

HERONS = "".join(f"- heron {n}{' and another word' * n}\n" for n in range(8))


def test_memfas_alone_shows_the_five_commands_of_a_newcomer(here: Here) -> None:
    """Five and no more, each of which there is; nothing was asked for, so the status is 1."""
    result = here.memfas()
    assert (result.status, result.errors) == (1, "")
    names = re.findall(r"^  memfas (\w+)", result.text, re.MULTILINE)
    assert names == ["init", "log", "add", "recall", "janitor"]
    for name in names:
        assert here.memfas(name, "--help").text.startswith(f"Usage: memfas {name}")
    assert here.names() == []


def test_the_version_is_that_of_the_package(here: Here) -> None:
    """`memfas --version` needs no memory folder."""
    result = here.memfas("--version")
    assert (result.status, result.text) == (0, f"memfas {__version__}\n")


# Completion


@pytest.mark.parametrize(("typed", "offered"), [
    ("rec", ["recall", "recover"]), ("for", ["forget", "forget-agent"]), ("recall --lim", ["--limit"]), ("xyzzy", []),
])  # fmt: skip
def test_bash_completes_what_is_typed(tmp_path: Path, typed: str, offered: list[str]) -> None:
    """The script that `--show-completion` gives, taken into a bash: a word that has begun is
    completed, be it a command or an option."""
    done = prompt(tmp_path).shell(
        'eval "$(memfas --show-completion)"\n'
        f"COMP_WORDS=(memfas {typed}) COMP_CWORD={len(typed.split())}\n"
        '"$(complete -p memfas | grep -o "_memfas[a-z_]*")" memfas\n'
        'printf "<%s>\\n" "${COMPREPLY[@]}"\n'
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert [word for word in re.findall("<(.*)>", done.stdout) if word] == offered


@pytest.mark.parametrize("variables", [
    {"_MEMFAS_COMPLETE": "complete_bash", "COMP_WORDS": "memfas rec", "COMP_CWORD": "1"},
    {"_MEMFAS_COMPLETE": "complete_zsh", "_TYPER_COMPLETE_ARGS": "memfas rec"},
    {"_MEMFAS_COMPLETE": "complete_fish", "_TYPER_COMPLETE_ARGS": "memfas rec",
     "_TYPER_COMPLETE_FISH_ACTION": "get-args"},
], ids=["bash", "zsh", "fish"])  # fmt: skip
def test_every_usual_shell_can_ask_for_completions(
    tmp_path: Path, variables: dict[str, str]
) -> None:
    """`memfas rec` and a tab offer recall and recover, and nothing else."""
    done = prompt(tmp_path, **variables).run(["memfas"])
    assert done.stderr == ""
    assert "recall" in done.stdout
    assert not re.search("remember|search|Usage", done.stdout)


# init


def test_init_says_that_it_made_the_settings_or_that_they_are_there(here: Here) -> None:
    """Each time with their path; the second time nothing is written, and that is no failure."""
    settings = here.root / "memfas.yaml"
    first = here.memfas("init")
    assert (first.status, f"✓ Created config: {settings}\n" in first.text) == (0, True)
    assert "already exists" not in first.text
    settings.write_text("# mine\n")
    second = here.memfas("init")
    assert second.status == 0
    assert f"Config already exists: {settings}\nUse --force to overwrite.\n" in second.text
    assert "Created config" not in second.text
    assert settings.read_text() == "# mine\n"


def test_init_f_keeps_every_settings_file_that_it_replaces(here: Here) -> None:
    """The old ones stand beside the new one, and the command says where; other files stay."""
    here.memfas("init")
    fresh = here.read("memfas.yaml")
    here.write("MEMORY.md", "- [P0] heron\n")
    for text in ("# the first\n", "# the second\n"):
        here.write("memfas.yaml", text)
        result = here.memfas("init", "-f")
        assert (result.status, "✓ Created config: " in result.text) == (0, True)
        (kept,) = (p for p in here.root.glob("memfas.yaml?*") if p.read_text() == text)
        assert str(kept) in result.errors
        assert here.read("memfas.yaml") == fresh
    assert len(list(here.root.glob("memfas.yaml?*"))) == 2
    assert here.read() == b"- [P0] heron\n"


def test_init_o_makes_the_folder_of_the_settings_a_memory(here: Here) -> None:
    """`-o notes/memfas.yaml` lays out notes/, which is found from inside it, and nothing here."""
    result = here.memfas("init", "-o", "notes/memfas.yaml")
    assert f"✓ Created config: {here.root}/notes/memfas.yaml\n" in result.text
    assert here.names() == ["notes"]
    assert here.memfas("-c", "notes/memfas.yaml", "add", "heron").status == 0
    assert b"heron" in here.read("notes/MEMORY.md")


# clear, where somebody can answer


def at_a_terminal(here: Here, typed: str, *arguments: str) -> tuple[int, str]:
    """`memfas ARGUMENTS` on a terminal, where this is typed: the status, and the screen."""
    ours, theirs = pty.openpty()
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), "TERM": "dumb"}
    with subprocess.Popen(
        [*PROGRAM, *arguments],
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        cwd=here.root,
        env=environment,
    ) as process:
        os.close(theirs)
        os.write(ours, typed.encode())
        screen = b""
        while new := read(ours):
            screen += new
        os.close(ours)  # what still waits for more ends now
    return process.returncode, screen.decode()


def read(terminal: int) -> bytes:
    """What comes next; nothing where the other end is closed or silent for a minute."""
    try:
        return os.read(terminal, 4096) if select.select([terminal], [], [], 60)[0] else b""
    except OSError:  # Linux: nobody has the other end any more
        return b""


@pytest.mark.parametrize(("typed", "status"), [("y\n", 0), ("n\n", 1), ("\n", 1), ("\x04", 1)])
def test_clear_asks_on_a_terminal_and_does_as_it_is_told(
    here: Here, typed: str, status: int
) -> None:
    """Only a yes deletes the index; no, Return and the end of input leave it. Files stay."""
    here.write("MEMORY.md", "- [P0] the staging host is heron\n")
    here.memfas("index")
    ended, screen = at_a_terminal(here, typed, "clear")
    assert "Continue? [y/N]" in screen
    assert "Traceback" not in screen
    assert (ended, "✓ Cleared all memories" in screen) == (status, status == 0)
    assert (here.root / ".memfas/index.db").exists() == (status != 0)
    assert here.read() == b"- [P0] the staging host is heron\n"


# Limits


@pytest.mark.parametrize("command", ["search", "recall"])
@pytest.mark.parametrize(("option", "number"), [("-n", 2), ("--limit", 1), ("-n", 7)])
def test_a_limit_gives_the_best_so_many(here: Here, command: str, option: str, number: int) -> None:
    """Fewer than there are, or more than the five that come by themselves; as text and as data."""
    here.write("MEMORY.md", HERONS)
    every = [
        hit["text"] for hit in here.memfas(command, "heron", "-n", "50", "--json").data["hits"]
    ]
    assert len(every) == 8
    assert len(here.memfas(command, "heron", "--json").data["hits"]) == 5
    limit = (option, str(number))
    data = here.memfas(command, "heron", *limit, "--json").data["hits"]
    assert [hit["text"] for hit in data] == every[:number]
    text = here.memfas(command, "heron", *limit).text
    assert len(re.findall(r"^\[MEMORY\.md:\d+\]", text, re.MULTILINE)) == number
