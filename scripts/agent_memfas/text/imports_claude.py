"""Sessions of Claude Code: what the user and the assistant said, and nothing else.

A line a message, in a form of its own that may change: only lines that say `user` or `assistant`
count. Not conversation: side chains, results of tools, thoughts, summaries of a compaction, what
commands print, reminders of the host, memory that was recalled.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping

from agent_memfas.text.imports import SPOKEN, Said, digest, source, text_of
from agent_memfas.text.moments import moment
from agent_memfas.text.recalled import MEMORY, without_recalled

KIND = "claude-code"
_NOT_SAID = ("isSidechain", "isMeta", "isCompactSummary", "isApiErrorMessage")
_OF_HOST = (*MEMORY, "system-reminder", "local-command-stdout", "local-command-stderr",
            "local-command-caveat", "command-message", "command-name", "command-args",
            "bash-stdout", "bash-stderr", "task-notification", "user-prompt-submit-hook",
            "ide_opened_file", "ide_selection")  # fmt: skip
_INTERRUPTED = re.compile(r"\[Request interrupted by user[^\]\n]*\]")


def messages(rows: Iterable[object]) -> Iterator[Said]:
    """The messages of a session, in the order of its file. rows: its lines as JSON values."""
    for row in rows:
        if isinstance(row, Mapping) and (said := _said(row)):
            yield said


def _said(row: Mapping[str, object]) -> Said | None:
    message = row.get("message")
    if row.get("type") not in SPOKEN or not isinstance(message, Mapping):
        return None
    role = str(message.get("role"))
    if role not in SPOKEN or any(row.get(name) is True for name in _NOT_SAID):
        return None
    text = without_recalled(text_of(message.get("content")), _OF_HOST).strip()
    if not text or _INTERRUPTED.fullmatch(text):
        return None
    name = str(row.get("uuid") or digest(role, str(row.get("timestamp")), text))
    place = source(KIND, str(row.get("sessionId") or "session"), name)
    return Said(role, text, place, moment(row.get("timestamp")))
