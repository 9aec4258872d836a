"""Triggers: remembering a keyword with its hint, and forgetting it wherever it stands."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

from agent_memfas.errors import Conflict, FileFault, UsageError
from agent_memfas.store.append import append
from agent_memfas.store.files import read
from agent_memfas.store.layout import Folder
from agent_memfas.store.passes import Draft, Pass, edit, hold
from agent_memfas.store.places import CONFIGURATIONS, TRIGGERS
from agent_memfas.text.documents import Document, parse
from agent_memfas.text.entries import one_line
from agent_memfas.text.firing import Trigger, key_of
from agent_memfas.text.settings import items, remove_item
from agent_memfas.text.triggers import (
    bullet,
    listed,
    split_links,
    with_hint,
    without_commented,
    without_listed,
)

HEADER = "# Triggers\n\n"


@dataclass(frozen=True)
class Remembered:
    """The bullet that was written. replaced: the hint that stood there before, or None."""

    path: str
    line: int
    keyword: str
    hint: str
    links: tuple[str, ...] = ()
    replaced: str | None = None


def remember(
    folder: Folder, keyword: str, hint: str, links: tuple[str, ...], run: Pass
) -> Remembered:
    """Put a trigger into TRIGGERS.md; where the keyword stands there, its hint is exchanged.

    UsageError where there is no word in the keyword, or neither hint nor link.
    """
    keyword = " ".join(one_line(keyword).split()).strip(",")
    hint, more = split_links(" ".join(one_line(hint).split()))
    links = (*more, *links)
    if not key_of(keyword) or "->" in keyword or "→" in keyword or "," in keyword:
        raise UsageError(f"{keyword!r} cannot be a keyword", "one or several words, no comma or ->")
    if not hint and not links:
        raise UsageError("a trigger needs a hint", "add -H HINT")
    line = bullet(keyword, hint, links)
    _check(line, keyword, hint, links)
    old = _standing(folder, keyword)
    if old is None:
        number = append(folder, TRIGGERS, line, run, header=HEADER)
        return Remembered(TRIGGERS, number, keyword, hint, links)
    with hold(folder, run):
        edit(folder, TRIGGERS, lambda document: _exchanged(document, keyword, line), run)
    there = _standing(folder, keyword)
    return Remembered(TRIGGERS, there.line if there else old.line, keyword, hint, links, old.hint)


def _check(line: str, keyword: str, hint: str, links: tuple[str, ...]) -> None:
    """UsageError unless the line is read as this one trigger, and hides none after it."""
    after = Trigger("x", "y", "", 2)
    found = listed(parse(f"{line}\n- x -> y\n".encode("utf-8", "replace")), "")
    if len(found) == 2 and found[1] == after:
        (read, _) = found
        told = hint.encode("utf-8", "replace").decode()
        if (key_of(read.keyword), read.hint, read.links) == (key_of(keyword), told, links):
            return
    raise UsageError(
        f"{line!r} would not be read as one trigger",
        "markdown marks (>, <!--, ``` and the like) do not belong into keyword, hint or link",
    )


def _standing(folder: Folder, keyword: str) -> Trigger | None:
    try:
        document = parse(read(folder.root / TRIGGERS).data)
    except FileFault:
        return None
    return _found(document, keyword)


def _found(document: Document, keyword: str) -> Trigger | None:
    key = key_of(keyword)
    return next((t for t in listed(document, TRIGGERS) if key_of(t.keyword) == key), None)


def _exchanged(document: Document, keyword: str, line: str) -> Draft[None] | None:
    """The list with this bullet for the keyword; a bullet of several keywords keeps the others."""
    old = _found(document, keyword)
    if old is None:
        return None
    alone = sum(t.line == old.line for t in listed(document, TRIGGERS)) == 1
    if alone:
        new = with_hint(document, old.line - 1, line)
    else:
        new = without_listed(document, key_of(keyword))
        new += (b"" if new.endswith(b"\n") or not new else b"\n") + line.encode() + b"\n"
    return None if new == document.data else Draft(new, None)


def forget(folder: Folder, keyword: str, known: list[Trigger], run: Pass) -> list[Trigger]:
    """Take a keyword away wherever it stands. Returns the triggers that went, [] for none.

    known: the triggers that fire on the keyword, as recall finds them. Conflict names file and
    line where one cannot be taken out by a program; those before it are gone by then.
    """
    key = key_of(keyword)
    gone = [trigger for trigger in known if key_of(trigger.keyword) == key]
    with hold(folder, run):
        for path, line in dict.fromkeys((t.path, t.line) for t in gone):
            if path.startswith("/"):
                raise Conflict(f"{path}:{line}: outside the memory folder", "edit the file by hand")
            edit(folder, path, partial(_without, key=key, path=path, line=line), run)
    return gone


def _without(document: Document, *, key: str, path: str, line: int) -> Draft[None] | None:
    if path in CONFIGURATIONS or path.endswith((".yaml", ".yml", ".json")):
        new = _without_setting(document.data, key, path)
    elif any(key_of(t.keyword) == key for t in listed(document, path)):
        new = without_listed(document, key)
    else:
        new = without_commented(document, key, line - 1)
    return None if new == document.data else Draft(new, None)


def _without_setting(data: bytes, key: str, path: str) -> bytes:
    text = data.decode()
    for n, item in reversed(list(enumerate(items(text, "triggers", path)))):
        if isinstance(item.value, dict) and key_of(str(item.value.get("keyword", ""))) == key:
            text = remove_item(text, "triggers", n, path)
    return text.encode()
