"""A telemetry file that grows: it gets a number, and nothing of it is ever lost or read twice."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from agent_memfas.errors import FileFault
from agent_memfas.store import telemetry
from agent_memfas.store.layout import Folder


def numbers(path: Path) -> list[int]:
    """The field n of all lines, in the order in which they are read."""
    return [json.loads(line)["n"] for _, _, line in telemetry.lines(path)]


def test_a_full_file_gets_a_number_and_everything_is_read_in_order(tmp_path: Path) -> None:
    """Ten lines and more in each of a dozen parts: read as they were written."""
    path = tmp_path / "t.jsonl"
    for n in range(150):
        telemetry.add(path, {"n": n, "fill": "x" * 30}, 500)
    assert numbers(path) == list(range(150))
    assert len(telemetry.parts(path)) > 10


def test_a_file_that_was_put_away_is_never_overwritten(tmp_path: Path) -> None:
    """Not where I have taken some of them away, and the next is still read as the newest."""
    path = tmp_path / "t.jsonl"
    for n in range(3):
        telemetry.add(path, {"n": n}, 1)
    (tmp_path / "t.1.jsonl").unlink()
    telemetry.add(path, {"n": 3}, 1)
    assert sorted(os.listdir(tmp_path)) == ["t.2.jsonl", "t.3.jsonl", "t.4.jsonl"]
    assert numbers(path) == [1, 2, 3]


def test_the_old_file_of_the_reference_is_read_first(tmp_path: Path) -> None:
    """`memfas-telemetry.old.jsonl` of agent-memfas is older than what follows."""
    path = tmp_path / "memfas-telemetry.jsonl"
    for n in (1, 2):
        telemetry.add(path, {"n": n}, 1)
    (tmp_path / "memfas-telemetry.old.jsonl").write_text('{"n": 0}\n')
    (tmp_path / "memfas-telemetry.older.jsonl").write_text('{"n": 7}\n')
    assert numbers(path) == [0, 1, 2]


def test_a_file_that_gets_its_number_while_it_is_read_is_read_once(tmp_path: Path) -> None:
    """A reader that has begun goes on as if nothing had happened."""
    path = tmp_path / "t.jsonl"
    for n in range(3):
        telemetry.add(path, {"n": n})
    reading = telemetry.lines(path)
    first = json.loads(next(reading)[2])["n"]
    telemetry.add(path, {"n": 3}, 1)
    assert not path.exists()
    assert [first, *(json.loads(line)["n"] for _, _, line in reading)] == [0, 1, 2, 3]


def test_two_names_of_one_file_are_read_once(tmp_path: Path) -> None:
    """As a crash in the middle, or a backup made with links, leaves it."""
    path = tmp_path / "t.jsonl"
    telemetry.add(path, {"n": 1})
    os.link(path, tmp_path / "t.1.jsonl")
    assert numbers(path) == [1]


@pytest.mark.parametrize("name", ["t", "t.log", "a [b]*.jsonl", "部署.jsonl"])
def test_any_name_will_do(tmp_path: Path, name: str) -> None:
    """Numbers go before the suffix, whatever the name; folders on the way are made."""
    path = tmp_path / "new" / name
    for n in range(3):
        telemetry.add(path, {"n": n}, 1)
    assert numbers(path) == [0, 1, 2]
    assert telemetry.clear(path) == 3
    assert os.listdir(path.parent) == []


def test_clearing_takes_all_parts_and_nothing_else(tmp_path: Path) -> None:
    """Files whose names only look alike stay."""
    path = tmp_path / "t.jsonl"
    for n in range(3):
        telemetry.add(path, {"n": n}, 1)
    telemetry.add(path, {"n": 3})
    for other in ("t.jsonl.bak", "t.01.jsonl", "t.x.jsonl", "tt.1.jsonl"):
        (tmp_path / other).write_text("mine\n")
    assert telemetry.clear(path) == 4
    assert telemetry.clear(path) == 0
    assert len(os.listdir(tmp_path)) == 4


def test_what_json_has_no_word_for_is_written_as_near_as_can_be(tmp_path: Path) -> None:
    """Numbers of other libraries as numbers, half characters as `?`; NaN is not written at all."""

    class Third:
        def __float__(self) -> float:
            return 1 / 3

    path = tmp_path / "t.jsonl"
    telemetry.add(path, {"n": Third(), "s": "\ud800", "p": Path("/x")})
    telemetry.add(path, {"n": float("nan")})
    assert json.loads(path.read_text()) == {"n": 1 / 3, "s": "?", "p": "/x"}


def test_a_part_that_cannot_be_read_is_said(tmp_path: Path) -> None:
    """A folder in its place is an error that names it, not an empty answer."""
    (tmp_path / "t.jsonl").mkdir()
    with pytest.raises(FileFault, match=r"t\.jsonl"):
        list(telemetry.lines(tmp_path / "t.jsonl"))


def test_the_key_of_a_folder_is_made_once_and_private(tmp_path: Path) -> None:
    """The same for every process of this folder, another one for every other folder."""
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    key = telemetry.secret_of(Folder(tmp_path / "a"))
    assert key == telemetry.secret_of(Folder(tmp_path / "a"))
    assert key != telemetry.secret_of(Folder(tmp_path / "b"))
    assert len(key) == 32
    assert (tmp_path / "a/.memfas/telemetry.key").stat().st_mode & 0o777 == 0o600
