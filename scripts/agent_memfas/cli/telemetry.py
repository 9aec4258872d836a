"""`memfas telemetry`: what curation and models did, as a summary, line by line, or as a page."""

from __future__ import annotations

import sys
from datetime import datetime, time
from pathlib import Path
from typing import Annotated, Any, Optional

import typer

from agent_memfas.cli import out
from agent_memfas.cli.families import AsJson, family, opened
from agent_memfas.cli.session import Config, Root, Session, day
from agent_memfas.errors import NothingFound, UsageError
from agent_memfas.store import pages
from agent_memfas.store import telemetry as store
from agent_memfas.store.locks import state_folder
from agent_memfas.tasks import telemetry as reading
from agent_memfas.tasks.telemetry import Filter, Found, Recent
from agent_memfas.text.calendar_spans import written
from agent_memfas.text.report_figures import figures
from agent_memfas.text.report_page import MARK, page
from agent_memfas.text.telemetry_summary import NOTHING, Spent, block

PANEL = "Context"
File = Annotated[
    Optional[Path],  # noqa: UP045 - typer reads these at run time on Python 3.10
    typer.Option("--file", metavar="FILE", help="Another file than .memfas/telemetry.jsonl."),
]
Of = Annotated[str, typer.Option("--session", "-s", metavar="ID", help="Only this session.")]
Since = Annotated[
    Optional[str],  # noqa: UP045
    typer.Option("--since", metavar="DAY", help="Only from this day (YYYY-MM-DD) on."),
]


app = family(
    "telemetry", "What curation saved and what models cost: summary, show, report, clear.",
    "summary, show, report or clear",
)  # fmt: skip


def register(above: typer.Typer) -> None:
    """Put these commands into the table."""
    above.add_typer(app, name="telemetry", rich_help_panel=PANEL)


def place(session: Session, file: Path | None) -> Path:
    """The telemetry file that is meant. NothingFound where it was named and is not there."""
    if file is None:
        return store.home(session.folder)
    path = file.expanduser().absolute().resolve()
    if not store.parts(path):
        raise NothingFound(f"there is no {file}", "leave --file out for the folder's own telemetry")
    return path


def since_day(session: Session, option: str | None) -> datetime | None:
    """The beginning of a day in the user's time zone."""
    found = day("--since", option)
    return datetime.combine(found, time.min, session.now.tzinfo) if found else None


def tell_unreadable(found: Found | Recent) -> None:
    """Say how many lines are no telemetry."""
    if found.unreadable:
        told = out.count(found.unreadable, "line")
        out.tell(f"{told} left out, no telemetry; the first is {found.first}")


@app.command()
def summary(
    of: Of = "",
    last: Annotated[
        Optional[int],  # noqa: UP045
        typer.Option("--last", "-n", metavar="N", min=1, help="Only the last N turns."),
    ] = None,
    since: Since = None,
    file: File = None,
    root: Root = None,
    config: Config = None,
    json: AsJson = False,
) -> None:
    """Tokens saved, memories, topics and latency of all turns; tokens and cost of models."""
    session = opened(root, config)
    found = reading.read(place(session, file), Filter(since_day(session, since), of, last or 0))
    if json:
        out.data({**found.summary(), "models": [one._asdict() for one in found.spent()],
                  "unreadable": found.unreadable})  # fmt: skip
    elif found.turns or not found.calls:
        out.block(block(found.summary()).rstrip("\n"))
    if found.calls and not json:
        out.block("\n".join([*([""] if found.turns else []), *models(found.spent())]))
    tell_unreadable(found)
    if not found.turns and not found.calls:
        raise typer.Exit(1)


def models(found: list[Spent]) -> list[str]:
    """What each command has asked models, a line for each."""
    wide = max(len(one.command) for one in found)
    lines = ["Models:"]
    for one in found:
        failed = f" ({one.failed} failed)" if one.failed else ""
        cost = "" if one.cost is None else f", cost {one.cost:.4f}"
        lines.append(
            f"  {one.command + ':':{wide + 1}} {out.count(one.calls, 'question')}{failed}, "
            f"{one.prompt:,} tokens in, {one.completion:,} out{cost}"
        )
    return lines


@app.command()
def show(
    limit: Annotated[
        int, typer.Option("--limit", "-n", metavar="N", min=1, help="How many turns.")
    ] = 10,
    of: Of = "",
    file: File = None,
    root: Root = None,
    config: Config = None,
    json: AsJson = False,
) -> None:
    """The last turns, oldest first."""
    session = opened(root, config)
    found = reading.recent(place(session, file), Filter(None, of, limit))
    if json:
        out.data({"turns": list(found.turns), "unreadable": found.unreadable})
    for turn in found.turns if not json else ():
        _show(turn)
    if not found.turns and not json:
        out.say(NOTHING)
    tell_unreadable(found)
    if not found.turns:
        raise typer.Exit(1)


def _show(turn: dict[str, Any]) -> None:
    query = turn.get("query", "")
    baseline = turn.get("baseline_context_tokens", 0)
    saved = f"saved {turn.get('tokens_saved', 0)}" if baseline else "no baseline"
    shifted = " [SHIFTED]" if turn.get("topic_shifted") else ""
    number = turn.get("turn_number", 0)
    out.say(f"[{turn['timestamp'][:19]}] {turn.get('session_id', '')} turn #{number}")
    out.say(f"  Query: {query[:60]}{'...' if len(query) > 60 else ''}")
    out.say(f"  Topic: {turn.get('detected_topic', '')}{shifted}")
    out.say(f"  Tokens: {turn.get('curated_context_tokens', 0)} ({saved})")
    out.say(f"  Memories: {turn.get('memories_included', 0)} included")
    out.say(f"  Latency: {turn.get('latency_ms') or 0:.1f}ms")
    out.say()


@app.command()
def clear(
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
    file: File = None,
    root: Root = None,
    config: Config = None,
    json: AsJson = False,
) -> None:
    """Delete the telemetry, of models as well; memories and settings stay."""
    session = opened(root, config)
    path = place(session, file)
    if not yes:
        if sys.stdin is None or not sys.stdin.isatty():
            raise UsageError("clear asks before it deletes, and nobody can answer", "add -y")
        found = reading.read(path)
        what = f"{out.count(len(found.turns), 'turn')}, {out.count(len(found.calls), 'question')}"
        if not typer.confirm(f"This deletes the telemetry ({what} to models). Continue?"):
            out.tell("nothing was deleted")
            raise typer.Exit(1)
    count = store.clear(path)
    if json:
        out.data({"files": count, "path": str(path)})
    else:
        out.say("✓ Telemetry cleared.")


@app.command()
def report(
    output: Annotated[
        str,
        typer.Option(
            "--output", "-o", metavar="FILE",
            help="Where to write it (else .memfas/telemetry.html; - prints it).",
        ),
    ] = "",
    since: Since = None,
    of: Of = "",
    file: File = None,
    root: Root = None,
    config: Config = None,
    json: AsJson = False,
) -> None:  # fmt: skip
    """Write a page with charts for a browser: tokens, latency, levels, topics, files, models."""
    session = opened(root, config)
    found = reading.read(place(session, file), Filter(since_day(session, since), of))
    sums = figures(found.turns, found.calls, session.now.tzinfo)
    made = f"{written(session.today)}, {session.now:%H:%M}"
    text = page(session.folder.root.name, made, sums, found.unreadable)
    if output == "-" and not json:
        out.text(text.rstrip("\n"))
    else:
        path = Path(output).expanduser().absolute() if output.strip("-") else usual(session)
        pages.write(path, text, MARK)
        if json:
            out.data({"path": str(path), "turns": sums.turns, "spans": len(sums.spans),
                      "unit": sums.unit, "unreadable": found.unreadable})  # fmt: skip
        else:
            out.say(f"✓ {path}: {out.count(sums.turns, 'turn')}")
    tell_unreadable(found)


def usual(session: Session) -> Path:
    """Where a report goes that no place is named for."""
    return state_folder(session.folder) / "telemetry.html"
