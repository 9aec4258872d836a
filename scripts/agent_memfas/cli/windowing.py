"""`memfas context`: how full a window is, and what compactions have taken out of a conversation."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any, Optional

import typer

from agent_memfas.cli import out
from agent_memfas.cli.colder import placed
from agent_memfas.cli.families import AsJson, family, opened
from agent_memfas.cli.session import Config, Root, Session
from agent_memfas.cli.transcript import PANEL, File, MaxTokens, Trigger, open_transcript, silent
from agent_memfas.config import context_path
from agent_memfas.context.audit import Audit, audit
from agent_memfas.context.logger import ContextLogger

SHOWN = 10  # needs that are listed


app = family(
    "context", "Context windows: status of one, audit of what compactions took out.",
    "status or audit",
)  # fmt: skip


def register(above: typer.Typer) -> None:
    """Put these commands into the table."""
    above.add_typer(app, name="context", rich_help_panel=PANEL)


@app.command("status")
def show_status(
    file: Annotated[
        Optional[Path],  # noqa: UP045
        typer.Argument(metavar="[TRANSCRIPT]", help="A transcript to look at."),
    ] = None,
    max_tokens: MaxTokens = None,
    trigger: Trigger = None,
    root: Root = None,
    config: Config = None,
    json: AsJson = False,
) -> None:
    """How full a transcript's window is; without one, what was compacted in the last day."""
    session = opened(root, config)
    if file is None:
        _show_logs(session, json=json)
        return
    shown = open_transcript(file, session, max_tokens, trigger)
    manager = shown.manager()
    manager.logger = silent()
    manager.config.auto_compact = False
    manager.config.curation_trigger_pct = 0
    status = manager.before_response(shown.max_tokens)
    if json:
        out.data(asdict(status))
        return
    state = "it is time to compact" if status.needs_compaction else "no compaction is needed"
    out.say(
        f"{status.current_tokens} tokens, {status.pct_used:.0%} of {status.max_tokens}: {state}"
    )
    out.say(f"{status.chunks_count} messages, {status.pinned} of them pinned")
    out.say(f"Cold storage: {out.count(status.cold_storage_count, 'chunk')}")


def _show_logs(session: Session, *, json: bool) -> None:
    logger = ContextLogger(
        context_path(session.settings, session.folder.root, "log_path"), clock=lambda: session.now
    )
    cold = placed(session.folder.root, session.settings)
    data: dict[str, Any] = {
        "compactions": logger.get_compaction_stats(), "drops": logger.get_drop_stats(),
        "cold_storage_count": cold.folder.count(), "log_path": str(logger.log_path),
    }  # fmt: skip
    if json:
        out.data(data)
        return
    done = data["compactions"].get("compaction_count", 0)
    saved = data["compactions"].get("total_token_savings", 0)
    dropped = data["drops"].get("total_drops", 0)
    out.say(f"Last 24 hours: {out.count(done, 'compaction')}, {saved} tokens saved, "
            f"{out.count(dropped, 'chunk')} dropped")  # fmt: skip
    out.say(f"Cold storage: {out.count(data['cold_storage_count'], 'chunk')}")


@app.command("audit")
def show_audit(
    file: File,
    max_tokens: MaxTokens = None,
    trigger: Trigger = None,
    root: Root = None,
    config: Config = None,
    json: AsJson = False,
) -> None:
    """Play a transcript again, turn by turn: what compactions took out, and whether a later turn
    would have needed it, that is, ranks it above all that was left. Nothing is written. Exit
    status 1: something that was needed does not come back by `recover`.
    """
    played = open_transcript(file, opened(root, config), max_tokens, trigger)
    found = audit(played.messages, played.config, played.max_tokens, played.session.now)
    if json:
        out.data({**found.as_data(), "needs": [vars(one) for one in _worst(found)]})
    else:
        _print_audit(found)
    if found.lost:
        raise typer.Exit(1)


def _worst(found: Audit) -> list[Any]:
    """The needs that nothing met first, then the clearest."""
    return sorted(found.needs, key=lambda one: (one.summary, bool(one.rank), -one.score))


def _print_audit(found: Audit) -> None:
    data = found.as_data()
    out.say(f"{data['messages']} messages, {data['turns']} turns, "
            f"{out.count(len(found.rounds), 'compaction')}")  # fmt: skip
    for one in found.rounds:
        out.say(f"  at message {one.message}: {one.tokens_before} → {one.tokens_after} tokens, "
                f"{one.dropped} dropped, {one.shortened} shortened")  # fmt: skip
    out.say(f"{data['dropped']} dropped, {data['needed']} needed later "
            f"({data['needed_share']:.1%}): {data['recovered']} come back by recover, "
            f"{data['lost']} do not")  # fmt: skip
    for one in _worst(found)[:SHOWN]:
        way = "its summary was there" if one.summary else (
            f"recover has it at rank {one.rank}" if one.rank else "lost"
        )  # fmt: skip
        out.say(f"  turn {one.turn} needed message {one.message} "
                f"({one.score:.2f}, the best there {one.best_kept:.2f}; {way})")  # fmt: skip
        out.say(f"    {one.words}")
