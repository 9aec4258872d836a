"""An empty folder that is the current one, and a home of its own."""

from __future__ import annotations

from pathlib import Path

import pytest

from promises.prompt import Here


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Here:
    """The current folder: new, empty, and with nothing of this machine around it."""
    for name in ("MEMFAS_ROOT", "MEMORY_PATH", "ARCHIVE_DIR", "MEMORY_DIR", "TZ", "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)
    (tmp_path / "home").mkdir()
    (tmp_path / "my-agent").mkdir()
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path / "my-agent")
    return Here(tmp_path / "my-agent")
