"""Files that a text names, and whether it says that they were changed."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

_SUFFIXES = frozenset(
    """
    py pyi js jsx ts tsx mjs cjs go rs c h cc cpp hpp java kt swift rb php cs scala lua pl r jl sh
    bash zsh fish ps1 sql md markdown rst txt json jsonl yaml yml toml ini cfg conf env xml html css
    scss less vue svelte ipynb csv tsv lock dockerfile tf proto gradle make mk service plist patch
    diff png jpg jpeg svg gif pdf docx xlsx pptx log db sqlite ex exs erl hs ml clj dart zig nix tex
    graphql prisma astro sum mod
    """.split()
)
_BARE_NAMES = (
    "Makefile|Dockerfile|Jenkinsfile|Gemfile|Procfile|Vagrantfile|Rakefile|Justfile|README"
    "|CHANGELOG|LICENSE"
)
_DOT_FILES = r"\.(?:env|gitignore|dockerignore|npmrc|bashrc|zshrc|vimrc|editorconfig)"
_COPIES = "local|example|sample|bak|dist"
# Latin letters only: in Chinese a file's name stands between characters without a blank.
_L = r"A-Za-z0-9_\u00c0-\u024f"
_NAME = re.compile(
    rf"`(?P<quoted>[^`\s]{{1,120}})`"
    rf"|(?<![{_L}/:@.~$-])(?P<plain>(?:~?\.{{0,2}}/)?(?:[{_L}.@+-]+/)*"
    rf"(?:[{_L}@+.-]*[{_L}@+-]\.[A-Za-z][A-Za-z0-9]{{0,10}}|{_BARE_NAMES}|{_DOT_FILES})"
    rf"(?:\.(?:{_COPIES}))?)(?![{_L}/@(-])"
)
# Names of libraries and of objects in code look like files.
_LIBRARIES = frozenset(
    """
    node next vue react three d3 express nuxt chart angular ember backbone moment p5 alpine discord
    nest gatsby svelte solid underscore lodash handlebars knockout pixi phaser babylon tensorflow
    socket polymer meteor electron require video hls ace prism highlight anime
    """.split()
)
_OBJECTS = frozenset(
    "console process self this window document math os sys np pd plt df req res response request"
    " ctx app module import.meta logger django.db".split()
)
_CHANGED = re.compile(
    r"(?<!being )(?<!never )(?<!not )(?<! be )\b(?:edit(?:ed)?|updat(?:ed?|es)|refactor(?:ed)?"
    r"|modif(?:y|ied)|chang(?:ed?|es)|creat(?:ed?|es)|add(?:ed|s)?|wrote|written|rewr(?:ote|itten)"
    r"|renam(?:ed?)|delet(?:ed?|es)|remov(?:ed?|es)|mov(?:ed|es)|fix(?:ed|es)?|patch(?:ed)?"
    r"|extend(?:ed)?|split|generat(?:ed?)|commit(?:ted)?|bump(?:ed)?|implement(?:ed)?|touched"
    r"|merged|new file|files? changed|geändert|angepasst|erstellt|angelegt|gelöscht|umbenannt"
    r"|ergänzt|geschrieben|erweitert|überarbeitet|hinzugefügt|korrigiert)\b"
    r"|修改|更新|新增|新建|创建|添加|删除|重命名|重构|改了|写了|编写|调整|修复|提交",
    re.IGNORECASE,
)
_BY_GIT = re.compile(
    r"^[-+\s#]*(?:modified|new file|deleted|renamed|both modified):\s"
    r"|^\s*(?:[MADRCU]{1,2}|\?\?)\s+\S+$|^\s*\S+\s+\|\s+(?:\d+ [-+]+|Bin )"
    r"|^\s*(?:create|delete) mode \d+ |^\s*rename \S"
)


class Named(NamedTuple):
    """A file in a text: its name, and where it stands there."""

    name: str
    start: int
    end: int


def files_in(text: str) -> Iterator[Named]:
    """The files that a text names, in order; the same may come again."""
    for match in _NAME.finditer(text):
        kind = "quoted" if match["quoted"] is not None else "plain"
        name = match[kind].rstrip(".")
        if kind == "quoted" and (plain := _NAME.fullmatch(name)) and plain["plain"]:
            name = plain["plain"]
        if is_file(name):
            yield Named(name, match.start(kind), match.start(kind) + len(name))


def is_file(name: str) -> bool:
    """Whether a name is that of a file, by its ending; `Node.js` and `console.log` are none."""
    folder, _, base = name.rpartition("/")
    if "://" in name or "(" in name or any(c in name for c in "*=<>\"'"):
        return False
    stem, _, suffix = base.rpartition(".")
    if not stem:
        return re.fullmatch(_BARE_NAMES, base) is not None or (base[:1] == "." and len(base) > 3)
    if suffix.lower() in _COPIES.split("|"):
        return is_file(name.rpartition(".")[0])
    if suffix.lower() not in _SUFFIXES:
        return False
    if folder:
        return True
    known = stem.casefold()
    return not (suffix == "js" and known in _LIBRARIES) and known not in _OBJECTS


def says_changed(text: str) -> bool:
    """Whether a text says that something was changed, in words."""
    return _CHANGED.search(text) is not None


def is_change_by_git(line: str) -> bool:
    """Whether a line that a program printed names a changed file: `git status`, `git diff`."""
    return _BY_GIT.search(line) is not None
