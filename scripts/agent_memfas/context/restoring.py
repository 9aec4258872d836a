"""Putting chunks of cold storage back into a context."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from agent_memfas.text.cold import ColdBlock
from agent_memfas.text.messages import SUMMARY, USER, read_message
from agent_memfas.text.pairs import answered, groups, open_calls
from agent_memfas.text.reshape import alike, from_stored, to_stored


def message_of(block: ColdBlock) -> object:
    """A chunk as the message it was; where its JSON is damaged, as its text."""
    try:
        return from_stored(block.role, block.text, block.raw)
    except ValueError:
        return {"role": block.role or USER, "content": block.text}


def with_partners(chosen: Sequence[ColdBlock], blocks: Sequence[ColdBlock]) -> list[ColdBlock]:
    """Chunks with the calls and results that belong to them, in the order of cold storage. A call
    and its result are of one session.
    """
    by_session = dict[str, list[ColdBlock]]()
    for block in blocks:
        by_session.setdefault(block.session_id, []).append(block)
    wanted = {block.chunk_id for block in chosen}
    for session in {block.session_id for block in chosen}:
        there = by_session.get(session, [])
        pairs = list(answered([read_message(message_of(block)) for block in there]))
        ids = [(there[call].chunk_id, there[result].chunk_id) for call, result in pairs]
        more = True
        while more:
            found = {one for pair in ids if wanted & set(pair) for one in pair}
            more = not found <= wanted
            wanted |= found
    return [block for block in blocks if block.chunk_id in wanted]


def restored(
    context: Sequence[object], blocks: Sequence[ColdBlock]
) -> tuple[list[object], list[tuple[object, ColdBlock]]]:
    """(the context with these chunks in it, those that were put in with their chunks). A summary
    gives way to its source, where it stands; all others come before the latest turn. A call or a
    result whose other half is not there comes as text.
    """
    messages, added = list(context), list[tuple[object, ColdBlock]]()
    summaries = {
        one.source: n for n, one in enumerate(map(read_message, messages)) if one.kind == SUMMARY
    }
    here = {to_stored(one) for one in messages}
    rest = list[tuple[object, ColdBlock]]()
    for block in blocks:
        whole = message_of(block)
        place = summaries.get(block.chunk_id)
        if place is not None:
            messages[place] = alike(whole, context)
            added.append((messages[place], block))
        elif to_stored(whole) not in here:
            rest.append((whole, block))
    rest = [(alike(one, context), block) for one, block in _harmless(rest)]
    at = _before_latest(messages)
    return [*messages[:at], *(one for one, _ in rest), *messages[at:]], [*added, *rest]


def _before_latest(messages: Sequence[object]) -> int:
    """Where the group of the latest turn begins; of bare strings the last one."""
    read = [read_message(one) for one in messages]
    turns = [n for n, one in enumerate(read) if one.is_turn]
    if not turns:
        return max(0, len(read) - 1)
    return next((group[0] for group in groups(read) if turns[-1] in group), turns[-1])


def _harmless(
    messages: Sequence[tuple[object, ColdBlock]],
) -> list[tuple[object, ColdBlock]]:
    read = [read_message(one) for one, _ in messages]
    unanswered = open_calls(read)
    asked = Counter(result for _, result in answered(read))
    return [
        (raw, block) if n not in unanswered and asked[n] >= len(one.results)
        else (
            {"role": USER, "content": f"[memfas: recovered from cold storage]\n{one.text}"}, block
        )
        for n, ((raw, block), one) in enumerate(zip(messages, read, strict=True))
    ]  # fmt: skip
