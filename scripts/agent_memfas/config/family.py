"""The reference's configuration objects: plain values that can be read, changed and saved."""

from __future__ import annotations

import json
import os
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from agent_memfas import config as files
from agent_memfas.config import Settings
from agent_memfas.errors import ConfigError, FileFault
from agent_memfas.store.durable import write_whole
from agent_memfas.store.files import read
from agent_memfas.text.settings import set_value

DB_PATH = "./memfas.db"
SEARCH = ("backend", "max_results", "recency_weight", "min_score", "embedder_type",
          "embedder_model", "base_url", "api_key_env", "uri", "token_env", "collection",
          "namespace", "push")  # fmt: skip
OURS = SEARCH[6:]  # what the reference has not
USUAL = (("MEMORY.md", "./MEMORY.md", False), ("memory", "./memory/*.md", False),
         ("intuition.md", "./intuition.md", True))  # fmt: skip


@dataclass
class SourceConfig:
    """Files to search: path is a file, a folder or a glob. always_load: part of every recall."""

    path: str
    type: str = "markdown"
    always_load: bool = False


@dataclass
class TriggerConfig:
    """A trigger. memory_ids: numbers of results, or places such as `memory/2026-02-24.md#L12`."""

    keyword: str
    hint: str
    memory_ids: list[int | str] = field(default_factory=list)


@dataclass
class SearchConfig:
    """How to search. backend: fts5, embedding, hybrid, auto or milvus; embedder_type: fastembed,
    ollama, openai or offline. base_url: of the server of ollama or openai; api_key_env: the
    environment variable that holds the key for openai. uri, token_env, collection, namespace, push:
    of the shared index, see templates/memfas.yaml.
    """

    backend: str = "fts5"
    max_results: int = 5
    recency_weight: float = 0.3
    min_score: float = 0.0
    embedder_type: str | None = None
    embedder_model: str | None = None
    base_url: str | None = None
    api_key_env: str | None = None
    uri: str | None = None
    token_env: str | None = None
    collection: str | None = None
    namespace: str | None = None
    push: bool | None = None


@dataclass
class Config:
    """What memfas.yaml says, as an object. Paths are relative to the file that it came from; of
    one that came from no file, to the current folder when a Memory is made of it.
    """

    db_path: str = DB_PATH
    sources: list[SourceConfig] = field(default_factory=list)
    triggers: list[TriggerConfig] = field(default_factory=list)
    triggers_file: str | None = None
    search: SearchConfig = field(default_factory=SearchConfig)

    def __post_init__(self) -> None:
        self._home: Path | None = None
        self._settings: Settings | None = None

    @property
    def base(self) -> Path | None:
        """The folder that paths are relative to, None where that is not known yet."""
        return self._home

    @property
    def file(self) -> Path | None:
        """The file that this came from, or None."""
        return self._settings.file if self._settings else None

    @classmethod
    def load(cls, path: str | Path) -> Config:
        """A memfas.yaml (or .yml, or .json). ConfigError names file, line, key and what is wrong,
        also where there is no such file.
        """
        file = Path(os.path.abspath(os.path.expanduser(path)))
        loaded = config_of(files.load(file))
        loaded._home = file.parent
        return loaded

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> Config:
        """The same from a mapping, with the keys of memfas.yaml."""
        made = config_of(_settings_of(data, Path(os.path.abspath(".")) / "memfas.json"))
        made._settings = None
        return made

    @classmethod
    def default(cls, base_dir: str | Path = ".") -> Config:
        """A configuration for a folder, with the usual files as sources where they are there."""
        home = Path(os.path.abspath(os.path.expanduser(base_dir)))
        made = cls(sources=[SourceConfig(path, always_load=always)
                            for name, path, always in USUAL if (home / name).exists()])  # fmt: skip
        made._home = home
        return made

    def to_dict(self) -> dict[str, Any]:
        """All keys of the reference, and those of ours that are set, as in memfas.yaml."""
        data = asdict(self)
        for name in OURS:
            if data["search"][name] is None:
                del data["search"][name]
        return data

    def save(self, path: str | Path) -> None:
        """Write it to a file. Of one that is there only what differs is changed: comments, order
        and other keys stay. ConfigError or Conflict where that file cannot be edited.
        """
        file = Path(os.path.realpath(os.path.expanduser(path)))
        try:
            image = read(file)
        except FileFault:
            if os.path.lexists(file):
                raise
            write_whole(file, _written(self.to_dict(), file).encode())
            return
        settings = files.load(file)
        there, new = asdict(config_of(settings)), asdict(self)
        for name in ("sources", "triggers"):
            pairs = zip(there[name], settings.values.get(name) or [], strict=True)
            written = [(old, raw) for old, raw in pairs]
            changed = new[name] != there[name]
            new[name] = [next((r for o, r in written if o == one), one) for one in new[name]]
            there[name] = [] if changed else new[name]
        text = image.data.decode()
        for name, value in _flat(new).items():
            if value != _flat(there)[name]:
                text = set_value(text, name, value, str(file))
        if text.encode() == image.data:
            return
        if read(file).data != image.data:
            raise FileFault(f"{file}: somebody saved it just now; nothing changed", "save again")
        write_whole(file, text.encode(), image.info.st_mode & 0o777)

    def settings(self, home: Path) -> Settings:
        """What this means, with home in place of a base that is not known. ConfigError."""
        base = self._home or home
        found = _settings_of(asdict(self), (self.file or base / "memfas.json"))
        if self._settings is None:
            return replace(found, file=None)
        before = self._settings
        changed = found.values.get("triggers") != config_of(before).to_dict()["triggers"]
        is_usual = self.db_path == DB_PATH and "db_path" not in before.values
        return replace(
            before, sources=found.sources, triggers_file=found.triggers_file,
            triggers=found.triggers if changed else before.triggers,
            backend=found.backend, max_results=found.max_results, min_score=found.min_score,
            recency_weight=found.recency_weight, db_path="" if is_usual else found.db_path,
            values={**before.values, **found.values},
        )  # fmt: skip


def _settings_of(data: dict[str, Any], file: Path) -> Settings:
    """Settings of a mapping. file: where it would stand. ConfigError says `configuration`."""
    try:
        text = json.dumps({key: value for key, value in data.items() if value is not None})
    except (TypeError, ValueError) as error:
        raise ConfigError(f"configuration: {error}") from error
    try:
        return files.parsed(file.with_suffix(".json"), text)
    except ConfigError as error:
        words = error.message.removeprefix(str(file.with_suffix(".json")))
        raise ConfigError(f"configuration{words}", error.remedy) from error


def config_of(settings: Settings) -> Config:
    """The object for settings of a file."""
    values = settings.values
    found = Config(
        db_path=values.get("db_path", DB_PATH),
        sources=[SourceConfig(*source) for source in settings.sources],
        triggers=[
            TriggerConfig(t.keyword, t.hint, [_id(link) for link in t.links])
            for t in settings.triggers
        ],
        triggers_file=values.get("triggers_file"),
        search=SearchConfig(**{
            name: values[f"search.{name}"] for name in SEARCH if f"search.{name}" in values
        }),
    )  # fmt: skip
    found._settings = settings
    return found


def _id(link: str) -> int | str:
    return int(link[3:]) if link.startswith("id:") else link


def _flat(data: dict[str, Any]) -> dict[str, Any]:
    """Keys with dots for those of the section `search`."""
    inner = {f"search.{name}": value for name, value in data["search"].items()}
    return {**{name: value for name, value in data.items() if name != "search"}, **inner}


def _written(data: dict[str, Any], file: Path) -> str:
    if file.suffix == ".json":
        return json.dumps(data, indent=2, ensure_ascii=False) + "\n"
    import yaml

    return yaml.safe_dump(data, sort_keys=False, allow_unicode=True)


FAMILY = {
    "Config": Config,
    "SearchConfig": SearchConfig,
    "SourceConfig": SourceConfig,
    "TriggerConfig": TriggerConfig,
}
