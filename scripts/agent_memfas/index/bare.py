"""Ranking without an index: BM25 (rank-bm25) over passages held in memory."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from agent_memfas.index.search import K1, B, idf
from agent_memfas.text.words import query_terms, terms


class BareRanking:
    """BM25 over a list of texts, by the same formula and constants as `search.ranked`.

    rank_bm25's Okapi is that formula; its idf, which may be negative, is replaced by ours. (Its
    BM25L multiplies by the frequency once too often.)
    """

    def __init__(self, texts: Sequence[str]) -> None:
        from rank_bm25 import BM25Okapi

        self._terms = [terms(text) for text in texts]
        self._sets = [frozenset(t) for t in self._terms]
        full = [t or [""] for t in self._terms]
        self._model = BM25Okapi(full, k1=K1, b=B) if full else None
        if self._model is not None:
            holding = Counter(term for terms_ in self._sets for term in terms_)
            self._model.idf = {term: idf(len(full), n) for term, n in holding.items()}

    def rank(self, question: str) -> list[tuple[int, float, bool]]:
        """(position, score, whole) of every text that shares a term with the question.

        score, 0 to 1: the BM25 sum as a share of what a text would get that holds very often each
        term of the question that any text holds. whole: it holds them all; such texts come first.
        """
        asked = query_terms(question)
        if not asked or self._model is None:
            return []
        raw = self._model.get_scores(asked)
        most = sum(self._idf(term) for term in asked) * (K1 + 1) or 1.0
        wanted = frozenset(asked)
        found = [
            (n, min(float(raw[n]) / most, 1.0), wanted <= self._sets[n])
            for n in range(len(self._sets)) if raw[n] > 0
        ]  # fmt: skip
        return sorted(found, key=lambda hit: (not hit[2], -hit[1], hit[0]))

    def _idf(self, term: str) -> float:
        assert self._model is not None
        known: dict[str, float] = self._model.idf
        return known.get(term, 0.0)
