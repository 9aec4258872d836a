"""Setting a memory folder up for sync: what git has to know, and nothing that goes to a remote."""

from __future__ import annotations

from dataclasses import dataclass

from agent_memfas.errors import ConfigError, FileFault
from agent_memfas.store.files import read
from agent_memfas.store.layout import Folder
from agent_memfas.store.locks import exclusive
from agent_memfas.store.passes import Pass
from agent_memfas.store.repository import LOCAL, Repository, failure, find_repository, run_git
from agent_memfas.store.tail import add_lines

ATTRIBUTES, IGNORED = ".gitattributes", ".gitignore"
MERGED = ("*.md merge=memfas", "*.jsonl merge=memfas")
STATE, OVERVIEW = ".memfas/", ".abstract"
NAME = "memory files, as sets of entries"


@dataclass(frozen=True)
class Setup:
    """added: (file, line) of what was (or would be) added. driver: whether git's setting was
    changed. made: whether the repository is new.
    """

    added: list[tuple[str, str]]
    driver: bool
    made: bool
    dry_run: bool = False


def run(
    folder: Folder, driver: str, run: Pass, *, init: bool = False, dry_run: bool = False
) -> Setup:
    """Tell git to merge memory files by memfas, and to leave derived files alone; a second time
    changes nothing. driver: git's command for merging a file. ConfigError: no repository.
    """
    repository = find_repository(folder)
    made = repository is None
    if repository is None and not init:
        raise ConfigError(f"{folder.root} is in no git repository",
                          "make one: memfas sync --setup --init")  # fmt: skip
    if repository is None and not dry_run:
        ran = run_git(["init", "--quiet"], folder.root, b"", LOCAL)
        if ran.status:
            raise failure(ran, "init")
        repository = find_repository(folder)
    if repository is not None and _is_tracked(repository, STATE):
        run.notices.append(f"{STATE} is in the repository: git rm -r --cached {STATE}")
    added = _missing(folder, repository)
    set_driver = repository is None or repository.setting("merge.memfas.driver") != driver
    if repository is not None and not dry_run:
        _write(folder, added, run)
        if set_driver:
            for key, value in (("name", NAME), ("driver", driver)):
                repository.need("config", "--replace-all", f"merge.memfas.{key}", value)
    return Setup(added, set_driver, made, dry_run)


def _missing(folder: Folder, repository: Repository | None) -> list[tuple[str, str]]:
    """(file, line) of what is not there yet. Derived files that are tracked are not left out."""
    wanted = [(ATTRIBUTES, line) for line in MERGED] + [(IGNORED, STATE)]
    if repository is None or not _is_tracked(repository, OVERVIEW):
        wanted.append((IGNORED, OVERVIEW))
    there = {name: _lines(folder, name) for name in (ATTRIBUTES, IGNORED)}
    return [(name, line) for name, line in wanted if line not in there[name]]


def _write(folder: Folder, added: list[tuple[str, str]], run: Pass) -> None:
    with exclusive(folder, "append.lock", run.lock_wait):
        for name in (ATTRIBUTES, IGNORED):
            text = "".join(f"{line}\n" for file, line in added if file == name)
            if text:
                add_lines(folder.root / name, text.encode(), b"")


def _is_tracked(repository: Repository, name: str) -> bool:
    """Whether a file of that name, or one in that folder, is in the repository."""
    ran = repository.need("ls-files", "-z", "--", repository.place or ".")
    parts = (f"/{repository.inside(path)}" for path in ran.names)
    return any(f"/{name}" in path if name.endswith("/") else path.endswith(f"/{name}")
               for path in parts)  # fmt: skip


def _lines(folder: Folder, name: str) -> set[str]:
    path = folder.root / name
    if not path.exists():
        return set()
    try:
        data = read(path).data
    except FileFault as error:
        raise ConfigError(error.message, error.remedy) from error
    return {" ".join(line.split()) for line in data.decode("utf-8", "replace").splitlines()}
