"""Asking a model as a command does, and keeping what it was charged."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any

from agent_memfas.llm import BadReply, Call, LlmChoice, Prompt, open_model
from llm.server import Server

SCHEMA = {
    "type": "object", "properties": {"answer": {"type": "string"}}, "required": ["answer"],
    "additionalProperties": False,
}  # fmt: skip
PLAIN = Prompt("You answer briefly.", "How are you?")
AS_JSON = Prompt("You answer briefly.", "How are you?", SCHEMA)


def read_answer(text: str) -> str:
    """The `answer` of an object; anything else is no use."""
    try:
        found = json.loads(text)
    except ValueError:
        raise BadReply("is no JSON") from None
    if not isinstance(found, dict) or not isinstance(found.get("answer"), str):
        raise BadReply("has no text in `answer`")
    return str(found["answer"])


@dataclass
class Asker:
    """A model of settings; calls: what it was charged."""

    settings: dict[str, Any]
    calls: list[Call] = field(default_factory=list)

    def ask(self, prompt: Prompt = PLAIN, read: Any = str) -> Any:
        model = open_model(LlmChoice(**self.settings), self.calls.append)
        assert model is not None
        with model:
            return model.ask(prompt, read)

    def json(self) -> Any:
        return self.ask(AS_JSON, read_answer)

    @property
    def outcomes(self) -> list[str]:
        return [call.outcome for call in self.calls]


def of(server: Server, **settings: Any) -> Asker:
    """A model called toy on that server."""
    return Asker({"model": "toy", "base_url": server.address, "timeout": 20.0, **settings})
