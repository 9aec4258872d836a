"""A log, answers about it, and what must be true of a memory folder whatever a model has said."""

from __future__ import annotations

import json
import re
from typing import Any

from agent_memfas.text.documents import parse
from agent_memfas.text.entries import entries
from agent_memfas.text.insights import SECTIONS, heads
from agent_memfas.text.triggers import commented
from inputs.memory import TODAY, Memory, Result
from llm.server import Server

DAY = "2026-02-24"
NAME = f"memory/{DAY}.md"
INSIGHTS = "insights/2026-02.md"
LOG = """# 2026-02-24

- 09:00 Alice wants the billing service moved to Postgres 16 this week.
- 09:20 We chose Postgres over MySQL because of its JSON support.
- 10:05 The migration failed: the lock timeout was 5 seconds. Setting it to 60 fixed it.
- 11:00 Edited deploy/billing.yaml: replicas from 2 to 3.
- 12:30 Alice prefers short status mails on Fridays.
- 15:00 Still to do: ask Bob when the staging host moves.
"""
MARK = f"<!-- compounded: {TODAY} -->\n"
QUOTE = "chose Postgres over MySQL because of its JSON support"


def insight(
    text: str = "Postgres — JSON support", quote: str = QUOTE, first: int = 4, last: int | None = None,
    section: str = "Decisions Made", importance: int = 7,
) -> dict[str, Any]:  # fmt: skip
    """What a model says of a line, by default something true."""
    return {"section": section, "text": text, "quote": quote, "first_line": first,
            "last_line": first if last is None else last, "importance": importance}  # fmt: skip


def answer(*insights: Any) -> str:
    """An answer as the schema has it."""
    return json.dumps({"insights": list(insights)})


def markdown(*lines: str, day: str = DAY, section: str = "Decisions Made") -> str:
    """An answer as an agent writes it."""
    return "\n".join([f"## {day} Insights", "", f"### {section}", "", *lines, ""])


def compound(memory: Memory, *arguments: str) -> Result:
    """`memfas compound` on a fixed day."""
    return memory.run("compound", "--today", TODAY, *arguments)


def pending(memory: Memory) -> list[dict[str, Any]]:
    """What waits, by `compound --list`."""
    found = compound(memory, "--list", "--json").data["pending"]
    assert isinstance(found, list)
    return found


def numbered(server: Server) -> list[tuple[int, int, str]]:
    """The lines of logs that the server was shown: (number of the request, of the line, text)."""
    found = []
    for n in range(len(server.asked)):
        shown = re.search(
            r"^(===== \w+ =====)\n(.*)\n\1$", server.said(n), re.DOTALL | re.MULTILINE
        )
        assert shown, server.said(n)
        for line in shown[2].split("\n"):
            number, bar, text = line.partition("| ")
            assert bar, line
            found.append((n, int(number), text))
    return found


def kept(memory: Memory) -> list[str]:
    """The lines of insight that stand in the files."""
    made = sorted(memory.root.glob("insights/*.md"))
    lines = (line for path in made for line in path.read_text("utf-8").split("\n"))
    return [line for line in lines if line.startswith("- ") and "tokens; " not in line]


def sound(
    memory: Memory, log: str | bytes = LOG, name: str = NAME, *, standing: bool = True
) -> None:
    """Whatever was said: no entry, trigger or heading has come of it, no byte of the log is lost,
    and all insights stand."""
    before = log.encode() if isinstance(log, str) else log
    assert memory.read(name).startswith(before)
    for line in memory.read(name)[len(before) :].decode().splitlines():
        assert not line or line == MARK.strip(), line
    for path in sorted(memory.root.rglob("*.md")):
        data = path.read_bytes()
        document, place = parse(data), str(path.relative_to(memory.root))
        if place.startswith("memory/"):
            continue
        assert document.decodable
        assert b"\0" not in data
        assert b"\x1b" not in data
        assert entries(document) == []
        assert list(commented(document, place)) == []
        assert all(region.closed for region in document.regions)
        blocks = list(heads(document.text_lines))
        sections = [h.text for h in document.headings if h.level == 3]
        assert "|".join(sections).count(SECTIONS[-1]) == len(blocks)  # which is in each block
        for block in "|".join(sections).removesuffix(SECTIONS[-1]).split(f"{SECTIONS[-1]}|"):
            named = [name for name in block.split("|") if name]
            assert named == [name for name in SECTIONS if name in named]
        assert sum(h.level == 2 for h in document.headings) == len(blocks)
        assert len(document.headings) == 1 + len(blocks) + len(sections)
    if standing and (memory.root / "insights").exists():
        verified = memory.run("verify", "--today", TODAY, "--json", "--dry-run")
        counts = verified.data["counts"]
        assert counts == {"stands": len(kept(memory)), "moved": 0, "stale": 0, "gone": 0}
        assert verified.status == 0


def nothing_written(memory: Memory, result: Result, status: int, log: str = LOG) -> None:
    """It ended with that status and a sentence; the log is as it was and still waits."""
    assert result.status == status, result.everything
    assert "Traceback" not in result.everything
    assert result.errors.startswith("memfas: ")
    assert len(result.errors) < 2000
    assert memory.read(NAME) == log.encode()
    assert not (memory.root / "insights").exists()
    assert [row["file"] for row in pending(memory)] == [NAME]
