"""Messages of every shape: objects, items of the Responses API, calls with long arguments, images."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any

import pytest

from agent_memfas.context import ContextConfig
from agent_memfas.text.messages import read_message
from agent_memfas.text.pairs import groups, open_calls
from context.agents import Made, chat


@dataclass
class Call:
    id: str
    name: str
    args: dict[str, Any] = field(default_factory=dict)


@dataclass
class Said:
    role: str
    content: str | None
    tool_calls: list[Call] | None = None
    tool_call_id: str | None = None


def test_a_context_of_objects_stays_one(managed: Made) -> None:
    """The notice and what comes back are objects of the host's; its calls are stored whole and
    come back with their results."""
    call = Said("assistant", None, [Call("c1", "zebra_lookup", {"name": "Marty"})])
    result = Said("tool", "stripes everywhere", None, "c1")
    talk = [Said(one["role"], one["content"]) for one in chat(20)]
    manager, context = managed([call, result, *talk])
    manager.set_current_prompt("giraffe")
    manager.compact()
    assert call not in context
    assert all(isinstance(one, Said) for one in context)
    assert [one.content for one in context if "earlier messages" in str(one.content)]
    manager.recover("stripes everywhere", limit=1, restore=True)
    at = next(n for n, one in enumerate(context) if one.tool_calls)
    back = context[at]
    assert isinstance(back, Said)
    assert back.tool_calls is not None
    assert (back.tool_calls[0].id, back.tool_calls[0].name) == ("c1", "zebra_lookup")
    assert context[at + 1] == result


def test_items_of_the_responses_api(managed: Made) -> None:
    """Calls with their outputs, thoughts with what comes of them: together or not at all, and back
    as they were."""
    thought = {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "abc"}
    call = {"type": "function_call", "call_id": "c1", "name": "zebra", "arguments": '{"x": 1}'}
    output = {"type": "function_call_output", "call_id": "c1", "output": "stripes everywhere"}
    read = [read_message(one) for one in (thought, call, output)]
    assert [one.role for one in read] == ["assistant", "assistant", "tool"]
    assert groups(read) == [(0, 1, 2)]
    assert open_calls(read[:2]) == {1}
    manager, context = managed([thought, call, output, *chat(20)])
    manager.set_current_prompt("giraffe")
    manager.compact()
    assert not any(one in context for one in (thought, call, output))
    kept = {block.raw for block in manager.cold_storage.folder.blocks()}
    assert {json.dumps(one) for one in (thought, call, output)} <= kept
    manager.recover("stripes everywhere", limit=1, restore=True)
    at = context.index(call)
    assert context[at + 1] == output


def test_an_id_that_is_used_again_is_a_call_of_its_own() -> None:
    """Local models name every call alike: the last one is open, and each pair is a group."""

    def call(n: int) -> dict[str, Any]:
        return {"role": "assistant", "content": None, "tool_calls": [
            {"id": "call_0", "function": {"name": "ls", "arguments": str(n)}}]}  # fmt: skip

    result = {"role": "tool", "tool_call_id": "call_0", "content": "x"}
    read = [read_message(one) for one in (call(0), result, call(1), result, call(2))]
    assert groups(read) == [(0, 1), (2, 3), (4,)]
    assert open_calls(read) == {4}


TEXT = "line of a file\n" * 200


@pytest.mark.parametrize(("call", "answer"), [
    ({"role": "assistant", "content": None, "tool_calls": [{
        "id": "c1", "type": "function",
        "function": {"name": "write", "arguments": json.dumps({"path": "a.py", "text": TEXT})}}]},
     {"role": "tool", "tool_call_id": "c1", "content": "written"}),
    ({"role": "assistant", "content": [{
        "type": "tool_use", "id": "c1", "name": "write", "input": {"path": "a.py", "text": TEXT}}]},
     {"role": "user", "content": [
         {"type": "tool_result", "tool_use_id": "c1", "content": "written"}]}),
], ids=["OpenAI", "Anthropic"])  # fmt: skip
def test_long_arguments_of_calls_become_shorter(managed: Made, call: Any, answer: Any) -> None:
    """A file that was written whole: its JSON stays valid, short arguments stay, and the message is
    in cold storage as it was."""
    before = json.dumps(call)
    config = ContextConfig(relevance_cutoff=0.0, min_chunks_to_keep=0)
    manager, context = managed([call, answer, *chat(6)], config=config)
    manager.compact()
    assert json.dumps(call) == before
    kept = read_message(context[0])
    assert (kept.calls, kept.kind) == (("c1",), "summary")
    cut = json.dumps(context[0])
    assert len(cut) < 700
    assert "a.py" in cut
    if call["content"] is None:
        arguments = json.loads(context[0]["tool_calls"][0]["function"]["arguments"])
        assert arguments["path"] == "a.py"
    assert before in {block.raw for block in manager.cold_storage.folder.blocks()}
    manager.compact()
    assert context[0] == json.loads(cut)
    manager.recover("line of a file", limit=1, restore=True)
    assert context[0] == call


def test_images_cost_what_they_cost(managed: Made) -> None:
    """In content blocks of every provider and in results; a file by its size."""
    data = "QUJD" * 50_000
    shown = [
        [{"type": "image", "source": {"type": "base64", "data": data}}],
        [{"type": "image_url", "image_url": {"url": f"data:image/png;base64,{data}"}}],
        [{"type": "tool_result", "tool_use_id": "t", "content": [{"type": "image", "source": {}}]}],
        [{"type": "document", "source": {"type": "base64", "data": data}}],
    ]
    for content in shown:
        manager, _ = managed([{"role": "user", "content": content}])
        assert 1000 < manager.status().current_tokens < 10_000
    text = [{"type": "document", "source": {"type": "text", "data": "plain words"}}]
    assert read_message({"role": "user", "content": text}).text == "plain words"
