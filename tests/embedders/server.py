"""A server on this machine that speaks as OpenAI does, and misbehaves as it is told to."""

from __future__ import annotations

import json
import math
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from ollama import TOPICS

Made = tuple[int, dict[str, str], bytes]


def vector(text: str) -> list[float]:
    """How often a text names each topic, and how long it is: so each vector tells its text, and
    two texts of no topic point anywhere."""
    topics = (float(sum(text.lower().count(w) for w in topic)) for topic in TOPICS)
    return [*topics, 0.01 * math.cos(len(text)), 0.01 * math.sin(len(text))]


def good(texts: Sequence[str]) -> Made:
    """What a server in order answers."""
    data = [{"object": "embedding", "index": n, "embedding": vector(text)}
            for n, text in enumerate(texts)]  # fmt: skip
    return as_json({"object": "list", "data": data})


def as_json(value: Any, status: int = 200, **headers: str) -> Made:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return status, {"Content-Type": "application/json", **named}, json.dumps(value).encode()


def error(status: int, message: str = "no", **headers: str) -> Made:
    """An error in OpenAI's form."""
    return as_json(
        {"error": {"message": message, "code": headers.pop("code", None)}}, status, **headers
    )


@dataclass
class Server:
    """address: its base URL. script: what it answers, one after the other, the last again and
    again: a whole answer, or what makes one of the texts. asked: the texts of each request.
    """

    address: str = ""
    script: list[Made | Callable[[list[str]], Made]] = field(default_factory=lambda: [good])
    asked: list[list[str]] = field(default_factory=list)
    bodies: list[dict[str, Any]] = field(default_factory=list)
    keys: list[str] = field(default_factory=list)
    drip: bool = False
    ended: threading.Event = field(default_factory=threading.Event)


@contextmanager
def serving() -> Iterator[Server]:
    """A server that answers until the end."""
    state = Server()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            state.bodies.append(body)
            state.asked.append(body["input"])
            state.keys.append(self.headers["Authorization"])
            answer = state.script.pop(0) if len(state.script) > 1 else state.script[0]
            status, headers, page = answer if isinstance(answer, tuple) else answer(body["input"])
            self.send_response(status)
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


def late(state: Server) -> Callable[[list[str]], Made]:
    """A good answer that does not come while anybody waits for it."""

    def answer(texts: list[str]) -> Made:
        state.ended.wait(60)
        return good(texts)

    return answer
