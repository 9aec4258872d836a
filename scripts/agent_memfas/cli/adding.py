"""Commands that add memory: init, log, add, demo."""

from __future__ import annotations

import os
import shlex
import sys
import time
from contextlib import closing
from pathlib import Path
from typing import Annotated, Optional

import typer

from agent_memfas.cli import out
from agent_memfas.cli.asking import words
from agent_memfas.cli.brief import brief_of, keeper_for
from agent_memfas.cli.session import Agent, Config, Json, Root, open_up
from agent_memfas.errors import MemfasError
from agent_memfas.store.places import CONFIGURATIONS
from agent_memfas.store.templates import keep_aside, lay, make_folder
from agent_memfas.tasks import notes

PANEL = "Remember"
Text = Annotated[
    list[str],
    typer.Argument(metavar="TEXT...", help="What to write; `-` reads it from standard input."),
]


def register(app: typer.Typer) -> None:
    """Put these commands into the table."""
    app.command("init", rich_help_panel=PANEL)(init)
    app.command("log", rich_help_panel=PANEL)(log)
    app.command("add", rich_help_panel=PANEL)(add)


def init(
    output: Annotated[
        Optional[Path],  # noqa: UP045 - typer reads this at run time on Python 3.10
        typer.Option("--output", "-o", metavar="FILE", help="Where memfas.yaml goes."),
    ] = None,
    force: Annotated[
        bool, typer.Option("--force", "-f", help="Write memfas.yaml anew; the old one is kept.")
    ] = False,
    root: Root = None,
    json: Json = False,
) -> None:
    """Lay out a memory folder: templates and folders, nothing that is there is touched."""
    if root is None and output is not None:
        root = output.absolute().parent
    folder = make_folder(root or Path(os.environ.get("MEMFAS_ROOT") or Path.cwd()))
    settings = output.absolute() if output else folder.root / "memfas.yaml"
    new = not os.path.lexists(settings)
    kept = keep_aside(settings) if force and not new else None
    laid = lay(folder, settings)
    memories, files = _indexed(str(folder.root), str(settings) if output else None)
    if json:
        out.data({"root": str(folder.root), "files": [{"path": p, "made": m} for p, m in laid],
                  "memories": memories})  # fmt: skip
        return
    for path, made in laid:
        out.say(f"  {'made' if made else 'kept as it is'}: {path}")
    if new or kept:
        out.say(f"✓ Created config: {settings}")
    else:
        out.say(f"Config already exists: {settings}")
        out.say("Use --force to overwrite.")
    if kept:
        out.tell(f"the old one is {kept}")
    if memories:
        kind = "memory" if memories == 1 else "memories"
        out.say(f"✓ Indexed {memories} {kind} from {out.count(files, 'file')}")
    out.say(f"{folder.root} is a memory folder. Next:")
    out.say()
    out.say('  memfas add -p P0 "Timezone: US Eastern"')
    out.say('  memfas log "Alice said the deadline moved to Friday"')
    out.say('  memfas recall "What did Alice say about the deadline?"')
    out.say()
    out.say("and in `crontab -e`, so that expired entries leave at 4 AM:")
    out.say()
    usual = [folder.root / name for name in CONFIGURATIONS]
    elsewhere = settings if settings not in usual else None
    out.say(f"  {crontab_line(folder.root, elsewhere)}")
    out.say()
    out.say("`memfas dream` in its place does all upkeep of the night: logs become insights,")
    out.say("expired entries leave, abstracts and index are brought in step.")


def _indexed(root: str, file: str | None) -> tuple[int, int]:
    """Memories and files that there are now. Where they cannot be read, the next question says."""
    try:
        brief, _ = brief_of(root, file)
        with closing(keeper_for(root, brief, tell=out.progress("indexing"))) as keeper:
            source = keeper.source(time.time_ns())
            return source.database.count("passages"), source.freshness.indexed
    except MemfasError:
        return 0, 0


def crontab_line(root: Path, config: Path | None = None) -> str:
    """The line that runs the janitor each night with the program that is running now."""
    program, door = Path(sys.argv[0]).absolute(), Path(__file__).parents[2] / "memory-janitor.py"
    if program.name == "memfas":
        call = [str(program), "janitor"]
    elif door.exists():
        call = [sys.executable, str(door)]
    else:
        call = [sys.executable, "-m", "agent_memfas.cli", "janitor"]
    named = ["-c", str(config)] if config else []
    words = shlex.join([*call, "--root", str(root), *named])
    return f"0 4 * * * {words}".replace("%", "\\%")  # cron takes a bare % for a line end


def log(
    text: Text, agent: Agent = None, root: Root = None, config: Config = None, json: Json = False
) -> None:
    """Append a line to today's log, memory/YYYY-MM-DD.md."""
    session = open_up(root, config, forgiving=True)
    run = session.run("log")
    _report(notes.log(session.folder, words(text), run, session.rights(agent)), json=json)
    _notices(run.notices)


def add(
    text: Text,
    priority: Annotated[
        str,
        typer.Option(
            "--priority", "-p", metavar="P0|P1|P2", help="P0 for ever, P1 90 days, P2 30 days."
        ),
    ] = "P1",
    shared: Annotated[
        bool,
        typer.Option("--shared", help="For all agents: into shared/inbox, for shared/MEMORY.md."),
    ] = False,
    agent: Agent = None,
    root: Root = None,
    config: Config = None,
    json: Json = False,
) -> None:
    """Append an entry to MEMORY.md."""
    session = open_up(root, config, forgiving=True)
    run = session.run("add")
    write = notes.share if shared else notes.add
    added = write(session.folder, words(text), priority, run, session.rights(agent))
    _report(added, json=json)
    _notices(run.notices)


def _report(added: notes.Added, *, json: bool) -> None:
    if json:
        out.data(added)
        return
    out.say(f"✓ {added.path}:{added.line}: {added.text}")
    if added.warning:
        out.tell(f"{added.path}:{added.line} is not read as an entry: {added.warning}")


def _notices(notices: list[str]) -> None:
    for notice in notices:
        out.tell(notice)
