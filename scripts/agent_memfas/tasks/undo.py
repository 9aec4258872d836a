"""Undo: a pass taken back, in every file that it changed; what others did since stays."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace

from agent_memfas.errors import Conflict, NothingFound
from agent_memfas.store import archive, history
from agent_memfas.store.files import read
from agent_memfas.store.history import Version
from agent_memfas.store.layout import Folder
from agent_memfas.store.passes import Draft, Pass, edit, editable, hold, read_patiently
from agent_memfas.text.documents import Document, parse, split
from agent_memfas.text.merge import take_back


@dataclass(frozen=True)
class Undone:
    """pass_id, command, time: of the pass that was taken back. changes: (path, lines that came
    back, lines that went), a tuple a file.
    """

    pass_id: str
    command: str
    time: str
    changes: tuple[tuple[str, int, int], ...]


def run(folder: Folder, pass_id: str, run: Pass, *, dry_run: bool = False) -> Undone:
    """Take back the named pass, or the last one that is not undone yet.

    NothingFound: there is none. Conflict: others changed the very lines since; nothing changed.
    """
    with hold(folder, run):
        todo = _choose(folder, pass_id)
        plans = [_Plan(folder, path, versions) for path, versions in _by_file(todo)]
        for plan in plans:
            plan(editable(plan.path, read_patiently(folder.place(plan.path))))
        changes = []
        marked = replace(run, command=f"undo {todo[0].pass_id}", id="", notices=[])
        for plan in plans:
            if not dry_run:
                edit(folder, plan.path, plan, marked)
                for version in plan.versions:
                    if version.archive:
                        _clear_archive(folder, version, marked)
            changes.append((plan.path, *plan.counts))
        run.notices.extend(marked.notices)
    first = todo[0]
    return Undone(first.pass_id, first.command, first.time, tuple(changes))


def _by_file(todo: list[Version]) -> list[tuple[str, list[Version]]]:
    """The versions of each file, all newest first: a file is changed once, however often it was."""
    found = dict[str, list[Version]]()
    for version in reversed(todo):
        found.setdefault(version.path, []).append(version)
    return list(found.items())


def _choose(folder: Folder, pass_id: str) -> list[Version]:
    log = [v for v in history.versions(folder) if v.line or v.before != v.after]
    undone = {v.command.partition(" ")[2] for v in log if v.command.startswith("undo ")}
    if not pass_id:
        open_ = [v for v in log if v.pass_id not in undone and not v.command.startswith("undo ")]
        if not open_:
            raise NothingFound("there is no pass to undo", "see: memfas history")
        pass_id = open_[-1].pass_id
    chosen = [v for v in log if v.pass_id == pass_id]
    if not chosen:
        raise NothingFound(f"there is no pass {pass_id}", "see: memfas history")
    if pass_id in undone:
        raise NothingFound(f"pass {pass_id} is undone already")
    return chosen


class _Plan:
    """A plan for `edit`: the document without the changes of some versions of it, newest first.
    counts: lines (back, gone).
    """

    def __init__(self, folder: Folder, path: str, versions: list[Version]) -> None:
        self._folder, self.path, self.versions, self.counts = folder, path, versions, (0, 0)

    def __call__(self, document: Document) -> Draft[None]:
        wanted = list(document.lines)
        for version in self.versions:
            change = self._without_line if version.line else self._without_change
            wanted = change(version, wanted)
        had, has = Counter(document.lines), Counter(wanted)
        self.counts = ((has - had).total(), (had - has).total())
        return Draft(b"".join(wanted), None)

    def _without_line(self, version: Version, lines: list[bytes]) -> list[bytes]:
        added = list(split(version.line.encode()))
        for n in range(len(lines) - len(added), -1, -1):
            if lines[n : n + len(added)] == added:
                return lines[:n] + lines[n + len(added) :]
        raise self._conflict(version, "what was added is not there as it was")

    def _without_change(self, version: Version, lines: list[bytes]) -> list[bytes]:
        before = history.content(self._folder, version.before)
        after = history.content(self._folder, version.after)
        if before is None or after is None:
            raise self._conflict(version, "its older contents are not kept any more")
        wanted = take_back(parse(before).lines, parse(after).lines, lines)
        if wanted is None:
            raise self._conflict(version, "the lines that it changed have been edited since")
        return wanted

    def _conflict(self, version: Version, why: str) -> Conflict:
        hint = f"look at the old text: memfas history {version.path} --show {version.pass_id}"
        return Conflict(f"pass {version.pass_id} cannot be undone in {version.path}: {why}", hint)


def _clear_archive(folder: Folder, version: Version, run: Pass) -> None:
    """The entries are back: their block leaves the archive, if all its lines stand in the file."""
    standing = Counter(split(read(folder.place(version.path)).data))

    def plan(document: Document) -> Draft[None] | None:
        block = archive.block_id(version.pass_id, version.path)
        rest = archive.without_block(document.data, block, standing)
        if rest is None:
            run.notices.append(f"the entries also stay in {version.archive}: it has been edited")
            return None
        return Draft(rest, None)

    if (folder.root / version.archive).exists():
        edit(folder, version.archive, plan, run)
