"""A look at a host's context, and a change of it: whatever its callbacks do, the agent goes on."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Any

from agent_memfas.context.window import Window
from agent_memfas.errors import told
from agent_memfas.text.counting import Counter, estimate_cl100k

Messages = Sequence[Any]
GROWN = 1.1  # times its smallest: a context that tells what a token of ours is in the host's count
LOWEST, HIGHEST = 0.25, 4.0


class Looking:
    """What `ContextManager` sees of the host."""

    notes: list[str]
    get_context: Callable[[], Messages | None] | None
    set_context: Callable[[list[Any]], object] | None
    get_token_count: Callable[[], int] | None

    def _begin_looking(self, clock: Callable[[], datetime], count: Counter) -> None:
        self._clock = clock
        self._given_count = count
        self._window = Window(self._count)
        self._own: Messages = []
        self._blind = False  # whether the context could not be looked at the last time
        self._smallest: tuple[int, int] | None = None  # tokens: ours, the host's

    def _tell(self, note: str) -> None:
        if note not in self.notes:
            self.notes.append(note)

    def _count(self, text: str) -> int:
        try:
            return max(0, int(self._given_count(text)))
        except Exception as error:  # noqa: BLE001 - the host's, and its agent must go on
            self._tell(f"count failed: {told(error)}; tokens are estimated")
            return estimate_cl100k(text)

    def _context(self) -> Messages | None:
        return self._own if self.get_context is None else self.get_context()

    def _look(self) -> int:
        """Look at the context; its tokens, by the caller's count where there is one."""
        self._blind = True
        try:
            there = self._context()
            messages = None if there is None else list(there)
        except Exception as error:  # noqa: BLE001 - as above
            self._tell(f"get_context failed: {told(error)}")
        else:
            if messages is None:
                self._tell("get_context gave nothing")
            else:
                self._window.look(messages, self._clock().timestamp())
                self._blind = False
        return self._measured()

    def _measured(self) -> int:
        """Tokens of the context: the host's count, ours where that says nothing."""
        ours = self._window.tokens
        if self.get_token_count is None:
            return ours
        try:
            tokens = int(self.get_token_count())
        except Exception as error:  # noqa: BLE001 - as above
            self._tell(f"get_token_count failed: {told(error)}; tokens are ours")
            return ours
        if tokens <= 0:
            return ours
        if ours > 0 and (self._smallest is None or ours < self._smallest[0]):
            self._smallest = (ours, tokens)
        return tokens

    def _scale(self, tokens: int) -> float:
        """What a token of ours is in the host's count: by how both have grown, where they have.
        Else all that is more than ours is taken to be outside of the messages, as tools are, so
        that a compaction never falls short.
        """
        ours = self._window.tokens
        if self.get_token_count is None or ours <= 0 or tokens <= 0:
            return 1.0
        if self._smallest is not None and ours > self._smallest[0] * GROWN:
            scale = (tokens - self._smallest[1]) / (ours - self._smallest[0])
            if LOWEST <= scale <= HIGHEST:
                return scale
        return min(1.0, tokens / ours)

    def _call(self, name: str, hook: Callable[[], object], notes: list[str]) -> bool:
        try:
            hook()
        except Exception as error:  # noqa: BLE001 - as above
            notes.append(f"{name} failed: {told(error)}")
            return False
        return True

    def _exchange(self, before: Messages, after: list[Any], notes: list[str]) -> bool:
        """Put other messages in the place of these. What came behind them in the meantime stays
        there; where anything else is no longer as it was, nothing is changed.
        """
        more = list[Any]()

        def put() -> None:
            there = self._context()
            now = list(there or ())
            if len(now) < len(before) or not all(map(_same, now, before)):
                raise RuntimeError("the context was changed in the meantime, and stays as it is")
            more.extend(now[len(before) :])
            if self.set_context is not None:
                self.set_context([*after, *more])
            elif isinstance(there, list):
                there[: len(before)] = after
            else:
                raise TypeError("the context is no list, and there is no set_context")

        if not self._call("set_context", put, notes):
            return False
        self._look()
        seen = [one.raw for one in self._window.seen]
        if len(seen) == len(before) + len(more) and all(map(_same, seen, before)):
            notes.append("set_context changed nothing: the context is as it was")
            return False
        return True


def _same(one: object, other: object) -> bool:
    if one is other:
        return True
    try:
        return bool(one == other)
    except Exception:  # noqa: BLE001 - objects of the host's
        return False
