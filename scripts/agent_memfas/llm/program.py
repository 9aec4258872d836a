"""A program as a language model: the prompt on its standard input, the answer on its output."""

from __future__ import annotations

import shlex
from collections.abc import Callable
from typing import Any

from agent_memfas.errors import ConfigError, MemfasError, TryAgain
from agent_memfas.llm.base import Call, LanguageModel, Limits, Prompt, Question, Tally, questioned
from agent_memfas.llm.redaction import redact
from agent_memfas.llm.replies import clean_reply
from agent_memfas.llm.running import Ended, TooLate, TooMuch, run
from agent_memfas.remote.waiting import Deadline
from agent_memfas.text.lines import safe, shorten
from agent_memfas.text.tokens import estimate

MOST = 4 * 1024 * 1024  # bytes of an answer
SETTING = "llm.command"


class ProgramModel(LanguageModel):
    """A program and its arguments, run in the current folder, by no shell. ConfigError where the
    command cannot be read.
    """

    def __init__(
        self, name: str, command: str, limits: Limits, tell: Callable[[Call], None]
    ) -> None:
        try:
            self._arguments = shlex.split(command)
        except ValueError as error:
            raise ConfigError(f"{SETTING} cannot be read: {error}", "close the quotes") from None
        if not self._arguments or not self._arguments[0] or "\0" in command:
            raise ConfigError(f"{SETTING} names no program", "such as: claude -p")
        super().__init__(name or self._arguments[0].rpartition("/")[2], limits, tell)

    def payload(self, prompt: Prompt) -> dict[str, Any]:
        """What would be given to it: {command, input}."""
        command = redact(shlex.join(self._arguments)).text
        return {"command": command, "input": _text(questioned(prompt))}

    def answer(self, question: Question, deadline: Deadline, tally: Tally) -> str:
        """What it prints. Errors as `ask`; BadReply where that is empty."""
        text = _text(question)
        tally.tries += 1
        tally.prompt_tokens = estimate(text)
        try:
            ended = run(self._arguments, text.encode(), deadline, MOST)
        except OSError as error:
            tally.outcome = "not started"
            raise ConfigError(
                f"{self.name}: {error.strerror or error}", f"{SETTING} names a program on the PATH"
            ) from None
        except TooLate:
            tally.outcome = "timeout"
            raise TryAgain(
                f"{self.name}: not done after {self.limits.seconds:.3g} seconds",
                "llm.timeout: more seconds",
            ) from None
        except TooMuch:
            tally.outcome = "bad answer"
            raise MemfasError(
                f"{self.name}: more than {MOST >> 20} MB of output", f"is {SETTING} what you mean?"
            ) from None
        return self._read(ended, tally, as_json=question.schema is not None)

    def _read(self, ended: Ended, tally: Tally, *, as_json: bool) -> str:
        if ended.status:
            tally.outcome = f"status {ended.status}"
            line = shorten(safe(redact(ended.last_words).text))
            how = f"ended with status {ended.status}" if ended.status > 0 else (
                f"was ended by signal {-ended.status}")  # fmt: skip
            raise MemfasError(
                f"{self.name} {how}{f': {line}' if line else ''}", f"run it by hand: see {SETTING}"
            )
        text = ended.output.decode("utf-8", "replace")
        tally.completion_tokens = estimate(text)
        tally.outcome = "invalid"
        return clean_reply(text, as_json=as_json)


def _text(question: Question) -> str:
    """The messages one after the other, as one text."""
    return "\n\n".join(text for _, text in question.messages) + "\n"
