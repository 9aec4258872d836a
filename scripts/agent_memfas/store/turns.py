"""Sessions of curation: their turns, topics, and what each was given; a file for each.

`.memfas/curation/<name>.json`, where the name is made of the session's id (`named.file_name`).
Derived: a file that is damaged or gone costs what the session remembers, never an answer.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from agent_memfas.errors import FileFault
from agent_memfas.store import durable
from agent_memfas.store.files import read
from agent_memfas.store.layout import Folder
from agent_memfas.store.locks import exclusive, state_folder
from agent_memfas.store.named import DAY, file_name, forget_old
from agent_memfas.text.record import Record

FOLDER, LOCK = "curation", "curation.lock"
DAYS = 30  # a session that was not heard of for so long is over
RECENT = 20  # turns that are kept as such; the reference keeps as many topics
HEARD = 3  # of these, the last ones keep what was said
LONGEST = 200  # characters of it
MOST = 5_000  # memories, topics and names; those that were not met for longest are forgotten
WAIT = 5.0  # seconds for another process
_LARGEST = 64 * 1024 * 1024  # bytes
_MOST_SECONDS = 1e11  # year 5138; more than that is no time, and no count
_VERSION = 1


class Turn(Record):
    """at: seconds since 1970. topic, confidence, shifted: see `text/turns`. message: the first 200
    characters of what was said; "" in a turn that is no longer among the last three.
    """

    at: float
    topic: str
    confidence: float = 0.5
    shifted: bool = False
    message: str = ""


class Given(NamedTuple):
    """How often a memory was given to a session; the number of the last such turn, and its time."""

    times: int
    turn: int
    at: float


class Session(Record):
    """What is known of a session. began, last: seconds since 1970, 0.0 before its first turn.

    turns, shifts: how many, of all times. recent: the last 20 turns, oldest first. topics, names:
    how many turns had each. given: by the memory's id. note: what was wrong with its file, or "".
    emptied: the number of the turn after which the window was compacted last, 0 for never.
    """

    id: str
    began: float = 0.0
    last: float = 0.0
    turns: int = 0
    shifts: int = 0
    recent: tuple[Turn, ...] = ()
    topics: Mapping[str, int] = {}
    names: Mapping[str, int] = {}
    given: Mapping[str, Given] = {}
    note: str = ""
    emptied: int = 0

    @property
    def held(self) -> frozenset[str]:
        """The memories that still stand in the window: given since it was compacted last."""
        return frozenset(key for key, given in self.given.items() if given.turn > self.emptied)

    @property
    def said(self) -> list[str]:
        """The last three messages, oldest first."""
        return [turn.message for turn in self.recent[-HEARD:] if turn.message]

    @property
    def topic(self) -> str:
        """Of the last turn, "" before the first."""
        return self.recent[-1].topic if self.recent else ""

    def with_turn(self, turn: Turn, given: Iterable[str], names: Iterable[str] = ()) -> Session:
        """The session after one more turn, in which it was given these memories."""
        number = self.turns + 1
        turn = Turn(float(turn.at), turn.topic, float(turn.confidence), bool(turn.shifted),
                    turn.message[:LONGEST])  # fmt: skip
        held = dict(self.given)
        for key in dict.fromkeys(given):
            old = held.pop(key, None)
            held[key] = Given(old.times + 1 if old else 1, number, turn.at)
        recent = [*self.recent, turn][-RECENT:]
        mute = [Turn(**{**vars(old), "message": ""}) for old in recent[:-HEARD]]
        return Session(
            self.id, self.began or turn.at, turn.at, number, self.shifts + turn.shifted,
            (*mute, *recent[-HEARD:]), _counted(self.topics, [turn.topic]),
            _counted(self.names, names), _newest(held), self.note, self.emptied,
        )  # fmt: skip


def load(folder: Folder, session: str) -> Session:
    """What is known of a session: nothing of one that is new or whose file is damaged."""
    path = folder.state / FOLDER / _file(session)
    try:
        data = read(path, _LARGEST).data
    except FileFault as fault:
        there = path.is_symlink() or path.exists()
        return Session(session, note=f"{fault.message}; {_ANEW}" if there else "")
    try:
        return _parsed(session, json.loads(data))
    except (ValueError, TypeError, LookupError, AttributeError, ArithmeticError, RecursionError):
        return Session(session, note=f"{path}: damaged; {_ANEW}")


def save(
    folder: Folder,
    session: str,
    turn: Turn,
    given: Sequence[str] = (),
    names: Sequence[str] = (),
    wait: float = WAIT,
) -> Session:
    """Add a turn to a session, whatever other processes have added meanwhile; the session as it is
    then.

    given: ids of the memories in the context of this turn, each counted once. names: what the
    message names. Sessions that nobody heard of for 30 days are forgotten when a new one begins.
    FileFault where it cannot be written, TryAgain where others are busy for `wait` seconds.
    """
    home = state_folder(folder, FOLDER)
    with exclusive(folder, LOCK, wait):
        was = load(folder, session)
        now = was.with_turn(turn, given, names)
        if not was.turns:
            forget_old(home, turn.at - DAYS * DAY)
        durable.write_whole(home / _file(session), _written(now), sync=False)
    return now


def forget(folder: Folder, session: str, wait: float = WAIT) -> None:
    """Forget a session. FileFault where that is not possible, TryAgain as `save`."""
    with exclusive(folder, LOCK, wait):
        path = folder.state / FOLDER / _file(session)
        try:
            path.unlink(missing_ok=True)
        except OSError as error:
            raise FileFault(f"{path}: {error.strerror}") from error


def empty(folder: Folder, session: str, wait: float = WAIT) -> None:
    """Note that a session's window was compacted: what it was given may be given again.

    Nothing happens where the session is not known. Errors as `save`.
    """
    if not (folder.state / FOLDER / _file(session)).exists():
        return
    with exclusive(folder, LOCK, wait):
        was = load(folder, session)
        now = Session(**{**vars(was), "emptied": was.turns})
        path = folder.state / FOLDER / _file(session)
        durable.write_whole(path, _written(now), sync=False)


_ANEW = "this session begins anew"


def _file(session: str) -> str:
    return f"{file_name(session)}.json"


def _counted(counts: Mapping[str, int], new: Iterable[str]) -> dict[str, int]:
    """One more of each; those that were met last stand last."""
    counted = dict(counts)
    for key in dict.fromkeys(new):
        counted[key] = counted.pop(key, 0) + 1
    return _newest(counted)


def _newest(held: dict[str, Any]) -> dict[str, Any]:
    return dict(list(held.items())[-MOST:]) if len(held) > MOST else held


def _written(session: Session) -> bytes:
    fields = {
        "version": _VERSION,
        **{name: value for name, value in vars(session).items() if name != "note"},
        "recent": [list(vars(turn).values()) for turn in session.recent],
    }
    return json.dumps(fields, separators=(",", ":")).encode() + b"\n"


def _parsed(session: str, found: Any) -> Session:
    """A session of the fields of its file. ValueError, TypeError or another: they make no sense."""
    if found["version"] != _VERSION:
        raise ValueError
    recent = tuple(Turn(*_checked(fields, (float, str, float, bool, str)))
                   for fields in found["recent"])  # fmt: skip
    given = {key: _given(*fields) for key, fields in found["given"].items()}
    topics, names = (
        dict(zip(held, _checked(held.values(), (int,) * len(held)), strict=True))
        for held in (found["topics"], found["names"])
    )
    began, last = _checked([found["began"], found["last"]], (float, float))
    counts = [found["turns"], found["shifts"], found.get("emptied", 0)]
    number, shifts, emptied = _checked(counts, (int, int, int))
    return Session(session, began, last, number, shifts, recent, topics, names, given,
                   emptied=emptied)  # fmt: skip


def _given(times: Any, turn: Any, at: Any) -> Given:
    """As `_checked`, for there are thousands of these."""
    if not (type(times) is type(turn) is int and type(at) is float):
        raise TypeError
    if not (0 < times <= _MOST_SECONDS and 0 < turn <= _MOST_SECONDS and 0 <= at <= _MOST_SECONDS):
        raise ValueError
    return Given(times, turn, at)


def _checked(fields: Iterable[Any], kinds: Sequence[type]) -> list[Any]:
    """The fields, each of its kind; whole numbers are numbers, too. TypeError, ValueError."""
    checked = []
    for value, kind in zip(fields, kinds, strict=True):
        number = kind is float and type(value) is int
        if type(value) is not kind and not number:
            raise TypeError
        if kind in (int, float) and not 0 <= value <= _MOST_SECONDS:
            raise ValueError
        checked.append(float(value) if number else value)
    return checked
