"""What holds for every file and every text, tried on many thousands that nobody has thought of."""

from __future__ import annotations

import os
import re
import shutil
import tempfile
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import date
from pathlib import Path
from random import Random

import pytest
from hypothesis import HealthCheck, assume, example, given, settings
from hypothesis import strategies as st

from agent_memfas.tasks.janitor import plan
from agent_memfas.text.documents import parse, split
from agent_memfas.text.entries import Terms, entries
from agent_memfas.text.nearmiss import near_misses

from .memory import CONFIG, TODAY, Memory
from .pieces import BOM, EXAMPLE, FILES, OPENERS, SOUP, TEXT, WHOLE

DAY = date.fromisoformat(TODAY)
many = settings(max_examples=5_000, deadline=None, database=None)
some = settings(max_examples=1_500, deadline=None, database=None)
few = settings(
    max_examples=50,
    deadline=None,
    database=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)


@contextmanager
def folder() -> Iterator[Memory]:
    """A memory folder for one example; those of hypothesis share no fixture."""
    memory = Memory(Path(tempfile.mkdtemp(prefix="memfas-property-")))
    try:
        memory.write("memfas.yaml", CONFIG)
        yield memory
    finally:
        shutil.rmtree(memory.root)


def lines_of(data: bytes) -> Counter[bytes]:
    """The lines of a file, counted; the mark at its head belongs to no line, and the last line
    counts as if it had an end."""
    return Counter(line.removesuffix(b"\n") for line in split(data.removeprefix(BOM)))


@many
@given(st.one_of(st.binary(max_size=200), SOUP))
def test_any_bytes_are_a_document(data: bytes) -> None:
    """Whatever a file holds, it is read as lines that give the same bytes again, and every block,
    region, entry and near miss lies within them."""
    document = parse(data)
    assert b"".join(document.lines) == data
    assert all(b"\n" not in line[:-1] for line in document.lines)
    assert len(document.text_lines) == len(document.lines)
    assert not any("\n" in line for line in document.text_lines)
    last = len(document.lines)
    for span in (*document.blocks, *document.regions, *entries(document)):
        assert 0 <= span.start < span.end <= last
    for miss in near_misses(document, DAY):
        assert 0 <= miss.line < last
        assert miss.problem
        assert "\n" not in (miss.fixed or "")
    ends = [entry.end for entry in entries(document)]
    assert all(e.start >= end for e, end in zip(entries(document)[1:], ends, strict=False))


@many
@given(FILES)
def test_exactly_what_has_expired_leaves(data: bytes) -> None:
    """Of entries of all ages with anything under them, between examples, near misses and prose,
    each expired one leaves, whole, and nothing else does."""
    draft = plan(parse(data), "MEMORY.md", Terms(), DAY)
    gone = b"".join(line for moved in draft.moved for line in moved.lines)
    assert b"STAYS" not in gone
    assert b"GOES" not in draft.new
    check_rules(data, draft.new, [moved.lines for moved in draft.moved])


@many
@given(SOUP)
def test_nothing_is_lost_whatever_a_file_holds(data: bytes) -> None:
    """Open fences, junk, noise: the lines of before are those that stay and those that leave."""
    draft = plan(parse(data), "MEMORY.md", Terms(), DAY)
    check_rules(data, draft.new, [moved.lines for moved in draft.moved])


EXPIRED = re.compile(rb" {0,3}- \[P[12]\]\[[0-9]{4}-[0-9]{2}-[0-9]{2}\]")


def check_rules(before: bytes, after: bytes, moved: list[tuple[bytes, ...]]) -> None:
    """No line lost, doubled, changed or out of order; what left began as an entry with a term; a
    second run finds nothing more to do."""
    assert b"".join(parse(before).lines) == before
    mark = BOM if before.startswith(BOM) else b""
    gone = [line.removeprefix(mark) for block in moved for line in block]
    old, new = split(before.removeprefix(mark)), split(after.removeprefix(mark))
    assert Counter(new) + Counter(gone) == Counter(old)
    left = iter(old)
    assert all(line in left for line in new)
    for block in moved:
        assert EXPIRED.match(block[0].removeprefix(BOM))
        assert all(not line.strip() or line[:1] in b" \t" for line in block[1:])
    if after.startswith(BOM) and not mark:
        return  # a mark from inside the file has become the file's own: it begins anew
    again = plan(parse(after), "MEMORY.md", Terms(), DAY)
    assert (again.new, again.moved) == (after, ())


@some
@given(WHOLE, st.sampled_from(OPENERS), WHOLE)
def test_nothing_behind_an_open_mark_leaves(
    before: list[bytes], opener: str, after: list[bytes]
) -> None:
    """A fence, comment or <pre> that is never closed keeps all that follows."""
    closers = ("```", "~~~~", "-->", "</pre>", "</details>", "<!--")
    assume(not any(c in p.decode("utf-8", "replace") for p in after for c in closers))
    head = b"".join([*before, b"\n"])
    tail = b"".join([opener.encode(), *after, EXAMPLE.encode()])
    assert plan(parse(head + tail), "MEMORY.md", Terms(), DAY).new.endswith(tail)


@few
@given(FILES)
@example(b"- [P1][2020-01-01] GOES")
@example(BOM + b"- [P1][2020-01-01] GOES\n- [P0] STAYS\n")
def test_the_janitor_keeps_the_rules_and_undo_takes_it_back(data: bytes) -> None:
    """Through real files: what stays and what is archived is what was there; a second run changes
    no file; undo gives the very bytes back, and nothing is left in the archive."""
    with folder() as memory:
        path = memory.write("MEMORY.md", data)
        assert memory.janitor("--force").status == 0
        after = memory.read()
        assert b"GOES" not in after
        assert b"STAYS" not in memory.archived
        kept = lines_of(after) + lines_of(memory.archived)
        assert not lines_of(data) - kept
        assert after.count(b"STAYS") == data.count(b"STAYS")
        assert memory.archived.count(b"GOES") == data.count(b"GOES")
        truth = memory.truth()
        assert memory.janitor("--force").status == 0
        assert memory.truth() == truth
        if after != data:
            os.utime(path, (0, 0))
            assert memory.run("undo").status == 0
            assert b"GOES" not in memory.archived
        assert memory.read() == data


@few
@given(FILES, st.randoms(use_true_random=False))
@example(BOM + b"- [P1][2020-01-01] GOES", Random(1))
@example(BOM + b"- [P1][2020-01-01] GOES\r\n- [P0] STAYS", Random(1))
@example(
    b"- [P2][2020-01-01][superseded:2021-01-01] GOES\n\tby a tab GOES\n- [P1][2020-01-01] GOES\n"
    b"- [P2][2020-01-01][superseded:2021-01-01] GOES\n\tby a tab GOES\n- [P1][2020-01-01] GOES\n"
    b"- [P1][2020-01-01] GOES\n- [P1][2020-01-01] GOES\n"
    b"- [P2][2020-01-01][superseded:2021-01-01] GOES\n  - [P2][2020-01-01] GOES", Random(0),
)  # fmt: skip
def test_what_is_restored_is_whole(data: bytes, random: Random) -> None:
    """Each archived entry comes back, one by one, in any order: then the file has the lines that
    it had, each entry with its own under it, and nothing stays in the archive."""
    with folder() as memory:
        memory.write("MEMORY.md", data)
        assert memory.janitor("--force").status == 0
        blocks = [moved.lines for moved in plan(parse(data), "MEMORY.md", Terms(), DAY).moved]
        for _ in blocks:
            name = f"archive/expired-{TODAY[:7]}.md"
            lines = memory.read(name).split(b"\n")
            starts = [n + 2 for n, line in enumerate(lines) if line.startswith(b"<!-- from ")]
            os.utime(memory.root / "MEMORY.md", (0, 0))
            os.utime(memory.root / name, (0, 0))
            place = random.choice(starts)
            assert memory.run("restore", f"{name}:{place}").status == 0
        assert lines_of(memory.read()) == lines_of(data)
        assert b"GOES" not in memory.archived
        for block in blocks:
            assert b"".join(block).strip(b"\r\n") in memory.read()


@settings(few, max_examples=100)
@given(TEXT, TEXT)
def test_an_added_text_is_one_entry_and_no_more(text: str, second: str) -> None:
    """Whatever an agent wants to have remembered becomes one line and one entry, which hides
    nothing that follows: no other entry, heading, fence or comment comes of it."""
    with folder() as memory:
        memory.write("MEMORY.md", b"# M\n\n- [P0] before\n")
        first = memory.run("add", "--", text)
        assert first.status == (0 if one_line(text) else 2), first
        memory.run("add", "-p", "P2", "--", second)
        memory.run("add", "-p", "P0", "--", "after")
        written = bool(one_line(text)) + bool(one_line(second))
        document = parse(memory.read())
        assert len(document.lines) == 3 + written + 1
        assert document.decodable
        found = entries(document)
        assert [e.start for e in found] == list(range(2, len(document.lines)))
        assert [e.end - e.start for e in found] == [1] * len(found)
        assert all(e.tag.date is not None for e in found[1:-1])
        assert [h.text for h in document.headings] == ["M"]


def one_line(text: str) -> str:
    """What is left of a text without what separates."""
    return "".join(text.replace("\0", "").split())


@few
@given(TEXT)
def test_a_logged_text_is_one_bullet_and_no_more(text: str) -> None:
    """The same for the log: one line of the form `- HH:MM text`, under one heading."""
    with folder() as memory:
        result = memory.run("log", "--", text)
        assert result.status == (0 if one_line(text) else 2)
        memory.run("log", "--", "after")
        (log,) = (memory.root / "memory").iterdir()
        document = parse(log.read_bytes())
        bullets = [line for line in document.text_lines if re.match(r"- \d\d:\d\d ", line)]
        assert len(bullets) == len(document.lines) - 2 == 1 + bool(one_line(text))
        assert len(document.headings) == 1
        assert not document.opaque


@pytest.mark.parametrize(
    "text",
    [
        "<!-- a --><details>",
        "<!-- a --><pre>",
        "<!-- `-->`",
        "`<!-- ` a -->",
        "<!-- a --> <!-- b",
        "a\n- [P0] forged",
        "a\r\n\r\n# Forged",
        "```",
        "<!--",
        "-->",
        "<script>",
        "\\`<!--\\`",
    ],
)
def test_known_tricks_hide_nothing(memory: Memory, text: str) -> None:
    """Texts that open a comment or a block by some detour: the entry behind is an entry still."""
    memory.write("MEMORY.md", b"# M\n\n")
    assert memory.run("add", "--", text).status == 0
    memory.write("MEMORY.md", memory.read() + b"- [P0] after\n")
    document = parse(memory.read())
    assert [entry.start for entry in entries(document)] == [2, 3]
    assert len(document.lines) == 4


@pytest.mark.parametrize(
    "text", ["a\n- [P0] forged", "<!-- open", "x <!-- `-->`", "```\n", "\udce9\x00\u2028", "[P0]"]
)
def test_a_successor_forges_nothing(memory: Memory, text: str) -> None:
    """The new text of `supersede` is one line of one entry, like that of `add`."""
    memory.write("MEMORY.md", b"# M\n\n- [P1][2026-02-20] was\n- [P0] after\n")
    assert memory.run("supersede", "MEMORY.md:3", "--", text).status == 0
    document = parse(memory.read())
    assert [entry.start for entry in entries(document)] == [2, 3, 4]
    assert len(document.lines) == 5
