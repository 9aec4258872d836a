"""Writing to a memory by its object: an entry, a line of the log."""

from __future__ import annotations

import warnings
from typing import Protocol

from agent_memfas.store.layout import Folder
from agent_memfas.store.passes import Pass
from agent_memfas.tasks import notes
from agent_memfas.text.rights import Rights


class Writable(Protocol):
    """What is written to: a folder, by somebody, in passes."""

    @property
    def folder(self) -> Folder:
        """The memory folder."""

    @property
    def rights(self) -> Rights:
        """What the agent that it was opened for may do."""

    def _run(self, name: str) -> Pass: ...


class Writing:
    """The part of `Memory` that writes entries. Each call is one append that nobody's line is lost
    to, whoever else writes at the same time.
    """

    def add(self: Writable, text: str, priority: str = "P1", *, shared: bool = False) -> str:
        """Keep something in MEMORY.md, or for all agents in an inbox of shared/. Returns
        `path:line`. UsageError for an empty text, another priority, or what this agent may not
        write; FileFault.
        """
        write, run = notes.share if shared else notes.add, self._run("add")
        return _place(write(self.folder, text, priority, run, self.rights), run)

    def log(self: Writable, text: str) -> str:
        """Append a line to today's log; the same."""
        run = self._run("log")
        return _place(notes.log(self.folder, text, run, self.rights), run)


def _place(done: notes.Added, run: Pass) -> str:
    for notice in run.notices:
        warnings.warn(notice, stacklevel=3)
    return f"{done.path}:{done.line}"
