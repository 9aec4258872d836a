"""`memfas telemetry report`: where it goes, what it says, and that it needs nothing but itself."""

from __future__ import annotations

import re
from datetime import date
from html.parser import HTMLParser

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_memfas.text.calendar_spans import MOST, spans_of
from agent_memfas.text.charts import ceiling, short
from agent_memfas.v3 import TelemetryLogger
from inputs.memory import Memory
from telemetry.turns import telemetry, turn

VOID = {"meta"}  # what HTML opens and never closes; SVG closes all


class Tags(HTMLParser):
    """Whether every element that is opened is closed, in order."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.all: list[tuple[str, dict[str, str | None]]] = []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.all.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.all.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def page(memory: Memory, *arguments: str) -> str:
    result = telemetry(memory, "report", "-o", "-", *arguments)
    assert result.status == 0
    return result.text


def test_it_stands_with_the_telemetry_unless_i_say_where(
    memory: Memory, log: TelemetryLogger
) -> None:
    """`.memfas/telemetry.html`, or FILE, or standard output; a second time it is written anew."""
    log.log_turn(turn())
    before = memory.truth()
    result = telemetry(memory, "report")
    usual = memory.root / ".memfas/telemetry.html"
    assert (result.status, result.text) == (0, f"✓ {usual}: 1 turn\n")
    assert memory.truth() == before
    mine = memory.root.parent / "mine.html"
    for turns in (1, 2):
        found = telemetry(memory, "report", "-o", str(mine), "--json").data
        assert found == {"schema": 1, "path": str(mine), "turns": turns, "spans": 1, "unit": "day",
                         "unreadable": 0}  # fmt: skip
        assert f"{turns} turn" in mine.read_text("utf-8")
        log.log_turn(turn(2))
    assert page(memory).startswith("<!doctype html>")


@pytest.mark.parametrize("what", ["memory", "folder", "page"])
def test_it_is_never_written_over_anything_else(
    memory: Memory, log: TelemetryLogger, what: str
) -> None:
    """A wrong -o costs me nothing: the file is named, and stays."""
    log.log_turn(turn())
    target = memory.write("MEMORY.md", "- [P0] the staging host is heron\n")
    if what == "folder":
        target = memory.root
    elif what == "page":
        target = memory.write("index.html", "<!doctype html>\n<p>mine\n")
    before = memory.truth()
    result = telemetry(memory, "report", "-o", str(target))
    assert (result.status, result.text) == (2, "")
    assert str(target) in result.errors
    assert memory.truth() == before


@pytest.mark.parametrize("turns", [0, 1, 40])
def test_it_is_one_page_that_needs_nothing(
    memory: Memory, log: TelemetryLogger, turns: int
) -> None:
    """No address, no script, no file beside it; every element closed, every chart named, with a
    table; and a policy that lets a browser load nothing."""
    for n in range(turns):
        log.log_turn(
            turn(n, timestamp=f"2026-0{n % 5 + 1}-02T12:00:00", curation_level_name="lean")
        )
    text = page(memory)
    tags = Tags(text)
    assert tags.open == []
    names = [name for name, _ in tags.all]
    assert not {"script", "link", "img", "iframe", "object", "form", "a"} & set(names)
    assert not re.search(r"https?:|url\(|@import|\b(?:src|href)=", text)
    assert "default-src 'none'" in text
    charts = [attrs for name, attrs in tags.all if attrs.get("class") == "chart"]
    assert len(charts) == (3 if turns else 0)
    assert all(attrs["role"] == "img" and attrs["aria-label"] for attrs in charts)
    assert names.count("table") == len(charts)
    assert ("width=device-width" in text, "prefers-color-scheme: dark" in text) == (True, True)


def test_days_are_my_own(memory: Memory, log: TelemetryLogger) -> None:
    """What was asked on the evening of the 1st in New York stands on the 1st; days in between on
    which nothing was asked keep their place on the axis, and are not in the table."""
    memory.write("memfas.yaml", "timezone: America/New_York\n")
    for moment in ("2026-03-02T03:00:00+00:00", "2026-03-05T12:00:00+00:00"):
        log.log_turn(turn(timestamp=moment))
    text = page(memory)
    assert "1 Mar 2026 to 5 Mar 2026" in text
    assert "<title>1 Mar 2026: given 200, saved 800</title>" in text
    assert "<title>3 Mar 2026: nothing</title>" in text
    assert "<td>3 Mar 2026</td>" not in text
    assert "<td>1 Mar 2026</td><td>200</td><td>800</td>" in text


def test_it_can_be_of_a_session_or_since_a_day(memory: Memory, log: TelemetryLogger) -> None:
    """The filters of the summary hold."""
    for n in range(1, 5):
        log.log_turn(turn(n, session_id="ab"[n % 2], timestamp=f"2026-03-0{n}T12:00:00"))
    assert "2 turns" in page(memory, "-s", "a")
    assert "2 Mar 2026 to 4 Mar 2026" in page(memory, "--since", "2026-03-02")


def test_a_turn_without_a_baseline_claims_no_savings(memory: Memory, log: TelemetryLogger) -> None:
    """D41: what is not known is called unknown, and how many such turns there are is said."""
    log.log_turn(turn(baseline_context_tokens=0))
    text = page(memory)
    assert "<strong>unknown</strong>" in text
    assert "1 turn had no baseline" in text
    assert "saved 800" not in text


def test_unreadable_lines_are_said_on_the_page(memory: Memory, log: TelemetryLogger) -> None:
    """The page itself says that it lacks something, and so does the command."""
    log.log_turn(turn())
    with log.log_path.open("a") as file:
        file.write("garbage\n")
    assert "Left out: 1 unreadable line." in page(memory)
    assert "telemetry.jsonl:2" in telemetry(memory, "report").errors


@given(st.lists(st.dates(), min_size=1, max_size=40))
def test_any_dates_fit_on_a_page(days: list[date]) -> None:
    """Each is in one span, in order, and there are never more spans than a page can show."""
    spans = spans_of(days)
    assert 1 <= len(spans.labels) <= MOST
    places = [spans.place(day) for day in sorted(days)]
    assert places == sorted(places)
    assert (places[0], places[-1]) == (0, len(spans.labels) - 1)
    if max(days).toordinal() - min(days).toordinal() < MOST:
        assert spans.unit == "day"


@pytest.mark.parametrize(
    ("first", "last", "unit", "labels"),
    [
        ("2026-03-01", "2026-03-02", "day", ["1 Mar 2026", "2 Mar 2026"]),
        ("2026-01-01", "2026-03-31", "week", ["29 Dec 2025", "30 Mar 2026"]),
        ("2024-12-31", "2026-12-01", "month", ["Dec 2024", "Dec 2026"]),
        ("1999-01-01", "2026-01-01", "year", ["1999", "2026"]),
        ("0001-01-01", "9999-12-31", "year", ["from 0", "from 9800"]),
    ],
)
def test_the_longer_the_time_the_longer_the_spans(
    first: str, last: str, unit: str, labels: list[str]
) -> None:
    """Days for two months, weeks (by their Monday) for a year, months for five, then years."""
    spans = spans_of([date.fromisoformat(first), date.fromisoformat(last)])
    assert (spans.unit, [spans.labels[0], spans.labels[-1]]) == (unit, labels)


@given(st.floats(min_value=1e-6, max_value=1e15))
def test_an_axis_ends_a_little_above_what_it_shows(value: float) -> None:
    """Never below the largest value (but for what nobody can see), never half empty."""
    top = ceiling(value)
    assert value * 0.999 <= top <= value * 2


def test_numbers_are_short() -> None:
    """Three digits and a letter, also where rounding makes it the next one."""
    cases = {0: "0", 7: "7", 0.5: "0.5", 999: "999", 1234: "1.23k", 999_400: "999k",
             999_600: "1M", 6_790_000: "6.79M", 5e16: "50,000T", 2.25: "2.25"}  # fmt: skip
    assert {value: short(value) for value in cases} == cases
