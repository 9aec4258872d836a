"""`memfas compact`: a transcript made smaller; nothing of it is lost."""

from __future__ import annotations

import sys
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any, NamedTuple, Optional

import typer

from agent_memfas.cli import out
from agent_memfas.cli.modeling import model_of
from agent_memfas.cli.session import Config, DryRun, Json, Root, Session, open_up
from agent_memfas.cli.transcript import (
    LARGEST,
    PANEL,
    File,
    MaxTokens,
    Opened,
    Trigger,
    open_transcript,
    silent,
)
from agent_memfas.context.audit import InMemory
from agent_memfas.context.manager import ContextManager
from agent_memfas.context.results import CompactionResult, ContextStatus
from agent_memfas.context.summarizers import ModelSummarizer, Summarizer, create_summarizer
from agent_memfas.errors import FileFault, MemfasError, UsageError
from agent_memfas.store import sessions, turns
from agent_memfas.store.durable import write_whole
from agent_memfas.store.files import read
from agent_memfas.tasks import session_state
from agent_memfas.text.messages import read_message
from agent_memfas.text.session_state import state_of
from agent_memfas.text.transcripts import write_transcript

MARK = ".compacted"


def register(app: typer.Typer) -> None:
    """Put this command into the table."""
    app.command("compact", rich_help_panel=PANEL)(compact)


def compact(
    file: File,
    output: Annotated[
        Optional[Path],  # noqa: UP045
        typer.Option(
            "--output", "-o", metavar="FILE",
            help="Where the smaller one goes (else NAME.compacted beside it; - for stdout).",
        ),
    ] = None,
    max_tokens: MaxTokens = None,
    trigger: Trigger = None,
    prompt: Annotated[
        str, typer.Option("--prompt", metavar="TEXT", help="What matters (else the latest turn).")
    ] = "",
    session_id: Annotated[
        str, typer.Option("--session", "-s", metavar="ID", help="Its id (else the file's).")
    ] = "",
    summarizer: Annotated[
        str,
        typer.Option(
            "--summarizer", metavar="NAME", help="extractive (default), llm, none, PROVIDER/MODEL."
        ),
    ] = "extractive",
    now: Annotated[
        bool, typer.Option("--now", help="Also where it is not over the trigger yet.")
    ] = False,
    overwrite: Annotated[
        bool, typer.Option("--overwrite", help="Write over a file that is there.")
    ] = False,
    root: Root = None,
    config: Config = None,
    dry_run: DryRun = False,
    json: Json = False,
) -> None:  # fmt: skip
    """Make a transcript smaller. What leaves it goes to cold storage, what was being done to
    SESSION-STATE.md, the rest into another file.
    """
    opened = open_transcript(file, open_up(root, config), max_tokens, trigger)
    target = _target(file, output)
    if target is not None and target.exists() and not (overwrite or dry_run or _is_ours(target)):
        raise UsageError(f"{target} is there already", "name another with -o, or --overwrite")
    name = session_id or opened.transcript.session or file.name.partition(".")[0]
    manager = opened.manager(session_id=name, summarizer=_summarizer(summarizer, opened.session))
    if dry_run:
        manager.logger = silent()
    status, result = _compact(opened, manager, prompt, now=now, dry_run=dry_run)
    if not (result.done or dry_run):
        raise FileFault("; ".join(result.notes) or "nothing was changed")
    data = _written(opened, manager) if result.chunks_dropped + result.chunks_summarized else None
    state = state_of([read_message(one) for one in opened.transcript.messages])
    changed = False
    if not dry_run:
        changed = _keep_state(opened.session, state)
        _empty_sessions(opened.session, name)
        _put(opened, target, data, as_data=json)
    told = _Told(opened, status, result, target if not dry_run else None, changed, dry_run)
    if json:
        out.data({**told.as_data(), "state": state})
    else:
        told.tell(to_stdout=target is None)


def _compact(
    opened: Opened, manager: ContextManager, prompt: str, *, now: bool, dry_run: bool
) -> tuple[ContextStatus, CompactionResult]:
    """Compact it where that is due. A dry run compacts as well, into nothing."""
    if prompt:
        manager.set_current_prompt(prompt)
    manager.config.auto_compact = False
    before = manager.before_response(opened.max_tokens)
    if dry_run:
        manager.cold_storage = InMemory(opened.session.now)
    size = before.current_tokens
    if now or before.needs_compaction:
        return before, manager.compact()
    return before, CompactionResult(size, size, 0, 0, 0, before.chunks_count)


def _summarizer(name: str, session: Session) -> str | Summarizer:
    """The summarizer that was asked for; a model's questions stand in the telemetry."""
    if name.lower() != "llm":
        return create_summarizer(name) if "/" in name else name
    model = model_of(session, "compact")
    return ModelSummarizer(model) if model is not None else create_summarizer("llm")


def _target(file: Path, output: Path | None) -> Path | None:
    """Where the smaller transcript goes, None for standard output. Never the transcript itself."""
    if output is not None and str(output) == "-":
        return None
    target = output or file.with_name(f"{file.stem}{MARK}{file.suffix}")
    if target.resolve() == file.resolve():
        raise UsageError(f"{file} would be written over", "name another file with -o")
    return target


def _is_ours(target: Path) -> bool:
    """Whether a file is a compacted transcript of an earlier run."""
    return target.stem.endswith(MARK)


def _written(opened: Opened, manager: ContextManager) -> bytes:
    """The smaller transcript."""
    assert manager.last is not None
    kept = list(zip(manager.last.left, opened.messages, strict=True))
    return write_transcript(opened.transcript, kept)


def _keep_state(session: Session, state: dict[str, list[str]]) -> bool:
    try:
        return session_state.update(session.folder, state, session.run("compact"))
    except MemfasError as error:
        out.tell(f"SESSION-STATE.md is as it was: {error.message}")
        return False


def _empty_sessions(session: Session, name: str) -> None:
    """Recall and curation may give this session again what it was given before."""
    try:
        turns.empty(session.folder, name)
        sessions.forget(session.folder, name)
    except MemfasError as error:
        out.tell(error.message)


def _put(opened: Opened, target: Path | None, data: bytes | None, *, as_data: bool) -> None:
    """Write the smaller transcript; one that has not become smaller is written as it is."""
    whole = data if data is not None else read(opened.path.expanduser().absolute(), LARGEST).data
    if target is not None:
        write_whole(target, whole)
    elif not as_data:
        sys.stdout.flush()
        sys.stdout.buffer.write(whole)


class _Told(NamedTuple):
    """What there is to tell of a compaction."""

    opened: Opened
    status: ContextStatus
    result: CompactionResult
    target: Path | None
    state: bool
    dry_run: bool

    def as_data(self) -> dict[str, Any]:
        result = asdict(self.result)
        return {
            **result, "max_tokens": self.opened.max_tokens, "pct_used": self.status.pct_used,
            "form": self.opened.transcript.form, "messages": len(self.opened.transcript.messages),
            "output": str(self.target) if self.target else None, "session_state": self.state,
            "dry_run": self.dry_run,
        }  # fmt: skip

    def tell(self, *, to_stdout: bool) -> None:
        say = out.tell if to_stdout else out.say
        result, total = self.result, len(self.opened.transcript.messages)
        say(
            f"{total} messages, {result.tokens_before} tokens ({self.status.pct_used:.0%} of "
            f"{self.opened.max_tokens}) → {result.tokens_after} tokens"
        )
        if not result.chunks_dropped + result.chunks_summarized:
            say("Nothing to do: it is not over the trigger (--now compacts all the same)."
                if not result.notes else "Nothing was changed.")  # fmt: skip
        else:
            kept = total - result.chunks_dropped - result.chunks_summarized
            say(f"{kept} kept, {result.chunks_summarized} shortened, "
                f"{result.chunks_dropped} dropped")  # fmt: skip
        if self.dry_run:
            say("[DRY RUN] No changes made.")
        elif result.path:
            say(f"cold storage: {result.path} ({out.count(len(result.stored), 'chunk')})")
            say('to see them again: memfas recover "…"')
        if self.state:
            say("SESSION-STATE.md is up to date")
        if self.target:
            say(f"written: {self.target}")
        for note in result.notes:
            out.tell(note)
