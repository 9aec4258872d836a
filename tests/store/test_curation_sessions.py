"""Sessions of curation: what they had and were given, across processes, damage and time."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections import Counter, defaultdict
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_memfas.errors import FileFault, TryAgain
from agent_memfas.store import sessions, turns
from agent_memfas.store.layout import Folder
from agent_memfas.store.locks import exclusive
from agent_memfas.store.named import file_name
from agent_memfas.store.turns import Session, Turn
from commandline import REPO

NOW = float(int(time.time()))
DAY = 86_400


@pytest.fixture
def folder(tmp_path: Path) -> Folder:
    return Folder(tmp_path)


def turn(number: int = 0, topic: str = "acme", message: str = "what is new?") -> Turn:
    return Turn(NOW + number, topic, 0.7, number % 2 == 1, message)


def path_of(folder: Folder, session: str) -> Path:
    return folder.state / "curation" / f"{file_name(session)}.json"


def test_a_session_survives_the_process(folder: Folder) -> None:
    """What one call of the command noted, the next one knows: turns, topics, what was given."""
    turns.save(folder, "cli", turn(0), ["a", "b"], ["acme"])
    turns.save(folder, "cli", turn(1, "globex", "and globex?"), ["b", "b"], ["globex"])
    found = turns.load(folder, "cli")
    assert (found.turns, found.shifts, found.topic) == (2, 1, "globex")
    assert found.said == ["what is new?", "and globex?"]
    assert (found.began, found.last) == (NOW, NOW + 1)
    assert {key: given.times for key, given in found.given.items()} == {"a": 1, "b": 2}
    assert found.given["b"].turn == 2
    assert found.topics == {"acme": 1, "globex": 1}
    assert found.names == {"acme": 1, "globex": 1}
    assert not found.note


def test_sessions_share_nothing(folder: Folder) -> None:
    """A new session has no topic and was given nothing, whatever others had."""
    turns.save(folder, "a", turn(), ["x"])
    assert turns.load(folder, "b") == Session("b")


def test_looking_at_a_session_writes_nothing(folder: Folder) -> None:
    """A session that had no turn leaves no file, and a folder without state gets none."""
    turns.load(folder, "new")
    assert not folder.state.exists()


def test_only_the_last_messages_are_kept(folder: Folder) -> None:
    """Of what I said the last three messages stay, cut at 200 characters; of topics the last 20."""
    for number in range(30):
        turns.save(folder, "s", turn(number, f"t{number}", f"{number} " + "x" * 300))
    found = turns.load(folder, "s")
    assert [said[:3].strip() for said in found.said] == ["27", "28", "29"]
    assert {len(said) for said in found.said} == {200}
    assert [old.topic for old in found.recent] == [f"t{n}" for n in range(10, 30)]
    assert (found.turns, len(found.topics)) == (30, 30)
    assert path_of(folder, "s").read_bytes().count(b"x" * 100) == 3


def test_others_cannot_read_what_was_said(folder: Folder) -> None:
    """The file and its folder are for me alone."""
    turns.save(folder, "s", turn())
    assert path_of(folder, "s").stat().st_mode & 0o777 == 0o600
    assert path_of(folder, "s").parent.stat().st_mode & 0o777 == 0o700


ADDING = """
import sys, time
from pathlib import Path
from agent_memfas.store import turns
from agent_memfas.store.layout import Folder
root, who = sys.argv[1:]
for n in range(25):
    turns.save(Folder(Path(root)), "shared", turns.Turn(time.time(), who), [who, f"{who}{n}"], [], 60)
"""


def test_two_processes_at_once_lose_no_turn(folder: Folder) -> None:
    """Two agents that share a session each note 25 turns at the same time: it has 50."""
    programs = [
        subprocess.Popen(
            [sys.executable, "-c", ADDING, str(folder.root), who],
            env={**os.environ, "PYTHONPATH": str(REPO / "scripts")},
        )
        for who in ("a", "b")
    ]
    assert [program.wait(120) for program in programs] == [0, 0]
    found = turns.load(folder, "shared")
    assert found.turns == 50
    assert found.topics == {"a": 25, "b": 25}
    assert (found.given["a"].times, found.given["b"].times, len(found.given)) == (25, 25, 52)


def test_a_lock_that_is_held_says_to_try_again(folder: Folder) -> None:
    """While another process writes, nothing is lost or waited for without end."""
    with exclusive(folder, turns.LOCK), pytest.raises(TryAgain):
        turns.save(folder, "s", turn(), wait=0.0)
    assert turns.load(folder, "s").turns == 0


@pytest.mark.parametrize(
    "damage",
    [
        b"", b"{", b"null", b"[]", b"7", b'"x"', b"{}", b"\xff\xfe", b"[" * 100_000, b"\0" * 400,
        b'{"version":2}', b'{"version":1}',
    ],
    ids=lambda damage: damage[:8].hex(),
)  # fmt: skip
def test_a_damaged_file_is_forgotten_with_a_note(folder: Folder, damage: bytes) -> None:
    """Never an error: the session begins anew, says so once, and goes on."""
    turns.save(folder, "s", turn())
    path_of(folder, "s").write_bytes(damage)
    found = turns.load(folder, "s")
    assert (found.turns, found.given) == (0, {})
    assert "begins anew" in found.note
    assert "begins anew" in turns.save(folder, "s", turn()).note
    again = turns.load(folder, "s")
    assert (again.turns, again.note) == (1, "")


@pytest.mark.parametrize(
    ("field", "wrong"),
    [
        ("turns", "-1"), ("turns", "true"), ("turns", "1e999"), ("turns", "9" * 400),
        ("began", "NaN"), ("began", "1e300"), ("began", '"now"'), ("last", "null"),
        ("given", '{"a":["1",1,2.0]}'), ("given", '{"a":3}'), ("given", "[]"),
        ("topics", '[{"acme":1}]'), ("names", "null"), ("names", '{"acme":1.5}'),
        ("recent", "[3]"), ("recent", "[[1,2]]"), ("recent", '[[1.0,"a",0.5,0,""]]'),
    ],
    ids=lambda text: text[:16],
)  # fmt: skip
def test_fields_that_make_no_sense_are_damage(folder: Folder, field: str, wrong: str) -> None:
    """A file that somebody has edited wrongly is as good as none."""
    turns.save(folder, "s", turn(), ["a"], ["acme"])
    fields = json.loads(path_of(folder, "s").read_bytes())
    assert field in fields
    texts = {key: json.dumps(value) for key, value in fields.items()} | {field: wrong}
    body = ",".join(f'"{key}":{text}' for key, text in texts.items())
    path_of(folder, "s").write_text("{" + body + "}")
    assert "begins anew" in turns.load(folder, "s").note


def test_what_is_no_file_is_forgotten_too(folder: Folder) -> None:
    """A link or a pipe in its place is neither followed nor waited for."""
    turns.save(folder, "s", turn())
    path_of(folder, "s").unlink()
    path_of(folder, "s").symlink_to(folder.root / "elsewhere")
    assert "begins anew" in turns.load(folder, "s").note
    path_of(folder, "s").unlink()
    os.mkfifo(path_of(folder, "s"))
    assert "begins anew" in turns.load(folder, "s").note


def test_a_folder_that_cannot_be_written_says_so(folder: Folder) -> None:
    """A file where the state folder should be: an error that names it; reading finds nothing."""
    folder.state.write_text("mine")
    with pytest.raises(FileFault, match="not a folder"):
        turns.save(folder, "s", turn())
    assert turns.load(folder, "s").turns == 0


def test_old_sessions_are_swept(folder: Folder) -> None:
    """What was not heard of for 30 days goes when a new session begins; the rest stays."""
    for session, days in (("old", 31), ("young", 29)):
        turns.save(folder, session, turn())
        then = NOW - days * DAY
        os.utime(path_of(folder, session), (then, then))
    turns.save(folder, "new", turn())
    assert turns.load(folder, "old").turns == 0
    assert turns.load(folder, "young").turns == 1


def test_a_session_can_be_forgotten(folder: Folder) -> None:
    """Afterwards it is as new; forgetting what is not there does nothing."""
    turns.save(folder, "s", turn())
    turns.forget(folder, "s")
    turns.forget(folder, "s")
    assert turns.load(folder, "s") == Session("s")


def test_many_memories_do_not_grow_a_session_without_end(
    folder: Folder, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The memories that were not given for longest are forgotten first."""
    monkeypatch.setattr(turns, "MOST", 3)
    for number, keys in enumerate((["a", "b"], ["c"], ["a"], ["d"])):
        turns.save(folder, "s", turn(number), keys)
    found = turns.load(folder, "s")
    assert {key: given.times for key, given in found.given.items()} == {"c": 1, "a": 2, "d": 1}


def test_recall_sessions_are_beside_them(folder: Folder) -> None:
    """A session id of recall and one of curation may be the same; neither disturbs the other."""
    sessions.save(folder, "cli", [1, 2], NOW)
    turns.save(folder, "cli", turn(), ["x"])
    assert sessions.load(folder, "cli") == [1, 2]
    assert list(turns.load(folder, "cli").given) == ["x"]


IDS = st.sampled_from(
    ["", "cli", "../../etc/passwd", "a/b\0c", "会话", "\udc80", "x" * 5000, "CLI"]
)
KEYS = st.text(max_size=8)
STEPS = st.lists(
    st.tuples(IDS, st.text(max_size=12), st.booleans(), st.text(max_size=250), st.lists(KEYS)),
    max_size=30,
)


@given(STEPS)
def test_interleaved_sessions_keep_their_own_history(
    steps: list[tuple[str, str, bool, str, list[str]]],
) -> None:
    """Any ids, any texts, in any order: each session has exactly its own turns and counts."""
    given = defaultdict[str, Counter[str]](Counter)
    said = defaultdict[str, list[tuple[str, bool, str]]](list)
    with TemporaryDirectory() as root:
        folder = Folder(Path(root))
        for number, (session, topic, shifted, message, keys) in enumerate(steps):
            noted = turns.save(
                folder, session, Turn(NOW + number, topic, 0.5, shifted, message), keys
            )
            given[session].update(set(keys))
            said[session].append((topic, shifted, message[:200]))
            assert noted == turns.load(folder, session)
        for session, history in said.items():
            found = turns.load(folder, session)
            assert found.turns == len(history)
            assert found.shifts == sum(shifted for _, shifted, _ in history)
            assert found.topics == Counter(topic for topic, _, _ in history)
            assert [(t.topic, t.shifted) for t in found.recent] == [h[:2] for h in history[-20:]]
            assert [t.message for t in found.recent[-3:]] == [h[2] for h in history[-3:]]
            assert {key: g.times for key, g in found.given.items()} == given[session]
        assert len(list((folder.state / "curation").glob("*"))) == len(said) if said else True
