"""What every embedder does."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence


class Embedder(ABC):
    """Texts -> vectors. Alike texts get vectors that point in alike directions; their length is
    of no account. Used in a `with` statement it is closed at the end.

    model: its name; vectors of two models are never compared.
    """

    model: str = ""

    @property
    @abstractmethod
    def dimensions(self) -> int:
        """How many numbers a vector has."""

    @abstractmethod
    def embed(self, text: str) -> Sequence[float]:
        """The vector of one text."""

    def embed_batch(self, texts: list[str]) -> list[Sequence[float]]:
        """The vectors of several texts, in their order."""
        return [self.embed(text) for text in texts]

    def embed_query(self, text: str) -> Sequence[float]:
        """The vector of a question, to be compared with those of texts: another one than `embed`
        gives where the model tells the two apart.
        """
        return self.embed(text)

    def close(self) -> None:  # noqa: B027 - most have nothing to let go of
        """Let go of the model."""

    def __enter__(self) -> Embedder:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def clean(text: str) -> str:
    """A text that can be encoded: half an emoji (a lone surrogate) becomes a `?`."""
    return text.encode("utf-8", "replace").decode("utf-8")
