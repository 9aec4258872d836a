"""Reading what a server answers to a chat: its text, or why there is none that can be used."""

from __future__ import annotations

import re
from typing import Any

from agent_memfas.llm.base import BadReply
from agent_memfas.remote.answers import BadAnswer, read_json, words_of
from agent_memfas.remote.waiting import Refused
from agent_memfas.text.record import Record

_THOUGHT = re.compile(r"\s*<(think|thinking|thought|reasoning)>.*?</\1>\s*", re.DOTALL)
_UNENDED = re.compile(r"\s*<(?:think|thinking|thought|reasoning)>")
_ENDED = re.compile(r"</(?:think|thinking|thought|reasoning)>\s*")
_FENCE = re.compile(
    r"\s*(?P<fence>```+|~~~+)[ \t]*(?P<kind>[\w+-]*)[ \t]*\r?\n(?P<body>.*?)\r?\n?(?P=fence)\s*",
    re.DOTALL,
)
_OBJECT = re.compile(r"\{\s*[\"}].*\}|\{\}", re.DOTALL)  # not a word in braces
_KINDS = ("", "json", "markdown", "md", "text", "txt", "plaintext")
# MiniMax says with status 200 what others say with one of their own.
_STATUSES = {1002: 429, 1004: 401, 1008: 429, 1039: 429, 2013: 400, 2049: 401}
_NO_CREDIT = 1008


class Completion(Record):
    """text: as it came. prompt_tokens, completion_tokens: the server's count, None where it gives
    none. ended: `stop`, `length`, `filter` or whatever the server says. declined: in which words
    the model refused, "" where it did not.
    """

    text: str
    prompt_tokens: int | None
    completion_tokens: int | None
    ended: str
    declined: str


def read_completion(page: bytes, secret: str = "") -> Completion:
    """A chat completion. BadAnswer where it is none; Refused for an error that is sent as success.

    secret: is not repeated, though servers do.
    """
    answer = read_json(page)
    fields = answer if isinstance(answer, dict) else {}
    choices = fields.get("choices")
    first = choices[0] if isinstance(choices, list) and choices else None
    message = first.get("message") if isinstance(first, dict) else None
    if not isinstance(first, dict) or not isinstance(message, dict):
        _raise_refusal(fields, secret)
        words = words_of(page, secret)
        raise BadAnswer(f"has no reply: {words}" if words else "has no reply")
    usage = fields.get("usage")
    counts = usage if isinstance(usage, dict) else {}
    text = _text(message.get("content"))
    if not text.strip() and (message.get("tool_calls") or message.get("function_call")):
        raise BadAnswer("is the call of a tool, not text")
    return Completion(
        text, _count(counts.get("prompt_tokens")), _count(counts.get("completion_tokens")),
        str(first.get("finish_reason") or "stop"), _text(message.get("refusal")),
    )  # fmt: skip


def clean_reply(text: str, *, as_json: bool) -> str:
    """The text of a reply without what models put around it: thoughts before it, a code fence.

    as_json: whether an object is awaited, which may stand in the midst of words. BadReply where
    nothing is left.
    """
    text = _without_thoughts(text.encode("utf-8", "replace").decode().lstrip("\ufeff"))
    if as_json and not text.lstrip().startswith(("{", "[")):
        found, object_ = _FENCE.search(text), _OBJECT.search(text)
        if found:
            text = found["body"]
        elif object_:
            text = object_[0]
    else:
        whole = _FENCE.fullmatch(text)
        if whole and whole["kind"].lower() in _KINDS and whole["fence"] not in whole["body"]:
            text = whole["body"]
    if not text.strip():
        raise BadReply("was empty")
    return text.strip()


def _without_thoughts(text: str) -> str:
    """Some templates leave out where thinking begins, and then only its end tells."""
    at = 0
    while thought := _THOUGHT.match(text, at):
        at = thought.end()
    if at == 0 and _UNENDED.match(text):
        raise BadReply("held only thoughts")
    if at == 0 and not text.lstrip().startswith(("{", "[", "`")):
        ended = _ENDED.search(text)
        at = ended.end() if ended else 0
    return text[at:]


def _text(content: Any) -> str:
    """The text of a message, which may come in parts."""
    if isinstance(content, list):
        parts = (part.get("text") for part in content if isinstance(part, dict))
        return "".join(part for part in parts if isinstance(part, str))
    return content if isinstance(content, str) else ""


def _count(value: Any) -> int | None:
    return value if type(value) is int and 0 <= value < 10**9 else None


def _raise_refusal(fields: dict[str, Any], secret: str) -> None:
    """Raise what the body of an answer tells, as if it had come with a status of its own."""
    error, base = fields.get("error"), fields.get("base_resp")
    if isinstance(error, dict) and type(error.get("code")) is int and 400 <= error["code"] < 600:
        said = error.get("message")
        raise Refused(error["code"], _line(said, secret))
    if isinstance(base, dict) and (status := _STATUSES.get(base.get("status_code", 0))):
        said, final = base.get("status_msg"), base.get("status_code") == _NO_CREDIT
        raise Refused(status, _line(said, secret), final=final)


def _line(said: Any, secret: str) -> str:
    text = said if isinstance(said, str) else ""
    return words_of(text.encode("utf-8", "replace"), secret)
