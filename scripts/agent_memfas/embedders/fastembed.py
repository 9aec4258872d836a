"""Vectors by FastEmbed: a small model that runs on the processor, fetched once."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.util import find_spec
from typing import Any

from agent_memfas.embedders.base import Embedder
from agent_memfas.errors import ConfigError

DIMENSIONS = {
    "BAAI/bge-small-en-v1.5": 384,
    "BAAI/bge-base-en-v1.5": 768,
    "sentence-transformers/all-MiniLM-L6-v2": 384,
    "nomic-ai/nomic-embed-text-v1.5": 768,
}
USUAL = 384
EXTRA = "pip install 'agent-memfas[embeddings]'"


class FastEmbedEmbedder(Embedder):
    """A model of FastEmbed. ConfigError where the library is missing or the model cannot be had.

    model: its name as FastEmbed lists it. It is loaded, and fetched where it is not there yet (some
    130 MB), by the first text.
    """

    def __init__(self, model: str = "BAAI/bge-small-en-v1.5") -> None:
        self.model = model
        self._loaded: Any = None
        if find_spec("fastembed") is None:
            raise ConfigError("FastEmbed is not installed", f"install it: {EXTRA}")

    @property
    def dimensions(self) -> int:
        """How many numbers a vector has; 384 for a model that is not known."""
        return DIMENSIONS.get(self.model, USUAL)

    def embed(self, text: str) -> Sequence[float]:
        """The vector of one text."""
        return self.embed_batch([text])[0]

    def embed_batch(self, texts: list[str]) -> list[Sequence[float]]:
        """The vectors of several texts, in their order."""
        return [[float(x) for x in vector] for vector in self._model().embed(texts)]

    def close(self) -> None:
        """Let go of the model."""
        self._loaded = None

    def _model(self) -> Any:
        """The model: from the cache where it is there, so that nothing is asked of a network."""
        if self._loaded is None:
            try:
                from fastembed import TextEmbedding
            except ImportError as error:
                raise ConfigError(f"FastEmbed cannot be loaded: {error}", EXTRA) from error
            try:
                self._loaded = TextEmbedding(model_name=self.model, local_files_only=True)
            except Exception:  # noqa: BLE001 - whatever its parts raise: it is not in the cache
                try:
                    self._loaded = TextEmbedding(model_name=self.model)
                except Exception as error:
                    first = (str(error).splitlines() or [type(error).__name__])[0]
                    raise ConfigError(
                        f"the model {self.model} cannot be loaded: {first}",
                        "it is fetched once, over the network; or search.backend: fts5",
                    ) from error
        return self._loaded
