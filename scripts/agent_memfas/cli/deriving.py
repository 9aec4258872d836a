"""Commands that derive files from the memory: abstract."""

from __future__ import annotations

import os
import time
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Optional

import typer

from agent_memfas.cli import out
from agent_memfas.cli.abstracting import PATIENCE
from agent_memfas.cli.modeling import named_model, show
from agent_memfas.cli.session import Config, DryRun, Json, Root, Session, open_up
from agent_memfas.store.listing import Skipped
from agent_memfas.tasks import abstracts, wording

PANEL = "Tend"


def register(app: typer.Typer) -> None:
    """Put these commands into the table."""
    app.command("abstract", rich_help_panel=PANEL)(abstract)


def abstract(
    folders: Annotated[
        Optional[list[str]],  # noqa: UP045 - typer reads this at run time on Python 3.10
        typer.Argument(metavar="[DIR...]", help="Which folders (else the whole memory folder)."),
    ] = None,
    more: Annotated[
        Optional[list[str]],  # noqa: UP045
        typer.Option("--dir", metavar="DIR", help="The same as DIR."),
    ] = None,
    root: Root = None,
    config: Config = None,
    force: Annotated[
        bool, typer.Option("--force", help="Write memfas' own abstracts anew, changed or not.")
    ] = False,
    dry_run: DryRun = False,
    llm: Annotated[
        Optional[bool],  # noqa: UP045
        typer.Option("--llm/--no-llm", help="Let a model word it (else: abstracts.writer)."),
    ] = None,
    show_payload: Annotated[
        bool, typer.Option("--show-payload", help="Show what the model would be sent; do nothing.")
    ] = False,
    json: Json = False,
) -> None:
    """Write a folder's .abstract (what is inside), and those of all folders below it."""
    named = [*(folders or []), *(more or [])]
    memory_root = os.environ.get("MEMORY_ROOT", "")
    if memory_root and root is None and not os.environ.get("MEMFAS_ROOT"):
        root = Path(memory_root).expanduser()
    near = f"{named[0]}/MEMORY.md" if named and named[0].strip() else ""
    session = open_up(root, config, near=near)
    named = [_from_here(session, name) for name in named]
    wanted = session.settings.writer == "model" if llm is None else llm
    model = named_model(session, "abstract", "use --no-llm") if wanted or show_payload else None
    pages: dict[str, str] = {}
    report = abstracts.run(
        session.folder, named, session.now, force=force, dry_run=dry_run or show_payload,
        as_of=time.time_ns(), wait=min(PATIENCE, session.settings.patience),
        seen=pages.__setitem__,
    )  # fmt: skip
    worded = None
    if model is not None:
        with model:
            if show_payload:
                show(wording.payloads(session.folder, pages, model, force=force), json=json)
                return
            worded = None if dry_run else wording.run(session.folder, pages, model)
    if json:
        out.data({**asdict(report), **(asdict(worded) if worded else {}),
                  "problems": _problems(report, worded)})  # fmt: skip
    else:
        _print(report, worded)
    for problem in _problems(report, worded):
        out.tell(f"{problem.path}: {problem.reason}")
    if _problems(report, worded):
        raise typer.Exit(1)


def _problems(report: abstracts.Report, worded: wording.Report | None) -> list[Skipped]:
    return [*report.problems, *(worded.problems if worded else ())]


def _from_here(session: Session, name: str) -> str:
    """A folder as it was typed: below the current one if it is there, else below the root."""
    try:
        here = Path(os.path.realpath(Path(name).expanduser()))
    except (OSError, ValueError):  # the current folder has been deleted, or a name with a NUL
        return name
    return (
        str(here)
        if name.strip() and here.is_dir() and here.is_relative_to(session.folder.root)
        else name
    )


def _print(report: abstracts.Report, worded: wording.Report | None) -> None:
    for path in report.written:
        out.say(f"{'would write' if report.dry_run else '✓'} {path}")
    for path in report.foreign:
        out.say(f"left alone, not written by memfas: {path}")
    if report.dry_run:
        out.say("[DRY RUN] No changes made.")
    done = f"{len(report.written)} {'to write' if report.dry_run else 'written'}"
    words = f", {len(worded.worded)} in the words of {worded.by}" if worded else ""
    out.say(f"{done}, {len(report.unchanged)} unchanged{words}")
