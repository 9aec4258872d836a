"""The work buffer, SESSION-STATE.md, from a conversation: task, state, what to confirm, decisions,
files, open items; each line with the message it comes from.

Lines of ours stand behind the heading of their section, between two marks. Whatever else the file
holds stays byte for byte.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from agent_memfas.text.cues import WEAK, cue_of
from agent_memfas.text.lines import safe
from agent_memfas.text.messages import ASSISTANT, MESSAGE, SYSTEM, USER, Message
from agent_memfas.text.named_files import files_in, says_changed
from agent_memfas.text.secrets import mask
from agent_memfas.text.section_names import DECISIONS, OPEN_ITEMS
from agent_memfas.text.statements import beginning, sentences_of
from agent_memfas.text.tokens import estimate

SECTIONS = ("Current task", "State", "To confirm", "Decisions", "Files", "Open items")
TASK, STATE, CONFIRM, DECIDED, FILES, OPEN = SECTIONS
MOST = {TASK: 2, STATE: 3, CONFIRM: 3, DECIDED: 6, FILES: 8, OPEN: 5}
TOKENS = 400  # of all lines
LONGEST = 240  # characters of a line
RECENT = 12  # messages whose questions are still open, likely
BEGIN, END = "<!-- memfas: from the last compaction -->", "<!-- /memfas -->"
_BLOCK = re.compile(
    rb"^<!-- memfas: from the last compaction -->\r?\n(?:(?!<!-- /memfas -->).*\n)*?"
    rb"<!-- /memfas -->\r?\n?", re.MULTILINE,
)  # fmt: skip
_HEADING = re.compile(rb"^(#{2,6})[ \t]+(.*?)[ \t#]*\r?$")
_FENCE = re.compile(rb"^ {0,3}(`{3,}|~{3,})")
_ASKS_BACK = re.compile(
    r"\b(?:should i|shall i|do you want|would you like|is (?:that|this) (?:ok|okay|right|correct)"
    r"|can you confirm|please confirm|which (?:one|of)|assum(?:e|ing|ed|ption)"
    r"|soll ich|möchtest du|stimmt das)\b|请确认|是否|要不要|假设",
    re.IGNORECASE,
)
_WRITES = re.compile(
    r"^(?:\w*(?:write|edit|create|patch|update|str_replace|apply)\w*)\(", re.IGNORECASE
)


def state_of(messages: Sequence[Message]) -> dict[str, list[str]]:
    """The lines of each section, the newest first, without bullets; at most about 400 tokens."""
    said = [(n, m) for n, m in enumerate(messages, 1) if m.kind == MESSAGE and m.role not in SYSTEM]
    found = {
        TASK: _task(said), STATE: _state(said), CONFIRM: _to_confirm(said),
        DECIDED: list(_cued(said, DECISIONS)), FILES: list(_files(said)),
        OPEN: list(_cued(said, OPEN_ITEMS)),
    }  # fmt: skip
    room = TOKENS
    for section in SECTIONS:
        kept = list[str]()
        for line in dict.fromkeys(found[section]):
            cost = estimate(line) + 2
            if len(kept) < MOST[section] and (cost <= room or not kept):
                kept.append(line)
                room -= cost
        found[section] = kept
    return found


Numbered = Sequence[tuple[int, Message]]


def _line(n: int, text: str) -> str:
    told = beginning(safe(mask(" ".join(text.split()))), LONGEST).strip()
    return f"{told} (message {n})"


def _task(said: Numbered) -> list[str]:
    """What was asked last, and what was asked first."""
    turns = [(n, m) for n, m in said if m.is_turn and m.text.strip()]
    return [_line(n, m.text) for n, m in [*turns[-1:], *turns[:1]]]


def _state(said: Numbered) -> list[str]:
    """What the agent said last, by its first and last sentences, and what it did last."""
    spoken = [(n, m) for n, m in said if m.role == ASSISTANT and _prose(m)]
    found = []
    for n, message in reversed(spoken[-2:]):
        sentences = [one for one in sentences_of(_prose(message)) if any(map(str.isalnum, one))]
        found.append(_line(n, " ".join(dict.fromkeys((*sentences[:1], *sentences[-1:])))))
    done = [(n, m) for n, m in said if m.calls]
    return [*found, *(_line(n, f"ran {m.text.splitlines()[-1]}") for n, m in done[-1:])]


def _prose(message: Message) -> str:
    """What a message says beside its calls."""
    lines = message.text.split("\n")
    return "\n".join(lines[: len(lines) - len(message.calls)] if message.calls else lines).strip()


def _to_confirm(said: Numbered) -> list[str]:
    """What the agent asked or assumed of late, the newest first."""
    found = []
    for n, message in reversed(said[-RECENT:]):
        if message.role == ASSISTANT:
            found += [
                _line(n, one) for one in sentences_of(_prose(message))
                if _ASKS_BACK.search(one) and len(one) <= LONGEST
            ]  # fmt: skip
    return found


def _cued(said: Numbered, section: str) -> Iterator[str]:
    """Sentences that are of a section by their words, the newest first."""
    for n, message in reversed(said):
        if message.role not in (USER, ASSISTANT) or message.results:
            continue
        for sentence in sentences_of(_prose(message)):
            cue = cue_of(sentence, talk=message.role == USER)
            if cue is not None and cue.section == section and cue.strength > WEAK:
                yield _line(n, sentence)


def _files(said: Numbered) -> Iterator[str]:
    """Files that were written, the newest first, then those that were only named."""
    written, named = dict[str, int](), dict[str, int]()
    for n, message in reversed(said):
        changes = any(_WRITES.match(line) for line in message.text.split("\n")) if (
            message.calls) else says_changed(message.text)  # fmt: skip
        for one in files_in(message.text[: 20 * LONGEST]):
            (written if changes else named).setdefault(one.name, n)
    for name, n in written.items():
        yield f"{safe(name)} changed (message {n})"
    for name, n in named.items():
        if name not in written:
            yield f"{safe(name)} (message {n})"


def without_block(data: bytes) -> bytes:
    """A work buffer without lines of ours."""
    return _BLOCK.sub(b"", data)


def with_state(data: bytes, state: Mapping[str, Sequence[str]]) -> bytes:
    """A work buffer with these lines in place of those that an earlier compaction left. Sections
    that it has not come at its end.
    """
    bare = without_block(data)
    end = b"\r\n" if b"\r\n" in bare else b"\n"
    lines = bare.splitlines(keepends=True) if b"\r" not in bare.replace(b"\r\n", b"") else (
        [one + b"\n" for one in bare.split(b"\n")]
    )  # fmt: skip
    places = _headings(lines)
    there = [(places[name.casefold()], name) for name in SECTIONS if name.casefold() in places]
    for at, section in sorted(there, reverse=True):
        if state.get(section):
            lines[at] = lines[at].rstrip(b"\r\n") + end
            lines.insert(at + 1, _block(state[section], end))
    text = b"".join(lines)
    for section in SECTIONS:
        if section.casefold() not in places and state.get(section):
            joint = end if text.endswith(b"\n") or not text else end + end
            text += joint + f"## {section}".encode() + end + _block(state[section], end)
    return text


def _block(told: Sequence[str], end: bytes) -> bytes:
    lines = [BEGIN, *(f"- {line}" for line in told), END]
    return b"".join(line.encode("utf-8", "replace") + end for line in lines)


def _headings(lines: Sequence[bytes]) -> dict[str, int]:
    """Where each heading stands, by its words, folded; the first of several. Not in fences."""
    found, fence = dict[str, int](), b""
    for n, line in enumerate(lines):
        if mark := _FENCE.match(line):
            if not fence:
                fence = mark[1][:3]
            elif mark[1].startswith(fence):
                fence = b""
        elif not fence and (match := _HEADING.match(line.rstrip(b"\r\n"))):
            found.setdefault(match[2].decode("utf-8", "replace").strip().casefold(), n)
    return found
