r"""Is it enough to read what was distilled? `memfas recall --tier` over public conversations.

Each conversation of `--data DIR` (see `evidence`) becomes daily logs, these are compounded into
insights without a model, and folders get their abstracts. Then every question is asked in tiers.

    python -m tests.benchmarks.tiers --data DIR
    python -m tests.benchmarks.tiers --data DIR --insights 10,5,3

`--insights`: `compound` for what `memfas compound` writes, a number N for lines chosen by
text/salient within the N-th part of a log's tokens, citations aside. What counts as held, among
the hits that fit into so many tokens as printed:

- by L1: the hit of an insight cites lines that are evidence;
- named by L0: the line of an abstract names the file with the evidence, and shares a word with the
  question (which every hit does, or it were none); by chance: as many files drawn at random;
- by L2: a passage of a log is evidence. In an answer of `auto`, L1 or L2.

A question is held where at least one of its places is.
"""

from __future__ import annotations

import argparse
import io
import json
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from itertools import accumulate
from math import ceil, comb
from pathlib import Path
from statistics import fmean
from typing import Any

from tests.benchmarks import REPO
from tests.benchmarks.evidence import asked, lay_out

from agent_memfas.cli import main as command
from agent_memfas.cli.asking import filters_of
from agent_memfas.cli.brief import keeper_for
from agent_memfas.cli.session import open_up
from agent_memfas.tasks.bench import Place, Question
from agent_memfas.tasks.recall import Answer, Hit, ask
from agent_memfas.text.context import hit_block
from agent_memfas.text.firing import read_link
from agent_memfas.text.salient import excerpt, frequencies, salient
from agent_memfas.text.speakers import speaker_of
from agent_memfas.text.tokens import estimate

BUDGETS = (250, 1000)  # tokens as printed
DEEP, SHORT = 60, 5  # hits: enough for any budget, and what recall gives by itself
HEAD = "<!-- compounded: memory/{} sha256:0000000000000000 by salient on 2026-01-01 -->"


@dataclass(frozen=True)
class Row:
    """A question with its answers: up to DEEP hits of l0, l1 and l2, up to SHORT of auto and l2.
    logs: how many there are.
    """

    question: Question
    logs: int
    l0: Answer
    l1: Answer
    l2: Answer
    auto: Answer
    plain: Answer


def distill(root: Path, how: str) -> None:
    """Give a folder of logs its insights and abstracts."""
    if how == "compound":
        run("compound", "--no-model", "--root", str(root))
    else:
        write_insights(root, int(how))
    run("abstract", "--root", str(root))


def run(*arguments: str) -> None:
    """A command of memfas, without what it prints."""
    said = io.StringIO()
    with redirect_stdout(said), redirect_stderr(said):
        status = command(list(arguments))
    if status:
        raise SystemExit(f"memfas {' '.join(arguments)}: {said.getvalue()}")


def write_insights(root: Path, ratio: int) -> None:
    """The most telling lines of each log, in one part of so many of its tokens."""
    logs = {path.name: path.read_text(encoding="utf-8").split("\n")
            for path in sorted((root / "memory").glob("*.md"))}  # fmt: skip
    known = frequencies(line for lines in logs.values() for line in lines)
    months = dict[str, list[str]]()
    for name, lines in logs.items():
        budget = ceil(sum(map(estimate, lines)) / ratio)
        block = [f"## {name[:10]} Insights", HEAD.format(name), "", "### Session Intent", ""]
        for n in salient(lines, known, budget):
            who, words = speaker_of(lines[n]), excerpt(lines[n], known).replace('"', "'")
            said = f'{who}: "{words}"' if who else words
            block.append(f"- {said} (memory/{name}#L{n + 1}-L{n + 1})")
        months.setdefault(name[:7], []).extend([*block, "", "---", ""])
    (root / "insights").mkdir()
    for month, lines in months.items():
        text = "\n".join([f"# Insights - {month}", "", *lines])
        (root / f"insights/{month}.md").write_text(text, encoding="utf-8")


def answers(root: Path, questions: Sequence[Question]) -> Iterator[Row]:
    """Ask everything in every tier."""
    session, logs = open_up(root), len([*(root / "memory").glob("*.md")])
    keeper = keeper_for(session.root, session.brief)

    def of(question: Question, tier: str, limit: int) -> Answer:
        filters = filters_of(session.brief, limit=limit, tier=tier)
        return ask(keeper, question.text, filters, session.today, time.time_ns(), None)

    for question in questions:
        deep = [of(question, tier, DEEP) for tier in ("l0", "l1", "l2")]
        short = [of(question, tier, SHORT) for tier in ("auto", "l2")]
        yield Row(question, logs, *deep, *short)
    keeper.close()


def holds(hit: Hit, place: Place) -> bool:
    """Whether a hit is evidence, cites it, or names its file (see above)."""
    if hit.kind == "abstract":
        return place.path in hit.cites
    cited = [read_link(cite) for cite in hit.cites]
    spans = [*filter(None, cited), (hit.path, hit.start_line, hit.end_line)]
    return any(p == place.path and a <= place.last and place.first <= b for p, a, b in spans)


def tokens(hits: Sequence[Hit]) -> int:
    """Of hits as they are printed."""
    return sum(estimate(hit_block(hit).text) for hit in hits)


def within(answer: Answer, budget: int) -> list[Hit]:
    """The first hits that fit."""
    spent = accumulate(tokens([hit]) for hit in answer.hits)
    return [hit for hit, sum_ in zip(answer.hits, spent, strict=True) if sum_ <= budget]


def held(row: Row, hits: Sequence[Hit], kinds: Sequence[str]) -> bool:
    """Whether any evidence of a question is held by hits of these kinds."""
    return any(holds(hit, place) for hit in hits if hit.kind in kinds
               for place in row.question.expected)  # fmt: skip


def chance(row: Row, budget: int) -> float:
    """How likely it is that files drawn at random, as many as L0 names, are one with evidence."""
    named = sum(hit.cites[0].startswith("memory/2") for hit in within(row.l0, budget))
    apart = row.logs - len({place.path for place in row.question.expected})
    return 1 - comb(apart, named) / comb(row.logs, named)


def percent(values: Sequence[float]) -> str:
    """A share, in percent."""
    return f"{100 * fmean(values):.1f}" if values else "–"


def within_budgets(rows: Sequence[Row]) -> Iterator[tuple[str, ...]]:
    """What the first so many tokens of each tier hold."""
    for budget in BUDGETS:
        l0 = [held(r, within(r.l0, budget), ("abstract",)) for r in rows]
        l1 = [held(r, within(r.l1, budget), ("insights",)) for r in rows]
        l2 = [held(r, within(r.l2, budget), ("memory", "insights")) for r in rows]
        either = [a or b for a, b in zip(l0, l1, strict=True)]
        drawn = [chance(r, budget) for r in rows]
        yield (str(budget), *map(percent, (l0, drawn, l1, either, l2)))


def told(rows: Sequence[Row]) -> Iterator[str]:
    """The answers that recall gives by itself: SHORT hits."""
    kinds = ("memory", "insights")
    auto, plain = ([held(r, getattr(r, name).hits, kinds) for r in rows]
                   for name in ("auto", "plain"))  # fmt: skip
    near = [held(r, r.l1.hits[:SHORT], ("insights",)) for r in rows]
    early = [len(r.auto.tiers) == 2 for r in rows]
    yield "| | evidence held | tokens |"
    yield "|---|---|---|"
    for name, right, hits in (
        ("l0 + l1", near, [r.l1.hits[:SHORT] for r in rows]),
        ("auto", auto, [r.auto.hits for r in rows]),
        ("l2", plain, [r.plain.hits for r in rows]),
    ):
        yield f"| {name} | {percent(right)} | {fmean(map(tokens, hits)):.0f} |"
    stops = [n for n, stop in enumerate(early) if stop]
    if not stops:
        yield "auto never stops early"
        return
    worse = [plain[n] and not auto[n] for n in stops]
    few, many = (fmean(tokens(getattr(rows[n], name).hits) for n in stops)
                 for name in ("auto", "plain"))  # fmt: skip
    yield (
        f"auto stops early for {percent(early)} % of the questions; of these it holds evidence for"
        f" {percent([auto[n] for n in stops])} % in {few:.0f} tokens, l2 for"
        f" {percent([plain[n] for n in stops])} % in {many:.0f}; only l2 does for"
        f" {percent(worse)} %"
    )


def of_all(data: dict[str, Any], how: str) -> tuple[list[Row], float]:
    """All questions of a data set; and the tokens of insights for each token of the logs."""
    skip = "5" if data["name"].startswith("locomo") else ""
    rows, sizes = list[Row](), {"insights": 0, "memory": 0}
    for corpus in data["corpora"]:
        with tempfile.TemporaryDirectory() as folder:
            root = Path(folder)
            questions = list(asked(corpus, lay_out(corpus["docs"], root), skip))
            distill(root, how)
            for name in sizes:
                texts = (p.read_text(encoding="utf-8") for p in (root / name).glob("*.md"))
                sizes[name] += sum(map(estimate, texts))
            rows += answers(root, questions)
    return rows, sizes["memory"] / sizes["insights"]


def show(path: Path, ways: Sequence[str]) -> None:
    """Print the tables of a data set."""
    data = json.loads(path.read_text(encoding="utf-8"))
    for how in ways:
        rows, ratio = of_all(data, how)
        print(f"\n### {data['name']}, insights: {how}, {len(rows)} questions; logs are"
              f" {ratio:.1f} times as long as all of insights/\n")  # fmt: skip
        print("| tokens | named by L0 | by chance | cited by L1 | either | L2 |")
        print("|---|---|---|---|---|---|")
        for line in within_budgets(rows):
            print(f"| {' | '.join(line)} |")
        print()
        for text in told(rows):
            print(text)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", type=Path, required=True, metavar="DIR")
    parser.add_argument("--insights", default="compound,10,5,3", metavar="LIST")
    parser.add_argument("--only", default="", metavar="NAME", help="data sets whose name has this")
    options = parser.parse_args()
    if options.data.resolve().is_relative_to(REPO):
        parser.error("the data sets do not belong into the project")
    for file in sorted(options.data.glob("*.json")):
        if options.only in file.name:
            show(file, options.insights.split(","))
