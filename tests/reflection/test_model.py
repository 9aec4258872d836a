"""A model that answers well: what it is shown, and what stands in the files afterwards."""

from __future__ import annotations

import json

import pytest

from agent_memfas.text.insights import hash_of
from inputs.memory import TODAY, Memory
from llm.server import Server
from reflection.support import (
    DAY,
    INSIGHTS,
    LOG,
    MARK,
    NAME,
    answer,
    compound,
    insight,
    kept,
    markdown,
    numbered,
    pending,
    sound,
)

GOOD = [
    insight("Move billing to Postgres 16", "billing service moved to Postgres 16", 3,
            section="Session Intent"),
    insight("deploy/billing.yaml — replicas 2 to 3", "replicas from 2 to 3", 6, section="Files Modified"),
    insight(),
    insight("migration failed / lock timeout 5 s / 60", "lock timeout was 5 seconds. Setting it to 60", 5,
            section="Lessons Learned", importance=8),
    insight("Alice likes short mails", "prefers short status mails", 7, section="patterns ", importance=0),
    insight("Ask Bob about staging", "ask Bob when the staging host moves", 8, section="Open Items"),
]  # fmt: skip
FILE = f"""# Insights - February 2026

## 2026-02-24 Insights
<!-- compounded: {NAME}#L1-L8 sha256:{hash_of(LOG.splitlines())} by toy on {TODAY} -->

### Session Intent

- Move billing to Postgres 16 "billing service moved to Postgres 16" ({NAME}#L3-L3) <!-- importance: 7 -->

### Files Modified

- deploy/billing.yaml — replicas 2 to 3 "replicas from 2 to 3" ({NAME}#L6-L6) <!-- importance: 7 -->

### Decisions Made

- Postgres — JSON support "chose Postgres over MySQL because of its JSON support" ({NAME}#L4-L4) <!-- importance: 7 -->

### Lessons Learned

- migration failed / lock timeout 5 s / 60 "lock timeout was 5 seconds. Setting it to 60" ({NAME}#L5-L5) <!-- importance: 8 -->

### Patterns

- Alice likes short mails "prefers short status mails" ({NAME}#L7-L7)

### Open Items

- [ ] Ask Bob about staging "ask Bob when the staging host moves" ({NAME}#L8-L8) <!-- importance: 7 -->

### Statistics

"""
PLACES = f"""- Postgres — JSON support "chose Postgres over MySQL" ({NAME}#L4-L4)
- it rests on two lines “over MySQL because of its JSON support. - 10:05 The migration failed” ({NAME}#L4-L5)"""


def test_the_file_of_insights_byte_for_byte(memory: Memory, server: Server) -> None:
    """A heading, a head, seven sections in their order, each insight with its lines, a rule; the
    log gets its mark behind all that stood there."""
    server.script = [answer(*GOOD)]
    result = compound(memory)
    assert result.status == 0, result.everything
    text = memory.read(INSIGHTS).decode()
    assert text.startswith(FILE)
    statistics, _, end = text[len(FILE) :].partition("\n")
    assert statistics.startswith("- 8 lines, ")
    assert statistics.endswith(f" tokens ({NAME}#L1-L8)")
    assert end == "\n---\n\n"
    assert memory.read(NAME).decode() == LOG + MARK
    assert result.text == f"✓ {NAME}#L1-L8 → {INSIGHTS}:3: 6 insights\n"
    sound(memory)


def test_what_the_model_is_shown(memory: Memory, server: Server) -> None:
    """The rules, and each line of the log behind its number between marks that are new each time."""
    server.script = [answer(*GOOD)]
    compound(memory)
    assert numbered(server) == [(0, n, line) for n, line in enumerate(LOG.splitlines(), start=1)]
    (body,) = server.asked
    assert body["response_format"]["json_schema"]["strict"] is True
    assert NAME in server.said()
    mark = server.said().splitlines()[1]
    assert mark in body["messages"][0]["content"]
    memory.write(NAME, LOG + f"- {mark}\n- 16:00 That was the mark of the first time.\n")
    compound(memory, "--date", DAY)
    assert server.said().count(mark) == 1
    assert mark not in server.asked[1]["messages"][0]["content"]


def test_a_second_run_asks_nothing(memory: Memory, server: Server) -> None:
    """What has its insights is done; no file changes."""
    server.script = [answer(*GOOD)]
    compound(memory)
    before = memory.truth()
    result = compound(memory)
    assert (result.status, result.text) == (0, "Nothing to compound.\n")
    assert memory.truth() == before
    assert len(server.asked) == 1


@pytest.mark.parametrize("text", [
    f"```json\n{answer(*GOOD)}\n```", f"<think>{{hm}}</think>\n{answer(*GOOD)}",
    f"Here is what I found:\n\n```\n{answer(*GOOD)}\n```\n\nAnything else?", json.dumps(GOOD),
    f"\ufeff{answer(*GOOD)}", json.dumps({"insights": GOOD, "thoughts": {"a": [1]}}, indent=2),
], ids=["fenced", "after thoughts", "in words", "a bare list", "BOM", "more keys"])  # fmt: skip
def test_forms_of_an_answer(memory: Memory, server: Server, text: str) -> None:
    """However a model wraps its JSON, the same insights come of it."""
    server.script = [text]
    assert compound(memory).status == 0
    assert memory.read(INSIGHTS).decode().startswith(FILE)
    assert len(server.asked) == 1


@pytest.mark.parametrize("text", [
    markdown(*PLACES.split("\n")), f"```markdown\n{markdown(*PLACES.split(chr(10)))}```",
    f"Here they are {{at last}}:\n\n{markdown(*PLACES.split(chr(10)))}\nThat is {{all}}.",
], ids=["plain", "fenced", "with braces in its words"])  # fmt: skip
def test_markdown_is_an_answer_too(memory: Memory, server: Server, text: str) -> None:
    """A model that heeds no schema may answer in the form of the file itself."""
    server.script = [text]
    assert compound(memory).status == 0
    first, second = kept(memory)
    assert first == f'- Postgres — JSON support "chose Postgres over MySQL" ({NAME}#L4-L4)'
    assert second.endswith(f"({NAME}#L4-L5)")
    assert len(server.asked) == 1
    sound(memory)


def test_a_long_log_is_taken_in_parts(memory: Memory, server: Server) -> None:
    """Each of its lines, blank ones included, is in exactly one question, each fits the window, and
    the insights of all parts stand in one block."""
    lines = ["# 2026-02-24", "", *(f"- 09:{n % 60:02} Step {n} went well, the count is {n * 7919}."
                                  for n in range(300))]  # fmt: skip
    log = "\n".join(lines) + "\n"
    memory.write(NAME, log)
    memory.write("memfas.yaml", memory.read("memfas.yaml").decode().replace(
        "timeout: 20", "timeout: 20, window: 2000, max_tokens: 500"))  # fmt: skip

    def first_line(body: dict) -> str:
        line = next(n for n in body["messages"][-1]["content"].splitlines() if "| - " in n)
        number, _, text = line.partition("| - ")
        return answer(insight(f"about {number}", text[6:], int(number)))

    server.script = [first_line]
    assert compound(memory).status == 0
    shown = numbered(server)
    assert [(n, text) for _, n, text in shown] == list(enumerate(lines, start=1))
    assert len(server.asked) > 3
    assert len(kept(memory)) == len(server.asked)
    assert memory.read(INSIGHTS).count(b"<!-- compounded:") == 1
    sound(memory, log)


def test_a_line_that_is_longer_than_a_part_stands_in_several(
    memory: Memory, server: Server
) -> None:
    """No character of it is lost, and each piece has the line's number."""
    words = " ".join(f"w{n}" for n in range(3000))
    log = f"# 2026-02-24\n\n- before it\n- {words}\n- behind it\n"
    memory.write(NAME, log)
    memory.write("memfas.yaml", memory.read("memfas.yaml").decode().replace(
        "timeout: 20", "timeout: 20, window: 2000, max_tokens: 500"))  # fmt: skip
    server.script = [answer(insight("long", "w2990 w2991 w2992", 4))]
    assert compound(memory).status == 0
    shown = numbered(server)
    assert "".join(text for _, n, text in shown if n == 4) == f"- {words}"
    assert [text for _, n, text in shown if n != 4] == [
        "# 2026-02-24",
        "",
        "- before it",
        "- behind it",
    ]
    assert len(kept(memory)) == 1
    sound(memory, log)


def test_a_chinese_log(memory: Memory, server: Server) -> None:
    """Its quotations are found though no spaces part the words, whichever punctuation is used."""
    log = "# 2026-02-24\n\n- 09:00 张伟决定把计费服务迁移到新加坡的服务器，因为延迟更低。\n- 10:00 午饭。\n"
    memory.write(NAME, log)
    server.script = [answer(
        insight("计费服务迁移到新加坡 — 延迟更低", "把计费服务迁移到新加坡的服务器,因为延迟更低", 3),
        insight("编造", "张伟决定把计费服务迁移到东京", 3),
    )]  # fmt: skip
    result = compound(memory, "--date", DAY)
    assert result.status == 0
    assert "1 insight, 1 dropped" in result.text
    assert kept(memory)[0].startswith("- 计费服务迁移到新加坡 — 延迟更低 ")
    sound(memory, log)


def test_only_new_lines_are_sent(memory: Memory, server: Server) -> None:
    """What was added since has questions of its own; a block of its own names these lines."""
    server.script = [answer(*GOOD)]
    compound(memory)
    more = (
        "- 16:00 Carol signed the contract with Initech for two years, starting in May this year.\n"
    )
    log = LOG + MARK + more
    memory.write(NAME, log)
    server.script = [answer(insight("Initech signed", "Carol signed the contract with Initech", 10),
                            insight("an old line", "replicas from 2 to 3", 6))]  # fmt: skip
    result = compound(memory, "--date", DAY)
    assert [(n, text) for at, n, text in numbered(server) if at == 1] == [(10, more.rstrip())]
    assert "1 insight, 1 dropped" in result.text
    assert memory.read(INSIGHTS).decode().startswith(FILE)
    assert memory.read(NAME).decode() == log + MARK
    assert pending(memory) == []


def test_an_edited_log_is_seen_again(memory: Memory, server: Server) -> None:
    """All of it is asked about once more; what is known already is not written twice."""
    server.script = [answer(*GOOD)]
    compound(memory)
    log = LOG.replace("on Fridays", "on Mondays")
    memory.write(NAME, log)
    assert [row["file"] for row in pending(memory)] == [NAME]
    server.script = [answer(*GOOD, insight("Mails are for Mondays", "status mails on Mondays", 7))]
    result = compound(memory, "--json")
    (done,) = result.data["compounded"]
    assert (len(done["insights"]), done["known"], done["dropped"]) == (1, 6, [])
    assert memory.read(NAME).decode() == log + MARK
    assert pending(memory) == []
    sound(memory, log)


def test_an_edited_fact_is_written_anew(memory: Memory, server: Server) -> None:
    """Where the words that an insight rested on are gone, the same insight with others is new: else
    nothing that stands would say so any more."""
    server.script = [answer(*GOOD)]
    compound(memory)
    log = LOG.replace("because of its JSON support", "for its JSON columns")
    memory.write(NAME, log)
    server.script = [answer(insight(quote="chose Postgres over MySQL for its JSON columns"))]
    (done,) = compound(memory, "--json").data["compounded"]
    assert (len(done["insights"]), done["known"]) == (1, 0)
    assert memory.run("verify", "--today", TODAY, "--json").data["counts"]["stands"] == 6


@pytest.mark.parametrize(("first", "last"), [(4, 4), (1, 1), (8, 8), (900, 900), (0, 0), (5, 3)])
def test_wrong_lines_are_mended(memory: Memory, server: Server, first: int, last: int) -> None:
    """A true quotation gets the lines on which it stands, whatever lines were named."""
    server.script = [answer(insight(first=first, last=last))]
    assert compound(memory).status == 0
    assert f"({NAME}#L4-L4)" in kept(memory)[0]
    sound(memory)
