"""Pages for people, made of derived data: written over their like, and over nothing else."""

from __future__ import annotations

from pathlib import Path

from agent_memfas.errors import FileFault, UsageError
from agent_memfas.store.durable import write_whole
from agent_memfas.store.files import read


def write(path: Path, text: str, mark: str) -> None:
    """Write a page. mark: how all of its kind begin; UsageError where something else stands in its
    place, FileFault where it cannot be written.
    """
    where = path.resolve()
    if where.is_dir():
        raise UsageError(f"{path} is a folder", f"for example -o {path / 'report.html'}")
    if where.exists():
        begins = mark.encode()
        try:
            ours = read(where, len(begins) + 1, cut=True).data.startswith(begins[:-1])
        except FileFault as error:
            raise UsageError(f"{path}: {error.message}", "name another file with -o") from error
        if not ours and where.stat().st_size:
            told = "is there and no report of memfas; nothing changed"
            raise UsageError(f"{path} {told}", "move it away, or name another file with -o")
    write_whole(where, text.encode("utf-8", "replace"))
