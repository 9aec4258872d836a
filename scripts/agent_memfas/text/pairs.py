"""Which messages hang together: calls and their results, the pieces of one message."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from agent_memfas.text.messages import ASSISTANT, Message


def answered(messages: Sequence[Message]) -> Iterator[tuple[int, int]]:
    """Positions of a call and of a result of it. An id that is used again, as some local models do
    with each call, is that of the latest call before the result.
    """
    opened = dict[str, int]()
    for n, message in enumerate(messages):
        for call in message.results:
            if call in opened:
                yield opened[call], n
        opened.update(dict.fromkeys(message.calls, n))


def groups(messages: Sequence[Message]) -> list[tuple[int, ...]]:
    """Positions of what moves together, each group in order, by its first: calls with their
    results (and what stands between them), the pieces of one message, a thought and what comes of
    it; everything else alone.
    """
    last, pieces = list(range(len(messages))), dict[str, int]()
    for call, result in answered(messages):
        last[call] = max(last[call], result)
    for n, message in enumerate(messages):
        if message.leads and n + 1 < len(messages):
            last[n] = max(last[n], n + 1)
        if message.id and message.role == ASSISTANT:
            first = pieces.setdefault(message.id, n)
            last[first] = max(last[first], n)
    found, start = list[tuple[int, ...]](), 0
    while start < len(messages):
        end, n = last[start], start
        while n <= end:  # results of a call may stand behind the next call
            end, n = max(end, last[n]), n + 1
        found.append(tuple(range(start, end + 1)))
        start = end + 1
    return found


def open_calls(messages: Sequence[Message]) -> set[int]:
    """Positions of messages with calls that have no result yet."""
    opened = dict[str, int]()
    for n, message in enumerate(messages):
        for call in message.results:
            opened.pop(call, None)
        opened.update(dict.fromkeys(message.calls, n))
    return set(opened.values())
