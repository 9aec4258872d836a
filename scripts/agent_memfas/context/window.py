"""What a manager knows of each message in the window: what it says, its tokens, since when.

Messages that are the same objects as before are not read again, so that looking at a long context
costs less than counting its tokens. What has left the window is forgotten.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from agent_memfas.tasks.compaction import tokens_of
from agent_memfas.text.counting import Counter
from agent_memfas.text.messages import Message, read_message

Key = tuple[str, str, int]


class Seen:
    """A message: the object, what its content was, what it says, its tokens, and since when it is
    here, in seconds since 1970.
    """

    __slots__ = ("content", "message", "raw", "since", "tokens")

    def __init__(
        self, raw: object, content: object, message: Message, tokens: int, since: float
    ) -> None:
        self.raw, self.content, self.message = raw, content, message
        self.tokens, self.since = tokens, since


class Window:
    """The messages of a context, as they were looked at last."""

    def __init__(self, count: Counter) -> None:
        self._count = count
        self._by_object: dict[int, Seen] = {}
        self._by_text: dict[Key, Seen] = {}
        self.seen: list[Seen] = []
        self.tokens = 0

    def look(self, raw: Sequence[object], now: float) -> None:
        """Look at a context. now: seconds since 1970."""
        known, found, total, same = self._by_object, list[Seen](), 0, True
        for one in raw:
            content = _content(one)
            seen = known.get(id(one))
            if seen is None or seen.raw is not one or not _same(seen.content, content):
                seen, same = self._read(one, content, now), False
            found.append(seen)
            total += seen.tokens
        self.seen, self.tokens = found, total
        if not same or len(found) != len(known):
            self._by_object = {id(one.raw): one for one in found}
            self._by_text = {_key(one.message): one for one in found}

    def hours(self, now: datetime, fresh: Mapping[Key, float]) -> list[float]:
        """How old each message is: by what it says itself, else since it is here. fresh: times, in
        seconds since 1970, of those that came back, by `key_of`.
        """
        moment, found = now.timestamp(), list[float]()
        for one in self.seen:
            since = one.message.at.timestamp() if one.message.at else one.since
            since = max(since, fresh.get(_key(one.message), since))
            found.append(max(0.0, moment - since) / 3600)
        return found

    def _read(self, raw: object, content: object, now: float) -> Seen:
        """A message that was not here before, or is no longer the same object, or says more."""
        message = read_message(raw)
        same = self._by_text.get(_key(message))
        tokens = same.tokens if same else tokens_of(message, self._count)
        since = same.since if same else now
        return Seen(raw, _stamp(content), message, tokens, since)


def key_of(raw: object) -> Key:
    """The same for messages that say and show the same."""
    return _key(read_message(raw))


def _key(message: Message) -> Key:
    return message.role, message.text, message.images


def _content(raw: object) -> Any:
    if type(raw) is dict:
        said = raw.get("content")
        return raw.get("tool_calls") if said is None else said
    return raw if isinstance(raw, str) else None


def _stamp(content: object) -> object:
    """What of a content tells that it is as it was: a string itself, of blocks how many and the
    last; None where that cannot be told.
    """
    if isinstance(content, str):
        return content
    if isinstance(content, list) and content:
        last = content[-1]
        return len(content), last, len(last) if isinstance(last, (str, dict)) else 0
    return None


def _same(stamp: object, content: object) -> bool:
    if type(content) is str:
        return stamp is content
    now = _stamp(content)
    if stamp is None or now is None or type(stamp) is not tuple or type(now) is not tuple:
        return False
    return stamp[0] == now[0] and stamp[1] is now[1] and stamp[2] == now[2]
