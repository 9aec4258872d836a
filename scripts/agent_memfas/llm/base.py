"""What every language model does: a prompt in, a checked value out, once more where it is wrong."""

from __future__ import annotations

import json
import time
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

from agent_memfas.errors import MemfasError
from agent_memfas.llm.redaction import redact, redact_all
from agent_memfas.remote.waiting import Deadline
from agent_memfas.text.lines import safe
from agent_memfas.text.secrets import mask
from agent_memfas.text.tokens import estimate

T = TypeVar("T")
AS_JSON = "Answer with one JSON object that fits this JSON schema, and with nothing else:"


class BadReply(Exception):
    """A reply that cannot be used. str(): what is wrong with it, behind `the answer`."""


@dataclass(frozen=True)
class Prompt:
    """What a model is asked. schema: a JSON schema that the answer has to fit; None for text."""

    system: str
    user: str
    schema: dict[str, Any] | None = None


@dataclass(frozen=True)
class Call:
    """One finished question to a model. Tokens are the server's own count where it gives one, else
    an estimate. cost: None where no price is set. tries: requests that were made. outcome: `ok`,
    `invalid` (it did not fit), or in a word or two why there is no answer.
    """

    model: str
    prompt_tokens: int
    completion_tokens: int
    cost: float | None
    latency_ms: int
    tries: int
    outcome: str


@dataclass(frozen=True)
class Question:
    """Messages, each with its role, with secrets redacted; schema as in `Prompt`."""

    messages: tuple[tuple[str, str], ...]
    schema: dict[str, Any] | None = None

    @property
    def tokens(self) -> int:
        """About as many as all messages cost."""
        return sum(estimate(text) + 4 for _, text in self.messages)


@dataclass
class Tally:
    """What a question has cost so far, filled in by whoever asks it."""

    tries: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    outcome: str = "interrupted"
    started: float = field(default_factory=time.monotonic)


@dataclass(frozen=True)
class Limits:
    """seconds: for a question, all tries together. window: tokens of prompt and answer together.
    prices: of a million tokens of prompts and of answers, None for unknown.
    """

    seconds: float
    window: int
    max_tokens: int
    prices: tuple[float | None, float | None] = (None, None)


class LanguageModel(ABC):
    """A model that can be asked.

    name: as in the settings, without anything secret, fit for one line. window, max_tokens: tokens
    of prompt and answer together, and of an answer. tell: is given each finished question.
    """

    def __init__(self, name: str, limits: Limits, tell: Callable[[Call], None]) -> None:
        self.name = safe(mask(name))
        self.limits = limits
        self._tell = tell

    @property
    def window(self) -> int:
        """Tokens of prompt and answer together."""
        return self.limits.window

    @property
    def max_tokens(self) -> int:
        """Tokens of an answer, at most."""
        return self.limits.max_tokens

    def ask(self, prompt: Prompt, read: Callable[[str], T]) -> T:
        """What `read` makes of the reply; secrets in the prompt are redacted before it is sent.

        read: raises BadReply where the reply is of no use, and the model is told so, once. TryAgain
        where trouble may pass, ConfigError where the settings are at fault, MemfasError otherwise:
        a prompt that is too long, an answer that is cut off, declined or wrong twice.
        """
        question = questioned(prompt)
        self.prepare()
        deadline = Deadline(self.limits.seconds)
        reply: list[str] = []
        try:
            return self._once(question, deadline, read, reply)
        except BadReply as error:
            first = error
        try:
            return self._once(self._corrected(question, reply, first), deadline, read, reply)
        except BadReply as error:
            why = safe(mask(str(error)[:300]))
            raise MemfasError(
                f"{self.name}: the answer {why}", "run it again, or name another one in llm.model"
            ) from None

    @abstractmethod
    def payload(self, prompt: Prompt) -> dict[str, Any]:
        """What `ask` would send first, and where to, with secrets redacted. Sends nothing."""

    @abstractmethod
    def answer(self, question: Question, deadline: Deadline, tally: Tally) -> str:
        """The reply as text. Errors as `ask`; BadReply where there is none in it."""

    def prepare(self) -> None:  # noqa: B027 - most have nothing to make ready
        """Load what takes its time, before the time of the model is counted."""

    def close(self) -> None:  # noqa: B027 - most have nothing to let go of
        """Let go of connections."""

    def __enter__(self) -> LanguageModel:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _once(
        self, question: Question, deadline: Deadline, read: Callable[[str], T], reply: list[str]
    ) -> T:
        self._fits(question)
        tally = Tally()
        try:
            reply[:] = [self.answer(question, deadline, tally)]
            tally.outcome = "invalid"
            found = read(reply[0])
            tally.outcome = "ok"
            return found
        finally:
            if tally.tries:
                self._tell(self._call(tally))

    def _fits(self, question: Question) -> None:
        if question.tokens + self.max_tokens > self.window:
            raise MemfasError(
                f"{self.name}: about {question.tokens} tokens of prompt and {self.max_tokens} kept "
                f"for the answer are more than its window of {self.window}",
                "llm.window is what the model takes, llm.max_tokens the longest answer",
            )

    def _corrected(self, question: Question, reply: list[str], error: BadReply) -> Question:
        """The question with the reply that was no use and why, where both still fit."""
        told = redact(f"Your answer cannot be used: it {error}. Answer once more.").text
        said = redact(reply[0]).text if reply else ""
        asked = question.messages
        again = replace(question, messages=(*asked, ("assistant", said), ("user", told)))
        if said and again.tokens + self.max_tokens <= self.window:
            return again
        role, text = asked[-1]
        short = redact(f"{text}\n\nAn earlier answer could not be used: it {error}.").text
        return replace(question, messages=(*asked[:-1], (role, short)))

    def _call(self, tally: Tally) -> Call:
        into, out = self.limits.prices
        cost = None
        if into is not None or out is not None:
            cost = (tally.prompt_tokens * (into or 0) + tally.completion_tokens * (out or 0)) / 1e6
        spent = round(1000 * (time.monotonic() - tally.started))
        return Call(self.name, tally.prompt_tokens, tally.completion_tokens, cost, spent,
                    tally.tries, tally.outcome)  # fmt: skip


def questioned(prompt: Prompt) -> Question:
    """A prompt as messages, secrets redacted; a schema is told in words as well, for not every
    server heeds it.
    """
    schema = None if prompt.schema is None else redact_all(prompt.schema)
    told = f"\n\n{AS_JSON}\n{json.dumps(schema, ensure_ascii=False)}" if schema is not None else ""
    system, user = redact(prompt.system + told).text, redact(prompt.user).text
    return Question((("system", system), ("user", user)) if system else (("user", user),), schema)
