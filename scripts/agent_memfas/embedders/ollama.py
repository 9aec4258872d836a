"""Vectors by an Ollama server, mostly one on this machine."""

from __future__ import annotations

import json
from collections.abc import Sequence
from http.client import HTTPException
from typing import Any
from urllib.error import HTTPError, URLError
from urllib.request import OpenerDirector, ProxyHandler, Request, build_opener

from agent_memfas.embedders import answers
from agent_memfas.embedders.base import clean
from agent_memfas.embedders.models import NamedEmbedder
from agent_memfas.errors import ConfigError, TryAgain
from agent_memfas.remote import faults
from agent_memfas.remote.answers import BadAnswer, read_json, words_of
from agent_memfas.remote.waiting import (
    Deadline,
    Refused,
    Unreachable,
    gather,
    insist,
    pause_of,
    within,
)

USUAL = 768
BATCH = 64
PIECE = 1 << 16


class OllamaEmbedder(NamedEmbedder):
    """A model of an Ollama server. Texts go to base_url and nowhere else.

    timeout: seconds for 64 texts, all tries together; a call with more has as much again for each
    64. TryAgain where the server is down, slow or answers nonsense, ConfigError where it does not
    have the model.
    """

    def __init__(
        self,
        model: str = "nomic-embed-text",
        base_url: str = "http://localhost:11434",
        timeout: float = 60.0,
    ) -> None:
        super().__init__(model, USUAL)
        self.timeout = timeout
        self.base_url = base_url.rstrip("/")
        if not self.base_url.startswith(("http://", "https://")):
            raise ConfigError(f"{base_url}: not an address of an Ollama server")
        self._server = faults.Server(self.base_url, model, faults.VECTORS)

    def embed_batch(self, texts: list[str]) -> list[Sequence[float]]:
        """The vectors of several texts, in their order."""
        return self._all([self._known.passage + clean(text) for text in texts])

    def embed_query(self, text: str) -> Sequence[float]:
        """The vector of a question."""
        return self._all([self._known.query + clean(text)])[0]

    def _all(self, texts: list[str]) -> list[Sequence[float]]:
        deadline = Deadline(self.timeout * -(-len(texts) // BATCH))
        found: list[Sequence[float]] = []
        try:
            for at in range(0, len(texts), BATCH):
                found += self._some(texts[at : at + BATCH], deadline)
        except Refused as refusal:
            raise self._refused(refusal) from None
        except Unreachable as error:
            raise TryAgain(
                f"{self._server.where} does not answer: {error.why}", "start it: ollama serve"
            ) from None
        except BadAnswer as error:
            raise TryAgain(f"{self._server.where}: the answer {error}", "update Ollama") from None
        if found:
            self._size = len(found[0])
        return found

    def _some(self, texts: list[str], deadline: Deadline) -> list[Sequence[float]]:
        body = json.dumps({"model": self.model, "input": texts}).encode()
        page = insist(lambda seconds: self._ask(body, seconds), deadline, self.timeout)
        answer = read_json(page)
        found = answer.get("embeddings") if isinstance(answer, dict) else None
        return answers.vectors(found, len(texts))

    def _ask(self, body: bytes, seconds: float) -> bytes:
        """What the server answers to a request for embeddings. Refused, Unreachable."""
        request = Request(f"{self.base_url}/api/embed", body, {"Content-Type": "application/json"})
        try:
            return within(seconds, lambda: _read(_opener(self._server), request, seconds))
        except TimeoutError:
            raise Unreachable(f"nothing came within {seconds:.3g} seconds", again=True) from None
        except (URLError, OSError, HTTPException, ValueError) as error:
            why = getattr(error, "reason", error)
            raise Unreachable(str(why) or type(error).__name__, again=False) from None

    def _refused(self, refusal: Refused) -> Exception:
        if refusal.status == 404:
            return ConfigError(
                f"{self._server.where} has no model {self.model}", f"ollama pull {self.model}"
            )
        return TryAgain(
            faults.told(self._server, refusal), "see the log of the server, or try again later"
        )


def _opener(server: faults.Server) -> OpenerDirector:
    """What asks: a proxy only for a server that is elsewhere."""
    return build_opener(ProxyHandler({}) if server.local else ProxyHandler())


def _read(opener: OpenerDirector, request: Request, seconds: float) -> bytes:
    try:
        with opener.open(request, timeout=seconds) as answer:
            pieces: Any = iter(lambda: answer.read1(PIECE), b"")
            return gather(pieces)
    except HTTPError as error:
        with error:
            said = words_of(error.read(PIECE))
            raise Refused(error.code, said, pause_of(dict(error.headers.items()))) from None
