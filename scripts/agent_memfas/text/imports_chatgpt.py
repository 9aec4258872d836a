"""Exports of ChatGPT (`conversations.json`): the branch of each conversation that was shown last.

Kept: what user and assistant said in words. Not kept: drafts that were edited away or generated
anew, thoughts, calls and results of tools, what was hidden from the reader.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping

from agent_memfas.text.imports import SPOKEN, Said, digest, items, source
from agent_memfas.text.moments import moment
from agent_memfas.text.recalled import without_recalled

KIND = "chatgpt"
_WORDS = ("text", "multimodal_text")
_CITED = re.compile("\ue200[^\ue200\ue201\n]{0,400}\ue201|[\ue200-\ue2ff]")

Node = Mapping[str, object]


def messages(rows: Iterable[object]) -> Iterator[Said]:
    """The messages of all conversations. rows: the conversations as JSON values."""
    for row in rows:
        for conversation in items(row, "conversations"):
            yield from _conversation(conversation)


def _conversation(value: Node) -> Iterator[Said]:
    mapping = value.get("mapping")
    if not isinstance(mapping, Mapping):
        return
    name = value.get("conversation_id") or value.get("id")
    if not name:
        name = digest(str(value.get("title")), str(value.get("create_time")))
    at = value.get("create_time")
    for key, node in _branch(mapping, value.get("current_node")):
        message = node.get("message")
        if not isinstance(message, Mapping):
            continue
        at = message.get("create_time") or at  # what says no time was said after what is above it
        role, text = _role(message), _text(message)
        if role and text:
            named = str(message.get("id") or key)
            yield Said(role, text, source(KIND, str(name), named), moment(at))


def _branch(mapping: Mapping[str, object], last: object) -> list[tuple[str, Node]]:
    """The nodes from the root to the one that was shown last; all of them, by time, where the way
    back does not lead to a root.
    """
    way, seen, key = list[tuple[str, Node]](), set[str](), last
    while isinstance(key, str) and key not in seen:
        node = mapping.get(key)
        if not isinstance(node, Mapping):
            break
        seen.add(key)
        way.append((key, node))
        key = node.get("parent")
    if way and key is None:
        return way[::-1]
    nodes = [(name, node) for name, node in mapping.items() if isinstance(node, Mapping)]
    return sorted(nodes, key=lambda one: _seconds(one[1]))


def _seconds(node: Node) -> float:
    message = node.get("message")
    at = moment(message.get("create_time")) if isinstance(message, Mapping) else None
    return at.timestamp() if at else 0.0


def _role(message: Node) -> str:
    """Who said it, "" where it was not said to the reader."""
    author, about = message.get("author"), message.get("metadata")
    role = str(author.get("role")) if isinstance(author, Mapping) else ""
    hidden = (
        isinstance(about, Mapping) and about.get("is_visually_hidden_from_conversation") is True
    )
    if hidden or message.get("weight") == 0 or message.get("recipient", "all") != "all":
        return ""
    return role if role in SPOKEN else ""


def _text(message: Node) -> str:
    content = message.get("content")
    if not isinstance(content, Mapping) or content.get("content_type", "text") not in _WORDS:
        return ""
    parts = content.get("parts")
    found = (_part(one) for one in parts) if isinstance(parts, list) else ()
    whole = "\n".join(one for one in found if one)
    return without_recalled(_CITED.sub("", whole)).strip()


def _part(part: object) -> str:
    if isinstance(part, Mapping):
        heard = part.get("content_type") == "audio_transcription"
        part = part.get("text") if heard else ""
    return part if isinstance(part, str) else ""
