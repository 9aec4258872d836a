"""A memory folder with nothing of this machine around it."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from agents.machines import Place, git
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


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Place:
    """A bare remote, and a git that knows nothing of this machine and its user."""
    for name in [name for name in os.environ if name.startswith(("GIT_", "MEMFAS_"))]:
        monkeypatch.delenv(name)
    (tmp_path / "home").mkdir()
    config = tmp_path / "home" / "gitconfig"
    config.write_text(
        "[init]\n\tdefaultBranch = main\n[user]\n\tname = Me\n\temail = me@example.org\n"
    )
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(config))
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")
    git(tmp_path, "init", "-q", "--bare", "remote.git")
    return Place(tmp_path)
