"""The language model of the settings, for the commands that ask one."""

from __future__ import annotations

import json as json_
from collections.abc import Sequence
from dataclasses import asdict
from datetime import datetime
from typing import TYPE_CHECKING, Any

from agent_memfas.cli import out
from agent_memfas.errors import ConfigError
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
        if not session.settings.telemetry.enabled:
            return
        now = datetime.now(session.settings.timezone).astimezone(session.settings.timezone)
        stamp = now.isoformat(timespec="seconds")
        line = {"type": "llm", "timestamp": stamp, "command": command, **asdict(call)}
        telemetry.append(session.folder, line)

    return open_model(session.settings.llm, tell)


def named_model(session: Session, command: str, remedy: str = "") -> LanguageModel:
    """The model of the settings. ConfigError where there is none. remedy: another way out."""
    model = model_of(session, command)
    if model is None:
        way = "set llm.model or llm.command in memfas.yaml"
        raise ConfigError("no model is named", f"{way}, or {remedy}" if remedy else way)
    return model


def show(payloads: Sequence[dict[str, Any]], *, json: bool) -> None:
    """Print what would be sent: an object {payloads: [...]}, or each as readable JSON."""
    if json:
        out.data({"payloads": list(payloads)})
        return
    for payload in payloads:
        out.block(json_.dumps(payload, indent=2, ensure_ascii=False))
    out.tell(f"{out.count(len(payloads), 'question')}, nothing is sent")
