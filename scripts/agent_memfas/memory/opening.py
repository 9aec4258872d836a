"""From whatever a Memory is made of to a folder and its settings."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from agent_memfas import config as files
from agent_memfas.config import Settings
from agent_memfas.config.family import Config
from agent_memfas.errors import ConfigError, UsageError
from agent_memfas.index.scope import Extra
from agent_memfas.store.layout import Folder, open_folder
from agent_memfas.store.places import TRIGGERS, nearest
from agent_memfas.text.firing import Trigger
from agent_memfas.text.rights import is_name

ALWAYS = ("intuition.md",)  # loaded always where nothing is configured, as in the reference
HINT = "make one: memfas init (or leave it out: Memory() takes the folder as it is)"


@dataclass(frozen=True)
class Opening:
    """A memory folder and its settings. sources: relative to the folder, () for all. always: those
    that are part of every recall. file: the settings file, whose changes count from now on.
    """

    folder: Folder
    settings: Settings
    sources: tuple[str, ...]
    always: tuple[str, ...]
    file: Path | None = None

    @property
    def root(self) -> str:
        """The folder's real path."""
        return str(self.folder.root)

    def extra(self) -> Extra:
        """The triggers of the settings and of triggers_file, to be read if they are new."""
        settings = self.settings
        return Extra.of(files.token_of(settings), settings.triggers_file, self.triggers)

    def triggers(self) -> list[Trigger]:
        """The triggers of the settings, then those of triggers_file."""
        return files.triggers_of(self.settings, self.root)


def named_agent(given: str | None) -> str:
    """The agent that a memory is opened for: None for that of MEMFAS_AGENT; "" for the person.
    UsageError for what is no name.
    """
    agent = os.environ.get("MEMFAS_AGENT", "") if given is None else given
    if agent and not is_name(agent):
        raise UsageError(f"{agent!r} is no agent's name", "letters, digits and ._@+-, 64 at most")
    return agent


def opened(config: str | Path | Config | Opening | None) -> Opening:
    """config: a settings file, a folder, a Config, an Opening, or None for the folder that the
    current one lies in. ConfigError where it makes no sense; a file that is not there is not made.
    """
    if isinstance(config, Opening):
        return config
    if isinstance(config, Config):
        return _of_object(config)
    if config is None:
        here = _current()
        return _of_folder(open_folder(Path(nearest(str(here)) or here)))
    path = Path(os.path.abspath(os.path.expanduser(config)))
    if path.is_dir():
        return _of_folder(open_folder(path))
    if not os.path.lexists(path):
        raise ConfigError(f"there is no {path}", HINT)
    return _of_file(open_folder(path.parent), path)


def reopened(opening: Opening, config: str | Path | Config | Opening | None) -> Opening:
    """The same folder with its settings as they are now. ConfigError where they are wrong."""
    if isinstance(config, Config):
        return _of_object(config, opening.folder.root)
    if opening.file is None:
        return _of_folder(opening.folder)
    return _of_file(opening.folder, opening.file)


def of_settings(folder: Folder, settings: Settings) -> Opening:
    """A folder with settings that were read before, from a file that may lie elsewhere."""
    return _made(folder, settings, settings.file)


def _of_folder(folder: Folder) -> Opening:
    file = files.beside(folder.root)
    if file is not None:
        return _of_file(folder, file)
    return Opening(folder, Settings(), (), ALWAYS)


def _of_file(folder: Folder, file: Path) -> Opening:
    beside = os.path.realpath(file.parent) == str(folder.root)
    return _made(folder, files.load(folder.root / file.name if beside else file), file)


def _of_object(config: Config, home: Path | None = None) -> Opening:
    folder = open_folder(config.base or home or _home_of(config))
    found = _made(folder, config.settings(folder.root), None)
    if found.sources or config.file is not None:
        return found
    nothing = (TRIGGERS,)  # an object without sources means none, where a file means all
    return Opening(folder, found.settings, nothing, ())


def _made(folder: Folder, settings: Settings, file: Path | None) -> Opening:
    root = str(folder.root)
    pairs = [(files.inside(root, s.path), s.always_load) for s in settings.sources]
    return Opening(
        folder, settings, tuple(path for path, _ in pairs),
        tuple(path for path, always in pairs if always), file,
    )  # fmt: skip


def _home_of(config: Config) -> Path:
    """The folder of a configuration that came from no file: the one that holds its sources, else
    its database, else the current one.
    """
    paths = [os.path.expanduser(source.path) for source in config.sources]
    if paths and all(map(os.path.isabs, paths)):
        folders = [p if os.path.isdir(p) else os.path.dirname(p.split("*")[0]) for p in paths]
        home = os.path.commonpath(folders)
        if home == os.sep:
            raise ConfigError("the sources have no folder in common", "use one Memory for each")
        return Path(home)
    database = os.path.expanduser(config.db_path)
    return Path(os.path.dirname(database)) if not paths and os.path.isabs(database) else _current()


def _current() -> Path:
    try:
        return Path.cwd()
    except OSError as error:
        raise ConfigError("the current folder does not exist any more", "name a folder") from error
