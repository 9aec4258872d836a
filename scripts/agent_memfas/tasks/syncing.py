"""Sync: the memory files of several machines by git, merged as sets; never forced, nothing lost.

Commit; fetch; where the remote has more, put the own commits on top of it; push. That is done in a
work tree of its own: the memory folder changes in one step, when all is merged, or not at all.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, field

from agent_memfas.errors import ConfigError, Conflict, FileFault, MemfasError, SafetyStop, TryAgain
from agent_memfas.store.files import is_memory_name, read, walk
from agent_memfas.store.layout import Folder
from agent_memfas.store.locks import exclusive, state_folder
from agent_memfas.store.passes import Pass, hold, read_patiently
from agent_memfas.store.replacing import tails_kept
from agent_memfas.store.repository import FAR, Repository, failure, find_repository
from agent_memfas.text.documents import parse

TRIES = 5
TREE = "sync-tree"  # in .memfas
ALSO = frozenset(
    {"memfas.yaml", "memfas.json", ".gitignore", ".gitattributes", ".memfasignore"}
)  # of the root
LONG_TERM = "MEMORY.md"
DELETED = " is deleted on one side and changed on the other"
LISTED = ("--pathspec-from-file=-", "--pathspec-file-nul")
APPEND_WAIT = 5.0


@dataclass(frozen=True)
class Plan:
    """What is to be done. who: for the message of a commit, where none is given. driver: git's
    command for merging a memory file. force: go on after a safety stop.
    """

    driver: str
    who: str
    message: str = ""
    dry_run: bool = False
    force: bool = False


@dataclass(frozen=True)
class Report:
    """committed, received: paths in the memory folder. commit: the last one. remote: "" for none.
    pushed: whether it has got something. ahead, behind: of a dry run, as of the last fetch.
    """

    committed: list[str] = field(default_factory=list)
    received: list[str] = field(default_factory=list)
    commit: str = ""
    branch: str = ""
    remote: str = ""
    pushed: bool = False
    ahead: int = 0
    behind: int = 0
    dry_run: bool = False


@dataclass(frozen=True)
class Line:
    """Where a branch goes to. known: whether git has noted that already."""

    branch: str
    remote: str
    target: str
    known: bool


def run(folder: Folder, plan: Plan, run: Pass) -> Report:
    """Commit, take over, push. ConfigError: no repository, or one that cannot be synced as it is;
    Conflict: files that memfas cannot merge; TryAgain, MemfasError: the remote. What is committed
    stays so, and the files are as they were.
    """
    repository = _ready(folder, plan)
    line = _line(repository)
    if plan.dry_run:
        return _looked(folder, repository, line)
    with exclusive(folder, "sync.lock", run.lock_wait):
        return _Sync(folder, repository, line, plan, run).all()


def _ready(folder: Folder, plan: Plan) -> Repository:
    extra = (f"merge.memfas.driver={plan.driver}", "merge.memfas.name=memory files, as sets",
             "rebase.updateRefs=false", "rebase.autoStash=false")  # fmt: skip
    repository = find_repository(folder, extra)
    if repository is None:
        raise ConfigError(f"{folder.root} is in no git repository",
                          "make one: memfas sync --setup --init")  # fmt: skip
    if what := repository.under_way():
        ways = f"finish it: git {what} --continue; or give it up: git {what} --abort"
        raise Conflict(
            f"a git {what} was begun here and is not finished; nothing was changed", ways
        )
    if repository.place and not repository.run("check-ignore", "-q", repository.place).status:
        raise ConfigError(f"the repository {repository.top} ignores this folder",
                          "take it out of its .gitignore")  # fmt: skip
    return repository


def _line(repository: Repository) -> Line:
    branch = repository.run("symbolic-ref", "--quiet", "--short", "HEAD").text
    if not branch:
        raise ConfigError("no branch is checked out here (detached HEAD)", "git switch BRANCH")
    remote = repository.setting(f"branch.{branch}.remote")
    target = repository.setting(f"branch.{branch}.merge")
    if remote and target:
        return Line(branch, remote, target, known=True)
    remotes = repository.run("remote").text.split()
    if not remotes:
        return Line(branch, "", "", known=False)
    if len(remotes) > 1:
        raise ConfigError(f"git does not know where the branch {branch} goes to: there are "
                          f"{', '.join(remotes)}", f"git push -u REMOTE {branch}")  # fmt: skip
    return Line(branch, remotes[0], f"refs/heads/{branch}", known=False)


def _looked(folder: Folder, repository: Repository, line: Line) -> Report:
    """What would be committed, and how far both sides are apart as of the last fetch."""
    ran = repository.run("rev-list", "--left-right", "--count", "@{upstream}...HEAD")
    behind, ahead = map(int, ran.text.split()) if not ran.status else (0, 0)
    return Report(
        _changed(folder, repository), branch=line.branch, remote=line.remote,
        ahead=ahead, behind=behind, dry_run=True,
    )  # fmt: skip


def _changed(folder: Folder, repository: Repository) -> list[str]:
    """The memory files that are not committed as they are; paths in the memory folder. Conflict."""
    words = ["--literal-pathspecs", "status", "--porcelain", "-z", "--no-renames",
             "--untracked-files=all", "--", repository.place or "."]  # fmt: skip
    entries = [(entry[:2], repository.inside(entry[3:])) for entry in repository.need(*words).names]
    known = walk(folder).files if entries else {}
    found = list[str]()
    for state, name in entries:
        there = name in known or name in ALSO
        if "D" in state and is_memory_name(name):
            there = True
        if not there:
            continue
        if "U" in state or state in ("AA", "DD"):
            raise Conflict(f"{name}: git has not merged it yet; nothing was changed",
                           "resolve it, then: git add, and memfas sync again")  # fmt: skip
        found.append(name)
    return sorted(found)


class _Sync:
    """One run, with what it has done so far."""

    def __init__(
        self, folder: Folder, repository: Repository, line: Line, plan: Plan, run: Pass
    ) -> None:
        self.folder, self.repository, self.line = folder, repository, line
        self.plan, self.run = plan, run
        self.committed, self.received = set[str](), set[str]()

    def all(self) -> Report:
        self._commit()
        if not self.line.remote:
            return self._report(pushed=False)
        for _ in range(TRIES):
            theirs = self._fetch()
            ours = self.repository.commit_of("HEAD")
            if not ours and not theirs:
                return self._report(pushed=False)
            if theirs and not self._has(ours, theirs):
                target = theirs if self._has(theirs, ours) else self._on_top_of(theirs)
                if not self._take_over(ours, target):
                    self._commit()
                    continue
                ours = target
            if ours == theirs:
                return self._report(pushed=False)
            if self._push():
                return self._report(pushed=True)
        raise TryAgain("the remote was changed again and again meanwhile; all is committed here",
                       "run it again later")  # fmt: skip

    def _report(self, *, pushed: bool) -> Report:
        return Report(
            sorted(self.committed), sorted(self.received), self.repository.commit_of("HEAD"),
            self.line.branch, self.line.remote, pushed,
        )  # fmt: skip

    # Here

    def _commit(self) -> None:
        with hold(self.folder, self.run):
            names = _changed(self.folder, self.repository)
            self._refuse_marked({LONG_TERM, *names})
            if not names:
                return
            if not self.plan.force:
                self._refuse_emptied(names)
            there = [name for name in names if os.path.lexists(self.folder.root / name)]
            if there:
                self.repository.need("--literal-pathspecs", "add", *LISTED, text=self._list(there))
            message = self.plan.message or f"memory: {_count(names)} from {self.plan.who}"
            words = ["--literal-pathspecs", "commit", "--quiet", "--only", "-m", message, *LISTED]
            ran = self.repository.run(*words, text=self._list(names))
            if not ran.status:
                self.committed.update(names)
            elif ran.errors.strip() or b"nothing" not in ran.output:
                raise failure(ran, "commit")

    def _list(self, names: list[str]) -> bytes:
        return b"".join(os.fsencode(self.repository.within(name)) + b"\0" for name in names)

    def _refuse_marked(self, names: set[str]) -> None:
        for name in sorted(names):
            try:
                document = parse(read(self.folder.root / name).data)
            except FileFault:
                continue
            marker = document.conflict_marker()
            if marker is not None and (name == LONG_TERM or marker not in document.opaque):
                raise Conflict(
                    f"{name}:{marker + 1}: an unresolved git conflict; nothing was changed",
                    "resolve the conflict, then run it again",
                )

    def _refuse_emptied(self, names: list[str]) -> None:
        """An emptied folder is more often an accident than a wish, and all would get it."""
        ran = self.repository.need("--literal-pathspecs", "ls-files", "-z", "--",
                                   self.repository.place or ".")  # fmt: skip
        known = [n for n in map(self.repository.inside, ran.names) if is_memory_name(n)]
        gone = [n for n in names if n in known and not (self.folder.root / n).exists()]
        if LONG_TERM in names and LONG_TERM in known and self._is_empty(LONG_TERM):
            raise SafetyStop(f"{LONG_TERM} is missing or empty; nothing was committed",
                             "git checkout MEMORY.md brings it back; --force goes on")  # fmt: skip
        if len(gone) > max(5, len(known) // 2):
            told = f"{len(gone)} of {len(known)} memory files are gone; nothing was committed"
            raise SafetyStop(told, "git checkout . brings them back; --force goes on")

    def _is_empty(self, name: str) -> bool:
        try:
            return not read_patiently(self.folder.root / name).data
        except FileFault:
            return True

    def _take_over(self, ours: str, target: str) -> bool:
        """Make the folder what the target is; False where it was changed meanwhile."""
        repository = self.repository
        with hold(self.folder, self.run), exclusive(self.folder, "append.lock", APPEND_WAIT):
            if repository.commit_of("HEAD") != ours or _changed(self.folder, repository):
                return False
            names = self._between(ours, target)
            with tails_kept(self.folder, names, self.run):
                ran = repository.replace_files(ours, target)
            if ran.status and not _changed(self.folder, repository):
                raise _in_the_way(ran.words)
        if not ran.status:
            self.received.update(names)
        return not ran.status

    def _between(self, ours: str, target: str) -> list[str]:
        words = ["--literal-pathspecs", "diff", "--name-only", "-z", "--no-renames", ours, target,
                 "--", self.repository.place or "."]  # fmt: skip
        return [self.repository.inside(name) for name in self.repository.need(*words).names]

    # There

    def _fetch(self) -> str:
        line = self.line
        ran = self.repository.run("fetch", "--quiet", line.remote, line.target, seconds=FAR)
        if not ran.status:
            return self.repository.commit_of("FETCH_HEAD")
        if "couldn't find remote ref" in ran.errors:
            return ""
        raise failure(ran, "fetch")

    def _has(self, commit: str, older: str) -> bool:
        """Whether a commit is that older one, or comes after it."""
        if not commit or not older:
            return not older
        return not self.repository.run("merge-base", "--is-ancestor", older, commit).status

    def _push(self) -> bool:
        """False where somebody else was faster."""
        line = self.line
        note = [] if line.known else ["-u"]
        ran = self.repository.run(
            "push", "--porcelain", *note, line.remote, f"{line.branch}:{line.target}", seconds=FAR
        )
        if not ran.status:
            return True
        told = f"{ran.output.decode('utf-8', 'replace')}{ran.errors}"
        if "[rejected]" in told or "cannot lock ref" in told or "failed to update ref" in told:
            return False
        raise failure(ran, "push")

    # In between

    def _on_top_of(self, theirs: str) -> str:
        """The commit in which the own changes stand on top of theirs, made aside. Conflict."""
        repository = self.repository
        tree = state_folder(self.folder) / TREE
        self._put_away()
        try:
            repository.need("worktree", "add", "--quiet", "--detach", str(tree), "HEAD")
            ran = repository.run("rebase", theirs, at=tree, seconds=FAR)
            if ran.status:
                raise self._why(ran.words)
            return repository.need("rev-parse", "HEAD", at=tree).text
        finally:
            self._put_away()

    def _put_away(self) -> None:
        """Away with the work tree; also with one that a killed run has left."""
        tree = self.folder.state / TREE
        if tree.exists():
            self.repository.run("worktree", "remove", "--force", "--force", str(tree))
        self.repository.run("worktree", "prune")

    def _why(self, words: str) -> MemfasError:
        """What could not be merged, in sentences."""
        tree = self.folder.state / TREE
        ran = self.repository.run("status", "--porcelain", "-z", "--no-renames", at=tree)
        states = {entry[3:]: entry[:2] for entry in ran.names
                  if "U" in entry[:2] or entry[:2] in ("AA", "DD")}  # fmt: skip
        if not states:
            message = f"git rebase failed: {words}; nothing was changed"
            return MemfasError(message, "see: git status")
        told = [name + (DELETED if "D" in state else "") for name, state in sorted(states.items())]
        unset = any(is_memory_name(name) and "D" not in state and not self._is_ours(name)
                    for name, state in states.items())  # fmt: skip
        by_hand = (
            "merge by hand: git pull --rebase, edit, git add, git rebase --continue; then again"
        )
        return Conflict(
            f"changed here and on the remote, and not to be merged by memfas: {', '.join(told)}; "
            "your changes are committed, the files are as they were",
            "memory files can be merged after: memfas sync --setup" if unset else by_hand,
        )

    def _is_ours(self, name: str) -> bool:
        ran = self.repository.run("check-attr", "-z", "merge", "--", name)
        return ran.names[-1:] == ["memfas"]


def _in_the_way(words: str) -> MemfasError:
    return MemfasError(f"files that are not committed are in the way: {words}; nothing was changed",
                       "commit them or move them away, then run it again")  # fmt: skip


def _count(names: list[str]) -> str:
    return f"{len(names)} file{'' if len(names) == 1 else 's'}"
