r"""Does recall return the lines that hold the answer? `memfas bench` over public conversations.

`--data DIR` holds the data sets, JSON files {name, corpora: [{docs: [{id, text, speaker, date,
session, caption}], queries: [{q, gold: [ids], cat}]}]}, which are no part of memfas. Each
conversation becomes a memory folder of daily logs, a bullet for each turn.

    python -m tests.benchmarks.evidence --data DIR
    python -m tests.benchmarks.evidence --data DIR --config '' \
        --config 'search: {backend: embedding, embedder_type: ollama}'

`--config`, lines of memfas.yaml, may be repeated: a table then has a group of columns for each.
LoCoMo's category 5, questions without an answer, is left out.
"""

from __future__ import annotations

import argparse
import json
import re
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from tests.benchmarks import REPO

from agent_memfas.cli.benching import LIMIT, measure
from agent_memfas.cli.figures import Measured, missed, table
from agent_memfas.cli.session import open_up
from agent_memfas.tasks.bench import Place, Question

SOURCES = "sources: [{path: ./memory/*.md, type: markdown}]\n"
MONTHS = ("january february march april may june july august september october november"
          " december").split()  # fmt: skip
DAYS = (  # the notations of the data sets, the first that fits counts
    r"(?P<y>\d{4})-(?P<m>\d{1,2})-(?P<d>\d{1,2})",
    r"(?P<y>\d{4})年(?P<m>\d{1,2})月(?P<d>\d{1,2})日",
    r"(?P<d>\d{1,2})\.(?P<m>\d{1,2})\.(?P<y>\d{4})",
    r"(?P<d>\d{1,2}) (?P<m>[a-z]+),? (?P<y>\d{4})",
    r"(?P<m>[a-z]+)[- ](?P<d>\d{1,2})[- ,]+(?P<y>\d{4})",
)
FIRST_DAY = "2024-01-01"  # of what has no date


def day_of(text: str) -> str:
    """The day of a date as a data set writes it, ISO; "" where there is none."""
    for notation in DAYS:
        if match := re.search(notation, text.lower()):
            month = match["m"]
            number = int(month) if month.isdigit() else MONTHS.index(month) + 1
            return f"{int(match['y']):04d}-{number:02d}-{int(match['d']):02d}"
    return ""


def time_of(text: str) -> str:
    """The time of the day in a date, HH:MM; "" where there is none."""
    match = re.search(r"(\d{1,2}):(\d{2})\s*(am|pm)?", text.lower())
    if match is None:
        return ""
    half = match[3]
    hour = int(match[1]) % 12 + 12 * (half == "pm") if half else int(match[1])
    return f"{hour:02d}:{match[2]}"


def bullet(doc: dict[str, Any]) -> list[str]:
    """A turn of a conversation as the lines of a log."""
    caption = f" [image: {doc['caption']}]" if doc.get("caption") else ""
    lines = [line.rstrip() for line in (doc["text"] + caption).splitlines() if line.strip()]
    first, *rest = lines or ["(empty)"]
    who = f"{doc['speaker']}: " if doc.get("speaker") else ""
    return [f"- {who}{first}", *(f"  {line}" for line in rest)]


def lay_out(docs: Sequence[dict[str, Any]], root: Path) -> dict[str, Place]:
    """Write a conversation as daily logs. Returns where each turn stands, by its id."""
    days, day = dict[str, list[dict[str, Any]]](), FIRST_DAY
    for doc in docs:
        day = day_of(doc.get("date") or "") or day
        days.setdefault(day, []).append(doc)
    (root / "memory").mkdir()
    places = {}
    for day, turns in days.items():
        path, lines, session = f"memory/{day}.md", [f"# {day}", ""], None
        for turn in turns:
            if turn["session"] != session:
                session = turn["session"]
                clock = time_of(turn.get("date") or "")
                lines += [f"## {clock or f'Session {session}'}", ""]
            before = len(lines)
            lines += bullet(turn)
            places[turn["id"]] = Place(path, before + 1, len(lines))
        (root / path).write_text("\n".join(lines) + "\n", encoding="utf-8")
    return places


def asked(corpus: dict[str, Any], places: dict[str, Place], skip: str) -> Iterator[Question]:
    """The questions about a conversation."""
    for number, query in enumerate(corpus["queries"], 1):
        gold = tuple(places[one] for one in query["gold"] if one in places)
        if query["cat"] != skip and gold:
            yield Question(query["q"], gold, query["cat"], number)


def of_all(data: dict[str, Any], config: str, limit: int) -> tuple[Measured, float]:
    """One configuration over all conversations of a data set, and the seconds that it took."""
    skip = "5" if data["name"].startswith("locomo") else ""
    parts, start = [], time.perf_counter()
    for corpus in data["corpora"]:
        with tempfile.TemporaryDirectory() as folder:
            root = Path(folder)
            (root / "memfas.yaml").write_text(f"{SOURCES}{config}\n", encoding="utf-8")
            questions = list(asked(corpus, lay_out(corpus["docs"], root), skip))
            parts.append(measure(open_up(root), questions, limit=limit))
    notes = dict[str, int]()
    for note, count in (pair for part in parts for pair in part.notes):
        notes[note] = notes.get(note, 0) + count
    whole = Measured(
        config or parts[0].name,
        tuple(row for part in parts for row in part.rows),
        tuple(ms for part in parts for ms in part.ms),
        sum(part.nothing for part in parts), tuple(notes.items()),
    )  # fmt: skip
    return whole, time.perf_counter() - start


def run(given: argparse.Namespace) -> None:
    """Print a table for each data set."""
    for path in sorted(given.data.glob("*.json")):
        data = json.loads(path.read_text(encoding="utf-8"))
        done = [of_all(data, config, given.limit) for config in given.config or [""]]
        spent = ", ".join(f"{seconds:.1f}" for _, seconds in done)
        print(f"\n### {data['name']}: {len(done[0][0].rows)} questions, {spent} s\n")
        for line in table([one for one, _ in done]):
            print(line)
        for one, _ in done:
            for note, count in one.notes:
                print(f"{one.name}: {note} ({count} answers)")
            for line in missed(one, path.name, given.misses):
                print(line)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", type=Path, required=True, metavar="DIR")
    parser.add_argument("--config", action="append", metavar="LINES")
    parser.add_argument("--limit", type=int, default=LIMIT, help="hits for a question")
    parser.add_argument("--misses", type=int, default=0, help="list so many of each data set")
    options = parser.parse_args()
    if options.data.resolve().is_relative_to(REPO):
        parser.error("the data sets do not belong into the project")
    run(options)
