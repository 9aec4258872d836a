"""`ContextConfig`: when a context is compacted and how, under `context:` in memfas.yaml."""

from __future__ import annotations

import json
import os
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

from agent_memfas.config.keys import KEYS
from agent_memfas.config.parsing import tree_of
from agent_memfas.errors import ConfigError, FileFault
from agent_memfas.store.durable import write_whole
from agent_memfas.store.files import read
from agent_memfas.text.settings import set_value

PLACES = ("./memfas.yaml", "./memfas-context.yaml", "~/.clawdbot/memfas.yaml")
SECTION = "context"


@dataclass
class ContextConfig:
    """All keys of `context:`. Shares are of max_tokens, 0 to 1; paths are relative to the file they
    come from. drop_notice: one line stands in a context for what was taken out of it.
    """

    compaction_trigger_pct: float = 0.50
    max_context_pct: float = 0.85
    auto_compact: bool = True
    relevance_cutoff: float = 0.3
    relevance_keep_threshold: float = 0.7
    memfas_weight: float = 0.6
    recency_bonus: float = 0.2
    importance_bonus: float = 0.1
    min_chunks_to_keep: int = 5
    memfas_min_score: float = 0.05
    curation_trigger_pct: float = 0.40
    cold_storage_enabled: bool = True
    cold_storage_path: str = "./cold-storage/"
    recoverable_days: int = 30
    summarize_medium_chunks: bool = True
    summary_target_tokens: int = 500
    summary_model: str = "minimax/MiniMax-M2.1"
    log_path: str = "./logs/context/"
    log_compaction: bool = True
    log_curation: bool = True
    log_drops: bool = True
    log_health: bool = True
    log_recovery: bool = True
    drop_notice: bool = True

    def __post_init__(self) -> None:
        self._file: Path | None = None
        _check(asdict(self), "configuration", {})

    @property
    def file(self) -> Path | None:
        """The file that this came from, None for the defaults."""
        return self._file

    @classmethod
    def load(cls, path: str | Path | None = None) -> ContextConfig:
        """The keys under `context:` of a memfas.yaml or memfas.json, or all of a file without such
        a section; others are passed over. ConfigError names file, line, key and what is wrong.

        path: None for the first of PLACES that is there, else the defaults; the defaults, too,
        where it names a file that is not there.
        """
        wanted = PLACES if path is None else (str(path),)
        for place in wanted:
            file = Path(os.path.abspath(os.path.expanduser(place)))
            if file.is_dir():
                file /= "memfas.yaml"
            if file.exists():
                return cls._of(file)
        return cls()

    @classmethod
    def _of(cls, file: Path) -> ContextConfig:
        try:
            text = read(file).data.decode("utf-8-sig")
        except FileFault as error:
            raise ConfigError(error.message) from error
        except UnicodeDecodeError as error:
            raise ConfigError(f"{file}: not UTF-8", "save it as UTF-8") from error
        tree, lines = tree_of(file, text)
        inner = tree.get(SECTION, tree)
        if inner is None:
            inner = {}
        if not isinstance(inner, dict):
            raise ConfigError(f"{file}: {SECTION} must be a mapping of keys to values")
        start = f"{SECTION}." if SECTION in tree else ""
        names = {one.name for one in fields(cls)}
        known = {name: value for name, value in inner.items() if name in names}
        where = {name: lines[f"{start}{name}"] for name in known if f"{start}{name}" in lines}
        _check(known, str(file), where)
        made = cls(**{name: value for name, value in known.items() if value is not None})
        made._file = file
        return made

    def to_dict(self) -> dict[str, Any]:
        """All keys with their values."""
        return asdict(self)

    def save(self, path: str | Path) -> None:
        """Write it under `context:`. Of a file that is there only what differs changes: comments,
        order and other keys stay. ConfigError or FileFault where that is not possible.
        """
        file = Path(os.path.realpath(os.path.expanduser(path)))
        if not os.path.lexists(file):
            write_whole(file, _written(file, {SECTION: self.to_dict()}).encode())
            return
        before = type(self)._of(file).to_dict()
        image = read(file)
        text = image.data.decode()
        for name, value in self.to_dict().items():
            if value != before[name]:
                text = set_value(text, f"{SECTION}.{name}", value, str(file))
        if text.encode() == image.data:
            return
        if read(file).data != image.data:
            raise FileFault(f"{file}: somebody saved it just now; nothing changed", "save again")
        write_whole(file, text.encode(), image.info.st_mode & 0o777)


def _check(values: dict[str, Any], file: str, lines: dict[str, int]) -> None:
    """ConfigError for a value that makes no sense, or thresholds in the wrong order."""
    for name, value in values.items():
        key = KEYS[f"{SECTION}.{name}"]
        if value is not None and not key.fits(value):
            where = f"{file}:{lines[name]}" if name in lines else file
            raise ConfigError(f"{where}: {SECTION}.{name} must be {key.words}, not {value!r}")
    usual = {one.name: one.default for one in fields(ContextConfig)}
    for low, high in (
        ("relevance_cutoff", "relevance_keep_threshold"),
        ("compaction_trigger_pct", "max_context_pct"),
    ):
        below, above = values.get(low, usual[low]), values.get(high, usual[high])
        if below is not None and above is not None and below > above:
            line = next((lines[name] for name in (low, high) if name in lines), None)
            where = file if line is None else f"{file}:{line}"
            raise ConfigError(f"{where}: {SECTION}.{low} {below} is above {high} {above}")


def _written(file: Path, data: dict[str, Any]) -> str:
    if file.suffix == ".json":
        return json.dumps(data, indent=2, ensure_ascii=False) + "\n"
    import yaml

    return yaml.safe_dump(data, sort_keys=False, allow_unicode=True)
