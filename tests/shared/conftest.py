"""One server for all tests of a process; a test that stops one starts its own."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from shared.servers import Server

pytest.register_assert_rewrite("tasks")


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A server that stays."""
    found = Server(tmp_path_factory.mktemp("milvus"))
    found.start()
    yield found
    found.stop()


@pytest.fixture
def own_server(tmp_path: Path) -> Iterator[Server]:
    """A server that the test may stop."""
    found = Server(tmp_path / "milvus")
    found.start()
    yield found
    found.stop()
