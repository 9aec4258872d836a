"""Bringing the index in step with the files: what a sweep found is read and written at once."""

from __future__ import annotations

import errno
import os
import time

from agent_memfas.errors import FileFault, UsageError
from agent_memfas.index.database import Database, device_of, named
from agent_memfas.index.diff import Difference, diff, is_below, path_of
from agent_memfas.index.extract import load
from agent_memfas.index.records import Records
from agent_memfas.index.schema import set_meta
from agent_memfas.index.scope import Extra, Scope
from agent_memfas.store.listing import Known, Listed, Signature, packed
from agent_memfas.store.sweep import LINKS, Swept
from agent_memfas.text.record import Record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

TICK = 20_000_000  # ns: a clock tick of the kernel, twice; a younger file may change unseen
SECOND = 2_000_000_000  # ns: the same where file times are whole seconds
UNKNOWN: Signature = (0, 0, 0, 0)


class Synced(Record):
    """What a sync did. read: files read; behind: files left for the next time, for want of it.

    moved: whether a file was not any more what the sweep had seen, so that a line which went from
    one file to another in between may have been missed in both.
    """

    read: int
    behind: int
    moved: bool


class Sync:
    """One transaction that makes the index equal to the files of a sweep.

    as_of: the wall clock when the sweep began, ns. A file that changed since (or within a tick of
    the clock before) is read, but not believed: the next sweep reads it again.
    """

    def __init__(
        self, database: Database, root: str, scope: Scope, as_of: int, extra: Extra | None = None
    ) -> None:
        self._database = database
        self._connection = database.connection
        self._root = root
        self._scope = scope
        self._extra = extra
        self._as_of = as_of
        self._believed: dict[str, Signature] = {}
        self._records = Records(database)
        self._suspect: frozenset[str] = frozenset()
        self._moved = False

    def run(
        self,
        swept: Swept,
        known: Mapping[str, Known],
        *,
        deadline: float | None = None,
        deep: bool = False,
        suspect: frozenset[str] = frozenset(),
        tell: Callable[[int, int], None] | None = None,
    ) -> Synced:
        """Apply it. sqlite3.Error where that fails: then nothing has changed.

        deep: read every file. suspect: files whose rows are made anew although the bytes are the
        same.

        deadline: of the monotonic clock; whatever is not read by then is left for the next time,
        but one file is always read. tell: is told how many of how many files have been read.
        """
        plan = diff(swept, known, deep=deep, suspect=suspect)
        self._suspect = suspect
        self._connection.execute("begin immediate")
        try:
            for path in plan.gone:
                self._records.remove(path)
            left = self._examine(plan.examine, deadline, tell)
            self._take_extra()
            self._remember(swept, known, plan, left)
            if self._database.meta.get("scope") != self._scope.fingerprint:
                self._rescope(swept, known, plan)
            self._write_meta(complete=swept.complete and not left)
            self._connection.execute("commit")
        except BaseException:
            if self._connection.in_transaction:
                self._connection.execute("rollback")
            raise
        self._database.reload()
        return Synced(len(plan.examine) - len(left), len(left), self._moved)

    def _take_extra(self) -> None:
        """The triggers of the settings file, if they are others than those that are here."""
        if self._extra is not None and self._database.meta.get("extra", "") != self._extra.token:
            self._records.put_triggers(self._extra.load() if self._extra.token else ())
            set_meta(self._connection, [("extra", self._extra.token)])

    def _examine(
        self,
        paths: list[str],
        deadline: float | None,
        tell: Callable[[int, int], None] | None,
    ) -> set[str]:
        """Read these files into rows. Returns those that there was no time for."""
        wanted = 0
        for n, path in enumerate(paths):
            if wanted and deadline is not None and time.monotonic() > deadline:
                return set(paths[n:])
            if not self._scope.wants(path):
                self._records.remove(path)
                continue
            wanted += 1
            self._take(path)
            if tell:
                tell(n + 1, len(paths))
        return set()

    def _take(self, path: str) -> None:
        """One file into its rows; one that cannot be read has none, and a note that says why."""
        try:
            content = load(self._root, path)
        except (FileFault, UsageError) as fault:
            code = getattr(fault.__cause__, "errno", None)
            if code == errno.ENOENT:
                self._records.remove(path)
                self._moved = True
            else:
                self._records.put_unread(path, fault.message)
            if code != errno.EACCES:
                self._believed[path] = UNKNOWN  # it may come back without looking any different
            return
        self._records.put(path, content, anew=path in self._suspect)
        self._believed[path] = content.signature

    def _remember(
        self, swept: Swept, known: Mapping[str, Known], plan: Difference, left: set[str]
    ) -> None:
        """Write down what the folders looked like, as far as it is to be believed."""
        for folder, listed in self._touched(swept, known):
            signatures = {
                name: self._believe(path_of(folder, name), signature, left)
                for name, signature in listed.signatures().items()
            }
            if folder == LINKS and LINKS in known:
                signatures |= {
                    name: UNKNOWN for name in known[LINKS].signatures().keys() - signatures.keys()
                    if any(is_below(name, failed) for failed in swept.failed)
                }  # fmt: skip
            numbers = [number for four in signatures.values() for number in four]
            latest = max((four[3] for four in listed.signatures().values()), default=0)
            self._write_folder(folder, Known(*packed(list(signatures), numbers), True, latest))
        for folder in plan.folders_gone:
            self._connection.execute("delete from folders where path = ?", (os.fsencode(folder),))
        if not swept.complete and LINKS in known:
            self._doubt(known[LINKS], {*plan.examine, *plan.gone})
        for folder in swept.ignored:
            if folder not in known or known[folder].entered:
                self._write_folder(folder, Known(b"", b"", False, 0))

    def _doubt(self, links: Known, touched: set[str]) -> None:
        """Links whose rows were changed by a sweep that did not look at links."""
        signatures = links.signatures()
        if doubted := touched & signatures.keys():
            signatures |= dict.fromkeys(doubted, UNKNOWN)
            numbers = [number for four in signatures.values() for number in four]
            self._write_folder(LINKS, Known(*packed(list(signatures), numbers)))

    def _rescope(self, swept: Swept, known: Mapping[str, Known], plan: Difference) -> None:
        """Folders that a sweep did not reach, where the scope is a new one: what it leaves out goes
        now, the rest is read at the next chance.
        """
        done = swept.changed.keys() | swept.same | swept.ignored | set(plan.folders_gone)
        for folder, before in known.items():
            if folder in done:
                continue
            above = [folder[:at] for at, sign in enumerate(folder) if sign == "/"]
            if folder in ("", LINKS) or all(map(self._scope.enters, [*above, folder])):
                unread = Known(before.names, bytes(len(before.numbers)), True, before.latest)
                self._write_folder(folder, unread)
                continue
            for name in before.signatures():
                self._records.remove(path_of(folder, name))
            self._connection.execute("delete from folders where path = ?", (os.fsencode(folder),))

    def _touched(
        self, swept: Swept, known: Mapping[str, Known]
    ) -> list[tuple[str, Listed | Known]]:
        """The folders that changed, and those with a file that was read for another reason."""
        touched: list[tuple[str, Listed | Known]] = list(swept.changed.items())
        if self._believed:
            touched += [
                (folder, known[folder]) for folder in swept.same
                if any(self._believed.get(path_of(folder, name), four) != four
                       for name, four in known[folder].signatures().items())
            ]  # fmt: skip
        return touched

    def _believe(self, path: str, seen: Signature, left: set[str]) -> Signature:
        """The signature to remember: of the file that was read, or that nobody had to read.

        UNKNOWN for one that is so young that a change may not show.
        """
        four = self._believed.get(path, seen)
        self._moved |= four not in (seen, UNKNOWN)
        young = four[3] + (TICK if four[3] % 1_000_000_000 else SECOND) >= self._as_of
        return UNKNOWN if young or path in left else four

    def _write_folder(self, folder: str, known: Known) -> None:
        self._connection.execute(
            "insert or replace into folders values(?, ?, ?, ?, ?)",
            (os.fsencode(folder), known.names, known.numbers, known.entered, known.latest),
        )

    def _write_meta(self, *, complete: bool) -> None:
        pairs: dict[str, object] = {
            "files": str(self._records.files),
            "passages": str(self._records.passages),
            "root": named(self._root),
            "device": device_of(self._root),
            "scope": self._scope.fingerprint,
            "written": os.urandom(8).hex(),
        }
        if complete:
            pairs["as_of"] = str(self._as_of)
        if self._records.triggers_changed:
            sizes = self._connection.execute("select distinct size from triggers order by size")
            pairs["sizes"] = " ".join(str(size) for (size,) in sizes)
        set_meta(self._connection, pairs.items())
