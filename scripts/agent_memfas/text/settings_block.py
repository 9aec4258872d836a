"""Edits of YAML in block style: whole lines come and go, all others stay as they are.

Which comments belong to an element of a list, and go when it goes:
- those inside it, behind it on its lines, and directly under it if they are indented deeper than
  its dash;
- those directly above it that start in the column of its dash. They stay, all of them, if one is
  itself an element that was commented out (`# - ...`), or if the next element follows without a
  blank line or a comment between: then they may speak of both.
A comment above a key never goes.
"""

from __future__ import annotations

import re
from typing import Any

from agent_memfas.text.settings_parts import Edit, Entry, Part, Tree
from agent_memfas.text.settings_spelling import element, flow, keyed

_COMMENT = re.compile(r"([ \t]*)#([^\n]*)(?:\n|\Z)")
_OUT = re.compile(r"[ \t]*-(?:\s|$)")
_BRACKETS = {"list": "[]", "map": "{}"}


def steps(tree: Tree) -> tuple[int, int]:
    """By how many columns this file indents a mapping in a mapping and a list under its key; 2
    where it has none."""
    step = dent = 0
    found_list = False
    queue = [tree.root]
    for part in queue:
        for entry in part.entries if part.style == "block" else ():
            queue.append(entry.part)
            if part.kind != "map" or entry.part.style != "block" or not entry.part.entries:
                continue
            deeper = tree.column(entry.part.entries[0].start) - tree.column(entry.start)
            if entry.part.kind == "map":
                step = step or deeper
            elif not found_list:
                found_list, dent = True, deeper
    return step or 2, dent if found_list else 2


def append(tree: Tree, part: Part, key: str | None, value: Any) -> list[Edit]:
    """One entry more behind the last one of a block collection, in the form of that one. In the
    outermost mapping it comes at the end of the file."""
    last = part.entries[-1]
    column = tree.column(last.start)
    at = part.tail if part is tree.root else _below(tree, part.end, column)
    return [_insertion(tree, at, column, _lines(tree, key, value, last))]


def start_file(tree: Tree, key: str, value: Any) -> list[Edit]:
    """The first key of a file that holds nothing but comments."""
    return [_insertion(tree, len(tree.body), 0, _lines(tree, key, value, None))]


def can_open(tree: Tree, parent: Part, entry: Entry) -> bool:
    """Whether the entry is a null, `[]` or `{}` on the line of its key, in block style."""
    if parent.kind != "map" or parent.style != "block" or entry.colon < 0:
        return False
    between = tree.body[entry.colon + 1 : entry.part.end]
    return entry.part.empty and "\n" not in between and "#" not in between


def open_up(tree: Tree, entry: Entry, value: Any) -> list[Edit]:
    """A list or mapping in place of what `can_open`: on lines under its key; a comment behind
    the key stays there."""
    step, dent = steps(tree)
    is_map = isinstance(value, dict)
    if is_map:
        lines = [line for k, v in value.items() for line in keyed(k, v, step, dent)]
    else:
        lines = [line for item in value for line in element(item, step, dent)]
    column = tree.column(entry.start) + (step if is_map else dent)
    insertion = _insertion(tree, tree.line_end(entry.colon), column, lines)
    return [Edit(entry.colon + 1, entry.part.end, ""), insertion]


def replace(tree: Tree, part: Part, text: str) -> Edit:
    """A value in place of a scalar or a flow collection; the comment of a `|` or `>` stays."""
    if part.style in ("|", ">"):
        header = tree.body[part.start : tree.line_end(part.start)].rstrip()
        text += header[header.index(" #") :] if " #" in header else ""
    return Edit(part.start, part.end, text)


def remove(tree: Tree, entry: Entry, index: int, parent: Entry) -> list[Edit]:
    """One entry less, with the comments that belong to it (see above). The last one leaves `[]`
    or `{}` behind the key."""
    part = parent.part
    if len(part.entries) == 1 and part is not tree.root:
        if parent.colon < 0 or not tree.leads(entry.start):
            return [Edit(part.start, part.end, _BRACKETS[part.kind])]
        brackets = Edit(parent.colon + 1, parent.colon + 1, f" {_BRACKETS[part.kind]}")
        return [brackets, Edit(*_extent(tree, part, index), "")]
    if tree.leads(entry.start):
        return [Edit(*_extent(tree, part, index), "")]
    behind = part.entries[index + 1].start
    if "#" in tree.body[tree.line_end(entry.part.end) : behind]:
        raise tree.refusal(entry.start, "a comment stands where the two lines would be joined")
    return [Edit(entry.start, behind, "")]


def _extent(tree: Tree, part: Part, index: int) -> tuple[int, int]:
    """The lines of an entry, with the comments that belong to it."""
    entry = part.entries[index]
    column = tree.column(entry.start)
    end = _below(tree, entry.part.end, column)
    start = tree.line_start(entry.start)
    if part.kind != "list":
        return start, end
    above, texts = start, []
    while above:
        line = tree.line_start(above - 1)
        found = _COMMENT.fullmatch(tree.body, line, above)
        if found is None or len(found[1]) != column:
            break
        texts.append(found[2])
        above = line
    behind = part.entries[index + 1 : index + 2]
    both = bool(behind) and tree.line_start(behind[0].start) == end
    return (start if both or any(map(_OUT.match, texts)) else above), end


def _below(tree: Tree, end: int, column: int) -> int:
    """The offset behind the line that holds `end` and the deeper indented comments under it."""
    at = tree.line_end(end)
    while (found := _COMMENT.match(tree.body, at)) and len(found[1]) > column:
        at = found.end()
    return at


def _lines(tree: Tree, key: str | None, value: Any, last: Entry | None) -> list[str]:
    """A new entry as lines from column 0; an element of a list in the form of the last one."""
    step, dent = steps(tree)
    if key is not None:
        return keyed(key, value, step, dent)
    if last is None:
        return element(value, step, dent)
    if last.part.style == "flow":
        return [f"- {flow(value)}"]
    lead = tree.body[last.start : last.part.start]
    return element(value, step, dent, lead if re.fullmatch("- +", lead) else "- ")


def _insertion(tree: Tree, at: int, column: int, lines: list[str]) -> Edit:
    """The lines, indented, before what stands at an offset (the start of a line or the end).

    At the end of the file a blank line keeps them apart from a comment above, which is not about
    them. A file without a last newline stays without it.
    """
    newline = tree.newline
    text = newline.join(" " * column + line for line in lines)
    above = tree.body[tree.line_start(at - 1) : at] if at else ""
    gap = newline if at >= tree.root.end and above.startswith("#") else ""
    if above and not above.endswith("\n"):
        return Edit(at, at, newline + gap + text)
    return Edit(at, at, gap + text + newline)
