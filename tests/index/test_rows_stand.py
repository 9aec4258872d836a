"""Every passage stands in its file where the index says so: else no answer could ever show it."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from agent_memfas.index import check, extract, keeper
from agent_memfas.index.check import Checker
from inputs.memory import Memory
from inputs.pieces import MARKUP, SOUP

from .support import ask, texts

SCRATCH = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
RECORDS = st.lists(
    st.sampled_from(['{"text": "heron", "date": "2026-01-05"}', '{"a": "\\ud800 \\n x"}', "[1]", "x",
                     '{"_schema": 1}', "{", '"' + "y " * 400 + '"', "\r", "\x85"]), max_size=6,
).map(lambda lines: "\n".join(lines).encode())  # fmt: skip
ODD = st.lists(
    st.sampled_from([b"\xf0\x9f", b"\n", b"\r", b"\r\n", b"\xe2\x80\xa8", b"\xef\xbb\xbf", b"a", b" ",
                     b"- x\n", b"\x0b", b"\0", b"\xff", b"\xed\xa0\x80", "部署。".encode() * 90,
                     b"word " * 90]), max_size=10,
).map(b"".join)  # fmt: skip


@settings(
    max_examples=int(os.environ.get("MEMFAS_EXAMPLES", "400")), deadline=None, database=None,
    suppress_health_check=list(HealthCheck),
)  # fmt: skip
@given(st.one_of(SOUP, ODD, RECORDS, MARKUP.map(lambda t: t.encode("utf-8", "surrogatepass"))),
       st.sampled_from(["a.md", "a.jsonl", "a.txt", "memory/2026-01-01.md"]))  # fmt: skip
@example(b"\xef\xbb\xbf\xef\xbb\xbf- x\r\r\n", "a.md")
def test_every_passage_of_any_file_stands_in_it(data: bytes, name: str) -> None:
    """Whatever bytes a file has: broken characters, odd line ends, marks, long lines, records."""
    rows = extract.extract(name, data).rows
    with tempfile.TemporaryDirectory(dir=SCRATCH) as root:
        path = Path(root, name)
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(data)
        checker = Checker(root)
        assert [row for row in rows if not checker.stands(name, row)] == []
    assert all(1 <= row.start <= row.end for row in rows)


@pytest.mark.parametrize("character", ["x", "é", "部", "💾"])
@pytest.mark.parametrize("lines", ["one line", "many lines"])
def test_of_a_file_over_the_limit_the_first_part_answers(
    memory: Memory, monkeypatch: pytest.MonkeyPatch, character: str, lines: str
) -> None:
    """The limit lies in the middle of a line or of a character: what is read is found, the rest is
    not, and I am told that it is missing."""
    monkeypatch.setattr(extract, "READ_CAP", 1000)
    monkeypatch.setattr(check, "CAP", 2000)
    end = "\n" if lines == "many lines" else " "
    text = "".join(f"- w{n}{character * (n % 7)}{end}" for n in range(400))
    memory.write("memory/a.md", text)
    for _ in range(2):
        answer = ask(memory, "w0", "-n", "99")
        assert (answer["fresh"], answer["notes"]) == (True, [])
        assert "only the first" in answer["files_skipped"][0]["reason"]
    last = [word for word in text.encode()[:1000].decode("utf-8", "ignore").split() if word != "-"]
    for word in last[:-1]:
        answer = ask(memory, word, "-n", "99")
        assert answer["hits"], word
        assert (answer["fresh"], answer["notes"]) == (True, []), word
    assert ask(memory, "w399")["hits"] == []


@pytest.mark.parametrize("again", [False, True], ids=["once", "each time"])
def test_a_line_that_changes_during_the_answer_is_not_shown_as_it_was(
    memory: Memory, monkeypatch: pytest.MonkeyPatch, again: bool
) -> None:
    """An agent changes a line after the folder was looked at and before the answer is given: the
    file is read once more; a line that changes each time is left out, and it is said."""
    memory.write("memory/a.md", "- the ibis host\n")
    memory.write("memory/b.md", "- the crow host\n")
    ask(memory, "ibis")
    sweep, count = keeper.sweep, [0]

    def late(*arguments: object) -> object:
        swept = sweep(*arguments)  # type: ignore[arg-type]
        count[0] += 1
        if again or count[0] == 1:
            memory.write("memory/a.md", f"- the {['gull', 'swan'][count[0] % 2]} host, ibis\n")
        return swept

    memory.write("memory/a.md", "- the lark host, ibis\n")
    monkeypatch.setattr(keeper, "sweep", late)
    monkeypatch.setattr(keeper, "_ROUNDS", 1)
    answer = ask(memory, "ibis crow")
    shown = {text for text in texts(answer) if "ibis" in text}
    assert shown <= {f"- {Path(memory.root / 'memory/a.md').read_text()[2:].rstrip()}"}
    assert "- the crow host" in texts(answer)
    if not again:
        assert (shown, answer["fresh"]) == ({"- the swan host, ibis"}, True)
