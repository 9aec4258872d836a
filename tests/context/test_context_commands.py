"""`memfas compact`, `recover`, `cold`, `context`, and `recall --cold`, as users call them."""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
from datetime import date, timedelta
from pathlib import Path
from typing import Any

import pytest

from commandline import REPO
from inputs.memory import CONFIG, Memory

PLAN = "We decided on the migration plan: dump Postgres, verify checksums, switch on Friday"
SIZE = ("--max-tokens", "6000")
FACT = "The heron nests behind the old boathouse, near the reeds"
WORDS = ("river stone lamp garden window copper violin harbour paper meadow engine silver curtain "
         "basket thunder pillow marble orchard ladder feather").split()  # fmt: skip


@pytest.fixture
def memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Memory:
    """A memory folder in use."""
    monkeypatch.delenv("MINIMAX_API_KEY", raising=False)
    made = Memory(tmp_path / "memory-folder")
    made.write("MEMORY.md", "- [P0] Alice leads the acme project\n")
    made.write("memfas.yaml", f"timezone: UTC\n{CONFIG}")
    return made


def talk(turns: int = 40) -> list[dict[str, Any]]:
    """A conversation in which the plan is made early and then left."""
    source = random.Random(3)
    found: list[dict[str, Any]] = [
        {"role": "system", "content": "You are terse."},
        {"role": "user", "content": "How do we migrate the database? See src/db/migrate.py"},
        {"role": "assistant", "content": PLAN},
        {"role": "user", "content": FACT},
    ]
    for n in range(turns):
        found.append({"role": "user", "content": f"{n} {' '.join(source.choices(WORDS, k=40))}"})
        found.append({"role": "assistant", "content": " ".join(source.choices(WORDS, k=80))})
    found.append({"role": "user", "content": "Is the violin in the harbour? What is left to do?"})
    return found


def written(memory: Memory, messages: list[dict[str, Any]], name: str = "talk.jsonl") -> Path:
    path = memory.root.parent / name
    path.write_text("".join(json.dumps(m) + "\n" for m in messages))
    return path


def test_compact_makes_a_transcript_smaller_and_loses_nothing(memory: Memory) -> None:
    """The result is beside the source, under the trigger; what left it is in cold storage and
    found; SESSION-STATE.md says what was being done; the source is as it was."""
    messages = talk()
    path = written(memory, messages)
    before = path.read_bytes()
    done = memory.run("compact", str(path), *SIZE, "--prompt", "zebra", "--json").data
    assert path.read_bytes() == before
    smaller = path.with_name("talk.compacted.jsonl")
    assert done["output"] == str(smaller)
    assert done["tokens_after"] < 3000 < done["tokens_before"]
    kept = [json.loads(line) for line in smaller.read_text().splitlines()]
    assert kept[0] == messages[0]
    assert kept[-1] == messages[-1]
    cold = (memory.root / "cold-storage").glob("*.md")
    text = "".join(file.read_text() for file in cold)
    for message in messages:
        assert message in kept or message["content"] in text
    hits = memory.run("recover", "where does the heron nest", "--json").data["hits"]
    assert hits[0]["text"] == FACT
    state = memory.read("SESSION-STATE.md").decode()
    for said in ("What is left to do?", "dump Postgres", "src/db/migrate.py", "(message 3)"):
        assert said in state


def test_a_second_run_changes_nothing(memory: Memory) -> None:
    """Nothing is stored twice, and the result has the same bytes, a day later, too."""
    path = written(memory, talk())
    arguments = ("compact", str(path), *SIZE, "--prompt", "zebra")
    assert memory.run(*arguments).status == 0
    first = path.with_name("talk.compacted.jsonl").read_bytes()
    stored = {file: file.read_bytes() for file in (memory.root / "cold-storage").iterdir()}
    state = memory.read("SESSION-STATE.md")
    again = memory.run(*arguments, "--json").data
    assert path.with_name("talk.compacted.jsonl").read_bytes() == first
    assert {f: f.read_bytes() for f in (memory.root / "cold-storage").iterdir()} == stored
    assert memory.read("SESSION-STATE.md") == state
    assert again["stored"] == []


def test_what_people_wrote_in_the_work_buffer_stays(memory: Memory) -> None:
    """Byte for byte, with CRLF, whatever the order of its sections; `undo` takes ours away."""
    mine = "# State\r\n\r\n## State\r\n\r\nMy own line.\r\n\r\n## Current task\r\nKeep me\r\n"
    memory.write("SESSION-STATE.md", mine)
    path = written(memory, talk())
    assert memory.run("compact", str(path), *SIZE, "--prompt", "zebra").status == 0
    now = memory.read("SESSION-STATE.md")
    assert b"dump Postgres" in now
    rest = now
    for section in (b"Current task", b"State"):
        assert b"## " + section + b"\r\n<!-- memfas: " in now
    while b"<!-- memfas: " in rest:
        begin = rest.index(b"<!-- memfas: ")
        end = rest.index(b"<!-- /memfas -->\r\n") + len(b"<!-- /memfas -->\r\n")
        rest = rest[:begin] + rest[end:]
    assert rest.startswith(mine.encode())
    assert memory.run("undo").status == 0
    assert memory.read("SESSION-STATE.md") == mine.encode()


def test_claude_code_sessions_are_compacted(memory: Memory) -> None:
    """Tool calls stay with their results, the chain of lines stays whole, other lines stay."""
    lines, parent = ['{"type":"summary","summary":"x","leafUuid":"y"}'], None
    for n, message in enumerate(talk()[1:]):
        content = [{"type": "text", "text": message["content"]}]
        if message["role"] == "assistant":
            content.append({"type": "tool_use", "id": f"t{n}", "name": "Bash", "input": {"n": n}})
        for part, role in ((content, message["role"]), *(
            [([{"type": "tool_result", "tool_use_id": f"t{n}", "content": "out " * 30}], "user")]
            if message["role"] == "assistant" else []
        )):  # fmt: skip
            uuid = f"u{len(lines)}"
            lines.append(json.dumps({
                "parentUuid": parent, "isSidechain": False, "sessionId": "sess", "type": role,
                "message": {"role": role, "content": part}, "uuid": uuid,
                "timestamp": f"2026-03-01T10:{n % 60:02}:00.000Z"}))  # fmt: skip
            parent = uuid
    path = memory.root.parent / "session.jsonl"
    path.write_text("\n".join(lines) + "\n")
    done = memory.run("compact", str(path), "--max-tokens", "9000", "--json").data
    assert (done["form"], done["max_tokens"]) == ("claude-code", 9000)
    assert done["chunks_dropped"] > 10
    found = [json.loads(one) for one in
             path.with_name("session.compacted.jsonl").read_text().splitlines()]  # fmt: skip
    assert found[0]["type"] == "summary"
    ids = {value.get("uuid") for value in found}
    assert all(value.get("parentUuid") in (None, *ids) for value in found)
    calls = [b["id"] for v in found[1:] for b in blocks(v) if b["type"] == "tool_use"]
    results = [b["tool_use_id"] for v in found[1:] for b in blocks(v) if b["type"] == "tool_result"]
    assert calls == results
    assert (memory.root / "cold-storage").joinpath(
        f"{done['path'].rsplit('/', 1)[1]}").name.endswith("-sess.md")  # fmt: skip


def blocks(value: dict[str, Any]) -> list[dict[str, Any]]:
    content = value["message"]["content"]
    return content if isinstance(content, list) else []


def test_nothing_is_written_where_nothing_is_to_be(memory: Memory) -> None:
    """A dry run, a target that is somebody else's, the transcript itself, no folder at all."""
    path = written(memory, talk())
    names = {file.name for file in memory.root.rglob("*") if ".memfas" not in file.parts}
    dry = memory.run("compact", str(path), *SIZE, "--prompt", "zebra", "--dry-run")
    assert "[DRY RUN] No changes made." in dry.text
    assert "dropped" in dry.text
    assert {f.name for f in memory.root.rglob("*") if ".memfas" not in f.parts} == names
    other = memory.write("other.jsonl", "mine\n")
    assert memory.run("compact", str(path), "-o", str(other)).status == 2
    assert memory.run("compact", str(path), "-o", str(path)).status == 2
    assert other.read_text() == "mine\n"
    assert memory.run("compact", str(memory.root / "missing.json")).status == 1
    memory.write("no.json", "hello")
    assert "not a transcript" in memory.run("compact", str(memory.root / "no.json")).errors
    small = written(memory, talk(1), "small.jsonl")
    result = memory.run("compact", str(small))
    assert "Nothing to do" in result.text
    assert small.with_name("small.compacted.jsonl").read_bytes() == small.read_bytes()
    assert memory.run("compact", str(small), "--now", "--json").data["done"]


def test_the_script_runs_from_any_directory(memory: Memory, tmp_path: Path) -> None:
    """`memory-compaction.py` of a checkout; `-o -` gives the transcript on standard output."""
    path = written(memory, talk())
    ended = subprocess.run(
        [sys.executable, str(REPO / "scripts/memory-compaction.py"), str(path), "-o", "-",
         *SIZE, "--root", str(memory.root)],
        cwd=tmp_path, capture_output=True, check=True,
        env={**os.environ, "PYTHONPATH": ""},
    )  # fmt: skip
    kept = [json.loads(line) for line in ended.stdout.splitlines()]
    assert 2 < len(kept) < len(talk())
    assert "tokens" in ended.stderr.decode()


def test_what_left_is_listed_shown_pinned_and_put_to_use(memory: Memory) -> None:
    """The commands of `memfas cold`; ids come from a list, from recover and from recall."""
    assert memory.run("cold", "list").status == 1
    path = written(memory, talk())
    memory.run("compact", str(path), *SIZE, "--prompt", "zebra", "-s", "sess")
    hit = memory.run("recover", "heron boathouse", "--json").data["hits"][0]
    chunk = hit["chunk_id"]
    lines = (memory.root / hit["path"]).read_text().split("\n")
    assert FACT in lines[hit["start_line"] - 1 : hit["end_line"]]
    listed = memory.run("cold", "list", "--session", "sess", "--json").data["chunks"]
    assert chunk in {one["chunk_id"] for one in listed}
    assert memory.run("cold", "list", "--session", "nobody").status == 1
    assert memory.run("cold", "list", "--since", "2099-01-01").status == 1
    shown = memory.run("cold", "show", chunk).text
    assert FACT in shown
    assert "left " in shown
    restored = memory.run("cold", "restore", chunk, "--json").data["message"]
    assert restored == {"role": "user", "content": FACT}
    assert memory.run("cold", "restore", chunk).text == f"{FACT}\n"
    assert memory.run("cold", "show", "nobody").status == 1
    assert "pinned" in memory.run("cold", "pin", chunk).text
    stats = memory.run("cold", "stats", "--json").data
    assert stats["pinned"] == 1
    assert stats["total_chunks"] == len(listed)
    assert memory.run("cold", "unpin", chunk).status == 0
    assert memory.run("cold", "stats", "--json").data["pinned"] == 0
    assert memory.run("recover", "zebra crossing").status == 1


def test_recall_finds_it_only_when_asked_to(memory: Memory) -> None:
    """With `--cold`, with file, lines and day; never without; the dates and budget hold."""
    path = written(memory, talk())
    memory.run("compact", str(path), *SIZE, "--prompt", "zebra")
    assert memory.run("recall", "heron boathouse reeds", "--json").data["hits"] == []
    hits = memory.run("recall", "--cold", "heron boathouse reeds", "--json").data["hits"]
    assert hits[0]["text"] == FACT
    assert hits[0]["kind"] == "cold"
    assert hits[0]["path"].startswith("cold-storage/")
    assert hits[0]["date"]
    found = memory.run("recall", "--cold", "who leads acme", "--json").data["hits"]
    assert found[0]["path"] == "MEMORY.md"
    late = memory.run(
        "recall", "--cold", "heron boathouse reeds", "--since", "2099-01-01", "--json"
    )
    assert late.data["hits"] == []
    assert memory.run("search", "--cold", "heron boathouse reeds").status == 0
    told = memory.run("recall", "--cold", "--budget", "60", "heron boathouse reeds", "--json").data
    assert told["tokens"] <= 60


def test_the_janitor_ends_what_is_over_and_undo_brings_it_back(memory: Memory) -> None:
    """After 30 days, not before; pinned chunks and people's notes stay; a dry run only tells."""
    path = written(memory, talk())
    memory.run("compact", str(path), *SIZE, "--prompt", "zebra")
    (file,) = (memory.root / "cold-storage").glob("*.md")
    chunk = memory.run("recover", "heron boathouse", "--json").data["hits"][0]["chunk_id"]
    memory.run("cold", "pin", chunk)
    with file.open("a") as out:
        out.write("\nA note of mine.\n")
    before = file.read_bytes()
    total = memory.run("cold", "stats", "--json").data["total_chunks"]
    until = date.fromisoformat(
        memory.run("cold", "show", chunk, "--json").data["chunk"]["until"][:10]
    )
    day, later = (str(until + timedelta(days=n)) for n in (-1, 1))
    assert memory.run("janitor", "--today", day, "--json").data["cold_expired"] == []
    assert file.read_bytes() == before
    dry = memory.run("janitor", "--today", later, "--dry-run", "--json").data
    assert len(dry["cold_expired"]) == total - 1
    assert file.read_bytes() == before
    done = memory.run("janitor", "--today", later, "--force")
    assert f"{total - 1} chunks past its time gone" in done.text
    left = file.read_bytes()
    assert b"A note of mine." in left
    assert FACT.encode() in left
    assert memory.run("cold", "stats", "--json").data["total_chunks"] == 1
    assert memory.run("undo").status == 0
    assert file.read_bytes() == before


def test_context_status(memory: Memory) -> None:
    """Of a transcript: how full and what to do; of the folder: what was compacted."""
    path = written(memory, talk())
    status = memory.run("context", "status", str(path), *SIZE, "--json").data
    assert status["needs_compaction"] is True
    assert status["pct_used"] == status["current_tokens"] / 6000
    assert status["pinned"] == 2
    assert "no compaction is needed" in memory.run("context", "status", str(path)).text
    assert "0 compactions" in memory.run("context", "status").text
    memory.run("compact", str(path), *SIZE, "--prompt", "zebra")
    assert "1 compaction," in memory.run("context", "status").text
    assert memory.run("context").status == 1
    assert memory.run("context", "--json").status == 2


def test_the_audit_says_what_a_later_turn_would_have_needed(memory: Memory) -> None:
    """The question that comes back to the plan finds it dropped, and recoverable; where nothing is
    asked for again nothing is needed; nothing is written."""
    path = written(memory, talk())
    quiet = memory.run("context", "audit", str(path), *SIZE, "--json")
    assert quiet.status == 0
    assert len(quiet.data["compactions"]) > 0
    assert quiet.data["dropped"] > 10
    back = {
        "role": "user",
        "content": "Where did I say that the heron nests, behind the boathouse?",
    }
    path = written(memory, [*talk(), back], "back.jsonl")
    found = memory.run("context", "audit", str(path), *SIZE, "--json")
    need = next(one for one in found.data["needs"] if one["turn"] == len(talk()) + 1)
    assert (need["message"], need["rank"]) == (4, 1)
    assert found.data["needed"] >= 1
    assert "needed message 4" in memory.run(
        "context", "audit", str(path), *SIZE).text  # fmt: skip
    assert not (memory.root / "cold-storage").exists()
    assert not (memory.root / "logs").exists()


def test_help_and_errors_are_sentences(memory: Memory) -> None:
    """Each command has help; what is wrong is named."""
    for command in (("compact",), ("recover",), ("cold",), ("context",), ("context", "audit"),
                    ("cold", "restore")):  # fmt: skip
        assert memory.process(command[0], *command[1:], "--help").returncode in (0, 2)
    assert memory.run("recover").status == 2
    assert memory.run("compact", str(memory.root / "x"), "--trigger", "7").status == 2
