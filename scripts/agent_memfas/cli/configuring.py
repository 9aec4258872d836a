"""The command that shows the settings: config."""

from __future__ import annotations

import json as json_
from pathlib import Path
from typing import TYPE_CHECKING, Any

from agent_memfas import config as configuration
from agent_memfas.cli import out
from agent_memfas.cli.session import Config, Json, Root, config_before, open_up
from agent_memfas.text.secrets import mask

if TYPE_CHECKING:
    import typer

PANEL = "Index"


def register(app: typer.Typer) -> None:
    """Put this command into the table."""
    app.command("config", rich_help_panel=PANEL)(config)


def config(root: Root = None, config: Config = None, json: Json = False) -> None:
    """The settings in force, and where each of them came from."""
    session = open_up(root, config)
    named = config or (config_before[-1] if config_before else None)
    file: Path | None = named or configuration.beside(session.folder.root)
    found = configuration.explain(file)
    found = [one._replace(value=_shown(one.value)) for one in found]
    if json:
        out.data({
            "root": session.folder.root, "file": file,
            "settings": [one._asdict() for one in found],
        })  # fmt: skip
        return
    out.say(f"# {file}" if file else "# no memfas.yaml: the defaults")
    for one in found:
        value = json_.dumps(one.value, ensure_ascii=False, default=str)
        out.say(f"{one.key}: {value}  # {one.origin}")


def _shown(value: Any) -> Any:
    """A value without the password of an address or the key of a command."""
    return mask(value) if isinstance(value, str) else value
