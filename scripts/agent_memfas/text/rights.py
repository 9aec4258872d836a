"""Who may read and write what in a memory folder: agents by name, "" for the person it belongs to.

It keeps agents that go through memfas out of each other's way. It is no wall: whoever can open the
files can read them.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from agent_memfas.errors import UsageError
from agent_memfas.text.record import Record

NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._@+-]{0,63}")
BASE = "shared/SOUL-BASE.md"
_SOURCE = re.compile(r"<!--(?=\s*source:)")
_BY = re.compile(r"<!--\s*source:(?:[^>]*?\s)??\s*by\s+([^\s>][^>]*?)\s*-->")
_NESTED = re.compile(r"\s+(?:[-*+]|[0-9]{1,9}[.)])\s")
_WILD = re.compile(r"[*?\[]")


class Rights(Record):
    """What one agent may do. agent: "" for the person, who may everything. writers: who else may
    write P0 and SOUL-BASE. private: "NAME GLOB", what only agents of these names may see.
    read_only: globs of what no agent may write. Globs are relative to the root; a folder stands for
    all that is in it.
    """

    agent: str = ""
    writers: tuple[str, ...] = ()
    private: tuple[str, ...] = ()
    read_only: tuple[str, ...] = ()

    def of(self, agent: str) -> Rights:
        """The same, for one of this name."""
        return Rights(agent, self.writers, self.private, self.read_only)

    @property
    def hidden(self) -> tuple[str, ...]:
        """The globs of what this agent may not see."""
        if not self.agent:
            return ()
        pairs = [one.partition(" ")[::2] for one in self.private]
        own = {glob for name, glob in pairs if name == self.agent}
        return tuple(dict.fromkeys(glob for _, glob in pairs if glob not in own))

    @property
    def is_writer(self) -> bool:
        """Whether it may write P0 and SOUL-BASE."""
        return not self.agent or self.agent in self.writers

    def may_read(self, path: str) -> bool:
        """Whether it may see a file. path: relative to the root."""
        return not within(path, self.hidden)

    def may_write(self, path: str) -> bool:
        """Whether it may add to a file or change it."""
        if not self.agent:
            return True
        if within(path, self.read_only) or not self.may_read(path):
            return False
        return self.is_writer or path != BASE

    def check(self, path: str, priority: str = "") -> None:
        """UsageError where it may not write to a file, or not an entry of that priority."""
        if not self.may_write(path):
            raise UsageError(f"{self.agent} may not write to {path}", "see agents: in memfas.yaml")
        if priority == "P0" and not self.is_writer:
            told = "agents.writers in memfas.yaml names who may"
            raise UsageError(f"{self.agent} may not write P0", told)


def within(path: str, globs: tuple[str, ...]) -> bool:
    """Whether a path is meant by one of these, or lies in a folder that is."""
    for glob in globs:
        plain = glob.rstrip("/")
        if path == plain or path.startswith(f"{plain}/"):
            return True
        if _WILD.search(glob):
            from fnmatch import fnmatchcase

            if fnmatchcase(path, glob) or fnmatchcase(path, f"{plain}/*"):
                return True
    return False


def is_name(name: str) -> bool:
    """Whether an agent may be called so: letters, digits, `._@+-`, 64 at most."""
    return NAME.fullmatch(name) is not None


def signed(text: str, agent: str, source: str = "") -> str:
    """A line of an agent's, with who wrote it. source: where it comes from, without spaces. What
    the text itself says of its source is no comment any more, so that nobody signs for another.
    """
    where = f"{source} " if source else ""
    return f"{unsigned(text)} <!-- source: {where}by {agent} -->" if agent else text


def unsigned(text: str) -> str:
    """A text in which nothing is a comment about its source any more."""
    return _SOURCE.sub("<!- -", text)


def author_of(lines: Sequence[str]) -> str:
    """Who wrote an entry or an item, "" where it does not say: its first line, else what follows
    before the first item that stands in it, for that may be somebody else's. Where it says so twice
    the last counts, which is the one that memfas put there.
    """
    nested = next((n for n, line in enumerate(lines) if n and _NESTED.match(line)), len(lines))
    found: list[str] = _BY.findall(lines[0]) or _BY.findall("\n".join(lines[:nested]))
    return found[-1] if found else ""


PERSON = Rights()
# Where nobody can tell what is whose: no agent sees anything, the person all.
CLOSED = Rights(private=("* *",))
