"""Days that somebody has asked to have compounded (again): a file each, in our own folder."""

from __future__ import annotations

import json
from contextlib import suppress
from datetime import date, datetime

from agent_memfas.store.durable import discard, sweep, write_whole
from agent_memfas.store.layout import Folder
from agent_memfas.store.locks import state_folder
from agent_memfas.text.days import parse_day

FOLDER, SUFFIX = "pending", ".pending"


def put(folder: Folder, day: date, path: str, characters: int, now: datetime) -> None:
    """Note a day, as the reference's queue does: {date, file, chars, created}. FileFault."""
    note = {"date": day.isoformat(), "file": path, "chars": characters,
            "created": now.isoformat(timespec="seconds")}  # fmt: skip
    home = state_folder(folder, FOLDER)
    write_whole(home / f"{day.isoformat()}{SUFFIX}", f"{json.dumps(note)}\n".encode())


def days(folder: Folder) -> set[date]:
    """The days that are noted."""
    home = folder.state / FOLDER
    sweep(home)
    found = set[date]()
    with suppress(OSError):
        for path in home.iterdir():
            day = parse_day(path.name.removesuffix(SUFFIX)) if path.suffix == SUFFIX else None
            if day:
                found.add(day)
    return found


def take(folder: Folder, day: date) -> None:
    """Forget a day."""
    discard(folder.state / FOLDER / f"{day.isoformat()}{SUFFIX}")
