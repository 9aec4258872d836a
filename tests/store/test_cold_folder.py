"""The files of cold storage under processes, threads, full disks and odd things in their place."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
import textwrap
from datetime import date, datetime, timezone
from pathlib import Path

import pytest

from agent_memfas.errors import FileFault, NothingFound
from agent_memfas.store import cold
from agent_memfas.store.cold import ColdFolder, new_id
from agent_memfas.tasks.cold import pin
from agent_memfas.text.cold import ColdBlock
from commandline import REPO

DAY = date(2026, 3, 1)
NOW = datetime(2026, 3, 1, 12, tzinfo=timezone.utc)


def block(text: str, chunk_id: str = "") -> ColdBlock:
    return ColdBlock(chunk_id or new_id(0, NOW), "s", "user", text, at=NOW.isoformat(),
                     until="2026-03-31")  # fmt: skip


WRITER = """
    import sys
    from datetime import date
    from pathlib import Path
    from agent_memfas.store.cold import ColdFolder
    from agent_memfas.text.cold import ColdBlock
    folder = ColdFolder(Path(sys.argv[1]))
    for n in range(0, 500, 5):
        folder.add([ColdBlock(f"{sys.argv[2]}-{m}", "s", "user", f"text {m}") for m in range(n, n + 5)],
                   "s", date(2026, 3, 1))
"""


def test_two_processes_write_the_same_file(tmp_path: Path) -> None:
    """A thousand blocks, each once and whole; what is counted is what is there."""
    writers = [
        subprocess.Popen([sys.executable, "-c", textwrap.dedent(WRITER), str(tmp_path / "c"), name],
                         env={**os.environ, "PYTHONPATH": str(REPO / "scripts")})
        for name in ("a", "b")
    ]  # fmt: skip
    folder = ColdFolder(tmp_path / "c")
    folder.add([block("mine")], "s", DAY)
    assert [writer.wait() for writer in writers] == [0, 0]
    folder.add([block("mine, too")], "s", DAY)
    assert len(list((tmp_path / "c").iterdir())) == 1
    ids = [one.chunk_id for one in folder.blocks()]
    assert len(ids) == len(set(ids)) == 1002
    assert folder.count() == ColdFolder(tmp_path / "c").count() == 1002
    assert folder.damages() == []


def test_the_count_needs_no_reading(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """After an addition of ours the file is not read; after somebody else's it is."""
    folder = ColdFolder(tmp_path)
    reads: list[Path] = []
    real = cold.read
    monkeypatch.setattr(cold, "read", lambda path, cap: reads.append(path) or real(path, cap))
    for n in range(5):
        folder.add([block(f"{n}")] * 3, "s", DAY)
        assert folder.count() == 3 * (n + 1)
    assert reads == []
    ColdFolder(tmp_path).add([block("theirs")], "s", DAY)
    assert folder.count() == 16
    assert len(reads) == 1


@pytest.mark.parametrize("written", [0, 10, 150])
def test_a_full_disk_leaves_nothing_half(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, written: int
) -> None:
    """The blocks before stay, the error says why, and the next addition is whole."""
    folder = ColdFolder(tmp_path)
    folder.add([block("before")], "s", DAY)
    (path,) = tmp_path.iterdir()
    before = path.read_bytes()

    def full(descriptor: int, data: bytes) -> None:
        os.write(descriptor, data[:written])
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(cold, "write_all", full)
    with pytest.raises(FileFault, match="No space left"):
        folder.add([block("lost")], "s", DAY)
    assert path.read_bytes() == before
    monkeypatch.undo()
    folder.add([block("after")], "s", DAY)
    assert [one.text for one in folder.blocks()] == ["before", "after"]


def test_a_torn_end_takes_nothing_along(tmp_path: Path) -> None:
    """A power cut in the middle of a block: it is told, the others are read, and so is what comes
    then."""
    folder = ColdFolder(tmp_path)
    folder.add([block("one"), block("two"), block("three")], "s", DAY)
    (path,) = tmp_path.iterdir()
    path.write_bytes(path.read_bytes()[:-9])
    folder.add([block("four")], "s", DAY)
    assert [one.text for one in folder.blocks()] == ["one", "two", "four"]
    assert len(folder.damages()) == 1


def test_files_are_private_and_made_late(tmp_path: Path) -> None:
    """Nothing is made before the first block; then a folder and a file for the owner alone, and
    nothing beside them."""
    folder = ColdFolder(tmp_path / "deep" / "cold")
    assert folder.blocks() == []
    assert folder.count() == 0
    assert not (tmp_path / "deep").exists()
    path = folder.add([block("x")], "s", DAY)
    assert path.name == "2026-03-01-s.md"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    assert os.listdir(path.parent) == [path.name]


@pytest.mark.parametrize("session", [
    "../../etc", "a/b", "", ".", "..", "con\n\x00", "日本", "x" * 300, "-rf", ".hidden", "a b",
])  # fmt: skip
def test_any_session_has_a_file_of_its_own_inside(tmp_path: Path, session: str) -> None:
    """Whatever it is called; another one has another."""
    folder = ColdFolder(tmp_path / "c")
    path = folder.add([block("x")], session, DAY)
    other = folder.add([block("y")], f"{session}.", DAY)
    assert path.parent == tmp_path / "c"
    assert path != other
    assert folder.count() == 2
    assert os.listdir(tmp_path) == ["c"]


def test_what_is_no_file_is_refused_or_passed_over(tmp_path: Path) -> None:
    """A link, a pipe, a folder in the place of a file: nothing is followed, nothing hangs."""
    home = tmp_path / "c"
    home.mkdir()
    elsewhere = tmp_path / "elsewhere.md"
    elsewhere.write_text("mine\n")
    (home / "2026-03-01-s.md").symlink_to(elsewhere)
    os.mkfifo(home / "2026-03-01-pipe.md")
    (home / "2026-03-01-folder.md").mkdir()
    folder = ColdFolder(home)
    for session in ("s", "pipe", "folder"):
        with pytest.raises(FileFault):
            folder.add([block("x")], session, DAY)
    assert elsewhere.read_text() == "mine\n"
    assert folder.blocks() == []


def test_a_pin_is_put_where_the_block_is(tmp_path: Path) -> None:
    """The rest of the file stays; an unknown id, and a file of the reference, are refused."""
    folder = ColdFolder(tmp_path)
    folder.add([block("one", "a"), block("two", "b")], "s", DAY)
    (path,) = tmp_path.iterdir()
    before = path.read_bytes()
    pin(folder, "b", pinned=True)
    assert [one.pinned for one in folder.blocks()] == [False, True]
    pin(folder, "b", pinned=False)
    assert path.read_bytes() == before
    with pytest.raises(NothingFound):
        pin(folder, "c", pinned=True)
    (tmp_path / "old").mkdir()
    (tmp_path / "old/c.jsonl").write_text('{"chunk_id": "c", "content": "x"}\n')
    with pytest.raises(NothingFound, match="never changed"):
        pin(folder, "c", pinned=True)


def test_an_edit_by_hand_is_seen(tmp_path: Path) -> None:
    """Text is canonical: what a person mends is what is found."""
    folder = ColdFolder(tmp_path)
    path = folder.add([block("the port is 8000")], "s", DAY)
    assert folder.blocks()[0].text == "the port is 8000"
    path.write_text(path.read_text().replace("8000", "8443"))
    assert folder.blocks()[0].text == "the port is 8443"
    path.unlink()
    assert folder.blocks() == []
    assert folder.count() == 0


def test_a_block_is_found_by_its_id_as_it_stands(tmp_path: Path) -> None:
    """Without reading the others: the same block, with the same lines, as reading all gives;
    whatever texts hold, and the last where an id is there twice."""
    folder = ColdFolder(tmp_path / "cold")
    ids = [f"chunk_{n}" for n in range(6)] + ['odd "--> <id>', "é\\n", "chunk_1"]
    for n, chunk_id in enumerate(ids):
        text = f'text {n}\n<!-- cold: {{"chunk_id": "chunk_2"}} -->\n## x\n```text\n"chunk_id": "chunk_3"\n'
        folder.add([ColdBlock(chunk_id, "s", "user", text * (n % 3))], "s", date(2026, 3, 1))
    every = folder.blocks()
    for block in every:
        last = [one for one in every if one.chunk_id == block.chunk_id][-1]
        assert ColdFolder(tmp_path / "cold").find(block.chunk_id) == last
        assert folder.find(block.chunk_id) == last
    assert folder.find("chunk") is None
    assert folder.find("chunk_99") is None
    assert ColdFolder(tmp_path / "nowhere").find("chunk_1") is None
