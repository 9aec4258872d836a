"""An index under test: its keeper, what a fresh one would hold, and a clock without fine ticks."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from agent_memfas.index import sync
from agent_memfas.index.audit import Contents, contents, differences
from agent_memfas.index.keeper import IndexSource, Keeper
from agent_memfas.index.places import places_of
from agent_memfas.index.rebuild import fill
from agent_memfas.index.schema import create
from agent_memfas.index.scope import scope_of
from agent_memfas.store import odd, sweep
from agent_memfas.store.listing import Signature
from inputs.memory import Memory

INDEX = ".memfas/index.db"


def keeper_of(root: Path, sources: tuple[str, ...] = (), **options: Any) -> Keeper:
    """A keeper as the command line makes it, with the index inside the folder."""
    return Keeper(str(root), places_of(str(root), "", ""), sources, **options)


def fresh(root: Path, sources: tuple[str, ...] = ()) -> Contents:
    """What an index that is made of the files just now holds."""
    database = create(":memory:", str(root))
    try:
        fill(database, str(root), scope_of(str(root), sources), time.time_ns())
        return contents(database)
    finally:
        database.close()


def unequal(source: IndexSource, root: Path, sources: tuple[str, ...] = ()) -> list[str]:
    """Where an index is not what a fresh one would be."""
    return list(differences(contents(source.database), fresh(root, sources)))


def in_step(root: Path, sources: tuple[str, ...] = ()) -> list[str]:
    """The same, after one look of a keeper that begins anew."""
    keeper = keeper_of(root, sources)
    try:
        return unequal(keeper.source(time.time_ns()), root, sources)
    finally:
        keeper.close()


@contextmanager
def coarse(tick: int) -> Iterator[None]:
    """File times in steps of so many ns, as older kernels and other file systems give them."""
    listing, reading, signing = sweep.list_folder, sync.load, odd.signature_of

    def rounded(four: Signature) -> Signature:
        return (*four[:2], four[2] // tick * tick, four[3] // tick * tick)

    def list_folder(root: str, folder: str, *suffixes: Any) -> Any:
        found = listing(root, folder, *suffixes)
        for at in range(0, len(found.numbers), 4):
            found.numbers[at : at + 4] = rounded(tuple(found.numbers[at : at + 4]))  # type: ignore[arg-type]
        return found

    def load(*arguments: Any) -> Any:
        content = reading(*arguments)
        return type(content)(**{**vars(content), "signature": rounded(content.signature)})

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sweep, "list_folder", list_folder)
        patch.setattr(sync, "load", load)
        patch.setattr(odd, "signature_of", lambda info: rounded(signing(info)))
        yield


@contextmanager
def closed(root: Path, *folders: str) -> Iterator[None]:
    """Folders that cannot be listed for a while, whoever asks."""
    listing = sweep.list_folder

    def list_folder(at: str, folder: str, *suffixes: Any) -> Any:
        if folder in folders and Path(at, folder).is_dir():
            raise PermissionError(13, os.strerror(13))
        return listing(at, folder, *suffixes)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sweep, "list_folder", list_folder)
        yield


@contextmanager
def counted_time() -> Iterator[None]:
    """The monotonic clock goes one second further at each look: a budget of n seconds ends at the
    n-th look, always at the same place."""
    ticks = [0.0]

    def monotonic() -> float:
        ticks[0] += 1
        return ticks[0]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(time, "monotonic", monotonic)
        yield


def ask(memory: Memory, *words: str) -> dict[str, Any]:
    """What `memfas recall WORDS --json` answers, which never fails; with all the time it needs."""
    patient = () if "--within" in words else ("--within", "0")
    result = memory.run("recall", "--json", *patient, *words)
    assert result.status in (0, 1), result
    assert result.status == (not result.data["hits"] and not result.data["triggers"])
    assert "a fault of memfas" not in result.everything
    return result.data


def texts(answer: dict[str, Any]) -> list[str]:
    """The texts of the hits, best first."""
    return [hit["text"] for hit in answer["hits"]]


def places(answer: dict[str, Any]) -> list[str]:
    """Where the hits stand, `path:line`, best first."""
    return [f"{hit['path']}:{hit['start_line']}" for hit in answer["hits"]]
