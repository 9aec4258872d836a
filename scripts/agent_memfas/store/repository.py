"""The git repository around a memory folder: git, run with a time limit and without a prompt."""

from __future__ import annotations

import os
import re
import shlex
import signal
import subprocess
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from agent_memfas.errors import ConfigError, MemfasError, TryAgain
from agent_memfas.remote.surroundings import with_variables
from agent_memfas.store.layout import Folder
from agent_memfas.text.lines import safe
from agent_memfas.text.marks import clip
from agent_memfas.text.record import Record

LOCAL, FAR = 120.0, 300.0  # seconds for a command, without and with the network
GRACE = 5.0  # seconds to put its files in order when it is asked to end
# Of a hook that calls memfas: they would lead git to another repository or index.
_PLACES = ("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_PREFIX", "GIT_OBJECT_DIRECTORY",
           "GIT_COMMON_DIR")  # fmt: skip
_UNDER_WAY = {"rebase-merge": "rebase", "rebase-apply": "rebase", "MERGE_HEAD": "merge",
              "CHERRY_PICK_HEAD": "cherry-pick", "REVERT_HEAD": "revert"}  # fmt: skip
_LOCK = re.compile(r"Unable to create '(.+\.lock)': File exists")
_HOLLOW = ("hint:", "To ", "Please make sure you have", "and the repository exists",
           "fatal: Could not read from remote")  # fmt: skip
_SHUT = ("authentication failed", "could not read username", "could not read password",
         "permission denied", "terminal prompts disabled", "host key verification failed",
         "access denied", "403", "401")  # fmt: skip
_AWAY = ("could not resolve", "unable to access", "connection refused", "timed out",
         "network is unreachable", "connection reset", "could not connect")  # fmt: skip


class Ran(Record):
    """How a git command ended: its status, and what it printed."""

    status: int
    output: bytes
    errors: str

    @property
    def text(self) -> str:
        """Its output as a line."""
        return os.fsdecode(self.output).strip("\n")

    @property
    def names(self) -> list[str]:
        """Its output as paths, where it ends each with a NUL."""
        return [os.fsdecode(name) for name in self.output.split(b"\0") if name]

    @property
    def words(self) -> str:
        """What it complained about: its last lines, without its hints, as one."""
        lines = [n.strip() for n in self.errors.splitlines() if n.strip()]
        told = [n for n in lines if not n.startswith(_HOLLOW)] or lines
        return clip(safe("; ".join(told[-3:])), 300)


class Repository(Record):
    """A work tree of git with a memory folder in it. top: of the work tree. place: of the folder
    in it, "" for the top. home: git's own folder. extra: settings for each command.
    """

    top: Path
    place: str
    home: Path
    extra: tuple[str, ...] = ()

    def run(
        self, *words: str, text: bytes = b"", seconds: float = LOCAL, at: Path | None = None
    ) -> Ran:
        """A git command at the top (or elsewhere). TryAgain where it takes too long."""
        settings = [word for one in self.extra for word in ("-c", one)]
        return run_git([*settings, *words], at or self.top, text, seconds)

    def need(
        self, *words: str, text: bytes = b"", seconds: float = LOCAL, at: Path | None = None
    ) -> Ran:
        """The same; MemfasError where it fails."""
        ran = self.run(*words, text=text, seconds=seconds, at=at)
        if ran.status:
            raise failure(ran, next(w for w in words if not w.startswith("-")))
        return ran

    def inside(self, name: str) -> str:
        """A path in the work tree, as it is in the memory folder."""
        return name.removeprefix(f"{self.place}/") if self.place else name

    def within(self, name: str) -> str:
        """A path in the memory folder, as it is in the work tree."""
        return f"{self.place}/{name}" if self.place else name

    def under_way(self) -> str:
        """The name of what was begun and is not finished, "" for nothing."""
        found = (what for name, what in _UNDER_WAY.items() if (self.home / name).exists())
        return next(found, "")

    def commit_of(self, name: str) -> str:
        """The commit that a name means, "" where there is none."""
        ran = self.run("rev-parse", "--verify", "--quiet", f"{name}^{{commit}}")
        return "" if ran.status else ran.text

    def replace_files(self, old: str, new: str) -> Ran:
        """Make the work tree and HEAD, which is that old commit ("" for none yet), that new one.
        What is staged or changed in other files stays so; where one is in the way, nothing is done.

        A run that is killed in between has the files of the new one as changes to the old one.
        """
        tree = old or self.need("hash-object", "-t", "tree", "--stdin").text
        ran = self.run("read-tree", "-m", "-u", tree, new)
        return ran if ran.status else self.run("update-ref", "-m", "memfas sync", "HEAD", new, old)

    def setting(self, name: str) -> str:
        """A setting of git's, "" where it is not set."""
        return self.run("config", "--get", name).text


def find_repository(folder: Folder, extra: tuple[str, ...] = ()) -> Repository | None:
    """The repository that a memory folder is in, None where it is in none. ConfigError."""
    words = ["rev-parse", "--is-inside-work-tree", "--show-toplevel", "--absolute-git-dir",
             "--show-prefix"]  # fmt: skip
    ran = run_git(words, folder.root, b"", LOCAL)
    if ran.status:
        if "not a git repository" in ran.errors:
            return None
        raise ConfigError(f"git cannot read the repository: {ran.words}", "see: git status")
    inside, top, home, prefix = os.fsdecode(ran.output).split("\n")[:4]
    if inside != "true":
        raise ConfigError(f"{folder.root} is inside git's own folder")
    return Repository(Path(top), prefix.rstrip("/"), Path(home), extra)


def failure(ran: Ran, what: str) -> MemfasError:
    """Why a git command failed, and what to do, in sentences."""
    words, low = ran.words, ran.errors.lower()
    if lock := _LOCK.search(ran.errors):
        return TryAgain(
            "another git command is at work in this repository",
            f"run it later; where none is at work: rm {shlex.quote(lock[1])}",
        )
    if what in ("fetch", "push", "ls-remote"):
        if any(mark in low for mark in _AWAY) and "403" not in low:
            return TryAgain(f"the remote cannot be reached: {words}", "run it again later")
        if any(mark in low for mark in _SHUT):
            return MemfasError(
                f"the remote does not let memfas in: {words}",
                f"log in by hand once, so that this asks for nothing: git {what}",
            )
    if "tell me who you are" in low or "empty ident" in low or "auto-detect email" in low:
        return ConfigError(
            "git does not know who you are",
            "git config --global user.name NAME; git config --global user.email MAIL",
        )
    return MemfasError(f"git {what} failed: {words or f'status {ran.status}'}", "see: git status")


def run_git(words: Sequence[str], at: Path, text: bytes, seconds: float) -> Ran:
    """Run git in a folder, in a session of its own: it cannot ask. ConfigError where there is no
    git, TryAgain where it takes too long.
    """
    environment = with_variables(
        {"GIT_TERMINAL_PROMPT": "0", "LC_ALL": "C", "GIT_EDITOR": "true"}, without=_PLACES
    )
    try:
        process = subprocess.Popen(
            ["git", *words], cwd=at, env=environment, start_new_session=True,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        )  # fmt: skip
    except OSError as error:
        raise ConfigError(
            f"git cannot be run: {os.strerror(error.errno or 0)}", "install git"
        ) from (error)
    try:
        output, errors = process.communicate(text, timeout=seconds)
    except subprocess.TimeoutExpired:
        name = next((w for w in words if not w.startswith("-") and "=" not in w), "")
        raise TryAgain(
            f"git {name} was not done after {seconds:.0f} seconds", "run it again later"
        ) from None
    finally:
        _end(process)
    return Ran(process.returncode, output, errors.decode("utf-8", "replace"))


def _end(process: subprocess.Popen[bytes]) -> None:
    """What still runs is asked to end, so that git takes its locks away, and then made to."""
    for signal_ in (signal.SIGTERM, signal.SIGKILL):
        if process.poll() is not None:
            break
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal_)
        with suppress(subprocess.TimeoutExpired):
            process.communicate(timeout=GRACE)
