"""The skill as a folder that an agent's host reads: copied from this package, and taken away.

A manifest in the copy names each file with its digest, so that only what was installed and is still
as it was is ever replaced or removed.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
from contextlib import suppress
from importlib.resources import files
from pathlib import Path

from agent_memfas.errors import Conflict, FileFault, NothingFound
from agent_memfas.store.durable import write_whole
from agent_memfas.store.files import fault, read
from agent_memfas.store.templates import keep_aside
from agent_memfas.text.record import Record

NAME = "memfas"
MANIFEST = ".memfas-skill.json"
FOLDERS = ("references", "templates")
_CACHE = re.compile(r"(.+)\.[\w-]+\.pyc")


class Plan(Record):
    """What is to be done in the folder of a skill. write: path -> bytes of what is missing or not
    as it should be; remove: what an older version brought; kept: what somebody changed, or what
    is not ours; same: how many files are as they should be.
    """

    write: dict[str, bytes]
    remove: tuple[str, ...]
    kept: tuple[str, ...]
    same: int = 0


def contents() -> dict[str, bytes]:
    """The files of the skill by relative path: of the installed package, else of the checkout."""
    package = Path(str(files("agent_memfas")))
    data = package / "_data"
    base = data if data.is_dir() else package.parents[1]
    found = {"SKILL.md": base / "SKILL.md"}
    for name in FOLDERS:
        found |= {f"{name}/{at}": path for at, path in _below(base / name)}
    found |= {f"scripts/{path.name}": path for path in sorted((base / "scripts").glob("*.py"))}
    found |= {f"scripts/agent_memfas/{at}": path for at, path in _below(package)
              if not at.startswith("_data/")}  # fmt: skip
    return {name: read(Path(os.path.realpath(path))).data for name, path in found.items()}


def home_of_this() -> Path | None:
    """The folder that this very package is the skill of: a checkout or a copy, None for a wheel."""
    above = Path(os.path.realpath(str(files("agent_memfas")))).parents[1]
    return above if (above / "SKILL.md").is_file() else None


def planned(place: Path, wanted: dict[str, bytes]) -> Plan:
    """What makes a folder the skill with these files; {}: nothing of it. Changes nothing."""
    ours = _manifest(place)
    write, remove, kept, same = dict[str, bytes](), list[str](), list[str](), 0
    for name in sorted({*wanted, *ours}):
        there = _digest_at(place / name)
        new = wanted.get(name)
        if new is not None and there == _digest(new):
            same += 1
        elif there and there not in ours.get(name, ()):
            kept.append(name)
        elif new is not None:
            write[name] = new
        elif there:
            remove.append(name)
    return Plan(write, tuple(remove), tuple(kept), same)


def install(place: Path, wanted: dict[str, bytes], *, force: bool = False) -> Plan:
    """Make the skill. Conflict, and nothing is changed, where a file of its names was changed by
    somebody or is not ours; with force that one is kept beside it under another name.
    """
    plan = planned(place, wanted)
    clashes = [name for name in plan.kept if name in wanted]
    if clashes and not force:
        raise Conflict(
            f"{place}: {_listed(clashes)} not as memfas installed it; nothing was changed",
            "--force puts the skill's own in its place and keeps the other beside it",
        )
    made = _missing_above(place)
    before = _manifest(place)
    for name in clashes:
        keep_aside(place / name)
    # First the names: whatever a killed run leaves can be taken away, or finished by the next one.
    new = {name: [_digest(data), *before.get(name, [])] for name, data in wanted.items()}
    _write_manifest(place, {**before, **new}, made)
    for name in [*plan.write, *clashes]:
        _put(place / name, wanted[name])
    for name in plan.remove:
        (place / name).unlink(missing_ok=True)
    _write_manifest(place, {name: [_digest(data)] for name, data in wanted.items()}, made)
    return plan


def uninstall(place: Path) -> Plan:
    """Remove what was installed and is as it was, and folders that are empty then. NothingFound
    where nothing was installed.
    """
    if not (place / MANIFEST).is_file():
        raise NothingFound(f"{place}: no skill was installed here by memfas")
    plan, made = planned(place, {}), _made(place)
    ours = set(_manifest(place))
    for name in [*plan.remove, MANIFEST]:
        (place / name).unlink(missing_ok=True)
    _remove_caches(place, ours)
    folders = {parent for name in ours for parent in Path(name).parents if parent.name}
    for folder in sorted(folders, key=lambda one: -len(one.parts)):
        with suppress(OSError):
            (place / folder).rmdir()
    with suppress(OSError):
        for folder in (place, *place.parents[:made]):
            folder.rmdir()
    others = tuple(at for at, _ in _below(place)) if place.is_dir() else ()
    return Plan({}, plan.remove, tuple(sorted({*plan.kept, *others})))


def _below(folder: Path) -> list[tuple[str, Path]]:
    """The files below a folder by relative path, without caches and hidden ones."""
    found = list[tuple[str, Path]]()
    for place, folders, names in os.walk(folder):
        folders[:] = sorted(n for n in folders if n != "__pycache__" and not n.startswith("."))
        here = (Path(place, name) for name in sorted(names) if not name.startswith("."))
        found += [(path.relative_to(folder).as_posix(), path) for path in here]
    return [one for one in found if not one[0].endswith(".pyc")]


def _remove_caches(place: Path, ours: set[str]) -> None:
    """What Python made of our own files when they ran."""
    for folder in {(place / name).parent for name in ours if name.endswith(".py")}:
        cache = folder / "__pycache__"
        for path in cache.glob("*.pyc"):
            match = _CACHE.fullmatch(path.name)
            source = folder / f"{match[1]}.py" if match else path
            if match and not source.exists() and source.relative_to(place).as_posix() in ours:
                path.unlink(missing_ok=True)
        with suppress(OSError):
            cache.rmdir()


def _missing_above(place: Path) -> int:
    """How many folders above it are not there yet (or were made by an earlier install)."""
    if place.exists():
        return _made(place)
    return sum(not parent.exists() for parent in place.parents)


def _put(path: Path, data: bytes) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise fault(path.parent, error) from error
    write_whole(path, data, 0o644, sync=False)


def _write_manifest(place: Path, digests: dict[str, list[str]], made: int) -> None:
    told = {"skill": NAME, "made": made, "files": digests}
    _put(place / MANIFEST, json.dumps(told, indent=1, sort_keys=True).encode() + b"\n")


def _told(place: Path) -> dict[str, object]:
    try:
        told = json.loads(read(place / MANIFEST).data)
    except (FileFault, ValueError):
        return {}
    return told if isinstance(told, dict) else {}


def _made(place: Path) -> int:
    made = _told(place).get("made")
    return made if isinstance(made, int) and 0 <= made < 4 else 0


def _manifest(place: Path) -> dict[str, list[str]]:
    """The digests that each of our files may have. A name that leads out of the folder is none."""
    listed = _told(place).get("files")
    return {
        name: [str(one) for one in digests]
        for name, digests in (listed.items() if isinstance(listed, dict) else ())
        if isinstance(digests, list) and not name.startswith("/") and ".." not in name.split("/")
    }


def _digest_at(path: Path) -> str:
    """Of a file; "unreadable" of what is none, "" where nothing is."""
    if not os.path.lexists(path):
        return ""
    try:
        return _digest(read(path).data)
    except FileFault:
        return "unreadable"


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def _listed(names: list[str]) -> str:
    shown = ", ".join(names[:3]) + (f" and {len(names) - 3} more" if len(names) > 3 else "")
    return f"{shown} {'is' if len(names) == 1 else 'are'}"
