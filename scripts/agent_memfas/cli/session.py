"""What every command needs first: the memory folder, its settings, and the time."""

from __future__ import annotations

import os
import time
from dataclasses import dataclass
from datetime import date, datetime
from pathlib import Path
from typing import Annotated, Optional

import typer

from agent_memfas import config
from agent_memfas.cli.brief import Brief, agent_of, now_in
from agent_memfas.cli.settling import brief_from
from agent_memfas.errors import ConfigError, MemfasError, UsageError
from agent_memfas.store.layout import Folder, find_folder, open_folder
from agent_memfas.store.passes import Pass
from agent_memfas.text.days import parse_day
from agent_memfas.text.rights import CLOSED, Rights

Root = Annotated[
    Optional[Path],  # noqa: UP045 - typer reads this at run time on Python 3.10
    typer.Option(
        "--root", metavar="DIR", help="The memory folder (else $MEMFAS_ROOT, else the nearest one)."
    ),
]
Config = Annotated[
    Optional[Path],  # noqa: UP045
    typer.Option(
        "--config",
        "-c",
        metavar="FILE",
        help="The configuration file (else memfas.yaml in the folder).",
    ),
]
Agent = Annotated[
    Optional[str],  # noqa: UP045
    typer.Option(
        "--agent", metavar="NAME", help="Who asks or writes (else $MEMFAS_AGENT, else you)."
    ),
]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON object.")]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Show what would be done; change nothing.")]
Today = Annotated[
    Optional[str],  # noqa: UP045
    typer.Option("--today", metavar="DAY", help="Take this day (YYYY-MM-DD) for today."),
]
config_before: list[Path] = []


@dataclass(frozen=True)
class Session:
    """A command's surroundings. now: aware, in the user's time zone, or at the day of --today."""

    folder: Folder
    settings: config.Settings
    now: datetime

    @property
    def today(self) -> date:
        """The day of now."""
        return self.now.date()

    @property
    def root(self) -> str:
        """The folder's real path."""
        return str(self.folder.root)

    def rights(self, agent: str | None) -> Rights:
        """What an agent of that name, of MEMFAS_AGENT, or the person may do. UsageError."""
        return self.settings.rights.of(agent_of(agent))

    @property
    def settings_file(self) -> Path:
        """The settings file, or where it would be."""
        return self.settings.file or self.folder.root / config.FILE

    @property
    def brief(self) -> Brief:
        """What a question needs of the settings."""
        return brief_from(self.settings, self.root)

    def run(self, command: str, *, patient: bool = False) -> Pass:
        """A pass of this command: patient ones wait as configured, for nobody is looking."""
        if patient:
            s = self.settings
            lease_wait = min(10.0, s.patience)
            return Pass(command, self.now, s.quiet, s.patience, lease_wait, 0.0, time.time())
        return Pass(command, self.now, wall=time.time())


def open_up(
    root: Path | None,
    file: Path | None = None,
    today: str | None = None,
    *,
    near: str = "",
    forgiving: bool = False,
) -> Session:
    """Find the folder, read its settings, look at the clock.

    near: a file named by the user, whose folder counts where nothing else names one. forgiving:
    go on with the defaults where memfas.yaml is at fault (and say so): reading hurts nobody.
    """
    file = file or (config_before[-1] if config_before else None)
    folder = _folder(root, file, near)
    try:
        settings = config.load(file if file is not None else config.beside(folder.root))
    except ConfigError as error:
        if not forgiving or file is not None:
            raise
        _warn(error)
        settings = config.Settings(rights=CLOSED)
    return Session(folder, settings, now_in(settings.timezone, today))


def _warn(error: MemfasError) -> None:
    from agent_memfas.cli import out

    out.tell(f"{error.message}; the defaults are taken")


def _folder(root: Path | None, file: Path | None, near: str) -> Folder:
    if root is not None:
        return open_folder(root)
    if named := os.environ.get("MEMFAS_ROOT"):
        return open_folder(Path(named))
    if file is not None:
        return open_folder(file.absolute().parent)
    try:
        here = Path.cwd()
    except OSError as error:
        raise ConfigError("the current folder does not exist any more", "cd into one") from error
    if near:
        inside = here / near if (here / near).is_dir() else (here / near).parent
        if inside.is_dir():
            return find_folder(inside.resolve())
    return find_folder(here)


def day(option: str, value: str | None) -> date | None:
    """A day given on the command line, or a usage error that names the option."""
    if value is None:
        return None
    found = parse_day(value)
    if found is None:
        raise UsageError(f"{option} {value}: not a day of the form YYYY-MM-DD")
    return found


def place_and_line(text: str) -> tuple[str, int]:
    """`PATH:LINE` as it stands in every answer -> the path and the line."""
    path, _, line = text.rpartition(":")
    digits = line.isascii() and line.isdigit() and len(line) < 10
    if not path or not digits or int(line) < 1:
        raise UsageError(f"{text} is not PATH:LINE", "for example MEMORY.md:12")
    return path, int(line)


def from_here(session: Session, name: str) -> str:
    """A file as it was typed: relative to the folder, or to the current one if it is there."""
    if Path(name).is_absolute() or (session.folder.root / name).exists():
        return name
    return str(Path.cwd() / name) if (Path.cwd() / name).exists() else name
