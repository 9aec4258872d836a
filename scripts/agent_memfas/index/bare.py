"""Postings without an index: BM25 (rank-bm25) over passages held in memory."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Sequence

from agent_memfas.index import ranking
from agent_memfas.index.postings import K1, B, asked_terms, weighed
from agent_memfas.index.rows import Row
from agent_memfas.text.words import terms


class BareRanking:
    """Passages in the order of their files, ranked by the same formula and constants as those of an
    index. rows: (path, row), those of a file together and in its order.

    rank_bm25's Okapi is that formula; its idf, which may be negative, is replaced by ours. (Its
    BM25L multiplies by the frequency once too often.)
    """

    def __init__(self, rows: Sequence[tuple[str, Row]]) -> None:
        from rank_bm25 import BM25Okapi

        self._rows = rows
        listed = [terms(row.indexed) or [""] for _, row in rows]
        self._holding = Counter(term for found in listed for term in set(found) if term)
        self._model = BM25Okapi(listed, k1=K1, b=B) if listed else None
        if self._model is not None:
            self._model.idf = dict.fromkeys(self._holding, 1.0)
        self._first: list[int] = []  # of each passage's file
        for n, (path, _) in enumerate(rows):
            same = n and rows[n - 1][0] == path
            self._first.append(self._first[-1] if same else n)

    def parts(self, question: str) -> list[dict[int, float]]:
        """As `postings.postings`; the rows are positions."""
        asked, found = asked_terms(question), []
        for term, weight in weighed(asked, self.holding(asked), len(self._rows)).items():
            assert self._model is not None
            raw = self._model.get_scores([term])
            found.append({int(n): float(raw[n]) * weight for n in raw.nonzero()[0]})
        return found

    def holding(self, asked: Iterable[str]) -> dict[str, int]:
        """In how many passages each term stands, those left out that stand in none."""
        return {term: self._holding[term] for term in asked if term in self._holding}

    def having(self, asked: Iterable[str]) -> dict[str, list[int]]:
        """The passages that each term stands in, terms left out that stand in none."""
        found: dict[str, list[int]] = {term: [] for term in asked if term in self._holding}
        if self._model is not None:
            for n, frequencies in enumerate(self._model.doc_freqs):
                for term in found.keys() & frequencies.keys():
                    found[term].append(n)
        return found

    def around(self, passages: Collection[int], reach: int) -> dict[int, tuple[int, int, int]]:
        """Where these passages stand, and those within reach of them in their files."""
        near = {m for n in passages for m in range(n - reach, n + reach + 1)
                if 0 <= m < len(self._rows) and self._first[m] == self._first[n]}  # fmt: skip
        return {n: self._place(n) for n in near}

    def spots(
        self,
        passages: Collection[int],
        *,
        texts: bool = True,  # noqa: ARG002 - they are here
    ) -> dict[int, ranking.Spot]:
        """What is known of these."""
        return {n: self._spot(n) for n in passages}

    def within(self, sections: Collection[int]) -> dict[int, int]:
        """Every passage of these sections, with its section."""
        wanted = set(sections)
        return {n: number for n in range(len(self._rows)) if (number := self._section(n)) in wanted}

    def _section(self, n: int) -> int:
        return hash((self._first[n], self._rows[n][1].heading))

    def _place(self, n: int) -> tuple[int, int, int]:
        return self._first[n], n - self._first[n], self._section(n)

    def _spot(self, n: int) -> ranking.Spot:
        path, row = self._rows[n]
        return ranking.Spot(path, n - self._first[n], row.speaker, row.opens, row.asks,
                            row.day, row.superseded, row.text)  # fmt: skip
