"""What stands in a context and need not: curated memory of earlier turns, results given again."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from agent_memfas.text.messages import SYSTEM, Message
from agent_memfas.text.reshape import with_text

LONG = 200  # characters of a result; a shorter one is not worth a line in its place
AGAIN = "[memfas: the same result stands below, where it was given again]"
_CURATED = re.compile(r"[ \t]*<(triggered_context|relevant_memory)>.*?</\1>[ \t]*\n?", re.DOTALL)


def without_curated(raw: object) -> object | None:
    """A message without the blocks of memory that a curator put into it, None where it has none.
    Text around them stays; so does a message that was nothing else, without text.
    """
    if isinstance(raw, str):
        return _CURATED.sub("", raw) if _CURATED.search(raw) else None
    if not isinstance(raw, Mapping):
        return None
    content = raw.get("content")
    if isinstance(content, str) and _CURATED.search(content):
        return {**raw, "content": _CURATED.sub("", content)}
    if isinstance(content, list):
        blocks = [_block_without(block) for block in content]
        if any(new is not old for new, old in zip(blocks, content, strict=True)):
            return {**raw, "content": blocks}
    return None


def _block_without(block: object) -> object:
    if not isinstance(block, Mapping) or block.get("type") != "text":
        return block
    text = block.get("text")
    if not isinstance(text, str) or not _CURATED.search(text):
        return block
    return {**block, "text": _CURATED.sub("", text) or " "}


def stale(raw: Sequence[object], read: Sequence[Message], latest: int) -> dict[int, object]:
    """What a curation puts in the place of messages, by position. latest: position of the latest
    turn, from which on nothing is touched. System messages are not touched.
    """
    found, last = dict[int, object](), dict[str, int]()
    for n, message in enumerate(read):
        if message.results and not message.calls and len(message.text) >= LONG:
            last[message.text] = n
    for n, message in enumerate(read[:latest]):
        if message.role in SYSTEM:
            continue
        if message.results and last.get(message.text, n) > n and len(message.results) == 1:
            found[n] = with_text(raw[n], AGAIN)
        elif "<relevant_memory>" in message.text or "<triggered_context>" in message.text:
            new = without_curated(raw[n])
            if new is not None:
                found[n] = new
    return found
