"""Transcripts: read, and written again with other messages; what is not touched stays as it is."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_memfas.errors import UsageError
from agent_memfas.text.transcripts import (
    ARRAY,
    CLAUDE_CODE,
    LINES,
    REQUEST,
    Transcript,
    read_transcript,
    write_transcript,
)


def same(transcript: Transcript) -> list[tuple[int | None, dict[str, Any]]]:
    return list(enumerate(transcript.messages))


def line(kind: str, uuid: str, parent: str | None, message: Any = None, **more: Any) -> str:
    """A line of Claude Code's files."""
    value = {"parentUuid": parent, "isSidechain": False, "userType": "external", "cwd": "/x",
             "sessionId": "s-1", "version": "2.0.1", "gitBranch": "main", "type": kind, **more}  # fmt: skip
    value |= {"message": message} if message is not None else {}
    return json.dumps({**value, "uuid": uuid, "timestamp": "2026-03-01T10:00:00.000Z"}) + "\n"


def session() -> str:
    """A session: a summary line, a question, calls, a side chain, an answer."""
    use = [{"type": "tool_use", "id": "t1", "name": "Read", "input": {"file_path": "/x/a.py"}}]
    result = [{"type": "tool_result", "tool_use_id": "t1", "content": "x = 1"}]
    return "".join([
        '{"type":"summary","summary":"Old things","leafUuid":"zz"}\n',
        line("user", "u1", None, {"role": "user", "content": "read a.py"}),
        line("assistant", "u2", "u1", {"id": "m1", "role": "assistant", "content": use}),
        line("user", "u3", "u2", {"role": "user", "content": result}, toolUseResult={"x": 1}),
        line("user", "side", "u3", {"role": "user", "content": "aside"}, isSidechain=True),
        line("assistant", "u4", "u3", {"id": "m2", "role": "assistant",
                                       "content": [{"type": "text", "text": "done"}]}),
        line("system", "u5", "u4", content="a hook ran"),
        line("user", "u6", "u5", {"role": "user", "content": "thanks"}),
    ])  # fmt: skip


CHAT = [{"role": "user", "content": "hé"}, {"role": "assistant", "content": "b", "extra": [1]}]


@pytest.mark.parametrize(("data", "form", "count"), [
    (json.dumps(CHAT), ARRAY, 2), (json.dumps(CHAT, indent=2), ARRAY, 2), ("[]", ARRAY, 0),
    ("\ufeff" + json.dumps(CHAT), ARRAY, 2),
    (json.dumps({"model": "m", "system": "be terse", "messages": CHAT, "tools": [{}]}), REQUEST, 2),
    (json.dumps({"messages": CHAT}, indent=1) + "\n\n", REQUEST, 2),
    ("".join(json.dumps(m) + "\n" for m in CHAT), LINES, 2),
    ("\r\n".join(json.dumps(m) for m in CHAT) + "\r\n\r\n", LINES, 2),
    (json.dumps(CHAT[0]), LINES, 1), (session(), CLAUDE_CODE, 5), ("", LINES, 0), (" \n", LINES, 0),
    (json.dumps(CHAT[0]) + '\n{"role": "user", "cont', LINES, 1),
], ids=range(13))  # fmt: skip
def test_every_form_is_read_and_written_byte_for_byte(data: str, form: str, count: int) -> None:
    """Also with a byte order mark, CRLF, an indent, a torn last line."""
    raw = data.encode()
    found = read_transcript(raw)
    assert (found.form, len(found.messages)) == (form, count)
    assert write_transcript(found, same(found)) == raw
    torn = data.endswith("cont")
    assert bool(found.notes) is torn


@pytest.mark.parametrize("data", [
    "hello", "{", "[1, 2]", '{"a": 1}\n{"b": 2}\n', '{"messages": {"a": 1}}', "[{]", "\x00\x01",
    '{"messages": "no"}', "[" * 100_000, '{"a": 1} trailing', "null", "3\n",
], ids=range(12))  # fmt: skip
def test_what_is_no_transcript_is_refused(data: str) -> None:
    """With a sentence, never with a traceback."""
    with pytest.raises(UsageError, match="not a transcript"):
        read_transcript(data.encode())


def test_a_message_that_goes_takes_nothing_along() -> None:
    """In each form the others stay byte for byte, and what is new comes in the file's own form."""
    new = {"role": "user", "content": "new"}
    spread = json.dumps(CHAT, indent=2).encode()
    found = read_transcript(spread)
    kept = write_transcript(found, [(None, new), (1, found.messages[1])])
    assert json.loads(kept) == [new, CHAT[1]]
    assert kept.endswith(spread[spread.index(b',\n  {\n    "role": "assistant"') + 1 :])
    request = json.dumps({"system": "s", "messages": CHAT, "tools": [{"a": 1}]}).encode()
    found = read_transcript(request)
    assert found.system == "s"
    assert json.loads(write_transcript(found, [])) == {"system": "s", "messages": [],
                                                       "tools": [{"a": 1}]}  # fmt: skip
    lines = b"".join(json.dumps(m).encode() + b"\r\n" for m in CHAT)
    found = read_transcript(lines)
    changed = {**found.messages[1], "content": "short"}
    written = write_transcript(found, [(0, found.messages[0]), (1, changed)])
    first, second, rest = written.split(b"\r\n")
    assert first == lines.split(b"\r\n")[0]
    assert json.loads(second) == changed
    assert rest == b""


def test_the_chain_of_claude_code_stays_whole() -> None:
    """What hung on lines that left hangs on the nearest that stayed; side chains and other lines
    are not touched, nor any line whose parent stays."""
    data = session().encode()
    found = read_transcript(data)
    assert found.session == "s-1"
    assert found.messages[0]["timestamp"] == "2026-03-01T10:00:00.000Z"
    note = {"role": "user", "content": "[memfas: 3 …]"}
    kept = [(None, note), (3, found.messages[3]), (4, found.messages[4])]
    written = write_transcript(found, kept).splitlines()
    before = data.splitlines()
    assert written[0] == before[0]
    values = [json.loads(one) for one in written]
    by_id = {value["uuid"]: value for value in values if "uuid" in value}
    assert all(v["parentUuid"] in (None, *by_id) for v in by_id.values())
    answer = by_id["u4"]
    assert answer["parentUuid"] == next(v["uuid"] for v in values if v.get("isMeta"))
    assert written[-2:] == before[-2:]
    assert by_id["side"]["isSidechain"]
    changed = {**found.messages[2], "content": [
        {"type": "tool_result", "tool_use_id": "t1", "content": "short"}]}  # fmt: skip
    kept = [(n, changed if n == 2 else m) for n, m in enumerate(found.messages)]
    written = write_transcript(found, kept).splitlines()
    value = json.loads(written[3])
    assert value["message"]["content"][0]["content"] == "short"
    assert "timestamp" not in value["message"]
    assert value["toolUseResult"] == {"x": 1}
    assert [w for n, w in enumerate(written) if n != 3] == [
        b for n, b in enumerate(before) if n != 3
    ]


TEXT = st.text(max_size=12)
MESSAGE = st.fixed_dictionaries({"role": st.sampled_from(["user", "assistant", "tool"])},
                                optional={"content": TEXT | st.none(), "x": st.lists(st.floats(
                                    allow_nan=False), max_size=2)})  # fmt: skip


@given(st.lists(MESSAGE, max_size=5), st.sampled_from([None, 0, 1, 4]), st.booleans(),
       st.sets(st.integers(0, 4)))  # fmt: skip
def test_any_transcript_comes_back(
    messages: list[Any], indent: int | None, ascii_: bool, kept: set[int]
) -> None:
    """Whole, byte for byte; with some left out, those that stay are the same values."""
    forms = [
        json.dumps(messages, indent=indent, ensure_ascii=ascii_),
        json.dumps({"a": 1, "messages": messages}, indent=indent, ensure_ascii=ascii_),
        "".join(json.dumps(m, ensure_ascii=ascii_) + "\n" for m in messages),
    ]
    for form in forms:
        raw = form.encode("utf-8", "surrogatepass")
        found = read_transcript(raw)
        assert write_transcript(found, same(found)) == raw
        some = [(n, m) for n, m in same(found) if n in kept]
        again = read_transcript(write_transcript(found, some))
        assert [dict(m) for m in again.messages] == [m for _, m in some]
