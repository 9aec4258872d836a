"""Hostile and odd use of a context manager: nothing gets lost, and the agent's loop goes on."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import textwrap
import threading
from collections.abc import Callable
from datetime import datetime, timedelta, timezone
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_memfas.context import ContextConfig, ContextManager
from agent_memfas.store import cold as cold_files
from agent_memfas.store.durable import write_all
from agent_memfas.text.messages import read_message
from commandline import REPO
from context.agents import Made, chat, stored

NOW = datetime(2026, 3, 1, 12, tzinfo=timezone.utc)
ODD = [
    None, 17, "", [], {}, {"role": "user"}, {"role": "user", "content": None}, b"bytes",
    {"role": "assistant", "content": []}, {"role": 3, "content": {"a": 1}},
    {"role": "user", "content": [{"type": "image", "source": {"data": "QUJD" * 99}}]},
    {"role": "assistant", "content": [{"type": "thinking", "thinking": "hm", "signature": "x"}]},
    {"role": "user", "content": [None, 5, "text", {"type": "text"}], "unknown": {"deep": [1]}},
    SimpleNamespace(text="an object", role="user"), SimpleNamespace(content="another"),
    {"role": "user", "content": "lone \ud800 half"}, {"role": "tool", "content": "of nobody",
                                                      "tool_call_id": "gone"},
    {"role": "assistant", "tool_calls": "nonsense", "content": "x"},
]  # fmt: skip


@pytest.mark.parametrize("tokens", [0, 1, 10, 200, 10_000])
def test_messages_of_any_kind(managed: Made, tokens: int) -> None:
    """None, numbers, images, thinking, objects, halves of characters: no error, order kept, and
    what left is stored."""
    manager, context = managed([*ODD, *chat(6)])
    manager.on_message(ODD[3], context)
    manager.before_response(tokens)
    manager.compact()
    manager.status()
    places = [n for n, one in enumerate([*ODD, *chat(6)]) if any(one is c for c in context)]
    assert places == sorted(places)
    assert "an object" in stored() or any(one is ODD[13] for one in context)
    assert manager.session_end() >= 0
    assert "lone \ud800 half" in stored()


def test_the_context_may_be_new_objects_each_turn(managed: Made) -> None:
    """An agent that reads its messages from a database: the same counts and ages as before."""
    now = [NOW]
    made = chat(30)
    manager, _ = managed([], get_context=lambda: tuple(dict(one) for one in made),
                         set_context=lambda new: made.__setitem__(slice(None), new),
                         clock=lambda: now[0])  # fmt: skip
    first = manager.before_response(100_000)
    now[0] += timedelta(hours=6)
    assert manager.before_response(100_000).current_tokens == first.current_tokens
    manager.set_current_prompt("zebra")
    manager.compact()
    assert manager.last is not None
    assert max(manager.last.scores) < 0.2
    assert len(made) < 30


def test_a_message_that_grows_is_counted_again(managed: Made) -> None:
    """Content exchanged or blocks added in place."""
    manager, context = managed([{"role": "user", "content": "x"},
                                {"role": "assistant", "content": [{"type": "text", "text": "y"}]}])  # fmt: skip
    before = manager.status().current_tokens
    context[0]["content"] = "x " * 100
    context[1]["content"].append({"type": "text", "text": "y " * 100})
    assert manager.status().current_tokens > before + 150


def test_without_callbacks_the_list_of_the_message_is_the_context(managed: Made) -> None:
    """It is changed itself; a context that cannot be changed stays."""
    messages = chat(30)
    manager, _ = managed([], get_context=None, set_context=None)
    manager.on_message(messages[-1], messages)
    status = manager.before_response(300)
    assert len(messages) < 30
    assert status.chunks_count == len(messages)
    manager, _ = managed([], get_context=lambda: tuple(chat(30)), set_context=None)
    assert manager.before_response(300).needs_compaction


@pytest.mark.parametrize("broken", ["before_compact", "set_context", "disk", "read only"])
def test_what_cannot_be_kept_does_not_leave(
    managed: Made, broken: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A hook or a callback that raises, a full disk, a folder that cannot be written: the context
    stays as it was, the status says why, and the next time all is well."""

    def fail(*_: object) -> None:
        raise RuntimeError("no")

    more = {broken: fail} if broken in ("before_compact", "set_context") else {}
    manager, context = managed(chat(30), **more)
    before = list(context)
    if broken == "disk":

        def full(descriptor: int, data: bytes) -> None:
            os.write(descriptor, data[:100])
            raise OSError(28, "No space left on device")

        monkeypatch.setattr(cold_files, "write_all", full)
    if broken == "read only":
        Path("cold-storage").write_text("in the way")
    status = manager.before_response(300)
    assert context == before
    assert status.needs_compaction
    assert status.notes
    assert manager.compact().done is False
    if broken == "disk":
        assert not stored()
        monkeypatch.setattr(cold_files, "write_all", write_all)
        manager, context = managed(before)
        assert not manager.before_response(300).needs_compaction
        assert {one["content"] for one in before} <= stored() | {c["content"] for c in context}


def test_after_compact_may_fail_and_is_told(managed: Made) -> None:
    """It comes after the deed; hooks get the messages and the result."""
    seen: list[Any] = []

    def after(result: Any) -> None:
        seen.append(result)
        raise ValueError("late")

    manager, context = managed(chat(30), before_compact=seen.append, after_compact=after)
    status = manager.before_response(300)
    assert seen[0] == chat(30)
    assert seen[1].chunks_dropped > 0
    assert len(context) < 30
    assert any("after_compact failed: ValueError: late" in note for note in status.notes)


def test_a_hook_may_call_the_manager(managed: Made) -> None:
    """No deadlock, also from another thread that waits for its turn."""
    manager, _ = managed(chat(30))
    manager.before_compact = lambda _: manager.status()
    threads = [threading.Thread(target=manager.before_response, args=(300,)) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(20)
    assert not any(thread.is_alive() for thread in threads)


@pytest.mark.parametrize("summarizer", [
    lambda text: text * 2, lambda text: "", lambda text: None, lambda text, prompt: 1 / 0,
], ids=["longer", "empty", "None", "raises"])  # fmt: skip
def test_a_summarizer_of_no_use_is_replaced(managed: Made, summarizer: Callable[..., Any]) -> None:
    """By extraction, with a note; a good one is used."""
    text = "The port is 8443. " + "It rained again and again all day long, they said. " * 12
    messages = [{"role": "assistant", "content": text}, *chat(2), {"role": "user", "content": "?"}]
    config = ContextConfig(relevance_cutoff=0.0, min_chunks_to_keep=0)
    manager, context = managed(messages, config=config, summarizer=summarizer)
    result = manager.compact()
    assert result.chunks_summarized == 1
    assert "8443" in context[0]["content"]
    assert any("extraction" in note for note in result.notes)
    manager, context = managed(messages, config=config, summarizer=lambda text: "port 8443")
    manager.compact()
    assert context[0]["content"].startswith("port 8443\n[memfas: shortened")


def test_a_summary_is_made_of_its_source_and_stored_once(managed: Made) -> None:
    """Compacted again it is not a summary of a summary; dropped, its source is there already."""
    text = " ".join(f"Fact {n}: the port of host{n} is {8000 + n}." for n in range(60))
    config = ContextConfig(
        relevance_cutoff=0.0, relevance_keep_threshold=0.99, min_chunks_to_keep=0,
        summary_target_tokens=200,
    )  # fmt: skip
    messages = [{"role": "assistant", "content": text}, *chat(2), {"role": "user", "content": "?"}]
    manager, context = managed(messages, config=config)
    manager.compact()
    first = context[0]["content"]
    manager.config.summary_target_tokens = 100
    manager.summarizer.target_tokens = 100  # type: ignore[union-attr]
    host = next(f"host{n}" for n in range(40, 60) if f"host{n} " not in first)
    manager.set_current_prompt(f"the port of {host}")
    manager.compact()
    second = context[0]["content"]
    assert host in second
    assert read_message(context[0]).source == first.rsplit(" ", 1)[1].rstrip("]")
    manager.config.relevance_cutoff = 0.69
    manager.set_current_prompt("zebra")
    manager.compact()
    texts = [block.text for block in manager.cold_storage.folder.blocks()]
    assert texts.count(text) == 1
    assert not any("memfas: shortened" in one for one in texts)


def test_restoring_a_summary_brings_its_source_to_its_place(managed: Made) -> None:
    """And a result comes with its call, whole, where both had left."""
    text = "The port is 8443. " + "It rained again and again all day long, they said. " * 12
    call = {"role": "assistant", "content": None, "tool_calls": [
        {"id": "c1", "function": {"name": "zebra_lookup", "arguments": "{}"}}]}  # fmt: skip
    result = {"role": "tool", "tool_call_id": "c1", "content": "stripes everywhere"}
    messages = [{"role": "assistant", "content": text}, call, result, *chat(8)]
    manager, context = managed(messages, config=ContextConfig(min_chunks_to_keep=0,
                                                              relevance_keep_threshold=0.95))  # fmt: skip
    manager.set_current_prompt("which port is it")
    manager.compact()
    assert context[0] != messages[0]
    manager.recover("port 8443", restore=True)
    assert messages[0] in context
    assert sum("8443" in read_message(one).text for one in context) == 1
    manager.recover("stripes everywhere", limit=1, restore=True)
    at = context.index(call)
    assert context[at + 1] == result
    assert read_message(context[-1]).text == "message 7 about nothing"


def test_two_managers_share_a_cold_storage(managed: Made) -> None:
    """Of one session, in two processes say: nothing is lost, each finds what the other dropped."""
    one, _ = managed(chat(20), session_id="s")
    two, _ = managed([{"role": "user", "content": f"zebra {n}"} for n in range(20)], session_id="s")
    for manager in (one, two):
        manager.set_current_prompt("giraffe")
    jobs = [threading.Thread(target=m.compact) for m in (one, two)]
    for job in jobs:
        job.start()
    for job in jobs:
        job.join()
    assert one.cold_storage.count() == two.cold_storage.count() == len(stored())
    assert any("zebra" in text for text in one.recover("zebra"))


def test_a_clock_that_jumps_harms_nothing(managed: Made) -> None:
    """Backwards: what lies ahead counts as of now."""
    now = [NOW]
    manager, context = managed(chat(20), clock=lambda: now[0])
    manager.before_response(100_000)
    now[0] -= timedelta(days=900)
    manager.set_current_prompt("zebra")
    manager.compact()
    assert len(context) < 20
    assert manager.recover("message nothing")


KILLED = """
    import os, sys
    from agent_memfas.context import ContextManager, ContextConfig
    from agent_memfas.store import cold, durable
    left = [int(sys.argv[1])]
    def tick(event, args):
        if event in ("open", "os.mkdir") or event == "os.rename":
            left[0] -= 1
            if left[0] < 0:
                os.kill(os.getpid(), 9)
    context = [{"role": ("user", "assistant")[n % 2], "content": f"message {n}"} for n in range(40)]
    def give(new):
        context[:] = new
        gone = {f"message {n}" for n in range(40)} - {m["content"] for m in new}
        with open(sys.argv[2], "w") as file:
            file.write("\\n".join(sorted(gone)))
    manager = ContextManager(config=ContextConfig(min_chunks_to_keep=0), set_context=give,
                             get_context=lambda: context, count=lambda text: len(text.split()))
    manager.summarizer = None
    sys.addaudithook(tick)
    manager.before_response(200)
"""


def test_killed_at_any_moment_nothing_that_left_is_missing(tmp_path: Path) -> None:
    """By kill -9 before each opening of a file, making of a folder or renaming."""
    killed = 0
    for moment in range(12):
        home = tmp_path / str(moment)
        home.mkdir()
        ended = subprocess.run(
            [sys.executable, "-c", textwrap.dedent(KILLED), str(moment), str(home / "left")],
            cwd=home, env={**os.environ, "PYTHONPATH": str(REPO / "scripts")}, check=False,
            capture_output=True,
        )  # fmt: skip
        killed += ended.returncode == -signal.SIGKILL
        left = (home / "left").read_text().split("\n") if (home / "left").exists() else []
        assert set(left) <= stored(home / "cold-storage") | {""}
    assert killed > 2


def rounds() -> st.SearchStrategy[list[Any]]:
    """A conversation with calls of tools, of OpenAI or of Anthropic."""
    plain = st.sampled_from([["u"], ["a"], ["u", "a"]])
    tools = st.tuples(st.just("t"), st.integers(1, 3), st.integers(1, 60))
    return st.tuples(st.booleans(), st.lists(plain | tools, min_size=1, max_size=14)).map(built)


def built(given_: tuple[bool, list[Any]]) -> list[Any]:
    anthropic, parts = given_
    found: list[Any] = [{"role": "user", "content": "first " * 30}]
    for n, part in enumerate(parts):
        if part[0] != "t":
            found += [{"role": {"u": "user", "a": "assistant"}[who], "content": f"{n} " * 80}
                      for who in part]  # fmt: skip
            continue
        ids = [f"{n}-{k}" for k in range(part[1])]
        text = "result " * part[2]
        if anthropic:
            uses = [{"type": "tool_use", "id": i, "name": "f", "input": {}} for i in ids]
            blocks = [{"type": "tool_result", "tool_use_id": i, "content": text} for i in ids]
            found += [{"role": "assistant", "content": uses}, {"role": "user", "content": blocks}]
        else:
            calls = [{"id": i, "function": {"name": "f", "arguments": "{}"}} for i in ids]
            found.append({"role": "assistant", "content": None, "tool_calls": calls})
            found += [{"role": "tool", "tool_call_id": i, "content": text} for i in ids]
    return found


def check(messages: list[Any]) -> None:
    """The rules of both vendors: each result right behind its calls, each call answered, a user
    first."""
    read = [read_message(one) for one in messages]
    assert read[0].role == "user"
    assert not read[0].results
    waiting: set[str] = set()
    for one in read:
        if one.results:
            assert set(one.results) <= waiting
            waiting -= set(one.results)
        else:
            assert not waiting
            waiting = set(one.calls)
    assert not waiting


@given(rounds(), st.integers(100, 1500), st.randoms(use_true_random=False))
def test_after_any_compaction_the_conversation_is_valid(
    messages: list[Any], window: int, dice: random.Random
) -> None:
    """Again and again, as it goes on; what stays is in order, and all else is in cold storage."""
    import tempfile

    with tempfile.TemporaryDirectory() as home:
        context: list[Any] = []
        manager = ContextManager(
            config=ContextConfig(min_chunks_to_keep=dice.choice([0, 3])),
            get_context=lambda: context, cold_storage_path=f"{home}/cold", log_path=f"{home}/logs",
            set_context=lambda new: context.__setitem__(slice(None), new), clock=lambda: NOW,
            summarizer="extractive",
        )  # fmt: skip
        for message in [*messages, *messages[:1]]:
            context.append(message)
            manager.set_current_prompt(dice.choice(["", "first", "result", "7"]))
            manager.before_response(window)
            complete = [m for m in context if not read_message(m).calls or m is not context[-1]]
            if not {c for m in context for c in read_message(m).calls} - {
                r for m in context for r in read_message(m).results
            }:
                check(complete)
        texts = stored(Path(home) / "cold") | {read_message(one).text for one in context}
        assert {read_message(message).text for message in messages} <= texts
