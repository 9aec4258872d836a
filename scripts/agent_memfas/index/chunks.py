"""Chunks in memory, ranked as the index ranks passages: those of a live context, and those in cold
storage.

What stands beside a chunk counts as it does for passages (`ranking`): the answer to a question
seldom repeats its words. Of LoCoMo's turns that are evidence, 70 % are among the best five for
their question; by BM25 alone (rank-bm25) 55 %, by Jaccard over all words 22 %.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import median
from typing import Any

from agent_memfas.embedders.base import Embedder
from agent_memfas.index import ranking
from agent_memfas.index.bare import BareRanking
from agent_memfas.index.postings import asked_terms, idf
from agent_memfas.index.rows import Row
from agent_memfas.text.record import Record
from agent_memfas.text.speakers import asks, speaker_of
from agent_memfas.text.stopwords import is_stop_word
from agent_memfas.text.valuing import similarity
from agent_memfas.text.words import query_terms, words

BESIDE = 0.1  # what the whole of Jaccard's measure counts beside the ranking
LONGEST = 20_000  # characters of a chunk that are ranked
LONGEST_NAME = 80  # characters that a name at the beginning is looked for in
FEW_TERMS = 0.2  # so much less than certain is one term of one; of three it is a sixteenth
USUAL = 50  # chunks, in which a word is as rare as it may be, be there fewer
FEW = 8  # chunks: of fewer the middle one says nothing
_SURE = 0.999


class Said(Record):
    """What is ranked. speaker: a role will do; a name that the text begins with (`Alice: …`) counts
    before it. place: chunks of the same place stand beside each other, in their order.
    """

    text: str
    speaker: str = ""
    day: str = ""
    place: str = ""


class Chunks:
    """Chunks to be ranked; those of one place one after the other."""

    def __init__(self, said: Sequence[Said]) -> None:
        self._said = said
        self._bare = BareRanking([(one.place, _row(n, one)) for n, one in enumerate(said)])

    def ranked(self, query: str) -> list[tuple[int, float]]:
        """(number, score) of the chunks that a query finds, best first; the score is 0 to 1.

        score = the ranking's + 0.1 * Jaccard (|query and chunk| / |query or chunk|, over words
        without stop words, as agent-memfas recovers), held to 1.
        """
        wanted, scores = _words(query), self._scores(query)
        if not wanted:
            return sorted(scores.items(), key=lambda pair: (-pair[1], pair[0]))
        found = {
            n: min(1.0, score + BESIDE * _jaccard(wanted, _words(self._said[n].text)))
            for n, score in scores.items()
        }
        return sorted(found.items(), key=lambda pair: (-pair[1], pair[0]))

    def similarities(self, prompt: str) -> list[float]:
        """How much each chunk is about a prompt, 0 to 1: .4 is related, from .75 on it is mostly
        evidence.

        The larger of two: what `valuing.similarity` makes of the ranking, which knows what stands
        beside it; and how much of the prompt the chunk has itself, its rarest terms before all
        (sum of their idf over that of all, the fewer they are the less). Of LoCoMo's evidence half
        comes to .78, of other turns one in a hundred.
        """
        scores, length = self._scores(prompt), len(query_terms(prompt))
        own = self._coverages(prompt)
        return [max(similarity(scores.get(n, 0.0), length), own[n]) for n in range(len(self._said))]

    def _coverages(self, prompt: str) -> list[float]:
        """The share of a prompt that each chunk has itself."""
        asked = asked_terms(prompt)
        told = {term: weight for term, weight in asked.items() if not is_stop_word(term)}
        holding = self._bare.holding(told)
        weights = {
            term: weight * idf(max(len(self._said), USUAL), holding.get(term, 0))
            for term, weight in told.items()
        }
        total = sum(weights.values())
        if not total:
            return [0.0] * len(self._said)
        sure = len(weights) / (len(weights) + FEW_TERMS) / total
        found = [0.0] * len(self._said)
        for term, passages in self._bare.having(holding).items():
            for n in passages:
                found[n] += weights[term] * sure
        return [min(1.0, one) for one in found]

    def _scores(self, query: str) -> Mapping[int, float]:
        parts = self._bare.parts(query) if self._said else []
        if not parts:
            return {}
        order = ranking.rank(query, parts, self._bare)
        return {one.passage: order.score(one) for one in order.pool if one.total > 0}


def similarities(
    prompt: str, said: Sequence[Said], embedder: Embedder | None = None
) -> list[float]:
    """How much each chunk is about a prompt, 0 to 1, 0 for a blank one. With an embedder, by
    meaning or by words, whichever says more. Errors of the embedder are the caller's.

    Models differ in what they give to any two texts: a cosine counts from the middle one of the
    chunks on.
    """
    if not said or not prompt.strip():
        return [0.0] * len(said)
    found = Chunks(said).similarities(prompt)
    if embedder is not None:
        near = _nearness(prompt, [one.text[:LONGEST] for one in said], embedder)
        found = [max(pair) for pair in zip(found, near, strict=True)]
    return [
        0.0 if not one.text.strip() else value for one, value in zip(said, found, strict=True)
    ]  # fmt: skip


def _nearness(prompt: str, texts: Sequence[str], embedder: Embedder) -> list[float]:
    import numpy

    vectors: Any = numpy.asarray(embedder.embed_batch([*texts, prompt]), dtype=numpy.float32)
    lengths = numpy.linalg.norm(vectors, axis=1)
    vectors = vectors / numpy.where(lengths > 0, lengths, 1.0)[:, None]
    cosines = [float(one) for one in vectors[:-1] @ vectors[-1]]
    usual = min(max(median(cosines), 0.0), _SURE) if len(cosines) >= FEW else 0.0
    return [max(0.0, min(1.0, (one - usual) / (1 - usual))) for one in cosines]


def _row(number: int, said: Said) -> Row:
    text = said.text[:LONGEST]
    speaker = speaker_of(f"- {text[:LONGEST_NAME]}") or said.speaker
    return Row(
        number + 1, number + 1, "", said.day, "", "", "", "", speaker, 1, int(asks(text)), text
    )  # fmt: skip


def _words(text: str) -> set[str]:
    return {word for word in words(text[:LONGEST]) if not is_stop_word(word)}


def _jaccard(asked: set[str], here: set[str]) -> float:
    return len(asked & here) / len(asked | here) if asked or here else 0.0
