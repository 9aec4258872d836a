"""What has to be read: the files of a sweep against what the index holds. Pure."""

from __future__ import annotations

from agent_memfas.store.listing import Known, join
from agent_memfas.store.sweep import LINKS, Swept
from agent_memfas.text.record import Record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping


class Difference(Record):
    """examine: files to be read, most recently changed ones first. gone: files that are no more.

    folders_gone: folders that are no more (or are ignored now). Where a folder could not be listed
    nothing in it or below is gone.
    """

    examine: list[str]
    gone: list[str]
    folders_gone: list[str]


def diff(
    swept: Swept,
    known: Mapping[str, Known],
    *,
    deep: bool = False,
    suspect: frozenset[str] = frozenset(),
) -> Difference:
    """Compare a sweep with the folders that are known.

    deep: read every file, changed or not. suspect: read these, changed or not.
    """
    examine, gone = list[tuple[int, str]](), list[str]()
    for folder, listed in swept.changed.items():
        before = known[folder].signatures() if folder in known else {}
        now = listed.signatures()
        examine += [
            (signature[3], path) for name, signature in now.items()
            if (path := path_of(folder, name)) in suspect or deep or before.get(name) != signature
        ]  # fmt: skip
        lost = [path_of(folder, name) for name in before if name not in now]
        gone += [
            path for path in lost
            if not any(is_below(path, f) for f in swept.failed)
            and not (folder == LINKS and _is_plain(path, swept, known))
        ]  # fmt: skip
    for folder in swept.same if deep or suspect else ():
        examine += [
            (signature[3], path) for name, signature in known[folder].signatures().items()
            if (path := path_of(folder, name)) in suspect or deep
        ]  # fmt: skip
    folders_gone = _folders_gone(swept, known)
    gone += [path_of(f, name) for f in folders_gone for name in known[f].signatures()]
    return Difference([path for _, path in sorted(examine, reverse=True)], gone, folders_gone)


def _folders_gone(swept: Swept, known: Mapping[str, Known]) -> list[str]:
    if not swept.complete:
        return [f for f in swept.ignored if f in known and known[f].entered]
    met = swept.same | swept.changed.keys() | swept.failed.keys()
    return [
        folder for folder, before in known.items()
        if folder not in met
        and not (folder in swept.ignored and not before.entered)
        and not any(is_below(folder, failed) for failed in swept.failed)
    ]  # fmt: skip


def _is_plain(path: str, swept: Swept, known: Mapping[str, Known]) -> bool:
    """Whether what was a link (or had several names) is now listed as a file of its folder."""
    folder, _, name = path.rpartition("/")
    if folder in swept.changed:
        return name in swept.changed[folder].names
    return folder in swept.same and name in known[folder].signatures()


def is_below(folder: str, above: str) -> bool:
    """Whether a path of a sweep lies in a folder."""
    return folder != LINKS and (not above or folder.startswith(f"{above}/"))


def path_of(folder: str, name: str) -> str:
    """The path of a file in one of the folders of a sweep."""
    return name if folder == LINKS else join(folder, name)
