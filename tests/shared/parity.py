"""Every question of a test goes to Milvus: what the modules test_*_at_milvus.py have in common."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from itertools import count
from typing import Any

import pytest

from agent_memfas.cli import asking
from agent_memfas.index import shared
from agent_memfas.index.backends.collection import Address
from agent_memfas.index.keeper import Keeper
from shared.servers import Server

_numbers = count()


@pytest.fixture(autouse=True)
def at_milvus(server: Server, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Answers that did not come from there fail the test."""
    run, here = f"{time.time_ns():x}", list[str]()

    def maker(_: object) -> Callable[..., Keeper]:
        def make(root: str, *places: Any, **options: Any) -> Keeper:
            if not options.get("use_index", True):
                return Keeper(root, *places, **options)
            spaces.setdefault(root, f"{run}-{next(_numbers)}")
            address = Address(server.uri, collection="parity", namespace=spaces[root])
            return shared.shared(address, None)(root, *places, **options)

        return make

    class Told(shared.Noted):
        def __init__(self, source: Any, note: str = "") -> None:
            super().__init__(source, note)
            if note.startswith(shared.HERE):
                here.append(note)

    spaces = dict[str, str]()
    monkeypatch.setattr(asking.Asked, "_maker", maker)
    monkeypatch.setattr(shared, "Noted", Told)
    monkeypatch.setattr(shared, "SECONDS", 60.0)
    yield
    assert here == []
