"""`memfas demo`: what memfas does, shown on an example folder in a temporary place."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, NamedTuple

import typer

from agent_memfas.cli import out
from agent_memfas.store.templates import demo_folder

PANEL = "Remember"


class Scene(NamedTuple):
    """One command of the demo: what it shows, in a line, how to do it oneself, and the file that
    it has written, if that is what there is to see."""

    arguments: list[str]
    shown: str
    yourself: str
    file: str = ""


SCENES = (
    Scene(
        ["recall", "What did Alice say about the deadline?", "--limit", "2"],
        "Recall: a trigger fires at once, and the line that answers comes with file and line.",
        'memfas recall "What did Alice say about the deadline?"',
    ),
    Scene(
        ["recall", "服务器部署", "--limit", "1"],
        "The same in Chinese: two characters are enough.",
        'memfas recall "部署"',
    ),
    Scene(
        ["janitor", "--dry-run", "--today", "2026-11-30"],
        "The janitor moves expired entries, whole, to the archive; here it only says so.",
        "memfas janitor --dry-run",
    ),
    Scene(
        ["abstract", "memory"],
        "An abstract of a folder, for an agent to read before it opens anything in it.",
        "memfas abstract",
        "memory/.abstract",
    ),
)


def register(app: typer.Typer) -> None:
    """Put this command into the table."""
    app.command("demo", rich_help_panel=PANEL)(demo)


def demo(
    keep: Annotated[
        bool, typer.Option("--keep", help="Leave the example folder in place.")
    ] = False,
) -> None:
    """Show memfas at work on an example memory folder in a temporary place."""
    with demo_folder(keep=keep) as folder:
        _show(folder.root)
        if keep:
            out.say()
            out.say(f"The example folder stays: {folder.root}")


def _show(place: Path) -> None:
    from agent_memfas.cli import program

    for scene in SCENES:
        command = " ".join(f'"{a}"' if " " in a else a for a in scene.arguments)
        out.say()
        out.say(f"$ memfas {command}")
        program.run([*scene.arguments, "--root", str(place)])
        if scene.file:
            out.block((place / scene.file).read_text("utf-8").rstrip())
        out.say(f"→ {scene.shown}")
        out.say(f"  Do it yourself: {scene.yourself}")
    out.say()
    out.say("Start your own: cd into a folder of yours, then: memfas init")
