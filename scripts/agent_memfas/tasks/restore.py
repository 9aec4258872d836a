"""Restore: one archived entry back to where it was, whole, with everything indented under it."""

from __future__ import annotations

from dataclasses import dataclass

from agent_memfas.errors import Conflict, NothingFound
from agent_memfas.store import archive, history
from agent_memfas.store.archive import Archived
from agent_memfas.store.layout import Folder
from agent_memfas.store.passes import Draft, Pass, edit, hold, read_patiently
from agent_memfas.text.documents import BOM, Document, parse, split
from agent_memfas.text.merge import place_in


@dataclass(frozen=True)
class Restored:
    """path, start_line, end_line (1-based, inclusive): where the entry stands now. by: how its
    place was found: `neighbours`, `heading` or `end`.
    """

    path: str
    start_line: int
    end_line: int
    text: str
    by: str


def run(folder: Folder, name: str, line: int, run: Pass, *, dry_run: bool = False) -> Restored:
    """Bring the archived entry at a line (1-based) of an archive file back to its memory file.

    NothingFound: no entry with a known origin stands there. The entry leaves the archive once it
    stands in the memory file again.
    """
    with hold(folder, run):
        found = _find(read_patiently(folder.place(name)).data, name, line)
        origin = found.origin
        plan = _Plan(found, _older(folder, found))
        if dry_run:
            plan(parse(read_patiently(folder.place(origin.path)).data))
        else:
            edit(folder, origin.path, plan, run)
            edit(folder, name, lambda document: _cut(document, found), run)
    text = origin.lines[0].decode("utf-8", "replace").strip()
    last = plan.at + len(origin.lines)
    return Restored(origin.path, plan.at + 1, last, text, plan.by)


def _find(data: bytes, name: str, line: int) -> Archived:
    for found in archive.find(data):
        if found.start - 1 <= line - 1 < found.end:
            return found
    raise NothingFound(
        f"{name}:{line}: no archived entry stands there",
        'find it: memfas recall --archive "…"',
    )


def _older(folder: Folder, found: Archived) -> bytes | None:
    """The memory file as it was before the pass that archived the entry, if it is still kept."""
    for version in history.versions(folder):
        if archive.block_id(version.pass_id, version.path) == found.pass_id:
            return history.content(folder, version.before)
    return None


class _Plan:
    """A plan for `edit`: the entry put back. at: its first line (0-based); by: how it was found."""

    def __init__(self, found: Archived, older: bytes | None) -> None:
        self.found, self.older, self.at, self.by = found, older, 0, "end"

    def __call__(self, document: Document) -> Draft[None]:
        mark = BOM if document.data.startswith(BOM) else b""
        bare = parse(document.data.removeprefix(BOM))
        lines = list(bare.lines)
        self.at, self.by = self._place(bare)
        if self.at and not lines[self.at - 1].endswith(b"\n"):
            lines[self.at - 1] += b"\n"
        whole = (*lines[: self.at], *self.found.origin.lines, *lines[self.at :])
        return Draft(mark + b"".join(whole), None)

    def _place(self, document: Document) -> tuple[int, str]:
        origin = self.found.origin
        if self.older is not None:
            at = place_in(split(self.older.removeprefix(BOM)), origin.line - 1, document.lines)
            if at is not None:
                return _outside(document, at, origin.lines[0]), "neighbours"
        heading = tuple(origin.heading.split(" > ")) if origin.heading else ()
        for n, block in enumerate(document.headings):
            if heading and document.heading_path(block.start) == heading:
                following = document.headings[n + 1 : n + 2]
                end = following[0].start if following else len(document.lines)
                while end > block.end and not document.lines[end - 1].strip():
                    end -= 1
                return end, "heading"
        return len(document.lines), "end"


def _outside(document: Document, at: int, first: bytes) -> int:
    """The place, moved behind a bullet that it would cut from what is indented under it; what was
    indented itself may stand there. (Of lines that stand there twice the wrong one may be found.)
    """
    if first[:1] in (b" ", b"\t"):
        return at
    cut = (b.end for b in document.blocks if b.kind == "item" and b.depth == 1
           and b.start < at < b.end)  # fmt: skip
    return next(cut, at)


def _cut(document: Document, found: Archived) -> Draft[None]:
    """The archive without the entry and the comment that told where it came from."""
    lines = document.lines
    for again in archive.find(document.data):
        if again.pass_id == found.pass_id and again.origin == found.origin:
            return Draft(b"".join((*lines[: again.start - 1], *lines[again.end :])), None)
    raise Conflict("the archive was changed meanwhile; the entry now stands in both files")
