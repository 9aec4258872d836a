"""Sweeping a memory folder: which of its folders are not what they were when they were last read.

A listing (names, inodes, sizes, times) is compared as bytes; only folders that differ are looked at
file by file. Ten thousand files take some 25 ms.
"""

from __future__ import annotations

import os
import time

from agent_memfas.store.listing import (
    LARGEST,
    SKIPPED_FOLDERS,
    TEXT_SUFFIXES,
    Known,
    Listed,
    Signature,
    Skipped,
    join,
    list_folder,
    packed,
)
from agent_memfas.text.record import Record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping

LINKS = "\0links"  # stands for the folder of linked files among the real ones


class Swept(Record):
    """What a sweep saw. same: folders whose listing is what is known; changed: the others.

    failed: folders that could not be listed, with the reason. ignored: folders passed over by
    rule. seen: files, skipped ones too. complete: False where time ran out.
    """

    same: set[str]
    changed: dict[str, Listed]
    failed: dict[str, str]
    ignored: set[str]
    skipped: list[Skipped]
    seen: int
    complete: bool


def sweep(
    root: str,
    known: Mapping[str, Known],
    enters: Callable[[str], bool] | None = None,
    deadline: float | None = None,
    only: Collection[str] | None = None,
    suffixes: tuple[str, ...] = TEXT_SUFFIXES,
) -> Swept:
    """List every folder, most recently changed ones first, and compare with what is known.

    root: absolute. enters: whether a folder that is not known counts. deadline: of the monotonic
    clock; folders that are not reached by then are in no part of the result. only: list these
    folders and no others, not even those inside them. suffixes: of the files that count.
    """
    same, changed = set[str](), dict[str, Listed]()
    failed, ignored = dict[str, str](), set[str]()
    skipped, odd = list[Skipped](), list[tuple[str, os.stat_result]]()
    seen, complete = 0, only is None
    pending = [""] if only is None else [f for f in only if _is_reached(root, f)]
    while pending:
        if deadline is not None and time.monotonic() > deadline:
            complete = False
            break
        folder = pending.pop()
        before = known.get(folder)
        if not (before.entered if before else enters is None or not folder or enters(folder)):
            ignored.add(folder)
            continue
        try:
            listed = list_folder(root, folder, suffixes)
        except OSError as error:
            failed[folder] = os.strerror(error.errno or 0)
            skipped.append(Skipped(folder or ".", failed[folder]))
            continue
        seen += len(listed.names) + len(listed.skipped)
        skipped += listed.skipped
        odd += [(join(folder, name), info) for name, info in listed.odd]
        names, numbers = packed(listed.names, listed.numbers)
        if before and before.names == names and before.numbers == numbers:
            same.add(folder)
        else:
            changed[folder] = listed
        if only is None:
            pending += _by_age([join(folder, name) for name in listed.folders], known)
    if complete:
        _add_odd(root, odd, known, same, changed, skipped)
    return Swept(same, changed, failed, ignored, skipped, seen + len(odd), complete)


def _is_reached(root: str, folder: str) -> bool:
    """Whether a path leads to a folder without passing any link, dot folder or dependency."""
    if any(name[:1] == "." or name in SKIPPED_FOLDERS for name in folder.split("/")):
        return False
    path = os.path.join(root, folder) if folder else root
    return os.path.realpath(path) == path


def _by_age(folders: list[str], known: Mapping[str, Known]) -> list[str]:
    """The folders with the newest files last, new folders at the very end: they are next."""
    if len(folders) < 2:
        return folders
    return sorted(folders, key=lambda f: (known[f].latest if f in known else LARGEST, f))


def _add_odd(
    root: str,
    odd: list[tuple[str, os.stat_result]],
    known: Mapping[str, Known],
    same: set[str],
    changed: dict[str, Listed],
    skipped: list[Skipped],
) -> None:
    """Links and files with several names, as the files of a folder of their own: LINKS."""

    def is_listed(path: str) -> bool:
        folder, _, name = path.rpartition("/")
        if folder in changed:
            return name in changed[folder].names
        return folder in same and name in known[folder].signatures()

    found: dict[str, Signature] = {}
    if odd:
        from agent_memfas.store.odd import resolve

        found = resolve(root, sorted(odd), is_listed, skipped)
    before = known.get(LINKS)
    if not found and before is None:
        return
    names, numbers = list(found), [number for four in found.values() for number in four]
    if before and (before.names, before.numbers) == packed(names, numbers):
        same.add(LINKS)
    else:
        changed[LINKS] = Listed(names, numbers, [], [], [])
