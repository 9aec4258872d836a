"""Building the index anew, in a file of its own that then takes the place of the old one."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from agent_memfas.index.carry import carry
from agent_memfas.index.database import Database, open_database
from agent_memfas.index.schema import create
from agent_memfas.index.scope import Extra, Scope
from agent_memfas.index.sync import Sync, Synced
from agent_memfas.store import durable
from agent_memfas.store.locks import hold_file
from agent_memfas.store.sweep import Swept, sweep

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

COMPANIONS = ("-journal", "-wal", "-shm")


@contextmanager
def hold_index(path: str, wait: float = 0.0) -> Iterator[None]:
    """Be the one that writes this index. TryAgain, FileFault."""
    with hold_file(Path(f"{path}.lock"), wait, "another process is writing the index"):
        yield


def fill(
    database: Database,
    root: str,
    scope: Scope,
    as_of: int,
    tell: Callable[[int, int], None] | None = None,
    extra: Extra | None = None,
) -> tuple[Swept, Synced]:
    """Everything in the folder into an empty database."""
    swept = sweep(root, {}, scope.enters, suffixes=scope.suffixes)
    return swept, Sync(database, root, scope, as_of, extra).run(swept, {}, tell=tell)


def rebuild(
    path: str,
    root: str,
    scope: Scope,
    as_of: int,
    tell: Callable[[int, int], None] | None = None,
    *,
    ours: bool,
    wait: float = 0.0,
    extra: Extra | None = None,
) -> tuple[Database, Swept, Synced]:
    """A new index at a path, open. Readers of the old one are not disturbed.

    TryAgain where another process is writing; FileFault and sqlite3.Error where it cannot be
    written: then the old one is as it was, and nothing is left behind.
    """
    place = Path(path)
    durable.make_private(place.parent)
    with hold_index(path, wait):
        durable.sweep(place.parent, of=place.name)
        temporary = durable.empty_beside(place)
        try:
            database = create(str(temporary), root)
            try:
                swept, synced = fill(database, root, scope, as_of, tell, extra)
                carry(path, database.connection)
            finally:
                database.close()
            durable.put_in_place(temporary, place, COMPANIONS)
        except BaseException:
            durable.discard(temporary, COMPANIONS)
            raise
    return open_database(path, root, ours=ours), swept, synced
