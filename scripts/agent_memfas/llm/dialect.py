"""How a server wants to be asked, where servers differ: found out by what it refuses."""

from __future__ import annotations

from typing import Any

from agent_memfas.llm.base import Question
from agent_memfas.remote.waiting import Refused

REFUSALS = (400, 422)
FORMS = ("json_schema", "json_object", "")  # of saying that JSON is wanted, the strictest first


class Dialect:
    """The body of a request. It begins with what most servers take; `adapt` steps back from what
    one of them refuses, for all requests that follow.
    """

    def __init__(self, model: str, max_tokens: int, temperature: float) -> None:
        self._model, self._max_tokens, self._temperature = model, max_tokens, temperature
        self._forms = list(FORMS)
        self._limit = "max_tokens"
        self._with_temperature = True
        self._asked_json = False

    def body(self, question: Question) -> dict[str, Any]:
        """The request for a question, as this server wants it."""
        made: dict[str, Any] = {
            "model": self._model,
            "messages": [{"role": role, "content": text} for role, text in question.messages],
            self._limit: self._max_tokens,
        }
        if self._with_temperature:
            made["temperature"] = self._temperature
        self._asked_json = question.schema is not None
        if self._asked_json and self._forms[0]:
            made["response_format"] = {"type": self._forms[0]}
            if self._forms[0] == "json_schema":
                told = {"name": "answer", "schema": question.schema, "strict": True}
                made["response_format"]["json_schema"] = told
        return made

    def adapt(self, refusal: Refused) -> bool:
        """Step back from what was refused. False where there is nothing left, or it was refused for
        another reason.
        """
        said = refusal.said.lower()
        if refusal.status not in REFUSALS or self.is_too_long(refusal):
            return False
        if "max_completion_tokens" in said and self._limit == "max_tokens":
            self._limit = "max_completion_tokens"
        elif "temperature" in said and self._with_temperature:
            self._with_temperature = False
        elif self._asked_json and len(self._forms) > 1:
            self._forms.pop(0)
        else:
            return False
        return True

    @staticmethod
    def is_too_long(refusal: Refused) -> bool:
        """Whether a prompt was refused because it is longer than the model's window."""
        said = refusal.said.lower()
        long = "context length" in said or "context window" in said or "context size" in said
        return refusal.status == 413 or (refusal.status in REFUSALS and long)
