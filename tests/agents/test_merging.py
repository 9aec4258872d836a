"""Merging memory files as sets: whatever two machines do, no line is lost and none is marked."""

from __future__ import annotations

from collections import Counter
from datetime import date

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from agent_memfas.store.archive import Moved, block, find
from agent_memfas.text.documents import BOM, parse
from agent_memfas.text.entries import entries
from agent_memfas.text.merging import merge
from agent_memfas.text.units import ENTRY, OPEN, units

FACT = b"- [P1][2026-02-24] %s\n"
HEAD = b"# Memory\n\n## Facts\n\n"
BASE = (
    HEAD
    + b"- [P0] Timezone: US Eastern\n- [P1][2026-02-24] Project: acme\n\n## People\n\n- [P0] Alice: PM\n"
)
PIECES = [
    b"- [P1][2026-02-24] the first fact\n", b"- [P1][2026-02-24] the second fact\n",
    b"- [P2][2026-03-01] with more\n  under it\n\n  and more\n", b"- a plain item\n", b"- another\n",
    b"# Memory\n", b"## Facts\n", b"## People\n", b"### Alice\n", b"a line of prose\n", b"more prose\n",
    b"```\ncode\n- [P0] no entry\n```\n", b"<!-- a\ncomment -->\n", b"| a | b |\n", b"|---|---|\n",
    b"\n", b"\n\n", b"> quoted\n", b"Title\n===\n", b"    indented code\n", b"1. first\n", b"* star\n",
    b"- [P0] \xe6\x97\xb6\xe5\x8c\xba\n", b"---\n", b"{\"a\": 1}\n", b"\xff\xfe not text\n", b"```\n", b"<!-- open\n",
    block("20260301T040000-aaaaaa", date(2026, 3, 1), [Moved("a.md", 3, "", (b"- [P2] old\n",))]),
]  # fmt: skip
FILES = st.lists(st.sampled_from(PIECES), max_size=9).map(b"".join)
MARKERS = (b"<<<<<<<", b"=======", b">>>>>>>", b"|||||||")


@st.composite
def edited(draw: st.DrawFn, base: list[bytes]) -> list[bytes]:
    """A version made of a base as people do it: taken out, put in, changed, moved."""
    side = list(base)
    for _ in range(draw(st.integers(0, 4))):
        at = draw(st.integers(0, len(side)))
        what = draw(st.sampled_from(["in", "in", "out", "change", "move"]))
        if what == "in" or at == len(side):
            side.insert(at, draw(st.sampled_from(PIECES)))
        elif what == "out":
            del side[at]
        elif what == "change":
            side[at] = draw(st.sampled_from(PIECES))
        else:
            side.insert(draw(st.integers(0, len(side) - 1)), side.pop(at))
    return side


@st.composite
def histories(draw: st.DrawFn) -> tuple[bytes, bytes, bytes]:
    """Three versions: a base and two made of it; line ends, marks and last lines of any kind."""
    base = draw(st.lists(st.sampled_from(PIECES), max_size=8))
    out = []
    for pieces in (base, draw(edited(base)), draw(edited(base))):
        data = b"".join(pieces)
        manner = draw(st.sampled_from(["", "", "", "crlf", "bom", "cut"]))
        if manner == "crlf":
            data = data.replace(b"\n", b"\r\n")
        elif manner == "bom":
            data = BOM + data
        elif manner == "cut":
            data = data.removesuffix(b"\n")
        out.append(data)
    return out[0], out[1], out[2]


def keys(data: bytes) -> Counter[bytes]:
    return Counter(unit.key for unit in units(data.removeprefix(BOM)).units)


def entry_keys(data: bytes) -> Counter[bytes]:
    found = units(data.removeprefix(BOM)).units
    return Counter(unit.key for unit in found if unit.kind == ENTRY)


def lines(data: bytes) -> Counter[bytes]:
    return Counter(n.strip() for n in data.removeprefix(BOM).split(b"\n") if n.strip())


def wanted(base: bytes, ours: bytes, theirs: bytes) -> Counter[bytes]:
    """What must be there: what either side has, but for what one took out and the other left."""
    b, o, t = keys(base), keys(ours), keys(theirs)
    out = Counter[bytes]()
    for key in o | t:
        if o[key] == b[key]:
            out[key] = t[key]
        elif t[key] == b[key]:
            out[key] = o[key]
        else:
            out[key] = min(o[key], t[key]) if max(o[key], t[key]) < b[key] else max(o[key], t[key])
    return +out


@settings(max_examples=100)
@given(FILES)
def test_the_units_of_a_file_are_the_file(data: bytes) -> None:
    """Joined again with the blank lines between them they are the same bytes."""
    for markdown in (True, False):
        found = units(data, markdown=markdown)
        assert b"".join(u.gap + u.raw for u in found.units) + found.tail == data


@settings(max_examples=200)
@given(histories())
def test_nothing_is_lost_and_nothing_is_marked(versions: tuple[bytes, bytes, bytes]) -> None:
    """Every unit that is to stay does, whole; no line comes from nowhere; no conflict marker."""
    base, ours, theirs = versions
    merged = merge(base, ours, theirs)
    assert lines(merged).keys() <= lines(ours).keys() | lines(theirs).keys()
    for unit, count in wanted(base, ours, theirs).items():
        body = merged.replace(b"\r\n", b"\n")
        assert (body + b"\n").count(unit) >= min(count, 1), unit
    new = (lines(ours).keys() | lines(theirs).keys()) - lines(base).keys()
    assert new <= lines(merged).keys()


@settings(max_examples=150)
@given(histories())
def test_it_does_not_matter_whose_side_is_ours(versions: tuple[bytes, bytes, bytes]) -> None:
    """The same units in the same order."""
    base, ours, theirs = versions
    one, two = merge(base, ours, theirs), merge(base, theirs, ours)
    assert one.removeprefix(BOM).split() == two.removeprefix(BOM).split()


@settings(max_examples=150)
@given(histories())
def test_a_side_that_has_not_changed_gives_the_other(versions: tuple[bytes, bytes, bytes]) -> None:
    """Byte for byte; and what both have made the same is that."""
    base, ours, _ = versions
    assert merge(base, base, ours) == ours
    assert merge(base, ours, base) == ours
    assert merge(base, ours, ours) == ours


@settings(max_examples=150)
@given(histories())
def test_merging_again_changes_nothing(versions: tuple[bytes, bytes, bytes]) -> None:
    """What was merged has in it what the other side has to give: each entry as often as before, and
    no line more. (Left out are fences open on both sides, of which one closes the other, and
    indented code, which lands in the list item that it comes to stand behind.)
    """
    assume(not any(b"    indented" in data for data in versions))
    base, ours, theirs = versions
    merged = merge(base, ours, theirs)
    assume(all(unit.kind != OPEN for data in (*versions, merged) for unit in units(data).units))
    for again in (merge(base, merged, theirs), merge(base, ours, merged)):
        assert lines(again).keys() == lines(merged).keys()
        assert entry_keys(again) == entry_keys(merged)


@settings(max_examples=200)
@given(histories())
def test_the_manner_of_ours_is_kept(versions: tuple[bytes, bytes, bytes]) -> None:
    """Byte order mark, line ends, and whether the last line has an end, where both have changed."""
    base, ours, theirs = versions
    if not ours or base in (ours, theirs):
        return
    merged = merge(base, ours, theirs)
    if merged and ours.removeprefix(BOM).strip():
        assert merged.startswith(BOM) == ours.startswith(BOM)
        assert merged.endswith(b"\n") == ours.endswith(b"\n")


def test_both_add_to_the_same_section() -> None:
    """Both entries stand in it, in an order that is the same on both machines."""
    ours = BASE.replace(b"acme\n", b"acme\n- [P1][2026-03-01] ours\n")
    theirs = BASE.replace(b"acme\n", b"acme\n- [P1][2026-03-01] theirs\n")
    merged = merge(BASE, ours, theirs)
    assert merged == merge(BASE, theirs, ours)
    assert merged == BASE.replace(
        b"acme\n", b"acme\n- [P1][2026-03-01] ours\n- [P1][2026-03-01] theirs\n"
    )


def test_an_entry_changed_on_one_side_wins() -> None:
    """Renewed, superseded or taken out there, and left as it was here."""
    renewed = BASE.replace(b"- [P1][2026-02-24] Project", b"- [P1][2026-03-05] Project")
    gone = BASE.replace(b"- [P0] Alice: PM\n", b"- [P0] Alice: CTO\n").replace(
        b"- [P0] Timezone: US Eastern\n", b""
    )
    merged = merge(BASE, renewed, gone)
    texts = [entry.text for entry in entries(parse(merged))]
    assert texts == ["Project: acme", "Alice: CTO"]
    assert b"2026-03-05" in merged
    assert b"2026-02-24" not in merged


def test_an_entry_changed_on_both_sides_stands_in_both_versions() -> None:
    """Next to each other, whole: a person decides."""
    ours = BASE.replace(b"Project: acme\n", b"Project: acme, phase 2\n  with more\n")
    theirs = BASE.replace(b"Project: acme\n", b"Project: acme and heron\n") + b"- [P0] Bob: QA\n"
    merged = merge(BASE, ours, theirs)
    assert (
        b"- [P1][2026-02-24] Project: acme and heron\n"
        b"- [P1][2026-02-24] Project: acme, phase 2\n  with more\n"
    ) in merged
    assert merged.endswith(b"- [P0] Alice: PM\n- [P0] Bob: QA\n")


def test_renewed_here_and_archived_there() -> None:
    """What was changed on one side is not gone because the other side archived the old one."""
    ours = BASE.replace(b"- [P1][2026-02-24]", b"- [P1][2026-03-05]")
    theirs = BASE.replace(b"- [P1][2026-02-24] Project: acme\n", b"")
    assert merge(BASE, ours, theirs) == ours
    assert merge(BASE, theirs, ours) == ours


def test_moved_here_and_added_to_there() -> None:
    """An entry that one side has put under another heading is there, and the new one, too."""
    project = b"- [P1][2026-02-24] Project: acme\n"
    ours = BASE.replace(project, b"") + project
    theirs = BASE.replace(project, project + b"- [P0] Bob: QA\n")
    merged = merge(BASE, ours, theirs)
    assert merged == BASE.replace(project, b"- [P0] Bob: QA\n") + project
    assert merge(BASE, theirs, ours) == merged


def test_two_logs_of_one_day() -> None:
    """Begun on both machines: the heading stands once, the lines by their time."""
    ours = b"# 2026-03-01\n\n- 10:00 coffee\n- 12:00 lunch\n"
    theirs = b"# 2026-03-01\n\n- 11:00 meeting\n"
    merged = merge(b"", ours, theirs)
    assert merged == b"# 2026-03-01\n\n- 10:00 coffee\n- 12:00 lunch\n- 11:00 meeting\n"


def test_sections_are_not_mixed() -> None:
    """Each new section keeps its own lines, also where two of them say the same."""
    ours = BASE + b"\n## Ours\n\n- see below\n- one\n"
    theirs = BASE + b"- [P0] Bob: QA\n\n## Theirs\n\n- see below\n- two\n"
    merged = merge(BASE, ours, theirs)
    assert merged == BASE + (
        b"- [P0] Bob: QA\n\n## Ours\n\n- see below\n- one\n\n## Theirs\n\n- see below\n- two\n"
    )


def test_the_same_section_from_both_sides_is_one() -> None:
    """Its heading once, the lines of both under it."""
    ours = BASE + b"\n## New\n\n- one\n\n## Other\n\n- x\n"
    theirs = BASE + b"\n## New\n\n- two\n"
    merged = merge(BASE, ours, theirs)
    assert merged == BASE + b"\n## New\n\n- one\n- two\n\n## Other\n\n- x\n"


def test_two_tables_keep_their_rules() -> None:
    """What has no letter in it is not taken for the same line."""
    ours = BASE + b"\n| key | hint |\n|---|---|\n| a | b |\n"
    theirs = BASE + b"\n| day | what |\n|---|---|\n| c | d |\n"
    merged = merge(BASE, ours, theirs)
    assert merged.count(b"|---|---|\n") == 2
    assert b"| key | hint |\n|---|---|\n| a | b |\n" in merged
    assert b"| day | what |\n|---|---|\n| c | d |\n" in merged


def test_front_matter_fences_and_comments_stay_whole() -> None:
    """Changed on both sides they stand there twice, and each of them as it was written."""
    base = b"---\ntitle: a\n---\n\n```sh\nls\n```\n\n<!-- one\ntwo -->\n"
    ours = base.replace(b"ls", b"ls -l").replace(b"two", b"three")
    theirs = base.replace(b"ls", b"ls -a").replace(b"title: a", b"title: b")
    merged = merge(base, ours, theirs)
    assert merged == (
        b"---\ntitle: b\n---\n\n```sh\nls -a\n```\n\n```sh\nls -l\n```\n\n<!-- one\nthree -->\n"
    )


def test_an_unclosed_fence_does_not_grow() -> None:
    """Its lines stand for themselves: what both sides append below it is there once."""
    base = b"# Log\n\n```\nforgotten\n"
    merged = merge(base, base + b"- one\n", base + b"- two\n")
    assert merged == base + b"- one\n- two\n"


def test_prose_is_not_drawn_into_an_entry() -> None:
    """A line that lands behind an entry of the other side gets a blank line before it."""
    merged = merge(BASE, BASE + b"- [P0] Bob: QA\n", BASE + b"\nAnd this is prose.\n")
    assert [e.text for e in entries(parse(merged))][-1] == "Bob: QA"
    assert b"- [P0] Bob: QA\n\nAnd this is prose.\n" in merged


def archived(pass_id: str, *texts: bytes) -> bytes:
    moved = [Moved("MEMORY.md", 3 + n, "Memory", (FACT % text,)) for n, text in enumerate(texts)]
    return block(pass_id, date(2026, 6, 1), moved)


def test_what_two_janitors_archived_stands_once() -> None:
    """Both machines ran it in the same night: each entry is in one block, every block is whole."""
    base = archived("20260501T040000-cccccc", b"older")
    ours = base + archived("20260601T040000-aaaaaa", b"x", b"y")
    theirs = base + archived("20260601T040100-bbbbbb", b"x", b"z")
    merged = merge(base, ours, theirs)
    assert merged == merge(base, theirs, ours)
    texts = [(one.pass_id[-6:], b"".join(one.origin.lines)) for one in find(merged)]
    assert texts == [("cccccc", FACT % b"older"), ("aaaaaa", FACT % b"x"),
                     ("aaaaaa", FACT % b"y"), ("bbbbbb", FACT % b"z")]  # fmt: skip
    same = merge(base, ours, base + archived("20260601T040100-bbbbbb", b"y", b"x"))
    assert same == ours


def test_chunks_of_cold_storage_stay_whole() -> None:
    """Heading, fields and fence are one: two chunks that said the same are still two."""
    head = b"# Cold storage of 2026-03-01\n"
    chunk = b'\n## 14:05:31 user\n\n<!-- cold: {"chunk_id": "%s"} -->\n\n```text\nOK\n```\n'
    merged = merge(head, head + chunk % b"c1", head + chunk % b"c2")
    assert merged == head + chunk % b"c1" + chunk % b"c2"


@pytest.mark.parametrize(("ours_end", "theirs_end"), [(b"\r\n", b"\n"), (b"\n", b"\r\n")])
def test_the_line_ends_are_ours(ours_end: bytes, theirs_end: bytes) -> None:
    """All of them, and not one unit is there twice for its line ends."""
    ours = (BASE + b"- [P0] Bob: QA\n").replace(b"\n", ours_end)
    theirs = (BASE + b"- [P0] Eve: Ops\n").replace(b"\n", theirs_end)
    merged = merge(BASE, ours, theirs)
    assert merged == (BASE + b"- [P0] Bob: QA\n- [P0] Eve: Ops\n").replace(b"\n", ours_end)


def test_lines_of_data_are_merged_too() -> None:
    """A file that is no markdown is a set of lines; one that had no end of line is not glued."""
    base = b'{"a": 1}\n{"b": 2}'
    merged = merge(base, base + b'\n{"c": 3}\n', base + b'\n{"d": 4}\n', markdown=False)
    assert merged == b'{"a": 1}\n{"b": 2}\n{"c": 3}\n{"d": 4}\n'
