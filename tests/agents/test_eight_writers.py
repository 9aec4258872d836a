"""Eight processes, every route, janitor and watcher at work: nobody's line is lost or doubled."""

from __future__ import annotations

from pathlib import Path

from benchmarks.writers import play

EACH = 30


def test_each_entry_is_there_once(tmp_path: Path) -> None:
    """By the command line, the library, the MCP server and `>>`, into MEMORY.md and into inboxes;
    what has expired is in the archive once. (A thousand each: tests/benchmarks/writers.py.)"""
    _, entries, old = play(tmp_path, EACH)
    names = ("cli1", "cli2", "api1", "api2", "mcp1", "mcp2", "sh1", "sh2")
    wanted = {f"{name} {n}" for name in names for n in range(EACH)}
    assert set(entries) == wanted
    assert set(entries.values()) == {1}
    assert set(old) == {f"sh{k} {n}" for k in (1, 2) for n in range(0, EACH, 20)}
    assert set(old.values()) == {1}
