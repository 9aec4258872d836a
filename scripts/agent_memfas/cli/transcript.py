"""A transcript on the command line, with a context manager around it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any, Optional

import typer

from agent_memfas.cli import out
from agent_memfas.cli.session import Session
from agent_memfas.config import context_path
from agent_memfas.context.config import ContextConfig
from agent_memfas.context.logger import FILES, ContextLogger
from agent_memfas.context.manager import ContextManager
from agent_memfas.store.files import read
from agent_memfas.text.transcripts import CLAUDE_CODE, Transcript, read_transcript

PANEL = "Context"
LARGEST = 1 << 30  # bytes of a transcript
USUAL, OF_CLAUDE = 100_000, 200_000  # tokens of the window: the reference's, Claude Code's
File = Annotated[
    Path,
    typer.Argument(metavar="TRANSCRIPT", help="JSON or JSON lines; Claude Code's files, too."),
]
MaxTokens = Annotated[
    Optional[int],  # noqa: UP045 - typer reads these at run time on Python 3.10
    typer.Option(
        "--max-tokens", metavar="N", min=1,
        help="Of the window (default 100000; for Claude Code's files 200000).",
    ),
]  # fmt: skip
Trigger = Annotated[
    Optional[float],  # noqa: UP045
    typer.Option(
        "--trigger", metavar="SHARE", min=0.0, max=1.0,
        help="Of the window, from which on it is compacted (default as configured, 0.5).",
    ),
]  # fmt: skip


@dataclass
class Opened:
    """A transcript, and the settings that hold for it. max_tokens: of the window, without those of
    a system prompt that stands beside the messages.
    """

    session: Session
    path: Path
    transcript: Transcript
    config: ContextConfig
    max_tokens: int
    messages: list[Any]

    def manager(self, **more: Any) -> ContextManager:
        """A manager whose context the messages of the transcript are."""
        root = self.session.folder.root
        return ContextManager(
            config=self.config, get_context=lambda: self.messages,
            set_context=lambda new: self.messages.__setitem__(slice(None), new), replay=True,
            cold_storage_path=context_path(self.session.settings, root, "cold_storage_path"),
            log_path=context_path(self.session.settings, root, "log_path"),
            clock=lambda: self.session.now, **more,
        )  # fmt: skip


def open_transcript(
    file: Path, session: Session, max_tokens: int | None, trigger: float | None
) -> Opened:
    """Read a transcript. UsageError where it is none; what of it cannot be read is told."""
    transcript = read_transcript(read(file.expanduser().absolute(), LARGEST).data)
    for note in transcript.notes:
        out.tell(f"{file}: {note}")
    usual = OF_CLAUDE if transcript.form == CLAUDE_CODE else USUAL
    chosen = ContextConfig.load(session.settings.file) if session.settings.file else (
        ContextConfig()
    )  # fmt: skip
    if trigger is not None:
        most = max(chosen.max_context_pct, trigger)
        chosen = replace(chosen, compaction_trigger_pct=trigger, max_context_pct=most)
    return Opened(session, file, transcript, chosen, max_tokens or usual, list(transcript.messages))


def silent() -> ContextLogger:
    """A log that nothing is written to."""
    return ContextLogger(off=frozenset(FILES))
