"""Milvus as a backend: candidates from a collection that many folders share.

Milvus says which passages hold a term, the best first; what each is worth is reckoned anew, for
Milvus' idf and lengths are those of all folders in a collection, in Milvus Lite of each segment. A
row that is found stands for a passage only where the index has it, with the same text at the same
place: whatever else is in the collection, no folder answers for another, and nothing that has gone
from the files comes back.
"""

from __future__ import annotations

import os
import time
from array import array
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from agent_memfas.index import fusion
from agent_memfas.index.backends import Differences
from agent_memfas.index.backends.collection import Apart, Collection
from agent_memfas.index.backends.pushed import Pushed, marks_of, state_of
from agent_memfas.index.backends.sqlite import ALONE
from agent_memfas.index.postings import average_length, saturated, summed, weights_of
from agent_memfas.index.ranking import POOL, REACH, Cosines
from agent_memfas.index.rows import indexed
from agent_memfas.index.search import Rows
from agent_memfas.text.words import terms

Part = dict[int, float]

if TYPE_CHECKING:
    import sqlite3

    from agent_memfas.index.database import Database
    from agent_memfas.index.fusion import Measure

BATCH = 500  # rows that are written at once
MANY = 500  # rows after which Milvus Lite has to settle
BEST, EACH = 500, 60  # rows for the whole question, and for each of its terms
NEAREST = 1_000  # cosines that are asked for; what is farther away counts as ordinary
SAMPLE = 200  # passages whose cosines say what is ordinary
PUSHED = ".shared"  # the end of the file of what was pushed
_ROWS = (
    "select p.hash, p.seal, f.path, f.kind, p.day, p.priority, p.text, p.heading, v.vector"
    " from passages p join files f on f.id = p.file left join vectors v on v.hash = p.hash"
    " where f.path = ? order by p.place"
)


class MilvusBackend:
    """A folder's namespace in a collection. The collection has to be open (see opened)."""

    def __init__(self, collection: Collection) -> None:
        self.collection = collection
        self._dense = collection.dimension > 0
        self._pushed: Pushed | None = None
        self._seen: tuple[object, dict[bytes, str]] | None = None

    def sync(
        self, database: Database, deadline: float | None, tell: Callable[[int, int], None] | None
    ) -> int:
        """Push what is new, take out what has gone, file by file; the state is written last. All
        vectors that there are to be have to be in the index. Apart where it is another state and
        this machine does not push; Gone.
        """
        marks = self._marks(database)
        state, there = state_of(marks), self.collection.state()
        if there == state:
            return 0
        if not self.collection.address.push:
            raise Apart("the shared index holds another state of the files than there is here")
        pushed = self._known(database)
        self.collection.make()
        if not there or there != pushed.get("state"):
            pushed.learn((os.fsencode(p), n) for p, n in self._listed())
        if not there:
            self.collection.lead_here()
        pushed.keep("state", "")  # should this be cut off, the ids are listed the next time
        have = pushed.marks()
        todo = [path for path in sorted(marks) if have.get(path) != marks[path]]
        todo += sorted(pushed.paths() - marks.keys())
        pushed.keep(
            "state", ""
        )  # until this push has come to an end: else the ids are listed again
        work = _Work(self.collection, pushed, self._dense)
        for n, path in enumerate(todo):
            if deadline is not None and time.monotonic() > deadline:
                work.finish()
                pushed.keep("state", there)
                return sum(_count(marks.get(path, "")) for path in todo[n:]) or 1
            work.file(database.connection, path)
            if tell:
                tell(n + 1, len(todo))
        work.finish()
        now = state_of(pushed.marks())
        self.collection.set_state(now)
        pushed.keep("state", now)
        return int(now != state)  # else the files have changed meanwhile

    def forget(self, database: Database) -> int:
        """Take all of the namespace out of the collection. Returns how many passages that were."""
        if not self.collection.address.push:
            raise Apart("search.push is false: this machine does not write the shared index")
        numbers = [number for _, number in self.collection.numbers()]
        if self.collection.state() or numbers:
            self.collection.remove([*numbers, "state"])
        self._known(database).forget()
        self.close()
        return len(numbers)

    def parts(self, database: Database, question: str) -> list[Part]:
        """The best passages of each term that Milvus knows, with the shares of the index."""
        connection, documents = database.connection, database.count("passages")
        present, weights = weights_of(connection, documents, question)
        asked = [term for _, term in present]
        # By the whole question, and by each term alone: what stands beside an answer has few.
        found = self.collection.by_words([asked], BEST)
        found += self.collection.by_words([[term] for term in asked], EACH)
        rows = _rows_of(connection, {number for hits in found for number in hits})
        counts = _counted(connection, set(rows.values()))
        average = _average(connection, documents, present, counts)
        own = summed(_shares(present, weights, counts, average))
        # What stands around the best is part of a ranking, whether or not Milvus thought of it.
        best = sorted(own, key=lambda row: -own[row])[:POOL]
        around = Rows(connection).around(best, REACH)
        counts.update(_counted(connection, around.keys() - counts.keys()))
        return _shares(present, weights, counts, average)

    def cosines(
        self, database: Database, question: str, vector: array[float], model: Measure, *,
        alone: bool,
    ) -> Cosines:  # fmt: skip
        """What the model makes of a question; a sample of the passages says what is ordinary."""
        latin = fusion.is_latin(question)
        if len(vector) != self.collection.dimension:
            return Cosines([], lambda _: None, model.ordinary, model.spread, 0.0, latin)
        connection = database.connection
        found = self.collection.by_meaning(vector, NEAREST)
        sample = list(found.values())
        if len(found) >= NEAREST:
            among = [_number(*row) for row in connection.execute(
                "select hash, seal from passages order by hash limit ?", (SAMPLE,)
            )]  # fmt: skip
            sample = list(self.collection.by_meaning(vector, SAMPLE, among).values())
        count = max(len(sample), 1)
        mean = sum(sample) / count
        spread = (sum((cosine - mean) ** 2 for cosine in sample) / count) ** 0.5
        ordinary, spread = fusion.standard(
            self.count(database) if sample else 0, mean, spread, model
        )
        trust = 1.0 if alone else model.trust
        rows = _rows_of(connection, found)
        of = {rows[number]: cosine for number, cosine in found.items() if number in rows}
        least = ordinary + (ALONE if alone else 1.0) * spread
        best = sorted((row for row in of if of[row] > least), key=lambda row: -of[row])[:POOL]
        return Cosines(best if trust else [], of.get, ordinary, spread, trust, latin, alone)

    def count(self, database: Database) -> int:
        """How many passages the index has; the collection has the same where it is in step."""
        return database.count("passages")

    def check(self, database: Database) -> Differences:
        """Passage by passage: each row's number says what it holds and where that stands."""
        here = {
            _number(key, seal): os.fsdecode(path)
            for key, seal, path in database.connection.execute(
                "select p.hash, p.seal, f.path from passages p join files f on f.id = p.file"
            )
        }  # fmt: skip
        there = {number: path for path, number in self._listed()}
        return Differences(
            tuple(sorted(here[number] for number in here.keys() - there.keys())),
            tuple(sorted(there[number] for number in there.keys() - here.keys())),
        )

    def close(self) -> None:
        """Let go of the collection and of the file of what was pushed."""
        self.collection.close()
        if self._pushed is not None:
            self._pushed.close()
        self._pushed = self._seen = None

    def _listed(self) -> Iterable[tuple[str, str]]:
        return self.collection.numbers()

    def _marks(self, database: Database) -> dict[bytes, str]:
        token = database.token()
        if self._seen is None or self._seen[0] != token:
            self._seen = token, marks_of(database.connection)
        return self._seen[1]

    def _known(self, database: Database) -> Pushed:
        if self._pushed is None:
            address = self.collection.address
            whose = repr((address.uri, self.collection.name, address.namespace))
            path = f"{database.path}{PUSHED}" if database.path else ""
            self._pushed = Pushed(path, whose)
        return self._pushed


class _Work:
    """Rows on their way, a batch at a time: no more is read before the last one is there."""

    def __init__(self, collection: Collection, pushed: Pushed, dense: bool) -> None:
        self._collection, self._pushed, self._dense = collection, pushed, dense
        self._rows: list[dict[str, Any]] = []
        self._new: list[tuple[bytes, str]] = []
        self._gone: list[tuple[bytes, str]] = []
        self._whole: list[tuple[bytes, str]] = []
        self._written = 0

    def file(self, connection: sqlite3.Connection, path: bytes) -> None:
        """All of a file, as it is in the index now."""
        known, there = self._pushed.ids(path), set[str]()
        count = total = 0
        for key, seal, raw, kind, day, priority, text, heading, vector in connection.execute(
            _ROWS, (path,)
        ).fetchall():
            number = _number(key, seal)
            count, total = count + 1, total + seal
            there.add(number)
            if number in known:
                continue
            self._rows.append(self._collection.row(
                number, os.fsdecode(raw), kind, day, priority, indexed(text, heading, day),
                _unpacked(vector) if self._dense and vector is not None else None,
            ))  # fmt: skip
            self._new.append((path, number))
            if len(self._rows) >= BATCH:
                self._send()
        self._gone += [(path, number) for number in known - there]
        self._whole.append((path, f"{count}:{total}" if there else ""))

    def finish(self) -> None:
        """What is still on its way."""
        self._send()
        if self._written >= MANY:
            self._collection.settle()

    def _send(self) -> None:
        if self._rows:
            self._collection.put(self._rows)
        if self._gone:
            self._collection.remove([number for _, number in self._gone])
        self._pushed.note(self._new, self._gone, self._whole)
        self._written += len(self._rows)
        self._rows, self._new, self._gone, self._whole = [], [], [], []


def _number(key: bytes, seal: int) -> str:
    """What a passage is known by: its text's hash, and the seal of all else about it."""
    return f"{key.hex()}{seal:08x}"


def _rows_of(connection: sqlite3.Connection, numbers: Iterable[str]) -> dict[str, int]:
    """The passages of the index that these stand for."""
    wanted = {bytes.fromhex(number[:-8]) for number in numbers}
    listed, found = list(wanted), dict[str, int]()
    for at in range(0, len(listed), 500):
        some = listed[at : at + 500]
        marks = ", ".join("?" * len(some))
        for key, seal, row in connection.execute(
            f"select hash, seal, id from passages where hash in ({marks})", some
        ):
            found[_number(key, seal)] = row
    return found


def _average(
    connection: sqlite3.Connection, documents: int, present: Sequence[tuple[int, str]],
    counts: Mapping[int, Counter[str]],
) -> float:  # fmt: skip
    """Terms of an average passage of the index, by the rarest term that stands in any of these."""
    for holding, term in present:
        for row, told in counts.items():
            if told.get(term):
                return average_length(connection, documents, term, holding, row, told)
    return 1.0


def _shares(
    present: Sequence[tuple[int, str]], weights: Mapping[str, float],
    counts: Mapping[int, Counter[str]], average: float,
) -> list[Part]:  # fmt: skip
    """What each of these passages has of each term, whether it was found by that one or another."""
    found = [
        {row: weights[term] * saturated(told[term], told.total(), average)
         for row, told in counts.items() if term in told}
        for _, term in present
    ]  # fmt: skip
    return [part for part in found if part]


def _counted(connection: sqlite3.Connection, passages: set[int]) -> dict[int, Counter[str]]:
    """The terms of these passages, each with how often it stands there."""
    listed, found = list(passages), dict[int, Counter[str]]()
    for at in range(0, len(listed), 500):
        some = listed[at : at + 500]
        marks = ", ".join("?" * len(some))
        for row, *told in connection.execute(
            f"select id, text, heading, day from passages where id in ({marks})", some
        ):
            found[row] = _counts(*told)
    return found


@lru_cache(maxsize=20_000)
def _counts(text: str, heading: str, day: str) -> Counter[str]:
    return Counter(terms(indexed(text, heading, day)))


def _unpacked(vector: bytes) -> Sequence[float]:
    """A packed vector with the length 1, as it is compared in the index."""
    whole = array("b", vector[4:])
    length = sum(x * x for x in whole) ** 0.5 or 1.0
    return [x / length for x in whole]


def _count(mark: str) -> int:
    return int(mark.partition(":")[0] or 0)
