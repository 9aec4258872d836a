"""What a question needs to know beforehand, found without loading YAML: folder, settings, time.

What memfas.yaml says is kept beside the index together with the bytes that said it; as long as
these are the same it need not be parsed again.
"""

from __future__ import annotations

import os
from datetime import datetime, tzinfo

from agent_memfas.errors import ConfigError, UsageError
from agent_memfas.index.keeper import Keeper
from agent_memfas.index.places import Place, cache_home, places_of
from agent_memfas.index.scope import Extra
from agent_memfas.store.places import CONFIGURATIONS, STATE, lost_triggers, nearest, small
from agent_memfas.text.days import parse_day
from agent_memfas.text.record import Record
from agent_memfas.text.rights import CLOSED, is_name

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from agent_memfas.text.firing import Trigger

FILE = "settings"
FORMAT = 5  # one more whenever the fields change: another version must not read them as its own
_CAP = 1 << 20


class Brief(Record):
    """The settings that a question depends on. token: another one for other triggers in the file,
    "" for none. triggers_file: absolute, or "". file: the settings file, absolute. always: the
    sources that are part of every answer. backend: of config.BACKENDS. private: of text.Rights.
    prompt_tokens: what a hook gives with a prompt.
    """

    zone: str = ""
    p1: int = 90
    p2: int = 30
    sources: tuple[str, ...] = ()
    limit: int = 5
    min_score: float = 0.0
    db_path: str = ""
    budget: int = 200
    token: str = ""
    triggers_file: str = ""
    file: str = ""
    always: tuple[str, ...] = ()
    recency_weight: float = 0.3
    backend: str = "fts5"
    private: tuple[str, ...] = ()
    prompt_tokens: int = 500


def agent_of(named: str | None) -> str:
    """Who asks or writes: as --agent says, else MEMFAS_AGENT, else "", the person. UsageError."""
    agent = (os.environ.get("MEMFAS_AGENT", "") if named is None else named).strip()
    if agent and not is_name(agent):
        raise UsageError(f"{agent!r} is no agent's name", "letters, digits and ._@+-, 64 at most")
    return agent


def root_of(root: str | None, config: str | None) -> str:
    """The real path of the memory folder. ConfigError where there is none."""
    named = root if root is not None else os.environ.get("MEMFAS_ROOT") or None
    if named is None and config is not None:
        named = os.path.dirname(os.path.abspath(config))
    if named is None:
        try:
            here = os.getcwd()
        except OSError as error:
            raise ConfigError(
                "the current folder does not exist any more", "cd into one"
            ) from error
        named = nearest(here)
        if named is None:
            raise ConfigError(
                f"no memory folder at {here} or above it",
                "make one here: memfas init (or name one: --root DIR, or MEMFAS_ROOT)",
            )
    real = os.path.realpath(named)
    if not os.path.isdir(real):
        what = "is not a folder" if os.path.lexists(real) else "does not exist"
        raise ConfigError(f"memory folder {named} {what}", "make one: memfas init --root DIR")
    return real


def brief_of(root: str, config: str | None) -> tuple[Brief, str]:
    """The settings of a folder, and what is wrong with its memfas.yaml (then the defaults hold)
    or with what it names.

    config: a file that the caller named; ConfigError where that one is wrong.
    """
    if config is None:
        present = [name for name in CONFIGURATIONS if os.path.lexists(os.path.join(root, name))]
        if not present:
            return Brief(), ""
    file = config if config is not None else os.path.join(root, present[0])
    raw = _bytes(file)
    kept = os.path.join(root, STATE, FILE)
    head = f"memfas settings {FORMAT}: {os.path.abspath(file)}\n".encode("utf-8", "surrogateescape")
    if raw is not None and (known := _kept(kept, head, raw)):
        return known, lost_triggers(known.triggers_file)
    from agent_memfas.cli.settling import keep, load

    try:
        found = load(file, root)
    except ConfigError as error:
        if config is not None:
            raise
        closed = Brief(private=CLOSED.private)
        return closed, f"{error.message}; the defaults are taken, and agents see nothing"
    if raw is not None and raw == _bytes(file):
        keep(root, head, raw, found)
    return found, lost_triggers(found.triggers_file)


def _kept(path: str, head: bytes, raw: bytes) -> Brief | None:
    """What an earlier run has kept for exactly this file with exactly these bytes."""
    data = _bytes(path)
    if data is None or not data.startswith(head) or not data.endswith(b"\n\n" + raw):
        return None
    lines = data[len(head) : len(data) - len(raw) - 2].decode("utf-8", "replace").split("\n")
    try:
        zone, p1, p2, limit, least, db_path, budget, token, listed, file, *rest = lines
        weight, backend, tokens, n, m, *rest = rest
        sources, always = tuple(rest[: int(n)]), tuple(rest[int(n) : int(n) + int(m)])
        private = tuple(rest[int(n) + int(m) :])
        return Brief(zone, int(p1), int(p2), sources, int(limit), float(least), db_path,
                     int(budget), token, listed, file, always, float(weight), backend,
                     private, int(tokens))  # fmt: skip
    except ValueError:
        return None


def _bytes(path: str) -> bytes | None:
    """A small file whole; None where it cannot be read at once."""
    data = small(path, _CAP)
    return data if data is not None and len(data) < _CAP else None


def extra_of(root: str, brief: Brief) -> Extra:
    """The triggers of the settings file and of its triggers_file, to be read if they are new."""

    def load() -> Sequence[Trigger]:
        from agent_memfas.cli.settling import triggers

        return triggers(brief, root)

    return Extra.of(brief.token, brief.triggers_file, load)


def places_for(root: str, brief: Brief) -> tuple[Place, ...]:
    """Where the index of a folder may be."""
    return places_of(root, brief.db_path, cache_home(os.environ))


def keeper_for(
    root: str,
    brief: Brief,
    *,
    use_index: bool = True,
    wait: float = 0.0,
    tell: Callable[[int, int], None] | None = None,
    make: Callable[..., Keeper] = Keeper,
) -> Keeper:
    """The keeper of a folder's index, with the triggers of its settings file. make: see
    `index.feeding.fed`, for answers that another backend ranks."""
    return make(
        root, places_for(root, brief), brief.sources, use_index=use_index, wait=wait, tell=tell,
        extra=extra_of(root, brief),
    )  # fmt: skip


def now_of(zone: str, today: str | None) -> datetime:
    """The time in the user's zone, at the day of --today where that is given."""
    if zone:
        from zoneinfo import ZoneInfo

        return now_in(ZoneInfo(zone), today)
    return now_in(None, today)


def now_in(zone: tzinfo | None, today: str | None = None) -> datetime:
    """The same. zone: None for the machine's."""
    return on_day(datetime.now(zone) if zone else datetime.now().astimezone(), today)


def on_day(now: datetime, today: str | None) -> datetime:
    """The same time of the day that --today names, if it names one."""
    if today is None:
        return now
    day = parse_day(today)
    if day is None:
        raise UsageError(f"--today {today}: not a day of the form YYYY-MM-DD")
    return now.replace(year=day.year, month=day.month, day=day.day)
