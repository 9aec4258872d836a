"""What OpenClaw keeps for itself in a workspace: never read as memory, never changed.

Its dreaming writes `DREAMS.md` and `memory/dreaming/`; `memory/.dreams/` is a dot folder, which no
sweep enters.
"""

from __future__ import annotations

import os

MARKS = ("AGENTS.md", "SOUL.md", "memory/.dreams")
DIARIES = frozenset({"DREAMS.md", "dreams.md"})
DREAMING = frozenset({"dreaming"})
# Pages of the person and the agent, which go into every session: read, but not corrected.
PAGES = frozenset({"AGENTS.md", "SOUL.md", "IDENTITY.md", "USER.md", "TOOLS.md", "HEARTBEAT.md",
                   "BOOTSTRAP.md"})  # fmt: skip


def is_workspace(root: str) -> bool:
    """Whether a folder is (or may be) a workspace of OpenClaw."""
    return any(os.path.lexists(os.path.join(root, mark)) for mark in MARKS)


def names_in(folder: str) -> frozenset[str]:
    """What would be OpenClaw's in a folder (relative, "" for the root) if it is in a workspace."""
    return DIARIES if not folder else DREAMING if folder == "memory" else frozenset()


def is_diary(root: str, folder: str) -> bool:
    """Whether what has one of these names in a folder is OpenClaw's."""
    others = [os.path.join(root, name) for name in DIARIES] if folder else []
    return is_workspace(root) or any(map(os.path.lexists, others))
