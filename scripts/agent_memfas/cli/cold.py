"""`memfas cold` and `memfas recover`: what left a context window, found, shown, given back."""

from __future__ import annotations

import json as json_
from collections import Counter
from pathlib import Path
from typing import Annotated, Any, Optional

import typer

from agent_memfas.cli import out
from agent_memfas.cli.asking import words
from agent_memfas.cli.colder import Placed, placed
from agent_memfas.cli.families import AsJson, family, opened
from agent_memfas.cli.session import Config, Json, Root, Session, day, open_up
from agent_memfas.context.logger import ContextLogger
from agent_memfas.errors import NothingFound, UsageError
from agent_memfas.tasks import cold as tasks
from agent_memfas.text.cold import ColdBlock
from agent_memfas.text.marks import clip

PANEL = "Context"
SHOWN = 60  # characters of a chunk in a list
LIMIT = 5


Id = Annotated[str, typer.Argument(metavar="ID", help="The chunk's id, as `cold list` shows it.")]
app = family(
    "cold", "What left a context window: list, show, restore, stats, pin, unpin.",
    "list, show, restore, stats, pin or unpin",
)  # fmt: skip


def register(above: typer.Typer) -> None:
    """Put these commands into the table."""
    above.add_typer(app, name="cold", rich_help_panel=PANEL)
    above.command("recover", rich_help_panel=PANEL)(recover)


def recover(
    query: Annotated[
        Optional[list[str]],  # noqa: UP045 - typer reads this at run time on Python 3.10
        typer.Argument(metavar="QUERY...", help="What it was about; `-` reads stdin."),
    ] = None,
    limit: Annotated[
        int, typer.Option("--limit", "-n", metavar="N", min=1, help="How many chunks.")
    ] = LIMIT,
    root: Root = None,
    config: Config = None,
    json: Json = False,
) -> None:
    """Find what left a context window, best first, with the whole text."""
    if not query:
        raise UsageError("Missing argument 'QUERY...'.", "see: memfas recover --help")
    session = open_up(root, config)
    cold, question = placed(session.folder.root, session.settings), words(query)
    found = tasks.Found(cold.folder.live(session.now)).ranked(question, limit)
    _logger(session).log_recovery(question, len(found))
    _tell_damages(cold)
    if json:
        hits = [{**_fields(cold, block), "score": round(score, 4)} for block, score in found]
        out.data({"query": question, "hits": hits})
    for block, score in [] if json else found:
        out.say(f"[{cold.shown(block)}:{block.start_line}] {block.chunk_id} (score: {score:.2f})")
        for line in block.text.split("\n"):
            out.say(f"  {line}")
        out.say()
    if not found:
        if not json:
            out.say("Nothing found in cold storage.")
        raise typer.Exit(1)


def _logger(session: Session) -> ContextLogger:
    from agent_memfas import config as files
    from agent_memfas.context.logger import RECOVERY

    wanted = session.settings.values.get("context.log_recovery", True)
    off = frozenset() if wanted else frozenset((RECOVERY,))
    path = files.context_path(session.settings, session.folder.root, "log_path")
    return ContextLogger(path, off=off, clock=lambda: session.now)


@app.command("list")
def list_(
    session_id: Annotated[
        str, typer.Option("--session", "-s", metavar="ID", help="Only this session.")
    ] = "",
    since: Annotated[
        Optional[str],  # noqa: UP045
        typer.Option("--since", metavar="DAY", help="Only from this day (YYYY-MM-DD) on."),
    ] = None,
    root: Root = None,
    config: Config = None,
    json: AsJson = False,
) -> None:
    """List the chunks that are there, oldest first."""
    _, cold = _opened(root, config)
    moment = day("--since", since)
    first = moment.isoformat() if moment else ""
    found = [
        block for block in cold.folder.blocks()
        if session_id in ("", block.session_id) and block.at[:10] >= first
    ]  # fmt: skip
    _tell_damages(cold)
    if json:
        out.data({"chunks": [_fields(cold, block, text=False) for block in found]})
    for block in [] if json else found:
        until = "pinned" if block.pinned else f"until {block.until[:10] or '?'}"
        role = f" {block.role}" if block.role else ""
        out.say(f"{block.chunk_id} {block.at[:16]}{role}, {block.tokens} tokens, {until}")
        out.say(f"  {clip(' '.join(block.text.split()), SHOWN)}")
    if not found and not json:
        out.say("Cold storage is empty." if not (session_id or first) else "No such chunks.")
    if not found:
        raise typer.Exit(1)


@app.command()
def show(chunk_id: Id, root: Root = None, config: Config = None, json: AsJson = False) -> None:
    """Show a chunk: where it stands, when and why it left, and its text."""
    _, cold = _opened(root, config)
    block = _found(cold, chunk_id)
    if json:
        out.data({"chunk": _fields(cold, block)})
        return
    out.say(f"{block.chunk_id}, session {block.session_id}")
    out.say(f"{cold.shown(block)}:{block.start_line}-{block.end_line}")
    kept = "pinned" if block.pinned else f"kept until {block.until[:10] or 'for good'}"
    out.say(f"left {block.at} ({block.reason}, score {block.score:.2f}), {kept}")
    out.say()
    out.block(block.text)


@app.command()
def restore(chunk_id: Id, root: Root = None, config: Config = None, json: AsJson = False) -> None:
    """Print the message as it was: its JSON, or its text where that was all of it."""
    _, cold = _opened(root, config)
    block = _found(cold, chunk_id)
    if json:
        from agent_memfas.context.restoring import message_of

        out.data({"message": message_of(block), "chunk": _fields(cold, block, text=False)})
    elif block.raw:
        out.block(block.raw)
    else:
        out.block(block.text)


@app.command()
def stats(root: Root = None, config: Config = None, json: AsJson = False) -> None:
    """Count the chunks, by age and session."""
    session, cold = _opened(root, config)
    blocks = cold.folder.blocks()
    ages = tasks.ages(blocks, session.now)
    sessions = dict(Counter(block.session_id for block in blocks))
    data = {
        "total_chunks": len(blocks), "age_distribution": dict(ages),
        "storage_path": str(cold.folder.path), "tokens": sum(block.tokens for block in blocks),
        "pinned": sum(block.pinned for block in blocks), "sessions": sessions,
        "damaged": cold.folder.damages(),
    }  # fmt: skip
    if json:
        out.data(data)
        return
    out.say(f"Cold storage: {cold.folder.path}")
    out.say(f"Chunks: {len(blocks)} ({data['pinned']} pinned), about {data['tokens']} tokens")
    out.say(f"Age: {ages['day']} of today, {ages['week']} of this week, {ages['older']} older")
    for name, number in sessions.items():
        out.say(f"  {name}: {number}")
    _tell_damages(cold)


@app.command()
def pin(chunk_id: Id, root: Root = None, config: Config = None, json: AsJson = False) -> None:
    """Keep a chunk for good: the janitor leaves it."""
    _pinned(root, config, chunk_id, json=json, pinned=True)


@app.command()
def unpin(chunk_id: Id, root: Root = None, config: Config = None, json: AsJson = False) -> None:
    """Let a chunk go when its time is over."""
    _pinned(root, config, chunk_id, json=json, pinned=False)


def _pinned(
    root: Path | None, config: Path | None, chunk_id: str, *, json: bool, pinned: bool
) -> None:
    _, cold = _opened(root, config)
    block = tasks.pin(cold.folder, chunk_id, pinned=pinned)
    if json:
        out.data({"chunk_id": chunk_id, "pinned": pinned, "path": cold.shown(block)})
    else:
        out.say(f"✓ {chunk_id} is {'pinned' if pinned else 'no longer pinned'}")


def _opened(root: Path | None, config: Path | None) -> tuple[Session, Placed]:
    session = opened(root, config)
    return session, placed(session.folder.root, session.settings)


def _found(cold: Placed, chunk_id: str) -> ColdBlock:
    block = cold.folder.find(chunk_id)
    if block is None:
        raise NothingFound(f"no chunk {chunk_id} in cold storage", "memfas cold list shows all")
    return block


def _fields(cold: Placed, block: ColdBlock, *, text: bool = True) -> dict[str, Any]:
    """A chunk as data."""
    found = {
        "chunk_id": block.chunk_id, "session_id": block.session_id, "role": block.role,
        "path": cold.shown(block), "start_line": block.start_line, "end_line": block.end_line,
        "at": block.at, "until": block.until, "tokens": block.tokens, "reason": block.reason,
        "relevance_score": block.score, "prompt_at_drop": block.prompt, "pinned": block.pinned,
    }  # fmt: skip
    if text:
        found["text"] = block.text
        try:
            found["message"] = json_.loads(block.raw) if block.raw else None
        except ValueError:
            found["message"] = None
    return found


def _tell_damages(cold: Placed) -> None:
    for damage in cold.folder.damages():
        out.tell(f"cold storage: {damage}")
