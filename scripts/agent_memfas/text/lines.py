"""Text of any origin as one line of a markdown file that it cannot break, and names likewise."""

from __future__ import annotations

import json
import re
import unicodedata

from agent_memfas.text.secrets import mask
from agent_memfas.text.tokens import estimate

LONGEST = 2000
_COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)
_LINK = re.compile(r"!?\[([^\]\n]*)\]\([^)\n]*\)")
_EMPHASIS = re.compile(r"\*\*|__|~~|`+")
_PLAIN_NAME = re.compile(r"(?![0-9]+[.)] )\w[\w. ()+@=-]*")
_KEPT = frozenset("\u200c\u200d")  # inside words of some scripts, and inside emoji


def plain(text: str) -> str:
    """Markdown as one safe line: comments, links and emphasis off, secrets cut to a hint.

    Looks at the first 2,000 characters.
    """
    bare = _LINK.sub(r"\1", _COMMENT.sub(" ", text[:LONGEST]))
    return safe(mask(_EMPHASIS.sub("", bare)))


def safe(text: str) -> str:
    """Text on one line, without control characters, marks of direction and comment marks."""
    return visible(" ".join(text.split()))


def visible(text: str) -> str:
    """Text without control characters, marks of direction and comment marks; blanks as they are."""
    return _without_comment_marks("".join(c for c in text if c in _KEPT or not _is_hidden(c)))


def _without_comment_marks(text: str) -> str:
    return text.replace("<!", "&lt;!").replace("-->", "--&gt;").replace("--!>", "--!&gt;")


def _is_hidden(character: str) -> bool:
    return unicodedata.category(character) in ("Cc", "Cf", "Cs")


def safe_name(name: str) -> str:
    """A file's name as it can stand at the head of a bullet: quoted, unless it is a plain one."""
    if _PLAIN_NAME.fullmatch(name):
        return name
    odd = any(_is_hidden(c) or (c.isspace() and c != " ") for c in name)
    return _without_comment_marks(json.dumps(name, ensure_ascii=odd))


def shorten(text: str, tokens: int = 40) -> str:
    """A safe line cut to about so many tokens, between words where there are spaces."""
    if estimate(text) <= tokens:
        return text
    end = min(len(text), 4 * tokens)
    while end and estimate(text[:end]) >= tokens:
        end -= 1
    space = text.rfind(" ", end // 2, end + 1)
    end = space if space > 0 else end
    while end and (_joins(text[end]) or text[end - 1] in _KEPT):
        end -= 1
    return f"{text[:end].rstrip(' ,;:')}…"


def _joins(character: str) -> bool:
    """Whether a character belongs to the one before it: marks, joiners, skin tones."""
    return (
        unicodedata.category(character)[0] == "M" or character in _KEPT
        or "\U0001f3fb" <= character <= "\U0001f3ff"
    )  # fmt: skip
