"""The rows of one file after the other: put in, brought up to date, taken out."""

from __future__ import annotations

import os
from hashlib import blake2b

from agent_memfas.index.database import APART, CONFIG, Damaged, Database
from agent_memfas.index.extract import Content, Extract, extract
from agent_memfas.index.rows import COLUMNS, indexed, seal
from agent_memfas.store.places import kind_of
from agent_memfas.text.firing import Trigger, key_of
from agent_memfas.text.record import Record
from agent_memfas.text.words import joined_terms

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

NOT_READ = b""  # in place of the hash of a file that could not be read
_COLUMNS = f"{COLUMNS}, hash"
_SETTING = ", ".join(f"{name} = ?" for name in f"place, section, seal, {_COLUMNS}".split(", "))


class Kept(Record):
    """A passage that is in the index. number: its id. fields: of _COLUMNS."""

    number: int
    place: int
    fields: tuple[Any, ...]

    @property
    def searched(self) -> tuple[Any, ...]:
        """What its terms depend on."""
        _, _, heading, day, *_, digest = self.fields
        return heading, day, digest


class Records:
    """Files and their rows, inside a transaction of somebody else's.

    files, passages: how many there are. triggers_changed: whether any trigger came or went.
    """

    def __init__(self, database: Database) -> None:
        self._connection = database.connection
        self.files = database.count("files")
        self.passages = database.count("passages")
        self.triggers_changed = False

    def put(self, path: str, content: Content, *, anew: bool = False) -> None:
        """A file as it was read. Of one that is there only what differs is written.

        anew: write all of it, though the bytes are the same.
        """
        row = self._connection.execute(
            "select id, hash, note from files where path = ?", (os.fsencode(path),)
        ).fetchone()
        if row is not None and row[1] == NOT_READ:
            self.remove(path)
            row = None
        if row is not None and row[1:] == (content.hash, content.note) and not anew:
            return
        found = extract(path, content.data)
        if row is None:
            self.files += 1
            file = self._name(path, found.kind, content.hash, content.note)
        else:
            file = row[0]
            self._connection.execute(
                "update files set kind = ?, hash = ?, note = ? where id = ?",
                (found.kind, content.hash, content.note, file),
            )
        self._write_triggers(file, path, found)
        self._write_passages(file, path, found, [] if row is None else self._kept(file), anew=anew)

    def put_unread(self, path: str, reason: str) -> None:
        """A file that cannot be read: no rows, and a note that says why."""
        self.remove(path)
        self._name(path, kind_of(path), NOT_READ, reason)

    def put_triggers(self, found: Sequence[Trigger]) -> None:
        """The triggers of files that are no memory themselves, in place of those before."""
        before = self._connection.execute("select path from files where kind = ?", (CONFIG,))
        for (path,) in before.fetchall():
            self.remove(os.fsdecode(path))
        for path in dict.fromkeys(trigger.path for trigger in found):
            own = tuple(trigger for trigger in found if trigger.path == path)
            name = f"{APART}{path}"
            file = self._name(name, CONFIG, NOT_READ, "")
            self._write_triggers(file, name, Extract(CONFIG, (), own))

    def remove(self, path: str) -> None:
        """A file with all its rows."""
        row = self._connection.execute(
            "select id, hash from files where path = ?", (os.fsencode(path),)
        ).fetchone()
        if row is not None:
            self._write_triggers(row[0], path, Extract("", (), ()))
            self._drop(self._kept(row[0]))
            self._connection.execute("delete from files where id = ?", row[:1])
            self.files -= row[1] != NOT_READ

    def _name(self, path: str, kind: str, digest: bytes, note: str) -> int:
        return int(self._connection.execute(
            "insert into files(path, kind, hash, note) values(?, ?, ?, ?)",
            (os.fsencode(path), kind, digest, note),
        ).lastrowid or 0)  # fmt: skip

    def _write_triggers(self, file: int, path: str, found: Extract) -> None:
        gone = self._connection.execute("delete from triggers where file = ?", (file,)).rowcount
        self._connection.executemany(
            "insert into triggers values(?, ?, ?, ?, ?, ?, ?, ?)",
            [(key := key_of(t.keyword), key.count(" ") + 1, t.keyword, t.hint, " ".join(t.links),
              file, t.line,
              seal(os.fsencode(path), key, t.keyword, t.hint, " ".join(t.links), t.line))
             for t in found.triggers],
        )  # fmt: skip
        self.triggers_changed |= gone > 0 or bool(found.triggers)

    def _kept(self, file: int) -> list[Kept]:
        """The passages of a file, in order. Damaged where one is not what was written."""
        rows = self._connection.execute(
            f"select p.id, p.place, p.seal, f.path, f.kind, {_COLUMNS.replace('hash', 'p.hash')}"
            " from passages p join files f on f.id = p.file where p.file = ? order by p.place",
            (file,),
        ).fetchall()
        if any(sealed != seal(place, *row) for _, place, sealed, *row in rows):
            raise Damaged("a passage is not what was written")
        return [Kept(number, place, tuple(row[2:])) for number, place, _, *row in rows]

    def _write_passages(
        self, file: int, path: str, found: Extract, kept: list[Kept], *, anew: bool
    ) -> None:
        """Make the passages of a file those of an extract: where a log has grown by a line, it is
        this line that is written."""
        new = [(*vars(row).values(), digest(row.text)) for row in found.rows]
        keys = [(fields[2], fields[3], fields[-1]) for fields in new]
        head, tail = (0, 0) if anew else common([old.searched for old in kept], keys)
        self._drop(kept[head : len(kept) - tail])
        shift = len(new) - len(kept)
        for old in [*kept[:head], *kept[len(kept) - tail :]]:
            place = old.place if old.place < head else old.place + shift
            if (place, new[place]) != (old.place, old.fields):
                self._connection.execute(
                    f"update passages set {_SETTING} where id = ?",
                    (place, section_of(file, new[place][2]),
                     seal(place, os.fsencode(path), found.kind, *new[place]), *new[place],
                     old.number),
                )  # fmt: skip
        for place in range(head, len(new) - tail):
            sealed = seal(place, os.fsencode(path), found.kind, *new[place])
            self._insert(file, place, sealed, new[place])

    def _insert(self, file: int, place: int, sealed: int, fields: tuple[Any, ...]) -> None:
        passage = self._connection.execute(
            f"insert into passages(file, place, section, seal, {_COLUMNS})"
            f" values({', '.join('?' * (4 + len(fields)))})",
            (file, place, section_of(file, fields[2]), sealed, *fields),
        ).lastrowid
        self._connection.execute(
            "insert into words(rowid, terms) values(?, ?)", (passage, _terms(fields))
        )
        self.passages += 1

    def _drop(self, kept: list[Kept]) -> None:
        """Take passages out; FTS5 wants to be told what they held."""
        self._connection.executemany(
            "insert into words(words, rowid, terms) values('delete', ?, ?)",
            [(old.number, _terms(old.fields)) for old in kept],
        )
        numbers = [(old.number,) for old in kept]
        self._connection.executemany("delete from passages where id = ?", numbers)
        self.passages -= len(kept)


def common(old: list[Any], new: list[Any]) -> tuple[int, int]:
    """How many at the beginning and, beyond these, at the end of two lists are the same."""
    most = min(len(old), len(new))
    head = next((n for n in range(most) if old[n] != new[n]), most)
    rest = most - head
    tail = next((n for n in range(rest) if old[-1 - n] != new[-1 - n]), rest)
    return head, tail


def section_of(file: int, heading: str) -> int:
    """The number of a section: of the passages of a file that stand under the same headings."""
    return file << 32 | seal(heading)


def _terms(fields: tuple[Any, ...]) -> str:
    _, _, heading, day, *_, text, _ = fields
    return joined_terms(indexed(text, heading, day))


def digest(text: str) -> bytes:
    """What tells one passage's text from another: 128 bits of BLAKE2b."""
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest()
