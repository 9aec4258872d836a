"""`memfas bench`: recall measured on questions of one's own."""

from __future__ import annotations

import os
import sys
import time
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Annotated, Optional

import typer

from agent_memfas.cli import out
from agent_memfas.cli.asking import filters_of
from agent_memfas.cli.brief import keeper_for
from agent_memfas.cli.figures import Measured, as_data, missed, table, tell_of
from agent_memfas.cli.ranking import keeper_maker
from agent_memfas.cli.session import Config, Json, Root, Session, Today, open_up
from agent_memfas.config.keys import BACKENDS
from agent_memfas.errors import FileFault, MemfasError, NothingFound, UsageError
from agent_memfas.index.feeding import BY_WORDS
from agent_memfas.index.keeper import Keeper
from agent_memfas.index.scope import Scope, scope_of
from agent_memfas.index.semantic import Semantic
from agent_memfas.memory.backing import chosen
from agent_memfas.store.files import READ_CAP, read
from agent_memfas.store.places import PUT_AWAY, kind_of
from agent_memfas.tasks import bench as judging
from agent_memfas.tasks.bench import Judged, Place, Question
from agent_memfas.tasks.recall import ask
from agent_memfas.text import context

PANEL = "Recall"
LIMIT = 60  # hits for a question: more than 2,000 tokens hold
WAIT = 10.0  # seconds for another process that is writing the index
WORDS = BACKENDS[0]


def register(app: typer.Typer) -> None:
    """Put this command into the table."""
    app.command("bench", rich_help_panel=PANEL)(bench)


def bench(
    questions: Annotated[
        str,
        typer.Argument(
            metavar="QUESTIONS.jsonl",
            help='A line for each: {"question": "…", "expected": ["MEMORY.md:12"]}; `-` reads'
            " standard input.",
        ),
    ],
    backend: Annotated[
        Optional[list[str]],  # noqa: UP045 - typer reads this at run time on Python 3.10
        typer.Option(
            "--backend",
            "-b",
            metavar="NAME",
            help=f"{', '.join(BACKENDS)}; again for several (else as recall does).",
        ),
    ] = None,
    limit: Annotated[
        int, typer.Option("--limit", "-n", metavar="N", help="Hits for a question.")
    ] = LIMIT,
    misses: Annotated[
        int, typer.Option("--misses", metavar="N", help="List so many questions that went wrong.")
    ] = 0,
    root: Root = None,
    config: Config = None,
    today: Today = None,
    json: Json = False,
) -> None:
    """Measure recall on questions of your own, each with the lines that answer it."""
    for option, value, least, most in (
        ("--limit", limit, 1, context.LARGEST), ("--misses", misses, 0, 10**9),
    ):  # fmt: skip
        if not least <= value <= most:
            raise UsageError(f"{option} {value}: must be from {least} to {most}")
    for name in backend or ():
        if name not in BACKENDS:
            raise UsageError(f"--backend {name}: no such thing", f"one of {', '.join(BACKENDS)}")
    session = open_up(root, config, today)
    file = "standard input" if questions == "-" else questions
    asked = judging.questions(_bytes(questions), file)
    if not asked:
        raise NothingFound(f"{file}: no question in it", f"a line is {judging.SHAPE}")
    lost = _lost(session, asked)
    names = list(dict.fromkeys(backend)) if backend else [None]
    found = [measure(session, asked, name, limit, out.progress("asking")) for name in names]
    if json:
        places = [{"line": q.line, "expected": str(p), "reason": why} for q, p, why in lost]
        out.data({"file": file, "questions": len(asked), "limit": limit, "not_there": places,
                  "backends": [as_data(one, misses) for one in found]})  # fmt: skip
        return
    out.say(f"{file}: {out.count(len(asked), 'question')}, up to {out.count(limit, 'hit')} each")
    for line in (*table(found), *(line for one in found for line in missed(one, file, misses))):
        out.say(line)
    tell_of(file, lost, found)


def _bytes(name: str) -> bytes:
    """A file of questions whole, or standard input."""
    if name != "-":
        try:
            return Path(name).read_bytes()
        except OSError as error:
            raise FileFault(f"{name}: {os.strerror(error.errno or 0)}") from error
    if sys.stdin is None or sys.stdin.closed:
        raise UsageError("standard input is closed")
    return sys.stdin.buffer.read()


def measure(
    session: Session,
    questions: Sequence[Question],
    backend: str | None = None,
    limit: int = LIMIT,
    tell: Callable[[int, int], None] | None = None,
) -> Measured:
    """Ask as recall does, and time it. Nothing is kept of it.

    backend: of BACKENDS, an error where it cannot be had; None for what recall would take. The
    index is brought in step, and vectors are made, before the clock runs.
    """
    name, make = _maker(session, backend)
    keeper = keeper_for(
        session.root, session.brief, wait=WAIT, tell=out.progress("reading"), make=make
    )
    filters, rows, ms = filters_of(session.brief, limit=limit), list[Judged](), list[float]()
    notes, nothing = Counter[str](), 0
    try:
        keeper.answer(lambda source: source.freshness, time.time_ns(), None)
        name = _with_vectors(keeper, name, must=backend is not None)
        for number, question in enumerate(questions, 1):
            start = time.perf_counter()
            answer = ask(keeper, question.text, filters, session.today, time.time_ns(), None)
            ms.append((time.perf_counter() - start) * 1000)
            rows.append(judging.judged(question, answer.hits))
            nothing += not answer.hits
            notes.update(answer.freshness.notes)
            if tell:
                tell(number, len(questions))
    finally:
        keeper.close()
    return Measured(name, tuple(rows), tuple(ms), nothing, tuple(notes.items()))


def _with_vectors(keeper: Keeper, name: str, *, must: bool) -> str:
    """The name of what will rank, once all vectors are made. must: what cannot be had is an error;
    else it is said, and words rank."""
    if not isinstance(keeper, Semantic):
        return name
    try:
        keeper.feed(time.time_ns())
    except MemfasError as error:
        if must:
            raise
        out.tell(f"{BY_WORDS}: {error.message}")
        return WORDS
    return name


def _maker(session: Session, backend: str | None) -> tuple[str, Callable[..., Keeper]]:
    """What ranks, and what makes its keeper."""
    if backend is not None:
        return backend, chosen(backend, None, session.settings).maker()
    make = keeper_maker(session.brief)
    return WORDS if make is Keeper else session.brief.backend, make


def _lost(session: Session, questions: list[Question]) -> list[tuple[Question, Place, str]]:
    """The expected places that no answer can reach, with the reason."""
    scope, known = scope_of(session.root, session.brief.sources), dict[str, tuple[int, str]]()
    found = []
    for question in questions:
        for place in question.expected:
            if place.path not in known:
                known[place.path] = _look(session, scope, place.path)
            lines, why = known[place.path]
            if why or place.first > lines:
                found.append((question, place, why or f"the file has {out.count(lines, 'line')}"))
    return found


def _look(session: Session, scope: Scope, path: str) -> tuple[int, str]:
    """How many lines a file has, and why it cannot be found, "" if it can."""
    real = os.path.realpath(session.folder.root / path)
    if not real.startswith(f"{session.root}/") or not os.path.isfile(real):
        return 0, "no such file in the memory folder"
    if not scope.wants(path) or kind_of(path) in PUT_AWAY:
        return 0, "recall does not search this file"
    try:
        data = read(Path(real), READ_CAP, cut=True).data
    except FileFault as error:
        return 0, error.message.rpartition(": ")[2]
    return len(data.removesuffix(b"\n").split(b"\n")), ""
