"""History: the kept versions of a file, what changed between them, and what vanished unarchived."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from agent_memfas.errors import NothingFound
from agent_memfas.store import archive, history
from agent_memfas.store.layout import Folder
from agent_memfas.text.documents import parse, split
from agent_memfas.text.merge import vanished


@dataclass(frozen=True)
class Step:
    """One version. added, removed: lines against the one before; vanished: those that neither
    stay nor stand in the archive.
    """

    pass_id: str
    time: str
    command: str
    path: str
    added: int
    removed: int
    vanished: tuple[str, ...]


def run(folder: Folder, name: str = "") -> list[Step]:
    """The kept versions of a file (or of all), oldest first. NothingFound: none is kept."""
    path = folder.relative(folder.place(name)) if name else ""
    log = history.versions(folder, path)
    if not log:
        what = f"of {name} " if name else ""
        raise NothingFound(f"no versions {what}are kept yet")
    archived = archive.all_lines(folder.root)
    last: dict[str, str] = {}
    steps = []
    for version in log:
        steps.append(_step(folder, version, last.get(version.path, ""), archived))
        last[version.path] = version.after or last.get(version.path, "")
    return steps


def _step(folder: Folder, version: history.Version, last: str, archived: set[bytes]) -> Step:
    if version.line:
        added = len(split(version.line.encode()))
        return Step(version.pass_id, version.time, version.command, version.path, added, 0, ())
    before_name = version.before if version.before != version.after else last
    before = history.content(folder, before_name) if before_name else None
    after = history.content(folder, version.after)
    added = removed = 0
    lost: list[bytes] = []
    if before is not None and after is not None:
        had, has = Counter(split(before)), Counter(split(after))
        added, removed = (has - had).total(), (had - has).total()
        if version.command == "seen":
            lost = vanished(parse(before).lines, parse(after).lines, archived)
    told = tuple(line.decode("utf-8", "replace").rstrip("\r\n") for line in lost)
    return Step(version.pass_id, version.time, version.command, version.path, added, removed, told)


def show(folder: Folder, name: str, pass_id: str, *, before: bool = False) -> bytes:
    """A file's bytes as one pass left them (or found them)."""
    path = folder.relative(folder.place(name))
    for version in history.versions(folder, path):
        if version.pass_id == pass_id:
            data = history.content(folder, version.before if before else version.after)
            if data is not None:
                return data
    raise NothingFound(
        f"no contents of {name} at pass {pass_id} are kept", f"see: memfas history {name}"
    )
