"""A server on this machine that speaks as Ollama does, with a toy for a model."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer

from agent_memfas.embedders import Embedder

TOPICS = (("zebra", "horse", "pony"), ("paper", "learning", "preference"), ("soup", "recipe"))
MODEL = "all-minilm"


class Topics(Embedder):
    """One dimension for each topic; counts what it is asked for."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    @property
    def dimensions(self) -> int:
        return len(TOPICS)

    def embed(self, text: str) -> Sequence[float]:
        self.asked.append(text)
        return [float(sum(text.lower().count(word) for word in topic)) for topic in TOPICS]


class _Handler(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        found = asked["model"] == MODEL
        vectors = [TOY.embed(text) for text in asked["input"]]
        body = json.dumps({"embeddings": vectors} if found else {"error": "no model"}).encode()
        self.send_response(200 if found else 404)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Say nothing."""


TOY = Topics()


@contextmanager
def ollama() -> Iterator[str]:
    """The address of a server that answers until the end. TOY.asked: what it was given."""
    TOY.asked.clear()
    server = HTTPServer(("127.0.0.1", 0), _Handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
