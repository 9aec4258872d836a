"""Transcripts of conversations: the messages in a file, and the file again with other messages.

Forms: a JSON array of messages; an object with `messages` (a request to OpenAI or Anthropic); JSON
lines with a message each; the session files of Claude Code, whose lines hold a message and more,
and hang together by uuid. What is not changed stays byte for byte, whatever it is.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from hashlib import blake2b
from typing import Any

from agent_memfas.errors import UsageError
from agent_memfas.text.documents import BOM
from agent_memfas.text.record import Record

ARRAY, REQUEST, LINES, CLAUDE_CODE = "array", "request", "lines", "claude-code"
_BLANK = re.compile(r"[ \t\r\n]*")
_SPOKEN = ("user", "assistant")


class Transcript(Record):
    """form: one of the four. messages: as an agent would have them, those of Claude Code with the
    time of their line. system: of an Anthropic request, as text. session: its id, if it says so.
    pieces: what the file is made of; places: by message, its piece. notes: what could not be read.
    """

    form: str
    messages: tuple[dict[str, Any], ...]
    pieces: tuple[bytes, ...]
    places: tuple[int, ...]
    session: str = ""
    system: str = ""
    notes: tuple[str, ...] = ()
    frame: tuple[bytes, bytes] = (b"", b"")


def read_transcript(data: bytes) -> Transcript:
    """A transcript from the bytes of its file. UsageError where it is none."""
    bare = data.removeprefix(BOM)
    try:
        text = bare.decode("utf-8")
    except UnicodeDecodeError:
        return _lines(data)
    start = text.lstrip()[:1]
    if start == "[" or (start == "{" and not _is_lines(text)):
        try:
            return _document(data, text)
        except (ValueError, RecursionError) as error:
            raise UsageError(f"not a transcript: {error}", _FORMS) from error
    return _lines(data)


_FORMS = "a JSON array of messages, an object with messages, or a message a line"


def _is_lines(text: str) -> bool:
    """Whether the first line that is not blank is an object by itself, and no request."""
    line = next((one for one in text.split("\n") if one.strip()), "")
    try:
        value = json.loads(line)
    except (ValueError, RecursionError):
        return False
    return isinstance(value, dict) and not isinstance(value.get("messages"), list)


def _document(data: bytes, text: str) -> Transcript:
    head = data[: len(data) - len(text.encode())]
    at = _skip(text, 0)
    system = ""
    if text[at] == "{":
        found = {key: (begin, end) for key, begin, end in _members(text, at)}
        if "messages" not in found:
            raise ValueError("the object has no messages")
        if "system" in found:
            begin, end = found["system"]
            system = _system_text(json.loads(text[begin:end]))
        at = found["messages"][0]
        form = REQUEST
    else:
        form = ARRAY
    if text[at] != "[":
        raise ValueError("messages is no list")
    spans, end = _elements(text, at)
    values = [json.loads(text[a:b]) for _, a, b in spans]
    if not all(isinstance(value, dict) for value in values):
        raise ValueError("a message is no object")
    pieces = tuple(text[before:b].encode() for before, _, b in spans)
    frame = (head + text[: at + 1].encode(), text[end:].encode())
    numbers = tuple(range(len(values)))
    return Transcript(form, tuple(values), pieces, numbers, "", system, (), frame)


def _system_text(system: object) -> str:
    if isinstance(system, list):
        return "\n".join(str(one.get("text", "")) for one in system if isinstance(one, Mapping))
    return system if isinstance(system, str) else ""


def _members(text: str, at: int) -> Iterator[tuple[str, int, int]]:
    """(key, begin, end) of each value of the object that begins there."""
    decoder = json.JSONDecoder()
    at = _skip(text, at + 1)
    while text[at : at + 1] != "}":
        key, at = decoder.raw_decode(text, at)
        at = _skip(text, at)
        if text[at : at + 1] != ":" or not isinstance(key, str):
            raise ValueError(f"no value at character {at}")
        begin = _skip(text, at + 1)
        _, end = decoder.raw_decode(text, begin)
        yield key, begin, end
        at = _skip(text, end)
        if text[at : at + 1] == ",":
            at = _skip(text, at + 1)
        elif text[at : at + 1] != "}":
            raise ValueError(f"no comma at character {at}")


def _elements(text: str, at: int) -> tuple[list[tuple[int, int, int]], int]:
    """(where the blanks before it begin, begin, end) of each element of a list; where the blanks
    before its end begin.
    """
    decoder = json.JSONDecoder()
    found, before = list[tuple[int, int, int]](), at + 1
    at = _skip(text, before)
    if text[at : at + 1] == "]":
        return [], before
    while True:
        _, end = decoder.raw_decode(text, at)
        found.append((before, at, end))
        at = _skip(text, end)
        if text[at : at + 1] == "]":
            return found, end
        if text[at : at + 1] != ",":
            raise ValueError(f"no comma at character {at}")
        before = at + 1
        at = _skip(text, before)


def _skip(text: str, at: int) -> int:
    match = _BLANK.match(text, at)
    return match.end() if match else at


def _lines(data: bytes) -> Transcript:
    messages, places, notes = list[dict[str, Any]](), list[int](), list[str]()
    form, session = LINES, ""
    for n, line in enumerate(_split(data)):
        value = _parsed(line.removeprefix(BOM))
        if value is None:
            if line.strip():
                notes.append(f"line {n + 1} is no JSON object; it is left as it is")
            continue
        if "message" in value and "uuid" in value:
            form = CLAUDE_CODE
            session = session or str(value.get("sessionId") or "")
        message = _message_of(value)
        if message is not None:
            messages.append(message)
            places.append(n)
    pieces = tuple(_split(data))
    if not messages and any(piece.strip() for piece in pieces):
        raise UsageError("not a transcript: no line of it is a message", _FORMS)
    return Transcript(form, tuple(messages), pieces, tuple(places), session, "", tuple(notes))


def _split(data: bytes) -> list[bytes]:
    """Lines with their ends; only a line feed ends one."""
    lines = data.split(b"\n")
    last = lines.pop()
    return [*(line + b"\n" for line in lines), *([last] if last else [])]


def _parsed(line: bytes) -> dict[str, Any] | None:
    try:
        value = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def _message_of(value: dict[str, Any]) -> dict[str, Any] | None:
    """The message in a line: the line itself, or what a line of Claude Code holds. Side chains are
    other conversations, and other lines no messages.
    """
    if isinstance(value.get("role"), str):
        return value
    inner = value.get("message")
    if value.get("type") not in _SPOKEN or value.get("isSidechain") is True:
        return None
    if not isinstance(inner, dict) or not isinstance(inner.get("role"), str):
        return None
    stamp = value.get("timestamp")
    return {**inner, "timestamp": stamp} if isinstance(stamp, str) else dict(inner)


def write_transcript(
    transcript: Transcript, kept: Sequence[tuple[int | None, Mapping[str, Any]]]
) -> bytes:
    """The file with these messages: (position in `messages`, message), in order; None for a message
    that is new. One that is the same object is written as it was.
    """
    if transcript.form in (ARRAY, REQUEST):
        return _written_document(transcript, kept)
    return _written_lines(transcript, kept)


def _written_document(
    transcript: Transcript, kept: Sequence[tuple[int | None, Mapping[str, Any]]]
) -> bytes:
    first = transcript.pieces[0] if transcript.pieces else b""
    blanks = first[: len(first) - len(first.lstrip())]
    parts = [
        transcript.pieces[n] if n is not None and message is transcript.messages[n]
        else blanks + json.dumps(message, ensure_ascii=False).encode("utf-8", "surrogatepass")
        for n, message in kept
    ]  # fmt: skip
    begin, end = transcript.frame
    return begin + b",".join(parts) + end


def _written_lines(
    transcript: Transcript, kept: Sequence[tuple[int | None, Mapping[str, Any]]]
) -> bytes:
    writing = _Lines(transcript)
    at = 0
    for n, message in kept:
        if n is None:  # where the next message was, behind what stands before it
            here = next((p for p in transcript.places if p >= at), len(transcript.pieces))
            writing.pass_to(at, here)
            at = here
            writing.add_new(message)
            continue
        place = transcript.places[n]
        writing.pass_to(at, place)
        writing.add(n, message)
        at = place + 1
    writing.pass_to(at, len(transcript.pieces))
    return b"".join(writing.lines)


class _Lines:
    """Lines being written. Those that hold no message of ours stay; a line whose parent left hangs
    on the nearest one that stays.
    """

    def __init__(self, transcript: Transcript) -> None:
        self._transcript = transcript
        self._spoken = set(transcript.places)
        self._moved = dict[str, str | None]()  # uuid that left -> where its children hang now
        self._last: str | None = None
        self._instead = dict[str | None, str]()  # of what new messages stand behind
        self.lines = list[bytes]()

    def pass_to(self, start: int, end: int) -> None:
        """The lines from `start` up to `end`: messages among them leave, all others stay."""
        for n in range(start, end):
            line = self._transcript.pieces[n]
            value = _parsed(line.removeprefix(BOM)) if self._is_claude else None
            if n in self._spoken:
                if value is not None:
                    self._moved[str(value.get("uuid"))] = self._parent(value)
                continue
            self._put(line, value)

    def add(self, n: int, message: Mapping[str, Any]) -> None:
        """A message that stays, changed or not."""
        line = self._transcript.pieces[self._transcript.places[n]]
        same = message is self._transcript.messages[n]
        value = _parsed(line.removeprefix(BOM))
        if value is None or (same and not self._is_claude):
            self.lines.append(line)
            return
        if not same:
            value = self._changed(value, message)
        self._put(line if same else _as_line(value, line), value)

    def add_new(self, message: Mapping[str, Any]) -> None:
        """A message of ours."""
        if not self._is_claude:
            self.lines.append(_as_line(dict(message), b"\n"))
            return
        parent = self._last
        seed = f"{parent}\0{json.dumps(dict(message))}".encode()
        digest = blake2b(seed, digest_size=16).hexdigest()
        own = "-".join((digest[:8], digest[8:12], digest[12:16], digest[16:20], digest[20:]))
        value = {
            "parentUuid": parent, "isSidechain": False, "type": "user", "isMeta": True,
            "sessionId": self._transcript.session, "message": dict(message), "uuid": own,
        }  # fmt: skip
        self.lines.append(_as_line(value, b"\n"))
        for gone, to in self._moved.items():
            if to == parent:
                self._moved[gone] = own
        self._instead[parent] = own
        self._last = own

    @property
    def _is_claude(self) -> bool:
        return self._transcript.form == CLAUDE_CODE

    def _changed(self, value: dict[str, Any], message: Mapping[str, Any]) -> dict[str, Any]:
        if not self._is_claude or "message" not in value:
            return dict(message)
        stamped = "timestamp" not in value["message"]
        inner = {k: v for k, v in message.items() if not (stamped and k == "timestamp")}
        return {**value, "message": inner}

    def _parent(self, value: Mapping[str, Any]) -> str | None:
        """Where a line hangs now."""
        parent = value.get("parentUuid")
        seen = set[str]()
        while isinstance(parent, str) and parent in self._moved and parent not in seen:
            seen.add(parent)
            parent = self._moved[parent]
        found = parent if isinstance(parent, str) else None
        return self._instead.get(found, found) if seen else found

    def _put(self, line: bytes, value: dict[str, Any] | None) -> None:
        if value is None:
            self.lines.append(line)
            return
        was, parent = value.get("parentUuid"), self._parent(value)
        if isinstance(was, str) and parent != was:
            line = _with_parent(line, was, parent)
        self.lines.append(line)
        if isinstance(value.get("uuid"), str) and value.get("isSidechain") is not True:
            self._last = value["uuid"]


def _with_parent(line: bytes, was: str, parent: str | None) -> bytes:
    """A line that hangs elsewhere; the rest of it as it was."""
    told = json.dumps(was).encode()
    match = re.search(rb'"parentUuid"\s*:\s*' + re.escape(told), line)
    if match is None:
        return line
    new = match[0][: -len(told)] + json.dumps(parent).encode()
    return line[: match.start()] + new + line[match.end() :]


def _as_line(value: Mapping[str, Any], like: bytes) -> bytes:
    """A value as a line, ended as another one is."""
    end = b"\r\n" if like.endswith(b"\r\n") else b"\n" if like.endswith(b"\n") else b""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    return text.encode("utf-8", "surrogatepass") + end
