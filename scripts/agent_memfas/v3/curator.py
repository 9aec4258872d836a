"""The curator: for each turn of a conversation, the context that is worth its tokens."""

from __future__ import annotations

import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from agent_memfas.config.family import Config
from agent_memfas.embedders.base import Embedder
from agent_memfas.errors import FileFault, TryAgain, UsageError
from agent_memfas.index.rows import Freshness
from agent_memfas.memory import Memory
from agent_memfas.memory.opening import Opening
from agent_memfas.remote.counting import counter
from agent_memfas.store import turns as sessions
from agent_memfas.store.turns import Turn
from agent_memfas.tasks import curation
from agent_memfas.tasks.curation import Curation, Wish
from agent_memfas.tasks.recall import Answer, Hit
from agent_memfas.text.choosing import choose_level
from agent_memfas.text.counting import Counter
from agent_memfas.text.turns import GENERAL, entities
from agent_memfas.text.valuing import Weights, similarity
from agent_memfas.text.words import query_terms
from agent_memfas.v3.levels import AUTO, LevelPreset, get_preset, resolve_level
from agent_memfas.v3.response import ContextResponse
from agent_memfas.v3.session import SessionState
from agent_memfas.v3.telemetry import TurnMetrics, logger_of
from agent_memfas.v3.topic import Topic, TopicDetector

POOL, MOST = 60, 1000  # hits that are looked for at a level; for the largest budget
# A level looks at the best, PART for each that it may give: what is new is chosen among what is
# near, else it crowds out answers (LoCoMo, balanced: 62 % of the evidence, not 70 %).
FEWEST, PART = 20, 2
SHORT = 20  # tokens: of memories so short an own budget must not run out
LEAST_BUDGET = 100
SESSION = "default"  # of whoever names none; such a one is given again what it was given before
TOP, SNIPPET = 5, 100


class ContextCurator:
    """Gives each turn the memories that matter, within a budget of tokens.

    config_path: a memfas.yaml or a memory folder. level: 1 to 5, a name, `auto`, or None for
    balanced. token_budget: tokens of a context, 0 or more, whatever the level; None for the
    level's. telemetry_path: a file, None for `.memfas/telemetry.jsonl`. embedder: ranks by meaning,
    too; none is needed, and without one nothing is asked over a network. count: tokens of a text;
    None: tiktoken where its vocabulary is on disk, else an estimate. agent: who asks, as in Memory.
    ConfigError, UsageError where any of these makes no sense.
    """

    def __init__(
        self,
        config_path: str | Path | Config | Opening | None = None,
        level: int | str | None = None,
        token_budget: int | None = None,
        telemetry_path: str | Path | None = None,
        embedder: Embedder | None = None,
        *,
        count: Counter | None = None,
        agent: str | None = None,
    ) -> None:
        self._level = _level(level)
        self._budget = None if token_budget is None else _budget(token_budget)
        both = "hybrid" if embedder is not None else None
        self._memory = Memory(config_path, both, embedder, agent=agent)
        self._embedder = embedder
        self._count = count or counter()
        self._base = Weights()
        self._logger = logger_of(self._memory.folder, self._memory.settings, telemetry_path)
        self._detectors: dict[str, TopicDetector] = {}
        self.last: Curation | None = None  # the account of the last turn
        self.freshness: Freshness | None = None  # what it rests on
        self.notes: list[str] = []  # what went another way than usual in it

    def get_context(
        self,
        query: str,
        session_id: str = SESSION,
        baseline_tokens: int = 0,
        include_triggers: bool = True,
        recent_history: Sequence[str] | None = None,
        level: int | str | None = None,
        *,
        resend: bool | None = None,
    ) -> ContextResponse:
        """The context for a turn.

        session_id: any text; sessions live in files under `.memfas/curation`. baseline_tokens: what
        would be sent without the curator. recent_history: the messages before this one; None: those
        that the session knows. level: for this turn only. resend: whether memories that the session
        was given before may come again; None: in the session `default`, not in one with a name.
        """
        began = time.perf_counter()
        stored = sessions.load(self._memory.folder, session_id)
        self.notes = [stored.note] if stored.note else []
        again = session_id == SESSION if resend is None else resend
        held = frozenset() if again else stored.held
        most = max(POOL, (self._budget or 0) // SHORT)
        pool = min(most + len(held), MOST)
        answer = self._memory.answer(query, pool)
        known = {trigger.keyword.casefold() for trigger in answer.triggers}
        state = SessionState(session_id, stored, known)
        topic, moved = self._topic(state, query, recent_history)
        if (asked := _asked(query, topic, moved, state)) != query:
            answer = self._memory.answer(asked, pool)
        hits, self.freshness = answer.hits, answer.freshness
        wanted = self._level if level is None else level
        length = len(query_terms(query))
        near = [similarity(hit.score, length) for hit in hits]
        preset, why = self._preset(wanted, query, near)
        accesses = state.accessed_memories
        if self._budget is None:
            hits = _nearest(hits, held, max(FEWEST, PART * preset.max_results))
        budget = self._budget if self._budget is not None else preset.token_budget
        wish = Wish(
            query, self._memory.now.date(), budget, preset.min_score,
            preset.max_results if self._budget is None else pool,
            self._base.with_recency(preset.recency_weight),
            topic.name if topic.name != GENERAL else "", accesses, accesses,
            held, self._budget is not None, self._count,
        )  # fmt: skip
        hints = _hints(answer) if include_triggers else []
        self.last = found = curation.curate(hits, hints, wish)
        turn = state.on_turn(query, topic, [kept.memory.id for kept in found.kept], moved)
        self._keep(state, turn, found, tell=not again)
        response = _response(found, preset, budget, topic, moved, max(0, baseline_tokens), why)
        response.latency_ms = 1000 * (time.perf_counter() - began)
        self._log(state, query, found, wish, response)
        return response

    def _topic(
        self, state: SessionState, query: str, history: Sequence[str] | None
    ) -> tuple[Topic, bool]:
        detector = TopicDetector(self._embedder, known=state.known)
        detector.resume(state.stored.said, state.stored.topic)
        topic = detector.detect(query, history)
        return topic, detector.detect_shift()

    def _preset(
        self, level: int | str, query: str, found: Sequence[float]
    ) -> tuple[LevelPreset, str]:
        if _level(level) == AUTO:
            choice = choose_level(query, sorted(found, reverse=True))
            return get_preset(choice.level), choice.why
        return get_preset(level), ""

    def _keep(self, state: SessionState, turn: Turn, found: Curation, *, tell: bool) -> None:
        """Note the turn in the session's file; where that cannot be, the next turn knows less."""
        given = [kept.memory.id for kept in found.kept]
        names = sorted(entities(turn.message, state.known))
        try:
            sessions.save(self._memory.folder, state.session_id, turn, given, names)
        except (FileFault, TryAgain) as error:
            if tell:
                self.notes.append(f"{error.message}: this session may be given the same again")

    def _log(
        self, state: SessionState, query: str, found: Curation, wish: Wish,
        response: ContextResponse,
    ) -> None:  # fmt: skip
        weights = wish.weights
        self._logger.log_turn(TurnMetrics(
            timestamp=self._memory.now.isoformat(), session_id=state.session_id,
            turn_number=state.turn_count, query=query, query_tokens=self._count(query),
            detected_topic=response.topic, topic_shifted=response.topic_shifted,
            baseline_context_tokens=response.baseline_tokens,
            curated_context_tokens=response.tokens_used, memories_scored=len(found.rated),
            memories_included=response.memories_included,
            memories_dropped=response.memories_dropped,
            memories_filtered=response.memories_filtered,
            triggers_matched=response.triggers_matched, tokens_saved=response.tokens_saved,
            latency_ms=response.latency_ms, curation_level=response.curation_level,
            curation_level_name=response.curation_level_name, min_score_threshold=wish.least,
            top_memories=[
                {"id": kept.memory.id, "score": round(kept.memory.worth.value, 4),
                 "source": kept.memory.source, "snippet": kept.text[:SNIPPET]}
                for kept in found.kept[:TOP]
            ],
            score_weights={"semantic": weights.semantic, "recency": weights.recency,
                           "access": weights.access, "topic": weights.topic},
        ))  # fmt: skip

    def end_session(self, session_id: str = SESSION) -> Any:
        """Write the summary of a session into the telemetry and forget the session. Returns the
        summary (SessionMetrics), or None where this object has seen no turn of it.
        """
        metrics = self._logger.log_session_end(session_id)
        with suppress(FileFault, TryAgain):
            sessions.forget(self._memory.folder, session_id)
        return metrics

    def on_compaction(self, session_id: str = SESSION) -> None:
        """The window of a session was compacted: what it was given may be given again. FileFault,
        TryAgain.
        """
        sessions.empty(self._memory.folder, session_id)

    def get_session_stats(self, session_id: str = SESSION) -> dict[str, Any]:
        """The figures of a session, see `SessionState.get_stats`."""
        stored = sessions.load(self._memory.folder, session_id)
        return SessionState(session_id, stored).get_stats()

    def get_telemetry_summary(self, **filters: Any) -> dict[str, Any]:
        """See `TelemetryLogger.get_summary`."""
        return self._logger.get_summary(**filters)

    def format_telemetry_summary(self, **filters: Any) -> str:
        """The same as the command line shows it."""
        return self._logger.format_summary(**filters)

    def set_budget(self, budget: int) -> None:
        """Tokens of every context from now on, whatever the level; at least 100."""
        self._budget = max(LEAST_BUDGET, _budget(budget))

    def get_level(self) -> int:
        """The level, 1 to 5; of `auto` the one that holds where no question is there."""
        return resolve_level(self._level)

    def set_level(self, level: int | str) -> None:
        """Another level from now on. UsageError where there is no such level."""
        self._level = _level(level)

    def get_level_info(self) -> dict[str, Any]:
        """The level with what it stands for."""
        preset = get_preset(self._level)
        return {
            "level": preset.level, "name": preset.name, "description": preset.description,
            "token_budget": preset.token_budget if self._budget is None else self._budget,
            "min_score": preset.min_score, "max_results": preset.max_results,
            "recency_weight": preset.recency_weight,
        }  # fmt: skip

    def set_scorer_weights(
        self, semantic: float, recency: float, access: float, topic: float
    ) -> None:
        """Other base weights, 0 or more; a level replaces that of recency, then all are scaled to
        the sum of 1.
        """
        for weight in (semantic, recency, access, topic):
            if not 0 <= weight < float("inf"):
                raise UsageError(f"weight {weight!r}: not a number from 0")
        self._base = Weights(semantic, recency, access, topic).normalised()

    def invalidate_cache(self) -> None:
        """Let go of the index; the next turn opens it anew. Never needed: each turn looks at the
        files first.
        """
        self._memory.let_go()

    def close(self) -> None:
        """Let go of the index and the embedder's connections."""
        self._memory.close()

    def __enter__(self) -> ContextCurator:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _level(level: int | str | None) -> int | str:
    """AUTO, or 1 to 5. UsageError where there is no such level."""
    if isinstance(level, str) and level.strip().lower() == AUTO:
        return AUTO
    return resolve_level(level)


def _budget(budget: int) -> int:
    """UsageError for what is no number of tokens."""
    if type(budget) is not int or budget < 0:
        raise UsageError(f"token_budget {budget!r}: not a number of tokens", "0 or more")
    return budget


def _hints(answer: Answer) -> list[tuple[str, str]]:
    """Keyword and hint of each trigger in the question, with the lines that it links."""
    return [
        (trigger.keyword, " ".join([trigger.hint, *(
            f"({quote.path}:{quote.start_line}: {quote.text.strip().removeprefix('- ')})"
            for quote in quotes if quote.text
        )]).strip())
        for trigger, quotes in zip(answer.triggers, answer.quotes, strict=True)
    ]  # fmt: skip


def _asked(query: str, topic: Topic, moved: bool, state: SessionState) -> str:
    """What is searched for: a follow-up without words of its own brings its topic along."""
    if moved or not state.turn_count or topic.name == GENERAL or not query.strip():
        return query
    return query if topic.name in query.casefold() else f"{query} {topic.name}"


def _nearest(hits: Sequence[Hit], given: frozenset[str], most: int) -> tuple[Hit, ...]:
    """The best hits, so many of them such as the session was not given."""
    new = [n for n, hit in enumerate(hits) if given.isdisjoint(curation.ids_of(hit))]
    return tuple(hits[: new[most] if len(new) > most else len(hits)])


def _response(
    found: Curation, preset: LevelPreset, budget: int, topic: Topic, moved: bool, baseline: int,
    why: str,
) -> ContextResponse:  # fmt: skip
    saved = max(0, baseline - found.tokens)
    return ContextResponse(
        found.text, found.tokens, budget, len(found.kept), len(found.dropped),
        len(found.filtered), found.triggers, topic.name, moved, baseline, saved,
        saved / baseline if baseline else 0.0, 0.0, preset.level, preset.name,
        [
            {"id": one.id, "score": round(one.worth.value, 4), "source": one.source}
            for one in found.rated[:TOP]
        ],
        why,
    )  # fmt: skip
