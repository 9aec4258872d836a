"""Cold storage as markdown: what was taken out of a context window, a block a chunk.

    ## 14:05:31 user, score 0.12

    <!-- cold: {"chunk_id": "chunk_3_1764568800_1f2e3d4c", "session_id": "main", …} -->

    ```text
    what was said, as it was
    ```

The fence is longer than any run of its marks in the text, so that the bytes of a text stand as they
are, whatever they hold; what a fence cannot say (no line end at the end, halves of surrogate pairs)
is in the fields. A message that is more than its role and text has a second fence, `json`, with all
of it. Text is canonical: a hand edit of it is what is read. What stands between blocks is somebody
else's, and passed over.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from datetime import date, datetime
from typing import Any

from agent_memfas.text.lines import safe
from agent_memfas.text.record import Record

LOW_RELEVANCE, SHORTENED, SESSION_END = "low_relevance", "shortened", "session_end"
OVER_LIMIT, REPEATED, ARCHIVED = "over_limit", "repeated", "session_archive"
_HEAD = b"<!-- cold: "
_FENCE = re.compile(rb"(`{3,}|~{3,})(text|json)(!?)")
_MISREAD = re.compile(rb"^(?:<!-- cold: |<{7} |>{7} )", re.MULTILINE)
_EMPTY = re.compile(rb"\s*# Cold storage of [^\n]*\s+<!-- What left the context[^\n]*-->\s*")
_RUN = re.compile(rb"^`+", re.MULTILINE)
_ABOVE = 3  # lines from the heading of a block to its fields, at most
_LONGEST_PROMPT = 500  # characters
_KEPT = (
    "chunk_id",
    "session_id",
    "role",
    "score",
    "prompt",
    "at",
    "until",
    "tokens",
    "reason",
    "said",
)


class ColdBlock(Record):
    """A chunk in cold storage. text: what it said. raw: all of the message as JSON, "" where role
    and text are all of it. score: when it was dropped, under the prompt of that time. at: ISO, when
    it was dropped; until: a day or time, ISO, up to which it is kept. tokens: of the text. reason:
    why it left. said: when it was said, ISO, "" where that is not known. pinned: kept for good.
    path, lines: where it stands, 1-based, with its heading; "" and 0 of one that stands nowhere
    yet.
    """

    chunk_id: str
    session_id: str
    role: str
    text: str
    raw: str = ""
    score: float = 0.0
    prompt: str = ""
    at: str = ""
    until: str = ""
    tokens: int = 0
    reason: str = LOW_RELEVANCE
    said: str = ""
    pinned: bool = False
    path: str = ""
    start_line: int = 0
    end_line: int = 0


class Damage(Record):
    """A block that cannot be read. line: 1-based, of its fields."""

    line: int
    why: str


def header(session: str, day: str) -> bytes:
    """The beginning of a file of cold storage."""
    name = safe(session)[:80]
    return (
        f"# Cold storage of {day}: {name}\n\n<!-- What left the context window; memfas recover "
        '"…" finds it. Blocks go when their time is over, pinned ones stay. -->\n'
    ).encode("utf-8", "replace")


def render(block: ColdBlock) -> bytes:
    """A block as it is written: a blank line, its heading, fields, text."""
    fields: dict[str, Any] = {name: getattr(block, name) for name in _KEPT}
    fields["prompt"] = block.prompt[:_LONGEST_PROMPT]
    fields["score"] = round(block.score, 4)
    if block.pinned:
        fields["pinned"] = True
    told = _told(fields)
    role = safe(block.role)[:40] or "text"
    clock = block.at[11:19] if len(block.at) >= 19 else block.at
    lines = [b"", f"## {clock} {role}, score {block.score:.2f}".encode("utf-8", "replace"), b""]
    lines += [_HEAD + told.encode() + b" -->", b"", *_fenced("text", block.text)]
    if block.raw:
        lines += [b"", *_fenced("json", block.raw)]
    return b"\n".join(lines) + b"\n"


def _fenced(kind: str, text: str) -> list[bytes]:
    """A fence around a text. `!` behind its kind: the text is escaped as JSON, for it holds what
    UTF-8 cannot, or a line that is the head of a block (by such a line it is seen that the block
    before was torn) or a mark of a git conflict (a file with one is never edited).
    """
    data, mark = text.encode("utf-8", "surrogatepass"), ""
    if _MISREAD.search(data) or data.decode("utf-8", "replace") != text:
        data, mark = json.dumps(text).encode(), "!"
    longest = max((len(run) for run in _RUN.findall(data.replace(b"\r", b"\n"))), default=0)
    ticks = "`" * max(3, longest + 1)
    return [f"{ticks}{kind}{mark}".encode(), data, ticks.encode()]


def parse(data: bytes, path: str = "") -> tuple[list[ColdBlock], list[Damage]]:
    """The blocks of a file, in its order, and what of it could not be read."""
    lines = data.split(b"\n")
    found, damages = list[ColdBlock](), list[Damage]()
    for at, end in _spans(lines):
        block = _block(lines, at, end, path)
        (found if isinstance(block, ColdBlock) else damages).append(block)  # type: ignore[arg-type]
    return found, damages


def find_block(data: bytes, chunk_id: str, path: str = "") -> ColdBlock | None:
    """The last block of a file that has that id; no more of the file is read than that block."""
    wanted, end = f'"chunk_id": {_told(chunk_id)}'.encode(), len(data)
    while (found := data.rfind(wanted, 0, end)) >= 0:
        end = found
        start = data.rfind(b"\n", 0, found) + 1
        if not is_head(data[start : start + len(_HEAD)]):
            continue
        behind = data.find(b"\n" + _HEAD, found)
        begin = start
        for _ in range(_ABOVE):
            begin = data.rfind(b"\n", 0, max(0, begin - 1)) + 1
        lines = data[begin : behind if behind >= 0 else len(data)].split(b"\n")
        at = data.count(b"\n", begin, start)
        block = _block(lines, at, _behind_fences(lines, at + 1), path)
        if isinstance(block, ColdBlock) and block.chunk_id == chunk_id:
            more = data.count(b"\n", 0, begin)
            place = {"start_line": block.start_line + more, "end_line": block.end_line + more}
            return ColdBlock(**{**vars(block), **place})
    return None


def _spans(lines: Sequence[bytes]) -> Iterator[tuple[int, int]]:
    """Where the fields of each block stand, and the line behind its last fence. Lines inside of a
    block's fences begin none.
    """
    n = 0
    while n < len(lines):
        if not lines[n].startswith(_HEAD):
            n += 1
            continue
        end = _behind_fences(lines, n + 1)
        yield n, end
        n = max(n + 1, end)


def _behind_fences(lines: Sequence[bytes], n: int) -> int:
    """The line behind the fences that follow on a line, 0-based; `n` itself where none does."""
    end = n
    while (opening := _next_fence(lines, end)) is not None:
        closing = _closing(lines, opening)
        if closing is None:
            return end
        end = closing + 1
    return end


def _next_fence(lines: Sequence[bytes], n: int) -> int | None:
    while n < len(lines) and not lines[n].strip():
        n += 1
    return n if n < len(lines) and _FENCE.fullmatch(lines[n].rstrip()) else None


def _closing(lines: Sequence[bytes], opening: int) -> int | None:
    match = _FENCE.fullmatch(lines[opening].rstrip())
    marks = match[1] if match else b"```"
    for n in range(opening + 1, len(lines)):
        line = lines[n].rstrip(b"\r ")
        if is_head(line):
            return None
        if line.startswith(marks) and set(line) == {marks[0]}:
            return n
    return None


def _block(lines: Sequence[bytes], at: int, end: int, path: str) -> ColdBlock | Damage:
    head = lines[at].rstrip()
    try:
        fields = json.loads(head[len(_HEAD) : head.rindex(b"-->")])
        fences = dict(_texts(lines, at + 1, end))
        if "text" not in fences:
            return Damage(at + 1, "its text is missing, or the fence around it is not closed")
        start = at
        while start > 0 and at - start < 2 and not lines[start - 1].strip():
            start -= 1
        if start > 0 and lines[start - 1].startswith(b"## "):
            start -= 1
        return ColdBlock(
            _known(fields, "chunk_id", ""), _known(fields, "session_id", ""),
            _known(fields, "role", ""), fences["text"], fences.get("json", ""),
            float(_known(fields, "score", 0.0)), _known(fields, "prompt", ""),
            _known(fields, "at", ""), _known(fields, "until", ""), _known(fields, "tokens", 0),
            _known(fields, "reason", LOW_RELEVANCE), _known(fields, "said", ""),
            fields.get("pinned") is True,
            path, start + 1, end,
        )  # fmt: skip
    except (ValueError, TypeError, AttributeError, RecursionError) as error:
        return Damage(at + 1, f"its fields cannot be read: {error}")


def _known(fields: dict[str, Any], name: str, usual: Any) -> Any:
    """A field, which has to be of the kind that it is usually. TypeError."""
    value = fields.get(name, usual)
    if type(value) is int and type(usual) is float:
        return float(value)
    if type(value) is not type(usual):
        raise TypeError(f"{name} is {value!r}")
    return value


def _texts(lines: Sequence[bytes], n: int, end: int) -> Iterator[tuple[str, str]]:
    """What stands in each fence, by its kind."""
    while n < end and (opening := _next_fence(lines, n)) is not None:
        closing = _closing(lines, opening)
        match = _FENCE.fullmatch(lines[opening].rstrip())
        if closing is None or match is None:
            return
        data = b"\n".join(lines[opening + 1 : closing])
        text = json.loads(data) if match[3] else data.decode("utf-8", "surrogateescape")
        yield match[2].decode(), text
        n = closing + 1


def without(data: bytes, gone: Sequence[ColdBlock]) -> bytes:
    """A file without some of its blocks; everything else stays as it is."""
    lines = data.split(b"\n")
    hidden = set[int]()
    for block in gone:
        start = block.start_line - 1
        start -= bool(start > 0 and not lines[start - 1].strip())
        hidden.update(range(start, block.end_line))
    return b"\n".join(line for n, line in enumerate(lines) if n not in hidden)


def is_empty(data: bytes) -> bool:
    """Whether a file holds no more than its header."""
    return not data.strip() or _EMPTY.fullmatch(data) is not None


def is_expired(until: str, now: datetime) -> bool:
    """Whether a day or time is over. now: aware, in the user's time zone, in which a time without a
    zone is meant. What is no time is never over.
    """
    try:
        if len(until) == len("2026-12-31"):
            return now.date() > date.fromisoformat(until)
        moment = datetime.fromisoformat(until.replace("Z", "+00:00"))
    except ValueError:
        return False
    return now > (moment if moment.tzinfo else moment.replace(tzinfo=now.tzinfo))


def with_pin(line: bytes, *, pinned: bool) -> bytes:
    """The line of a block's fields, pinned or no longer. ValueError where it is none."""
    head = line.rstrip()
    fields = json.loads(head[len(_HEAD) : head.rindex(b"-->")])
    fields.pop("pinned", None)
    if pinned:
        fields["pinned"] = True
    return _HEAD + _told(fields).encode() + b" -->" + line[len(head) :]


def _told(value: object) -> str:
    """JSON that may stand in a comment."""
    told = json.dumps(value).replace("--", "-\\u002d").replace("<", "\\u003c")
    return told.replace(">", "\\u003e")


def is_head(line: bytes) -> bool:
    """Whether a line is the fields of a block."""
    return line.startswith(_HEAD)
