"""Commands for the index: index, reindex, clear, stats, status."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Mapping
from contextlib import closing
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Annotated, Optional

import typer

from agent_memfas.cli import out
from agent_memfas.cli.brief import keeper_for, places_for
from agent_memfas.cli.session import Config, Json, Root, Session, from_here, open_up
from agent_memfas.config import load
from agent_memfas.config.keys import BACKENDS, EMBEDDERS, MILVUS
from agent_memfas.errors import FileFault, MemfasError, UsageError
from agent_memfas.index.extract import is_partly_read
from agent_memfas.index.inspect import State, state_of
from agent_memfas.index.keeper import Keeper
from agent_memfas.index.scope import Scope, scope_of
from agent_memfas.index.semantic import Semantic
from agent_memfas.index.shared import Shared
from agent_memfas.index.writer import throw_away
from agent_memfas.memory.backing import AUTO, WORDS, Choice, chosen
from agent_memfas.remote.faults import VECTORS, Server
from agent_memfas.store.files import is_text, walk
from agent_memfas.tasks import settings as changing

PANEL = "Index"
PATIENCE = 10.0  # seconds for another process that is writing the index
KINDS = {".md": "markdown", ".markdown": "markdown", ".json": "json", ".jsonl": "json"}
Yes = Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")]


def register(app: typer.Typer) -> None:
    """Put these commands into the table."""
    app.command("index", rich_help_panel=PANEL)(index)
    app.command("reindex", rich_help_panel=PANEL)(reindex)
    app.command("clear", rich_help_panel=PANEL)(clear)
    app.command("stats", rich_help_panel=PANEL)(stats)


def keeper(session: Session) -> Keeper:
    """The index of this folder, with some patience for another process that is writing."""
    return keeper_for(session.root, session.brief, wait=PATIENCE, tell=out.progress("indexing"))


def index(
    paths: Annotated[
        Optional[list[str]],  # noqa: UP045 - typer reads this at run time on Python 3.10
        typer.Argument(metavar="[PATHS...]", help="Files or folders (else whatever has changed)."),
    ] = None,
    watch: Annotated[
        bool, typer.Option("--watch", help="Go on until stopped, as `memfas watch` does.")
    ] = False,
    once: Annotated[
        bool, typer.Option("--once", help="Compare every file by its bytes, once (for cron).")
    ] = False,
    root: Root = None,
    config: Config = None,
    json: Json = False,
) -> None:
    """Read what has changed into the index; files named are read again in any case."""
    if paths and (watch or once):
        raise UsageError("--watch and --once look at the whole folder", "leave out the paths")
    if watch or once:
        from agent_memfas.cli.watching import run_watch

        run_watch(root, config, once=once, poll=False, json=json)
        return
    session = open_up(root, config, near=paths[0] if paths else "")
    wanted, failed, added = _wanted(session, paths or [])
    if added:
        session = _with_sources(session, added)
    kept = keeper(session)
    kept.suspect(set(wanted))
    state = kept.source(time.time_ns()).freshness
    _try_vectors(session)
    reasons = {skipped.path: skipped.reason for skipped in state.skipped}
    unread = {path for path, reason in reasons.items() if not is_partly_read(reason)}
    failed += [(path, reasons[path]) for path in wanted if path in unread]
    done = [path for path in wanted if path not in unread]
    if json:
        out.data({"indexed": done, "failed": [{"path": p, "reason": r} for p, r in failed],
                  "added_to_sources": added,
                  "files": state.indexed, "files_read": state.read,
                  "files_skipped": [vars(s) for s in state.skipped]})  # fmt: skip
    else:
        for name in added:
            out.say(f"+ Added to sources in {session.settings.file}: ./{name}")
        _print_indexed(done, failed, named=bool(paths))
        read = out.count(state.read, "file")
        out.say(f"{out.count(state.indexed, 'file')} in the index, {read} read now")
        for skipped in state.skipped:
            if paths and (skipped.path in unread or skipped.path not in done):
                continue
            out.tell(f"{skipped.path}: {skipped.reason}")
    if failed:
        raise typer.Exit(1)


def _wanted(
    session: Session, names: list[str]
) -> tuple[list[str], list[tuple[str, str]], list[str]]:
    """The files that were named, folders taken apart; what cannot be indexed, with why; and what
    has to be added to `sources` for it."""
    folder = session.folder
    scope = scope_of(session.root, session.brief.sources)
    wanted, failed, added = dict[str, None](), list[tuple[str, str]](), dict[str, None]()
    for name in names:
        try:
            place = Path(os.path.realpath(folder.root / from_here(session, name)))
            path = "" if place == folder.root else folder.relative(folder.place(str(place)))
        except UsageError as error:
            failed.append((name, error.message))
            continue
        if not place.exists():
            failed.append((name, "not found"))
        elif place.is_dir():
            files = walk(folder, scope.suffixes).files
            inside = [p for p in files if not path or p.startswith(f"{path}/")]
            if path and not all(scope.wants(p) or scope.ignores(p) for p in inside):
                added[f"{path}/"] = None
                wanted.update(dict.fromkeys(p for p in inside if not scope.ignores(p)))
            wanted.update(dict.fromkeys(p for p in inside if scope.wants(p)))
        elif reason := _reason(session, scope, path):
            failed.append((name, reason))
        else:
            wanted[path] = None
            if not scope.wants(path):
                added[path] = None
    return list(wanted), failed, list(added)


def _reason(session: Session, scope: Scope, path: str) -> str:
    """Why a file cannot be indexed, "" if it can."""
    if scope.ignores(path):
        return "left out by .memfasignore"
    try:
        if not is_text(session.folder.root / path):
            return "not a text file"
    except FileFault as error:
        return error.message.rpartition(": ")[2]
    return ""


def _with_sources(session: Session, names: list[str]) -> Session:
    """The same session after these have become sources."""
    run, file = session.run("index"), session.settings_file
    for name in names:
        kind = KINDS.get(Path(name).suffix.lower(), "markdown" if name.endswith("/") else "text")
        changing.add_source(session.folder, file, name, kind, run)
    for notice in run.notices:
        out.tell(notice)
    return replace(session, settings=load(file))


def _print_indexed(done: list[str], failed: list[tuple[str, str]], *, named: bool) -> None:
    for path in done if named else ():
        out.say(f"✓ Indexed: {path}")
    for path, reason in failed:
        out.say(f"✗ Not found: {path}" if reason == "not found" else f"✗ Failed: {path} ({reason})")


def reindex(
    backend: Annotated[
        Optional[str],  # noqa: UP045
        typer.Option(
            "--backend",
            "-b",
            metavar="NAME",
            help=f"{' or '.join(BACKENDS)} (else what memfas.yaml says).",
        ),
    ] = None,
    embedder: Annotated[
        Optional[str],  # noqa: UP045
        typer.Option(
            "--embedder", "-e", metavar="TYPE", help=f"For vectors: {' or '.join(EMBEDDERS)}."
        ),
    ] = None,
    model: Annotated[
        Optional[str],  # noqa: UP045
        typer.Option("--model", "-m", metavar="NAME", help="The embedder's model."),
    ] = None,
    save_config: Annotated[
        bool, typer.Option("--save-config", help="Have memfas.yaml say so, for all questions.")
    ] = False,
    yes: Annotated[  # noqa: ARG001 - scripts written for agent-memfas give it
        bool, typer.Option("--yes", "-y", help="Nothing is asked here: the files are the truth.")
    ] = False,
    root: Root = None,
    config: Config = None,
    json: Json = False,
) -> None:
    """Build the index anew from the files; the old one answers until the new one is there."""
    session = open_up(root, config)
    wanted = _search_settings(session, backend, embedder, model)
    target = replace(
        session.settings, backend=str(wanted["backend"]),
        values={**session.settings.values, **{f"search.{k}": v for k, v in wanted.items()}},
    )  # fmt: skip
    choice = chosen(None, None, target)
    before = look(session)
    if not json:
        out.say(f"Current: {session.settings.backend} with {before.passages} memories")
        resolved = f" ({choice.name})" if target.backend == AUTO else ""
        out.say(f"Target: {target.backend}{resolved}")
        out.say("Re-indexing...")
    server = getattr(choice.embedder, "base_url", "")
    if server and not Server(server, "", VECTORS).local:
        out.tell(f"the texts of this folder go to {server}, and so does every question")
    database = keeper(session).anew(time.time_ns()).database
    files, memories = database.count("files"), database.count("passages")
    if choice.address is not None:
        _withdraw(session, choice)
    _make_vectors(session, choice)
    saved = save_config and _save(session, wanted)
    if saved and session.settings.backend == MILVUS != target.backend:
        _leave(session)
    if json:
        out.data({"backend": target.backend, "files": files, "memories": memories,
                  "memories_before": before.passages, "db_path": database.path,
                  "saved": str(session.settings_file) if saved else None})  # fmt: skip
    else:
        out.say(f"✓ Migrated to {target.backend}: {memories} memories")
    if target.backend != session.settings.backend and not saved:
        out.tell(f"memfas.yaml still says {session.settings.backend}: --save-config changes that")


def _search_settings(
    session: Session, backend: str | None, embedder: str | None, model: str | None
) -> dict[str, str | None]:
    """What is wanted, as keys of the section `search`. UsageError where it makes no sense."""
    name = backend or session.settings.backend
    for option, value, allowed in (
        ("--backend", name, BACKENDS), ("--embedder", embedder or EMBEDDERS[0], EMBEDDERS),
    ):  # fmt: skip
        if value not in allowed:
            raise UsageError(f"{option} {value}: no such thing", f"one of {', '.join(allowed)}")
    if name == BACKENDS[0] and (embedder or model):
        raise UsageError(f"{name} needs no embedder", "add -b embedding")
    if embedder == "offline" and model:
        raise UsageError("offline has one model, that of its package", "leave -m out")
    wanted: dict[str, str | None] = {"backend": name}
    if embedder:
        wanted["embedder_type"] = embedder
    values = session.settings.values
    was = values.get("search.embedder_type") or EMBEDDERS[0]
    is_foreign = embedder not in (None, was) and values.get("search.embedder_model")
    if model or is_foreign:  # the model that is named there is one of another embedder
        wanted["embedder_model"] = model
    return wanted


def _try_vectors(session: Session) -> None:
    """Make the vectors that are missing, where memfas.yaml wants them; what fails is told."""
    if session.settings.backend == WORDS:
        return
    try:
        _make_vectors(session, chosen(None, None, session.settings))
    except MemfasError as error:
        what = "the shared index" if session.settings.backend == MILVUS else "no vectors"
        out.tell(f"{what}: {error.message}")


def _make_vectors(session: Session, choice: Choice) -> None:
    """Have every passage embedded where a model ranks, and put into a collection that is shared."""
    if choice.embedder is None and choice.address is None:
        return
    with closing(choice), closing(_keeper_of(session, choice)) as kept:
        assert isinstance(kept, Semantic)
        kept.feed(time.time_ns())


def _withdraw(session: Session, choice: Choice) -> int:
    """Take this folder out of the collection that is shared."""
    with closing(_keeper_of(session, choice)) as kept:
        assert isinstance(kept, Shared)
        return kept.withdraw(time.time_ns())


def _leave(session: Session) -> None:
    """The collection of before has this folder no more; what stands in the way is told."""
    try:
        with closing(chosen(None, None, session.settings)) as before:
            gone = _withdraw(session, before)
        out.tell(f"{out.count(gone, 'passage')} taken out of the shared index")
    except MemfasError as error:
        out.tell(f"this folder is still in the shared index: {error.message}")


def _keeper_of(session: Session, choice: Choice) -> Keeper:
    verb = "embedding" if choice.address is None else "putting into the shared index"
    return keeper_for(
        session.root, session.brief, wait=PATIENCE, tell=out.progress(verb),
        make=choice.maker(),
    )  # fmt: skip


def _save(session: Session, wanted: Mapping[str, str | None]) -> bool:
    run = session.run("reindex")
    changing.set_search(session.folder, session.settings_file, wanted, run)
    for notice in run.notices:
        out.tell(notice)
    return True


def clear(yes: Yes = False, root: Root = None, config: Config = None, json: Json = False) -> None:
    """Delete the index; the files stay, and the next question indexes them again."""
    session = open_up(root, config)
    state = look(session)
    if not yes:
        if sys.stdin is None or not sys.stdin.isatty():
            raise UsageError("clear asks before it deletes, and nobody can answer", "add -y")
        question = f"This deletes the index ({state.passages} memories); the files stay. Continue?"
        if not typer.confirm(question, default=False):
            out.tell("nothing was deleted")
            raise typer.Exit(1)
    for place in places_for(session.root, session.brief):
        if place.ours or not state.problem:
            throw_away(place.path, ours=place.ours, root=session.root, wait=PATIENCE)
    if json:
        out.data({"cleared": state.passages, "db_path": state.path})
    else:
        out.say("✓ Cleared all memories from the index; the files are as they were.")


def stats(root: Root = None, config: Config = None, json: Json = False) -> None:
    """How much there is: database, backend, memories, triggers."""
    session = open_up(root, config)
    kept = keeper(session)
    problem = ""
    try:
        kept.source(time.time_ns())
    except FileFault as error:
        problem = error.message
    state = look(session)
    if json:
        out.data({
            "db_path": state.path, "backend": session.settings.backend, "memories": state.passages,
            "triggers": state.triggers, "files": state.files, "bytes": state.size,
        })  # fmt: skip
        return
    out.say(f"Database: {state.path}")
    out.say(f"Backend:  {session.settings.backend}")
    out.say(f"Memories: {state.passages} in {out.count(state.files, 'file')}")
    out.say(f"Triggers: {state.triggers}")
    out.say(f"Size:     {state.size / 1e6:.1f} MB")
    if problem:
        out.tell(problem)


def look(session: Session) -> State:
    """The index as it lies there."""
    brief = session.brief
    return state_of(session.root, places_for(session.root, brief), brief.sources)


def when(ns: int, session: Session) -> str | None:
    """A time of the index as ISO in the user's zone; None for never."""
    if not ns:
        return None
    return datetime.fromtimestamp(ns / 1e9, session.now.tzinfo).isoformat(timespec="seconds")
