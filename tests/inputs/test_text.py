"""Bytes in, bytes out: line ends, marks and encodings are the user's, and stay theirs."""

from __future__ import annotations

import codecs
import json

import pytest

from .memory import CONTROL, HEAD, TEXT_BEGINS, TODAY, Memory, moves, only_control_leaves

OLD = b"- [P1][2020-01-01]"
BOM = codecs.BOM_UTF8
# What Python takes for line ends and markdown files do not.
ODD_SEPARATORS = ["\u2028", "\u2029", "\x0b", "\x0c", "\x1c", "\x1d", "\x1e", "\x85"]


def test_windows_line_ends_stay(memory: Memory) -> None:
    """My file has CRLF everywhere: it keeps them, and so do the lines in the archive."""
    before = b"# M\r\n\r\n" + OLD + b" gone\r\n  and on\r\n\r\n- [P0] stays\r\n"
    after = b"# M\r\n\r\n\r\n- [P0] stays\r\n"
    moves(memory, before, after, OLD + b" gone\r\n  and on\r\n")


def test_mixed_line_ends_stay_mixed(memory: Memory) -> None:
    """Each line keeps the end that it has."""
    before = b"# M\n\r\n" + OLD + b" a\r\n- [P0] b\n" + OLD + b" c\n- [P0] d\r\n\n\r\n- [P0] e\r"
    after = b"# M\n\r\n- [P0] b\n- [P0] d\r\n\n\r\n- [P0] e\r"
    moves(memory, before, after, OLD + b" a\r\n" + OLD + b" c\n")


def test_a_carriage_return_inside_a_line_stays(memory: Memory) -> None:
    """What a progress bar left in an entry ends no line for us and may end one for others: such
    an entry stays, every byte of it, and is reported."""
    text = OLD + b" 10%\r50%\r100%\n- [P0] 1\r2\n\r\n"
    data = only_control_leaves(memory, text)
    assert TEXT_BEGINS in [miss["line"] for miss in data["near_misses"]]


@pytest.mark.parametrize("first", [b"# M\r\r", b""])
def test_a_file_with_old_mac_line_ends_loses_nothing(memory: Memory, first: bytes) -> None:
    """Every line ends with a lone carriage return: whatever is made of that, a P0 entry stays."""
    before = first + OLD + b" gone?\r- [P0] for ever\r"
    memory.write("MEMORY.md", before)
    assert memory.janitor().status in (0, 1)
    assert b"- [P0] for ever" in memory.read()
    assert not memory.archived or b"for ever" not in memory.archived


@pytest.mark.parametrize("separator", ODD_SEPARATORS)
def test_only_line_feeds_end_lines(memory: Memory, separator: str) -> None:
    """Unusual separators are characters like any other: what they seem to begin is no entry, and
    what they seem to end goes on."""
    odd = separator.encode()
    prose = b"prose" + odd + OLD + b" no entry\n"
    entry = OLD + b" one" + odd + b"line\n  goes" + odd + b"on\n"
    moves(memory, HEAD + prose + entry + b"- [P0] x\n", HEAD + prose + b"- [P0] x\n", entry)


def test_a_byte_order_mark_hides_nothing(memory: Memory) -> None:
    """Notepad wrote a BOM: the entry on the first line expires all the same."""
    memory.write("MEMORY.md", BOM + CONTROL + b"- [P0] stays\n")
    result = memory.janitor()
    assert [moved["start_line"] for moved in result.data["moved"]] == [1]
    assert memory.read().removeprefix(BOM) == b"- [P0] stays\n"


def test_a_byte_order_mark_stays_with_the_file(memory: Memory) -> None:
    """It marks the file, not its first line: the file keeps it, and the archive is given none."""
    memory.write("MEMORY.md", BOM + CONTROL + b"- [P0] stays\n")
    memory.janitor()
    assert memory.read() == BOM + b"- [P0] stays\n"
    assert BOM not in memory.archived


def test_a_byte_order_mark_before_a_heading_stays(memory: Memory) -> None:
    """The same where the first line does not move."""
    moves(memory, BOM + HEAD + CONTROL, BOM + HEAD, CONTROL)


@pytest.mark.parametrize(
    "data",
    [
        pytest.param((HEAD + CONTROL).decode().encode("utf-16"), id="utf-16"),
        pytest.param(HEAD + CONTROL + b"- [P0] caf\xe9\n", id="latin-1"),
        pytest.param(HEAD + CONTROL + b"- [P0] \xff\xfe\n", id="no-utf-8-at-all"),
        pytest.param(HEAD + CONTROL + b"- [P0] \xed\xa0\x80\n", id="surrogate-as-bytes"),
        pytest.param(HEAD + CONTROL + b"- [P0] \xe4\xb8", id="cut-in-a-character"),
    ],
)
def test_a_file_that_is_not_utf_8_is_left_alone(memory: Memory, data: bytes) -> None:
    """It is reported by name and not rewritten; the other file is tended all the same."""
    memory.write("MEMORY.md", data)
    memory.write("shared/MEMORY.md", HEAD + CONTROL)
    result = memory.janitor()
    assert result.status == 1
    (error,) = result.data["errors"]
    assert "MEMORY.md" in error["error"]
    assert "UTF-8" in error["error"]
    assert "MEMORY.md" in result.errors
    assert memory.read() == data
    assert memory.read("shared/MEMORY.md") == HEAD
    assert memory.archive_entries == CONTROL


def test_a_null_byte_stays_in_the_file(memory: Memory) -> None:
    """A NUL in an entry, in its neighbours and alone on a line: kept where it is, archived as is."""
    entry = OLD + b" a\0b\n  \0\n"
    before = HEAD + b"\0\n" + entry + b"- [P0] c\0d\n"
    moves(memory, before, HEAD + b"\0\n- [P0] c\0d\n", entry)


def test_text_that_is_not_utf_8_is_written_as_utf_8(memory: Memory) -> None:
    """An agent passes Latin-1 bytes: the log stays a UTF-8 file, and says where a byte was odd."""
    done = memory.process("log", b"caf\xe9 au lait")
    assert done.returncode == 0, done.stderr
    (log,) = (memory.root / "memory").iterdir()
    assert "caf\ufffd au lait" in log.read_bytes().decode("utf-8")


def test_odd_characters_survive_a_printout(memory: Memory) -> None:
    """Emoji and Chinese under cron, which has no locale: the janitor prints and does its work."""
    entry = OLD + " 部署 👨‍👩‍👧 naïve\n".encode()
    memory.write("MEMORY.md", HEAD + entry)
    done = memory.process("janitor", "--today", TODAY)
    assert done.returncode == 0, done.stderr
    assert "部署 👨‍👩‍👧 naïve" in done.stdout.decode("utf-8")
    assert (memory.read(), memory.archive_entries) == (HEAD, entry)


def test_an_emoji_is_shown_whole_or_not_at_all(memory: Memory) -> None:
    """Where the janitor shortens a line for display it does not cut a family into persons."""
    family = "👨‍👩‍👧‍👦"
    for length in range(54, 62):
        memory.write("MEMORY.md", HEAD + OLD + f" {'x' * length}{family} end\n".encode())
        shown = memory.run("janitor", "--dry-run", "--today", TODAY).text
        assert shown.count("👨") == shown.count(family)


def test_direction_marks_are_shown_escaped(memory: Memory) -> None:
    """A right-to-left override cannot make one text look like another: I see that it is there."""
    memory.write("MEMORY.md", HEAD + OLD + " safe \u202egnp.exe \u2066x\u2069\n".encode())
    for command in (["janitor", "--dry-run", "--today", TODAY], ["expiring"], ["recall", "safe"]):
        result = memory.run(*command)
        assert "safe" in result.text
        assert not set("\u202e\u2066\u2069") & set(result.everything)
    answer = memory.run("recall", "--json", "safe")
    assert not set("\u202e\u2066\u2069") & set(answer.text)
    assert "safe \u202egnp.exe" in answer.data["hits"][0]["text"]


def test_headings_inside_fences_are_no_headings(memory: Memory) -> None:
    """A shell comment in a fence is not a section: archive and recall name the true heading."""
    before = b"# M\n\n## Deploy\n\n```sh\n# install deps\n```\n\n" + CONTROL
    before += b"- [P0] the fallback port is 9999\n"
    memory.write("MEMORY.md", before)
    assert memory.janitor().status == 0
    assert b"<!-- from MEMORY.md:9 | M > Deploy -->\n" + CONTROL in memory.archived
    (hit,) = memory.run("recall", "--json", "fallback port").data["hits"]
    assert (hit["heading"], hit["start_line"]) == ("M > Deploy", 9)


def test_setext_headings_are_headings(memory: Memory) -> None:
    """Underlined headings count as those with hashes do."""
    memory.write("MEMORY.md", b"M\n===\n\nTools\n---\n\n" + CONTROL)
    assert memory.janitor().status == 0
    assert b"| M > Tools -->" in memory.archived


@pytest.mark.parametrize("escaped", [r"\ud800", r"\udfff", r"\ud83d"])
def test_half_a_surrogate_pair_harms_nothing(memory: Memory, escaped: str) -> None:
    """A lesson holds half of an emoji, cut by some tool: it is found, and the answer is UTF-8."""
    memory.write("lessons/ops.jsonl", f'{{"lesson": "restart heron {escaped} first"}}\n')
    answer = memory.run("recall", "--json", "restart heron")
    assert answer.status == 0
    assert "heron" in answer.data["hits"][0]["text"]
    assert "heron" in memory.run("recall", "restart heron").text
    json.dumps(answer.data, ensure_ascii=True)
