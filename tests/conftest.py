"""For all tests: in CI the generated examples are the same each time, elsewhere new ones."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import settings

# A landing must not hang on the dice; whoever runs the suite by hand goes on looking for more.
# A slow machine is no fault: nothing here is about time.
settings.register_profile("ci", derandomize=True, deadline=None)
settings.register_profile("patient", deadline=None)
settings.load_profile("patient")
if os.environ.get("CI"):
    settings.load_profile("ci")


@pytest.fixture
def nothing_of_this_machine(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """No variable of the person who runs the tests steers memfas; the home is the test's own."""
    for name in ("MEMFAS_ROOT", "MEMORY_PATH", "ARCHIVE_DIR", "MEMORY_DIR", "TZ", "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
