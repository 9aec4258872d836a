"""A language model behind a server that answers chat completions as OpenAI does."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from agent_memfas.errors import ConfigError, MemfasError
from agent_memfas.llm.base import Call, LanguageModel, Limits, Prompt, Question, Tally, questioned
from agent_memfas.llm.choice import Target
from agent_memfas.llm.dialect import Dialect
from agent_memfas.llm.redaction import redact
from agent_memfas.llm.replies import Completion, clean_reply, read_completion
from agent_memfas.remote import faults
from agent_memfas.remote.answers import BadAnswer
from agent_memfas.remote.endpoint import Endpoint
from agent_memfas.remote.waiting import Deadline, Refused, Unreachable, insist
from agent_memfas.text.lines import safe, shorten
from agent_memfas.text.tokens import estimate

MOST = 4 * 1024 * 1024  # bytes of an answer: a hundred times what a long one has
LONGEST_PAUSE = 30.0  # seconds that a server may ask to wait
FILTERED = {"content_filter", "safety", "sensitive"}


class ChatModel(LanguageModel):
    """A model of a server. Prompts go to the address of the target and nowhere else.

    name: as in the settings. limits: `limits.seconds` hold for a question with all its tries,
    whatever the server does. key: one that is at hand, "" for that of the target's variable.
    ConfigError where the target has no address.
    """

    def __init__(
        self,
        name: str,
        target: Target,
        limits: Limits,
        temperature: float,
        tell: Callable[[Call], None],
        key: str = "",
    ) -> None:
        super().__init__(name, limits, tell)
        self._target = target
        self._server = faults.Server(target.url, target.model, faults.WORDS)
        self._endpoint = Endpoint(target.url, target.key, self._server, MOST, key)
        self._dialect = Dialect(target.model, limits.max_tokens, temperature)

    @property
    def where(self) -> str:
        """The address that prompts go to, without anything secret."""
        return redact(f"{self._server.where}/chat/completions").text

    def payload(self, prompt: Prompt) -> dict[str, Any]:
        """What would be sent: {address, body}."""
        body = self._dialect.body(questioned(prompt))
        return {"address": self.where, "body": {**body, "model": redact(body["model"]).text}}

    def prepare(self) -> None:
        """Load `openai`, which takes a second. ConfigError where there is no key."""
        self._endpoint.open()

    def close(self) -> None:
        """Let go of the connections; the next question makes new ones."""
        self._endpoint.close()

    def answer(self, question: Question, deadline: Deadline, tally: Tally) -> str:
        """The text of the model's message. Errors as `ask`; BadReply where it is empty."""
        try:
            found = self._insist(question, deadline, tally)
        except Refused as refusal:
            tally.outcome = f"status {refusal.status}"
            raise self._refused(refusal) from None
        except Unreachable as error:
            tally.outcome = "timeout" if error.why.startswith("nothing came") else "unreachable"
            raise faults.unreachable(self._server, error) from None
        except BadAnswer as error:
            tally.outcome = "bad answer"
            raise faults.bad_answer(self._server, error) from None
        sent, got = found.prompt_tokens, found.completion_tokens
        tally.prompt_tokens = question.tokens if sent is None else sent
        tally.completion_tokens = estimate(found.text) if got is None else got
        self._check(found, tally)
        tally.outcome = "invalid"
        return clean_reply(found.text, as_json=question.schema is not None)

    def _insist(self, question: Question, deadline: Deadline, tally: Tally) -> Completion:
        """Ask until there is an answer, in the form of it that this server takes."""
        while True:
            body = self._dialect.body(question)

            def ask(seconds: float, body: dict[str, Any] = body) -> Completion:
                tally.tries += 1
                page = self._endpoint.chat(body, seconds)
                return read_completion(page, self._endpoint.key)

            try:
                return insist(ask, deadline, self.limits.seconds, LONGEST_PAUSE)
            except Refused as refusal:
                if not deadline.left or not self._dialect.adapt(refusal):
                    raise

    def _check(self, found: Completion, tally: Tally) -> None:
        """MemfasError for an answer that is none to be used, whatever its text says."""
        if found.ended in ("length", "max_tokens"):
            tally.outcome = "cut off"
            raise MemfasError(
                f"{self.name}: the answer was cut off at {self.max_tokens} tokens",
                "llm.max_tokens: more (thoughts of a model count, too)",
            )
        if found.ended in FILTERED:
            tally.outcome = "filtered"
            raise MemfasError(
                f"{self.name}: the server's filter of contents held the answer back",
                "name another model in llm.model",
            )
        if found.declined.strip():
            tally.outcome = "declined"
            words = shorten(safe(redact(found.declined[:400]).text))
            raise MemfasError(
                f"{self.name} declines to answer: {words}", "name another model in llm.model"
            )

    def _refused(self, refusal: Refused) -> MemfasError:
        told = faults.told(self._server, refusal)
        if self._dialect.is_too_long(refusal):
            return MemfasError(told, "llm.window: as many tokens as the model takes")
        if refusal.status in (404, 405) and self._target.model != self.name:
            return ConfigError(
                told,
                f"is there a model {self._target.model}? (where its name itself begins so: "
                f"{self.name.partition('/')[0]}/{self.name}) llm.base_url mostly ends in /v1",
            )
        return faults.refused(self._server, refusal, self._target.key)
