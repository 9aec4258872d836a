"""The plugin for Claude Code in `.claude-plugin`: the layout that its documentation asks for."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import agent_memfas
from agent_memfas.hooks.hosts import pieces
from commandline import REPO
from hosts.conftest import Home

MARKET = REPO / ".claude-plugin/marketplace.json"
PLUGIN = REPO / ".claude-plugin/memfas"


def loaded(path: Path) -> Any:
    return json.loads(path.read_text(encoding="utf-8"))


def test_the_marketplace_names_the_plugin_and_nothing_makes_the_repository_one() -> None:
    """A clone as a skill must not start hooks by itself: the manifest stands in a folder below."""
    (entry,) = loaded(MARKET)["plugins"]
    assert (REPO / entry["source"]).resolve() == PLUGIN
    assert entry["name"] == loaded(PLUGIN / ".claude-plugin/plugin.json")["name"] == "memfas"
    assert not (REPO / ".claude-plugin/plugin.json").exists()
    manifest = loaded(PLUGIN / ".claude-plugin/plugin.json")
    assert manifest["version"] == agent_memfas.__version__
    assert not any(path.is_symlink() for path in PLUGIN.rglob("*"))


def test_its_hooks_are_those_that_install_writes() -> None:
    """The same events, matchers and limits; only the program is looked for on the PATH."""
    (settings, _) = pieces("claude-code", ["memfas"], "", "", {"home": "/h"}, "")
    ours = loaded(PLUGIN / "hooks/hooks.json")["hooks"]
    assert set(ours) == set(settings.value)
    for event, group in settings.value.items():
        (told,) = ours[event]
        (handler,), (wanted,) = told.pop("hooks"), group.pop("hooks")
        assert told == group
        assert handler["timeout"] == wanted["timeout"]
        assert f"exec {wanted['command']};" in handler["command"]


def test_without_memfas_on_the_path_its_hooks_are_silent(home: Home, tmp_path: Path) -> None:
    """With it they answer; the server is named for any machine."""
    command = loaded(PLUGIN / "hooks/hooks.json")["hooks"]["SessionStart"][0]["hooks"][0]["command"]
    given = json.dumps({"session_id": "s", "cwd": str(home.memory.root), "source": "startup",
                        "hook_event_name": "SessionStart"})  # fmt: skip
    bare = {"PATH": "/usr/bin:/bin", "HOME": str(home.path)}
    shell = shutil.which("sh") or "/bin/sh"
    done = subprocess.run([shell, "-c", command], input=given, capture_output=True, text=True,
                          env=bare, check=False)  # fmt: skip
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    program = tmp_path / "bin/memfas"
    program.parent.mkdir()
    program.write_text(f"#!{sys.executable}\nimport sys\nsys.path.insert(0, {str(REPO / 'scripts')!r})\n"
                       "from agent_memfas.cli import main\nsys.exit(main())\n")  # fmt: skip
    program.chmod(0o755)
    path = f"{program.parent}{os.pathsep}{bare['PATH']}"
    done = subprocess.run([shell, "-c", command], input=given, capture_output=True, text=True,
                          env={**bare, "PATH": path}, check=False)  # fmt: skip
    assert "heron" in json.loads(done.stdout)["hookSpecificOutput"]["additionalContext"]
    assert loaded(PLUGIN / ".mcp.json")["mcpServers"]["memfas"] == {
        "command": "memfas", "args": ["mcp"]}  # fmt: skip
