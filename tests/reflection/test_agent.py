"""The agent as the model, a program as the model, and none: compound's other ways."""

from __future__ import annotations

import io
import json
import re
import sys
from pathlib import Path

import pytest

from inputs.memory import CONFIG, Memory, Result
from llm.server import Server
from reflection.support import (
    DAY,
    INSIGHTS,
    LOG,
    MARK,
    NAME,
    QUOTE,
    answer,
    compound,
    insight,
    kept,
    markdown,
    nothing_written,
    pending,
    sound,
)

TRUE = f'- Postgres — JSON support "{QUOTE}" ({NAME}#L4-L4)'
SECOND = f"memory/{DAY}-evening.md"


def accept(memory: Memory, said: str | bytes, *arguments: str, where: str = "answer.md") -> Result:
    """`memfas compound --accept FILE` of a file beside the folder."""
    path = memory.root.parent / where
    path.write_bytes(said.encode() if isinstance(said, str) else said)
    return compound(memory, "--accept", str(path), *arguments)


def program(memory: Memory, script: str) -> None:
    """A shell script as the model."""
    path = memory.root.parent / "model.sh"
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)
    memory.write("memfas.yaml", f"{CONFIG}llm: {{command: '{path}', timeout: 10}}\n")


@pytest.mark.parametrize(("said", "arguments"), [
    (markdown(TRUE), ()), (f"```markdown\n{markdown(TRUE)}\n```\n", ()), (markdown(TRUE).replace("\n", "\r\n"), ()),
    (answer(insight()), ("--date", DAY)), (json.dumps({"date": DAY, "insights": [insight()]}), ()),
    (f"\ufeff{markdown(TRUE)}", ()), (f"Here it is.\n\n{markdown(TRUE)}\n\nAnything else?", ()),
], ids=["markdown", "fenced", "CRLF", "JSON", "JSON with its day", "BOM", "in words"])  # fmt: skip
def test_an_answer_of_an_agent(
    memory: Memory, server: Server, said: str, arguments: tuple[str, ...]
) -> None:
    """In any of the forms it is judged like that of a model; nobody else is asked."""
    result = accept(memory, said, *arguments)
    assert result.status == 0, result.everything
    assert [line.partition(" <!--")[0] for line in kept(memory)] == [TRUE]
    assert " by agent on " in memory.read(INSIGHTS).decode()
    assert memory.read(NAME).decode() == LOG + MARK
    assert server.asked == pending(memory) == []
    sound(memory)


@pytest.mark.parametrize(
    "raw", [markdown(TRUE).encode(), b"\xef\xbb\xbf" + markdown(TRUE).encode()]
)
def test_an_answer_on_standard_input(
    memory: Memory, monkeypatch: pytest.MonkeyPatch, raw: bytes
) -> None:
    """It is UTF-8 whatever the locale says of standard input."""
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(raw), encoding="ascii"))
    assert compound(memory, "--accept", "-").status == 0
    assert "Postgres — JSON" in kept(memory)[0]


@pytest.mark.parametrize(("said", "arguments", "status", "words"), [
    (answer(insight()), (), 2, "names no day"), (markdown(TRUE, day="2026-02-23"), (), 1, "no log of 2026-02-23"),
    (markdown(TRUE), ("--date", "2026-02-23"), 1, "no log of 2026-02-23"), (markdown(TRUE, day="2026-02-30"), (), 2, "day"),
    ("", ("--date", DAY), 1, "neither JSON nor"), ("I am sorry.", ("--date", DAY), 1, "neither JSON nor"),
    ('{"insights": [', ("--date", DAY), 1, "not valid JSON"), (answer(None), ("--date", DAY), 1, "no object"),
    (b"\xff\xfe\x00", ("--date", DAY), 1, "not UTF-8"), (markdown(TRUE, section="Secrets"), (), 1, "no such section"),
    (markdown(f'- x "never said" ({NAME}#L4-L4)'), (), 1, "does not stand"),
    (markdown(f'- x "{QUOTE}" (memory/2026-02-20.md#L3-L3)'), (), 1, "does not stand"),
])  # fmt: skip
def test_an_answer_that_is_none(
    memory: Memory, said: str | bytes, arguments: tuple[str, ...], status: int, words: str
) -> None:
    """It is said what is wrong, and nothing is written."""
    result = accept(memory, said, *arguments)
    nothing_written(memory, result, status)
    assert words in result.errors


@pytest.mark.parametrize("what", ["missing", "a folder"])
def test_a_file_that_is_none(memory: Memory, what: str) -> None:
    """A sentence with the name of the file."""
    path = memory.root / "memory" if what == "a folder" else Path("/nonexistent/answer.md")
    result = compound(memory, "--accept", str(path))
    nothing_written(memory, result, 1)
    assert str(path) in result.errors


def test_a_day_of_two_logs(memory: Memory) -> None:
    """An answer is for the one that it names; where it names none or both nothing is guessed."""
    other = "# 2026-02-24\n\n- 20:00 Carol signed the contract with Initech for two years.\n" * 2
    memory.write(SECOND, other)
    theirs = f'- Initech "signed the contract with Initech" ({SECOND}#L3-L3)'
    for said in (answer(insight()), markdown(TRUE, theirs), markdown(f'- x "{QUOTE}"')):
        result = accept(memory, said, "--date", DAY)
        assert result.status == 1
        assert "2 logs of 2026-02-24" in result.errors
        assert not (memory.root / "insights").exists()
    assert accept(memory, markdown(theirs)).status == 0
    assert [row["file"] for row in pending(memory)] == [NAME]
    assert accept(memory, markdown(TRUE)).status == 0
    assert pending(memory) == []
    assert len(kept(memory)) == 2
    assert memory.read(INSIGHTS).count(b"<!-- compounded:") == 2
    sound(memory)


def test_an_answer_for_what_is_compounded_already(memory: Memory) -> None:
    """What is new in it is added, what is known is counted, the log has one mark."""
    accept(memory, markdown(TRUE))
    more = '- Mails are short "prefers short status mails"'
    result = accept(memory, markdown(TRUE, more), "--json")
    (done,) = result.data["compounded"]
    assert (len(done["insights"]), done["known"]) == (1, 1)
    assert len(kept(memory)) == 2
    assert memory.read(NAME).decode() == LOG + MARK
    sound(memory)


def test_a_dry_run_of_an_answer(memory: Memory) -> None:
    """What would be appended is shown, nothing changes."""
    before = memory.truth()
    result = accept(memory, markdown(TRUE), "--dry-run")
    assert result.status == 0
    assert TRUE in result.text
    assert memory.truth() == before


def test_the_prompt_leads_to_an_answer(memory: Memory, server: Server) -> None:
    """It holds each line with its number, the sections and the form; an answer in the form of its
    own example is understood."""
    text = compound(memory, "--print-prompt", DAY).text
    for n, line in enumerate(LOG.splitlines(), start=1):
        assert f"\n{n}| {line}\n" in text
    assert compound(memory, "--extract", DAY).text.splitlines()[-3:-1] == text.splitlines()[-3:-1]
    form = re.search(r"^## .*?\n- [^\n]*\n", text, re.DOTALL | re.MULTILINE)
    assert form
    said = form[0].replace("words of the log", QUOTE).replace("#L3-L4", "#L4-L4")
    assert accept(memory, said).status == 0
    assert len(kept(memory)) == 1
    assert server.asked == []


def test_a_prompt_is_for_what_is_new(memory: Memory) -> None:
    """Of a log that has grown its new lines, of one that is done all of it, of none a sentence."""
    accept(memory, markdown(TRUE))
    assert "\n8| " in compound(memory, "--print-prompt", DAY).text
    memory.write(NAME, LOG + MARK + "- 16:00 One more line.\n")
    text = compound(memory, "--print-prompt", DAY).text
    assert "\n10| - 16:00 One more line.\n" in text
    assert "\n8| " not in text
    assert compound(memory, "--print-prompt", "2026-02-23").status == 1
    assert compound(memory, "--print-prompt", "yesterday").status == 2


def test_done_is_only_for_what_is_done(memory: Memory) -> None:
    """A mark without insights is refused; with them it is set once."""
    nothing_written(memory, compound(memory, "--done", DAY), 1)
    nothing_written(memory, compound(memory, "--done", "2026-02-23"), 1)
    accept(memory, markdown(TRUE))
    memory.write(NAME, LOG)
    for _ in range(2):
        assert compound(memory, "--done", DAY).status == 0
        assert memory.read(NAME).decode() == LOG + MARK
    memory.write(NAME, LOG + MARK + "- 16:00 One more line.\n")
    result = compound(memory, "--done", DAY)
    assert result.status == 1
    assert memory.read(NAME).decode() == LOG + MARK + "- 16:00 One more line.\n"


def test_a_program_as_the_model(memory: Memory) -> None:
    """It is given the prompt and prints the answer; its name stands in the block."""
    program(memory, f"cat > '{memory.root.parent}/seen'\nprintf '%s' '{answer(insight())}'")
    assert compound(memory).status == 0
    seen = (memory.root.parent / "seen").read_text()
    assert all(f"{n}| {line}" in seen for n, line in enumerate(LOG.splitlines(), start=1))
    assert " by model.sh on " in memory.read(INSIGHTS).decode()
    sound(memory)


@pytest.mark.parametrize(("script", "status"), [
    ("exit 3", 1), ("kill -9 $$", 1), ("sleep 60", 75), ("yes no", 1), ("echo no", 1), ("true", 1),
    ("printf '\\377\\376\\000'", 1), ("cat", 1), ("cat >&2; exit 1", 1),
])  # fmt: skip
def test_a_program_that_fails(memory: Memory, script: str, status: int) -> None:
    """Whatever it does, nothing is written, and it is over in time."""
    program(memory, script)
    text = memory.read("memfas.yaml").decode()
    memory.write(
        "memfas.yaml",
        text.replace("timeout: 10", "timeout: 1" if "sleep" in script else "timeout: 10"),
    )
    nothing_written(memory, compound(memory), status)


def test_a_program_that_is_not_there(memory: Memory) -> None:
    """That is a mistake of the settings."""
    memory.write("memfas.yaml", f"{CONFIG}llm: {{command: /nonexistent/model}}\n")
    nothing_written(memory, compound(memory), 3)


@pytest.mark.parametrize("way", ["none", "no setting", "--no-model"])
def test_no_model(memory: Memory, server: Server, way: str) -> None:
    """Then memfas extracts, says so in the block, and asks nobody."""
    if way != "--no-model":
        memory.write("memfas.yaml", CONFIG + ("llm: {model: none}\n" if way == "none" else ""))
    result = compound(memory, *(["--no-model"] if way == "--no-model" else []))
    assert result.status == 0
    assert server.asked == []
    assert kept(memory)
    assert " by memfas on " in memory.read(INSIGHTS).decode()
    assert memory.read(NAME).decode() == LOG + MARK
    sound(memory)


@pytest.mark.parametrize("option", ["--show-payload", "--dry-run"])
def test_without_a_model_nothing_is_sent_anyway(memory: Memory, option: str) -> None:
    """Showing what would be sent is a mistake there, a dry run is not."""
    memory.write("memfas.yaml", CONFIG)
    before = memory.truth()
    assert compound(memory, option).status == (2 if option == "--show-payload" else 0)
    assert memory.truth() == before


def test_extraction_of_hostile_logs(memory: Memory) -> None:
    """What a log says of itself becomes nothing but words either."""
    from reflection.test_hostile import TEXTS

    told = [text[:2000].encode("utf-8", "replace").decode() for text in TEXTS.values()]
    log = LOG + "".join(f"- 16:00 Decided: we keep {text}\n" for text in told)
    memory.write(NAME, log)
    memory.write("memfas.yaml", CONFIG)
    assert compound(memory).status == 0
    assert len(kept(memory)) > 5
    sound(memory, log)
