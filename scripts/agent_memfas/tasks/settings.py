"""Changing the settings file: one more source, another way to search. All else in it stays."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from agent_memfas.errors import TryAgain, UsageError
from agent_memfas.index.scope import scope_of
from agent_memfas.store.layout import Folder
from agent_memfas.store.passes import Draft, Pass, edit, hold
from agent_memfas.store.templates import make_file
from agent_memfas.text.documents import Document
from agent_memfas.text.settings import append_item, items, set_value

ALL = "./"
EMPTY = {".json": "{}\n"}


def add_source(folder: Folder, file: Path, name: str, kind: str, run: Pass) -> None:
    """Add a file or folder to `sources`. Where there are none, which means the whole folder, that
    stays so.

    file: the settings, made where it is missing. name: relative to the folder. kind: markdown, json
    or text. UsageError where .memfasignore leaves it out.
    """
    if scope_of(str(folder.root), ()).ignores(name):
        raise UsageError(f"{name} is left out by .memfasignore", "take it out of that file")

    def change(text: str) -> str:
        if not items(text, "sources", str(file)):
            everything = {"path": ALL, "type": "markdown"}
            text = append_item(text, "sources", everything, str(file))
        return append_item(text, "sources", {"path": f"./{name}", "type": kind}, str(file))

    _change(folder, file, change, run)


def set_search(folder: Folder, file: Path, values: Mapping[str, Any], run: Pass) -> None:
    """Set keys of the section `search`. file: the settings, made where it is missing."""

    def change(text: str) -> str:
        for key, value in values.items():
            text = set_value(text, f"search.{key}", value, str(file))
        return text

    _change(folder, file, change, run)


def _change(folder: Folder, file: Path, change: Callable[[str], str], run: Pass) -> None:
    """Give the settings file the text that `change` makes of it. Conflict, FileFault, TryAgain:
    then it is untouched."""

    def plan(document: Document) -> Draft[None]:
        return Draft(change(document.data.decode()).encode(), None)

    with hold(folder, run):
        if os.path.lexists(file):
            edit(folder, str(file), plan, run)
        elif not make_file(file, change(EMPTY.get(file.suffix, "")).encode()):
            raise TryAgain(f"{file}: somebody has just made it", "run it again")
