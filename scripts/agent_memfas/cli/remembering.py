"""Commands for triggers: remember, forget, triggers, suggest."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Annotated, Optional

import typer

from agent_memfas.cli import out
from agent_memfas.cli.brief import keeper_for
from agent_memfas.cli.session import Config, Json, Root, Session, open_up
from agent_memfas.errors import NothingFound, UsageError
from agent_memfas.index.extract import documents
from agent_memfas.index.scope import scope_of
from agent_memfas.tasks import triggers as remembering
from agent_memfas.text.firing import Trigger, key_of, read_link
from agent_memfas.text.suggest import Suggestion
from agent_memfas.text.suggest import suggest as suggestions

if TYPE_CHECKING:
    from agent_memfas.index.keeper import Source

PANEL = "Remember"
WIDTHS = (20, 50)
TITLES = {"entity": "Entities", "phrase": "Phrases", "term": "Frequent terms"}
Word = Annotated[str, typer.Argument(metavar="KEYWORD", help="One or several words.")]


def register(app: typer.Typer) -> None:
    """Put these commands into the table."""
    for command in (remember, forget, triggers, suggest):
        app.command(command.__name__, rich_help_panel=PANEL)(command)


def remember(
    keyword: Word,
    hint: Annotated[str, typer.Option("--hint", "-H", metavar="HINT", help="What it brings.")],
    link: Annotated[
        Optional[list[str]],  # noqa: UP045 - typer reads this at run time on Python 3.10
        typer.Option("--link", metavar="PATH#L12", help="Lines that are quoted with it."),
    ] = None,
    root: Root = None,
    config: Config = None,
    json: Json = False,
) -> None:
    """Keep a keyword whose hint comes up whenever a question holds it, in TRIGGERS.md."""
    session = open_up(root, config)
    run = session.run("remember")
    links = tuple(link or ())
    for one in links:
        _check_link(session, one)
    done = remembering.remember(session.folder, keyword, hint, links, run)
    if json:
        out.data(done)
    else:
        out.say(f"✓ Added trigger: [{done.keyword}] → {done.hint}")
        if done.replaced is not None:
            out.tell(f"{done.path}:{done.line}: the hint was {done.replaced!r}")
    for notice in run.notices:
        out.tell(notice)


def _check_link(session: Session, link: str) -> None:
    place = read_link(link)
    if place is None:
        raise UsageError(f"--link {link}: not of the form PATH#L12 or PATH#L12-L15")
    if not session.folder.place(place[0]).is_file():
        raise NothingFound(f"--link {link}: there is no file {place[0]}")


def forget(keyword: Word, root: Root = None, config: Config = None, json: Json = False) -> None:
    """Take a keyword away wherever it stands: TRIGGERS.md, comments of entries, memfas.yaml."""
    session = open_up(root, config)
    if not key_of(keyword):
        raise UsageError(f"{keyword!r} has no word in it")
    run = session.run("forget")
    known = [t for t in every(session) if key_of(t.keyword) == key_of(keyword)]
    gone = remembering.forget(session.folder, keyword, known, run)
    if not gone:
        raise NothingFound(f"there is no trigger [{keyword}]", "see: memfas triggers")
    if json:
        out.data({"removed": [vars(trigger) for trigger in gone]})
    else:
        for trigger in gone:
            out.say(f"✓ Removed trigger: [{trigger.keyword}] ({trigger.path}:{trigger.line})")
    for notice in run.notices:
        out.tell(notice)


def triggers(root: Root = None, config: Config = None, json: Json = False) -> None:
    """All triggers, with the file and the line where each of them stands."""
    session = open_up(root, config)
    found = every(session)
    if json:
        out.data({"triggers": [vars(trigger) for trigger in found]})
        return
    if not found:
        out.say("No triggers defined.")
        return
    out.say(f"{'Keyword':<{WIDTHS[0]}} {'Hint':<{WIDTHS[1]}} Where")
    out.say("-" * 70)
    for t in found:
        hint = " ".join([t.hint, *(f"-> {link}" for link in t.links)]).strip()
        out.say(f"{t.keyword:<{WIDTHS[0]}} {hint:<{WIDTHS[1]}} {t.path}:{t.line}")


def suggest(
    limit: Annotated[int, typer.Option("--limit", "-n", metavar="N", help="At most so many.")] = 15,
    least: Annotated[
        int, typer.Option("--min", "-m", metavar="N", help="On at least so many lines.")
    ] = 3,
    root: Root = None,
    config: Config = None,
    json: Json = False,
) -> None:
    """Names, phrases and terms that come up often and are no triggers yet."""
    if limit < 1 or least < 1:
        raise UsageError("--limit and --min are numbers from 1")
    session = open_up(root, config)
    existing = {key_of(trigger.keyword) for trigger in every(session)}
    scope = scope_of(session.root, session.brief.sources)
    found = suggestions(documents(session.folder, scope), existing, least, limit)
    if json:
        out.data({"suggestions": [vars(one) for one in found]})
    elif not found:
        out.say(f"Nothing comes up on {least} lines or more that is no trigger yet.")
    else:
        _print(found, least)
    if not found:
        raise typer.Exit(1)


def _print(found: list[Suggestion], least: int) -> None:
    out.say(f"💡 Suggested triggers (min {least} occurrences):")
    for kind, title in TITLES.items():
        chosen = [one for one in found if one.type == kind]
        if chosen:
            out.say()
            out.say(f"{title}:")
        for one in chosen:
            out.say(f'  memfas remember "{one.term}" --hint "..."  # {one.count}x')
            out.say(f"      {one.path}:{one.line}: {one.example}")


def every(session: Session) -> list[Trigger]:
    """All triggers as they stand in the files now."""
    keeper = keeper_for(session.root, session.brief)

    def asked(source: Source) -> list[Trigger]:
        return source.all_triggers()

    try:
        return keeper.answer(asked, time.time_ns(), None)
    finally:
        keeper.close()
