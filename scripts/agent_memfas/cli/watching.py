"""The command that keeps the index in step: watch."""

from __future__ import annotations

import signal
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer

from agent_memfas.cli import out
from agent_memfas.cli.abstracting import Refresh
from agent_memfas.cli.brief import brief_of, keeper_for, now_of, places_for, root_of
from agent_memfas.cli.ranking import keeper_maker
from agent_memfas.cli.session import Config, Json, Root, config_before
from agent_memfas.errors import TryAgain
from agent_memfas.index.places import Place
from agent_memfas.index.scope import Scope
from agent_memfas.index.upkeep import Upkeep
from agent_memfas.store.events import Mailbox, Stopped
from agent_memfas.store.heartbeat import Heartbeat, Post
from agent_memfas.tasks import watch as watching

PANEL = "Index"
PATIENCE = 2.0  # seconds for another process that is writing the index
ENDS = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)


def register(app: typer.Typer) -> None:
    """Put this command into the table."""
    app.command("watch", rich_help_panel=PANEL)(watch)


def watch(
    once: Annotated[
        bool, typer.Option("--once", help="Compare every file by its bytes, once (for cron).")
    ] = False,
    poll: Annotated[
        bool, typer.Option("--poll", help="Look again and again; do without file events.")
    ] = False,
    root: Root = None,
    config: Config = None,
    json: Json = False,
) -> None:
    """Keep the index in step with the files, until stopped."""
    run_watch(root, config, once=once, poll=poll, json=json)


def run_watch(
    root: Path | None, config: Path | None, *, once: bool, poll: bool, json: bool
) -> None:
    """What `memfas watch` and `memfas index --watch` do.

    TryAgain where another process watches already, or (once) keeps writing the index.
    """
    file = config or (config_before[-1] if config_before else None)
    named = str(file) if file else None
    place = root_of(str(root) if root is not None else None, named)
    mailbox = Mailbox()
    care = _Care(place, named, mailbox)
    with _ended_by_signals(mailbox):
        try:
            if once:
                _once(care, json=json)
                Refresh(care.root, care.config, mailbox.check)()
            else:
                _watch(care, mailbox, poll=poll, json=json)
        except Stopped:
            raise TryAgain("stopped before it was done", "run it again") from None
        finally:
            care.close()


@contextmanager
def _ended_by_signals(mailbox: Mailbox) -> Iterator[None]:
    """Signals say stop, but those that are ignored (as nohup does) stay so."""
    before = {n: h for n in ENDS if (h := signal.getsignal(n)) is not signal.SIG_IGN}
    for number in before:
        signal.signal(number, lambda *_: mailbox.stop())
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


class _Care:
    """The index as memfas.yaml says now: whoever edits that need not start the watcher anew."""

    def __init__(self, root: str, config: str | None, mailbox: Mailbox) -> None:
        self.root = root
        self.config = config
        self._mailbox = mailbox
        self._bar = out.progress("indexing")
        self.settings, self._problem = brief_of(root, config)
        if self._problem:
            out.tell(self._problem)
        self._upkeep = self._make()

    def upkeep(self) -> Upkeep:
        """The one there is, or a new one where the settings are others."""
        settings, problem = brief_of(self.root, self.config)
        if problem and problem != self._problem:
            out.tell(problem)
        self._problem = problem
        if settings != self.settings:
            self._upkeep.close()
            self.settings = settings
            self._upkeep = self._make()
        return self._upkeep

    def places(self) -> tuple[Place, ...]:
        """Where the index may be."""
        return places_for(self.root, self.settings)

    def close(self) -> None:
        """Let go of the index."""
        self._upkeep.close()

    def _make(self) -> Upkeep:
        self._mailbox.suffixes = Scope(self.settings.sources).suffixes
        keeper = keeper_for(
            self.root, self.settings, wait=PATIENCE, tell=self._tell,
            make=keeper_maker(self.settings),
        )  # fmt: skip
        return Upkeep(keeper, self._mailbox.check, out.tell)

    def _tell(self, done: int, total: int) -> None:
        self._mailbox.check()
        if self._bar:
            self._bar(done, total)
            self._bar = self._bar if done < total else None  # only for the first, long reading


def _once(care: _Care, *, json: bool) -> None:
    done = watching.once(care.upkeep(), care.root, care.places(), time.time_ns())
    if json:
        out.data(done)
    else:
        read = out.count(done.read, "file")
        out.say(f"{read} read, {done.changed} changed, {done.files} in the index")


def _watch(care: _Care, mailbox: Mailbox, *, poll: bool, json: bool) -> None:
    def tell(text: str, beat: Heartbeat) -> None:
        if json:
            out.data({"message": text, **vars(beat)})
            sys.stdout.flush()
        else:
            out.tell(text)

    home = next(Path(place.path).parent for place in care.places() if place.ours)
    zone = now_of(care.settings.zone, None).tzinfo
    charge = watching.Charge(
        care.root,
        care.upkeep,
        Post(home),
        time.time_ns,
        zone,
        tell,
        poll=poll,
        follow=Refresh(care.root, care.config, mailbox.check),
    )
    watching.Watcher(charge, mailbox).run()
