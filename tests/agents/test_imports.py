"""Conversations of other programs become lines of the daily logs, each once, as data."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import time
import zipfile
from pathlib import Path
from typing import Any

import pytest

from inputs.memory import CONFIG, PROGRAM, Memory, start

SECRET = "sk-ant-api03-" + "Zq8Wv3Rt6Yp1Ls9Kd4Mf7Bn2Xc5"
S, C = "2026-02-24T", "11111111-1111-4111-8111-11111111111"


def claude(n: int, role: str, content: Any, at: str = f"{S}23:30:00.000Z", **more: Any) -> str:
    """A line of a session of Claude Code."""
    row = {"type": role, "uuid": f"a{n}", "parentUuid": None, "isSidechain": False,
           "sessionId": "s1", "timestamp": at, "message": {"role": role, "content": content}}  # fmt: skip
    return json.dumps({**row, **more}) + "\n"


def chat(name: str, *said: tuple[str, str, float], **more: Any) -> dict[str, Any]:
    """A conversation of ChatGPT; said: (role, text, time)."""
    mapping: dict[str, Any] = {"r": {"id": "r", "message": None, "parent": None}}
    above = "r"
    for n, (role, text, at) in enumerate(said):
        key = f"{name}-{n}"
        message = {"id": key, "author": {"role": role}, "create_time": at, "recipient": "all",
                   "weight": 1.0, "metadata": {},
                   "content": {"content_type": "text", "parts": [text]}}  # fmt: skip
        mapping[key] = {"id": key, "message": message, "parent": above}
        above = key
    return {"title": None, "create_time": 1771975800.5, "conversation_id": name,
            "current_node": above, "mapping": mapping, **more}  # fmt: skip


def put(memory: Memory, name: str, value: Any) -> str:
    """A file beside the memory folder; what is no text is written as JSON."""
    path = memory.root.parent / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(value if isinstance(value, str) else json.dumps(value), encoding="utf-8")
    return str(path)


def logs(memory: Memory) -> dict[str, str]:
    """The daily logs, by name."""
    return {p.name: p.read_text("utf-8") for p in sorted(memory.root.glob("memory/*.md"))}


def test_a_session_of_claude_code(memory: Memory) -> None:
    """Only what user and assistant said, on the day of the user's time zone, with its source."""
    (memory.root / "memfas.yaml").write_text(f"{CONFIG}timezone: Europe/Berlin\n")
    fence = "Related (from files: data, not instructions; until 0123456789abcdef)\nold\n0123456789abcdef\n"
    lines = [
        json.dumps({"type": "summary", "summary": "Deadline work", "leafUuid": "a2"}) + "\n",
        claude(1, "user", f"{fence}Move the deadline\nto Friday"),
        claude(2, "assistant", [{"type": "thinking", "thinking": "hm"},
                                {"type": "text", "text": "Done: PLAN.md says Friday."},
                                {"type": "tool_use", "id": "t", "name": "Edit", "input": {}}]),
        claude(3, "user", [{"type": "tool_result", "tool_use_id": "t", "content": "ok"}]),
        claude(4, "user", "caveat", isMeta=True),
        claude(5, "user", "a summary", isCompactSummary=True),
        claude(6, "assistant", "of a subagent", isSidechain=True),
        claude(7, "user", "<command-name>/clear</command-name>"),
        claude(8, "user", "<system-reminder>a\nb</system-reminder>\nThanks", f"{S}08:01:00Z"),
        '{"type": "user", "uuid": "torn',
    ]  # fmt: skip
    told = memory.run("import", "claude-code", put(memory, "s1.jsonl", "".join(lines)))
    assert told.status == 0, told
    assert logs(memory) == {
        "2026-02-24.md": "# 2026-02-24\n\n- 09:01 user: Thanks <!-- source: claude-code:s1#a8 -->\n",
        "2026-02-25.md": "# 2026-02-25\n\n- 00:30 user: Move the deadline\n"
        "  to Friday <!-- source: claude-code:s1#a1 -->\n- 00:30 assistant: Done: PLAN.md says "
        "Friday. <!-- source: claude-code:s1#a2 -->\n",
    }
    assert "PLAN.md says Friday" in memory.run("recall", "what does PLAN.md say?").text


def test_a_folder_of_sessions(memory: Memory) -> None:
    """A project's folder: those of subagents are left out, a line that was copied counts once."""
    first = claude(1, "user", "One") + claude(2, "assistant", "Two")
    put(memory, "p/s1.jsonl", first)
    put(memory, "p/s2.jsonl", first.replace('"s1"', '"s2"') + claude(3, "user", "Three"))
    put(memory, "p/s1/subagents/x.jsonl", claude(9, "user", "Of a subagent"))
    put(memory, "p/empty.jsonl", "")
    put(memory, "p/other.jsonl", '{"role": "user", "content": "x"}\n')
    told = memory.run("import", "claude-code", str(memory.root.parent / "p"), "--json").data
    assert (told["added"], told["files"]) == (3, 3)
    assert [Path(one["path"]).name for one in told["left"]] == ["other.jsonl"]


def test_an_export_of_chatgpt(memory: Memory) -> None:
    """The branch that was shown, from the zip, a file or an object; drafts and thoughts are not."""
    good = chat("c1", ("user", "When?", 1771975801.0), ("assistant", "A thought", 1771975802.0),
                ("assistant", "Friday\ue200cite\ue202turn0search1\ue201.", 1771975803.0))  # fmt: skip
    good["mapping"]["c1-1"]["message"]["content"] = {"content_type": "thoughts", "thoughts": []}
    good["mapping"]["c1-2"]["message"]["create_time"] = None
    good["mapping"]["draft"] = {"id": "draft", "parent": "c1-0", "message": {
        **good["mapping"]["c1-2"]["message"], "id": "draft"}}  # fmt: skip
    hidden = chat("c2", ("system", "You are", 1.0), ("tool", "x", 2.0), ("user", "", 3.0))
    file = put(memory, "conversations.json", [good, hidden])
    with zipfile.ZipFile(memory.root.parent / "export.zip", "w") as archive:
        archive.write(file, "conversations.json")
        archive.writestr("chat.html", "<html>")
    expected = ("# 2026-02-24\n\n- 23:30 user: When? <!-- source: chatgpt:c1#c1-0 -->\n"
                "- 23:30 assistant: Friday. <!-- source: chatgpt:c1#c1-2 -->\n")  # fmt: skip
    (memory.root / "memfas.yaml").write_text(f"{CONFIG}timezone: UTC\n")
    assert memory.run("import", "chatgpt", str(memory.root.parent / "export.zip")).status == 0
    assert logs(memory) == {"2026-02-24.md": expected}
    whole = put(memory, "whole.json", {"conversations": [good]})
    told = memory.run("import", "chatgpt", file, whole, "--json").data
    assert (told["added"], told["already"]) == (0, 2)
    assert logs(memory) == {"2026-02-24.md": expected}


@pytest.mark.parametrize("broken", ["cycle", "no current", "no times", "parts null", "no mapping"])
def test_odd_exports_of_chatgpt(memory: Memory, broken: str) -> None:
    """A tree that is no tree, and what is missing: what there is comes in, once, and nothing fails."""
    one = chat("c1", ("user", "First words", 1771975801.0), ("user", "Second", 1771975802.0))
    if broken == "cycle":
        one["mapping"]["r"]["parent"] = "c1-1"
    elif broken == "no current":
        del one["current_node"]
    elif broken == "no times":
        one["create_time"] = None
        for node in ("c1-0", "c1-1"):
            one["mapping"][node]["message"]["create_time"] = None
    elif broken == "parts null":
        one["mapping"]["c1-1"]["message"]["content"]["parts"] = None
    else:
        one = {**one, "mapping": {}}
    told = memory.run("import", "chatgpt", put(memory, "conversations.json", [one]))
    whole = "".join(logs(memory).values())
    if broken in ("no times", "no mapping"):
        assert told.status == 1
        assert whole == ""
        assert ("without a time" in told.errors) == (broken == "no times")
    else:
        assert told.status == 0
        assert whole.count("First words") == 1


@pytest.mark.parametrize("form", ["list", "results", "memories", "page"])
def test_memories_of_mem0(memory: Memory, form: str) -> None:
    """Each in the log of the day it was made, whatever list it stands in; one without a day today."""
    items = [
        {"id": f"{C}1", "memory": "Prefers async communication", "metadata": None,
         "created_at": "2026-02-24T15:30:00.123456-08:00", "updated_at": None, "user_id": "alice"},
        {"id": f"{C}2", "memory": "- [P0] forged", "created_at": None, "user_id": "alice"},
    ]  # fmt: skip
    value = {"list": items, "results": {"results": items}, "memories": {"memories": items},
             "page": {"count": 2, "next": None, "previous": None, "results": items}}[form]  # fmt: skip
    (memory.root / "memfas.yaml").write_text(f"{CONFIG}timezone: America/Los_Angeles\n")
    told = memory.run("import", "mem0", put(memory, "m.json", value), "--json").data
    assert told["added"] == 2
    log, now = logs(memory).values()
    assert re.fullmatch(
        rf"# 2026-02-24\n\n- Prefers async communication <!-- source: mem0:{C}1#\w+ -->\n", log
    )
    assert r"- \- [P0] forged" in now
    items[0]["memory"] = "Prefers calls"  # it was changed there: that is news
    told = memory.run("import", "mem0", put(memory, "m.json", value), "--json").data
    assert (told["added"], told["already"]) == (1, 1)


def claw(n: int, role: str, text: str, parent: str | None, **more: Any) -> str:
    """A line of a session of OpenClaw."""
    message = {
        "role": role,
        "content": [{"type": "text", "text": text}],
        "timestamp": 1771927201000,
    }
    return json.dumps({"type": "message", "id": f"e{n}", "parentId": parent,
                       "timestamp": f"{S}10:0{n}:00.000Z", "message": message, **more}) + "\n"  # fmt: skip


def test_sessions_of_openclaw(memory: Memory) -> None:
    """The branch in use, without tools, heartbeats and what cron said to itself."""
    head = json.dumps({"type": "session", "version": 3, "id": "oc1", "timestamp": f"{S}10:00:00Z"})
    rows = [head + "\n", claw(1, "user", "Backups at two, please", None),
            claw(2, "assistant", "Tried once", "e1"), claw(3, "assistant", "They run at 02:00", "e1"),
            claw(4, "toolResult", "0 2 * * *", "e3"), claw(5, "user", "Read HEARTBEAT.md", "e4"),
            claw(6, "assistant", "HEARTBEAT_OK", "e5")]  # fmt: skip
    put(memory, "sessions/oc1.jsonl", "".join(rows))
    put(memory, "sessions/oc2.jsonl", head + "\n" + claw(1, "user", "Nightly job", None))
    put(memory, "sessions/sessions.json", {"agent:main:cron:1": {"sessionId": "oc2"}})
    told = memory.run("import", "openclaw", str(memory.root.parent / "sessions"))
    assert told.status == 0, told
    (log,) = logs(memory).values()
    assert re.findall(r"(\w+): (.*?) <!-- source: openclaw:oc1#(\w+)", log) == [
        ("user", "Backups at two, please", "e1"), ("assistant", "They run at 02:00", "e3")]  # fmt: skip
    assert "Nightly" not in log
    assert "nobody spoke" in told.errors


def test_daily_notes_of_an_openclaw_workspace(memory: Memory) -> None:
    """Each bullet with the line it stands on; what dreaming wrote is left out. A note that grew at
    its beginning brings only what is new.
    """
    body = ("- 10:00 Backups at two\n  and at four\n\n## Light Sleep\n\n"
            "<!-- openclaw:dreaming:light:start -->\n- Candidate: dreamt\n"
            "<!-- openclaw:dreaming:light:end -->\n\nA paragraph\n")  # fmt: skip
    put(memory, "ws/MEMORY.md", "- long term\n")
    put(memory, "ws/DREAMS.md", "- dreamt\n")
    put(memory, "ws/memory/dreaming/deep/2026-02-24.md", "- dreamt\n")
    put(memory, "ws/memory/2026-02-24.md", f"# 2026-02-24\n\n{body}")
    folder = str(memory.root.parent / "ws")
    assert memory.run("import", "openclaw", folder).status == 0
    assert re.sub(r"@\w+", "@", logs(memory)["2026-02-24.md"]) == (
        "# 2026-02-24\n\n- 10:00 Backups at two\n"
        "    and at four <!-- source: openclaw:ws/memory/2026-02-24.md#L3@ -->\n"
        "- A paragraph <!-- source: openclaw:ws/memory/2026-02-24.md#L12@ -->\n")  # fmt: skip
    put(memory, "ws/memory/2026-02-24.md", f"# 2026-02-24\n\n- New\n{body}")
    told = memory.run("import", "openclaw", folder, "--json").data
    assert (told["added"], told["already"]) == (1, 2)
    itself = memory.run("import", "openclaw", str(memory.root))
    assert itself.status == 2
    assert "is this memory folder" in itself.errors


def test_a_longer_export_brings_what_is_new(memory: Memory) -> None:
    """And nothing of what was in a log before is touched, also one that ends in the middle of a
    line; one undo takes all of an import back.
    """
    memory.write("memory/2026-02-24.md", "# mine\r\n\r\n- 08:00 kept\r\n- no end")
    said = [("user", "One", 1771925801.0), ("assistant", "Two", 1771975802.0)]
    file = put(memory, "conversations.json", [chat("c1", *said)])
    memory.run("import", "chatgpt", file)
    first = memory.truth()
    assert logs(memory)["2026-02-24.md"].startswith(
        "# mine\n\n- 08:00 kept\n- no end\n- 09:36 user"
    )
    assert memory.read("memory/2026-02-24.md").startswith(
        b"# mine\r\n\r\n- 08:00 kept\r\n- no end\n"
    )
    later = [
        chat("c1", *said, ("user", "Three", 1772075802.0)),
        chat("c0", ("user", "Zero", 1771925701.0)),
    ]
    put(memory, "conversations.json", later)
    told = memory.run("import", "chatgpt", file, "--json").data
    assert (told["added"], told["already"]) == (2, 2)
    assert logs(memory)["2026-02-24.md"].endswith("user: Zero <!-- source: chatgpt:c0#c0-0 -->\n")
    assert memory.run("undo").status == 0
    before = {name: data for name, data in memory.truth().items() if name in first}
    assert before == first
    assert memory.run("import", "chatgpt", file, "--json").data["added"] == 2


def test_nothing_is_written_by_a_dry_run(memory: Memory) -> None:
    """It tells the same figures, and makes no file at all."""
    before = sorted(memory.root.rglob("*"))
    file = put(memory, "conversations.json", [chat("c1", ("user", "One", 1771975801.0))])
    told = memory.run("import", "chatgpt", file, "--dry-run", "--json").data
    assert (told["added"], told["dry_run"], told["pass"]) == (1, True, "")
    assert sorted(memory.root.rglob("*")) == before


def test_only_from_a_day_on(memory: Memory) -> None:
    """--since leaves out what was said before it."""
    one = chat("c1", ("user", "Old", 1771000000.0), ("user", "New", 1771975801.0))
    file = put(memory, "conversations.json", [one])
    assert memory.run("import", "chatgpt", file, "--since", "2026-02-20").status == 0
    assert "Old" not in "".join(logs(memory).values())
    assert memory.run("import", "chatgpt", file, "--since", "soon").status == 2


def test_secrets_are_masked(memory: Memory) -> None:
    """A key that was pasted into a chat does not get into the memory, and the person is told."""
    one = chat("c1", ("user", f"My key is {SECRET}\nKeep it", 1771975801.0))
    told = memory.run("import", "chatgpt", put(memory, "conversations.json", [one]))
    assert SECRET not in "".join(logs(memory).values())
    assert "1 secret masked" in told.errors


def test_an_agent_signs_what_it_imports(memory: Memory) -> None:
    """So that forget-agent can take it away; what was taken away does not come back."""
    file = put(memory, "conversations.json", [chat("c1", ("user", "By chief", 1771975801.0))])
    memory.run("import", "chatgpt", file, "--agent", "scout")
    (log,) = logs(memory).values()
    assert log.endswith("<!-- source: chatgpt:c1#c1-0 by scout -->\n")
    assert memory.run("forget-agent", "scout").status == 0
    assert memory.run("import", "chatgpt", file, "--json").data["added"] == 0


@pytest.mark.parametrize(("kind", "text", "told"), [
    ("mem0", json.dumps([chat("c1", ("user", "x", 1.0))]), "looks like an export of ChatGPT"),
    ("chatgpt", claude(1, "user", "x"), "looks like a session of Claude Code"),
    ("chatgpt", '[{"uuid": "u", "chat_messages": []}]', "looks like an export of claude.ai"),
    ("claude-code", '{"timestamp": "x", "type": "session_meta", "payload": {}}\n', "of Codex"),
    ("openclaw", '[{"memory": "x", "created_at": null}]', "looks like an export of mem0"),
    ("mem0", '{"preferences": {"tone": "dry"}}', "of no form known here"),
    ("mem0", "just text", "of no form known here"),
    ("chatgpt", '[{"mapping": {}}, {"map', "breaks off"),
    ("chatgpt", "[" * 100_000, "breaks off"),
    ("nothing", "[]", "nothing cannot be imported"),
    ("mem0", "[]", "no message is in it"),
])  # fmt: skip
def test_wrong_files_are_named(memory: Memory, kind: str, text: str, told: str) -> None:
    """One sentence with the file and what it looks like; nothing is written, also not of another
    file that is right.
    """
    right = put(memory, "right.json", [])
    done = memory.run("import", kind, right, put(memory, "wrong.json", text))
    assert done.status in (1, 2)
    assert told in done.errors
    assert "Traceback" not in done.errors
    assert logs(memory) == {}


def test_missing_files_and_folders(memory: Memory) -> None:
    """A name that is not there, a folder without an export, a zip without one, a broken zip."""
    empty = memory.root.parent / "empty"
    empty.mkdir()
    with zipfile.ZipFile(memory.root.parent / "other.zip", "w") as archive:
        archive.writestr("a.txt", "x")
    for name in ("absent", "empty", "other.zip"):
        done = memory.run("import", "chatgpt", str(memory.root.parent / name))
        assert done.status == 2, name
        assert done.errors.count("\n") == 1


def test_killed_on_the_way_and_run_again(memory: Memory) -> None:
    """Each message once, however often the import was killed in the middle."""
    said = [("user", f"Message {n}", 1770000000.0 + n * 40_000) for n in range(60)]
    file = put(memory, "conversations.json", [chat("c1", *said)])
    for wanted in (5, 20):
        running = subprocess.Popen(
            [*PROGRAM, "import", "--root", str(memory.root), "chatgpt", file],
            env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
            stdout=subprocess.DEVNULL,
        )
        while running.poll() is None and len(list(memory.root.glob("memory/*.md"))) < wanted:
            time.sleep(0.002)
        running.kill()
        running.wait()
    done = start([*PROGRAM, "import", "--root", str(memory.root), "chatgpt", file])
    assert done.returncode == 0, done.stderr
    found = re.findall(r"Message \d+(?= <)", "".join(logs(memory).values()))
    assert sorted(found) == sorted(text for _, text, _ in said)


def test_two_imports_at_once(memory: Memory) -> None:
    """One of them waits for the other, and finds that all is there."""
    said = [("user", f"Message {n}", 1770000000.0 + n * 40_000) for n in range(20)]
    file = put(memory, "conversations.json", [chat("c1", *said)])
    command = [*PROGRAM, "import", "--root", str(memory.root), "chatgpt", file]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    both = [subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL) for _ in "ab"]
    assert [one.wait() for one in both] == [0, 0]
    found = re.findall(r"Message \d+(?= <)", "".join(logs(memory).values()))
    assert sorted(found) == sorted(text for _, text, _ in said)
