"""`search.backend: milvus`: every command as before, over an index that many machines share."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pymilvus import MilvusClient

from agent_memfas import Memory as Library
from agent_memfas.config import load
from agent_memfas.index import shared
from agent_memfas.index.backends.collection import Collection
from agent_memfas.index.backends.milvus import MilvusBackend
from agent_memfas.memory.backing import address_of
from inputs.memory import CONFIG, Memory
from shared.servers import Server

HERE = shared.HERE


@pytest.fixture(autouse=True)
def patient(monkeypatch: pytest.MonkeyPatch, nothing_of_this_machine: None) -> None:
    """Questions bring it in step however slow this machine is."""
    monkeypatch.setattr(shared, "SECONDS", 60.0)


@pytest.fixture
def puts(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many rows each call writes, the states left out."""
    found, put = list[int](), Collection.put

    def counted(self: Collection, rows: Any) -> None:
        put(self, rows)
        if not rows[0]["id"].endswith("/state"):
            found.append(len(rows))

    monkeypatch.setattr(Collection, "put", counted)
    return found


def ask(memory: Memory, question: str, *more: str) -> dict[str, Any]:
    return memory.run("recall", question, "--json", "--within", "0", *more).data


def texts(answer: dict[str, Any]) -> list[str]:
    return [hit["text"] for hit in answer["hits"]]


def apart(memory: Memory, question: str) -> dict[str, Any]:
    """The same in a process of its own: gRPC waits before it tries an address again."""
    found = json.loads(memory.process("recall", question, "--json", "--within", "0").stdout)
    assert isinstance(found, dict)
    return found


def there(server: Server, memory: Memory) -> set[tuple[str, str]]:
    """What the collection holds of a folder: (path, number)."""
    address = address_of(load(memory.root / "memfas.yaml"))
    collection = Collection(address)
    with collection.opened():
        found = set(collection.numbers())
        collection.close()
    return found


# What is new, what has gone


def test_a_question_sees_what_was_just_written(
    server: Server, tmp_path: Path, puts: list[int]
) -> None:
    """In MEMORY.md, a log, by hand, in Chinese; what is deleted is found no more. Only what has
    changed is written."""
    memory = server.folder(tmp_path / "a", "just-written")
    memory.write("memory/2026-01-01.md", "".join(f"- item number {n}\n" for n in range(50)))
    memory.run("add", "The staging host is heron")
    assert "heron" in texts(ask(memory, "Which host is staging?"))[0]
    assert puts == [51]
    memory.run("log", "服务器部署在上海")
    assert "上海" in texts(ask(memory, "部署"))[0]
    path = memory.root / "memory/2026-01-01.md"
    path.write_text(path.read_text().replace("- item number 7\n", "- the stork is a bird\n"))
    answer = ask(memory, "stork")
    assert texts(answer) == ["- the stork is a bird"]
    assert answer["notes"] == []
    assert puts[1:] == [1, 1]
    memory.write("MEMORY.md", "# Memory\n")
    assert ask(memory, "staging host")["hits"] == []
    assert "✓ shared index" in memory.run("doctor", "--deep").text


def test_nothing_of_a_text_can_break_a_row(server: Server, tmp_path: Path) -> None:
    """Empty, very long, with quotes, NUL, emoji, marks of Milvus' own expressions, odd bytes."""
    memory = server.folder(tmp_path / "a", "odd-texts")
    memory.write("MEMORY.md", "- it's \"quoted\" \\ and {braces} or id in ['x'] heron\n- \n- 🐦 heron\n"
        f"- {'word ' * 9000} heron\n- {'x' * 70_000} heron\n".encode()
        + b"- a\0b heron\n- \xff\xfe heron\n")  # fmt: skip
    memory.write('memory/it\'s "odd" ü.md', "- heron here\n")
    answer = ask(memory, "heron", "-n", "20")
    here = memory.run("recall", "heron", "--json", "-n", "20", "--no-index").data
    assert sorted(texts(answer)) == sorted(texts(here))
    assert answer["notes"] == []


def test_an_empty_folder_and_an_empty_collection_answer(own_server: Server, tmp_path: Path) -> None:
    """Nothing is found, and nothing is wrong; the first line is found."""
    memory = own_server.folder(tmp_path / "a", "empty")
    answer = ask(memory, "heron")
    assert (answer["hits"], answer["notes"]) == ([], [])
    memory.write("MEMORY.md", "- heron\n")
    assert texts(ask(memory, "heron")) == ["- heron"]


# Folders in one collection

WORDS = st.sampled_from(["heron", "host", "staging", "deploy", "部署", "alice", "node.js", "x"])
LINES = st.lists(st.lists(WORDS, min_size=1, max_size=4).map(" ".join), max_size=5)


@settings(max_examples=15, deadline=None, suppress_health_check=list(HealthCheck))
@given(LINES, LINES, LINES, WORDS, st.booleans())
def test_no_folder_answers_for_another(
    server: Server, tmp_path_factory: pytest.TempPathFactory, both: list[str], one: list[str],
    other: list[str], question: str, same: bool,
) -> None:  # fmt: skip
    """The same texts in two folders of one collection, and some of each alone: an answer has what
    the folder's own index has, also where both were given one namespace by mistake."""
    base = tmp_path_factory.mktemp("two")
    spaces = [f"{base.parent.parent.name}-{base.name}-{n * (not same)}" for n in range(2)]
    folders = []
    for n, lines in enumerate((both + one, both + other)):
        memory = server.folder(base / str(n), spaces[n].replace("_", "-"))
        memory.write("MEMORY.md", "".join(f"- {line}\n" for line in lines))
        folders.append(memory)
    for _ in range(2):
        for memory in folders:
            answer = ask(memory, question, "-n", "50")
            own = memory.run("recall", question, "--json", "-n", "50", "--no-index").data
            assert answer["notes"] == []
            assert texts(answer) == texts(own)


def test_two_machines_with_the_same_files_write_them_once(
    server: Server, tmp_path: Path, puts: list[int]
) -> None:
    """A clone has nothing to push; where the two differ each is answered with what it has."""
    one, two = (server.folder(tmp_path / name, "two-machines") for name in "ab")
    for memory in (one, two):
        memory.write("MEMORY.md", "- the host is heron\n- the port is 8443\n")
        assert texts(ask(memory, "which port")) == ["- the port is 8443"]
    assert puts == [2]
    two.write("MEMORY.md", "- the host is heron\n- the port is 9443\n")
    for _ in range(2):
        assert texts(ask(two, "which port")) == ["- the port is 9443"]
        assert texts(ask(one, "which port")) == ["- the port is 8443"]


def test_who_only_reads_writes_nothing(server: Server, tmp_path: Path) -> None:
    """With `push: false` it answers while the files are the same; else this machine's own index
    does, and says so; reindex does not touch the collection either."""
    writer = server.folder(tmp_path / "w", "readers")
    reader = server.folder(tmp_path / "r", "readers", "push: false")
    for memory in (writer, reader):
        memory.write("MEMORY.md", "- the host is heron\n")
    assert HERE in ask(reader, "host")["notes"][0]
    ask(writer, "host")
    assert ask(reader, "host")["notes"] == []
    held = there(server, writer)
    reader.write("MEMORY.md", "- the host is heron\n- the port is 8443\n")
    with Library(reader.root) as library:
        for _ in range(2):
            answer = library.answer("port")
            assert [hit.text for hit in answer.hits] == ["- the port is 8443"]
            assert "another state of the files" in answer.freshness.notes[0]
    reader.run("index")
    reader.run("reindex")
    assert there(server, writer) == held


# When the server goes


def test_a_server_that_is_gone_is_said_and_the_index_answers(
    own_server: Server, tmp_path: Path
) -> None:
    """Before the first question, between two, and back again; doctor --deep says so."""
    memory = own_server.folder(tmp_path / "a", "goes")
    memory.write("MEMORY.md", "- the host is heron\n")
    assert ask(memory, "host")["notes"] == []
    own_server.stop()
    answer = ask(memory, "host")
    assert texts(answer) == ["- the host is heron"]
    assert answer["notes"][0].startswith(f"{HERE}: http://127.0.0.1:")
    assert "does not answer" in memory.run("doctor", "--deep").text
    memory.write("MEMORY.md", "- the host is heron\n- the port is 8443\n")
    assert texts(ask(memory, "port")) == ["- the port is 8443"]
    own_server.start()
    answer = apart(memory, "port")
    assert (texts(answer), answer["notes"]) == (["- the port is 8443"], [])


def test_a_push_that_was_cut_off_goes_on(
    own_server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, puts: list[int]
) -> None:
    """The server goes between two batches: the rest comes later, and it is never asked while it is
    half full."""
    memory = own_server.folder(tmp_path / "a", "cut-off")
    for n in range(6):
        memory.write(f"memory/2026-01-0{n + 1}.md",
                     "".join(f"- event {n} {k} heron\n" for k in range(400)))  # fmt: skip
    counted = Collection.put

    def falling(self: Collection, rows: Any) -> None:
        counted(self, rows)
        if len(puts) == 2 and own_server.process:
            own_server.stop()

    monkeypatch.setattr(Collection, "put", falling)
    done = memory.run("index")
    assert "the shared index: " in done.errors
    assert ask(memory, "event 3 77")["notes"][0].startswith(HERE)
    own_server.start()
    done = memory.process("index")
    assert b"the shared index: " not in done.stderr
    assert apart(memory, "event 3 77")["notes"] == []
    assert memory.process("doctor", "--deep").returncode == 0


def test_what_others_did_to_the_collection_is_found_and_mended(
    server: Server, tmp_path: Path
) -> None:
    """`memfas doctor --deep` names what is missing and what is beside; `memfas reindex` mends it."""
    memory = server.folder(tmp_path / "a", "tampered")
    memory.write("MEMORY.md", "- the host is heron\n")
    memory.write("memory/a.md", "- the port is 8443\n")
    ask(memory, "host")
    numbers = dict(there(server, memory))
    address = address_of(load(memory.root / "memfas.yaml"))
    collection = Collection(address)
    with collection.opened():
        collection.remove([numbers["MEMORY.md"]])
        collection.put([collection.row("0" * 40, "gone.md", "memory", "", "", "heron", None)])
        collection.close()
    told = memory.run("doctor", "--deep")
    assert told.status == 1
    assert "MEMORY.md: a passage is not there" in told.text
    assert "gone.md: a passage is there that is not in the file" in told.text
    assert memory.run("reindex").status == 0
    assert memory.run("doctor", "--deep").status == 0
    assert texts(ask(memory, "host")) == ["- the host is heron"]


def test_reindex_moves_both_ways(server: Server, tmp_path: Path) -> None:
    """Into the collection and out of it again: nothing of the folder is left there."""
    memory = server.folder(tmp_path / "a", "both-ways")
    memory.write("MEMORY.md", "- the host is heron\n")
    memory.write("memfas.yaml", server.lines("both-ways").replace("milvus", "fts5"))
    done = memory.run("reindex", "--backend", "milvus", "--save-config")
    assert done.status == 0, done.errors
    assert len(there(server, memory)) == 1
    assert ask(memory, "host")["notes"] == []
    done = memory.run("reindex", "--backend", "fts5", "--save-config")
    assert "1 passage taken out of the shared index" in done.errors
    memory.write("memfas.yaml", server.lines("both-ways"))
    assert there(server, memory) == set()


# By meaning


def test_meaning_counts_where_there_is_a_model(server: Server, tmp_path: Path) -> None:
    """A question in another language; the same hits as with the vectors of this machine. A reader
    needs no vectors of its own. Another model's vectors lie in another collection."""
    memory = server.folder(tmp_path / "a", "meaning", "embedder_type: offline")
    lines = ["The doctor moved the appointment to Monday", "We paint the fence green",
             "Anna bought a red car", "The cat sleeps on the sofa", "Dinner is at eight"]  # fmt: skip
    memory.write("MEMORY.md", "".join(f"- {line}\n" for line in lines))
    assert memory.run("index").status == 0
    for question in ("Wann ist der Arzttermin?", "什么颜色的车", "where does the pet rest"):
        answer = ask(memory, question)
        assert answer["notes"] == []
        memory.write(
            "memfas.yaml", f"{CONFIG}search: {{backend: hybrid, embedder_type: offline}}\n"
        )
        own = ask(memory, question)
        memory.write("memfas.yaml", server.lines("meaning", "embedder_type: offline"))
        assert texts(answer)[:3] == texts(own)[:3]
        for hit, other in zip(answer["hits"][:3], own["hits"][:3], strict=True):
            assert abs(hit["score"] - other["score"]) < 0.05
    reader = server.folder(tmp_path / "r", "meaning", "embedder_type: offline, push: false")
    reader.write("MEMORY.md", memory.read())
    answer = ask(reader, "Wann ist der Arzttermin?")
    assert (texts(answer)[0], answer["notes"]) == (f"- {lines[0]}", [])


def test_another_model_has_another_collection(own_server: Server, tmp_path: Path) -> None:
    """What was made by words alone stays as it was beside what a model made, each folder is answered
    from its own, and the alias leads to the collection that was begun last."""
    plain = own_server.folder(tmp_path / "a", "plain")
    model = own_server.folder(tmp_path / "b", "model", "embedder_type: offline")
    for memory in (plain, model):
        memory.write("MEMORY.md", "- the host is heron\n")
        assert memory.run("index").status == 0
    client = MilvusClient(own_server.uri)
    names = sorted(client.list_collections())
    assert len(names) == 2
    leads = client.describe_alias("memfas")["collection_name"]
    rows = {n: client.query(n, filter="id != ''", output_fields=["folder"]) for n in names}
    assert {row["folder"] for row in rows.pop(leads)} == {"model"}
    ((other, left),) = rows.items()
    assert {row["folder"] for row in left} == {"plain"}
    assert not any("heron" in str(row) for row in client.query(
        other, filter="id != ''", output_fields=["id", "path", "tokens", "scope", "date"]))  # fmt: skip
    client.close()
    for memory in (plain, model):
        assert ask(memory, "host")["notes"] == []


# Milvus Lite in a file


def test_a_file_serves_one_process_after_the_other(tmp_path: Path) -> None:
    """By a path relative to the folder; processes wait for each other, and whoever waits too long
    is answered by the index."""
    memory = Memory(tmp_path / "agent")
    memory.write("memfas.yaml", f"{CONFIG}search: {{backend: milvus, uri: .memfas/milvus.db}}\n")
    memory.write("MEMORY.md", "- the host is heron\n")
    assert memory.run("index").status == 0
    assert (memory.root / ".memfas/milvus.db").exists()
    for _ in range(2):
        done = memory.process("recall", "host", "--json", "--within", "0")
        answer = json.loads(done.stdout)
        assert (texts(answer), answer["notes"]) == (["- the host is heron"], [])
    with Collection(address_of(load(memory.root / "memfas.yaml"))).opened():
        answer = json.loads(memory.process("recall", "host", "--json").stdout)
    assert texts(answer) == ["- the host is heron"]
    assert "in use by another process" in answer["notes"][0]


# What is missing


def test_without_an_address_or_the_library_it_says_what_to_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The index answers, with one sentence beside."""
    memory = Memory(tmp_path / "agent")
    memory.write("MEMORY.md", "- the host is heron\n")
    memory.write("memfas.yaml", "search: {backend: milvus}\n")
    done = memory.run("recall", "host")
    assert "heron" in done.text
    assert "search.uri" in done.errors
    memory.write(
        "memfas.yaml", "search: {backend: milvus, uri: 'http://user:secret@127.0.0.1:9'}\n"
    )
    monkeypatch.setitem(sys.modules, "pymilvus", None)
    answer = ask(memory, "host")
    assert texts(answer) == ["- the host is heron"]
    assert "agent-memfas[milvus]" in answer["notes"][0]
    monkeypatch.undo()
    monkeypatch.delenv("MEMFAS_ROOT", raising=False)
    note = ask(memory, "host")["notes"][0]
    assert "does not answer" in note
    assert "secret" not in note


def test_the_library_answers_from_it_and_says_how(server: Server, tmp_path: Path) -> None:
    """`Memory.recall`, `answer`, and a config as an object; its own errors come as notes."""
    memory = server.folder(tmp_path / "a", "library")
    memory.write("MEMORY.md", "- the host is heron\n")
    with Library(memory.root) as library:
        answer = library.answer("host")
        assert [hit.text for hit in answer.hits] == ["- the host is heron"]
        assert answer.freshness.notes == ()
        assert library.stats()["memories"] == 1


def test_every_backend_keeps_the_protocol() -> None:
    """What the protocol names is there, with the same arguments."""
    import inspect

    from agent_memfas.index.backends import Backend
    from agent_memfas.index.backends.sqlite import SqliteBackend

    for name, wanted in inspect.getmembers(Backend, inspect.isfunction):
        if name.startswith("_"):
            continue
        for backend in (SqliteBackend, MilvusBackend):
            found = inspect.signature(getattr(backend, name))
            assert list(found.parameters) == list(inspect.signature(wanted).parameters)
