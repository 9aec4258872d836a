"""Forgetting an agent: all that it signed leaves the memory, and can be brought back."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial

from agent_memfas.errors import MemfasError, UsageError
from agent_memfas.store import archive
from agent_memfas.store.inbox import INBOX
from agent_memfas.store.layout import Folder
from agent_memfas.store.passes import Draft, Pass, edit, hold, read_patiently
from agent_memfas.store.tree import list_bottom_up
from agent_memfas.text.documents import Document, parse
from agent_memfas.text.rights import is_name
from agent_memfas.text.said import statements


@dataclass(frozen=True)
class Gone:
    """An entry or item that left (or would leave): lines 1-based, inclusive."""

    path: str
    start_line: int
    end_line: int
    text: str


@dataclass(frozen=True)
class Report:
    """What left, and (file, why) of files that were left alone."""

    gone: list[Gone] = field(default_factory=list)
    left: list[tuple[str, str]] = field(default_factory=list)


def run(folder: Folder, agent: str, run: Pass, *, dry_run: bool = False) -> Report:
    """Move every entry and item that is signed by an agent to the archive, which recall does not
    read unless it is told to; one pass, so that one `memfas undo` brings all back. TryAgain.
    """
    if not is_name(agent):
        raise UsageError(f"{agent!r} is no agent's name")
    report = Report()
    names = [
        place.inside(name) for place in list_bottom_up(folder, [""]) if not place.is_archive
        for name in place.files if name.endswith(".md")
    ]  # fmt: skip
    if dry_run:
        _each(folder, agent, names, run, report, dry_run=True)
        return report
    with hold(folder, run):
        _each(folder, agent, names, run, report, dry_run=False)
    return report


def _each(
    folder: Folder, agent: str, names: list[str], run: Pass, report: Report, *, dry_run: bool
) -> None:
    needle = f"by {agent}".encode()
    for name in sorted(names):
        try:
            data = read_patiently(folder.place(name)).data
            own = name.startswith(f"{INBOX}/{agent}/")
            if needle not in data and not own:
                continue
            draft = plan(parse(data), name, agent)
            if draft.detail and not dry_run:
                draft = edit(folder, name, partial(plan, name=name, agent=agent), run) or draft
            report.gone.extend(draft.detail)
        except MemfasError as error:
            report.left.append((name, error.message))


def plan(document: Document, name: str, agent: str) -> Draft[list[Gone]]:
    """The file without what that agent signed; pure."""
    usual = agent if name.startswith(f"{INBOX}/{agent}/") else ""
    found = [one for one in statements(document) if (one.author or usual) == agent]
    kept, moved = archive.taken_out(document, name, [(one.start, one.end) for one in found])
    told = [Gone(name, one.start + 1, one.end, one.text) for one in found]
    return Draft(b"".join(kept), told, moved)
