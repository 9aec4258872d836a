"""The command that curates: the context for a turn, within a budget of tokens."""

from __future__ import annotations

from contextlib import closing
from typing import Annotated, Any, Optional

import typer

from agent_memfas.cli import out
from agent_memfas.cli.asking import words
from agent_memfas.cli.session import Config, Json, Root, Session, open_up
from agent_memfas.tasks.curation import Curation, Left, Rated
from agent_memfas.text.marks import clip
from agent_memfas.v3.curator import ContextCurator
from agent_memfas.v3.levels import describe_levels
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
        out.block(describe_levels())
        return
    session = open_up(root, config, forgiving=True)
    question = words(query or [])
    with closing(_curator(session, budget)) as curator:
        response = curator.get_context(
            question, session_id or SESSION, baseline, level=level,
            resend=resend or session_id is None,
        )  # fmt: skip
        account = curator.last
    if json:
        data = {name: value for name, value in vars(response).items() if name != "top_memories"}
        data["curated_tokens"] = response.curated_tokens
        out.data({**data, **(_explained(account) if explain and account else {})})
    else:
        _print(response)
        if explain and account:
            _print_account(account)
    if not response.context:
        raise typer.Exit(1)


def _curator(session: Session, budget: int | None) -> ContextCurator:
    where = session.settings.file or session.folder.root
    curator = ContextCurator(where)
    if budget is not None:
        curator.set_exact_budget(budget)
    return curator


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
    out.say("value  similar recent  used  topic  source")
    fates = {kept.memory.id: "cut" if kept.cut else "in" for kept in account.kept}
    fates |= {left.memory.id: left.reason for left in (*account.dropped, *account.filtered)}
    for one in account.rated:
        w = one.worth
        out.say(
            f"{w.value:5.2f}  {w.semantic:7.2f} {w.recency:6.2f} {w.access:5.2f} {w.topic:6.2f}  "
            f"{one.source}: {fates.get(one.id, '')}: {clip(' '.join(one.hit.text.split()), SHOWN)}"
        )


def _explained(account: Curation) -> dict[str, Any]:
    return {
        "kept": [{**_row(k.memory), "text": k.text, "cut": k.cut} for k in account.kept],
        "dropped": [_left(left) for left in account.dropped],
        "filtered": [_left(left) for left in account.filtered],
    }


def _left(left: Left) -> dict[str, Any]:
    return {**_row(left.memory), "reason": left.reason}


def _row(one: Rated) -> dict[str, Any]:
    return {"id": one.id, "source": one.source, "value": round(one.worth.value, 4),
            "breakdown": {k: round(v, 4) for k, v in one.worth.as_dict().items()}}  # fmt: skip
