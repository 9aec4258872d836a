r"""How much of the evidence does a curated context hold? `ContextCurator` over conversations.

Each conversation of `--data DIR` (see `evidence`) becomes daily logs, and each of its questions a
turn of a session of its own, asked on the day after its last one. Every line that is evidence
counts alike:

- kept: more than half of its words are in the context, in memories that are these lines;
- whole: such a memory is there uncut. BEAM's turns are long, and never in one memory;
- filtered: it was found, and is worth less than the level's min_score.

    python -m tests.benchmarks.curation --data DIR
    python -m tests.benchmarks.curation --data DIR --offline --only locomo

`16 %`: level full within 16 % of the conversation's tokens; rank-bm25: the same passages by
BM25Okapi, packed by value into the same budget in the same form. good: the share of memories that
are evidence. `--offline` ranks by meaning, too.
"""

from __future__ import annotations

import argparse
import json
import re
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta, timezone
from pathlib import Path
from statistics import fmean
from typing import Any

from rank_bm25 import BM25Okapi
from tests.benchmarks import REPO
from tests.benchmarks.evidence import SOURCES, asked, lay_out

from agent_memfas.embedders.offline import OfflineEmbedder
from agent_memfas.index.extract import extract
from agent_memfas.remote.counting import counter
from agent_memfas.tasks.bench import Place, Question
from agent_memfas.tasks.curation import Curation, Wish, curate
from agent_memfas.tasks.recall import Hit
from agent_memfas.text.valuing import Weights
from agent_memfas.v3 import LEVEL_PRESETS, ContextCurator

SHARE = 0.16
SIXTEEN, BM25 = "16 %", "rank-bm25"
WAYS: tuple[int | str, ...] = (SIXTEEN, *LEVEL_PRESETS, "auto")
MOST = 400  # memories where only the budget counts
COLUMNS = ("budget", "kept", "whole", "rank-bm25", "filtered", "tokens", "memories", "good")


Lines = Mapping[str, Sequence[str]]  # of each file
_WORD = re.compile(r"[^\W_\u3040-\u9fff]+|[\u3040-\u9fff]")


@dataclass(frozen=True)
class Row:
    """A context. lines: how many are evidence; kept, whole, filtered: how many of these. good: how
    many of its memories are evidence. level: that it was made by.
    """

    lines: int
    kept: int
    whole: int
    filtered: int
    tokens: int
    memories: int
    good: int
    level: int


def words_of(text: str) -> list[str]:
    """The words of a text, Chinese ones by character."""
    return _WORD.findall(text.lower())


def meets(place: Place, hit: Any) -> bool:
    """Whether a hit has a line of a place."""
    return place.path == hit.path and hit.start_line <= place.last and place.first <= hit.end_line


def judged(question: Question, found: Curation, lines: Lines, level: int) -> Row:
    """A context against the evidence of its question."""
    kept = whole = filtered = 0
    for place in question.expected:
        here = [one for one in found.kept if meets(place, one.memory.hit)]
        wanted = Counter(words_of("\n".join(lines[place.path][place.first - 1 : place.last])))
        there = Counter(words_of("\n".join(one.text for one in here)))
        kept += 2 * (wanted & there).total() > wanted.total()
        whole += any(not one.cut for one in here)
        filtered += not here and any(meets(place, one.memory.hit) for one in found.filtered)
    good = sum(any(meets(place, one.memory.hit) for place in question.expected)
               for one in found.kept)  # fmt: skip
    return Row(len(question.expected), kept, whole, filtered, found.tokens, len(found.kept), good,
               level)  # fmt: skip


class Conversation:
    """A conversation as a memory folder. lines: of its files; tokens: of all of it."""

    def __init__(self, corpus: dict[str, Any], root: Path, skip: str, *, offline: bool) -> None:
        (root / "memfas.yaml").write_text(SOURCES, encoding="utf-8")
        self.questions = list(asked(corpus, lay_out(corpus["docs"], root), skip))
        logs = {f"memory/{path.name}": path for path in sorted((root / "memory").glob("*.md"))}
        texts = {name: path.read_text(encoding="utf-8") for name, path in logs.items()}
        self.lines = {name: text.split("\n") for name, text in texts.items()}
        self._count = counter()
        self.tokens = sum(map(self._count, texts.values()))
        self._rows = [(name, row) for name, path in logs.items()
                      for row in extract(name, path.read_bytes()).rows]  # fmt: skip
        self._bm25 = BM25Okapi([words_of(row.text) for _, row in self._rows])
        self._today = date.fromisoformat(max(texts)[7:17]) + timedelta(days=1)
        embedder = OfflineEmbedder() if offline else None
        self.curator = ContextCurator(root, embedder=embedder, count=self._count)
        noon = datetime.combine(self._today, datetime.min.time(), timezone.utc)
        self.curator._memory._now = lambda: noon  # type: ignore[method-assign]

    def ours(self, question: Question, way: int | str) -> Row:
        """What the curator gives: within SHARE of the tokens, or at a level."""
        if way == SIXTEEN:
            self.curator.set_budget(int(SHARE * self.tokens))
        else:
            self.curator._budget = None
        level = 5 if way == SIXTEEN else way
        answer = self.curator.get_context(question.text, f"{way} {question.line}", level=level)
        assert self.curator.last is not None
        return judged(question, self.curator.last, self.lines, answer.curation_level)

    def theirs(self, question: Question, way: int | str) -> Row:
        """What rank-bm25 gives for the same budget; at a level, as many memories at most."""
        preset = LEVEL_PRESETS.get(way) if isinstance(way, int) else None
        budget = preset.token_budget if preset else int(SHARE * self.tokens)
        scores = self._bm25.get_scores(words_of(question.text))
        best = sorted(range(len(scores)), key=lambda n: -scores[n])[:MOST]
        top = max(float(scores[best[0]]), 1e-9)
        hits = [_hit(*self._rows[n], max(0.0, float(scores[n]) / top)) for n in best]
        wish = Wish(question.text, self._today, budget, 0.0, preset.max_results if preset else MOST,
                    Weights(1, 0, 0, 0), count=self._count)  # fmt: skip
        return judged(question, curate(hits, [], wish), self.lines, 0)


def _hit(path: str, row: Any, score: float) -> Hit:
    return Hit(path, row.start, row.end, row.heading, row.day, None, "memory", score, row.text)


def conversations(data: dict[str, Any], *, offline: bool) -> Iterator[Conversation]:
    """The conversations of a data set, each for as long as it is looked at."""
    skip = "5" if data["name"].startswith("locomo") else ""
    for corpus in data["corpora"]:
        with tempfile.TemporaryDirectory() as folder:
            one = Conversation(corpus, Path(folder), skip, offline=offline)
            yield one
            one.curator.close()


def line_of(way: int | str, ours: Sequence[Row], theirs: Sequence[Row]) -> tuple[str, ...]:
    """A row of the table."""
    total = sum(one.lines for one in ours)

    def percent(part: Iterable[int], whole: int = total) -> str:
        return f"{100 * sum(part) / max(whole, 1):.1f}"

    name = f"{way} {LEVEL_PRESETS[way].name}" if isinstance(way, int) else way
    if way == "auto":
        levels = Counter(one.level for one in ours)
        name += (
            f" ({', '.join(f'{n}: {percent([c], len(ours))}' for n, c in sorted(levels.items()))})"
        )
    return (
        name, percent(o.kept for o in ours), percent(o.whole for o in ours),
        percent(o.kept for o in theirs) if theirs else "", percent(o.filtered for o in ours),
        f"{fmean(o.tokens for o in ours):.0f}", f"{fmean(o.memories for o in ours):.1f}",
        percent((o.good for o in ours), sum(o.memories for o in ours)),
    )  # fmt: skip


def show(path: Path, *, offline: bool, ways: Sequence[int | str]) -> None:
    """Print the table of a data set."""
    data = json.loads(path.read_text(encoding="utf-8"))
    ours: dict[int | str, list[Row]] = {way: [] for way in ways}
    theirs: dict[int | str, list[Row]] = {way: [] for way in ways}
    for one in conversations(data, offline=offline):
        for way in ways:
            ours[way] += [one.ours(question, way) for question in one.questions]
            if way != "auto":
                theirs[way] += [one.theirs(question, way) for question in one.questions]
    lines = sum(row.lines for row in ours[ways[0]])
    print(f"\n### {data['name']}{', words and meaning' if offline else ''}:"
          f" {len(ours[ways[0]])} questions, {lines} lines of evidence\n")  # fmt: skip
    print(f"| {' | '.join(COLUMNS)} |\n|{'---|' * len(COLUMNS)}")
    for way in ways:
        print(f"| {' | '.join(line_of(way, ours[way], theirs[way]))} |", flush=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", type=Path, required=True, metavar="DIR")
    parser.add_argument("--only", default="", metavar="NAME", help="data sets whose name has this")
    parser.add_argument("--offline", action="store_true", help="rank by meaning, too")
    parser.add_argument("--ways", default="", metavar="LIST", help="of the first column")
    options = parser.parse_args()
    if options.data.resolve().is_relative_to(REPO):
        parser.error("the data sets do not belong into the project")
    chosen = [
        way
        for way in WAYS
        if str(way) in (options.ways.split(",") if options.ways else map(str, WAYS))
    ]
    for file in sorted(options.data.glob("*.json")):
        if options.only in file.name:
            show(file, offline=options.offline, ways=chosen)
