"""memfas.yaml -> settings. Every key has a default; what is wrong is an error, never a guess."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import tzinfo
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from agent_memfas.errors import ConfigError, FileFault
from agent_memfas.store.files import read
from agent_memfas.text.entries import Terms

if TYPE_CHECKING:
    from yaml.nodes import Node

FILE = "memfas.yaml"
CAP = 4 * 1024 * 1024
LONGEST_TERM = 36_500


class Source(NamedTuple):
    """Files to search: path is a file or a glob, relative to memfas.yaml."""

    path: str
    type: str = "markdown"
    always_load: bool = False


@dataclass(frozen=True)
class Settings:
    """The settings in force. file: where they came from, None for the defaults.

    db_path: absolute, or "" for the state folder. budget: milliseconds that a question may spend
    on reading what has changed, 0 for no limit.
    """

    file: Path | None = None
    timezone: tzinfo | None = None
    terms: Terms = field(default_factory=Terms)
    janitor_files: tuple[str, ...] = ()
    quiet: float = 2.0
    patience: float = 60.0
    sources: tuple[Source, ...] = ()
    max_results: int = 5
    min_score: float = 0.0
    recency_weight: float = 0.3
    db_path: str = ""
    budget: int = 200
    values: dict[str, Any] = field(default_factory=dict)


def _days(value: Any) -> bool:
    return type(value) is int and 0 <= value <= LONGEST_TERM


def _seconds(value: Any) -> bool:
    return type(value) in (int, float) and 0 <= value <= 3600


def _count(value: Any) -> bool:
    return type(value) is int and value > 0


def _whole(value: Any) -> bool:
    return type(value) is int and 0 <= value < 10**9


def _number(value: Any) -> bool:
    return type(value) in (int, float) and 0 <= value < float("inf")


def _text(value: Any) -> bool:
    return isinstance(value, str) and bool(value.strip())


def _maybe_text(value: Any) -> bool:
    return value is None or _text(value)


def _texts(value: Any) -> bool:
    return isinstance(value, list) and all(_text(item) for item in value)


def _list(value: Any) -> bool:
    return isinstance(value, list)


def _mapping(value: Any) -> bool:
    return value is None or isinstance(value, dict)


class Key(NamedTuple):
    """A key of memfas.yaml: what a value must be, as a test and in words."""

    fits: Callable[[Any], bool]
    words: str


KEYS: dict[str, Key] = {
    "db_path": Key(_text, "a path"),
    "sources": Key(_list, "a list of {path, type, always_load}"),
    "triggers": Key(_list, "a list of {keyword, hint, memory_ids}"),
    "triggers_file": Key(_maybe_text, "a path"),
    "timezone": Key(_text, "a time zone such as Europe/Berlin, or local"),
    "context": Key(_mapping, "a mapping"),
    "search.backend": Key(_text, "fts5 or embedding"),
    "search.max_results": Key(_count, "a whole number above 0"),
    "search.recency_weight": Key(_number, "a number from 0"),
    "search.min_score": Key(_number, "a number from 0"),
    "search.embedder_type": Key(_maybe_text, "fastembed or ollama"),
    "search.embedder_model": Key(_maybe_text, "a model's name"),
    "index.budget": Key(_whole, "a whole number of milliseconds from 0"),
    "janitor.ttl_p1": Key(_days, "a whole number of days from 0 to 36500"),
    "janitor.ttl_p2": Key(_days, "a whole number of days from 0 to 36500"),
    "janitor.files": Key(_texts, "a list of paths"),
    "writing.quiet": Key(_seconds, "seconds from 0 to 3600"),
    "writing.patience": Key(_seconds, "seconds from 0 to 3600"),
}
SECTIONS = frozenset(key.partition(".")[0] for key in KEYS if "." in key)
_SOURCE_KEYS = ("path", "type", "always_load")


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
    tree, lines = _parse_json(file, text) if file.suffix == ".json" else _parse_yaml(file, text)
    return _settings(file, tree, lines)


def _parse_json(file: Path, text: str) -> tuple[dict[str, Any], dict[str, int]]:
    try:
        tree = json.loads(text or "{}")
    except json.JSONDecodeError as error:
        raise ConfigError(f"{file}:{error.lineno}: not JSON: {error.msg}") from error
    except RecursionError as error:
        raise ConfigError(f"{file}: nested too deeply") from error
    if not isinstance(tree, dict):
        raise ConfigError(f"{file}:1: the file must be an object of keys and values")
    return tree, {}


def _parse_yaml(file: Path, text: str) -> tuple[dict[str, Any], dict[str, int]]:
    """The YAML tree and the line (1-based) of each dotted key. No aliases, no tags of Python."""
    import yaml

    loader = yaml.SafeLoader(text)
    try:
        node = loader.get_single_node()
        if node is None:
            return {}, {}
        if _shared(node, set()):
            raise ConfigError(f"{file}: anchors and aliases (& and *) are not allowed")
        tree = loader.construct_document(node)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        where = f"{file}:{mark.line + 1}" if mark else str(file)
        raise ConfigError(f"{where}: {error.problem or error.context}", "mend the YAML") from error
    except RecursionError as error:
        raise ConfigError(f"{file}: nested too deeply") from error
    except (yaml.YAMLError, ValueError) as error:
        raise ConfigError(f"{file}: {str(error).splitlines()[0]}", "mend the YAML") from error
    if tree is None:
        return {}, {}
    if not isinstance(tree, dict):
        line = node.start_mark.line + 1
        raise ConfigError(f"{file}:{line}: the file must be a mapping of keys to values")
    return tree, dict(_key_lines(node, ""))


def _shared(node: Node, seen: set[int]) -> bool:
    """Whether any node is used twice, that is, by an alias."""
    if id(node) in seen:
        return True
    seen.add(id(node))
    if not isinstance(node.value, list):
        return False
    children = (part for item in node.value for part in (item if type(item) is tuple else (item,)))
    return any(_shared(child, seen) for child in children)


def _key_lines(node: Node, prefix: str) -> list[tuple[str, int]]:
    from yaml.nodes import MappingNode

    out: list[tuple[str, int]] = []
    for key, value in node.value if isinstance(node, MappingNode) else ():
        name = f"{prefix}{key.value}"
        out.append((name, key.start_mark.line + 1))
        if not prefix:
            out += _key_lines(value, f"{name}.")
    return out


def _settings(file: Path, tree: dict[str, Any], lines: dict[str, int]) -> Settings:
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
        sources=_sources(file, lines.get("sources"), flat.get("sources", [])),
        max_results=flat.get("search.max_results", 5),
        min_score=float(flat.get("search.min_score", 0.0)),
        recency_weight=float(flat.get("search.recency_weight", 0.3)),
        db_path=_beside(file, flat.get("db_path")),
        budget=flat.get("index.budget", 200),
        values=flat,
    )


def _check(file: Path, line: int | None, name: str, value: Any) -> None:
    where = f"{file}:{line}" if line else str(file)
    key = KEYS.get(name)
    if key is None:
        near = get_close_matches(name, [*KEYS, *SECTIONS], n=1, cutoff=0.5)
        hint = f"did you mean {near[0]}?" if near else f"valid keys: {', '.join(KEYS)}"
        raise ConfigError(f"{where}: unknown key {name}", hint)
    if not key.fits(value):
        raise ConfigError(f"{where}: {name} must be {key.words}, not {_shown(value)}")


def _shown(value: Any) -> str:
    kind = type(value).__name__
    return f"{kind} {value!r}" if isinstance(value, (str, int, float, bool)) else f"a {kind}"


def _sources(file: Path, line: int | None, value: list[Any]) -> tuple[Source, ...]:
    out = []
    for item in value:
        fields = {"path": item} if isinstance(item, str) else item
        if not isinstance(fields, dict) or not _text(fields.get("path")):
            raise ConfigError(f"{file}:{line or 1}: each of sources must have a path")
        wrong = [key for key in fields if key not in _SOURCE_KEYS]
        if wrong:
            raise ConfigError(
                f"{file}:{line or 1}: unknown key {wrong[0]} in sources",
                f"valid keys: {', '.join(_SOURCE_KEYS)}",
            )
        out.append(Source(**fields))
    return tuple(out)


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
