"""The language model of the settings, for the commands that ask one."""

from __future__ import annotations

from dataclasses import asdict
from datetime import datetime
from typing import TYPE_CHECKING

from agent_memfas.llm import open_model
from agent_memfas.store import telemetry

if TYPE_CHECKING:
    from agent_memfas.cli.session import Session
    from agent_memfas.llm import Call, LanguageModel


def model_of(session: Session, command: str) -> LanguageModel | None:
    """The model that `llm:` in memfas.yaml names, None for none. ConfigError where that is wrong.

    command: the command that asks, for the telemetry of its questions.
    """

    def tell(call: Call) -> None:
        now = datetime.now(session.settings.timezone).astimezone(session.settings.timezone)
        stamp = now.isoformat(timespec="seconds")
        line = {"type": "llm", "timestamp": stamp, "command": command, **asdict(call)}
        telemetry.append(session.folder, line)

    return open_model(session.settings.llm, tell)
