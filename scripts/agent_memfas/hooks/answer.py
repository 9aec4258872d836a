"""What a host is answered: one JSON object, or nothing at all."""

from __future__ import annotations

import json

from agent_memfas.hooks.event import PROMPT, START

MOST = {"claude-code": 9_000, "codex": 8_000}  # characters of all that is printed
USUAL = "claude-code"


def answer(name: str, text: str, host: str = USUAL) -> str:
    """The object that puts a text into the context of an event, "" for no text, for an event that
    takes none, and where it would be longer than the host reads (Claude Code cuts at 10,000
    characters, Codex at about 2,500 tokens).
    """
    if not text or name not in (START, PROMPT):
        return ""
    said = {"hookSpecificOutput": {"hookEventName": name, "additionalContext": text}}
    told = json.dumps(said, ensure_ascii=False)
    return told if len(told) <= MOST.get(host, MOST[USUAL]) else ""


def length(text: str) -> int:
    """The characters of a text in such an object."""
    return len(json.dumps(text, ensure_ascii=False))
