"""Edits between brackets: the flow style of YAML, and all of JSON."""

from __future__ import annotations

import re
from typing import Any

from agent_memfas.text.settings_parts import Edit, Entry, Part, Tree
from agent_memfas.text.settings_spelling import as_json, flow, pair

_TO_COMMA = re.compile(r"(?:\s|#[^\n]*)*,")
_REST = re.compile(r"[ \t]*(#[^\r\n]*)?(?=\r?\n|\Z)")


def unit(tree: Tree) -> str | None:
    """By what a JSON file indents: the blanks before its first key, None for all on one line."""
    root = tree.root
    if not root.entries:
        return "  "
    first = root.entries[0].start
    return tree.margin(first) or "  " if tree.leads(first) and tree.line(first) > 1 else None


def written(tree: Tree, key: str | None, value: Any, margin: str, *, wide: bool) -> str:
    """An element (key None) or a key with its value, as this file has them.

    margin: the blanks before its first line; wide: JSON of many lines where the file is indented.
    """
    if not tree.json:
        return flow(value) if key is None else pair(key, value)
    text = as_json(value, unit(tree) if wide else None, margin, tree.newline)
    return text if key is None else f"{as_json(key, None)}: {text}"


def append(tree: Tree, part: Part, key: str | None, value: Any) -> list[Edit]:
    """One entry more at the end of a flow collection: on a line of its own where the last one
    stands so, and with a comma behind it if that has one."""
    if not part.entries:
        return [_first(tree, part, key, value)]
    last = part.entries[-1]
    if not tree.leads(last.start):
        text = written(tree, key, value, "", wide=False)
        return [Edit(last.part.end, last.part.end, f", {text}")]
    margin = tree.margin(last.start)
    wide = not last.part.entries or "\n" in tree.body[last.part.start : last.part.end]
    text = written(tree, key, value, margin, wide=wide)
    comma = _comma(tree, last)
    at = comma or last.part.end
    rest = _REST.match(tree.body, at)
    at = rest.end() if rest else at
    comma_edit = [] if comma else [Edit(last.part.end, last.part.end, ",")]
    return [*comma_edit, Edit(at, at, f"{tree.newline}{margin}{text}{',' if comma else ''}")]


def _first(tree: Tree, part: Part, key: str | None, value: Any) -> Edit:
    """The first entry of `[]` or `{}`, or of a null; a comment between the brackets stays."""
    opening, closing = "[]" if key is None else "{}"
    inside = tree.body[part.start + 1 : part.end - 1].strip()
    if part.kind != "scalar" and inside:
        text = written(tree, key, value, "", wide=False)
        return Edit(part.end - 1, part.end - 1, text)
    step = unit(tree) if tree.json else None
    if step is None:
        text = opening + written(tree, key, value, "", wide=False) + closing
    else:
        margin = tree.margin(part.start)
        inner = written(tree, key, value, margin + step, wide=True)
        parts = (opening, f"{margin}{step}{inner}", f"{margin}{closing}")
        text = tree.newline.join(parts) + ("" if tree.body.strip() else tree.newline)
    return Edit(part.start, part.end, spaced(tree, part, text))


def spaced(tree: Tree, part: Part, text: str) -> str:
    """Text to stand where a part stands: one blank ahead if it would touch a colon or a dash."""
    before = tree.body[part.start - 1 : part.start]
    return f" {text}" if part.start == part.end and before and before in ":-" else text


def remove(tree: Tree, part: Part, index: int) -> list[Edit]:
    """One entry less: with its lines and the comment behind it if it has lines of its own, else
    with the comma before or behind it. What was the last one leaves `[]` or `{}`."""
    entries = part.entries
    entry, end = entries[index], entries[index].part.end
    if len(entries) == 1 and not _has_comment(tree, part.start, entry.start, end, part.end):
        return [Edit(part.start + 1, part.end - 1, "")]
    before = entries[index - 1] if index else None
    behind = entries[index + 1] if index + 1 < len(entries) else None
    if behind and tree.line(behind.start) == tree.line(end):
        return [Edit(entry.start, behind.start, "")]
    if before and tree.line(before.part.end) == tree.line(entry.start):
        return [Edit(before.part.end, end, "")]
    comma = _comma(tree, entry)
    edits = []
    if before and not comma and (last := _comma(tree, before)):
        edits.append(Edit(last - 1, last, ""))
    at = comma or end
    rest = _REST.match(tree.body, at)
    if tree.leads(entry.start) and rest:
        return [*edits, Edit(tree.line_start(entry.start), tree.line_end(rest.end()), "")]
    return [*edits, Edit(entry.start, at, "")]


def _comma(tree: Tree, entry: Entry) -> int | None:
    """The offset behind the comma that follows an entry, if one does."""
    found = _TO_COMMA.match(tree.body, entry.part.end)
    return found.end() if found else None


def _has_comment(tree: Tree, *places: int) -> bool:
    """Whether there is a comment between an opening bracket, its one entry and its closing one."""
    start, first, last, end = places
    return not tree.json and "#" in tree.body[start:first] + tree.body[last:end]
