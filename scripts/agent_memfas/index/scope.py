"""Which files of a memory folder are memory: `sources` of memfas.yaml, and `.memfasignore`."""

from __future__ import annotations

import os

from agent_memfas.store.listing import TEXT_SUFFIXES
from agent_memfas.store.places import IGNORE, TRIGGERS, UNINDEXED, small, stamp
from agent_memfas.text.record import Record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

    from pathspec import GitIgnoreSpec

    from agent_memfas.text.firing import Trigger

_CAP = 1 << 20
EVERYTHING = "**"  # the source that stands for the whole folder


class Scope(Record):
    """sources: files, folders and globs, empty for all. ignore: the text of .memfasignore.

    Text files count; one with another suffix (`data/*.json`, `todo.org`) where a source names that.
    """

    sources: tuple[str, ...] = ()
    ignore: str = ""

    @property
    def fingerprint(self) -> str:
        """Another one for another scope."""
        return "\0".join((*self.sources, "\0", self.ignore))

    @property
    def suffixes(self) -> tuple[str, ...]:
        """Of the files to look at, in lower case: of text files, and those that sources name."""
        named = (os.path.splitext(source)[1].lower() for source in self.sources)
        return tuple(dict.fromkeys((*TEXT_SUFFIXES, *(s for s in named if s[1:].isalnum()))))

    def wants(self, path: str) -> bool:
        """Whether a file of that path counts."""
        if path.startswith(UNINDEXED) or self.ignores(path):
            return False
        if not self.sources or path == TRIGGERS:
            return path.lower().endswith(TEXT_SUFFIXES)
        return self.means(path)

    def means(self, path: str) -> bool:
        """Whether one of the sources is that file, has it inside, or is a glob that fits."""
        suffix = os.path.splitext(path.lower())[1]
        return any(
            _matches(path, source.removeprefix("./")) for source in self.sources
            if suffix in TEXT_SUFFIXES or source.lower().endswith(suffix or "/")
        )  # fmt: skip

    def enters(self, folder: str) -> bool:
        """Whether files in a folder can count."""
        return not f"{folder}/".startswith(UNINDEXED) and not self.ignores(f"{folder}/")

    def ignores(self, path: str) -> bool:
        """Whether .memfasignore leaves out a file, or a folder with `/` behind it."""
        return bool(self.ignore) and bool(self._spec().match_file(path))

    def _spec(self) -> GitIgnoreSpec:
        spec: GitIgnoreSpec | None = self.__dict__.get("_parsed")
        if spec is None:
            spec = self.__dict__["_parsed"] = _parsed(self.ignore)
        return spec


class Extra(Record):
    """Triggers of the settings file, which are in no memory file.

    token: another one for other triggers, "" for none at all. load: reads them.
    """

    token: str = ""
    load: Callable[[], Sequence[Trigger]] = tuple

    @classmethod
    def of(cls, token: str, file: str, load: Callable[[], Sequence[Trigger]]) -> Extra:
        """With a triggers_file, "" for none: other triggers whenever it was changed."""
        return cls(f"{token}:{stamp(file)}" if file else token, load)


class Job(Record):
    """What is to be done to an index. as_of: the wall clock when the sweep began, ns. deadline: of
    the monotonic clock, or None. deep: read every file. suspect: make the rows of these anew.
    wait: seconds to wait for the lock. tell: hears how many of how many files have been read.
    """

    root: str
    scope: Scope
    as_of: int
    deadline: float | None = None
    deep: bool = False
    suspect: frozenset[str] = frozenset()
    wait: float = 0.0
    tell: Callable[[int, int], None] | None = None
    extra: Extra | None = None


def scope_of(root: str, sources: tuple[str, ...]) -> Scope:
    """The scope of a folder as it is now: its .memfasignore is read, where there is one."""
    text = small(os.path.join(root, IGNORE), _CAP) or b""
    return Scope(sources, text.decode("utf-8", "replace"))


def _parsed(text: str) -> GitIgnoreSpec:
    """The rules of a .memfasignore; lines that make no sense are passed over, as git does."""
    import re

    from pathspec import GitIgnoreSpec

    patterns: list[Any] = []
    for line in text.removeprefix("\ufeff").split("\n"):
        rule = line.removesuffix("\r")
        if rule.endswith("/**"):  # what is in the folder: pathspec takes it for the folder, too
            rule += "/*"
        try:
            patterns += GitIgnoreSpec.from_lines([rule]).patterns
        except (ValueError, re.error):
            continue
    return GitIgnoreSpec(patterns)


def _matches(path: str, pattern: str) -> bool:
    """Whether a path is that file, lies in that folder, or fits that glob (`**` spans folders)."""
    from fnmatch import fnmatchcase

    pattern = pattern.rstrip("/")
    if path == pattern or path.startswith(f"{pattern}/"):
        return True
    if "**" in pattern:
        return fnmatchcase(path, pattern.replace("**/", "*"))
    return path.count("/") == pattern.count("/") and fnmatchcase(path, pattern)
