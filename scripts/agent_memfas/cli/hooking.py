"""`memfas hook EVENT`: what agent hosts call. Whatever happens, it ends in time and with status 0,
and prints one JSON object or nothing.

Loaded without typer, YAML or a database where an event needs none: it runs before each prompt.
"""

from __future__ import annotations

import os
import sys
import time
from contextlib import suppress
from threading import Event as Flag
from threading import Thread

from agent_memfas.cli.brief import agent_of, brief_of, keeper_for, now_in, now_of
from agent_memfas.errors import MemfasError
from agent_memfas.hooks.answer import USUAL, answer
from agent_memfas.hooks.event import (
    COMPACT,
    END,
    LARGEST,
    PROMPT,
    START,
    STOP,
    Event,
    name_of,
    read_event,
)
from agent_memfas.remote.surroundings import INSIDE
from agent_memfas.store.places import MARKS, OWN, has_any, nearest

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from agent_memfas.cli.brief import Brief
    from agent_memfas.config import Settings

SECONDS = {START: 3.0, PROMPT: 2.0, COMPACT: 10.0, STOP: 1.2, END: 1.0}
TWICE = 5.0  # seconds within which the same event is the same one, called by two installations
AGAIN, DAY = 600.0, 86_400.0  # within which the same question of a session is the same turn
# Similarity of what is worth a place in the prompt's context, and how many different words of the
# prompt one memory has to have. On LoCoMo 0.5 points of the evidence for silence at 86 of 100
# prompts that have nothing to do with the memory, where 0.4 alone was silent at 50.
LEAST, SHARED = 0.5, 2
FEW, POOL = 6, 12  # memories with a prompt; hits that are looked at


def run(arguments: list[str]) -> int:
    """Answer an event within its time. The status is 0 whatever happens."""
    if os.environ.get(INSIDE):
        return 0
    found, done, said = _arguments(arguments), Flag(), list[str]()
    name = name_of(found.get("event", ""))
    if not name:
        return 0

    def work() -> None:
        with suppress(Exception):  # an agent's turn is worth more than our answer
            if text := _answered(name, found):
                said.append(text)
        done.set()

    out, sys.stdout = sys.stdout, sys.stderr  # nothing else gets where the answer goes
    Thread(target=work, daemon=True).start()
    done.wait(SECONDS[name])
    with suppress(Exception):
        if said:
            out.write(f"{said[0]}\n")
        out.flush()
    sys.stdout = out
    if not done.is_set():
        os._exit(0)
    return 0


def _arguments(arguments: list[str]) -> dict[str, str]:
    """The event, and --root, --host and --agent; anything else is passed over."""
    found, at = dict[str, str](), 0
    while at < len(arguments):
        given, at = arguments[at], at + 1
        name, equals, value = given.partition("=")
        if name in ("--root", "--host", "--agent"):
            if not equals and at < len(arguments):
                value, at = arguments[at], at + 1
            found[name[2:]] = value
        elif not given.startswith("-"):
            found.setdefault("event", given)
    return found


def _answered(name: str, found: dict[str, str]) -> str:
    event = read_event(name, _input())
    if event is None or event.inner:
        return ""
    root = _root(found.get("root"), event)
    if not root:
        return ""
    os.environ[INSIDE] = "1"
    text = _Acting(event, root, found).act()
    return answer(name, text, found.get("host", USUAL))


def _input() -> bytes:
    """Standard input, as far as it is read; a host that leaves it open is not waited for."""
    data = b""
    if sys.stdin is None:
        return data
    while len(data) <= LARGEST:
        part = os.read(sys.stdin.fileno(), 1 << 16)
        if not part:
            break
        data += part
        if part.rstrip().endswith(b"}"):
            with suppress(ValueError):
                import json

                json.loads(data)
                break
    return data


def _root(named: str | None, event: Event) -> str:
    """The memory folder: the named one, that of MEMFAS_ROOT, or the one that the host works in; of
    these none that only has a folder `memory`, which may be a package of somebody's program.
    """
    place = named or os.environ.get("MEMFAS_ROOT")
    if place:
        real = os.path.realpath(os.path.expanduser(place))
        return real if has_any(real, (*MARKS, *OWN)) else ""
    if not os.path.isabs(event.cwd) or not os.path.isdir(event.cwd):
        return ""
    found = nearest(os.path.realpath(event.cwd), OWN)
    home = os.path.realpath(os.path.expanduser("~"))
    return os.path.realpath(found) if found and os.path.realpath(found) != home else ""


class _Acting:
    """One event in a memory folder."""

    def __init__(self, event: Event, root: str, found: dict[str, str]) -> None:
        from pathlib import Path

        from agent_memfas.store.layout import Folder

        self._event, self._root = event, root
        self._host = found.get("host", USUAL)
        self._agent = agent_of(found.get("agent"))
        self._folder = Folder(Path(root))

    def act(self) -> str:
        """Do what the event asks for; the text that the host is given."""
        acts = {START: self._start, PROMPT: self._prompt, COMPACT: self._compact,
                STOP: self._stop, END: self._end}  # fmt: skip
        return acts[self._event.name]()

    def _is_first(self, *what: str) -> bool:
        from agent_memfas.store import hooked

        key = "\0".join([self._event.name, self._event.session, self._event.turn, *what])
        return hooked.is_first(self._folder, key, time.time(), TWICE)

    def _settings(self) -> Settings:
        from agent_memfas import config

        return config.load_or_defaults(config.beside(self._folder.root))

    def _start(self) -> str:
        """What a session begins with; what it was given before it may be given again."""
        from agent_memfas.hooks.answer import MOST
        from agent_memfas.hooks.start import compose, gather

        settings = self._settings()
        if self._event.source in ("compact", "clear"):
            self._forget_given()
        if not settings.hooks.session_tokens or not self._is_first():
            return ""
        rights = settings.rights.of(self._agent)
        now = now_in(settings.timezone)
        pieces = gather(self._folder, now.date(), settings.terms, rights)
        most = MOST.get(self._host, MOST[USUAL]) - 200
        text, given = compose(pieces, settings.hooks.session_tokens, most, os.urandom(8).hex())
        self._note_given(given)
        return text

    def _prompt(self) -> str:
        """Triggers, and what has to do with the prompt; nothing that the session was given."""
        if not self._event.prompt.strip() or not self._is_first(self._event.prompt):
            return ""
        brief, _ = brief_of(self._root, None)
        return _Relevant(self._root, brief, self._agent, self._event).text()

    def _compact(self) -> str:
        """Save first: SESSION-STATE.md from the transcript, and a line in the log."""
        settings = self._settings()
        if self._is_first():
            with suppress(MemfasError):
                self._keep_state(settings)
            trigger = self._event.trigger or "auto"
            self._log(settings, f"The context window is compacted ({trigger})")
        self._forget_given()
        return ""

    def _stop(self) -> str:
        """The turn's exchange goes to the day's log."""
        settings = self._settings()
        if settings.hooks.capture and not self._event.again:
            self._capture(settings)
        return ""

    def _end(self) -> str:
        """What no Stop has seen: the last exchange of a session that was broken off."""
        settings = self._settings()
        if settings.hooks.capture:
            self._capture(settings)
        from agent_memfas.store import hooked

        hooked.forget(self._folder, time.time())
        return ""

    def _capture(self, settings: Settings) -> None:
        from agent_memfas.hooks.capture import last_exchange
        from agent_memfas.store import hooked

        exchange = last_exchange(self._event.transcript, self._event.said)
        if not exchange.line:
            return
        event, now = self._event, time.time()
        asked = f"asked\0{event.session}\0{exchange.asked}"
        if event.name == END:  # it does not always say which turn was the last
            new = hooked.is_first(self._folder, asked, now, DAY)
        else:
            turn = f"turn\0{event.turn}" if event.turn else f"{asked}\0{exchange.answered}"
            new = hooked.is_first(self._folder, turn, now, DAY if event.turn else AGAIN)
            hooked.is_first(self._folder, asked, now, 0.0)
        if new:
            self._log(settings, exchange.line)

    def _log(self, settings: Settings, text: str) -> None:
        """A line of today's log, signed by the host where no agent is named: no agent of this
        memory then, and under nobody's rules.
        """
        from agent_memfas.store.passes import Pass
        from agent_memfas.tasks import notes
        from agent_memfas.text.rights import Rights

        rights = settings.rights.of(self._agent) if self._agent else Rights(self._host)
        run = Pass(f"hook {self._event.name}", now_in(settings.timezone), wall=time.time())
        with suppress(MemfasError):
            notes.log(self._folder, text, run, rights)

    def _keep_state(self, settings: Settings) -> None:
        from agent_memfas.hooks.capture import TAIL
        from agent_memfas.store.passes import Pass
        from agent_memfas.store.places import tail
        from agent_memfas.tasks import session_state
        from agent_memfas.text.messages import read_message
        from agent_memfas.text.session_state import state_of
        from agent_memfas.text.transcripts import read_transcript

        data = tail(self._event.transcript, 4 * TAIL)
        if not data.strip():
            return
        messages = [read_message(one) for one in read_transcript(data).messages]
        if messages:
            run = Pass("hook PreCompact", now_in(settings.timezone), wall=time.time())
            session_state.update(self._folder, state_of(messages), run)

    def _note_given(self, lines: list[tuple[str, str]]) -> None:
        """What the prompts of this session need not be given again: (path, line)."""
        from agent_memfas.index.rows import seal
        from agent_memfas.store import sessions

        session = self._event.session
        new = [seal(*line) for line in lines]
        with suppress(MemfasError):
            known = sessions.load(self._folder, session)
            sessions.save(self._folder, session, [*known, *new], time.time())

    def _forget_given(self) -> None:
        from agent_memfas.store import sessions, turns

        with suppress(MemfasError):
            sessions.forget(self._folder, self._event.session)
            turns.empty(self._folder, self._event.session)


class _Relevant:
    """What of a memory has to do with a prompt."""

    def __init__(self, root: str, brief: Brief, agent: str, event: Event) -> None:
        self._root, self._brief, self._agent, self._event = root, brief, agent, event

    def text(self) -> str:
        from pathlib import Path

        from agent_memfas.cli.asking import seals
        from agent_memfas.store import sessions
        from agent_memfas.store.layout import Folder
        from agent_memfas.text import context
        from agent_memfas.text.recalled import frame
        from agent_memfas.text.tokens import estimate

        tokens = self._brief.prompt_tokens
        if not tokens:
            return ""
        folder, session = Folder(Path(self._root)), self._event.session
        given = sessions.load(folder, session)
        answer = self._asked(frozenset(given))
        hits = self._near([hit for hit in answer.hits if not _stands_in(hit, frozenset(given))])
        mark = os.urandom(8).hex()
        title = f"{context.TITLE} ({frame(mark)})"
        blocks = [b for b in context.blocks_of(answer)
                  if b.item in hits or not (
                      b.section == context.RELATED
                      or (b.section == context.ALWAYS and _stands_in(b.item, frozenset(given)))
                  )]  # fmt: skip
        kept, _ = context.fitting(
            blocks, tokens, lambda found: context.composed(found, title, mark), estimate, FEW
        )
        if not kept:
            return ""
        new = [number for block in kept for number in seals(block)]
        with suppress(MemfasError):
            sessions.save(folder, session, [*given, *new], time.time())
        return context.composed(kept, title, mark)

    def _asked(self, given: frozenset[int]) -> Any:
        from agent_memfas.cli.asking import filters_of
        from agent_memfas.tasks import recall
        from agent_memfas.text.rights import Rights

        brief = self._brief
        keeper = keeper_for(self._root, brief)
        hidden = Rights(self._agent, private=brief.private).hidden
        filters = filters_of(brief, limit=POOL, given=given, hidden=hidden)
        now = now_of(brief.zone, None)
        question = self._event.prompt[:4000]
        try:
            return recall.ask(keeper, question, filters, now.date(), time.time_ns(), 0.2)
        finally:
            keeper.close()

    def _near(self, hits: list[Any]) -> list[Any]:
        """The hits that say something of the prompt; none where words alone were looked for, and no
        memory has more than one of them.
        """
        from agent_memfas.text.valuing import similarity
        from agent_memfas.text.words import query_terms, terms

        asked = query_terms(self._event.prompt[:4000])
        near = [hit for hit in hits if similarity(hit.score, len(asked)) >= LEAST]
        near = [hit for hit in near if "superseded" not in hit.labels][:FEW]
        most = max((len({*asked}.intersection(terms(hit.text))) for hit in near), default=0)
        by_words = not any("meaning" in (hit.features or {}) for hit in near)
        return [] if by_words and most < min(SHARED, len(asked)) else near


def _stands_in(item: Any, given: frozenset[int]) -> bool:
    """Whether the start of the session gave all lines of a hit or of a file."""
    from agent_memfas.hooks.start import telling
    from agent_memfas.index.rows import seal

    return all(seal(item.path, line) in given for _, line in telling(item.text.split("\n")))
