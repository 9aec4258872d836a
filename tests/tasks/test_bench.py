"""`memfas bench`: recall measured on questions of one's own."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from inputs.memory import Memory, Result
from ollama import ollama

pytestmark = pytest.mark.usefixtures("nothing_of_this_machine")
NAMES = ["E@250", "E@500", "E@1000", "E@2000", "ALL@250", "ALL@500", "ALL@1000", "ALL@2000", "MRR"]
LONG = 12  # entries about quokkas, of 200 characters, or 50 tokens, each


def about_quokkas(letter: str) -> str:
    """An entry of 200 characters, like no other."""
    words = " ".join(letter * size for size in range(3, 25))
    return f"- quokka {words}"[:190].strip().ljust(200, letter)


@pytest.fixture
def memory(tmp_path: Path) -> Memory:
    memory = Memory(tmp_path / "agent")
    memory.write(
        "MEMORY.md", "# M\n\n- [P0] the staging host is called heron\n- [P0] tea at four\n"
    )
    lines = (f"{about_quokkas(letter)}\n" for letter in "abcdefghijkl")
    memory.write("memory/2026-02-24.md", "".join(lines))
    return memory


def ask(memory: Memory, questions: list[dict[str, Any] | str], *more: str) -> Result:
    """`memfas bench` on these questions; text stands for a whole line."""
    lines = (q if isinstance(q, str) else json.dumps(q, ensure_ascii=False) for q in questions)
    path = memory.root.parent / "questions.jsonl"
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return memory.run("bench", str(path), *more)


def about(question: str, *expected: str, **more: str) -> dict[str, Any]:
    return {"question": question, "expected": list(expected), **more}


HERON = about("staging host", "MEMORY.md:3", category="hosts")
QUOKKAS = about(
    "quokka", *(f"memory/2026-02-24.md:{n}" for n in range(1, LONG + 1)), category="animals"
)
NOTHING = about("zyzzyva", "MEMORY.md#L3-L4", category="animals")


def test_the_figures_are_those_that_one_gets_by_hand(memory: Memory) -> None:
    """Of twelve passages of 50 tokens five fit into 250 and ten into 500; one question is answered
    at once, one with nothing: over all, and for each category."""
    data = ask(memory, [HERON, QUOKKAS, NOTHING], "-b", "fts5", "--json").data
    assert (data["questions"], data["limit"], data["not_there"]) == (3, 60, [])
    (found,) = data["backends"]
    assert (found["backend"], found["answered_with_nothing"], found["missed"]) == ("fts5", 1, 1)
    assert found["ms_median"] > 0
    assert found["figures"] == dict(zip(NAMES, (
        47.2, 61.1, 66.7, 66.7, 33.3, 33.3, 66.7, 66.7, 66.7,
    ), strict=True))  # fmt: skip
    assert found["by_category"] == {
        "animals": {"questions": 2, **dict(zip(NAMES, (
            20.8, 41.7, 50.0, 50.0, 0.0, 0.0, 50.0, 50.0, 50.0,
        ), strict=True))},
        "hosts": {"questions": 1, **dict.fromkeys(NAMES, 100.0)},
    }  # fmt: skip


def test_a_table_shows_them(memory: Memory) -> None:
    """One line for all questions and one for each category, under the names of the figures."""
    result = ask(memory, [HERON, QUOKKAS, NOTHING])
    lines = [line.split() for line in result.text.splitlines()]
    assert result.status == 0
    assert NAMES in lines
    assert ["all", "(3)", "47.2", "61.1", *["66.7"] * 2, *["33.3"] * 2, *["66.7"] * 3] in lines
    assert ["hosts", "(1)", *["100.0"] * 9] in lines
    assert "1 answered with nothing" in result.text
    plain = ask(memory, [{"question": "staging host", "expected": "MEMORY.md:3"}]).text
    assert "(none)" not in plain


def test_what_counts_is_what_recall_returns(memory: Memory) -> None:
    """The rank is that of the hit in `recall`; --limit cuts what is returned; a hit that shares a
    line with the expected ones will do."""
    hits = memory.run("recall", "quokka", "--json", "--limit", "60").data["hits"]
    third = hits[2]["start_line"]
    asked = about("quokka", f"./memory/2026-02-24.md:{third}")
    for limit, rank in ((60, 3), (3, 3), (2, 0)):
        (found,) = ask(memory, [asked], "--json", "--limit", str(limit)).data["backends"]
        assert found["figures"]["MRR"] == (round(100 / rank, 1) if rank else 0)
    wider = about("tea", "MEMORY.md:4-9")
    assert ask(memory, [wider], "--json").data["backends"][0]["figures"]["E@250"] == 100


def test_misses_show_what_came_first_instead(memory: Memory) -> None:
    """--misses N lists so many questions without one of their lines in 1,000 tokens, with line of
    the file, rank and first hit."""
    wrong = about("tea at four", "MEMORY.md:3")
    result = ask(memory, [HERON, "", wrong, NOTHING], "--misses", "1")
    assert "questions.jsonl:3: tea at four" in result.text
    assert "[MEMORY.md:4] - [P0] tea at four" in result.text
    assert "zyzzyva" not in result.text
    (found,) = ask(memory, [HERON, wrong, NOTHING], "--misses", "9", "--json").data["backends"]
    first, second = found["misses"]
    assert (first["line"], first["expected"], first["rank"]) == (2, ["MEMORY.md:3"], None)
    assert (first["first"]["path"], first["first"]["start_line"]) == ("MEMORY.md", 4)
    assert (second["question"], second["first"]) == ("zyzzyva", None)


@pytest.mark.parametrize(
    ("place", "why"),
    [
        ("memory/2020-01-01.md:1", "no such file"),
        ("../questions.jsonl:1", "no such file"),
        ("MEMORY.md:99", "4 lines"),
        ("archive/expired-2026-01.md:1", "does not search"),
        ("private.md:1", "does not search"),
    ],
)
def test_a_place_that_cannot_be_found_is_told_and_missed(
    memory: Memory, place: str, why: str
) -> None:
    """A file or a line that is not there, or that recall does not search, lowers the figures, and
    one learns of it with the line of the question."""
    memory.write("archive/expired-2026-01.md", "- [P2][2025-11-01] staging host: egret\n")
    memory.write("private.md", "- staging host\n")
    memory.write(".memfasignore", "private.md\n")
    asked = about("staging host", "MEMORY.md:3", place)
    result = ask(memory, [asked])
    assert result.status == 0
    assert why in result.errors
    assert f"questions.jsonl:1: {place}" in result.errors
    data = ask(memory, [asked], "--json").data
    assert [(lost["line"], lost["expected"]) for lost in data["not_there"]] == [(1, place)]
    assert data["backends"][0]["figures"]["E@250"] == 50


@pytest.mark.parametrize(
    "line",
    [
        "{", "[]", '{"expected": "MEMORY.md:3"}', '{"question": " ", "expected": "MEMORY.md:3"}',
        '{"question": "x"}', '{"question": "x", "expected": []}',
        '{"question": "x", "expected": "MEMORY.md"}', '{"question": "x", "expected": [3]}',
        '{"question": "x", "expected": "MEMORY.md:0"}',
        '{"question": "x", "expected": "MEMORY.md:5-3"}',
        '{"question": "x", "expected": "MEMORY.md:3", "category": ["y"]}',
    ],
)  # fmt: skip
def test_a_broken_line_is_named(memory: Memory, line: str) -> None:
    """By file and number; no figures are made of the rest."""
    result = ask(memory, [HERON, "", line])
    assert (result.status, result.text) == (1, "")
    assert "questions.jsonl:3: " in result.errors
    assert "Traceback" not in result.errors


def test_without_a_question_there_is_nothing_to_measure(memory: Memory) -> None:
    """Status 1 for a file without a question or no file at all, 2 for wrong options; --json too."""
    assert ask(memory, ["", "  "]).status == 1
    assert "no question" in ask(memory, [], "--json").data["error"]
    assert memory.run("bench", "nosuch.jsonl").status == 1
    for wrong in (("--limit", "0"), ("--misses", "-1"), ("--backend", "elastic")):
        assert ask(memory, [HERON], *wrong).status == 2


def test_questions_come_from_standard_input_too(memory: Memory) -> None:
    """`-`, here after a byte order mark and in UTF-8 whatever the locale."""
    asked = about("host 部署", "MEMORY.md:3", category="主机")
    raw = b"\xef\xbb\xbf" + json.dumps(asked, ensure_ascii=False).encode() + b"\r\n"
    done = memory.process("bench", "-", input=raw)
    assert done.returncode == 0, done.stderr
    assert "主机 (1)" in done.stdout.decode("utf-8")
    broken = memory.process("bench", "-", input=b'\n{"question": "\xff"}\n')
    assert b"standard input:2: not UTF-8" in broken.stderr


def test_backends_are_compared_side_by_side(
    memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What memfas.yaml names is measured; --backend, again and again, gives each its columns. A
    real server on this machine makes the vectors: horse and pony mean the same to it."""
    memory.write("memory/a.md", "- my horse is called Blitz\n")
    settings = "{backend: embedding, embedder_type: ollama, embedder_model: all-minilm}"
    memory.write("memfas.yaml", f"search: {settings}\n")
    asked = [about("pony", "memory/a.md:1")]
    with ollama() as address:
        monkeypatch.setenv("OLLAMA_HOST", address)
        (named,) = ask(memory, asked, "--json").data["backends"]
        both = ask(memory, asked, "--json", "-b", "fts5", "-b", "embedding").data["backends"]
        result = ask(memory, asked, "--backend", "fts5", "--backend", "embedding")
    assert (named["backend"], named["figures"]["E@250"]) == ("embedding", 100)
    assert [(one["backend"], one["figures"]["E@250"]) for one in both] == [
        ("fts5", 0), ("embedding", 100),
    ]  # fmt: skip
    lines = [line.split() for line in result.text.splitlines()]
    assert ["fts5", "embedding"] in lines
    assert ["all", "(1)", *["0.0"] * 5, *["100.0"] * 5] in lines


def test_a_backend_that_cannot_be_had_is_not_measured(
    memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where it is named by --backend that is an error; where memfas.yaml names it, words rank as
    they do for recall, and the figures say so."""
    with ollama() as address:
        monkeypatch.setenv("OLLAMA_HOST", address)
    memory.write("memfas.yaml", "search: {backend: embedding, embedder_type: ollama}\n")
    named = ask(memory, [HERON], "-b", "embedding", "--json")
    assert (named.status, named.data["remedy"]) == (75, "start it: ollama serve")
    result = ask(memory, [HERON], "--json")
    assert "ranked by words" in result.errors
    assert [one["backend"] for one in result.data["backends"]] == ["fts5"]


def test_measuring_leaves_no_trace(memory: Memory) -> None:
    """No file of the folder is written; an edit counts in the next measurement."""
    before = memory.truth()
    ask(memory, [HERON, QUOKKAS])
    assert memory.truth() == before
    assert sorted(p.name for p in memory.root.glob(".memfas/*") if "index" not in p.name) == []
    memory.write(
        "MEMORY.md", "# M\n\n- [P0] tea at four\n- [P0] the staging host is called heron\n"
    )
    (found,) = ask(memory, [HERON], "--json").data["backends"]
    assert found["figures"]["MRR"] == 0
