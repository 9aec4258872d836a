"""Commands on single entries: expiring, renew, supersede."""

from __future__ import annotations

from typing import Annotated, Optional

import typer

from agent_memfas.cli import out
from agent_memfas.cli.session import (
    Config,
    DryRun,
    Json,
    Root,
    Today,
    from_here,
    open_up,
    place_and_line,
)
from agent_memfas.errors import UsageError
from agent_memfas.tasks import janitor as cleaning
from agent_memfas.tasks import terms
from agent_memfas.text.entries import parse_duration

PANEL = "Tend"


def register(app: typer.Typer) -> None:
    """Put these commands into the table."""
    for command in (expiring, renew, supersede):
        app.command(command.__name__, rich_help_panel=PANEL)(command)


def expiring(
    within: Annotated[
        str, typer.Option("--within", metavar="TERM", help="How far to look: 14d, 2w.")
    ] = "14d",
    root: Root = None,
    config: Config = None,
    today: Today = None,
    json: Json = False,
) -> None:
    """The entries that will leave soon, and when."""
    days = _term("--within", within)
    session = open_up(root, config, today)
    names = [
        name for name in session.settings.janitor_files or cleaning.DEFAULT_FILES
        if (session.folder.root / name).exists()
    ]  # fmt: skip
    found = terms.expiring(session.folder, names, days, session.today, session.settings.terms)
    if json:
        out.data({"within_days": days, "entries": [vars(entry) for entry in found]})
    for entry in found if not json else ():
        left = "over" if entry.days_left < 0 else f"{entry.days_left} d left"
        out.say(
            f"{entry.path}:{entry.line}  {entry.expires} ({left})  [{entry.priority}] {entry.text}"
        )
    if not found:
        if not json:
            out.say(f"Nothing expires within {days} days.")
        raise typer.Exit(1)


def _term(option: str, text: str) -> int:
    days = parse_duration(text)
    if days is None:
        raise UsageError(f"{option} {text}: not a term", "write 14d or 2w")
    return days


def renew(
    place: Annotated[str, typer.Argument(metavar="PATH:LINE", help="An entry.")],
    term: Annotated[
        Optional[str],  # noqa: UP045
        typer.Option("--for", metavar="TERM", help="A term of its own: 30d, 8w."),
    ] = None,
    root: Root = None,
    config: Config = None,
    today: Today = None,
    dry_run: DryRun = False,
    json: Json = False,
) -> None:
    """Give an entry today's date, so that its term starts anew."""
    days = None if term is None else _term("--for", term)
    path, line = place_and_line(place)
    session = open_up(root, config, today, near=path)
    run = session.run("renew")
    name, rights = from_here(session, path), session.rights(None)
    done = terms.renew(session.folder, name, line, days, run, dry_run=dry_run, rights=rights)
    _print_edit(done, run.notices, json=json, dry_run=dry_run)


def supersede(
    place: Annotated[
        str, typer.Argument(metavar="PATH:LINE", help="The entry that is no longer true.")
    ],
    text: Annotated[list[str], typer.Argument(metavar="TEXT...", help="What is true now.")],
    root: Root = None,
    config: Config = None,
    today: Today = None,
    dry_run: DryRun = False,
    json: Json = False,
) -> None:
    """Label an entry as superseded and put its successor below it."""
    path, line = place_and_line(place)
    session = open_up(root, config, today, near=path)
    run = session.run("supersede")
    name = from_here(session, path)
    done = terms.supersede(
        session.folder, name, line, " ".join(text), run, dry_run=dry_run,
        rights=session.rights(None),
    )  # fmt: skip
    _print_edit(done, run.notices, json=json, dry_run=dry_run)


def _print_edit(done: terms.Edited, notices: list[str], *, json: bool, dry_run: bool) -> None:
    if json:
        out.data({**vars(done), "notices": notices, "dry_run": dry_run})
        return
    out.say(f"{'[DRY RUN] ' if dry_run else '✓ '}{done.path}:{done.line}")
    out.say(f"  - {done.before}")
    out.say(f"  + {done.after}")
    for notice in notices:
        out.tell(notice)
