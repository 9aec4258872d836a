"""Reading what a server answers: JSON, or what its page says of why there is none."""

from __future__ import annotations

import json
from typing import Any

LONGEST_WORDS = 200


class BadAnswer(Exception):
    """Not what was asked for; str() says what is wrong, behind `the answer`. page: it is one that
    was made for people.
    """

    page = False


def read_json(body: bytes) -> Any:
    """The value of a body. BadAnswer where it is a web page or no JSON."""
    if body.lstrip()[:1] == b"<":
        error = BadAnswer("is a web page, not JSON")
        error.page = True
        raise error
    try:
        return json.loads(body)
    except (ValueError, RecursionError):
        raise BadAnswer("is no JSON") from None


def words_of(body: bytes, secret: str = "") -> str:
    """What the page of a refusal says, on one line and not too long; "" where that is no use to a
    person. The secret, which some servers repeat, is taken out.
    """
    try:
        found: Any = json.loads(body)
    except (ValueError, RecursionError):
        text = body[:2000].decode("utf-8", "replace").strip()
        found = "" if text.startswith("<") else (text.splitlines() or [""])[0]
    for key in ("error", "message", "detail", "error"):
        if isinstance(found, dict) and found.get(key):
            found = found[key]
    text = found if isinstance(found, str) else ""
    if secret:
        text = text.replace(secret, "...")
    line = " ".join("".join(c if c.isprintable() else " " for c in text).split())
    return line if len(line) <= LONGEST_WORDS else f"{line[:LONGEST_WORDS]}..."


def code_of(body: bytes) -> str:
    """The `code` of an error in OpenAI's form, or its `type`; "" where there is none."""
    try:
        found = json.loads(body)["error"]
        return str(found.get("code") or found.get("type") or "")
    except (ValueError, RecursionError, TypeError, KeyError, AttributeError):
        return ""
