"""Vectors in the index file: one for each text, whatever file it stands in, for one model.

Kept as one byte a dimension (measured: no figure of recall changes by more than noise), compared
one by one: 10,000 of 512 numbers in 1.2 ms.
"""

from __future__ import annotations

import json
import re
import sqlite3
from array import array
from collections.abc import Iterable, Sequence
from typing import Any

from agent_memfas.index.database import Damaged
from agent_memfas.index.fusion import Measure
from agent_memfas.index.schema import set_meta
from agent_memfas.store.places import PUT_AWAY

# A heading with nothing under it says nothing that could be meant.
_HEADING = "p.text like '#%' and ltrim(p.text, '#') like ' %' and instr(p.text, char(10)) = 0"
_BULLET = re.compile(
    r"\s{0,3}(?:[-*+]|\d{1,3}[.)])\s+"
    r"(?:\[(?:P\d|\d{4}-\d\d-\d\d|ttl:[^\]]*|until:[^\]]*|superseded:[^\]]*)\])*\s*"
)


class Matrix:
    """The vectors of passages. numbers: their ids; rows: of length 1, one for each."""

    def __init__(self, numbers: list[int], rows: Any) -> None:
        self.rows = rows
        self.numbers = numbers
        # The row of a passage, None where it has no vector.
        self.position = {number: n for n, number in enumerate(numbers)}.get


def embedded(text: str) -> str:
    """What is embedded of a passage: its text without the mark and the tags of its bullet."""
    return text[found.end() :] if (found := _BULLET.match(text)) else text


def packed(vector: Sequence[float]) -> bytes:
    """A vector as one number for its size and one byte for each dimension."""
    size = max(map(abs, vector), default=0.0) or 1.0
    whole = array("b", (round(x / size * 127) for x in vector))
    return array("f", [size]).tobytes() + whole.tobytes()


def missing(connection: sqlite3.Connection) -> list[tuple[bytes, str]]:
    """(hash, text) of the texts that have no vector, those that were indexed last first."""
    kinds = ", ".join("?" * len(PUT_AWAY))
    return connection.execute(
        "select p.hash, p.text from passages p join files f on f.id = p.file"
        " left join vectors v on v.hash = p.hash"
        f" where v.hash is null and f.kind not in ({kinds}) and not ({_HEADING})"
        " group by p.hash order by max(p.id) desc",
        sorted(PUT_AWAY),
    ).fetchall()


def put(connection: sqlite3.Connection, vectors: Iterable[tuple[bytes, bytes]]) -> None:
    """Keep packed vectors of texts, by the hash of the text."""
    connection.executemany("insert or replace into vectors values(?, ?)", vectors)


def load(connection: sqlite3.Connection) -> Matrix:
    """The vectors of all passages that have one. Damaged where one is not what was written."""
    import numpy

    found = connection.execute(
        "select p.id, v.vector from passages p join vectors v on v.hash = p.hash order by p.id"
    ).fetchall()
    if len({len(vector) for _, vector in found}) > 1:
        raise Damaged("a vector is not what was written")
    numbers = [number for number, _ in found]
    if not found:
        return Matrix([], numpy.zeros((0, 0), dtype=numpy.float32))
    whole = numpy.frombuffer(b"".join(vector[4:] for _, vector in found), dtype=numpy.int8)
    rows = whole.reshape(len(found), -1).astype(numpy.float32)
    lengths = numpy.linalg.norm(rows, axis=1, keepdims=True)
    lengths[lengths == 0] = 1.0
    return Matrix(numbers, rows / lengths)


def speakers(connection: sqlite3.Connection) -> list[str]:
    """Everybody who says something."""
    rows = connection.execute("select distinct speaker from passages where speaker <> ''")
    return [speaker for (speaker,) in rows]


def known_model(meta: dict[str, str]) -> tuple[str, array[float], list[Measure]] | None:
    """(name, vector of the probe, measures for Latin and other scripts) of the model whose vectors
    are there, None where there are none."""
    try:
        name, probe, *measures = json.loads(meta.get("model", "null"))
        return name, array("f", probe), [Measure(*map(float, each)) for each in measures]
    except (TypeError, ValueError):
        return None


def set_model(
    connection: sqlite3.Connection, name: str, probe: Sequence[float], measures: list[Measure]
) -> None:
    """From now on these are the vectors of this model; those of another one go."""
    connection.execute("delete from vectors")
    kept = [name, [round(x, 5) for x in probe]]
    kept += [[m.ordinary, m.spread, m.trust] for m in measures]
    set_meta(connection, [("model", json.dumps(kept)), ("dimension", str(len(probe)))])
