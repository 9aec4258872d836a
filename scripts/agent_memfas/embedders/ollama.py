"""Vectors by an Ollama server, mostly one on this machine."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any
from urllib.error import HTTPError, URLError
from urllib.request import Request, urlopen

from agent_memfas.embedders.base import Embedder
from agent_memfas.errors import ConfigError, TryAgain

DIMENSIONS = {
    "nomic-embed-text": 768,
    "mxbai-embed-large": 1024,
    "all-minilm": 384,
    "snowflake-arctic-embed": 1024,
}
USUAL = 768
SECONDS = 60.0
BATCH = 64


class OllamaEmbedder(Embedder):
    """A model of an Ollama server. Texts go to base_url and nowhere else.

    TryAgain where the server does not answer, ConfigError where it does not have the model.
    """

    def __init__(
        self, model: str = "nomic-embed-text", base_url: str = "http://localhost:11434"
    ) -> None:
        self.model = model
        self.base_url = base_url.rstrip("/")
        if not self.base_url.startswith(("http://", "https://")):
            raise ConfigError(f"{base_url}: not an address of an Ollama server")
        self._size = DIMENSIONS.get(model.partition(":")[0], USUAL)

    @property
    def dimensions(self) -> int:
        """How many numbers a vector has: of a model that is not known 768, until the first text."""
        return self._size

    def embed(self, text: str) -> Sequence[float]:
        """The vector of one text."""
        return self.embed_batch([text])[0]

    def embed_batch(self, texts: list[str]) -> list[Sequence[float]]:
        """The vectors of several texts, in their order."""
        found: list[Sequence[float]] = []
        for at in range(0, len(texts), BATCH):
            some = texts[at : at + BATCH]
            answer = self._ask("/api/embed", {"model": self.model, "input": some})
            vectors = answer.get("embeddings") if isinstance(answer, dict) else None
            if not isinstance(vectors, list) or len(vectors) != len(some):
                raise TryAgain(f"{self.base_url}: the answer has no vectors", "update Ollama")
            found += vectors
        if found:
            self._size = len(found[0])
        return found

    def _ask(self, path: str, body: dict[str, Any]) -> Any:
        request = Request(
            self.base_url + path, json.dumps(body).encode(), {"Content-Type": "application/json"}
        )
        try:
            with urlopen(request, timeout=SECONDS) as answer:
                return json.loads(answer.read())
        except HTTPError as error:
            error.close()
            if error.code == 404:
                raise ConfigError(
                    f"{self.base_url} has no model {self.model}", f"ollama pull {self.model}"
                ) from error
            raise TryAgain(f"{self.base_url}: {error.code} {error.reason}") from error
        except (URLError, OSError, ValueError) as error:
            why = getattr(error, "reason", error)
            raise TryAgain(
                f"{self.base_url} does not answer: {why}", "start it: ollama serve"
            ) from error
