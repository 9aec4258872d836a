r"""What is left of the evidence when a conversation is compacted? `ContextManager` at work.

Each conversation of `--data DIR` is played turn by turn, the first speaker as the user, each turn
under its speaker's name, at the times that it was held (so chunks are kept for ten years, not for
30 days); before each answer the manager looks at the context. The window is half of the
conversation (`--times 2`). The questions are asked at the end. Every turn that is evidence counts:

- kept: it stands in the context as it was;
- summary: a summary of it is there that holds 60 % of the answer's words that the turn has (of
  the turn's own rarer words, where the answer has none of them);
- recover: among the five that `recover(question)` gives;
- any: one of these. last N: it is among the last messages that cost as many tokens as the context.

    python -m tests.benchmarks.compaction --data DIR
    python -m tests.benchmarks.compaction --speed

`--speed`: before_response on a context of 1,000 messages that needs no compaction against counting
its tokens once, one compaction of 1,000 chunks, and a session of 10,000 turns (CPU time, memory).
"""

from __future__ import annotations

import argparse
import itertools
import json
import random
import resource
import statistics
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any

from tests.benchmarks.evidence import day_of
from tests.benchmarks.evidence import time_of as clock_of

from agent_memfas.context import ContextConfig, ContextManager
from agent_memfas.remote.counting import counter
from agent_memfas.tasks.compaction import tokens_of
from agent_memfas.text.messages import SUMMARY, read_message
from agent_memfas.text.stopwords import is_stop_word
from agent_memfas.text.words import terms

SOURCES = ("locomo", "beam", "madial")
RECOVERED, HOLDS = 5, 0.6
DAYS = 3650  # that chunks are kept: LoCoMo's conversations go on for months
COLUMNS = ("kept", "summary", "recover", "any", "last N")


@dataclass(frozen=True)
class Played:
    """A conversation after its last turn. messages: all; context: what is left, by position, and
    what its summaries say, by the position of their source.
    """

    messages: Sequence[dict[str, Any]]
    kept: frozenset[int]
    summaries: Mapping[int, str]
    last: frozenset[int]
    before: int
    after: int
    compactions: int


def messages_of(docs: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """The turns of a conversation as messages of chat, with their times."""
    first, found, at = docs[0]["speaker"], list[dict[str, Any]](), None
    for doc in docs:
        moment = time_of(str(doc.get("date", "")))
        at = moment if moment and (at is None or moment > at) else (at or START)
        at += timedelta(minutes=1)
        caption = f" [{doc['caption']}]" if doc.get("caption") else ""
        role = "user" if doc["speaker"] == first else "assistant"
        found.append({"role": role, "content": f"{doc['speaker']}: {doc['text']}{caption}", "timestamp": at.isoformat(),
                      "number": len(found)})  # fmt: skip
    return found


START = datetime(2024, 1, 1, 9, tzinfo=timezone.utc)


def time_of(text: str) -> datetime | None:
    """The time of a session, None where its date says none."""
    day, clock = day_of(text), clock_of(text) or "09:00"
    return datetime.fromisoformat(f"{day}T{clock}").replace(tzinfo=timezone.utc) if day else None


def play(messages: Sequence[dict[str, Any]], trigger: float, times: float, home: str) -> tuple[
    Played, ContextManager
]:  # fmt: skip
    """Play a conversation."""
    count = counter()
    context: list[Any] = [{"role": "system", "content": "You are a helpful friend."}]
    sizes = [tokens_of(read_message(one), count) for one in messages]
    window = int(sum(sizes) / times)
    now = [START]
    rounds = [0]
    manager = ContextManager(
        config=ContextConfig(
            compaction_trigger_pct=trigger, max_context_pct=max(0.85, trigger),
            recoverable_days=DAYS,
        ),
        get_context=lambda: context, set_context=lambda new: context.__setitem__(slice(None), new),
        memory_path=f"{home}/memfas.json", cold_storage_path="cold", clock=lambda: now[0],
        after_compact=lambda _: rounds.__setitem__(0, rounds[0] + 1), summarizer="extractive",
    )  # fmt: skip
    ids = itertools.count()
    # Ids that are the same each time: what they cost in tokens decides where there is little room.
    manager._new_id = lambda n: f"chunk_{n}_{int(START.timestamp())}_{next(ids):08x}"  # type: ignore[method-assign]
    for message in messages:
        now[0] = datetime.fromisoformat(message["timestamp"])
        context.append(message)
        if message["role"] == "user":
            manager.set_current_prompt(message["content"])
            status = manager.before_response(window)
    read = [read_message(one) for one in context]
    kept = frozenset(one["number"] for one, m in zip(context, read, strict=True)
                     if "number" in one and m.kind != SUMMARY)  # fmt: skip
    short = {one["number"]: m.text for one, m in zip(context, read, strict=True)
             if "number" in one and m.kind == SUMMARY}  # fmt: skip
    room, last = status.current_tokens, set[int]()
    for n in reversed(range(len(messages))):
        room -= sizes[n]
        if room < 0:
            break
        last.add(n)
    played = Played(messages, kept, short, frozenset(last), sum(sizes), status.current_tokens,
                    rounds[0])  # fmt: skip
    return played, manager


def holds(summary: str, turn: str, answer: str) -> bool:
    """Whether a summary still holds the fact of a turn."""
    own = _content(turn)
    fact = _content(answer) & own or own
    return len(fact & _content(summary)) >= HOLDS * len(fact)


def _content(text: str) -> set[str]:
    return {term for term in terms(text) if not is_stop_word(term)}


def evidence(
    corpus: Mapping[str, Any], played: Played, manager: ContextManager, skip: str
) -> Iterator[
    tuple[bool, bool, bool, bool, bool]
]:  # fmt: skip
    """For each question and turn that is evidence: one of COLUMNS each."""
    numbers = {doc["id"]: n for n, doc in enumerate(corpus["docs"])}
    for query in corpus["queries"]:
        if query["cat"] == skip:
            continue
        gold = [numbers[one] for one in query["gold"] if one in numbers]
        found = set(manager.recover(query["q"], RECOVERED)) if gold else set()
        for n in gold:
            text = played.messages[n]["content"]
            kept, back = n in played.kept, text in found
            short = n in played.summaries and holds(
                played.summaries[n], text, str(query.get("answer", ""))
            )
            yield kept, short, back, kept or short or back, n in played.last


def table(path: Path, triggers: Sequence[float], times: float) -> None:
    """Print the figures of a data set."""
    data = json.loads(path.read_text(encoding="utf-8"))
    skip = "5" if data["name"].startswith("locomo") else ""
    print(f"{path.stem}: per cent of the evidence; the conversation is {times:g} windows long")
    print("trigger  tokens   left  compactions " + " ".join(f"{c:>8}" for c in COLUMNS))
    for trigger in triggers:
        rows, sizes = list[tuple[bool, ...]](), list[tuple[int, int, int]]()
        for corpus in data["corpora"]:
            with tempfile.TemporaryDirectory() as home:
                played, manager = play(messages_of(corpus["docs"]), trigger, times, home)
                rows += evidence(corpus, played, manager, skip)
                sizes.append((played.before, played.after, played.compactions))
        means = [statistics.fmean(column) for column in zip(*sizes, strict=True)]
        shares = [100 * sum(column) / len(rows) for column in zip(*rows, strict=True)]
        print(f"{trigger:7.0%} {means[0]:7.0f} {means[1]:6.0f} {means[2]:12.1f} "
              + " ".join(f"{share:8.1f}" for share in shares))  # fmt: skip


def words(number: int, source: random.Random) -> str:
    """So many words of prose, of no sense."""
    return " ".join(source.choices(WORDS, k=number))


WORDS = (Path(__file__).resolve().parents[2] / "README.md").read_text(encoding="utf-8").split()


def speed() -> None:
    """Print the figures of time and memory."""
    source = random.Random(7)
    with tempfile.TemporaryDirectory() as home:
        paths = {"cold_storage_path": f"{home}/cold", "log_path": f"{home}/logs"}
        context = [{"role": ("user", "assistant")[n % 2], "content": words(50, source)}
                   for n in range(1000)]  # fmt: skip
        count = counter()
        manager = ContextManager(get_context=lambda: context, config=ContextConfig(), **paths)
        total = sum(count(one["content"]) for one in context)
        counting = _median(lambda: sum(count(one["content"]) for one in context))
        first = _median(lambda: _fresh(context, paths, 10 * total), 5)
        later = _median(lambda: manager.before_response(10 * total))
        print(f"before_response, 1,000 messages of 50 words: counting {counting:.2f} ms, "
              f"first {first / counting:.2f} of that, later {later / counting:.2f}")  # fmt: skip
        began = time.process_time()
        ContextManager(get_context=lambda: list(context), set_context=lambda _: None,
                       **paths).before_response(total)  # fmt: skip
        print(f"one compaction of 1,000 chunks: {1000 * (time.process_time() - began):.0f} ms")
    _long_session(source)


def _fresh(context: list[Any], paths: Mapping[str, str], most: int) -> None:
    ContextManager(get_context=lambda: context, config=ContextConfig(), **paths).before_response(
        most
    )


def _median(work: Any, number: int = 15) -> float:
    """Milliseconds of CPU, the median."""
    found = []
    for _ in range(number):
        began = time.process_time()
        work()
        found.append(1000 * (time.process_time() - began))
    return statistics.median(found)


def _long_session(source: random.Random) -> None:
    with tempfile.TemporaryDirectory() as home:
        context: list[Any] = [{"role": "system", "content": "You are helpful."}]
        manager = ContextManager(
            get_context=lambda: context,
            set_context=lambda new: context.__setitem__(slice(None), new),
            cold_storage_path=f"{home}/cold", log_path=f"{home}/logs",
        )  # fmt: skip
        print("a session of 10,000 turns: ms a turn, MB, messages, in cold storage")
        for thousand in range(10):
            began = time.process_time()
            for _ in range(1000):
                context.append({"role": "user", "content": words(50, source)})
                status = manager.before_response(16_000)
                context.append({"role": "assistant", "content": words(50, source)})
                manager.after_response()
            spent = time.process_time() - began
            memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
            print(f"  {1000 * (thousand + 1):6} {spent:6.1f} {memory:5} {status.chunks_count:5} "
                  f"{status.cold_storage_count:7}")  # fmt: skip


def main() -> None:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--data", type=Path)
    parser.add_argument("--only", choices=SOURCES)
    parser.add_argument("--times", type=float, default=2.0)
    parser.add_argument("--triggers", type=float, nargs="*", default=[0.5, 0.85])
    parser.add_argument("--speed", action="store_true")
    given = parser.parse_args()
    for name in SOURCES if given.data else ():
        if given.only in (None, name):
            for path in sorted(given.data.glob(f"{name}*.json")):
                table(path, given.triggers, given.times)
    if given.speed:
        speed()


if __name__ == "__main__":
    main()
