"""Import: what was said elsewhere, into the daily logs of the days on which it was said."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from contextlib import nullcontext, suppress
from dataclasses import dataclass, replace
from datetime import date, tzinfo
from pathlib import Path

from agent_memfas.errors import FileFault, MemfasError, NothingFound, UsageError
from agent_memfas.store import exports
from agent_memfas.store.append import append_block
from agent_memfas.store.daily import logs
from agent_memfas.store.files import read, walk
from agent_memfas.store.layout import Folder
from agent_memfas.store.locks import exclusive
from agent_memfas.store.passes import Pass
from agent_memfas.text import (
    imports_chatgpt,
    imports_claude,
    imports_mem0,
    imports_openclaw,
)
from agent_memfas.text.documents import parse
from agent_memfas.text.imports import KINDS, Said, bullet, by_time, items, known_as, sources_in
from agent_memfas.text.json_values import values
from agent_memfas.text.rights import Rights

LOCK_WAIT = 5.0
_LISTS = ("conversations", *imports_mem0.LISTS)
_TITLES = {"claude-code": "a session of Claude Code", "chatgpt": "an export of ChatGPT",
           "openclaw": "a session of OpenClaw", "mem0": "an export of mem0"}  # fmt: skip
_READERS = {"claude-code": imports_claude.messages, "chatgpt": imports_chatgpt.messages,
            "openclaw": imports_openclaw.messages, "mem0": imports_mem0.messages}  # fmt: skip
_FILES = {"claude-code": ("*.jsonl",), "chatgpt": ("conversations*.json", "*.zip"),
          "openclaw": ("*.jsonl", "*.jsonl.reset.*"), "mem0": ("*.json",)}  # fmt: skip
_MEMBER = {"chatgpt": "conversations*.json"}


@dataclass(frozen=True)
class Added:
    """What goes into one log. last_line: the last line of it there, 0 where nothing is written."""

    path: str
    messages: int
    last_line: int = 0


@dataclass(frozen=True)
class Report:
    """files: that were read. messages: found in them. logs: what was (with dry_run would be) added.
    already: messages that stand in the memory; undated: without a time, left out; secrets: masked
    in what was added. left: (file, why it was left out).
    """

    kind: str
    files: int
    messages: int
    logs: tuple[Added, ...]
    already: int
    undated: int
    secrets: int
    left: tuple[tuple[str, str], ...]
    dry_run: bool = False

    @property
    def added(self) -> int:
        """How many messages."""
        return sum(one.messages for one in self.logs)


@dataclass(frozen=True)
class Wanted:
    """What to import: a kind of export, and where it is. zone: of the days (None: the machine's).
    since: the first day that counts, None for all.
    """

    kind: str
    paths: tuple[Path, ...]
    zone: tzinfo | None
    since: date | None = None


def run(
    folder: Folder,
    wanted: Wanted,
    run: Pass,
    rights: Rights,
    *,
    dry_run: bool = False,
    tell: Callable[[int, int], None] | None = None,
) -> Report:
    """Append what is new, in order of time, to memory/YYYY-MM-DD.md of its day: each day's in one
    write, all as one pass that `memfas undo` takes back.

    UsageError where a file is something else, or an agent may not write: nothing is written then.
    NothingFound where no message is found at all. tell: is told how many logs of how many are done.
    """
    if wanted.kind not in KINDS:
        raise UsageError(f"{wanted.kind} cannot be imported", f"there are {', '.join(KINDS)}")
    gathered = _Gathered()
    for path in wanted.paths:
        gathered.take(folder, wanted.kind, path)
    today = run.now.date()
    found = [said.dated(today) for said in gathered.found]
    dated = by_time(found, wanted.zone)
    undated = sum(said.on(wanted.zone) is None for said in found)
    if not dated:
        why = f"; {undated} are without a time" if undated else ""
        raise NothingFound(
            f"nothing to import{why or ': no message is in it'}", gathered.first_left
        )
    with nullcontext() if dry_run else exclusive(folder, "import.lock", LOCK_WAIT):
        known = _known(folder)
        new = [(day, said) for day, said in dated if said.identity not in known]
        chosen = [one for one in new if wanted.since is None or one[0] >= wanted.since]
        added, secrets = _append(folder, wanted.zone, chosen, run, rights, dry_run, tell)
    return Report(
        wanted.kind, gathered.files, len(dated) + undated, tuple(added), len(dated) - len(new),
        undated, secrets, tuple(gathered.left), dry_run,
    )  # fmt: skip


class _Gathered:
    """The messages of all files. One that is named must be of the kind; in a folder what is not is
    left out, and told.
    """

    def __init__(self) -> None:
        self.found = list[Said]()
        self.left = list[tuple[str, str]]()
        self.files = 0

    @property
    def first_left(self) -> str:
        """Why the first file was left out, ""."""
        return f"{self.left[0][0]}: {self.left[0][1]}" if self.left else ""

    def take(self, folder: Folder, kind: str, path: Path) -> None:
        """Read a file, or all of a folder."""
        real = path.expanduser()
        if kind == "openclaw" and real.is_dir() and (
            (real / "memory").is_dir() or (real / "MEMORY.md").exists()
        ):  # fmt: skip
            self._notes(folder, real)
            return
        files = exports.files_of(path, _FILES[kind])
        passed = _automatic(files) if kind == "openclaw" else frozenset()
        for file in files:
            if file.name.partition(".")[0] in passed:
                self.left.append((str(file), "a session of cron or a hook: nobody spoke in it"))
                continue
            try:
                self._read(kind, file)
            except MemfasError as error:
                if not real.is_dir():
                    raise
                self.left.append((str(file), error.message))

    def _read(self, kind: str, file: Path) -> None:
        for name, text in exports.texts(file, _MEMBER.get(kind, "*.json*")):
            looks = set[str]()
            try:
                said = list(_READERS[kind](_looked_at(values(text), looks)))
            except ValueError as error:
                raise UsageError(f"{name}: it breaks off: {error}") from error
            start = text.lstrip("\ufeff \t\r\n")[:1]
            if start and not (start == "[" and not looks):  # nothing at all, or an empty list
                _check(kind, name, looks)
            self.found += said
            self.files += 1

    def _notes(self, folder: Folder, path: Path) -> None:
        workspace = Folder(path.resolve())
        if workspace.root == folder.root:
            raise UsageError(
                f"{path} is this memory folder: it is read as it stands",
                "its sessions can be imported: ~/.openclaw/agents/NAME/sessions",
            )
        for day, name in logs(workspace):
            try:
                document = parse(read(workspace.root / name).data)
            except FileFault as error:
                self.left.append((name, error.message))
                continue
            place = f"{workspace.root.name}/{name}"
            self.found += imports_openclaw.notes(document, day, place)
            self.files += 1


def _automatic(files: list[Path]) -> frozenset[str]:
    """The sessions that nobody spoke in, by what the lists beside them say."""
    found = frozenset[str]()
    for place in {file.parent for file in files}:
        with suppress(FileFault, ValueError, RecursionError):
            listed = json.loads(read(place / "sessions.json").data)
            found |= imports_openclaw.automatic(listed)
    return found


def _looked_at(rows: Iterable[object], looks: set[str]) -> Iterator[object]:
    """The rows as they are; what they look like is gathered on the way."""
    for row in rows:
        inside = list(items(row, *_LISTS))
        looks.update(map(known_as, inside))
        if isinstance(row, dict) and not inside:  # a page of results without any
            looks.update({"mem0", "chatgpt"} if any(row.get(n) == [] for n in _LISTS) else {""})
        if not isinstance(row, dict):
            looks.add("")
        yield row


def _check(kind: str, name: str, looks: set[str]) -> None:
    """UsageError that says what a file looks like, where nothing of it is of the kind."""
    if kind in looks:
        return
    other = min(looks - {""}, default="")
    like = f"it looks like {_TITLES.get(other, other)}" if other else "it is of no form known here"
    hint = f"memfas import {other} {name}" if other in KINDS else ""
    raise UsageError(f"{name}: not {_TITLES[kind]}: {like}", hint)


def _known(folder: Folder) -> set[str]:
    """The identities of all that was imported before and stands anywhere, also in the archive.

    FileFault where a log cannot be read: what it holds would be written again.
    """
    found = set[str]()
    for path in walk(folder).files:
        try:
            found |= sources_in(read(folder.root / path, exports.LARGEST).data)
        except FileFault:
            if path.startswith("memory/"):
                raise
    return found


def _append(
    folder: Folder,
    zone: tzinfo | None,
    chosen: list[tuple[date, Said]],
    run: Pass,
    rights: Rights,
    dry_run: bool,
    tell: Callable[[int, int], None] | None,
) -> tuple[list[Added], int]:
    """What is added to each log, and how many secrets are masked in it."""
    days, secrets = dict[date, list[str]](), 0
    for day, said in chosen:
        text, masked = bullet(said, zone, rights.agent)
        if text:
            days.setdefault(day, []).append(text)
            secrets += masked
    for day in days:
        rights.check(f"memory/{day}.md")
    added = list[Added]()
    for done, (day, bullets) in enumerate(days.items(), start=1):
        plan = Added(f"memory/{day}.md", len(bullets))
        if not dry_run:
            header = f"# {day}\n\n"
            line = append_block(folder, plan.path, "".join(bullets), run, header)
            plan = replace(plan, last_line=line)
        added.append(plan)
        if tell:
            tell(done, len(days))
    return added, secrets
