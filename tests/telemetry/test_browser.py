"""The report as a browser shows it, on a phone and on a desk: one start of Chromium for all."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import asdict
from datetime import datetime, timedelta, timezone
from itertools import pairwise
from pathlib import Path

import pytest

from agent_memfas.store import telemetry as store
from agent_memfas.store.layout import Folder
from inputs.memory import Memory
from telemetry.browser import DESK, HEIGHT, PHONE, Seen, browser, look
from telemetry.turns import telemetry, turn

LEVELS = ("minimal", "lean", "balanced", "rich", "full")
EVIL = "</svg></title></style><script>top.ran = 1</script><img src=x onerror=top.ran=1>\"'><b>&lt;"
LONG = "an-endless-name-without-a-space/" * 6


def lines(turns: int, **changed: object) -> Iterator[str]:
    """Turns nine minutes apart from 2024 on, of all levels, with a dozen topics and files."""
    base = asdict(turn())
    begin = datetime(2024, 1, 1, tzinfo=timezone.utc)
    for n in range(turns):
        fields = base | {
            "latency_ms": 5.0 + n % 7, "detected_topic": f"topic {n % 12}",
            "timestamp": (begin + timedelta(minutes=9 * n)).isoformat(),
            "session_id": f"s{n // 30}", "curation_level_name": LEVELS[n % 5],
            "top_memories": [{"id": "m", "source": f"memory/2026-02-{n % 20 + 1:02d}.md"}],
            **changed,
        }  # fmt: skip
        yield json.dumps({"type": "turn", **fields})


def _asked(command: str) -> dict[str, object]:
    return {"type": "llm", "timestamp": "2024-01-02T12:00:00+00:00", "command": command,
            "model": "toy", "prompt_tokens": 1200, "completion_tokens": 30, "cost": 0.5,
            "latency_ms": 900, "tries": 1, "outcome": "ok"}  # fmt: skip


def report(folder: Path, turns: int, **changed: object) -> str:
    memory = Memory(folder)
    memory.write("memfas.yaml", "timezone: Europe/Berlin\n")
    if turns:
        text = "\n".join(lines(turns, **changed))
        memory.write(".memfas/telemetry.jsonl", f"{text}\n")
        store.append(Folder(folder), _asked(str(changed.get("detected_topic", "dream"))))
    result = telemetry(memory, "report", "-o", "-")
    assert (result.status, result.errors) == (0, "")
    return result.text


@pytest.fixture(scope="module")
def seen(tmp_path_factory: pytest.TempPathFactory) -> Seen:
    """All reports in the browser. CI has one (.ci/run), so that nothing is skipped there."""
    program = browser()
    if program is None:
        pytest.skip("needs chromium")
    folder = tmp_path_factory.mktemp("browser")
    evil = {"detected_topic": EVIL, "query": EVIL, "session_id": EVIL, "curation_level_name": EVIL,
            "top_memories": [{"id": EVIL, "source": EVIL, "snippet": EVIL},
                             {"id": "m", "source": LONG}]}  # fmt: skip
    pages = {
        "many": report(folder / "many", 100_000),
        "none": report(folder / "none", 0),
        "one": report(folder / "one", 1),
        "evil": report(folder / f"{EVIL.replace('/', '')}", 3, **evil),
        "month": report(folder / "month", 4000),
    }
    return look(program, pages, folder)


def test_no_page_has_to_be_pushed_sideways(seen: Seen) -> None:
    """On a phone and on a desk, tables open, with endless names: the page is as wide as the screen;
    no word is too small to read, and every chart keeps its words inside and apart."""
    for (name, width), page in seen.pages.items():
        assert (name, page["width"], page["needs"]) == (name, width, width)
        assert (name, page["wide"], page["small"]) == (name, [], 0)
        for chart in page["charts"]:
            left, right, top, bottom = chart["box"]
            assert right - left > min(width, 700) * 0.6 or width == DESK
            across = sorted(word[:2] for word in chart["words"])
            assert all(one[1] + 4 < other[0] for one, other in pairwise(across)), name
            assert all(left - 1 <= word[0] and word[1] <= right + 1 for word in across)
            for x0, x1, y0, y1 in chart["marks"]:
                assert left - 1 <= x0 <= x1 <= right + 1
                assert top <= y0 <= y1 <= bottom


def test_nothing_that_was_logged_is_obeyed(seen: Seen) -> None:
    """Questions, topics, files, levels, the folder's name: shown as they are, run never."""
    assert seen.ran == 0
    harmless = set(seen.pages["many", PHONE]["kinds"])
    for page in seen.pages.values():
        assert set(page["kinds"]) <= harmless
        assert not {"script", "img", "iframe", "a"} & set(page["kinds"])
        assert page["handlers"] == 0
    text = seen.pages["evil", DESK]["text"]
    assert "</svg></title></style><script>top.ran = 1</script><img src=x onerror=" in text


def test_the_page_says_what_the_telemetry_holds(seen: Seen) -> None:
    """Headlines, figures, tables; of nothing it says that there is nothing."""
    many = seen.pages["many", PHONE]["text"]
    for words in ("1 Jan 2024 to 17 Sep 2025", "100,000 turns", "3,334 sessions", "80M",
                  "80.0 % of 100M", "200 a turn", "8.0 ms", "Tokens saved by month", "topic 11",
                  "memory/2026-02-01.md", "dream", "cost 0.5000", "Jan 2024", "balanced"):  # fmt: skip
        assert words in many, words
    assert len(seen.pages["many", PHONE]["charts"]) == 3
    one = seen.pages["one", PHONE]["text"]
    assert "1 turn · 1 session" in one
    assert "100 % of all turns at minimal." in one
    assert "Nothing yet" in seen.pages["none", PHONE]["text"]
    assert seen.pages["none", PHONE]["charts"] == []


def test_the_picture_is_not_blank(seen: Seen) -> None:
    """A screenshot of both widths side by side, in which something is drawn."""
    assert seen.size() == (PHONE + DESK, HEIGHT)
    assert seen.variety() > 200
    for page in (seen.pages["month", PHONE], seen.pages["month", DESK]):
        marks = [mark for chart in page["charts"] for mark in chart["marks"]]
        assert len(marks) > 100
        assert all(x1 - x0 > 1 for x0, x1, _, _ in marks)
