"""Postings: what BM25 gives each passage for each term of a question, from FTS5."""

from __future__ import annotations

from functools import lru_cache
from math import log

from agent_memfas.text.words import query_terms, terms

TYPE_CHECKING = False
if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterable, Mapping, Sequence

K1, B = 1.2, 0.75  # FTS5's own, which its bm25() does not let one change
POSTINGS = 4_000  # rows that a question scores before its commonest terms only rank the rest
POOL = 4_000  # passages that those terms rank


def idf(documents: int, holding: int) -> float:
    """ln((N + 1) / (n + 0.5)): never negative, and of use in a store of three notes, where the
    idf of Robertson and Spärck Jones, ln((N - n + 0.5) / (n + 0.5)), is about 0.
    """
    return log((documents + 1) / (holding + 0.5))


@lru_cache(maxsize=4)  # a ranking asks for them, too
def asked_terms(question: str) -> Mapping[str, float]:
    """The terms of a question, each with 1 + ln(times it stands there): a long question says what
    it is about by repeating it.
    """
    times: dict[str, int] = {}
    for term in terms(question):
        times[term] = times.get(term, 0) + 1
    return {term: 1 + log(times.get(term, 1)) for term in query_terms(question)}


def weighed(
    asked: Mapping[str, float], holding: Mapping[str, int], documents: int
) -> dict[str, float]:
    """The weight of each term that stands in any document, as a share of what an ideal document
    gets: one that holds every such term very often.
    """
    weights = {term: asked[term] * idf(documents, n) for term, n in holding.items()}
    most = (K1 + 1) * sum(weights.values())
    return {term: weight / most for term, weight in weights.items()} if most else {}


def postings(
    connection: sqlite3.Connection, documents: int, question: str
) -> list[dict[int, float]]:
    """For each term that stands in any document: row -> its share, 0 to 1, of what an ideal
    document gets for the whole question; a row's shares sum to its BM25 as such a share.

    Robertson and Zaragoza, "The Probabilistic Relevance Framework: BM25 and Beyond" (2009). FTS5
    scores each posting at about 1.2 us. The rarest terms decide who is in; where the commonest
    would cost more than POSTINGS allows they only rank the best of those.
    """
    present, weights = weights_of(connection, documents, question)
    if not present:
        return []
    factors = {term: -weights[term] / _fts5_idf(documents, n) for n, term in present}
    rare, total = 0, 0
    for count, _ in present:
        if rare and total + count > POSTINGS:
            break
        rare, total = rare + 1, total + count
    raw = [_rows(connection, quoted(term)) for _, term in present[:rare]]
    parts = [
        {row: rank * factors[term] for row, rank in rows.items()}
        for (_, term), rows in zip(present, raw, strict=False)
    ]
    if rare < len(present):
        some = " OR ".join(quoted(term) for _, term in present[:rare])
        pool = _pool(parts, raw)
        for _, term in present[rare:]:
            # rank sums over all the phrases, the rare ones too: what is more is the term's own.
            rows = _rows(connection, f"{quoted(term)} AND ({some})")
            factor = factors[term]
            parts.append({n: (rows[n] - pool[n]) * factor for n in rows.keys() & pool.keys()})
    return parts


def weights_of(
    connection: sqlite3.Connection, documents: int, question: str
) -> tuple[list[tuple[int, str]], dict[str, float]]:
    """The terms of a question that stand in any document, the rarest first, each with how many hold
    it; and the weight of each (see weighed).
    """
    asked = asked_terms(question)
    if not asked or not documents:
        return [], {}
    holding = _holding_of(connection, asked)
    present = sorted(((n, term) for term, n in holding.items()), key=lambda pair: pair[0])
    return present, weighed(asked, holding, documents)


def average_length(
    connection: sqlite3.Connection, documents: int, term: str, holding: int, row: int,
    counts: Mapping[str, int],
) -> float:  # fmt: skip
    """Terms of an average document, from what FTS5 makes of one row: its rank is solved for it.
    counts: the terms of that row, each with how often it stands there.
    """
    found = connection.execute(
        "select rank from words(?) where rowid = ?", (quoted(term), row)
    ).fetchone()
    length, often = sum(counts.values()), counts.get(term, 0)
    if not found or not found[0] or not often:
        return float(length)
    saturation = -found[0] / _fts5_idf(documents, holding)
    rest = often * (K1 + 1) / saturation - often - K1 * (1 - B)
    return K1 * B * length / rest if rest > 0 else float(length)


def saturated(often: int, length: int, average: float) -> float:
    """What a document gets for a term that stands in it so often, before the term's weight."""
    return often * (K1 + 1) / (often + K1 * (1 - B + B * length / average)) if often else 0.0


def summed(parts: Iterable[Mapping[int, float]]) -> dict[int, float]:
    """The sum over the terms, for each row."""
    total: dict[int, float] = {}
    for part in parts:
        for row, share in part.items():
            total[row] = total.get(row, 0.0) + share
    return total


def whole(parts: Sequence[Mapping[int, float]], question: str) -> set[int]:
    """The rows that hold all the terms of the question."""
    if not parts or len(parts) < len(asked_terms(question)):
        return set()
    first, *others = sorted(parts, key=len)
    return {row for row in first if all(row in part for part in others)}


def quoted(term: str) -> str:
    """A term as an FTS5 string, whatever it holds."""
    return '"' + term.replace('"', '""') + '"'


def _holding_of(connection: sqlite3.Connection, asked: Iterable[str]) -> dict[str, int]:
    """How many rows hold each term; terms that none holds are left out."""
    found: dict[str, int] = {}
    for term in asked:
        row = connection.execute("select doc from vocabulary where term = ?", (term,)).fetchone()
        if row:
            found[term] = row[0]
    return found


def _rows(connection: sqlite3.Connection, query: str) -> dict[int, float]:
    return dict(connection.execute("select rowid, rank from words(?)", (query,)).fetchall())


def _pool(parts: Sequence[dict[int, float]], raw: Sequence[dict[int, float]]) -> dict[int, float]:
    """The rows with the best shares, with the sum of FTS5's own ranks."""
    own = summed(parts)
    best = sorted(own, key=lambda row: (-own[row], row))[:POOL] if len(own) > POOL else own
    ranks = summed(raw)
    return {row: ranks[row] for row in best}


def _fts5_idf(documents: int, holding: int) -> float:
    """The idf that FTS5's bm25() multiplies with, to be divided out (sqlite.org/fts5.html)."""
    return max(log((documents - holding + 0.5) / (holding + 0.5)), 1e-6)
