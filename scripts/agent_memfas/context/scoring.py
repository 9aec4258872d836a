"""Scores of chunks: similarity to the prompt, recency, importance, weighed as the reference has it.

See `text.compacting` for the formula and `index.chunks` for the similarity.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING, Any

from agent_memfas.embedders.base import Embedder
from agent_memfas.errors import MemfasError, told
from agent_memfas.index.chunks import Said, similarities
from agent_memfas.text.compacting import classify, score

if TYPE_CHECKING:
    from agent_memfas.context.config import ContextConfig
    from agent_memfas.memory import Memory

MEANING = ("embedding", "hybrid")


class RelevanceScorer:
    """Scores chunks for a prompt. config: weights and thresholds. memfas_client: compares by
    meaning, too. notes: what went another way than usual; the caller empties it.
    """

    def __init__(
        self, config: ContextConfig, memfas_client: MemfasIntegration | None = None
    ) -> None:
        self.config = config
        self.memfas_client = memfas_client
        self.notes: list[str] = []

    def score(
        self, chunk: str, prompt: str, recency_hours: float = 0.0, is_important: bool = False
    ) -> float:
        """The score of one chunk by itself. recency_hours: since it was said."""
        return self.score_batch([chunk], prompt, [recency_hours], [is_important])[0]

    def classify(
        self, chunk: str, prompt: str, recency_hours: float = 0.0, is_important: bool = False
    ) -> str:
        """What becomes of it by itself: `keep`, `summarize` or `drop`."""
        value = self.score(chunk, prompt, recency_hours, is_important)
        return classify(value, self.config.relevance_cutoff, self.config.relevance_keep_threshold)

    def score_batch(
        self,
        chunks: Sequence[str],
        prompt: str,
        recency_hours: Sequence[float] | None = None,
        is_important: Sequence[bool] | None = None,
    ) -> list[float]:
        """The scores of chunks that have nothing to do with each other."""
        said = [Said(chunk, place=str(n)) for n, chunk in enumerate(chunks)]
        return self.score_said(said, prompt, recency_hours, is_important)

    def score_said(
        self,
        said: Sequence[Said],
        prompt: str,
        recency_hours: Sequence[float] | None = None,
        is_important: Sequence[bool] | None = None,
    ) -> list[float]:
        """The scores of chunks of a conversation, where what stands beside a chunk counts, too."""
        hours = recency_hours or [0.0] * len(said)
        important = is_important or [False] * len(said)
        weights = (
            self.config.memfas_weight, self.config.recency_bonus, self.config.importance_bonus
        )  # fmt: skip
        return [
            score(alike, old, matters, weights)
            for alike, old, matters in zip(
                self._similarities(prompt, said), hours, important, strict=True
            )
        ]

    def _similarities(self, prompt: str, said: Sequence[Said]) -> list[float]:
        client = self.memfas_client
        if client is None:
            found = similarities(prompt, said)
        else:
            found = client.similarities(prompt, said)
            self.notes += client.notes
            client.notes.clear()
        least = self.config.memfas_min_score
        return [one if one >= least else 0.0 for one in found]


def scores_by(
    scorer: Any, said: Sequence[Said], prompt: str, hours: Sequence[float],
    important: Sequence[bool],
) -> list[float]:  # fmt: skip
    """The scores of chunks by any scorer: ours, one with another `score` or `score_batch`, or an
    object that has one of these. Whatever it raises is raised; ValueError for a wrong number of
    scores, or what is none.
    """

    def is_ours(name: str) -> bool:
        ours = getattr(RelevanceScorer, name)
        return getattr(getattr(scorer, name, None), "__func__", None) is ours

    changed = {name for name in ("score", "score_batch") if hasattr(scorer, name)}
    changed = {name for name in changed if not is_ours(name)}
    if not changed:
        return list(scorer.score_said(said, prompt, hours, important))
    texts = [one.text for one in said]
    if "score_batch" in changed:
        found = [float(one) for one in
                 scorer.score_batch(texts, prompt, list(hours), list(important))]  # fmt: skip
    else:
        each = zip(texts, hours, important, strict=True)
        found = [float(scorer.score(text, prompt, old, matters)) for text, old, matters in each]
    if len(found) != len(texts) or not all(map(isfinite, found)):
        raise ValueError(f"{len(found)} scores for {len(texts)} chunks, or some that are no number")
    return found


class MemfasIntegration:
    """Compares chunks with a prompt by what a memory folder brings along: its embedder, where
    backend_type or its settings name one, and the hints of its triggers that the prompt fires.

    memory_path: a memfas.yaml, memfas.json or a folder; where there is none, words alone count, and
    notes say so. Nothing is opened before it is asked.
    """

    def __init__(
        self, memory_path: str | Path = "./memfas.json", backend_type: str = "fts5",
        embedder: Embedder | None = None,
    ) -> None:  # fmt: skip
        self.memory_path = memory_path
        self.backend_type = backend_type
        self.notes: list[str] = []
        self._embedder = embedder
        self._memory: Memory | None = None
        self._failed = False

    def score_chunks(self, chunks: Sequence[str], prompt: str, limit: int = 5) -> list[float]:
        """How much each chunk is about the prompt, 0 to 1. limit: how many of the best are told, 0
        for the others.
        """
        said = [Said(chunk, place=str(n)) for n, chunk in enumerate(chunks)]
        found = self.similarities(prompt, said)
        if limit >= len(found):
            return found
        best = set(sorted(range(len(found)), key=lambda n: (-found[n], n))[: max(0, limit)])
        return [value if n in best else 0.0 for n, value in enumerate(found)]

    def find_relevant(
        self, chunks: Sequence[str], prompt: str, threshold: float = 0.3, limit: int = 10
    ) -> list[int]:
        """The numbers of the chunks that are so much about the prompt."""
        found = self.score_chunks(chunks, prompt, limit)
        return [n for n, value in enumerate(found) if value >= threshold]

    def similarities(self, prompt: str, said: Sequence[Said]) -> list[float]:
        """How much each chunk of a conversation is about the prompt, 0 to 1."""
        memory = self._opened()
        asked = f"{prompt} {self._hints(memory, prompt)}".strip()
        found = similarities(prompt, said)
        if asked != prompt.strip():
            wider = similarities(asked, said)
            found = [max(pair) for pair in zip(found, wider, strict=True)]
        embedder = self._embedder or self._embedder_of(memory)
        if embedder is None:
            return found
        try:
            return [max(pair) for pair in zip(
                found, similarities(prompt, said, embedder), strict=True)]  # fmt: skip
        except Exception as error:  # noqa: BLE001 - an embedder of the host's may raise anything
            self.notes.append(f"{told(error)}; chunks are compared by words")
            return found

    def close(self) -> None:
        """Let go of the memory."""
        if self._memory is not None:
            self._memory.close()
            self._memory = None

    def _opened(self) -> Memory | None:
        if self._memory is None and not self._failed:
            from agent_memfas.memory import Memory

            path = Path(self.memory_path).expanduser()
            place = path if path.exists() else path.parent
            wanted = self.backend_type if self.backend_type in MEANING else None
            try:
                self._memory = Memory(place, wanted)
            except MemfasError as error:
                self._failed = True
                self.notes.append(f"{error.message}; chunks are compared by words")
        return self._memory

    @staticmethod
    def _hints(memory: Memory | None, prompt: str) -> str:
        """The hints of the triggers that a prompt fires."""
        if memory is None or not prompt.strip():
            return ""
        try:
            return " ".join(memory.hints(prompt))
        except MemfasError:
            return ""

    def _embedder_of(self, memory: Memory | None) -> Embedder | None:
        if memory is None or self._failed:
            return None
        return memory.embedder


def create_memfas_scorer(
    memory_path: str | Path = "./memfas.json", backend_type: str = "fts5"
) -> MemfasIntegration:
    """A comparison by a memory folder."""
    return MemfasIntegration(memory_path, backend_type)
