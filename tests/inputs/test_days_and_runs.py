"""On which day an entry leaves, by whose calendar, and when a run had better do nothing."""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable
from datetime import date, datetime, timedelta, timezone

import pytest

from .memory import CONFIG, CONTROL, HEAD, Memory, moves

LIVING = b"- [P1][2026-02-20] alive\n"
Clock = Callable[..., None]


def dated(day: date | str, text: str = "an entry", tag: str = "P2") -> bytes:
    return f"- [{tag}][{day}] {text}\n".encode()


def ids(archived: bytes) -> list[bytes]:
    """The passes in an archive, in order."""
    return re.findall(rb"<!-- janitor (\S+) -->", archived)


@pytest.mark.parametrize(
    ("entry", "last_day"),
    [
        ("- [P1][2026-01-01] ninety days", "2026-04-01"),
        ("- [P2][2026-01-01] thirty days", "2026-01-31"),
        ("- [P1][2024-02-29] from a leap day", "2024-05-29"),
        ("- [P2][2024-02-29] from a leap day", "2024-03-30"),
        ("- [P2][2023-12-31] over the year's end", "2024-01-30"),
        ("- [P2][2024-02-01] through a leap day", "2024-03-02"),
        ("- [P1][2026-01-01][ttl:14d] a term of its own", "2026-01-15"),
        ("- [P1][2026-01-01] [ttl:2w] the same", "2026-01-15"),
        ("- [P2][2026-01-01][ttl:0d] for a day", "2026-01-01"),
        ("- [P2][2026-01-01][until:2026-12-31] a last day", "2026-12-31"),
        ("- [P1][2026-01-01][superseded:2026-01-02] was true", "2026-04-01"),
    ],
)
def test_an_entry_leaves_on_the_day_after_its_last(
    memory: Memory, entry: str, last_day: str
) -> None:
    """Day 90 and day 30 are kept, the next is not; terms are counted in days of the calendar."""
    raw = f"{entry}\n".encode()
    memory.write("MEMORY.md", HEAD + raw)
    last = date.fromisoformat(last_day)
    assert memory.janitor(today=last_day).status == 0
    assert memory.read() == HEAD + raw
    assert memory.janitor(today=str(last + timedelta(days=1))).status == 0
    assert memory.read() == HEAD
    assert memory.archive_entries == raw


def test_a_term_beyond_the_calendar_never_ends(memory: Memory) -> None:
    """An entry of the last years that a date can hold stays; nothing crashes."""
    raw = b"".join(
        [
            b"- [P1][9999-12-31] a\n",
            b"- [P1][9999-10-01] b\n",
            b"- [P1][2020-01-01][ttl:99999w] c\n",
            b"- [P1][2020-01-01][until:9999-12-31] d\n",
        ]
    )
    memory.write("MEMORY.md", HEAD + raw)
    assert memory.janitor().status == 0
    assert memory.read() == HEAD + raw


def test_equal_entries_are_judged_each_alone(memory: Memory) -> None:
    """The same line twice is archived twice; a copy with a later date stays."""
    gone = dated("2026-01-01", "the same")
    stays = dated("2026-02-20", "the same")
    moves(memory, HEAD + gone + stays + gone + b"\n" + gone, HEAD + stays + b"\n", gone * 3)


def test_an_entry_that_is_archived_already_is_archived_again(memory: Memory) -> None:
    """It came back and expired again: the archive has it once for each pass, and says which."""
    for _ in range(2):
        memory.write("MEMORY.md", HEAD + CONTROL)
        assert memory.janitor().status == 0
    assert memory.read() == HEAD
    assert memory.archive_entries == CONTROL * 2
    assert len(set(ids(memory.archived))) == 2


@pytest.mark.parametrize(
    ("expired", "living", "stops"),
    [(20, 0, False), (21, 21, False), (21, 20, True), (22, 0, True), (10_000, 3, True)],
)
def test_a_mass_expiry_stops(memory: Memory, expired: int, living: int, stops: bool) -> None:
    """More than half of the entries and more than 20 at once: nothing is changed until I say
    --force, for it may be a wrong clock or a wrong year in every line."""
    gone, stay = CONTROL * expired, LIVING * living
    memory.write("MEMORY.md", HEAD + gone + stay)
    result = memory.janitor()
    if stops:
        assert result.status == 4
        assert str(expired) in result.data["error"]
        assert "--force" in result.data["remedy"]
        assert (memory.read(), memory.archived) == (HEAD + gone + stay, b"")
        assert memory.janitor("--force").status == 0
    assert memory.read() == HEAD + stay
    assert memory.archive_entries == gone


def test_a_mass_expiry_can_be_looked_at(memory: Memory) -> None:
    """--dry-run shows what would go, with a warning, and changes nothing."""
    memory.write("MEMORY.md", HEAD + CONTROL * 30)
    before = memory.truth()
    result = memory.janitor("--dry-run")
    assert (result.status, len(result.data["moved"]), result.data["dry_run"]) == (0, 30, True)
    assert any("30 of 30" in warning for warning in result.data["warnings"])
    assert memory.truth() == before


@pytest.mark.parametrize("state", ["kept", "lost"])
@pytest.mark.parametrize(
    ("day", "stops"),
    [("2026-02-28", True), ("2026-03-01", False), ("2026-04-15", False), ("2026-04-16", True)],
)
def test_a_clock_that_jumps_stops(memory: Memory, day: str, stops: bool, state: str) -> None:
    """Today before the last run, or more than 45 days after it: nothing is changed, I am told.
    It is known from the archive even where .memfas/ was deleted."""
    memory.write("MEMORY.md", HEAD + CONTROL)
    assert memory.janitor(today="2026-03-01").status == 0
    if state == "lost":
        shutil.rmtree(memory.root / ".memfas")
    memory.write("MEMORY.md", HEAD + CONTROL)
    result = memory.janitor(today=day)
    if stops:
        assert result.status == 4
        assert day in result.data["error"]
        assert memory.read() == HEAD + CONTROL
        assert len(memory.janitor("--dry-run", today=day).data["warnings"]) == 1
        assert memory.janitor("--force", today=day).status == 0
    assert memory.read() == HEAD


def test_the_first_run_knows_no_jump(memory: Memory) -> None:
    """In a folder that no janitor has seen, old entries simply leave."""
    moves(memory, HEAD + CONTROL, HEAD, CONTROL)


@pytest.mark.parametrize(
    ("instant", "today"),
    [
        (datetime(2026, 3, 28, 22, 59, tzinfo=timezone.utc), "2026-03-28"),
        (datetime(2026, 3, 28, 23, 1, tzinfo=timezone.utc), "2026-03-29"),
        (datetime(2026, 3, 29, 0, 59, tzinfo=timezone.utc), "2026-03-29"),
        (datetime(2026, 3, 29, 1, 1, tzinfo=timezone.utc), "2026-03-29"),
        (datetime(2026, 3, 29, 2, 0, tzinfo=timezone.utc), "2026-03-29"),
        (datetime(2026, 10, 25, 0, 30, tzinfo=timezone.utc), "2026-10-25"),
        (datetime(2026, 10, 25, 1, 30, tzinfo=timezone.utc), "2026-10-25"),
        (datetime(2026, 10, 25, 23, 1, tzinfo=timezone.utc), "2026-10-26"),
    ],
)
def test_days_are_days_of_the_time_zone(
    memory: Memory, clock: Clock, instant: datetime, today: str
) -> None:
    """Through the nights in which the clocks change, an entry's age is counted by the calendar of
    the configured zone, never by hours, never by UTC."""
    memory.write("memfas.yaml", CONFIG + "timezone: Europe/Berlin\n")
    day = date.fromisoformat(today)
    kept, gone = (dated(day - timedelta(days=n)) for n in (30, 31))
    memory.write("MEMORY.md", HEAD + gone + kept)
    clock(instant)
    assert memory.run("janitor").status == 0
    assert memory.read() == HEAD + kept
    assert f"Archived {today} by".encode() in memory.archived


def test_two_travellers_have_two_days(memory: Memory, clock: Clock) -> None:
    """The same instant is another day in Kiribati than in Samoa, and each keeps its own."""
    clock(datetime(2026, 3, 1, 10, 30, tzinfo=timezone.utc))
    days = {}
    for zone in ("Pacific/Kiritimati", "Pacific/Pago_Pago"):
        memory.write("memfas.yaml", CONFIG + f"timezone: {zone}\n")
        days[zone] = memory.run("log", "--json", "a line").data["path"]
    assert days == {
        "Pacific/Kiritimati": "memory/2026-03-02.md",
        "Pacific/Pago_Pago": "memory/2026-02-28.md",
    }


def test_flying_west_changes_nothing(memory: Memory, clock: Clock) -> None:
    """Yesterday once more after a flight: the janitor waits until the calendar has caught up."""
    clock(datetime(2026, 3, 1, 20, 0, tzinfo=timezone.utc))
    memory.write("MEMORY.md", HEAD + LIVING)
    memory.write("memfas.yaml", CONFIG + "timezone: Asia/Tokyo\n")
    assert memory.run("janitor").status == 0
    memory.write("memfas.yaml", CONFIG + "timezone: America/Los_Angeles\n")
    memory.write("MEMORY.md", HEAD + CONTROL)
    result = memory.run("janitor", "--json")
    assert result.status == 4
    assert "2026-03-02" in result.data["error"]
    assert memory.read() == HEAD + CONTROL


def test_a_run_over_midnight_has_one_day(memory: Memory, clock: Clock) -> None:
    """A run that begins on New Year's Eve ends on it: all files are judged by that day, and the
    archive is that month's, though the clock has gone on."""
    kept, gone = dated("2026-12-01"), dated("2026-11-30")
    memory.write("MEMORY.md", HEAD + gone + kept)
    memory.write("shared/MEMORY.md", HEAD + gone + kept)
    clock(datetime.fromisoformat("2026-12-31T23:59:59.9").astimezone(), timedelta(hours=3))
    assert memory.run("janitor").status == 0
    assert memory.read() == memory.read("shared/MEMORY.md") == HEAD + kept
    assert [p.name for p in (memory.root / "archive").iterdir()] == ["expired-2026-12.md"]
    assert set(re.findall(rb"Archived (\S+)", memory.archived)) == {b"2026-12-31"}


@pytest.mark.parametrize("today", ["2026-03-31", "2026-04-01", "2026-12-31", "2027-01-01"])
def test_the_archive_is_that_of_the_month_of_the_run(memory: Memory, today: str) -> None:
    """Not of the entry's month: `expired-YYYY-MM.md` says when it was moved."""
    moves(memory, HEAD + CONTROL, HEAD, CONTROL, today=today)
    assert [p.name for p in (memory.root / "archive").iterdir()] == [f"expired-{today[:7]}.md"]


@pytest.mark.parametrize("day", ["2026-02-30", "2026-3-1", "tomorrow", "20260301", "", "../../x"])
def test_a_day_that_is_none_changes_nothing(memory: Memory, day: str) -> None:
    """--today takes YYYY-MM-DD, a day that exists; anything else is wrong usage."""
    memory.write("MEMORY.md", HEAD + CONTROL)
    result = memory.janitor(today=day)
    assert result.status == 2
    assert "--today" in result.data["error"]
    assert memory.read() == HEAD + CONTROL


def test_a_second_run_changes_nothing(memory: Memory) -> None:
    """The janitor has nothing more to do: every file is as the first run left it."""
    memory.write("MEMORY.md", HEAD + CONTROL + LIVING)
    memory.janitor()
    before = memory.truth()
    result = memory.janitor()
    assert (result.status, result.data["moved"], memory.truth()) == (0, [], before)


def test_section_headings_stay(memory: Memory) -> None:
    """A section whose last entry has expired is empty, and still there for the next entry."""
    before = b"# M\n\n## Temp Notes [P2]\n" + CONTROL + b"\n## Next\n"
    moves(memory, before, before.replace(CONTROL, b""), CONTROL)
