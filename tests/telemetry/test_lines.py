"""Any line at all: it is read, or it is left out, and no command ever stumbles over it."""

from __future__ import annotations

import json
from datetime import timedelta, timezone
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from agent_memfas.text.report_figures import figures
from agent_memfas.text.report_page import page
from agent_memfas.text.telemetry import Call, Turn, Unreadable, read_line
from agent_memfas.text.telemetry_summary import block, percentile, spent, summarise

ANYTHING: Any = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=4,
)
TIMES = st.datetimes().map(lambda at: at.isoformat()) | st.datetimes(
    timezones=st.timedeltas(timedelta(hours=-23), timedelta(hours=23)).map(timezone)
).map(lambda at: at.isoformat())
COUNTS = st.integers(0, 10**11)
SCORES = st.floats(allow_nan=False, allow_infinity=False)
MEMORIES = st.lists(st.fixed_dictionaries({"source": st.text(), "score": SCORES}), max_size=3)
FIELDS = {
    "timestamp": TIMES, "end_time": TIMES, "session_id": st.text(), "turn_number": COUNTS,
    "detected_topic": st.text(), "topic_shifted": st.booleans(), "latency_ms": COUNTS,
    "baseline_context_tokens": COUNTS, "curated_context_tokens": COUNTS, "command": st.text(),
    "curation_level_name": st.sampled_from(["rich", "", "<b>"]), "cost": COUNTS | st.none(),
    "prompt_tokens": COUNTS, "top_memories": MEMORIES,
}  # fmt: skip
KINDS = st.sampled_from(["turn", "llm", "session_summary"])
MORE = {name: kind for name, kind in FIELDS.items() if name != "timestamp"}
GOOD = st.fixed_dictionaries({"type": KINDS, "timestamp": TIMES}, optional=MORE)
ODD = st.fixed_dictionaries(
    {"type": KINDS | ANYTHING}, optional={name: ANYTHING | good for name, good in FIELDS.items()}
)


@given(st.lists((GOOD | ODD | ANYTHING).map(json.dumps), max_size=5))
def test_whatever_stands_in_a_line_every_answer_can_be_given(texts: list[str]) -> None:
    """Each line is a turn, a question, a summary or left out; the rest makes a summary and a page,
    in the zone furthest west and furthest east."""
    found: list[Turn | Call] = []
    for text in texts:
        try:
            one = read_line(text.encode("utf-8", "surrogatepass"))
        except Unreadable:
            continue
        if isinstance(one, (Turn, Call)):
            found.append(one)
    turns = [one for one in found if isinstance(one, Turn)]
    calls = [one for one in found if isinstance(one, Call)]
    assert block(summarise(turns)).startswith("📊 ")
    assert sum(one.calls for one in spent(calls)) == len(calls)
    for hours in (-12, 14):
        sums = figures(turns, calls, timezone(timedelta(hours=hours)))
        assert sum(span.turns for span in sums.spans) == len(turns)
        assert sum(span.saved for span in sums.spans) == sum(turn.saved for turn in turns)
        assert all(sum(row.over) == row.count for row in (*sums.topics, *sums.models))
        assert page("x", "now", sums).endswith("</html>\n")


@given(GOOD)
def test_a_line_as_we_write_it_is_always_read(fields: dict[str, Any]) -> None:
    """No value that a counter or a person can bring makes a turn of ours unreadable."""
    line = json.dumps({**fields, "type": "turn", "timestamp": "2026-03-01T12:00:00"}).encode()
    assert isinstance(read_line(line), Turn)


@given(st.binary())
def test_any_bytes_are_left_out(data: bytes) -> None:
    """A torn line or another file's content is no crash."""
    try:
        read_line(data)
    except Unreadable:
        return
    raise AssertionError("those bytes are no telemetry")


@given(st.lists(st.floats(0, 1e9), min_size=1), st.floats(0, 100))
def test_a_percentile_lies_where_its_name_says(values: list[float], percent: float) -> None:
    """Between the two values that have so many per cent of the others below them; the ends are the
    least and the greatest."""
    ordered, found = sorted(values), percentile(values, percent)
    place = (len(ordered) - 1) * percent / 100
    low, high = ordered[int(place)], ordered[min(int(place) + 1, len(ordered) - 1)]
    assert low <= found * (1 + 1e-9) + 1e-9
    assert found <= high * (1 + 1e-9) + 1e-9
    assert (percentile(values, 0), percentile(values, 100)) == (ordered[0], ordered[-1])
