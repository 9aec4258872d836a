"""The command that curates: the context for a turn, within a budget of tokens."""

from __future__ import annotations

import warnings
from contextlib import closing
from dataclasses import asdict
from datetime import datetime
from typing import Annotated, Any, Optional

import typer

from agent_memfas.cli import out
from agent_memfas.cli.asking import words
from agent_memfas.cli.session import Config, Json, Root, Session, open_up
from agent_memfas.errors import UsageError
from agent_memfas.memory.opening import of_settings
from agent_memfas.tasks.curation import Curation, Left, Rated
from agent_memfas.text.marks import clip
from agent_memfas.v3.curator import ContextCurator
from agent_memfas.v3.levels import LEVEL_PRESETS, describe_levels
from agent_memfas.v3.response import ContextResponse

PANEL = "Context"
SESSION = "cli"
SHOWN = 60  # characters of a memory in the account


def register(app: typer.Typer) -> None:
    """Put this command into the table."""
    app.command("curate", rich_help_panel=PANEL)(curate)


def curate(
    query: Annotated[
        Optional[list[str]],  # noqa: UP045 - typer reads this at run time on Python 3.10
        typer.Argument(metavar="QUERY...", help="What the turn is about; `-` reads stdin."),
    ] = None,
    level: Annotated[
        str, typer.Option("--level", "-l", metavar="L", help="1 to 5, a level's name, or auto.")
    ] = "auto",
    budget: Annotated[
        Optional[int],  # noqa: UP045
        typer.Option("--budget", "-b", metavar="TOKENS", min=0, help="Instead of the level's."),
    ] = None,
    baseline: Annotated[
        int,
        typer.Option("--baseline", metavar="TOKENS", min=0, help="What you would send otherwise."),
    ] = 0,
    session_id: Annotated[
        Optional[str],  # noqa: UP045
        typer.Option(
            "--session", "-s", metavar="ID", help="What this session was given is left out."
        ),
    ] = None,
    resend: Annotated[
        bool, typer.Option("--resend", help="Give again what the session was given before.")
    ] = False,
    explain: Annotated[
        bool, typer.Option("--explain", help="Value and cost of each candidate, and what became.")
    ] = False,
    levels: Annotated[
        bool, typer.Option("--describe-levels", help="Show the levels and end.")
    ] = False,
    root: Root = None,
    config: Config = None,
    json: Json = False,
) -> None:
    """Give the memories that matter for a turn, never more than fits into the budget."""
    if levels:
        _describe(json)
        return
    if not query:
        raise UsageError("Missing argument 'QUERY...'.", "see: memfas curate --help")
    session = open_up(root, config, forgiving=True)
    question = words(query)
    with warnings.catch_warnings(), closing(_curator(session, budget)) as curator:
        response = curator.get_context(
            question, session_id or SESSION, baseline, level=level,
            resend=resend or session_id is None,
        )  # fmt: skip
        account, notes = curator.last, _notes(curator)
    if json:
        data = {name: value for name, value in vars(response).items() if name != "top_memories"}
        data["curated_tokens"] = response.curated_tokens
        state = _freshness(curator, session, notes)
        out.data({**data, **state, **(_explained(account) if explain and account else {})})
    else:
        _print(response)
        if explain and account:
            _print_account(account)
        for note in [*notes, *(["the question is empty"] if not question.strip() else [])]:
            out.tell(note)
    if not response.context:
        raise typer.Exit(1)


def _curator(session: Session, budget: int | None) -> ContextCurator:
    warnings.simplefilter("ignore")  # what they say is among the notes, or was told before
    return ContextCurator(of_settings(session.folder, session.settings), token_budget=budget)


def _describe(json: bool) -> None:
    if json:
        out.data({"levels": [asdict(preset) for preset in LEVEL_PRESETS.values()]})
    else:
        out.block(describe_levels())


def _notes(curator: ContextCurator) -> list[str]:
    """What is to be known of the answer, beside it."""
    state, notes = curator.freshness, list(curator.notes)
    if state:
        notes += [note if state.fresh else f"not fresh: {note}" for note in state.notes]
        notes += [f"{skipped.path}: {skipped.reason}" for skipped in state.skipped]
    return notes


def _freshness(curator: ContextCurator, session: Session, notes: list[str]) -> dict[str, Any]:
    """The proof that an answer carries, as that of recall does."""
    state = curator.freshness
    if state is None:
        return {}
    looked = datetime.fromtimestamp(state.as_of / 1e9, session.now.tzinfo)
    return {
        "fresh": state.fresh, "as_of": looked.isoformat(timespec="milliseconds"),
        "files_seen": state.seen, "files_indexed": state.indexed, "notes": notes,
    }  # fmt: skip


def _print(response: ContextResponse) -> None:
    level = f"{response.curation_level} ({response.curation_level_name})"
    out.say(
        f"📚 Curated Context ({response.tokens_used} tokens, level {level}, "
        f"{response.latency_ms:.0f}ms)"
    )
    out.say()
    if response.context:
        for line in response.context.split("\n"):
            out.say(line)
    elif response.memories_dropped:
        out.say("No memories that are new and fit.")
    else:
        out.say("No memories found.")
    out.say()
    shift = " (new)" if response.topic_shifted else ""
    out.say(f"Topic: {response.topic}{shift}")
    out.say(
        f"Memories: {response.memories_included} included, {response.memories_dropped} dropped, "
        f"{response.memories_filtered} filtered"
    )
    out.say(f"Triggers: {response.triggers_matched}")
    if response.baseline_tokens:
        share = f"{100 * response.compression_ratio:.0f}%"
        out.say(f"Savings: {response.tokens_saved} tokens ({share})")
    if response.curation_why:
        out.say(f"Level: {response.curation_why}")


def _print_account(account: Curation) -> None:
    out.say()
    if account.triggers < account.triggers_found:
        out.say(f"Triggers that do not fit: {account.triggers_found - account.triggers}")
    out.say("value   cost  similar recent  used  topic  source")
    fates = {kept.memory.id: "cut" if kept.cut else "in" for kept in account.kept}
    fates |= {left.memory.id: left.reason for left in (*account.dropped, *account.filtered)}
    for one in account.rated:
        w = one.worth
        out.say(
            f"{w.value:5.2f} {account.cost(one):6}  {w.semantic:7.2f} {w.recency:6.2f} "
            f"{w.access:5.2f} {w.topic:6.2f}  "
            f"{one.source}: {fates.get(one.id, '')}: {clip(' '.join(one.hit.text.split()), SHOWN)}"
        )


def _explained(account: Curation) -> dict[str, Any]:
    return {
        "kept": [
            {**_row(k.memory, account), "text": k.text, "cut": k.cut, "tokens": k.tokens}
            for k in account.kept
        ],
        "dropped": [_left(left, account) for left in account.dropped],
        "filtered": [_left(left, account) for left in account.filtered],
        "triggers_found": account.triggers_found,
    }  # fmt: skip


def _left(left: Left, account: Curation) -> dict[str, Any]:
    return {**_row(left.memory, account), "reason": left.reason}


def _row(one: Rated, account: Curation) -> dict[str, Any]:
    return {"id": one.id, "source": one.source, "value": round(one.worth.value, 4),
            "cost": account.cost(one),
            "breakdown": {k: round(v, 4) for k, v in one.worth.as_dict().items()}}  # fmt: skip
