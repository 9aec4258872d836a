"""Correcting near misses: only the reported lines, and once is enough; messages without secrets."""

from __future__ import annotations

from datetime import date

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent_memfas.text.contradictions import claims
from agent_memfas.text.documents import BOM, parse
from agent_memfas.text.entries import Terms, entries
from agent_memfas.text.nearmiss import near_misses
from agent_memfas.text.problems import between, in_bytes, in_entries, mended, quoted

TODAY = date(2026, 3, 1)
PIECES = """- |* |+ |1. |-|  |    |\t| |[P1]|[P2]|[P0]|[p1]|[P3]|[P-1]|[ P1 ]|［P1］|[2026-02-24]|[2026-2-4]
| [2026-02-24]|[24.02.2026]|[20260224]|[YYYY-MM-DD]|[2026-W09-2]|[9999-12-31]|[0000-00-00]|[ ]|[x]|**|`|```|~~~
|<!--|-->|[ttl:14d]|[ttl:x]|[until:2026-12-31]|[superseded:2026-03-01]|text|key: value|> |# h|---|(u)|[a](b.md)
|<pre>|</pre>|<details>|\r|\x0b|\x1c|\x85|\u2028|\u3000|\u00a0|\ufeff|_|–""".replace(
    "\n", ""
).split("|")
line = st.lists(st.sampled_from(PIECES), max_size=7).map("".join)
ending = st.sampled_from(["\n", "\n", "\r\n", "\n\n"])
files = st.tuples(
    st.sampled_from([b"", b"", BOM]),
    st.lists(st.tuples(line, ending).map("".join), max_size=8).map("".join),
    st.sampled_from(["", "* [P1] last"]),
).map(lambda parts: parts[0] + (parts[1] + parts[2]).encode())


@given(files)
@settings(max_examples=500)
def test_a_correction_changes_only_the_reported_lines(data: bytes) -> None:
    """Every line that is not reported as corrected keeps its bytes; a corrected one keeps its line
    end, and the file its byte order mark and its missing last newline.
    """
    document = parse(data)
    new, done = mended(document, TODAY)
    after = parse(new).lines
    reported = {miss.line: miss.fixed for miss in done}
    assert len(after) == len(document.lines)
    for n, (old_line, new_line) in enumerate(zip(document.lines, after, strict=True)):
        if n not in reported:
            assert new_line == old_line
            continue
        mark = BOM if n == 0 and old_line.startswith(BOM) else b""
        end = old_line[len(old_line.rstrip(b"\r\n")) :] if old_line.endswith(b"\n") else b""
        end = b"\r\n" if end.endswith(b"\r\n") else end[-1:]
        assert new_line == mark + str(reported[n]).encode() + end


@given(files)
@settings(max_examples=500)
def test_a_second_correction_changes_nothing(data: bytes) -> None:
    """After lint --fix there is nothing left that lint --fix would change."""
    new, _ = mended(parse(data), TODAY)
    assert mended(parse(new), TODAY) == (new, [])


@given(files)
def test_what_was_an_entry_is_still_the_same_entry(data: bytes) -> None:
    """Correcting the lines around it never changes what a sound entry says or when it expires."""
    document = parse(data)
    reported = {miss.line for miss in near_misses(document, TODAY)}
    new, _ = mended(document, TODAY)
    after = {entry.start: entry.tag for entry in entries(parse(new))}
    for entry in entries(document):
        if entry.start not in reported and entry.start in after:
            assert after[entry.start] == entry.tag


@given(st.binary(max_size=200) | files)
def test_no_file_is_too_broken_to_be_looked_at(data: bytes) -> None:
    """Whatever bytes a file holds, it is reported on: each problem has a line of it and one line of
    text.
    """
    document = parse(data)
    found = [*in_bytes("x.md", document), *in_entries("x.md", document, TODAY)]
    found += between(claims("x.md", document, TODAY, Terms()))
    for problem in found:
        assert 1 <= problem.line <= max(1, len(document.lines))
        assert "\n" not in problem.message


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("* [P1][2026-02-24] text  ", "- [P1][2026-02-24] text  "),
        ("  * [p2][2026-2-4] x", "  - [P2][2026-02-04] x"),
        ("- [P1] [2026-02-24] [ttl:14d] x", "- [P1][2026-02-24] [ttl:14d] x"),
        ("- [ ] [P1] call Bob", "- [P1][2026-03-01] [ ] call Bob"),
        ("- [P0] [2026-02-24] (maybe) x", "- [P0][2026-02-24] (maybe) x"),
    ],
)
def test_the_rest_of_a_corrected_line_stays(before: str, after: str) -> None:
    """Indentation, terms, task boxes and blanks at the end of the line are kept."""
    assert mended(parse(before.encode()), TODAY)[0] == after.encode()


def test_a_bullet_that_only_a_correction_brings_to_light_is_corrected_too() -> None:
    """`-[P1]` is no bullet, so what stands under it is code; both are entries in the end."""
    data = b"-[P1] a\n\n    -[P1] b\n"
    new, done = mended(parse(data), TODAY)
    assert new == b"- [P1][2026-03-01] a\n\n    - [P1][2026-03-01] b\n"
    assert [miss.line for miss in done] == [0, 2]


def test_a_link_in_place_of_tags_is_reported_and_not_corrected() -> None:
    """`[ttl:14d](x.md)` is a link to markdown: what was meant only its writer knows."""
    (problem,) = in_entries("x.md", parse(b"- [P1][2026-02-24][ttl:14d](x.md) y\n"), TODAY)
    assert (problem.rule, problem.fixed) == ("near-miss", None)


def test_what_is_never_closed_is_told_apart_from_near_misses() -> None:
    """A fence or a comment that is never closed hides everything after it, and is named so."""
    for opening in (b"```", b"<!-- x", b"<details>"):
        (problem,) = in_entries("x.md", parse(b"# x\n\n" + opening + b"\n- [P1] y\n"), TODAY)
        assert (problem.line, problem.rule, problem.fixed) == (3, "open-fence", None)


def test_no_message_shows_a_secret() -> None:
    """Neither a finding, nor a corrected line, nor a contradiction prints my keys."""
    key = "ghp_" + "16C7e42F292c6912E7710c838347Ae178B4a"
    text = f"* [P1][2026-02-24] token: {key}\n- [P0] Deploy host: {key}\n- [P0] Deploy host: db1\n"
    text += "- [P0] Wifi password: rabbit\n- [P0] Wifi password: carrot\n"
    document = parse(text.encode())
    found = [*in_bytes("x.md", document), *in_entries("x.md", document, TODAY)]
    found += between(claims("x.md", document, TODAY, Terms()))
    assert {"secret", "near-miss", "contradiction"} == {problem.rule for problem in found}
    shown = repr(found)
    assert "ghp_…" in shown
    assert not any(word in shown for word in (key[4:], "rabbit", "carrot"))


def test_a_file_in_another_encoding_is_named_with_the_line_at_fault() -> None:
    """UTF-16 is called by its name, and a stray Latin-1 byte by its line."""
    (utf16,) = in_bytes("x.md", parse("héllo\n".encode("utf-16")))
    (latin,) = in_bytes("x.md", parse(b"a\nb\nh\xe9llo\n"))
    assert (utf16.line, utf16.rule, utf16.message[:6]) == (1, "not-utf8", "UTF-16")
    assert (latin.line, latin.rule) == (3, "not-utf8")


def test_a_quotation_is_short_and_never_cut_inside_a_character() -> None:
    """A family emoji or a letter with its accent is shown whole or not at all."""
    family = "\U0001f468\u200d\U0001f469\u200d\U0001f467"
    for n in range(40, 52):
        shown = quoted("x" * n + family + "e\u0301" * 10)
        assert len(shown) <= 51
        assert not shown.rstrip("…").endswith("\u200d")
        assert family in shown or "\U0001f468" not in shown
    assert quoted("two\n lines") == "two lines"
