"""What a crash can leave of a rewrite, and that each such state is put right."""

from __future__ import annotations

import itertools
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_memfas.errors import FileFault
from agent_memfas.store import redo, rewrite
from agent_memfas.store.layout import Folder, open_folder
from agent_memfas.store.redo import PAGE, Redo

OLD = b"".join(b"- [P1][2020-01-01] line %04d of the old text\n" % n for n in range(48))
NEW = b"".join(OLD.splitlines(keepends=True)[::2])
LONGER = b"".join(line + b"  more\n" for line in OLD.splitlines(keepends=True))
MOVED = b"".join(OLD.splitlines(keepends=True)[1::2])


def torn_states(record: Redo) -> list[bytes]:
    """Every mixture of old and new sectors at the file's full length, and partial lengthenings."""
    first, last = record.padded
    cuts = range(0, len(first), PAGE)
    mixtures = []
    for choice in itertools.product((first, last), repeat=min(len(cuts), 6)):
        sources = [*choice, *([choice[-1]] * (len(cuts) - len(choice)))]
        mixtures.append(b"".join(s[at : at + PAGE] for s, at in zip(sources, cuts, strict=True)))
    longer = [record.before + b"\n" * n for n in range(0, len(first) - len(record.before), 100)]
    return [*mixtures, *longer]


@pytest.fixture
def folder(tmp_path: Path) -> Folder:
    (tmp_path / "MEMORY.md").write_bytes(OLD)
    return open_folder(tmp_path)


@pytest.mark.parametrize("late", [b"", b"- [P0] appended while it was written\n"])
@pytest.mark.parametrize("tail", [b"", b"- [P0] appended after the crash\n"])
@pytest.mark.parametrize("new", [NEW, LONGER, b"", OLD])
def test_every_torn_state_becomes_the_new_text(
    folder: Folder, new: bytes, late: bytes, tail: bytes
) -> None:
    """Whatever mixture of old and new a power cut leaves, the next run finishes the change, and
    nothing that others appended before or after is lost.
    """
    record = Redo("p1", "MEMORY.md", OLD, new, late, "archive/expired-2026-11.md", b"\nblock\n")
    memory = folder.root / "MEMORY.md"
    for state in torn_states(record):
        memory.write_bytes(state + tail)
        redo.save(folder, record)
        rewrite.recover(folder, lease_wait=1.0)
        text = memory.read_bytes()
        assert text.rstrip(b"\n") == (new + late + tail).rstrip(b"\n") or (
            text == new + late + b"\n" * (len(text) - len(new + late + tail)) + tail
        )
        assert redo.load(folder) is None
    assert (folder.root / "archive/expired-2026-11.md").read_bytes().count(b"block") == 1


def test_a_finished_change_is_not_done_again(folder: Folder) -> None:
    """A run killed just before it forgot its record leaves the file as it is."""
    memory = folder.root / "MEMORY.md"
    memory.write_bytes(NEW + b"- [P0] since then\n")
    redo.save(folder, Redo("p1", "MEMORY.md", OLD, NEW))
    rewrite.recover(folder, lease_wait=1.0)
    assert memory.read_bytes() == NEW + b"- [P0] since then\n"


def test_a_text_that_somebody_saved_since_stays(folder: Folder) -> None:
    """After a crash a person rewrote the file: theirs stays, the moved lines stay archived."""
    memory = folder.root / "MEMORY.md"
    theirs = b"# My own text\n" + OLD[:100]
    memory.write_bytes(theirs)
    record = Redo("p1", "MEMORY.md", OLD, NEW, b"", "archive/expired-2026-11.md", MOVED)
    redo.save(folder, record)
    rewrite.recover(folder, lease_wait=1.0)
    assert memory.read_bytes() == theirs
    assert MOVED in (folder.root / "archive/expired-2026-11.md").read_bytes()


def test_a_broken_record_is_dropped(folder: Folder) -> None:
    """A record that is no record was never complete: the file had not been touched."""
    (folder.root / ".memfas").mkdir()
    (folder.root / ".memfas/redo").write_bytes(b'{"pass_id": "x", "old": "&&&"}')
    assert rewrite.recover(folder, lease_wait=1.0) is None
    assert (folder.root / "MEMORY.md").read_bytes() == OLD
    assert not (folder.root / ".memfas/redo").exists()


def test_a_missing_file_keeps_the_record(folder: Folder) -> None:
    """While the file is away (an editor, an unmounted disk) the unfinished change waits for it."""
    redo.save(folder, Redo("p1", "MEMORY.md", OLD, NEW))
    (folder.root / "MEMORY.md").rename(folder.root / "away.md")
    with pytest.raises(FileFault, match="waits"):
        rewrite.recover(folder, lease_wait=1.0)
    assert redo.load(folder) is not None
    (folder.root / "away.md").rename(folder.root / "MEMORY.md")
    rewrite.recover(folder, lease_wait=1.0)
    assert (folder.root / "MEMORY.md").read_bytes() == NEW


@given(st.binary(max_size=2000), st.binary(max_size=2000), st.binary(max_size=50))
def test_a_record_survives_saving_and_loading(old: bytes, new: bytes, late: bytes) -> None:
    """The record holds any bytes, and an untouched or a finished file is known as such."""
    record = Redo("p", "a.md", old, new, late)
    assert redo.classify(record, record.before)[0] == "pending"
    state, tail = redo.classify(record, record.after)
    assert state == "done" or record.padded[1].startswith(record.after) or tail == b""
