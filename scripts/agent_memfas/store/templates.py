"""The files that `memfas init` lays into a folder: never over anything that is there."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.resources import files
from itertools import count
from pathlib import Path

from agent_memfas.errors import ConfigError, FileFault
from agent_memfas.store.durable import sync_folder, write_all
from agent_memfas.store.layout import Folder, open_folder

FOLDERS = ("memory", "insights", "lessons", "archive")
SETTINGS = "memfas.yaml"
FILES = ("MEMORY.md", "SESSION-STATE.md", "TRIGGERS.md", SETTINGS)


def source() -> Path:
    """Where the templates are: inside the installed package, else in the checkout."""
    packaged = Path(str(files("agent_memfas"))) / "_data" / "templates"
    return packaged if packaged.is_dir() else Path(__file__).parents[3] / "templates"


def text(name: str) -> bytes:
    """The bytes of one template."""
    try:
        return (source() / name).read_bytes()
    except OSError as error:
        raise FileFault(f"{source() / name}: {os.strerror(error.errno or 0)}") from error


def make_folder(path: Path) -> Folder:
    """A memory folder at that path, made (mode 0700) where there is none."""
    try:
        path.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise ConfigError(f"{path}: {os.strerror(error.errno or 0)}") from error
    return open_folder(path)


def lay(
    folder: Folder, settings: Path | None = None, names: tuple[str, ...] = FILES
) -> list[tuple[str, bool]]:
    """Put templates and folders where there is nothing. Returns (relative path, made) for each.

    A name that exists in any form, also as a link, a folder or in other letters, stays as it is.
    settings: where memfas.yaml goes, if not into the folder under that name.
    """
    if settings is not None and settings != folder.root / SETTINGS:
        others = tuple(name for name in names if name != SETTINGS)
        return [
            *lay(folder, None, others),
            (str(settings), make_file(settings, text(_template_of(settings)))),
        ]
    out: list[tuple[str, bool]] = []
    present = {name.lower() for name in os.listdir(folder.root)}
    out += [(f"{n}/", _is_new(n, present) and _make_folder(folder.root / n)) for n in FOLDERS]
    out += [(n, _is_new(n, present) and make_file(folder.root / n, text(n))) for n in names]
    sync_folder(folder.root)
    return out


def keep_aside(path: Path) -> Path:
    """Give a file another name, so that a new one can have its own. Returns the new name."""
    aside = next(
        other for n in count(1)
        if not os.path.lexists(other := path.with_name(f"{path.name}.{n}.bak"))
    )  # fmt: skip
    try:
        os.rename(path, aside)
    except OSError as error:
        raise FileFault(f"{path}: {os.strerror(error.errno or 0)}") from error
    return aside


def _is_new(name: str, present: set[str]) -> bool:
    return name.lower() not in present


@contextmanager
def demo_folder(*, keep: bool = False) -> Iterator[Folder]:
    """The example memory folder of `memfas demo`, in a temporary place; gone at the end."""
    place = Path(tempfile.mkdtemp(prefix="memfas-demo-"))
    try:
        folder = open_folder(place)
        _lay_demo(folder)
        yield folder
    finally:
        if not keep:
            shutil.rmtree(place, ignore_errors=True)


def _lay_demo(folder: Folder) -> None:
    start = source() / "demo"
    for path in sorted(start.rglob("*.md")):
        target = folder.root / path.relative_to(start)
        target.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        make_file(target, path.read_bytes())


def _make_folder(path: Path) -> bool:
    try:
        os.mkdir(path, 0o700)
    except FileExistsError:
        return False
    except OSError as error:
        raise FileFault(f"{path}: {os.strerror(error.errno or 0)}") from error
    return True


def _template_of(settings: Path) -> str:
    return "memfas.json" if settings.suffix == ".json" else SETTINGS


def make_file(path: Path, data: bytes) -> bool:
    """Make a file (mode 0600). Returns False, and changes nothing, where the name exists."""
    try:
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
        descriptor = os.open(path, flags, 0o600)
    except FileExistsError:
        return False
    except OSError as error:
        raise FileFault(f"{path}: {os.strerror(error.errno or 0)}") from error
    try:
        write_all(descriptor, data)
        os.fsync(descriptor)
    except OSError as error:
        path.unlink()
        raise FileFault(f"{path}: {os.strerror(error.errno or 0)}") from error
    finally:
        os.close(descriptor)
    return True
