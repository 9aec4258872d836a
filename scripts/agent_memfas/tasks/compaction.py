"""Compaction: which messages of a context stay, which become shorter, which leave it.

Nothing is written here. The caller stores `Compaction.blocks` first and only then gives the agent
`Compaction.messages`.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from agent_memfas.index.chunks import Said
from agent_memfas.text.cold import LOW_RELEVANCE, OVER_LIMIT, SHORTENED, ColdBlock
from agent_memfas.text.compacting import (
    DROP,
    FREE,
    NEAR,
    PINNED,
    SHORTEST,
    SUMMARIZE,
    Bounds,
    Chunk,
    Plan,
    plan,
    summary_target,
)
from agent_memfas.text.counting import Counter
from agent_memfas.text.importance import is_important
from agent_memfas.text.messages import NOTICE, SUMMARY, SYSTEM, USER, Message, read_message, spoken
from agent_memfas.text.pairs import groups, open_calls
from agent_memfas.text.reshape import alike, has_long_arguments, to_stored, with_text
from agent_memfas.text.topics import choose, spread, topics_of
from agent_memfas.text.traces import notice, number_in_notice, pointer, without_pointers
from agent_memfas.text.words import words

RECENT = 6  # groups of the exchange before the latest turn that count as near
EACH = 4  # tokens that a message costs beside what it says
IMAGE = 1600  # tokens of an image: what the largest that is not made smaller costs at Anthropic
TOPICS = 24  # tokens of topics in a notice
NOTICE_TOKENS = 80  # of all of it, about
POINTER = 24  # tokens of the line at the end of a summary

Scores = Callable[[Sequence[Said], str, Sequence[float], Sequence[bool]], Sequence[float]]
Summaries = Callable[[Sequence[str], str], Sequence[str]]


@dataclass(frozen=True)
class Wish:
    """What a compaction is to do. prompt: "" for the latest user turn. max_tokens: of the window.
    trigger, most: shares of it. scores: of chunks for a prompt, hours old, important or not.
    summaries: of texts for a prompt, each no longer than its text; None for none. count: tokens of
    a text; scale: what a token of ours is in the caller's count; total: tokens of the context by
    that count, with what is in no message, 0 where ours is the count. hours: how old each message
    is. pinned: positions that the caller pins. sources: what is in cold storage, by chunk id;
    lasting: whether such a chunk stays there as long as a new one would. known: ids of messages
    that are in cold storage already, by position. new_id: an id for a number.
    """

    prompt: str
    max_tokens: int
    trigger: float
    most: float
    cutoff: float
    keep: float
    floor: int
    target: int
    scores: Scores
    summaries: Summaries | None
    count: Counter
    hours: Sequence[float]
    now: datetime
    until: str
    session: str
    new_id: Callable[[int], str]
    place: str = "cold-storage/"
    scale: float = 1.0
    total: int = 0
    pinned: Collection[int] = ()
    sources: Callable[[str], ColdBlock | None] = lambda _: None
    lasting: Callable[[ColdBlock], bool] = lambda _: True
    known: Mapping[int, str] = field(default_factory=dict)
    storing: bool = True
    notice: bool = True


@dataclass(frozen=True)
class Compaction:
    """messages: the context afterwards; those that stay are the same objects. blocks: what has to
    be in cold storage before. dropped, shortened: positions in the context before. left: of each
    message afterwards its position before, None for the notice. tokens: before and after, of the
    messages. pinned: positions. over: whether what has to stay is more than the window may hold.
    """

    messages: list[object]
    blocks: tuple[ColdBlock, ...]
    dropped: tuple[int, ...]
    shortened: tuple[int, ...]
    left: tuple[int | None, ...]
    tokens: tuple[int, int]
    pinned: tuple[int, ...]
    scores: tuple[float, ...]
    over: bool = False


def tokens_of(message: Message, count: Counter) -> int:
    """Tokens of a message, with what a message costs besides."""
    return count(message.text) + (EACH if message.role else 0) + IMAGE * message.images


def standings(messages: Sequence[Message], prompt: str, pinned: Collection[int]) -> list[str]:
    """PINNED: system messages, the latest user turn, calls without a result, what the caller pins.
    NEAR: the exchange before that turn and what came after it, as far as it is recent. FREE: all
    others. Of bare strings the one that is the prompt is the latest turn, else the last.
    """
    latest, before = _turns(messages, prompt)
    recent = groups(messages)[-RECENT:]
    first = recent[0][0] if recent else 0
    unanswered = open_calls(messages)
    found = []
    for n, message in enumerate(messages):
        fixed = message.role in SYSTEM or message.pinned or n in pinned or n in unanswered
        if fixed or n == latest:
            found.append(PINNED)
        else:
            found.append(NEAR if n >= max(before, first) and message.kind != NOTICE else FREE)
    return found


def _turns(messages: Sequence[Message], prompt: str) -> tuple[int, int]:
    """Positions of the latest turn of the user, and of the one before."""
    turns = [n for n, message in enumerate(messages) if message.is_turn]
    if not turns:
        bare = [n for n, message in enumerate(messages) if not message.role]
        same = [n for n in bare if prompt and messages[n].text == prompt]
        latest = (same or bare or [len(messages) - 1])[-1]
        return latest, latest - 1
    return turns[-1], turns[-2] if len(turns) > 1 else turns[-1]


def compact(raw: Sequence[object], wish: Wish) -> Compaction:
    """The context, smaller. Order stays, calls and results stay together, and what is pinned is not
    touched: if that alone is too much, so is the result, and `over` says so.
    """
    return _Compacting(raw, wish).run()


class _Compacting:
    def __init__(self, raw: Sequence[object], wish: Wish) -> None:
        self._raw, self._wish = raw, wish
        self._read = [read_message(one) for one in raw]
        latest, _ = _turns(self._read, wish.prompt)
        text = self._read[latest].text if self._read else ""
        self._prompt = wish.prompt or text
        self._standings = standings(self._read, wish.prompt, wish.pinned)
        self._tokens = [self._size(message) for message in self._read]
        self._outside = max(0, wish.total - sum(self._tokens))
        self._scores = self._scored()
        self._short = dict[int, object | None]()  # what was made of messages; None: nothing shorter
        self._ids = dict[int, str]()

    def run(self) -> Compaction:
        """Plan with summaries as they are likely to be, make them, and plan once more with them as
        they are, until no more are needed.
        """
        found = self._planned()
        while missing := [n for n in self._to_shorten(found) if n not in self._short]:
            self._shorten(missing)
            found = self._planned()
        return self._result(found)

    def _size(self, message: Message) -> int:
        return round(tokens_of(message, self._wish.count) * self._wish.scale)

    def _scored(self) -> list[float]:
        said = [_said(n, message) for n, message in enumerate(self._read)]
        important = [is_important(message.text) for message in self._read]
        return list(self._wish.scores(said, self._prompt, self._wish.hours, important))

    def _planned(self) -> Plan:
        wish, window = self._wish, self._wish.max_tokens
        told = round(NOTICE_TOKENS * wish.scale) if self._with_notice else 0
        bounds = Bounds(
            wish.cutoff, wish.keep, wish.floor,
            max(0, int(wish.trigger * window) - told - self._outside),
            max(0, int(wish.most * window) - told - self._outside),
            wish.storing, wish.summaries is not None,
        )  # fmt: skip
        chunks = [
            Chunk(self._tokens[n], self._scores[n], self._short_size(n), self._standings[n])
            for n in range(len(self._read))
        ]
        return plan(chunks, groups(self._read), bounds)

    def _short_size(self, n: int) -> int:
        """Tokens of the summary of a message; all of its own where none makes sense."""
        if n in self._short:
            made = self._short[n]
            return self._tokens[n] if made is None else self._size(read_message(made))
        if not self._can_shorten(n):
            return self._tokens[n]
        own = summary_target(self._wish.count(self._read[n].text), self._wish.target)
        return min(self._tokens[n], round((own + POINTER + EACH) * self._wish.scale))

    def _can_shorten(self, n: int) -> bool:
        """Of a message with calls only what is long in their arguments, for the calls have to stay;
        no summary of which the source is gone; no items of the Responses API but results.
        """
        message = self._read[n]
        if self._wish.summaries is None or message.kind == NOTICE:
            return False
        if message.calls or message.item:
            if message.kind == SUMMARY or (message.item and not message.results):
                return False
            return bool(message.results) or has_long_arguments(self._raw[n])
        if message.kind == SUMMARY and self._wish.sources(message.source) is None:
            return False
        return _is_long(message.text)

    def _to_shorten(self, found: Plan) -> list[int]:
        return [
            n for n, action in enumerate(found.actions)
            if action == SUMMARIZE and self._can_shorten(n)
        ]  # fmt: skip

    def _shorten(self, numbers: Sequence[int]) -> None:
        """Make summaries; one that is no shorter with its pointer than the message counts as none.
        A summary is made of its source, never of a summary.
        """
        texts = {n: self._source(n) for n in numbers}
        long = [n for n in numbers if _is_long(texts[n])]
        assert self._wish.summaries is not None
        made = self._wish.summaries([texts[n] for n in long], self._prompt)
        texts.update(zip(long, made, strict=True))
        for n, text in texts.items():
            self._short[n] = None
            if text.strip() or self._read[n].calls:
                line = pointer(text, self._id(n) if self._wish.storing else "")
                short = with_text(self._raw[n], f"{text.rstrip()}\n{line}".lstrip("\n"))
                if self._size(read_message(short)) < self._tokens[n]:
                    self._short[n] = short

    def _source(self, n: int) -> str:
        """What a summary is to be made of."""
        message = self._read[n]
        if message.kind == SUMMARY and (known := self._wish.sources(message.source)) is not None:
            return known.text
        return spoken(self._raw[n]) if message.calls else message.text

    def _id(self, n: int) -> str:
        """The id of a message in cold storage: that of a summary's source, or its own."""
        if n not in self._ids:
            known = self._stored(n)
            self._ids[n] = known.chunk_id if known else self._wish.new_id(n)
        return self._ids[n]

    def _stored(self, n: int) -> ColdBlock | None:
        """What cold storage holds of a message for as long as it has to."""
        message = self._read[n]
        chunk_id = message.source if message.kind == SUMMARY else self._wish.known.get(n, "")
        block = self._wish.sources(chunk_id) if chunk_id else None
        return block if block is not None and self._wish.lasting(block) else None

    def _result(self, found: Plan) -> Compaction:
        dropped = [n for n, action in enumerate(found.actions) if action == DROP]
        shortened = [n for n in self._to_shorten(found) if self._short.get(n) is not None]
        told = [n for n in dropped if self._read[n].kind != NOTICE]
        blocks = tuple(
            self._block(n, self._reason(n, found, n in shortened))
            for n in sorted([*told, *shortened])
            if self._wish.storing and self._stored(n) is None
        )
        messages, left, changed = list[object](), list[int | None](), set(shortened)
        for n, raw in enumerate(self._raw):
            if found.actions[n] != DROP:
                messages.append(self._short[n] if n in changed else raw)
                left.append(n)
        self._add_notice(messages, left, told)
        after = sum(self._size(read_message(one)) for one in messages)
        limit = int(self._wish.most * self._wish.max_tokens) - self._outside
        pinned = tuple(n for n, one in enumerate(self._standings) if one == PINNED)
        return Compaction(
            messages, blocks, tuple(told), tuple(shortened), tuple(left),
            (sum(self._tokens), after), pinned, tuple(self._scores), after > limit,
        )  # fmt: skip

    @staticmethod
    def _reason(n: int, found: Plan, shortened: bool) -> str:
        if shortened:
            return SHORTENED
        return OVER_LIMIT if n in found.pressed else LOW_RELEVANCE

    def _block(self, n: int, reason: str) -> ColdBlock:
        """A message as a chunk; of a summary its source once more, where that is over too soon."""
        message = self._read[n]
        source = self._wish.sources(message.source) if message.kind == SUMMARY else None
        role, text, raw_json = to_stored(self._raw[n])
        if source is not None:
            role, text, raw_json = source.role, source.text, source.raw
        return ColdBlock(
            self._id(n), self._wish.session, role, text, raw_json, self._scores[n], self._prompt,
            self._wish.now.isoformat(), self._wish.until, self._tokens[n], reason,
            source.said if source else self._said_at(n),
        )  # fmt: skip

    def _said_at(self, n: int) -> str:
        """When a message was said, as far as that is known."""
        at = self._read[n].at or self._wish.now - timedelta(hours=self._wish.hours[n])
        return at.isoformat(timespec="seconds")

    def _add_notice(
        self, messages: list[object], left: list[int | None], dropped: Sequence[int]
    ) -> None:
        """Put one line where the oldest messages were; in place of the one that stands there."""
        notices = [n for n, one in enumerate(self._read) if one.kind == NOTICE]
        for at in reversed(range(len(left))):
            if left[at] in notices:
                del messages[at], left[at]
        total = len(dropped) + sum(number_in_notice(self._read[n].text) for n in notices)
        if not total or not self._with_notice:
            return
        first = min([*notices, *dropped])
        behind = (
            at for at, n in enumerate(left)
            if n is not None and n > first and self._read[n].role not in SYSTEM
        )  # fmt: skip
        at = next(behind, len(left))
        text = notice(total, self._wish.place, self._about(dropped))
        messages.insert(at, alike({"role": USER, "content": text}, self._raw))
        left.insert(at, None)

    @property
    def _with_notice(self) -> bool:
        """Whether a line may stand for what left: bare strings are chunks, and have no place."""
        told = self._wish.notice and self._wish.storing
        return told and any(message.role for message in self._read)

    def _about(self, dropped: Sequence[int]) -> list[str]:
        """What the messages that left were about, in a few words."""
        gone = topics_of(self._read[n].text for n in dropped)
        stay = topics_of(m.text for n, m in enumerate(self._read) if n not in set(dropped))
        return choose(gone, spread([stay]), 2, "", TOPICS)


def _said(n: int, message: Message) -> Said:
    """A message as it is ranked: those of a conversation stand beside each other, bare strings each
    by itself.
    """
    day = message.at.date().isoformat() if message.at else ""
    place = "context" if message.role else str(n)
    return Said(without_pointers(message.text), message.role, day, place)


def _is_long(text: str) -> bool:
    """Whether a text is worth a summary."""
    return len(text) > 4 * SHORTEST and len(words(text)) >= SHORTEST
