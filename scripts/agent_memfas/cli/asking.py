"""`memfas recall`: what runs where a fresh index answers, and nothing that is not needed then."""

from __future__ import annotations

import os
import sys
import time

from agent_memfas.cli import out
from agent_memfas.cli.brief import Brief, agent_of, brief_of, keeper_for, now_of, root_of
from agent_memfas.cli.options import (
    AGENT,
    CONFIG,
    FLAG,
    JSON,
    LIST,
    NUMBER,
    ROOT,
    TEXT,
    TODAY,
    Option,
    Table,
)  # fmt: skip
from agent_memfas.errors import MemfasError, UsageError
from agent_memfas.index.keeper import Keeper
from agent_memfas.index.rows import seal
from agent_memfas.index.tiers import AUTO, TIERS, tier_of
from agent_memfas.tasks import recall as recalling
from agent_memfas.text import context
from agent_memfas.text.answers import answer_data, hit_data
from agent_memfas.text.days import parse_day
from agent_memfas.text.recalled import frame
from agent_memfas.text.rights import Rights
from agent_memfas.text.tokens import estimate

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

KINDS = ("memory", "insights", "lessons", "shared", "long-term")
WIDER = 4  # times the limit is looked through, where only what fits into a budget is taken
FULL = 60  # hits that are looked through for a budget without a limit
CUT = 200  # characters of a hit that `search` shows
WORDS = "question"
TABLE = Table(
    WORDS,
    "QUESTION...",
    "In your own words; `-` reads standard input.",
    (
        Option("limit", ("--limit", "-n"), NUMBER,
               "How many hits, 1 to 1000 (default 5; with a budget, what fits).", "N"),
        Option("since", ("--since",), TEXT, "Only what is dated on this day or later.", "DAY"),
        Option("until", ("--until",), TEXT, "Only what is dated on this day or earlier.", "DAY"),
        Option("kinds", ("--in",), LIST, f"Only in these: {', '.join(KINDS)}.", "KIND"),
        Option("archive", ("--archive",), FLAG, "Search the archive too."),
        Option("cold", ("--cold",), FLAG, "Search what left a context window too."),
        Option("no_index", ("--no-index",), FLAG, "Search the files themselves."),
        Option("budget", ("--budget",), NUMBER, "At most so many tokens of answer.", "TOKENS"),
        Option("tier", ("--tier",), TEXT,
               "Read no deeper than l0, l1 or l2; auto: L2 only where L0 and L1 are weak.", "TIER"),
        Option("session", ("--session",), TEXT,
               "Leave out what this session was given before.", "ID"),
        Option("within", ("--within",), NUMBER,
               "Milliseconds for reading what has changed, 0 for no limit (default 200).", "MS"),
        AGENT, ROOT, CONFIG, TODAY, JSON,
    ),
)  # fmt: skip


SEARCH = Table(
    WORDS, "QUERY...", "Words to look for; `-` reads standard input.",
    (
        *(option for option in TABLE.options if option.name not in ("budget", "session", "tier")),
        Option("explain", ("--explain",), FLAG, "Say what each feature has given to the score."),
    ),
)  # fmt: skip


def recall(values: dict[str, Any]) -> int:
    """Find the lines that answer a question, with file and line; triggers in it come first."""
    asked = Asked(values)
    answer = asked.answer(always=True)
    mark = os.urandom(8).hex()
    title = f"{context.TITLE} ({frame(mark)})"

    def compose(blocks: list[context.Block]) -> str:
        return context.composed(blocks, title, mark)

    kept, over = _blocks(answer), list[context.Block]()
    if values["budget"] is not None:
        most = values["limit"] or context.LARGEST
        kept, over = context.fitting(kept, values["budget"], compose, _cost, most)
        answer = _only(answer, kept)
    left = {
        name: sum(block.section == section for block in over)
        for name, section in (("hits", context.RELATED), ("triggers", context.TRIGGERED))
    }
    left |= {"given": answer.repeated, "faint": answer.faint, "apart": answer.apart}
    asked.remember(kept)
    if values["json"]:
        tokens = _cost(compose(kept))
        data = {**answer_data(answer, asked.now), "tiers": _tiers(answer, kept)}
        out.data({**data, "tokens": tokens, "left_out": left})
    else:
        if kept:
            out.text(compose(kept))
        else:
            _print_nothing(answer, left)
        _tell(answer)
        _tell_left(left, values["budget"])
        _tell_tiers(_tiers(answer, kept))
    return 0 if kept else 1


def _tiers(answer: recalling.Answer, kept: list[context.Block]) -> list[dict[str, Any]]:
    """What each tier that was read has given to the answer; what is no hit is L0."""
    read: list[dict[str, Any]] = [{"tier": t, "hits": 0, "tokens": 0} for t in answer.tiers]
    for block in kept if read else ():
        is_hit = block.section == context.RELATED
        tier = read[tier_of(block.item.path, block.item.kind) if is_hit else 0]
        tier["hits"] += is_hit
        tier["tokens"] += _cost(block.text)
    return read


def _tell_tiers(tiers: list[dict[str, Any]]) -> None:
    if tiers:
        told = (f"{t['tier']} {out.count(t['hits'], 'hit')}, {t['tokens']} tokens" for t in tiers)
        out.tell(f"tiers read: {'; '.join(told)}")


def _cost(text: str) -> int:
    """Tokens of a text as it is printed, with the end of its last line."""
    return estimate(f"{text}\n") if text else 0


def search(values: dict[str, Any]) -> int:
    """Find the passages that share words with a query, best first; no triggers."""
    asked = Asked(values)
    answer = asked.answer()
    if values["json"]:
        data = {**answer_data(answer, asked.now), "triggers": []}
        if values["explain"]:
            shares = [{**hit_data(hit), "features": _features(hit)} for hit in answer.hits]
            data["hits"] = shares
        out.data(data)
    elif answer.hits:
        for hit in answer.hits:
            text = " ".join(hit.text.split())
            more = "..." if len(text) > CUT else ""
            lines = context.span(hit.start_line, hit.end_line)
            out.say(f"[{hit.path}:{lines}] (score: {hit.score:.2f})")
            out.say(f"  {text[:CUT]}{more}")
            if hit.also:
                out.say(f"  ({context.also(hit)})")
            if values["explain"]:
                parts = (f"{name} {share:+.2f}" for name, share in _features(hit).items())
                out.say(f"  = {' '.join(parts)}")
            out.say()
        _tell(answer)
    else:
        out.say("No results found.")
        _tell_why_nothing(answer)
        _tell(answer)
    return 0 if answer.hits else 1


def _features(hit: recalling.Hit) -> dict[str, float]:
    """What each feature has given, the largest first."""
    parts = sorted((hit.features or {}).items(), key=lambda part: -abs(part[1]))
    return {name: round(share, 4) for name, share in parts}


class Asked:
    """What the command line asks: where, when and how."""

    def __init__(self, values: dict[str, Any]) -> None:
        self._values = values
        self._question = words(values[WORDS])
        self._root = root_of(values["root"], values["config"])
        self._settings, problem = brief_of(self._root, values["config"])
        if problem:
            out.tell(problem)
        self.now = now_of(self._settings.zone, values["today"])
        self._given: list[int] = []

    def answer(self, *, always: bool = False) -> recalling.Answer:
        """The answer. always: with the files that are always loaded."""
        values, settings, root = self._values, self._settings, self._root
        if values.get("session"):
            self._given = _sessions().load(_folder(root), values["session"])
        loaded = settings.always if always else ()
        filters = _filters(settings, values, frozenset(self._given), loaded, self._hidden())
        keeper = keeper_for(
            root, settings, use_index=not values["no_index"], tell=out.progress("reading"),
            make=self._maker(),
        )  # fmt: skip
        within = settings.budget if values["within"] is None else values["within"]
        try:
            answer = recalling.ask(
                keeper, self._question, filters, self.now.date(), time.time_ns(),
                within / 1000 if within else None,
            )  # fmt: skip
        finally:
            keeper.close()
        if values["cold"]:
            from agent_memfas.cli.colder import with_cold

            return with_cold(answer, filters, root, settings.file, self.now)
        return answer

    def _hidden(self) -> tuple[str, ...]:
        return Rights(agent_of(self._values["agent"]), private=self._settings.private).hidden

    def _maker(self) -> Callable[..., Keeper]:
        if self._settings.backend == "fts5":
            return Keeper
        from agent_memfas.cli.ranking import keeper_maker

        return keeper_maker(self._settings)

    def remember(self, kept: list[context.Block]) -> None:
        """Note what the session has been given."""
        if not self._values.get("session") or not kept:
            return
        new = [number for block in kept for number in seals(block)]
        try:
            _sessions().save(
                _folder(self._root), self._values.get("session"), [*self._given, *new], time.time()
            )
        except MemfasError as error:
            out.tell(f"{error.message}: this session may be given the same again")


def _sessions() -> Any:
    from agent_memfas.store import sessions

    return sessions


def _folder(root: str) -> Any:
    from pathlib import Path

    from agent_memfas.store.layout import Folder

    return Folder(Path(root))


def seals(block: context.Block) -> tuple[int, ...]:
    """What a block is known by: a hit by its doubles, too."""
    item = block.item
    if block.section == context.RELATED:
        return tuple(item.seals)
    if block.section == context.TRIGGERED:
        return (seal(item.path, item.keyword, item.hint),)
    return (seal(item.path, item.text),)


def _blocks(answer: recalling.Answer) -> list[context.Block]:
    """The pieces of an answer, in order, with nothing in them that a terminal would obey."""
    return [context.Block(b.section, "\n".join(map(out.shown, b.text.split("\n"))), b.item)
            for b in context.blocks_of(answer)]  # fmt: skip


def _only(answer: recalling.Answer, kept: list[context.Block]) -> recalling.Answer:
    """The answer with nothing but what is kept."""
    items = [id(block.item) for block in kept]
    pairs = [
        pair for pair in zip(answer.triggers, answer.quotes, strict=True) if id(pair[0]) in items
    ]
    return recalling.Answer(**{
        **vars(answer),
        "hits": tuple(h for h in answer.hits if id(h) in items),
        "triggers": tuple(t for t, _ in pairs), "quotes": tuple(q for _, q in pairs),
        "always": tuple(q for q in answer.always if id(q) in items),
    })  # fmt: skip


def words(text: list[str]) -> str:
    """The words of an argument list, or standard input for a single `-`."""
    if text != ["-"]:
        return os.fsencode(" ".join(text)).decode("utf-8", "replace")
    if sys.stdin is None or sys.stdin.closed:
        raise UsageError("standard input is closed")
    return sys.stdin.buffer.read().decode("utf-8", "replace")


def _filters(
    settings: Brief, values: dict[str, Any], given: frozenset[int], always: tuple[str, ...],
    hidden: tuple[str, ...],
) -> recalling.Filters:  # fmt: skip
    limit, kinds = values["limit"], values["kinds"] or []
    if limit is not None and not 1 <= limit <= context.LARGEST:
        raise UsageError(f"--limit {limit}: must be from 1 to {context.LARGEST}")
    for option in ("budget", "within"):
        if (values.get(option) or 0) < 0:
            raise UsageError(f"--{option} {values[option]}: must be a number from 0")
    tier = values.get("tier")
    if tier is not None and tier not in (*TIERS, AUTO):
        raise UsageError(f"--tier {tier}: no such tier", f"one of {', '.join((*TIERS, AUTO))}")
    for kind in kinds:
        if kind not in KINDS:
            raise UsageError(f"--in {kind}: no such kind", f"one of {', '.join(KINDS)}")
    for option in ("since", "until"):
        day = values[option]
        if day is not None and parse_day(day) is None:
            raise UsageError(f"--{option} {day}: not a day of the form YYYY-MM-DD")
    if values.get("budget") is not None:
        limit = FULL if limit is None else min(WIDER * limit, context.LARGEST)
    return filters_of(
        settings,
        limit=settings.limit if limit is None else limit,
        since=values["since"] or "",
        until=values["until"] or "",
        kinds=(*kinds, "archive") if kinds and values["archive"] else tuple(kinds),
        archive=values["archive"],
        given=given,
        always=always,
        tier=tier or "",
        hidden=hidden,
    )


def filters_of(settings: Brief, **more: Any) -> recalling.Filters:
    """What may answer by the settings, and by more."""
    return recalling.Filters(
        min_score=settings.min_score, p1=settings.p1, p2=settings.p2,
        recency_weight=settings.recency_weight, **more,
    )  # fmt: skip


def _print_nothing(answer: recalling.Answer, left: dict[str, int]) -> None:
    fits = not any(left[name] for name in ("hits", "triggers", "given"))
    out.say("No memories found." if fits else "No memories that are new and fit.")
    if fits:
        _tell_why_nothing(answer)


def _tell_why_nothing(answer: recalling.Answer) -> None:
    if not answer.query.strip():
        out.tell("the question is empty")
    if answer.faint:
        found = out.count(answer.faint, "passage")
        out.tell(f"{found} with words of the question, under search.min_score of memfas.yaml")
    if answer.apart:
        found = out.count(answer.apart, "passage")
        out.tell(f"{found} with words of the question, of other kinds or days than asked for")
    if answer.query.strip() and not (answer.faint or answer.apart):
        files = out.count(answer.freshness.indexed, "file")
        out.tell(f"nothing in {files} has a word of the question (common words aside)")


def _tell_left(left: dict[str, int], budget: int | None) -> None:
    """What is not in the answer although it was found, and why."""
    parts = [out.count(left[key], key[:-1]) for key in ("triggers", "hits") if left[key]]
    if parts:
        out.tell(f"left out, for they do not fit into {budget} tokens: {', '.join(parts)}")
    if left["given"]:
        out.tell(f"left out, for this session was given them before: {left['given']}")


def _tell(answer: recalling.Answer) -> None:
    """What is to be known of the answer, beside it."""
    state = answer.freshness
    for note in state.notes:
        out.tell(note if state.fresh else f"not fresh: {note}")
    for skipped in state.skipped:
        out.tell(f"{skipped.path}: {skipped.reason}")
    for quote in (quote for quotes in answer.quotes for quote in quotes if not quote.text):
        place = f"{quote.path}:{quote.start_line}" if quote.start_line else quote.path
        out.tell(f"{place}: a trigger links it, and it is not there")
