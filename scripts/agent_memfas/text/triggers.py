"""Triggers: a word in the question brings its hint at once.

They stand in TRIGGERS.md, one bullet each (`- alice, alicia -> Project manager`), and in comments
of entries (`<!-- trigger: alice -->`), whose own text is the hint then.
"""

from __future__ import annotations

import re

from agent_memfas.text.documents import Document
from agent_memfas.text.entries import block_end, entries, metadata
from agent_memfas.text.firing import Trigger, key_of
from agent_memfas.text.marks import without_comments
from agent_memfas.text.words import words

# Pages of OpenClaw whose bullets may have such comments without being entries of ours.
CURATED = ("MEMORY.md", "USER.md")
_LINK = r"\S+?#L[0-9]{1,9}(?:-L?[0-9]{1,9})?"
_LINKS = re.compile(rf"(?:^|\s)(?:->|→)\s*({_LINK}(?:[\s,]+{_LINK})*)\s*$")
_COMMENT = re.compile(r"([ \t]*)<!--\s*trigger:\s*(.*?)\s*-->")
_BULLET = re.compile(r"[ \t]{0,3}[-*+][ \t]+")


def listed(document: Document, path: str) -> list[Trigger]:
    """The triggers of a TRIGGERS.md. Bullets without an arrow are not triggers."""
    found: list[Trigger] = []
    for block in document.blocks:
        if block.kind != "item" or block.start in document.opaque:
            continue
        line = document.text_lines[block.start]
        bullet = _BULLET.match(line)
        left, arrow, right = (
            line[bullet.end() if bullet else 0 :].replace("→", "->").partition("->")
        )
        if bullet is None or not arrow:
            continue
        hint, links = split_links(without_comments(right).strip())
        keys = (key.strip().strip("`*\"'") for key in left.split(","))
        found += [Trigger(key, hint, path, block.start + 1, links) for key in keys]
    return [t for t in found if words(t.keyword) and (t.hint or t.links)]


def split_links(hint: str) -> tuple[str, tuple[str, ...]]:
    """A hint and the memories that it links: `Project manager -> memory/2026-02-24.md#L12`."""
    links: list[str] = []
    while (match := _LINKS.search(hint)) is not None:
        links[:0] = re.split(r"[\s,]+", match[1].strip())
        hint = hint[: match.start()].rstrip()
    return hint, tuple(links)


def commented(document: Document, path: str) -> list[Trigger]:
    """The triggers in the comments of a file's entries; superseded entries have none. In the pages
    that OpenClaw curates those of other bullets, too.
    """
    found = [
        Trigger(key, entry.text, path, entry.start + 1)
        for entry in entries(document)
        for key in entry.triggers
        if words(key) and entry.tag.superseded is None
    ]  # fmt: skip
    return found + _curated(document, path) if path in CURATED else found


def _curated(document: Document, path: str) -> list[Trigger]:
    known, found = {entry.start for entry in entries(document)}, list[Trigger]()
    for start, end in _items(document):
        text = "\n".join(document.text_lines[start:end])
        if start in known or "<!--" not in text:
            continue
        hint = without_comments(document.text_lines[start])
        hint = _BULLET.sub("", hint, count=1).strip()
        keys = (key.strip() for key in re.split("[,;]", metadata(text).get("trigger", "")))
        found += [Trigger(key, hint, path, start + 1) for key in keys if words(key) and hint]
    return found


def _items(document: Document) -> list[tuple[int, int]]:
    """Where the top-level bullets begin and end, without those in code and the like."""
    return [
        (item.start, block_end(document.text_lines, item.start, item.end))
        for item in document.blocks
        if item.kind == "item" and item.depth == 1 and item.start not in document.opaque
    ]  # fmt: skip


def bullet(keyword: str, hint: str, links: tuple[str, ...] = ()) -> str:
    """The line of TRIGGERS.md that makes a trigger."""
    linked = f" -> {' '.join(links)}" if links else ""
    return f"- {keyword} -> {hint}".rstrip() + linked


def with_hint(document: Document, line: int, new: str) -> bytes:
    """A list of triggers with another bullet in place of the one on a line (0-based)."""
    end = _end(document, line)
    return _spliced(document, line, end, [new])


def without_listed(document: Document, key: str) -> bytes:
    """A list of triggers without a keyword (as `key_of` gives it): its bullet goes, or, where the
    bullet has other keywords, only that word of it."""
    lines = list(document.lines)
    for trigger in {t.line: t for t in listed(document, "") if key_of(t.keyword) == key}.values():
        at = trigger.line - 1
        text = document.text_lines[at]
        mark = _BULLET.match(text)
        head = mark.end() if mark else 0
        arrow = next(n for n in range(head, len(text)) if text.startswith(("->", "→"), n))
        keys = [k for k in text[head:arrow].split(",") if key_of(k.strip().strip("`*\"'")) != key]
        if any(words(k) for k in keys):
            kept = ",".join(keys).strip()
            old = text.encode()
            lines[at] = lines[at].replace(old, f"{text[:head]}{kept} {text[arrow:]}".encode(), 1)
        else:
            for n in range(at, _end(document, at)):
                lines[n] = b""
    return b"".join(lines)


def without_commented(document: Document, key: str, line: int) -> bytes:
    """A file without a keyword in the comments of the entry or bullet on a line (0-based)."""
    start, end = next((span for span in _items(document) if span[0] == line), (0, 0))
    lines = list(document.lines)
    for n in range(start, end):
        text = document.text_lines[n]
        new = _COMMENT.sub(lambda match: _without_key(match, key), text)
        if new != text:
            lines[n] = lines[n].replace(text.encode(), new.encode(), 1)
    return b"".join(lines)


def _without_key(match: re.Match[str], key: str) -> str:
    keys = [k.strip() for k in re.split("[,;]", match[2])]
    kept = [k for k in keys if key_of(k) != key]
    if len(kept) == len(keys):
        return match[0]
    return f"{match[1]}<!-- trigger: {', '.join(kept)} -->" if kept else ""


def _end(document: Document, line: int) -> int:
    """The end of the list item that starts on a line."""
    return next((b.end for b in document.blocks if b.kind == "item" and b.start == line), line + 1)


def _spliced(document: Document, start: int, end: int, new: list[str]) -> bytes:
    ending = b"\r\n" if document.lines[start].endswith(b"\r\n") else b"\n"
    body = b"".join(line.encode() + ending for line in new)
    if end == len(document.lines) and not document.lines[-1].endswith(b"\n"):
        body = body.removesuffix(ending)
    return b"".join((*document.lines[:start], body, *document.lines[end:]))
