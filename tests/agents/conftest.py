"""A memory folder with nothing of this machine around it."""

from __future__ import annotations

from pathlib import Path

import pytest

from inputs.memory import CONFIG, Memory


@pytest.fixture
def memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Memory:
    """A folder that does not wait, and that only scout may not write P0 to."""
    for name in ("MEMFAS_ROOT", "MEMFAS_AGENT", "TZ"):
        monkeypatch.delenv(name, raising=False)
    root = tmp_path / "agent"
    root.mkdir()
    (root / "memfas.yaml").write_text(
        f"{CONFIG}agents:\n  writers: [chief]\n  private: {{scout: [secret/, notes/*.md]}}\n"
        "  read_only: [shared/rules.md]\n"
    )
    return Memory(root)
