"""Asking a model to reflect on a log, in parts that fit its window; the log judges the answers."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any

from agent_memfas.errors import ConfigError
from agent_memfas.llm.base import BadReply, LanguageModel, Prompt, questioned
from agent_memfas.llm.redaction import redact
from agent_memfas.text.citations import Citation, Quotable
from agent_memfas.text.insights import Insight
from agent_memfas.text.reflection import (
    LOOKED_AT,
    MOST_INSIGHTS,
    SCHEMA,
    Judged,
    Part,
    for_agent,
    judge,
    parts,
    pasted,
    read_answer,
    rules,
)

LEAST_PART = 200  # tokens of a log that a window must have room for
MARGIN = 100  # tokens for what stands around a part


def new_mark() -> str:
    """A line that no log can hold."""
    return f"===== {os.urandom(12).hex()} ====="


def reflect(model: LanguageModel, lines: Sequence[str], where: Citation, day: str) -> Judged:
    """The insights of a model on lines `where` of a log. lines: all lines of the log.

    MemfasError where the model cannot be asked, or its answers make no sense: then nothing is
    known of any part.
    """
    shown = _redacted(lines)
    log = Quotable(shown)
    kept, dropped = list[Insight](), list[str]()
    for prompt in prompts(model, lines, where, day):
        claims = model.ask(prompt, lambda answer: _claims(answer, where.path))
        judged = judge(claims, where.path, log, where)
        kept += judged.kept
        dropped += judged.dropped
    return Judged(tuple(kept), tuple(dropped))


def prompts(model: LanguageModel, lines: Sequence[str], where: Citation, day: str) -> list[Prompt]:
    """What the model is asked, a prompt for each part. ConfigError where its window is small."""
    mark = new_mark()
    told = rules(mark)
    spent = questioned(Prompt(told, "", SCHEMA)).tokens
    room = model.window - model.max_tokens - spent - MARGIN
    if room < LEAST_PART:
        raise ConfigError(
            f"llm.window of {model.window} tokens leaves no room for a log: llm.max_tokens is "
            f"{model.max_tokens}, the rules take {spent}",
            "make llm.window in memfas.yaml as large as the model's, or llm.max_tokens smaller",
        )
    shown = _redacted(lines)[where.start - 1 : where.end]
    return [
        Prompt(told, pasted(where.path, day, part, mark), SCHEMA)
        for part in parts(shown, where.start, room)
    ]


def prompt_for_agent(lines: Sequence[str], where: Citation, day: str) -> str:
    """The same as one text for an agent, which answers with a file."""
    shown = _redacted(lines)[where.start - 1 : where.end]
    return for_agent(where.path, day, Part(where.start, tuple(shown)), new_mark())


def accepted(answer: str, lines: Sequence[str], where: Citation) -> Judged:
    """The insights of an agent's answer. ValueError says what is wrong with it."""
    claims = _without_secrets(read_answer(answer, where.path))
    return judge(claims, where.path, Quotable(_redacted(lines)), where)


def _claims(answer: str, path: str) -> list[Mapping[str, Any]]:
    try:
        return _without_secrets(read_answer(answer, path))
    except ValueError as error:
        raise BadReply(str(error)) from None


def _without_secrets(claims: list[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """Whoever can read files, as an agent or a program can, has seen the log with its secrets."""
    return [
        {name: redact(value[:LOOKED_AT]).text if isinstance(value, str) else value
         for name, value in claim.items()} if n < MOST_INSIGHTS else claim
        for n, claim in enumerate(claims)
    ]  # fmt: skip


def _redacted(lines: Sequence[str]) -> list[str]:
    """The lines without secrets, as many as before."""
    return redact("\n".join(lines)).text.split("\n")
