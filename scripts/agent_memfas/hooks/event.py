"""What a host tells a hook on standard input: Claude Code's and Codex' JSON, whatever is in it."""

from __future__ import annotations

import json

from agent_memfas.text.record import Record

START, PROMPT, COMPACT = "SessionStart", "UserPromptSubmit", "PreCompact"
STOP, END = "Stop", "SessionEnd"
EVENTS = (START, PROMPT, COMPACT, STOP, END)
LARGEST = 8 * 1024 * 1024  # bytes of an input that are read
TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


class Event(Record):
    """name: one of EVENTS. session: its id. cwd: where the host works, "" where it does not say.
    turn: what the host calls this turn, "" for nothing. prompt: what the user typed. source: why a
    session starts; reason: why it ends; trigger: of a compaction. transcript: the path of its file.
    said: the last answer. again: whether the host goes on because of a stop hook. inner: whether a
    sub-agent is meant.
    """

    name: str
    session: str = ""
    cwd: str = ""
    turn: str = ""
    prompt: str = ""
    source: str = ""
    reason: str = ""
    trigger: str = ""
    transcript: str = ""
    said: str = ""
    again: bool = False
    inner: bool = False


def name_of(given: str) -> str:
    """The event that is meant: `session-start`, `SessionStart`; "" for none."""
    plain = given.replace("-", "").replace("_", "").casefold()
    return next((name for name in EVENTS if name.casefold() == plain), "")


def read_event(name: str, data: bytes) -> Event | None:
    """The event in an input; None where the input is none, or is of another event."""
    try:
        found = json.loads(data.decode("utf-8", "replace"))
    except (ValueError, RecursionError):
        return None
    if not isinstance(found, dict) or name_of(_text(found, "hook_event_name") or name) != name:
        return None
    return Event(
        name, _text(found, "session_id"), _text(found, "cwd"),
        _text(found, "prompt_id") or _text(found, "turn_id"), _text(found, "prompt"),
        _text(found, "source"), _text(found, "reason"), _text(found, "trigger"),
        _text(found, "transcript_path"), _text(found, "last_assistant_message"),
        found.get("stop_hook_active") is True, bool(found.get("agent_id")),
    )  # fmt: skip


def _text(found: dict[str, Any], name: str) -> str:
    """A text without what no file and no host can hold."""
    value = found.get(name)
    if not isinstance(value, str):
        return ""
    return value.replace("\0", "").encode("utf-8", "replace").decode("utf-8")
