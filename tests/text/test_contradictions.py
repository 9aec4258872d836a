"""Which entries say the same, and which give one subject two values."""

from __future__ import annotations

from datetime import date

import pytest

from agent_memfas.text.contradictions import claims, contradictions, duplicates, split_key
from agent_memfas.text.documents import parse
from agent_memfas.text.entries import Terms

TODAY = date(2026, 3, 1)


def disagreeing(text: str) -> list[tuple[int, int]]:
    """The pairs (older, newest) of a memory file, by 1-based lines."""
    found = claims("MEMORY.md", parse(text.encode()), TODAY, Terms())
    return [(old.line + 1, new.line + 1) for old, new in contradictions(found)]


def repeated(text: str) -> list[tuple[int, int]]:
    """The pairs (copy, original) of a memory file, by 1-based lines."""
    found = claims("MEMORY.md", parse(text.encode()), TODAY, Terms())
    return [(copy.line + 1, first.line + 1) for copy, first in duplicates(found)]


@pytest.mark.parametrize(
    ("text", "subject"),
    [
        ("Deadline: Friday", "Deadline"),
        ("deadline = Monday", "deadline"),
        ("**Deadline**: Friday", "**Deadline**"),
        ("`timeout`: 30", "`timeout`"),
        ("DB_HOST=db1", "DB_HOST"),
        ("截止日期：周五", "截止日期"),
        ("Alice (Acme): project manager", "Alice (Acme)"),
        ("Deploy host at 10:30: db1", "Deploy host at 10:30"),
    ],
)
def test_what_leads_an_entry_is_its_subject(text: str, subject: str) -> None:
    """The words before the first colon or equals sign name what an entry is about."""
    found = split_key(text)
    assert found is not None
    assert found[0] == subject


@pytest.mark.parametrize(
    "text",
    [
        "https://example.com/x: nice",
        "See https://example.com",
        "mailto:alice@example.com",
        "Standup at 10:30 every day",
        "C:\\Users\\alice is the home",
        "std::vector is fast",
        "a == b, x => y, x != y, x <= y",
        "Run `make --jobs=3` first",
        "We met Bob. Next: deploy",
        'Alice said "done: yes"',
        "2026-02-24: did it",
        "Step 1: open the lid",
        "[ ] buy: milk",
        "One two three four five six: too long for a name",
        "~~Deadline: Monday~~",
        "nothing of the kind",
        "",
        *(
            f"{word}: text"
            for word in ("Note", "Idea", "Decision", "Lessons", "see also", "Tuesday")
        ),
        *(f"{word}：文字" for word in ("注意", "备注", "决定")),
    ],
)
def test_what_is_no_subject_is_not_taken_for_one(text: str) -> None:
    """A URL, a clock time, a drive, code, a sentence, a date, or a word such as Note says nothing
    about what two entries have in common.
    """
    assert split_key(text) is None


def test_two_values_for_one_subject_contradict_each_other() -> None:
    """Case, accents, marks and the kind of sign do not matter; the one with the later date is the
    newest, and one without a date is older than all.
    """
    text = """- [P1][2026-02-24] Café deadline = Monday
- [P0] **cafe DEADLINE**: Friday
- [P1][2026-02-20] café deadline: monday!
"""
    assert disagreeing(text) == [(2, 1)]


def test_many_values_for_one_subject_are_one_report_each() -> None:
    """A hundred old values are a hundred lines of a report, all naming the newest."""
    text = "".join(f"- [P0] Port: {n}\n" for n in range(100))
    assert disagreeing(text) == [(n, 100) for n in range(1, 100)]


def test_only_live_entries_contradict() -> None:
    """What is superseded or expired is history and no contradiction; neither is what stands in a
    fence or a quote.
    """
    text = """- [P0] Deadline: Friday
- [P1][2026-02-24][superseded:2026-02-25] Deadline: Monday
- [P2][2020-01-01] Deadline: Tuesday
- Deadline: Wednesday
> - [P0] Deadline: Thursday

```
- [P0] Deadline: Sunday
```
"""
    assert disagreeing(text) == []


def test_a_sign_before_a_number_makes_a_difference() -> None:
    """-5 is not 5, and 5 % is not 5 €, though the words are the same."""
    assert disagreeing("- [P0] Offset: -5\n- [P0] Offset: 5\n") == [(1, 2)]
    assert disagreeing("- [P0] Share: 5 %\n- [P0] Share: 5 €\n") == [(1, 2)]
    assert repeated("- [P0] Offset: -5\n- [P0] Offset: 5\n") == []


def test_the_value_may_stand_below_the_subject() -> None:
    """A subject with a nested list has that list for its value; where a fact comes from is no part
    of it.
    """
    nested = "- [P0] Owners:\n  - Alice\n- [P0] Owners:\n  - Bob\n"
    assert disagreeing(nested) == [(1, 3)]
    sourced = "- [P0] Port: 1 -> memory/2026-02-24.md#L3\n- [P0] Port: 1 <!-- source: a.md -->\n"
    assert (disagreeing(sourced), repeated(sourced)) == ([], [(2, 1)])


def test_a_section_of_its_own_has_its_own_subjects() -> None:
    """`Status` below one project's heading does not contradict that of another project."""
    text = """## Projects
### Acme
- [P0] Status: open
### Globex
- [P0] Status: done
## Notes
- [P0] Deadline: Friday
## More notes
- [P0] Deadline: Monday
"""
    assert disagreeing(text) == [(7, 9)]


def test_the_same_words_twice_are_a_duplicate() -> None:
    """Case, marks, dates and priorities do not make two notes of one; a longer text does."""
    text = """- [P0] Alice prefers async communication.
- [P1][2026-02-24] alice PREFERS **async** communication
- [P1][2026-02-24] Alice prefers async communication
  - except on Fridays
- [P1][2026-02-24]
- [P1][2026-02-25]
- [P2][2020-01-01] Alice prefers async communication
- [P1][2026-02-24][superseded:2026-02-25] Alice prefers async communication
"""
    assert repeated(text) == [(2, 1)]
    assert disagreeing(text) == []
