"""A server on this machine that chats as OpenAI's does, and misbehaves as it is told to.

    with serving() as server:
        server.script = [status(429, "slow down", Retry_After="0"), "a good answer"]
        ...
        assert CANARY not in server.everything

An answer of the script is text (a good reply), a `Made` (status, headers, body), or a function of
the request's body that gives one of the two. The last one is given again and again.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Made = tuple[int, dict[str, str], bytes]
Answer = str | Made | Callable[[dict[str, Any]], "str | Made"]


def as_json(value: Any, status: int = 200, **headers: str) -> Made:
    """Any JSON, with headers named with `_` for `-`."""
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return status, {"Content-Type": "application/json", **named}, json.dumps(value).encode()


def chat(text: str | None, ended: str = "stop", usage: Any = None, **message: Any) -> Made:
    """A completion with this text. message: further fields of it, `refusal` or `tool_calls` say."""
    usage = {"prompt_tokens": 11, "completion_tokens": 7} if usage is None else usage
    choice = {"index": 0, "finish_reason": ended,
              "message": {"role": "assistant", "content": text, **message}}  # fmt: skip
    return as_json({"object": "chat.completion", "choices": [choice], "usage": usage})


def status(number: int, message: str = "no", code: str | None = None, **headers: str) -> Made:
    """An error in OpenAI's form."""
    return as_json({"error": {"message": message, "code": code}}, number, **headers)


@dataclass
class Server:
    """address: its base URL. script: what it answers, one after the other. asked: the body of each
    request; keys: what came as Authorization. drip: send a byte every 50 ms.
    """

    address: str = ""
    script: list[Answer] = field(default_factory=lambda: ["good"])
    asked: list[dict[str, Any]] = field(default_factory=list)
    keys: list[str | None] = field(default_factory=list)
    raw: list[bytes] = field(default_factory=list)
    drip: bool = False
    ended: threading.Event = field(default_factory=threading.Event)

    @property
    def everything(self) -> str:
        """All bodies that came, as text: what must not be sent must not be in it."""
        return "\n".join(json.dumps(json.loads(raw), ensure_ascii=False) for raw in self.raw)

    @property
    def settings(self) -> str:
        """The `llm:` of a memfas.yaml that names this server."""
        return f"llm: {{model: toy, base_url: '{self.address}', timeout: 20}}\n"

    def said(self, number: int = -1) -> str:
        """The user's messages of a request, as one text."""
        return "\n".join(
            m["content"] for m in self.asked[number]["messages"] if m["role"] == "user"
        )

    def late(self, _: dict[str, Any]) -> Made:
        """A good answer that does not come while anybody waits for it."""
        self.ended.wait(60)
        return chat("late")


@contextmanager
def serving() -> Iterator[Server]:
    """A server that answers until the end."""
    state = Server()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            raw = self.rfile.read(int(self.headers["Content-Length"]))
            state.raw.append(raw)
            state.asked.append(body := json.loads(raw))
            state.keys.append(self.headers["Authorization"])
            answer = state.script.pop(0) if len(state.script) > 1 else state.script[0]
            made = answer(body) if callable(answer) else answer
            number, headers, page = chat(made) if isinstance(made, str) else made
            if self.path != "/v1/chat/completions":
                number, headers, page = status(404, f"no {self.path}")
            self.send_response(number)
            for name, value in headers.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(page)))
            self.end_headers()
            for byte in page if state.drip else ():
                self.wfile.write(bytes([byte]))
                if state.ended.wait(0.05):
                    return
            self.wfile.write(b"" if state.drip else page)

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    class Quiet(ThreadingHTTPServer):
        daemon_threads = True

        def handle_error(self, *_: object) -> None:
            """Whoever asked has gone away, which is what some tests are about."""

    server = Quiet(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    state.address = f"http://127.0.0.1:{server.server_port}/v1"
    try:
        yield state
    finally:
        state.ended.set()
        server.shutdown()
        server.server_close()
        thread.join()
