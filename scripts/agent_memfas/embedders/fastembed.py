"""Vectors by FastEmbed: a small model that runs on the processor, fetched once."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from importlib.util import find_spec
from typing import Any

from agent_memfas.embedders.base import clean
from agent_memfas.embedders.models import NamedEmbedder
from agent_memfas.errors import ConfigError

USUAL = 384
EXTRA = "pip install 'agent-memfas[embeddings]'"


class FastEmbedEmbedder(NamedEmbedder):
    """A model of FastEmbed. ConfigError where the library is missing or the model cannot be had.

    model: its name as FastEmbed lists it. It is loaded by the first text. fetch: whether it may be
    fetched then, where it is not there yet (some 130 MB; without a network that fails only after
    40 seconds).
    """

    def __init__(self, model: str = "BAAI/bge-small-en-v1.5", *, fetch: bool = True) -> None:
        super().__init__(model, USUAL)
        self._may_fetch = fetch
        self._loaded: Any = None
        if find_spec("fastembed") is None:
            raise ConfigError("FastEmbed is not installed", f"install it: {EXTRA}")

    def embed_batch(self, texts: list[str]) -> list[Sequence[float]]:
        """The vectors of several texts, in their order."""
        return self._embedded("passage_embed", self._known.passage, texts)

    def embed_query(self, text: str) -> Sequence[float]:
        """The vector of a question: with the prefix of the model, or by FastEmbed's own way."""
        return self._embedded("query_embed", self._known.query, [text])[0]

    def close(self) -> None:
        """Let go of the model."""
        self._loaded = None

    def _embedded(self, way: str, prefix: str, texts: list[str]) -> list[Sequence[float]]:
        """Vectors by a method of FastEmbed: some of its models tell questions from passages there;
        those with a prefix need theirs, which it does not put in.
        """
        model = self._model()
        embed = model.embed if prefix else getattr(model, way, model.embed)
        found = [vector.tolist() if hasattr(vector, "tolist") else [float(x) for x in vector]
                 for vector in embed([prefix + clean(text) for text in texts])]  # fmt: skip
        if found:
            self._size = len(found[0])
        return found

    def _model(self) -> Any:
        """The model: from the cache where it is there, so that nothing is asked of a network."""
        if self._loaded is not None:
            return self._loaded
        try:
            with suppress(ImportError):
                from loguru import logger

                logger.disable("fastembed")  # what goes wrong is said once, and by us
            from fastembed import TextEmbedding
        except ImportError as error:
            raise ConfigError(f"FastEmbed cannot be loaded: {error}", EXTRA) from error
        try:
            self._loaded = TextEmbedding(model_name=self.model, local_files_only=True)
        except Exception as error:
            if not self._may_fetch:
                fetch = f"memfas reindex -b embedding -e fastembed -m {self.model}"
                raise ConfigError(f"the model {self.model} is not here", fetch) from error
            self._loaded = self._fetched(TextEmbedding)
        return self._loaded

    def _fetched(self, make: Any) -> Any:
        try:
            return make(model_name=self.model)
        except Exception as error:
            first = (str(error).splitlines() or [type(error).__name__])[0]
            raise ConfigError(
                f"the model {self.model} cannot be loaded: {first}",
                "it is fetched once, over the network; or search.backend: fts5",
            ) from error
