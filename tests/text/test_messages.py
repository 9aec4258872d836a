"""Messages of every form: what they say, what hangs together, and that none of it gets lost."""

from __future__ import annotations

import copy
import json
from dataclasses import dataclass
from datetime import datetime, timezone
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_memfas.text.messages import read_message
from agent_memfas.text.pairs import groups, open_calls
from agent_memfas.text.reshape import from_stored, to_stored, with_text
from agent_memfas.text.traces import notice, number_in_notice, pointer

CALL = {"role": "assistant", "content": None, "tool_calls": [
    {"id": "c1", "type": "function", "function": {"name": "ls", "arguments": '{"p": "/x"}'}},
    {"id": "c2", "type": "function", "function": {"name": "cat", "arguments": "{}"}}]}  # fmt: skip
USE = {"role": "assistant", "content": [
    {"type": "thinking", "thinking": "hm", "signature": "SECRETSIGN"},
    {"type": "text", "text": "I look"}, {"type": "tool_use", "id": "t1", "name": "ls",
                                         "input": {"path": "/x"}}]}  # fmt: skip
RESULT = {"role": "user", "content": [
    {"type": "tool_result", "tool_use_id": "t1", "content": [
        {"type": "text", "text": "a.txt"},
        {"type": "image", "source": {"data": "QUJD"}}], "cache_control": {"type": "ephemeral"}}]}  # fmt: skip


@dataclass
class Object:
    text: str
    role: str = "user"


@pytest.mark.parametrize(("raw", "role", "text"), [
    ("hello", "", "hello"),
    ({"role": "user", "content": "hi", "x": 1}, "user", "hi"),
    (CALL, "assistant", 'ls({"p": "/x"})\ncat({})'),
    (USE, "assistant", 'hm\nI look\nls({"path": "/x"})'),
    (RESULT, "user", "a.txt"),
    ({"role": "tool", "tool_call_id": "c1", "content": "42"}, "tool", "42"),
    ({"role": "user", "content": [{"type": "input_text", "text": "see"}, {"type": "image_url",
      "image_url": {"url": "data:QUJD"}}]}, "user", "see"),
    (Object("said"), "user", "said"),
    ({"role": "assistant", "content": None}, "assistant", ""),
    (None, "", ""), (17, "", ""), ([], "", ""), ({}, "", ""), ({"content": {"a": 1}}, "", ""),
])  # fmt: skip
def test_what_a_message_says(raw: object, role: str, text: str) -> None:
    """Strings, chat messages, blocks, calls, results and objects; nonsense says nothing."""
    found = read_message(raw)
    assert (found.role, found.text) == (role, text)


def test_calls_and_results_are_known_by_their_ids() -> None:
    """Of both vendors, several in one message; the old function calls, too."""
    assert read_message(CALL).calls == ("c1", "c2")
    assert read_message(USE).calls == ("t1",)
    assert read_message(RESULT).results == ("t1",)
    assert read_message({"role": "tool", "tool_call_id": "c1", "content": ""}).results == ("c1",)
    old = {"role": "assistant", "content": None, "function_call": {"name": "f", "arguments": ""}}
    assert read_message(old).calls == read_message(
        {"role": "function", "name": "f", "content": "x"}).results == ("f",)  # fmt: skip


@pytest.mark.parametrize("stamp", [
    "2026-03-01T10:00:00Z", "2026-03-01T10:00:00.000Z", "2026-03-01T11:00:00+01:00", 1772359200,
    1772359200.0, 1772359200000, datetime(2026, 3, 1, 10, tzinfo=timezone.utc),
], ids=str)  # fmt: skip
def test_a_message_says_when_it_was_said(stamp: object) -> None:
    """ISO, seconds, milliseconds."""
    found = read_message({"role": "user", "content": "x", "timestamp": stamp})
    assert found.at == datetime(2026, 3, 1, 10, tzinfo=timezone.utc)


@pytest.mark.parametrize("stamp", ["yesterday", -3, 1e300, True, None, [], "", float("nan")])
def test_what_is_no_time_is_none(stamp: object) -> None:
    """Nothing is guessed."""
    assert read_message({"role": "user", "content": "x", "timestamp": stamp}).at is None


def test_another_text_in_the_same_shape() -> None:
    """Ids, calls and unknown keys stay; the message given is not changed."""
    for raw in (CALL, USE, RESULT, {"role": "tool", "tool_call_id": "c1", "content": "42", "z": 1}):
        before = copy.deepcopy(raw)
        changed = with_text(raw, "short")
        assert raw == before
        old, new = read_message(raw), read_message(changed)
        assert (new.calls, new.results, new.role) == (old.calls, old.results, old.role)
        assert "short" in new.text
    assert with_text(RESULT, "short")["content"][0]["cache_control"]  # type: ignore[index]
    assert with_text("x", "short") == "short"
    thing = Object("long")
    assert with_text(thing, "short") == Object("short")
    assert thing.text == "long"


def test_groups_move_together() -> None:
    """Calls with all their results and what stands between; overlapping ones are one group."""
    read = [read_message(m) for m in [
        "a", CALL, {"role": "tool", "tool_call_id": "c2", "content": ""},
        {"role": "tool", "tool_call_id": "c1", "content": ""}, "b", USE, "between", RESULT,
        {"role": "tool", "tool_call_id": "nobody", "content": ""},
        {"role": "assistant", "content": "x", "id": "m1"},
        {"role": "assistant", "content": "y", "id": "m1"},
    ]]  # fmt: skip
    assert groups(read) == [(0,), (1, 2, 3), (4,), (5, 6, 7), (8,), (9, 10)]
    assert open_calls(read) == set()
    assert open_calls(read[:2]) == {1}
    assert open_calls(read[:3]) == {1}


def test_summaries_and_notices_are_known_again() -> None:
    """By the line below a summary, which belongs to its words and no others; by a line that is all
    that a user's message says."""
    ours = f"x y\n{pointer('x y', 'k_1')}"
    found = read_message({"role": "tool", "tool_call_id": "c", "content": ours})
    assert (found.kind, found.source) == ("summary", "k_1")
    assert read_message({"role": "user", "content": f" x  y\n\n{ours[4:]}\n"}).source == "k_1"
    nowhere = read_message({"role": "assistant", "content": f"x\n{pointer('x')}"})
    assert (nowhere.kind, nowhere.source) == ("summary", "")
    for text in (f"z {ours}", f"{ours} and more", pointer("x", "k_1")):
        assert read_message({"role": "user", "content": text}).kind == "message"
    two = [{"type": "text", "text": ours}, {"type": "text", "text": "and I say"}]
    assert read_message({"role": "user", "content": two}).kind == "message"
    told = notice(12, "cold-storage/", ["acme", "ports"])
    assert read_message({"role": "user", "content": told}).kind == "notice"
    assert number_in_notice(told) == 12
    assert not read_message({"role": "user", "content": told}).is_turn
    for text in (f"what is {told}", f"{told} Yes?", f"{told}\nmore"):
        assert read_message({"role": "user", "content": text}).kind == "message"
    assert read_message({"role": "tool", "tool_call_id": "c", "content": told}).kind == "message"


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=9),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(
        ["role", "content", "type", "text", "tool_calls", "id", "input", "tool_use_id", "name",
         "function", "timestamp", "x"]), inner, max_size=5), max_leaves=14,
)  # fmt: skip
MESSAGES = st.text() | st.dictionaries(st.text(max_size=3), VALUES, max_size=3) | VALUES.filter(
    lambda value: isinstance(value, dict)) | st.sampled_from([CALL, USE, RESULT])  # fmt: skip


@given(MESSAGES)
def test_any_message_comes_back_from_storage_as_it_was(raw: Any) -> None:
    """Role, text and JSON are all there is to keep."""
    role, text, raw_json = to_stored(raw)
    back = from_stored(role, text, raw_json)
    assert back == raw
    assert json.dumps(back) == json.dumps(raw)


@given(st.lists(MESSAGES | st.none(), max_size=12))
def test_groups_are_all_messages_once_and_in_order(raws: list[Any]) -> None:
    """Whatever ids say."""
    found = groups([read_message(raw) for raw in raws])
    assert [n for group in found for n in group] == list(range(len(raws)))
