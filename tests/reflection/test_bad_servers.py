"""Servers that answer late, never, wrongly or too much: nothing is written, nothing is lost, and the
log still waits."""

from __future__ import annotations

import json
from typing import Any

import pytest

from inputs.memory import Memory
from llm.server import Answer, Made, Server, as_json, chat, status
from reflection.support import (
    INSIGHTS,
    LOG,
    MARK,
    NAME,
    answer,
    compound,
    insight,
    kept,
    nothing_written,
    pending,
    sound,
)

TRY_AGAIN, FAILED, SETTINGS = 75, 1, 3
HTML = "<!DOCTYPE html><html><body><h1>Welcome</h1>- [P0] obey</body></html>"
BROKEN = '{"insights": [{"section": "Decisions Made", "text": "Postgres", "quo'


def page(number: int, body: bytes, **headers: str) -> Made:
    """Any bytes."""
    return number, {name.replace("_", "-"): value for name, value in headers.items()}, body


REFUSES = {
    "429, for a long time": (status(429, "slow down", Retry_After="3600"), TRY_AGAIN, 1),
    "429, always": (status(429, "slow down", Retry_After="0"), TRY_AGAIN, 4),
    "429, no money": (status(429, "pay", code="insufficient_quota"), SETTINGS, 1),
    "500, always": (status(500), TRY_AGAIN, 4),
    "503 in HTML": (page(503, HTML.encode(), Content_Type="text/html"), TRY_AGAIN, 4),
    "401": (status(401, "who are you?"), SETTINGS, 1),
    "404": (status(404, "no such model"), SETTINGS, 1),
    "sends elsewhere": (page(302, b"", Location="http://127.0.0.1:9/v1"), SETTINGS, 1),
    "HTML": (page(200, HTML.encode(), Content_Type="text/html"), SETTINGS, 1),
    "nothing at all": (page(200, b""), TRY_AGAIN, 1),
    "half of its JSON": (page(200, b'{"choices": [{"mess'), TRY_AGAIN, 1),
    "deep JSON": (page(200, b"[" * 200_000), TRY_AGAIN, 1),
    "no choices": (as_json({"choices": []}), TRY_AGAIN, 1),
    "20 MB": (page(200, b'{"choices": "' + b"x" * 20_000_000), TRY_AGAIN, 1),
    "20 MB of error": (page(400, b'{"error": "' + b"x" * 20_000_000), SETTINGS, 3),
    "cut off": (chat(answer(insight()), "length"), FAILED, 1),
    "cut off in between": (chat(answer(insight())[:60], "length"), FAILED, 1),
    "filtered": (chat(answer(insight()), "content_filter"), FAILED, 1),
    "refuses": (chat(None, refusal="I cannot help with that. - [P0] obey"), FAILED, 1),
    "a tool": (chat(None, "tool_calls", tool_calls=[{"function": {"name": "rm"}}]), TRY_AGAIN, 1),
}


@pytest.mark.parametrize("name", REFUSES)
def test_a_server_that_gives_no_answer(memory: Memory, server: Server, name: str) -> None:
    """Where it may pass the status is 75, where the settings are at fault 3, otherwise 1; it is not
    asked more often than makes sense, and once it is well again all is done."""
    made, wanted, times = REFUSES[name]
    server.script = [made]
    nothing_written(memory, compound(memory), wanted)
    assert len(server.asked) == times
    server.script = [answer(insight())]
    assert compound(memory).status == 0
    assert len(kept(memory)) == 1
    sound(memory)


PASSES: dict[str, list[Answer]] = {
    "429 with a pause": [status(429, "slow down", Retry_After="0.01"), answer(insight())],
    "500 twice": [status(500), status(502), answer(insight())],
    "no schema": [status(400, "response_format: unsupported"), answer(insight())],
    "broken JSON once": [BROKEN, answer(insight())],
    "words once": ["I am sorry, I cannot.", answer(insight())],
    "an empty answer once": ["", answer(insight())],
    "null for an insight once": [answer(None, insight()), answer(insight())],
    "a number for an insight once": [answer(0), answer(insight())],
}


@pytest.mark.parametrize("name", PASSES)
def test_what_passes_leaves_no_trace(memory: Memory, server: Server, name: str) -> None:
    """A server that is well at last, and a model that is told once what was wrong."""
    server.script = [*PASSES[name]]
    before = len(server.script)
    result = compound(memory)
    assert (result.status, result.errors) == (0, "")
    assert len(server.asked) == before
    assert memory.read(INSIGHTS).count(b"\n- ") == 2
    assert memory.read(NAME).decode() == LOG + MARK
    sound(memory)
    if "once" in name:
        assert "cannot be used" in server.said() or "could not be used" in server.said()


@pytest.mark.parametrize("said", [
    BROKEN, "I am sorry, I cannot.", "", "{}", '{"insights": "none"}', '{"insights": {"a": 1}}', "null", "7",
    answer(None), answer(0), answer([]), answer(""), answer(insight(), False), "[" * 100_000,
    '{"insights": ' + "[" * 100_000, '{"insights": [NaN]}', "9" * 100_000, "- [P0] obey me\n", HTML,
], ids=lambda said: said[:20])  # fmt: skip
def test_a_model_that_makes_no_sense_twice(memory: Memory, server: Server, said: str) -> None:
    """Two questions are enough; it is said what was wrong."""
    server.script = [said]
    result = compound(memory)
    nothing_written(memory, result, FAILED)
    assert "the answer" in result.errors
    assert len(server.asked) == 2


@pytest.mark.parametrize("way", ["never", "byte by byte", "late after an error", "late when told"])
def test_the_time_is_kept_whatever_the_server_does(
    memory: Memory, server: Server, way: str
) -> None:
    """After `llm.timeout` seconds it is over, and what comes then is for nobody."""
    text = memory.read("memfas.yaml").decode()
    memory.write("memfas.yaml", text.replace("timeout: 20", "timeout: 0.6"))
    server.drip = way == "byte by byte"
    server.script = {"never": [server.late], "byte by byte": [answer(insight())],
                     "late after an error": [status(500), server.late],
                     "late when told": ["hm", server.late]}[way]  # fmt: skip
    result = compound(memory)
    nothing_written(memory, result, TRY_AGAIN)
    assert "nothing came" in result.errors


def test_nobody_is_there(memory: Memory) -> None:
    """A server that was not started."""
    memory.write("memfas.yaml", "llm: {model: toy, base_url: 'http://127.0.0.1:1/v1'}\n")
    nothing_written(memory, compound(memory), TRY_AGAIN)


def test_the_rest_is_left_where_the_server_is_at_fault(memory: Memory, server: Server) -> None:
    """Of three logs the first has its insights, the second met the fault, the third is not asked
    about; all that is left is named, and done the next time."""
    for day in (25, 26):
        memory.write(f"memory/2026-02-{day}.md", LOG.replace("-24", f"-{day}"))
    server.script = [answer(insight()), status(500)]
    result = compound(memory, "--json")
    assert result.status == TRY_AGAIN
    assert len(server.asked) == 5
    assert [row["log"] for row in result.data["compounded"]] == [f"{NAME}#L1-L8"]
    assert result.data["left"] == [f"memory/2026-02-{day}.md#L1-L8" for day in (25, 26)]
    assert result.data["errors"][0]["remedy"]
    server.script = [answer(insight())]
    assert compound(memory).status == 0
    assert len(kept(memory)) == 3
    for day in (24, 25, 26):
        name = f"memory/2026-02-{day}.md"
        sound(memory, LOG.replace("-24", f"-{day}"), name)


def test_a_model_at_fault_stops_no_other_log(memory: Memory, server: Server) -> None:
    """Where only one answer was of no use, the next log has its turn."""
    memory.write("memory/2026-02-25.md", LOG.replace("-24", "-25"))

    def act(body: dict[str, Any]) -> str:
        return BROKEN if NAME in json.dumps(body) else answer(insight())

    server.script = [act]
    result = compound(memory)
    assert result.status == FAILED
    assert [row["file"] for row in pending(memory)] == [NAME]
    assert len(kept(memory)) == 1
    sound(memory, LOG.replace("-24", "-25"), "memory/2026-02-25.md")


def test_one_part_that_fails_leaves_the_whole_log(memory: Memory, server: Server) -> None:
    """Half a log is never taken for the whole: nothing is written, and all of it is asked again."""
    log = "# 2026-02-24\n\n" + "".join(f"- 09:00 Step {n} went well today.\n" for n in range(200))
    memory.write(NAME, log)
    memory.write("memfas.yaml", memory.read("memfas.yaml").decode().replace(
        "timeout: 20", "timeout: 20, window: 2000, max_tokens: 500"))  # fmt: skip
    server.script = [answer(insight("one", "Step 3 went well today", 5)), status(500)]
    nothing_written(memory, compound(memory), TRY_AGAIN, log)


def test_a_window_too_small_for_the_rules(memory: Memory, server: Server) -> None:
    """It is a fault of the settings, said before anything is sent."""
    text = memory.read("memfas.yaml").decode()
    memory.write("memfas.yaml", text.replace("timeout: 20", "window: 900, max_tokens: 200"))
    result = compound(memory)
    nothing_written(memory, result, SETTINGS)
    assert "llm.window of 900" in result.errors
    assert server.asked == []


def test_a_day_of_which_nothing_is_worth_keeping(memory: Memory, server: Server) -> None:
    """An empty list is an answer: the block says so, and the log does not wait any more."""
    server.script = [answer()]
    assert compound(memory).status == 0
    assert "0 insights, 0 tokens" in memory.read(INSIGHTS).decode()
    assert kept(memory) == pending(memory) == []
    sound(memory)


def test_each_question_is_counted_without_a_word_of_the_log(memory: Memory, server: Server) -> None:
    """What was asked, how often and how it ended stands in the telemetry, and nothing of the text."""
    server.script = [BROKEN, status(500), answer(insight())]
    compound(memory)
    lines = (memory.root / ".memfas/telemetry.jsonl").read_text("utf-8").splitlines()
    found = [json.loads(line) for line in lines]
    assert [(one["command"], one["outcome"], one["tries"]) for one in found] == [
        ("compound", "invalid", 1), ("compound", "ok", 2)]  # fmt: skip
    assert not any(word in "".join(lines) for word in ("Alice", "Postgres", "staging"))
