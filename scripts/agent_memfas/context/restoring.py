"""Putting chunks of cold storage back into a context."""

from __future__ import annotations

from collections.abc import Sequence

from agent_memfas.text.cold import ColdBlock
from agent_memfas.text.messages import (
    SUMMARY,
    USER,
    Message,
    from_stored,
    groups,
    read_message,
)


def message_of(block: ColdBlock) -> object:
    """A chunk as the message it was; where its JSON is damaged, as its text."""
    try:
        return from_stored(block.role, block.text, block.raw)
    except ValueError:
        return {"role": block.role or USER, "content": block.text}


def with_partners(chosen: Sequence[ColdBlock], blocks: Sequence[ColdBlock]) -> list[ColdBlock]:
    """Chunks with the calls and results that belong to them, in the order of cold storage."""
    read = {block.chunk_id: read_message(message_of(block)) for block in blocks}
    wanted = {block.chunk_id for block in chosen}
    ids = {call for key in wanted if key in read for call in _ids(read[key])}
    more = True
    while more:
        found = {key for key, one in read.items() if ids & set(_ids(one))}
        more = not found <= wanted
        wanted |= found
        ids |= {call for key in found for call in _ids(read[key])}
    return [block for block in blocks if block.chunk_id in wanted]


def restored(
    context: Sequence[object], blocks: Sequence[ColdBlock]
) -> tuple[list[object], list[object]]:
    """(the context with these chunks in it, those that were put in). A summary gives way to its
    source, where it stands; all others come before the latest turn. A call or a result whose other
    half is not there comes as text.
    """
    messages, added = list(context), list[object]()
    summaries = {
        one.source: n for n, one in enumerate(map(read_message, messages)) if one.kind == SUMMARY
    }
    rest = list[object]()
    for block in blocks:
        whole = message_of(block)
        place = summaries.get(block.chunk_id)
        if place is not None:
            messages[place] = whole
            added.append(whole)
        elif whole not in messages:
            rest.append(whole)
    rest = _harmless(rest)
    at = _before_latest(messages)
    return [*messages[:at], *rest, *messages[at:]], [*added, *rest]


def _ids(message: Message) -> tuple[str, ...]:
    return (*message.calls, *message.results)


def _before_latest(messages: Sequence[object]) -> int:
    """Where the group of the latest turn begins; of bare strings the last one."""
    read = [read_message(one) for one in messages]
    turns = [n for n, one in enumerate(read) if one.is_turn]
    if not turns:
        return max(0, len(read) - 1)
    return next((group[0] for group in groups(read) if turns[-1] in group), turns[-1])


def _harmless(messages: Sequence[object]) -> list[object]:
    read = [read_message(one) for one in messages]
    calls = {call for one in read for call in one.calls}
    results = {call for one in read for call in one.results}
    return [
        raw if set(one.calls) <= results and set(one.results) <= calls
        else {"role": USER, "content": f"[memfas: recovered from cold storage]\n{one.text}"}
        for raw, one in zip(messages, read, strict=True)
    ]  # fmt: skip
