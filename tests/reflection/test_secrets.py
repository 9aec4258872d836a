"""Keys and passwords in a log: they stay there, whoever reflects on it."""

from __future__ import annotations

import io
import json
import sys
from typing import Any

import pytest

from inputs.memory import CONFIG, TODAY, Memory
from llm.server import Server, chat, status
from llm.test_redaction import CANARIES, HELD
from reflection.support import (
    DAY,
    INSIGHTS,
    MARK,
    NAME,
    answer,
    compound,
    insight,
    kept,
    markdown,
    sound,
)

LINES = [
    f"- 09:{n:02} Decided to keep this for {name}: {whole}"
    for n, (name, whole) in enumerate(CANARIES.items())
]
LOG = "\n".join(
    ["# 2026-02-24", "", *LINES, "- 10:00 Alice prefers short status mails on Fridays.", ""]
)
KEY = "sk-" + "Zq7Wx9Er5Ty3Ui1Op8As6Df4Gh2Jk0Lz"


@pytest.fixture
def memory(memory: Memory, monkeypatch: pytest.MonkeyPatch) -> Memory:
    """The same with a log of secrets, and a key for the server."""
    memory.write(NAME, LOG)
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    return memory


def hidden(*texts: str | bytes) -> None:
    """None of the secrets stands in any of these."""
    for text in texts:
        whole = text.decode("utf-8") if isinstance(text, bytes) else text
        for name, held in {**HELD, "the key": KEY}.items():
            assert held not in whole, name


def written(memory: Memory) -> bytes:
    """All files but the log itself, and the settings."""
    paths = [
        p
        for p in memory.root.rglob("*")
        if p.is_file() and p.name not in (f"{DAY}.md", "memfas.yaml")
    ]
    return b"\n".join(path.read_bytes() for path in paths)


def test_no_secret_reaches_the_server(memory: Memory, server: Server) -> None:
    """Nor a file, nor the screen; each is a mark with its kind, which an insight may quote. The key
    of the server is sent as such, and nowhere else."""
    server.script = ["hm", answer(insight("AWS", "keep this for AWS: [redacted: AWS access key]", 7),
                                  insight("mails", "prefers short status mails", 3))]  # fmt: skip
    result = compound(memory, "--json")
    assert result.status == 0, result.everything
    assert len(server.asked) == 2
    assert server.keys == [f"Bearer {KEY}"] * 2
    hidden(*server.raw, result.everything, written(memory))
    assert server.said().count("[redacted: ") >= len(CANARIES)
    assert len(kept(memory)) == 2
    assert memory.read(NAME).decode() == LOG + MARK
    sound(memory, LOG)


@pytest.mark.parametrize("fault", ["500", "refusal", "echo", "dropped", "echo in an error"])
def test_no_secret_is_said_when_something_goes_wrong(
    memory: Memory, server: Server, fault: str
) -> None:
    """Not even where the other side repeats what it should not know."""

    def told(body: dict[str, Any]) -> str:
        return f"{KEY} {server.keys[-1]} {json.dumps(body)}"

    server.script = {"500": [status(500)], "refusal": [lambda body: chat(None, refusal=told(body))],
                     "echo": [told], "echo in an error": [lambda body: status(400, told(body))],
                     "dropped": [lambda body: answer(insight(told(body), "is not there"))],
                     }[fault]  # fmt: skip
    for arguments in ((), ("--json",)):
        result = compound(memory, *arguments)
        assert result.status != 0
        hidden(result.everything, written(memory), *server.raw)


def test_what_would_be_sent_is_shown_and_not_sent(memory: Memory, server: Server) -> None:
    """Address and body, a request for each part; nobody is connected to, nothing is written."""
    before = memory.truth()
    result = compound(memory, "--show-payload")
    assert result.status == 0
    (request,) = result.data["requests"]
    assert request["address"] == f"{server.address}/chat/completions"
    assert request["log"].startswith(f"{NAME}#L1-L")
    assert request["body"]["messages"][1]["content"].count("[redacted: ") >= len(CANARIES)
    hidden(result.everything)
    assert server.asked == []
    assert memory.truth() == before
    assert not (memory.root / ".memfas/telemetry.jsonl").exists()
    server.script = [answer(insight("mails", "prefers short status mails", 3))]
    compound(memory)
    sent, shown = server.asked[0], request["body"]
    assert {k: v for k, v in sent.items() if k != "messages"} == {
        k: v for k, v in shown.items() if k != "messages"
    }


def test_the_prompt_for_an_agent_holds_none(memory: Memory) -> None:
    """As text and as JSON."""
    hidden(compound(memory, "--print-prompt", DAY).everything)
    hidden(compound(memory, "--print-prompt", DAY, "--json").everything)


@pytest.mark.parametrize("form", ["JSON", "markdown"])
def test_an_agent_that_has_read_the_log_may_not_repeat_them(
    memory: Memory, monkeypatch: pytest.MonkeyPatch, form: str
) -> None:
    """It sees the file, and may quote it; what it says of it is redacted as what a server is sent."""
    flat = {name: whole.replace("\n", " ") for name, whole in CANARIES.items()}
    claims = [insight(f"that of {name} is {whole}", f"Decided to keep this for {name}: {whole}", 3)
              for name, whole in flat.items()]  # fmt: skip
    text = answer(*claims) if form == "JSON" else markdown(
        *(f'- {c["text"]} "{c["quote"]}" ({NAME}#L3-L3)' for c in claims))  # fmt: skip
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(text.encode())))
    result = compound(memory, "--accept", "-", "--date", DAY)
    assert result.status == 0, result.everything
    hidden(result.everything, written(memory))
    assert len(kept(memory)) >= len(CANARIES) - 1  # of the PEM block each line is another
    sound(memory, LOG)


def test_extraction_leaves_them_where_they_are(memory: Memory, server: Server) -> None:
    """Without a model the log's own words become insights, its secrets do not."""
    memory.write("memfas.yaml", CONFIG)
    result = compound(memory, "--json")
    assert result.status == 0
    assert kept(memory)
    hidden(result.everything, memory.read(INSIGHTS), written(memory))
    assert server.asked == []
    sound(memory, LOG)
    hidden(memory.run("promote", "--today", TODAY, "--json").everything)


def test_a_secret_on_the_border_of_two_parts(memory: Memory, server: Server) -> None:
    """A key that stands where a long line is cut is gone before it is cut."""
    secret = CANARIES["GitHub"]
    long = [f"- {'x' * n} {secret} {'word ' * 600}" for n in range(600, 1000, 17)]
    memory.write(NAME, "\n".join(["# 2026-02-24", "", *long, ""]))
    text = server.settings.replace("timeout: 20", "timeout: 20, window: 2000, max_tokens: 500")
    memory.write("memfas.yaml", CONFIG + text)
    server.script = [answer()]
    assert compound(memory).status == 0
    assert len(server.asked) > len(long)
    assert not any(secret[n : n + 8] in server.everything for n in range(len(secret) - 7))
    assert server.everything.count("[redacted: GitHub token]") >= len(long) // 2
