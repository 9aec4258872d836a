"""A workspace of OpenClaw is a memory folder, and what is OpenClaw's stays as it is."""

from __future__ import annotations

import hashlib
import json
import re
from pathlib import Path

import pytest

from commandline import REPO, Prompt, code_blocks, prompt
from inputs.memory import CONFIG, Memory

GUIDE = REPO / "references/openclaw.md"
DAY = "2026-03-05"  # 30 days after nothing: only the P2 entry of 2026-01-01 is over
PROMOTED = """## Promoted From Short-Term Memory (2026-02-24)

<!-- openclaw-memory-promotion:memory:memory/2026-02-20.md:6:9 -->
- Backups run at 02:00 on nas1 [score=0.812 recalls=3 avg=0.620 source=memory/2026-02-20.md:6-9]

## Consolidated Memory (2026-02-25)

<!-- openclaw-memory-lineage:fact:deadline -->
<!-- openclaw-memory-promotion:memory:memory/2026-02-24.md:12:12 -->
- Deadline moves to Friday Source: memory/2026-02-24.md#L12-L12 <!-- trigger: deadline, friday --> <!-- importance: 8 --> <!-- project: github.com/acme/app -->
"""
OWN = "\n## Notes\n\n- [P2][2026-01-01] The old staging host is egret\n- [P1][2026-03-01] Project: acme\n"
MANAGED = """<!-- openclaw:dreaming:light:start -->
- Candidate: the wombat deadline moves to Friday
* [P1][2026-02-24] nearly an entry of dreaming
<!-- openclaw:dreaming:light:end -->
"""
NOTE = f"""# 2026-02-24

- 10:00 Alice said that the deadline moves to Friday
- 11:00 Decided: backups go to nas1, because the cloud was too slow

## Light Sleep

{MANAGED}
- 23:00 Lesson: always test a restore of the backup
"""
WORKSPACE = {
    "AGENTS.md": "# Agents\n\n* [P1][2026-02-24] a rule that looks like an entry\n",
    "SOUL.md": "# Soul\n\nKind.\n",
    "USER.md": "# User\n\n- Name: Alice <!-- importance: 9 -->\n",
    "MEMORY.md": f"# Memory\n\n{PROMOTED}{OWN}",
    "DREAMS.md": "<!-- openclaw:dreaming:diary:start -->\n---\n*2026-02-25*\n\n* [P1] a wombat flew\n"
    "<!-- openclaw:dreaming:diary:end -->\n",
    "memory/2026-02-24.md": NOTE,
    "memory/2026-02-23-travel.md": "- Booked the train to Oslo for 12 March\n",
    "memory/.dreams/short-term-recall.json": '{"version":1,"entries":{}}',
    "memory/.dreams/notes.md": "- [P2][2020-01-01] wombat\n",
    "memory/dreaming/deep/2026-02-25.md": "# Deep\n\n* [P2][2020-01-01] a wombat\n",
}
LOGS = r"memory/2026-02-2[34].*\.md"
TODAY = ("--today", DAY)
COMMANDS: list[tuple[list[str], str]] = [
    (["log", "Met Bob"], r"memory/\d{4}-\d\d-\d\d\.md"),
    (["add", "The gateway runs on port 18789"], "MEMORY.md"),
    (["remember", "acme", "-H", "see MEMORY.md"], "TRIGGERS.md"),
    (["forget", "acme"], "TRIGGERS.md"),
    (["lint", "--fix"], ""),
    (["compound", "--no-model"], rf"{LOGS}|insights/.*"),
    (["promote", *TODAY], ""),
    (["promote", "insights/2026-02.md:13", *TODAY], "MEMORY.md"),
    (["janitor", *TODAY], r"MEMORY.md|archive/.*"),
    (["undo"], r"MEMORY.md|archive/.*"),
    (["janitor", *TODAY], r"MEMORY.md|archive/.*"),
    (["supersede", "MEMORY.md:16", "Project: beta", *TODAY], "MEMORY.md"),
    (["renew", "MEMORY.md:17", *TODAY], "MEMORY.md"),
    (["forget-agent", "scout"], "MEMORY.md"),
    (["abstract"], r"(.*/)?\.abstract"),
    (["index"], ""),
    (["reindex"], ""),
    (["doctor"], ""),
    (["recall", "deadline"], ""),
    (["curate", "deadline"], ""),
    (["verify"], ""),
    (["dream", *TODAY], rf"MEMORY.md|(.*/)?\.abstract|(insights|archive)/.*|{LOGS}"),
    (["init"], r"SESSION-STATE.md|TRIGGERS.md|memfas.yaml"),
]


@pytest.fixture(params=[b"\n", b"\r\n"], ids=["lf", "crlf"])
def workspace(memory: Memory, request: pytest.FixtureRequest) -> Memory:
    """A workspace after some nights of dreaming; without the settings that other tests share."""
    (memory.root / "memfas.yaml").write_text(CONFIG)
    for name, text in WORKSPACE.items():
        memory.write(name, text.encode().replace(b"\n", request.param))
    return memory


def digests(root: Path) -> dict[str, str]:
    """The digest of every file but memfas' own state."""
    return {
        str(p.relative_to(root)): hashlib.sha256(p.read_bytes()).hexdigest()
        for p in root.rglob("*") if p.is_file() and ".memfas" not in p.relative_to(root).parts
    }  # fmt: skip


def test_every_command_in_turn_leaves_what_is_openclaws(workspace: Memory) -> None:
    """Each may change the files that it is for and no other; daily notes only grow, promoted
    sections and managed blocks stay byte for byte.
    """
    ending = b"\r\n" if b"\r\n" in workspace.read() else b"\n"
    promoted, managed = (t.encode().replace(b"\n", ending) for t in (PROMOTED, MANAGED))
    first = workspace.truth()
    before = digests(workspace.root)
    for words, may in COMMANDS:
        done = workspace.run(*words)
        assert done.status in (0, 1), (words, done.everything)
        after = digests(workspace.root)
        changed = {n for n in {*before, *after} if before.get(n) != after.get(n)}
        wrong = [name for name in changed if not re.fullmatch(may, name)]
        assert wrong == [], (words, done.everything)
        assert not [name for name in after if "dream" in name.lower() and name not in WORKSPACE]
        assert promoted in workspace.read(), words
        for name in ("memory/2026-02-24.md", "memory/2026-02-23-travel.md"):
            assert workspace.read(name).startswith(first[name]), words
        assert managed in workspace.read("memory/2026-02-24.md")
        before = after
    assert b"egret" in workspace.archived
    assert b"egret" not in workspace.read()
    assert list(workspace.root.glob("insights/*.md"))


def test_dreams_are_neither_found_nor_reported(workspace: Memory) -> None:
    """The diary is fiction, and a managed block repeats other lines: recall, abstracts, insights
    and lint pass them over; what is promoted and what is noted is found.
    """
    workspace.run("compound", "--no-model")
    workspace.run("abstract")
    for pages in (workspace.root.rglob(".abstract"), workspace.root.glob("insights/*.md")):
        for page in pages:
            text = page.read_text("utf-8")
            assert "wombat" not in text
            assert "DREAMS" not in text
    assert not list(workspace.root.glob("memory/dreaming/**/.abstract"))
    for options in ([], ["--no-index"]):
        assert workspace.run("search", "wombat", "--json", *options).data["hits"] == []
        found = workspace.run("recall", "when do backups run on nas1?", "--json", *options).data
        assert "MEMORY.md" in [hit["path"] for hit in found["hits"]]
    linted = workspace.run("lint", "--json").everything
    assert "AGENTS.md" in linted
    for name in ("DREAMS.md", "dreaming", "memory/2026-02-24.md"):
        assert name not in linted


def test_a_comment_of_openclaw_is_a_trigger_here(workspace: Memory) -> None:
    """Trigger comments of promoted lines fire."""
    told = workspace.run("recall", "what about friday?", "--json").data["triggers"]
    assert [one["path"] for one in told] == ["MEMORY.md"]
    before = workspace.read()
    assert workspace.run("forget", "friday").status == 0
    assert workspace.read() == before.replace(b"deadline, friday -->", b"deadline -->")


def test_without_a_workspace_a_folder_called_dreaming_is_memory(memory: Memory) -> None:
    """Somebody's own notes about dreams are memory as any other."""
    memory.write("memory/dreaming/notes.md", "- The wombat flew\n")
    memory.write("DREAMS2.md", "- The koala flew\n")
    assert "dreaming/notes.md" in memory.run("recall", "who flew, the wombat?").text


@pytest.fixture
def me(tmp_path: Path) -> Prompt:
    """A person with OpenClaw: a workspace and a session."""
    me = prompt(tmp_path)
    home = me.home / ".openclaw"
    for name, text in WORKSPACE.items():
        path = home / "workspace" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    sessions = home / "agents/main/sessions"
    sessions.mkdir(parents=True)
    rows = [
        {"type": "session", "version": 3, "id": "oc1", "timestamp": "2026-02-26T10:00:00.000Z"},
        {"type": "message", "id": "e1", "parentId": None, "timestamp": "2026-02-26T10:00:01.000Z",
         "message": {"role": "user", "content": [{"type": "text", "text": "Backups at two"}]}},
    ]  # fmt: skip
    (sessions / "oc1.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    return me


def test_every_command_of_the_guide_runs(me: Prompt) -> None:
    """I follow the guide from top to bottom."""
    blocks = code_blocks(GUIDE, "sh")
    assert len(blocks) >= 5
    for block in blocks:
        done = me.shell(block)
        assert done.returncode == 0, f"{block}\n{done.stdout}{done.stderr}"
    root = me.home / ".openclaw/workspace"
    assert "Backups at two" in (root / "memory/2026-02-26.md").read_text("utf-8")
    assert not (me.home / ".openclaw/skills").exists()
    for name in ("DREAMS.md", "SOUL.md", "memory/2026-02-24.md"):
        assert (root / name).read_text("utf-8") == WORKSPACE[name]
