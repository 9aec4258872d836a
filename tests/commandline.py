"""What a person has at the prompt: a home, a shell, `memfas` and `python` on the path."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path

import pytest
from markdown_it import MarkdownIt

from agent_memfas.cli import main

REPO = Path(__file__).resolve().parents[1]
_MEMFAS = f"""#!{sys.executable}
import sys
sys.path.insert(0, {str(REPO / "scripts")!r})
from agent_memfas.cli import main
sys.exit(main())
"""
_PYTHON = f"""#!/bin/sh
exec {sys.executable} "$@"
"""


@dataclass(frozen=True)
class Prompt:
    """A folder of its own to work in: `home`, `bin` on the path, and nothing of this machine's."""

    folder: Path
    settings: dict[str, str] = field(default_factory=dict)

    @property
    def home(self) -> Path:
        return self.folder / "home"

    def environment(self) -> dict[str, str]:
        return {
            "PATH": f"{self.folder / 'bin'}:/usr/local/bin:/usr/bin:/bin",
            "HOME": str(self.home),
            "LC_ALL": "C",
            "COLUMNS": "100",
            **self.settings,
        }

    def run(
        self, command: list[str], cwd: Path | None = None, text: str = ""
    ) -> subprocess.CompletedProcess[str]:
        """Run a program; output as UTF-8 whatever the locale, standard input is `text`."""
        return subprocess.run(
            command,
            cwd=cwd or self.home,
            env=self.environment(),
            input=text,
            capture_output=True,
            encoding="utf-8",
            timeout=300,
            check=False,
        )

    def shell(self, script: str, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
        """Run lines in bash; the first one that fails ends it."""
        return self.run(["bash", "-euo", "pipefail", "-c", script], cwd)


def help_of(command: str, capsys: pytest.CaptureFixture[str]) -> str:
    """What `memfas COMMAND --help` prints; an unknown command fails the test."""
    status = main([command, "--help"])
    shown = capsys.readouterr()
    assert status == 0, shown.err
    return shown.out


def prompt(folder: Path, **settings: str) -> Prompt:
    """Make the prompt in an empty folder; settings are further environment variables."""
    (folder / "home").mkdir()
    (folder / "bin").mkdir()
    for name, script in (("memfas", _MEMFAS), ("python", _PYTHON), ("python3", _PYTHON)):
        path = folder / "bin" / name
        path.write_text(script, encoding="utf-8")
        path.chmod(0o755)
    return Prompt(folder, settings)


def checkout(folder: Path) -> Path:
    """A folder that looks like a fresh clone of this repository, by symbolic links."""
    folder.mkdir()
    for path in REPO.iterdir():
        if not path.name.startswith(".") or path.name in (".github", ".ci"):
            os.symlink(path, folder / path.name)
    return folder


def code_blocks(markdown: Path, language: str) -> list[str]:
    """The fenced blocks of one language in a markdown file, in order."""
    tokens = MarkdownIt().parse(markdown.read_text(encoding="utf-8"))
    return [t.content for t in tokens if t.type == "fence" and t.info.strip() == language]


def section_blocks(markdown: Path, language: str, heading: str) -> list[str]:
    """The same, only those under the heading of that text."""
    found, current = [], ""
    tokens = MarkdownIt().parse(markdown.read_text(encoding="utf-8"))
    for before, token in pairwise(tokens):
        if before.type == "heading_open":
            current = token.content
        if token.type == "fence" and token.info.strip() == language and current == heading:
            found.append(token.content)
    return found


def inline_code(markdown: Path) -> list[str]:
    """Every `code span` of a markdown file, tables included."""
    tokens = MarkdownIt("commonmark").enable("table").parse(markdown.read_text(encoding="utf-8"))
    return [
        child.content.replace("\\|", "|")
        for token in tokens
        for child in token.children or ()
        if child.type == "code_inline"
    ]


def links(markdown: Path) -> list[str]:
    """The targets of all links of a markdown file."""
    tokens = MarkdownIt().parse(markdown.read_text(encoding="utf-8"))
    return [
        str(child.attrGet("href"))
        for token in tokens
        for child in token.children or ()
        if child.type == "link_open"
    ]
