"""Programs that use agent-memfas' curation as its README shows it."""

from __future__ import annotations

import json
import os
import re
import socket
import subprocess
import sys
from collections.abc import Callable, Sequence

import pytest

import typed_program
from agent_memfas import Config
from agent_memfas.errors import ConfigError, UsageError
from agent_memfas.v3 import ContextCurator
from commandline import REPO
from curation.support import Agent, check, days_ago

Made = Callable[..., ContextCurator]
# As it stands in the README of agent-memfas 0.4.0, under "With Dynamic Curation (v0.3+)".
QUICK_START = """\
from agent_memfas.v3 import ContextCurator

curator = ContextCurator("./memfas.yaml")

# Get curated context within token budget
result = curator.get_context(
    query="what's the project status?",
    session_id="main",
    baseline_tokens=50000  # Your context limit
)

print(f"Curated: {result.curated_tokens} tokens")
print(f"Saved: {result.tokens_saved} ({result.compression_ratio:.0%})")
print(result.context)  # Inject this into your prompt
"""
# The same, "Custom Agents".
LOOP = '''\
# In your agent loop — with v0.3 Curation
from agent_memfas.v3 import ContextCurator

curator = ContextCurator("./memfas.yaml")

def get_response(user_message):
    # Get curated memory context
    mem_result = curator.get_context(
        query=user_message,
        session_id="main",
        baseline_tokens=100000
    )
    
    # Inject into prompt
    prompt = f"""
{mem_result.context}

User: {user_message}
"""
    return llm.complete(prompt)
'''  # noqa: W293 - word for word
HEAVY = {"numpy", "openai", "tiktoken", "watchdog", "markdown_it", "rank_bm25", "typer", "rich",
         "pydantic", "fastembed", "sqlite_vec", "logging", "asyncio"}  # fmt: skip


def run(agent: Agent, program: str, *, offline: bool = True) -> subprocess.CompletedProcess[str]:
    """A Python program in the folder; offline: any attempt to use the network ends it."""
    guard = (
        "import socket\ndef _no(*_, **__): raise SystemExit('network')\n"
        "socket.socket.connect = socket.getaddrinfo = socket.create_connection = _no\n"
    )
    return subprocess.run(
        [sys.executable, "-c", (guard if offline else "") + program], cwd=agent.root,
        env={"PATH": os.environ["PATH"], "HOME": str(agent.root.parent),
             "PYTHONPATH": str(REPO / "scripts")},
        capture_output=True, encoding="utf-8", timeout=120, check=False,
    )  # fmt: skip


def test_the_quick_start_of_the_reference_runs(agent: Agent) -> None:
    """`memfas init`, a note, the lines of agent-memfas' README: it prints what was given, and a
    share saved that is one."""
    assert agent.run("init").status == 0
    agent.write("MEMORY.md", f"- [P1][{days_ago(1)}] Acme: the project's status is green\n")
    done = run(agent, QUICK_START)
    assert (done.returncode, done.stderr) == (0, "")
    first, second, context = done.stdout.split("\n", 2)
    curated = re.fullmatch(r"Curated: (\d+) tokens", first)
    assert curated
    assert second == f"Saved: {50000 - int(curated[1])} (100%)"
    assert "Acme: the project's status is green" in context
    assert context.startswith("<relevant_memory>")


def test_the_agent_loop_of_the_reference_runs(agent: Agent) -> None:
    """Each message of the user gets what is known about it into its prompt."""
    assert agent.run("init").status == 0
    agent.write("MEMORY.md", f"- [P1][{days_ago(1)}] Acme: the project's status is green\n")
    model = "class llm:\n    complete = staticmethod(lambda prompt: prompt)\n"
    talk = "print(get_response('How is acme going?'))\nprint(get_response('and who else?'))\n"
    done = run(agent, f"{LOOP}\n{model}\n{talk}")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.count("Acme: the project's status is green") == 1
    assert "User: and who else?" in done.stdout


def test_importing_it_loads_nothing_heavy(agent: Agent) -> None:
    """`import agent_memfas.v3` costs a start of Python; a turn without an embedder loads neither a
    model's library nor one of the network."""
    agent.keep("Door code is 4411.")
    show = f"import sys; print(sorted(set({sorted(HEAVY)!r}) & set(sys.modules)))"
    done = run(agent, f"import agent_memfas.v3\n{show}\n")
    assert done.stdout == "[]\n", done.stderr
    names = "from agent_memfas.v3 import LEVEL_PRESETS, TopicDetector, resolve_level"
    assert run(agent, f"{names}\n{show}\n").stdout == "[]\n"


def test_no_network_is_ever_asked(
    agent: Agent, curator: Made, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With no embedder named, no turn opens a connection or looks up a name: not for tokens, not
    for topics."""
    agent.keep("Door code is 4411.", "截止日期是星期五")

    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("network")

    for name in ("socket", "getaddrinfo", "create_connection"):
        monkeypatch.setattr(socket, name, refuse)
    mine = curator(level="auto")
    for question in ("door code", "截止日期", "and what else?"):
        check(mine.get_context(question, "s", baseline_tokens=50_000), mine, mine._count)
    mine.end_session("s")


def test_a_note_is_there_at_the_next_turn(agent: Agent, curator: Made) -> None:
    """In a process that lives long: what is added, changed or deleted counts from the next turn
    on, and nothing has to be invalidated."""
    agent.keep("Door code is 4411.")
    mine = curator()
    assert "4411" in mine.get_context("door code").context
    with (agent.root / "MEMORY.md").open("a") as file:
        file.write("- [P0] The back door code is 9876.\n")
    assert "9876" in mine.get_context("door code").context
    agent.write("memory/2026-03-01.md", "- The garage door code is 1212.\n")
    assert "1212" in mine.get_context("door code").context
    agent.keep("Nothing")
    (agent.root / "memory/2026-03-01.md").unlink()
    assert mine.get_context("door code").context == ""
    agent.write("TRIGGERS.md", "- door -> Ask Alice\n")
    assert "[door] Ask Alice" in mine.get_context("door code").context
    mine.invalidate_cache()
    assert "[door] Ask Alice" in mine.get_context("door code").context


class Letters:
    """An embedder that counts letters, and notes what it is asked for."""

    dimensions = 26

    def __init__(self) -> None:
        self.asked: list[str] = []

    def embed(self, text: str) -> Sequence[float]:
        self.asked.append(text)
        return [float(text.lower().count(chr(97 + n))) for n in range(26)]

    def embed_batch(self, texts: Sequence[str]) -> list[Sequence[float]]:
        return [self.embed(text) for text in texts]

    def close(self) -> None:
        pass


def test_a_text_is_embedded_once(agent: Agent) -> None:
    """An embedder of one's own is asked once for each memory: the next object, as the next process,
    finds its vectors in the index."""
    facts = [f"Fact number {n} about herons" for n in range(20)]
    agent.keep(*facts)
    counts = []
    for _ in range(2):
        embedder = Letters()
        with ContextCurator(agent.root, embedder=embedder) as mine:  # type: ignore[arg-type]
            assert mine.get_context("herons").memories_included > 0
        counts.append(sum(any(fact in asked for fact in facts) for asked in embedder.asked))
    assert counts[0] >= 20
    assert counts[1] == 0


def test_settings_may_be_an_object_or_a_folder(agent: Agent) -> None:
    """A Config, a memfas.yaml, a folder; one that is not there is an error with a remedy."""
    agent.keep("Door code is 4411.")
    agent.write("memfas.yaml", "")
    for given in (agent.root, str(agent.root / "memfas.yaml"), Config.default(agent.root)):
        with ContextCurator(given) as mine:
            assert "4411" in mine.get_context("door code").context
    with pytest.raises(ConfigError) as caught:
        ContextCurator(agent.root / "nope.yaml")
    assert "memfas init" in (caught.value.remedy or "")


def test_a_closed_curator_says_so(agent: Agent) -> None:
    """After `close` a turn is an error, not an answer from a stale cache."""
    agent.keep("Door code is 4411.")
    with ContextCurator(agent.root) as mine:
        mine.get_context("door code")
    with pytest.raises(UsageError, match="closed"):
        mine.get_context("door code")


def test_the_telemetry_goes_where_it_is_told(agent: Agent, curator: Made) -> None:
    """Into the folder's `.memfas`, wherever one is; `telemetry_path` puts it elsewhere. A turn is
    one line with the figures of the response."""
    agent.keep("Door code is 4411.")
    elsewhere = agent.root.parent / "log.jsonl"
    for path, file in ((None, agent.root / ".memfas/telemetry.jsonl"), (elsewhere, elsewhere)):
        response = curator(telemetry_path=path).get_context("door code", "s", 1000, resend=True)
        (line,) = map(json.loads, file.read_text().splitlines())
        assert (line["type"], line["session_id"], line["query"]) == ("turn", "s", "door code")
        assert line["curated_context_tokens"] == response.tokens_used
        assert (line["curation_level"], line["min_score_threshold"]) == (3, 0.40)
        assert line["top_memories"][0]["source"] == "MEMORY.md:1"
        assert sum(line["score_weights"].values()) == pytest.approx(1)


def test_a_program_with_all_its_types_spelt_out_runs(agent: Agent) -> None:
    """The one that .ci/run checks with mypy --strict against the wheel: every name of curation."""
    agent.keep("Alice keeps the keys")
    assert "Alice keeps the keys" in typed_program.curate(agent.root)
