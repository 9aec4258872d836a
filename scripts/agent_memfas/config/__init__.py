"""memfas.yaml -> settings. Every key has a default; what is wrong is an error, never a guess."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from datetime import tzinfo
from difflib import get_close_matches
from hashlib import blake2b
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from agent_memfas.config.keys import (
    BACKENDS,
    DEFAULTS,
    KEYS,
    LENIENT,
    SECTIONS,
    SOURCE_KEYS,
    TRIGGER_KEYS,
    TYPES,
    WRITERS,
    is_text,
)
from agent_memfas.config.parsing import tree_of
from agent_memfas.config.sections import Compounding, Hooks, Telemetry
from agent_memfas.errors import ConfigError, FileFault
from agent_memfas.index.scope import EVERYTHING
from agent_memfas.llm.choice import LlmChoice
from agent_memfas.store.files import READ_CAP, read
from agent_memfas.store.places import TRIGGERS
from agent_memfas.text.documents import parse
from agent_memfas.text.entries import Terms
from agent_memfas.text.firing import Trigger, read_link
from agent_memfas.text.rights import CLOSED, Rights
from agent_memfas.text.settings import items
from agent_memfas.text.triggers import listed
from agent_memfas.text.words import words

if TYPE_CHECKING:
    from agent_memfas.config.family import Config, SearchConfig, SourceConfig, TriggerConfig

__all__ = ["Config", "SearchConfig", "Settings", "SourceConfig", "TriggerConfig", "load"]

FILE = "memfas.yaml"
NO_FILE = "configuration"  # where triggers of a Config stand that came from no file
CAP = 4 * 1024 * 1024


class Source(NamedTuple):
    """Files to search: path is a file or a glob, relative to memfas.yaml."""

    path: str
    type: str = "markdown"
    always_load: bool = False


class Keyword(NamedTuple):
    """A trigger of memfas.yaml. links: memories it brings, `path#L12`, or `id:123` for a number of
    memory_ids. line: where it stands, 1-based.
    """

    keyword: str
    hint: str
    links: tuple[str, ...]
    line: int


@dataclass(frozen=True)
class Settings:
    """The settings in force. file: where they came from, None for the defaults.

    triggers_file, db_path: absolute, or "". budget: milliseconds that a question may spend on
    reading what has changed, 0 for no limit. writer: of abstracts, one of WRITERS.
    """

    file: Path | None = None
    timezone: tzinfo | None = None
    terms: Terms = field(default_factory=Terms)
    janitor_files: tuple[str, ...] = ()
    quiet: float = 2.0
    patience: float = 60.0
    sources: tuple[Source, ...] = ()
    triggers: tuple[Keyword, ...] = ()
    triggers_file: str = ""
    max_results: int = 5
    min_score: float = 0.0
    recency_weight: float = 0.3
    db_path: str = ""
    budget: int = 200
    backend: str = BACKENDS[0]
    compounding: Compounding = field(default_factory=Compounding)
    llm: LlmChoice = field(default_factory=LlmChoice)
    writer: str = WRITERS[0]
    telemetry: Telemetry = field(default_factory=Telemetry)
    rights: Rights = field(default_factory=Rights)
    hooks: Hooks = field(default_factory=Hooks)
    values: dict[str, Any] = field(default_factory=dict)


def context_path(settings: Settings, root: Path, name: str) -> Path:
    """Where cold storage or the logs of context management are. name: cold_storage_path, log_path;
    relative to the settings file, else to the root.
    """
    key = f"context.{name}"
    home = settings.file.parent if settings.file else root
    place = os.path.expanduser(settings.values.get(key) or DEFAULTS[key])
    return Path(os.path.normpath(os.path.join(os.path.realpath(home), place)))


class InForce(NamedTuple):
    """A setting: its key, its value, and where that came from: FILE:LINE, or `default`."""

    key: str
    value: Any
    origin: str


def explain(file: Path | None) -> list[InForce]:
    """Every setting in force and where it came from. ConfigError as for `load`."""
    settings = load(file)
    lines: dict[str, int] = {}
    if file is not None:
        lines = tree_of(file, read(file, CAP).data.decode("utf-8-sig"))[1]
    return [
        InForce(key, settings.values[key], f"{file}:{lines[key]}" if key in lines else str(file))
        if key in settings.values else InForce(key, DEFAULTS[key], "default")
        for key in KEYS
    ]  # fmt: skip


def load(file: Path | None) -> Settings:
    """Settings of a memfas.yaml (or .json), or the defaults for None.

    ConfigError names file, line, key and the nearest valid key. All problems of reading, decoding
    and parsing are ConfigErrors too.
    """
    if file is None:
        return Settings()
    try:
        raw = read(file, CAP).data
    except FileFault as error:
        raise ConfigError(
            error.message, "memfas.yaml is optional: mend it or move it away"
        ) from error
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = raw[: error.start].count(b"\n") + 1
        raise ConfigError(f"{file}:{line}: not UTF-8", "save it as UTF-8") from error
    return parsed(file, text)


def load_or_defaults(file: Path | None) -> Settings:
    """The same; where it is wrong the defaults, and what is private from nobody knows whom is
    closed to every agent. For whoever has no way to tell.
    """
    try:
        return load(file)
    except ConfigError:
        return Settings(rights=CLOSED)


def parsed(file: Path, text: str) -> Settings:
    """Settings of a text that stands (or would stand) in that file. ConfigError as for `load`."""
    tree, lines = tree_of(file, text)
    return _settings(file, tree, lines, text)


def _settings(file: Path, tree: dict[str, Any], lines: dict[str, int], text: str) -> Settings:
    flat: dict[str, Any] = {}
    for name, value in tree.items():
        if name in SECTIONS and isinstance(value, dict):
            flat.update({f"{name}.{inner}": v for inner, v in value.items()})
        elif not (name in SECTIONS and value is None):
            flat[str(name)] = value
    for name, value in flat.items():
        _check(file, lines.get(name), name, value)
    return Settings(
        file=file,
        timezone=_zone(file, lines.get("timezone"), flat.get("timezone", "local")),
        terms=Terms(flat.get("janitor.ttl_p1", 90), flat.get("janitor.ttl_p2", 30)),
        janitor_files=tuple(flat.get("janitor.files", ())),
        quiet=float(flat.get("writing.quiet", 2.0)),
        patience=float(flat.get("writing.patience", 60.0)),
        sources=_sources(file, text) if flat.get("sources") else (),
        triggers=_keywords(file, text) if flat.get("triggers") else (),
        triggers_file=_beside(file, flat.get("triggers_file")),
        max_results=flat.get("search.max_results", 5),
        min_score=float(flat.get("search.min_score", 0.0)),
        recency_weight=float(flat.get("search.recency_weight", 0.3)),
        db_path=_beside(file, flat.get("db_path")),
        budget=flat.get("index.budget", 200),
        backend=flat.get("search.backend", BACKENDS[0]),
        compounding=Compounding(**_below("compounding", flat)),
        llm=LlmChoice(**_below("llm", flat)),
        writer=flat.get("abstracts.writer", WRITERS[0]),
        telemetry=Telemetry(**_below("telemetry", flat)),
        rights=_rights(file, flat),
        hooks=Hooks(**_below("hooks", flat)),
        values=flat,
    )


def _glob(file: Path, path: str) -> str:
    """A path as those of files are compared. ConfigError where it leads out of the folder."""
    root = os.path.realpath(file.parent)
    try:
        return inside(root, os.path.normpath(os.path.expanduser(path)))
    except ConfigError as error:
        raise ConfigError(f"{file}: agents: {path} lies outside of {root}", error.remedy) from error


def _rights(file: Path, flat: dict[str, Any]) -> Rights:
    scopes = flat.get("agents.private") or {}
    return Rights(
        "", tuple(flat.get("agents.writers") or ()),
        tuple(f"{name} {_glob(file, one)}" for name, globs in scopes.items() for one in globs),
        tuple(_glob(file, one) for one in flat.get("agents.read_only") or ()),
    )  # fmt: skip


def _below(section: str, flat: dict[str, Any]) -> dict[str, Any]:
    """The keys of a section that are set."""
    start = f"{section}."
    return {name.removeprefix(start): v for name, v in flat.items() if name.startswith(start)}


def _check(file: Path, line: int | None, name: str, value: Any) -> None:
    where = f"{file}:{line}" if line else str(file)
    key = KEYS.get(name)
    if key is None and name.startswith(LENIENT):
        return
    if key is None:
        near = get_close_matches(name, [*KEYS, *SECTIONS], n=1, cutoff=0.5)
        hint = f"did you mean {near[0]}?" if near else f"valid keys: {', '.join(KEYS)}"
        raise ConfigError(f"{where}: unknown key {name}", hint)
    if not key.fits(value):
        but = f", not {_shown(value)}" if key.shown else ""
        raise ConfigError(f"{where}: {name} must be {key.words}{but}")


def _shown(value: Any) -> str:
    kind = type(value).__name__
    return f"{kind} {value!r}" if isinstance(value, (str, int, float, bool)) else f"a {kind}"


def _sources(file: Path, text: str) -> tuple[Source, ...]:
    """The sources of a settings file, each checked where it stands."""
    out = []
    for value, line, _ in items(text, "sources", str(file)):
        where = f"{file}:{line}"
        fields = {"path": value} if isinstance(value, str) else value
        if not isinstance(fields, dict) or not is_text(fields.get("path")):
            raise ConfigError(f"{where}: each of sources must have a path")
        for key in fields.keys() - set(SOURCE_KEYS):
            hint = f"valid keys: {', '.join(SOURCE_KEYS)}"
            raise ConfigError(f"{where}: unknown key {key} in sources", hint)
        kind, always = fields.get("type", TYPES[0]), fields.get("always_load", False)
        if kind not in TYPES:
            one_of = ", ".join(TYPES)
            raise ConfigError(f"{where}: type must be one of {one_of}, not {_shown(kind)}")
        if type(always) is not bool:
            told = f"{where}: always_load must be true or false, not {_shown(always)}"
            raise ConfigError(told)
        out.append(Source(fields["path"], kind, always))
    return tuple(out)


def _keywords(file: Path, text: str) -> tuple[Keyword, ...]:
    """The triggers of a settings file, each with its line."""
    found = []
    for value, line, _ in items(text, "triggers", str(file)):
        where = f"{file}:{line}"
        if not isinstance(value, dict):
            raise ConfigError(f"{where}: each of triggers must be {{keyword, hint, memory_ids}}")
        for key in value.keys() - set(TRIGGER_KEYS):
            hint = f"valid keys: {', '.join(TRIGGER_KEYS)}"
            raise ConfigError(f"{where}: unknown key {key} in triggers", hint)
        keyword, hint = value.get("keyword"), value.get("hint", "")
        ids = value.get("memory_ids") or []
        if not isinstance(keyword, str) or not words(keyword):
            raise ConfigError(f"{where}: a trigger must have a keyword with a word in it")
        if not isinstance(hint, str) or not isinstance(ids, list) or not all(map(_is_id, ids)):
            raise ConfigError(f"{where}: hint must be text, memory_ids a list of numbers or places")
        links = tuple(f"id:{one}" if isinstance(one, int) else one for one in ids)
        found.append(Keyword(keyword, " ".join(hint.split()), links, line))
    return tuple(found)


def _is_id(value: Any) -> bool:
    if type(value) is int:
        return value >= 0
    return isinstance(value, str) and read_link(value) is not None


def _beside(file: Path, path: str | None) -> str:
    """A path as memfas.yaml has it, made absolute: it is relative to that file. "" for none."""
    if path is None:
        return ""
    return os.path.normpath(os.path.join(os.path.realpath(file.parent), os.path.expanduser(path)))


def _zone(file: Path, line: int | None, name: str) -> tzinfo | None:
    if name == "local":
        return None
    from zoneinfo import ZoneInfo

    try:
        return ZoneInfo(name)
    except (OSError, ValueError, KeyError) as error:
        raise ConfigError(
            f"{file}:{line or 1}: timezone {name} is not known", "a name such as Europe/Berlin"
        ) from error


def inside(root: str, path: str) -> str:
    """A source as it is compared with files: relative to the root. ConfigError if outside."""
    if not path.startswith(("/", "~")) and ".." not in path.split("/") and path not in (".", "./"):
        return path  # as the command line has it: the same scope is the same index
    place = os.path.normpath(os.path.join(root, os.path.expanduser(path)))
    if place != root and not place.startswith(f"{root}/"):
        head, tail = os.path.split(place)
        place = os.path.join(os.path.realpath(head), tail)
    if place == root:
        return EVERYTHING
    if not place.startswith(f"{root}/"):
        raise ConfigError(
            f"the source {path} lies outside the memory folder {root}",
            "put memfas.yaml into a folder that holds all of them",
        )
    return place.removeprefix(f"{root}/")


def triggers_of(settings: Settings, root: str) -> list[Trigger]:
    """The triggers that settings name, then those of their triggers_file, if it can be read.

    root: of the memory folder; files in it are shown relative to it.
    """

    def shown(path: str) -> str:
        return path.removeprefix(f"{root}/")

    where = shown(str(settings.file)) if settings.file else NO_FILE
    found = [Trigger(t.keyword, t.hint, where, t.line, t.links) for t in settings.triggers]
    if settings.triggers_file and shown(settings.triggers_file) != TRIGGERS:
        try:
            data = read(Path(settings.triggers_file), READ_CAP, cut=True).data
        except FileFault:
            return found
        found += listed(parse(data), shown(settings.triggers_file))
    return found


def token_of(settings: Settings) -> str:
    """Another one for other triggers in a settings file, "" for none: the same in every process."""
    if not settings.triggers and not settings.triggers_file:
        return ""
    what = repr((settings.triggers, settings.triggers_file)).encode("utf-8", "surrogatepass")
    return blake2b(what, digest_size=6).hexdigest()


def beside(root: Path) -> Path | None:
    """The configuration file of a memory folder: memfas.yaml, memfas.json, or None."""
    for name in (FILE, "memfas.json"):
        try:
            os.lstat(root / name)
        except FileNotFoundError:
            continue
        except OSError as error:
            raise ConfigError(f"{root / name}: {os.strerror(error.errno or 0)}") from error
        return root / name
    return None


def __getattr__(name: str) -> object:
    """`Config` and its family, by the names of the reference; the command line does without."""
    if name in ("Config", "SearchConfig", "SourceConfig", "TriggerConfig"):
        from agent_memfas.config.family import FAMILY

        return FAMILY[name]
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
